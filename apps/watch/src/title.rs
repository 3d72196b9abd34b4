//! Titles as people type them: folded to keys, in which two spellings of a title are the same.
//!
//! A film has up to three keys, from what is typed carefully to what is remembered: all of its words joined; those without
//! the article before them; and those with numerals as digits and without the *Part* before a number. What is typed has the
//! same three, so that `spiderman`, `godfather part 2` and `amelie` are looked up by equality, and the first letters of
//! any title by a range of the index.

use crate::text;
use std::borrow::Cow;
use unicode_normalization::{UnicodeNormalization, char::canonical_combining_class};

/// Words before a title, which people leave out.
const ARTICLES: [&str; 3] = ["the", "a", "an"];

/// Words before a number, which people leave out.
const PARTS: [&str; 7] = ["part", "pt", "volume", "vol", "chapter", "episode", "no"];

const NUMBERS: [&str; 20] = [
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
];

const ROMAN: [&str; 20] = [
    "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii", "xiii", "xiv", "xv",
    "xvi", "xvii", "xviii", "xix", "xx",
];

/// Characters of a text that are looked at: the longest titles have 300.
const CHARACTERS_MAX: usize = 1000;

/// Characters of a title from which endings are made.
const ENDINGS_MAX: usize = 100;

/// Whether a character belongs to a script without blanks between words, or to Korean, whose words have endings. Of a
/// decomposed Korean syllable only the first letter does.
fn is_unspaced(c: char) -> bool {
    matches!(
        c,
        '\u{e01}'..='\u{eff}' | '\u{1000}'..='\u{1112}' | '\u{1780}'..='\u{17ff}' | '\u{2e80}'..='\u{2fdf}'
            | '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}'
            | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}'
    )
}

/// The forms of a title for comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Title {
    /// The original spelling, on one line.
    written: String,
    /// The original spelling, ignoring case.
    exact: String,
    /// Its words, without accents and signs.
    words: Vec<String>,
    whole: String,
    bare: String,
    counted: String,
    /// Without a trailing 1.
    first: Option<String>,
}

impl Title {
    /// A title, or what was typed for one.
    pub fn of(text: &str) -> Self {
        let text: String = text::line(text).chars().take(CHARACTERS_MAX).collect();
        let words = words(&in_order(&text));
        let bare = match words.split_first() {
            Some((first, rest)) if !rest.is_empty() && ARTICLES.contains(&first.as_str()) => rest,
            _ => &words,
        };
        let exact = text::fold(&text);
        // For a title of punctuation only, the punctuation.
        let signs = || {
            exact
                .split(char::is_whitespace)
                .collect::<String>()
                .nfkc()
                .collect()
        };
        let joined = |words: &[String]| match words {
            [] => signs(),
            words => words.concat(),
        };
        let counted = counted(bare);
        let first = match counted.split_last() {
            Some((last, rest)) if last == "1" && !rest.is_empty() => Some(rest.concat()),
            _ => None,
        };
        Title {
            whole: joined(&words),
            bare: joined(bare),
            counted: joined(&counted),
            first,
            exact,
            words,
            written: text,
        }
    }

    /// Whether nothing was typed.
    pub fn is_empty(&self) -> bool {
        self.whole.is_empty()
    }

    /// Its keys, each once.
    pub fn keys(&self) -> Vec<&str> {
        let mut keys = vec![self.whole.as_str()];
        for key in [self.bare.as_str(), &self.counted] {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        keys
    }

    /// All words joined, for what begins so.
    pub fn whole(&self) -> &str {
        &self.whole
    }

    /// The endings of its words joined that begin in a script without blanks between words, each once. A text that stands
    /// inside the title is the beginning of one.
    pub fn endings(&self) -> Vec<&str> {
        let starts = self.whole.char_indices().take(ENDINGS_MAX).skip(1);
        let starts = starts.filter(|(_, c)| is_unspaced(*c));
        let mut endings: Vec<&str> = starts.map(|(at, _)| &self.whole[at..]).collect();
        endings.sort_unstable();
        endings.dedup();
        endings
    }

    /// Whether there may be titles that have it [inside](Title::endings).
    pub fn may_be_inside(&self) -> bool {
        self.whole.chars().next().is_some_and(is_unspaced)
    }

    /// The last of its keys, which most spellings of it share.
    pub fn counted(&self) -> &str {
        &self.counted
    }

    /// The key without the article and signs, which has its numerals as they are.
    pub fn bare(&self) -> &str {
        &self.bare
    }

    /// For the first of several parts, the common name of the film: without the number.
    pub fn first(&self) -> Option<&str> {
        self.first.as_deref()
    }

    /// The distance to another title: 0 for the same, more per omitted part; `None` for a different title.
    pub fn distance(&self, other: &Title) -> Option<usize> {
        let same = [
            self.written == other.written,
            self.exact == other.exact,
            !self.words.is_empty() && self.words == other.words,
            self.whole == other.whole,
            self.bare == other.bare,
            self.keys().iter().any(|key| other.keys().contains(key)),
        ];
        same.into_iter().position(|is_same| is_same)
    }
}

/// A title with its article before it: `Thing, The` is how some lists are sorted.
fn in_order(text: &str) -> Cow<'_, str> {
    let is_article = |word: &str| {
        ARTICLES
            .iter()
            .any(|article| word.eq_ignore_ascii_case(article))
    };
    match text.rsplit_once(", ") {
        Some((title, article)) if is_article(article) => format!("{article} {title}").into(),
        _ => text.into(),
    }
}

/// The words of a text in lower case, without accents; an apostrophe parts no word, and *&* is one.
fn words(text: &str) -> Vec<String> {
    let (mut words, mut word) = (Vec::new(), String::new());
    let mut end = |word: &mut String| {
        if !word.is_empty() {
            words.push(std::mem::take(word));
        }
    };
    let is_kept = |&c: &char| !is_apostrophe(c) && !is_accent(c) && !is_ignorable(c);
    // Before they are decomposed too: some apostrophes have a blank in them.
    let characters = text.chars().filter(|&c| !is_apostrophe(c)).nfkd();
    for c in characters.filter(is_kept) {
        if c == '&' {
            end(&mut word);
            word.push_str("and");
            end(&mut word);
        } else if c.is_alphanumeric() || canonical_combining_class(c) != 0 {
            spelled(c, &mut word);
        } else {
            end(&mut word);
        }
    }
    end(&mut word);
    words
}

/// Adds a letter for comparison. Some accented letters have no decomposition in Unicode.
fn spelled(c: char, word: &mut String) {
    for c in text::fold_case(c) {
        match c {
            'ø' => word.push('o'),
            'ł' => word.push('l'),
            'đ' | 'ð' => word.push('d'),
            'ħ' => word.push('h'),
            'ŧ' => word.push('t'),
            'þ' => word.push_str("th"),
            'æ' => word.push_str("ae"),
            'œ' => word.push_str("oe"),
            c => word.push(c),
        }
    }
}

fn is_apostrophe(c: char) -> bool {
    matches!(
        c,
        '\'' | '’' | '‘' | '‛' | '`' | '´' | 'ʼ' | 'ʻ' | 'ʹ' | '′'
    )
}

/// Marks that people leave out: accents, and the vowel points of Hebrew and Arabic. The iota below is a letter in upper case.
pub fn is_accent(c: char) -> bool {
    matches!(
        c,
        '\u{300}'..='\u{344}' | '\u{346}'..='\u{36f}' | '\u{591}'..='\u{5bd}' | '\u{5bf}' | '\u{5c1}'..='\u{5c2}'
            | '\u{610}'..='\u{61a}' | '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{1ab0}'..='\u{1aff}'
            | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}'
    )
}

/// Invisible characters, also inside a word.
fn is_ignorable(c: char) -> bool {
    use unicode_properties::{GeneralCategory::Format, UnicodeGeneralCategory};
    c.general_category() == Format
        || text::is_filler(c)
        || matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{34f}')
}

/// The number that a word is: `2`, `ii` and `two`.
pub fn number(word: &str) -> Option<usize> {
    let place = |names: &[&str]| names.iter().position(|name| *name == word).map(|at| at + 1);
    let digits = || word.parse().ok().filter(|_| word.len() <= 4);
    place(&ROMAN).or_else(|| place(&NUMBERS)).or_else(digits)
}

/// The other spellings of a number: digits, Roman numerals and words.
pub fn numerals(number: usize) -> impl Iterator<Item = String> {
    let at = number.wrapping_sub(1);
    let names = [ROMAN, NUMBERS]
        .into_iter()
        .filter_map(move |names| names.get(at).copied());
    std::iter::once(number.to_string()).chain(names.map(str::to_owned))
}

/// The words with numerals as digits, and without what people leave out before a number.
fn counted(words: &[String]) -> Vec<String> {
    let numbers: Vec<Option<usize>> = words.iter().map(|word| number(word)).collect();
    let is_left_out = |at: usize| {
        PARTS.contains(&words[at].as_str()) && numbers.get(at + 1).is_some_and(Option::is_some)
    };
    let kept = (0..words.len()).filter(|&at| !is_left_out(at));
    let spelled = kept.map(|at| numbers[at].map_or_else(|| words[at].clone(), |n| n.to_string()));
    spelled.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_a_title_have_a_key_in_common() {
        for (title, typed) in [
            ("Spider-Man", "spiderman"),
            ("WALL·E", "walle"),
            ("WALL-E", "Wall E"),
            ("The Godfather Part II", "godfather part 2"),
            ("The Godfather Part II", "godfather 2"),
            ("Kill Bill: Vol. 2", "kill bill 2"),
            ("Dune: Part Two", "dune part ii"),
            ("Rocky IV", "rocky 4"),
            ("X-Men", "xmen"),
            ("Amélie", "AMELIE"),
            ("Tár", "tar"),
            ("Ocean's Eleven", "oceans 11"),
            ("Ocean’s Eleven", "ocean's eleven"),
            ("Fast & Furious", "fast and furious"),
            (
                "Good, the Bad and the Ugly, The",
                "the good the bad and the ugly",
            ),
            ("Smørrebrød", "smorrebrod"),
            ("Straße", "STRASSE"),
            ("8½", "8 1/2"),
            ("Café\u{301}", "cafe"),
            ("千と千尋の神隠し", "千と千尋の神隠し"),
            ("기생충", "기생충"),
            ("Ирония судьбы", "ИРОНИЯ СУДЬБЫ"),
            ("???", "???"),
            ("A", "a"),
            ("S.W.A.T.", "swat"),
            ("Spider\u{200b}-\u{ad}Man", "spiderman"),
        ] {
            let (film, typed) = (Title::of(title), Title::of(typed));
            assert!(film.distance(&typed).is_some(), "{film:?} {typed:?}");
        }
        for (title, other) in [
            ("Alien", "Aliens"),
            ("Rocky II", "Rocky III"),
            ("???", "!!!"),
            ("M", "N"),
            ("कि", "का"),
        ] {
            assert_eq!(Title::of(title).distance(&Title::of(other)), None);
        }
    }

    #[test]
    fn the_same_title_is_nearest() {
        let her = Title::of("Her");
        let far = |text| Title::of(text).distance(&her);
        assert_eq!(
            [
                far("Her"),
                far("HER"),
                far("Hér"),
                far("H.E.R."),
                far("The Her"),
                far("Here")
            ],
            [Some(0), Some(1), Some(2), Some(3), Some(4), None]
        );
    }
}
