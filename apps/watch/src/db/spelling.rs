//! Similarly spelled words.

use crate::{Result, title};
use rusqlite::Connection;

/// The maximum number of similar words per word.
const NEARBY_MAX: usize = 12;

/// The maximum number of words of a query that are corrected.
const CORRECTED_MAX: usize = 3;

/// The maximum number of corrected texts.
const TEXTS_MAX: usize = 24;

/// The maximum length of a corrected word in letters. The search time grows with it.
const LETTERS_MAX: usize = 40;

/// The maximum number of wrong, missing, additional or swapped letters for a word.
fn errors_max(letters: usize) -> usize {
    match letters {
        4..=6 => 1,
        7..=LETTERS_MAX => 2,
        _ => 0,
    }
}

/// A query for a word, or for words that begin with it. A single letter matches only itself; otherwise nearly every film would match.
pub fn query(word: &str, is_beginning: bool) -> String {
    let is_prefix = is_beginning && word.chars().count() > 1;
    let star = if is_prefix { "*" } else { "" };
    format!("\"{word}\"{star}")
}

/// The word from its end.
pub fn backwards(word: &str) -> String {
    word.chars().rev().collect()
}

/// Adds words to those that are known.
///
/// # Errors
/// SQLite's error.
pub fn learn(db: &Connection, words: impl Iterator<Item = String>) -> Result<()> {
    let mut insert = db.prepare_cached("INSERT OR IGNORE INTO word VALUES (?1, ?2)")?;
    for word in words {
        insert.execute((&word, backwards(&word)))?;
    }
    Ok(())
}

/// Similar spellings of what was typed.
#[derive(Debug, Default)]
pub struct Nearby {
    /// Texts with similar words in place of the typed ones, the nearest first.
    pub texts: Vec<String>,
    /// Expressions for the index. The first has the words with the fewest errors, a second one all of them, unless they are the same. BM25
    /// counts all films of each word, so that a search for a few words takes less.
    pub expressions: Vec<String>,
}

/// Returns similar spellings of words: of those that nothing is called, or if all are known, of each. A number keeps all its spellings.
pub fn nearby(db: &Connection, words: &[String]) -> Result<Nearby> {
    let mut is_known = db.prepare_cached("SELECT EXISTS (SELECT 1 FROM word WHERE word = ?1)")?;
    let known = words
        .iter()
        .map(|word| is_known.query_row([word], |row| row.get(0)));
    let known = known.collect::<rusqlite::Result<Vec<bool>>>()?;
    let all_known = known.iter().all(|is_known| *is_known);
    let (mut nearest, mut all, mut corrected) = (Vec::new(), Vec::new(), 0);
    let mut texts = vec![String::new()];
    for (word, is_known) in words.iter().zip(known) {
        let mut near = Vec::new();
        if (all_known || !is_known) && corrected < CORRECTED_MAX {
            corrected += 1;
            near = similar(db, word)?;
        }
        let whole = near.iter().filter(|near| !near.is_part);
        let whole: Vec<&str> = whole.map(|near| near.term.as_str()).collect();
        texts = with_each(&texts, if whole.is_empty() { vec![word] } else { whole });
        let least = near.first().map(|first| first.errors);
        let few = near.iter().take_while(|near| Some(near.errors) == least);
        nearest.push(any_of(few, word));
        all.push(any_of(near.iter(), word));
    }
    let mut expressions = vec![nearest.join(" AND "), all.join(" AND ")];
    expressions.dedup();
    expressions.retain(|expression| !expression.is_empty());
    Ok(Nearby { texts, expressions })
}

/// The texts with each of these words at their ends, at most [`TEXTS_MAX`].
fn with_each(texts: &[String], words: Vec<&str>) -> Vec<String> {
    let longer = texts
        .iter()
        .flat_map(|text| words.iter().map(move |word| format!("{text} {word}")));
    longer.take(TEXTS_MAX).collect()
}

/// A query for similar words, for those that begin with a word whose beginning is similar, and for those that begin with the typed one.
fn any_of<'a>(near: impl Iterator<Item = &'a Near>, typed: &str) -> String {
    let mut any: Vec<String> = near.map(|near| query(&near.term, near.is_part)).collect();
    any.push(query(typed, true));
    let numerals = title::number(typed).into_iter().flat_map(title::numerals);
    let others = numerals.filter(|other| other != typed);
    any.extend(others.map(|other| query(&other, false)));
    format!("({})", any.join(" OR "))
}

/// The most similar words, the best first. A similar word has the same first letter, or the same last two.
fn similar(db: &Connection, word: &str) -> Result<Vec<Near>> {
    let letters: Vec<char> = word.chars().collect();
    if errors_max(letters.len()) == 0 {
        return Ok(Vec::new());
    }
    let mut near = Vec::new();
    each_near(db, "word", 1, &letters, |term, distance| {
        let whole = distance.whole.map(|errors| (errors, false));
        let beginning = distance.beginning.map(|errors| (errors, true));
        near.extend(
            whole
                .or(beginning)
                .map(|(errors, is_part)| Near::new(errors, is_part, word, term.to_owned())),
        );
    })?;
    let from_end: Vec<char> = letters.into_iter().rev().collect();
    each_near(db, "backwards", 2, &from_end, |term, distance| {
        near.extend(
            distance
                .whole
                .map(|errors| Near::new(errors, false, word, backwards(term))),
        );
    })?;
    near.sort();
    near.dedup();
    near.truncate(NEARBY_MAX);
    Ok(near)
}

/// Compares the typed word with the words of a column that begin with as many letters of it as given. Words whose beginning
/// has too many errors already are skipped together.
fn each_near(
    db: &Connection,
    column: &str,
    same: usize,
    typed: &[char],
    mut on_near: impl FnMut(&str, Distance),
) -> Result<()> {
    let sql =
        format!("SELECT {column} FROM word WHERE {column} BETWEEN ?1 AND ?2 ORDER BY {column}");
    let mut statement = db.prepare_cached(&sql)?;
    let end_of = |beginning: &str| format!("{beginning}\u{10ffff}");
    let mut from: String = typed.iter().take(same).collect();
    let to = end_of(&from);
    let mut table = Table::new(typed);
    loop {
        let mut rows = statement.query([&from, &to])?;
        from = loop {
            let Some(row) = rows.next()? else {
                return Ok(());
            };
            let term = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
            match table.compare(term) {
                Ok(distance) => on_near(term, distance),
                Err(beginning) => break end_of(beginning),
            }
        };
    }
}

/// A word of the index. The order is that of preference.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Near {
    errors: usize,
    is_part: bool,
    /// Whether it is pronounced otherwise than the typed one.
    is_other_sound: bool,
    term: String,
}

impl Near {
    fn new(errors: usize, is_part: bool, typed: &str, term: String) -> Self {
        Near {
            errors,
            is_part,
            is_other_sound: sound(typed) != sound(&term),
            term,
        }
    }
}

/// A word without what is often written otherwise and pronounced alike: `c` and `k`, doubled letters, `h` after another letter.
fn sound(word: &str) -> String {
    let mut sound = String::new();
    for letter in word.chars() {
        let letter = match letter {
            'c' | 'q' => 'k',
            'z' => 's',
            'y' => 'i',
            'h' if !sound.is_empty() => continue,
            letter => letter,
        };
        if !sound.ends_with(letter) {
            sound.push(letter);
        }
    }
    sound
}

/// The numbers of errors of the typed word; `None` if there are too many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Distance {
    /// Compared with a whole word.
    whole: Option<usize>,
    /// Compared with as many of its first letters.
    beginning: Option<usize>,
}

/// Compares a word with others in alphabetical order: by wrong, missing, additional and swapped letters (Damerau, "A technique
/// for computer detection and correction of spelling errors", Communications of the ACM 7, 1964).
///
/// A row has the errors of a beginning of the other word against each beginning of the typed one (Wagner and Fischer, "The
/// string-to-string correction problem", Journal of the ACM 21, 1974). The rows of what two successive words have in common stay.
struct Table<'a> {
    typed: &'a [char],
    errors_max: usize,
    /// The first letters of the other word.
    letters: Vec<char>,
    /// A row for no letter, and one for each of them.
    rows: Vec<Vec<u8>>,
}

impl<'a> Table<'a> {
    /// A table for a typed word of at most [`LETTERS_MAX`] letters.
    fn new(typed: &'a [char]) -> Self {
        Table {
            typed,
            errors_max: errors_max(typed.len()),
            letters: Vec::new(),
            rows: vec![(0..=typed.len() as u8).collect()],
        }
    }

    /// Compares the typed word with a term.
    ///
    /// # Errors
    /// A beginning of the term, if every word that begins with it has too many errors.
    fn compare<'t>(&mut self, term: &'t str) -> std::result::Result<Distance, &'t str> {
        let both = self.letters.iter().zip(term.chars());
        let common = both.take_while(|(known, letter)| *known == letter).count();
        self.letters.truncate(common);
        let longest = self.typed.len() + self.errors_max;
        let mut length = 0;
        for (at, letter) in term.char_indices() {
            if length >= common && length < longest {
                let may_end_near = self.push(letter);
                if !may_end_near && self.errors_at(self.typed.len()).is_none() {
                    return Err(&term[..at + letter.len_utf8()]);
                }
            }
            length += 1;
        }
        Ok(Distance {
            whole: self.errors_at(length),
            beginning: self.errors_at(self.typed.len()),
        })
    }

    /// The errors of the typed word against so many first letters of the term.
    fn errors_at(&self, length: usize) -> Option<usize> {
        let row = (length <= self.letters.len()).then(|| &self.rows[length]);
        let errors = row?.last().copied().map(usize::from);
        errors.filter(|errors| *errors <= self.errors_max)
    }

    /// Adds a letter of the term. Returns whether a term with these first letters may have few enough errors.
    fn push(&mut self, letter: char) -> bool {
        let length = self.letters.len();
        if self.rows.len() == length + 1 {
            self.rows.push(Vec::new());
        }
        let mut row = std::mem::take(&mut self.rows[length + 1]);
        row.clear();
        let above = &self.rows[length];
        row.push(above[0] + 1);
        for (at, typed) in self.typed.iter().enumerate() {
            let wrong = above[at] + u8::from(*typed != letter);
            let missing_or_additional = row[at].min(above[at + 1]) + 1;
            let mut errors = wrong.min(missing_or_additional);
            let is_swapped = at > 0
                && length > 0
                && self.typed[at - 1] == letter
                && self.letters[length - 1] == *typed;
            if is_swapped {
                errors = errors.min(self.rows[length - 1][at - 1] + 1);
            }
            row.push(errors);
        }
        let least = |row: &[u8]| usize::from(row.iter().copied().min().unwrap_or_default());
        // The next letter may be swapped with this one.
        let may_end_near = least(&row) <= self.errors_max || least(above) < self.errors_max;
        self.letters.push(letter);
        self.rows[length + 1] = row;
        may_end_near
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::{collection::vec, prelude::*};
    use strsim::osa_distance;

    fn database(words: &[String]) -> Connection {
        let db = Connection::open_in_memory().unwrap();
        let table = "CREATE TABLE word(word TEXT NOT NULL PRIMARY KEY, backwards TEXT NOT NULL) STRICT, WITHOUT ROWID";
        db.execute_batch(table).unwrap();
        learn(&db, words.iter().cloned()).unwrap();
        db
    }

    /// The errors of a typed word, each word compared alone; whether it is the whole word.
    fn errors(typed: &str, term: &str) -> Option<(usize, bool)> {
        let letters = typed.chars().count();
        let near = |errors: &usize| *errors <= errors_max(letters);
        let whole = Some(osa_distance(typed, term)).filter(near);
        let is_longer =
            term.chars().count() >= letters && typed.chars().next() == term.chars().next();
        let beginning: String = term.chars().take(letters).collect();
        let part = Some(osa_distance(typed, &beginning)).filter(|errors| is_longer && near(errors));
        whole
            .map(|errors| (errors, true))
            .or(part.map(|errors| (errors, false)))
    }

    fn found_one_by_one(typed: &str, words: &[String]) -> Vec<Near> {
        let begins = |term: &String| term.chars().next() == typed.chars().next();
        let ends = |term: &String| {
            let end = |word: &str| word.chars().rev().take(2).collect::<Vec<_>>();
            end(term) == end(typed)
        };
        let compared = words.iter().filter(|term| begins(term) || ends(term));
        let mut near: Vec<Near> = compared
            .filter(|_| errors_max(typed.chars().count()) > 0)
            .filter_map(|term| {
                let (errors, is_whole) = errors(typed, term)?;
                Some(Near::new(errors, !is_whole, typed, term.clone()))
            })
            .collect();
        near.sort();
        near.dedup();
        near.truncate(NEARBY_MAX);
        near
    }

    proptest! {
        #[test]
        fn words_that_share_beginnings_are_found_as_each_alone(
            words in vec("[abcé]{1,11}", 0..80),
            typed in "[abcé]{1,10}",
        ) {
            let db = database(&words);
            prop_assert_eq!(similar(&db, &typed).unwrap(), found_one_by_one(&typed, &words));
        }
    }

    #[test]
    fn one_error_in_a_short_word_and_two_in_a_long_one_are_forgiven() {
        let found = |typed: &str, term: &str| {
            let db = database(&[term.to_owned()]);
            !similar(&db, typed).unwrap().is_empty()
        };
        for (typed, term) in [
            ("alein", "alien"),
            ("gladaitor", "gladiator"),
            ("schindlrs", "schindlers"),
            ("hitchkok", "hitchcock"),
            ("casabl", "casablanca"),
            ("kasablanca", "casablanca"),
        ] {
            assert!(found(typed, term), "{typed}");
        }
        for (typed, term) in [("cat", "car"), ("alein", "aline"), ("moon", "mouse")] {
            assert!(!found(typed, term), "{typed}");
        }
        let endless = "a".repeat(LETTERS_MAX + 1);
        assert!(!found(&endless, &endless));
    }
}
