//! Finds the delimiter, the quote character and the header of delimited text from its first bytes.

use std::io::Cursor;

use super::escapes::{Escapes, Syntax};
use super::splitter::Splitter;

/// The delimiters that are tried, besides the usual one of the format.
const DELIMITERS: &[u8] = b",;\t|";

/// The records that are looked at.
const RECORDS_MAX: usize = 1000;

/// What is known before the first bytes are looked at; `None` where they decide.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) delimiter: Option<u8>,
    pub(super) quote: Option<Option<u8>>,
    pub(super) has_header: Option<bool>,
    /// Lines that begin with this byte are no records.
    pub(super) comment: Option<u8>,
    pub(super) escapes: Option<Escapes>,
}

/// The syntax of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Guess {
    pub(super) delimiter: u8,
    pub(super) quote: Option<u8>,
    pub(super) has_header: bool,
    /// Whether the content tells a header from a row: not where all fields are text.
    pub(super) is_header_told: bool,
    /// Whether the text has one line.
    pub(super) is_one_line: bool,
    /// Whether records have at least two fields, and as good as all the same number.
    pub(super) is_sure: bool,
}

/// The first records, split with one delimiter and one quote character.
struct Trial {
    delimiter: u8,
    quote: Option<u8>,
    records: Vec<Vec<Field>>,
    is_broken: bool,
}

struct Field {
    text: Vec<u8>,
    is_quoted: bool,
}

/// Guesses the syntax of text that begins so. `usual` is the delimiter of the format. If `is_whole`, the text ends there.
pub(super) fn sniff(head: &[u8], is_whole: bool, usual: u8, known: &Known) -> Guess {
    let delimiters: Vec<u8> = match known.delimiter {
        Some(delimiter) => vec![delimiter],
        None => {
            let others = DELIMITERS.iter().copied().filter(|other| *other != usual);
            std::iter::once(usual).chain(others).collect()
        }
    };
    let trials = delimiters.iter().flat_map(|&delimiter| {
        let quotes = match known.quote {
            Some(quote) => vec![quote],
            None => vec![Some(b'"'), Some(b'\'')],
        };
        let trial = move |quote| Trial::new(head, is_whole, delimiter, quote, known);
        quotes.into_iter().map(trial)
    });
    let is_told = known.quote.is_some();
    let trials: Vec<Trial> = trials
        .filter(|trial| is_told || trial.quote != Some(b'\'') || trial.has_apostrophes())
        .collect();
    // The first of equal ones stays: the usual delimiter, and double quotes unless many fields stand in single ones.
    let mut best = &trials[0];
    for trial in &trials[1..] {
        let is_better = match trial.delimiter == best.delimiter {
            // Quotes in quotes make fields: their number says nothing.
            true => {
                let (share, best_share) = (trial.rank().0, best.rank().0);
                share > best_share || (share == best_share && trial.is_in_apostrophes())
            }
            false => trial.rank() > best.rank(),
        };
        if is_better {
            best = trial;
        }
    }
    // Without a better one, the errors are those of the usual delimiter.
    if best.rank().0 < SURE_SHARE && best.delimiter != usual && !trials[0].is_narrow() {
        best = &trials[0];
    }
    let found = has_header(&best.records);
    Guess {
        delimiter: best.delimiter,
        quote: best.quote,
        has_header: known.has_header.or(found).unwrap_or(true),
        is_one_line: best.records.len() == 1 && is_whole,
        is_header_told: known.has_header.is_some() || found.is_some() || best.records.len() < 2,
        is_sure: best.rank().0 >= SURE_SHARE && best.records.len() > 1,
    }
}

/// The share of the records, in thousandths, that have as many fields as the first one.
const SURE_SHARE: usize = 900;

impl Trial {
    fn new(head: &[u8], is_whole: bool, delimiter: u8, quote: Option<u8>, known: &Known) -> Self {
        let syntax = Syntax {
            delimiter,
            quote,
            comment: known.comment,
            keeps_blank_lines: false,
            escapes: known.escapes,
        };
        let mut splitter = Splitter::new(Box::new(Cursor::new(head.to_vec())), syntax);
        let mut trial = Trial {
            delimiter,
            quote,
            records: Vec::new(),
            is_broken: false,
        };
        let mut was_broken = false;
        let mut is_quoted = Vec::new();
        while trial.records.len() < RECORDS_MAX && splitter.next().is_ok_and(|is_there| is_there) {
            // The last record may be cut off: it counts only if another follows.
            trial.is_broken |= was_broken;
            is_quoted.clear();
            was_broken = splitter.look(&mut is_quoted).is_err();
            let field = |(i, text): (usize, &[u8])| Field {
                text: text.to_vec(),
                is_quoted: is_quoted.get(i).copied().unwrap_or(false),
            };
            let record = splitter.fields().enumerate().map(field).collect();
            trial.records.push(record);
        }
        match is_whole {
            true => trial.is_broken |= was_broken,
            false if trial.records.len() > 1 => _ = trial.records.pop(),
            false => {}
        }
        trial
    }

    /// Whether records have one field.
    fn is_narrow(&self) -> bool {
        self.records.first().is_none_or(|first| first.len() < 2)
    }

    /// The thousandths of the records that have as many fields as the first one, and that number. The larger the better.
    fn rank(&self) -> (usize, usize) {
        let fields = self.records.first().map_or(0, Vec::len);
        if self.is_broken || fields < 2 {
            return (0, 0);
        }
        let alike = self.records.iter().filter(|record| record.len() == fields);
        (alike.count() * 1000 / self.records.len(), fields)
    }

    /// Whether some fields stand in single quotes, none just begins with an apostrophe, and none begins with a double quote.
    fn has_apostrophes(&self) -> bool {
        let mut fields = self.records.iter().flatten();
        let is_double = |field: &Field| !field.is_quoted && field.text.first() == Some(&b'"');
        !self.is_broken && fields.clone().any(|field| field.is_quoted) && !fields.any(is_double)
    }

    /// Whether many fields stand in single quotes.
    fn is_in_apostrophes(&self) -> bool {
        let has_quotes = |record: &&Vec<Field>| record.iter().any(|field| field.is_quoted);
        let quoted = self.records.iter().filter(has_quotes).count();
        !self.is_broken && quoted * 2 >= self.records.len().max(1)
    }
}

/// The kinds of fields that tell a row from a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Empty,
    /// A number from 1000 to 2999, as headers have years.
    Year,
    Number,
    /// A date, or a UUID.
    Id,
    Text,
}

impl Kind {
    fn of(field: &Field) -> Self {
        let text = field.text.trim_ascii();
        let unsigned = text.strip_prefix(b"-").unwrap_or(text);
        let digits = |bytes: &[u8]| bytes.iter().filter(|byte| byte.is_ascii_digit()).count();
        let has_only = |others: &[u8]| {
            let is_known = |byte: &u8| byte.is_ascii_digit() || others.contains(byte);
            unsigned.iter().all(is_known)
        };
        match unsigned {
            [] if text.is_empty() => Kind::Empty,
            [b'1' | b'2', rest @ ..] if rest.len() == 3 && digits(rest) == 3 => Kind::Year,
            [b'0'..=b'9', ..] if has_only(b".,") => Kind::Number,
            [b'0'..=b'9', ..] if digits(unsigned) >= 6 && has_only(b"-/.:TZ+ ") => Kind::Id,
            _ if text.len() == 36 && std::str::from_utf8(text).is_ok_and(is_uuid) => Kind::Id,
            _ => Kind::Text,
        }
    }

    fn is_number(self) -> bool {
        matches!(self, Kind::Year | Kind::Number)
    }
}

fn is_uuid(text: &str) -> bool {
    text.parse::<inorder_key::Uuid>().is_ok()
}

/// Whether the first record names the columns: not if one of its fields is a number, a date or a UUID as all the others of
/// the column, and no other column speaks against that. `None` if all is text.
fn has_header(records: &[Vec<Field>]) -> Option<bool> {
    let (first, rest) = records.split_first()?;
    if rest.is_empty() {
        return is_data(first).then_some(false);
    }
    let (mut is_like_a_row, mut names_a_column) = (false, false);
    for (i, field) in first.iter().enumerate() {
        let kinds = rest.iter().filter_map(|record| record.get(i)).map(Kind::of);
        let kinds: Vec<Kind> = kinds.filter(|kind| *kind != Kind::Empty).collect();
        if kinds.is_empty() {
            continue;
        }
        let are_numbers = kinds.iter().all(|kind| kind.is_number());
        let are_ids = kinds.iter().all(|kind| *kind == Kind::Id);
        match Kind::of(field) {
            Kind::Text if are_numbers || are_ids => return Some(true),
            Kind::Number if are_numbers => is_like_a_row = true,
            Kind::Id if are_ids => is_like_a_row = true,
            // A year above numbers that are no years names a column.
            Kind::Year if kinds.iter().all(|kind| *kind == Kind::Year) => is_like_a_row = true,
            Kind::Year if are_numbers => names_a_column = true,
            _ => {}
        }
    }
    match (is_like_a_row, names_a_column) {
        (true, _) => Some(false),
        (false, true) => Some(true),
        (false, false) => None,
    }
}

/// Whether the only record is a row: a name is no number but a year, no date, no truth value and no address, and names are unlike.
fn is_data(record: &[Field]) -> bool {
    let years: Vec<i32> = record
        .iter()
        .filter(|field| Kind::of(field) == Kind::Year)
        .filter_map(|field| {
            std::str::from_utf8(field.text.trim_ascii())
                .ok()?
                .parse()
                .ok()
        })
        .collect();
    // A header may have a year for each column.
    let are_names = years.len() > 1 && years.windows(2).all(|pair| pair[0].abs_diff(pair[1]) == 1);
    let is_value = |(at, field): (usize, &Field)| {
        let text = String::from_utf8_lossy(field.text.trim_ascii()).to_ascii_lowercase();
        let is_word = matches!(&*text, "true" | "false" | "null" | "\\n" | "n/a");
        let is_address = text.contains("://") || (text.contains('@') && text.contains('.'));
        let is_signed =
            text.starts_with(['+', '-', '$', '.']) && text.contains(|c: char| c.is_ascii_digit());
        let is_repeated =
            !text.is_empty() && record[..at].iter().any(|other| other.text == field.text);
        is_word
            || is_address
            || is_signed
            || is_repeated && years.is_empty()
            || matches!(Kind::of(field), Kind::Number | Kind::Id)
            || Kind::of(field) == Kind::Year && !are_names
    };
    record.iter().enumerate().any(is_value)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Known = Known {
        delimiter: None,
        quote: None,
        has_header: None,
        comment: None,
        escapes: None,
    };

    fn guessed(text: &str) -> (char, Option<char>, bool) {
        let guess = sniff(text.as_bytes(), true, b',', &NOTHING);
        let quote = guess.quote.map(char::from);
        (char::from(guess.delimiter), quote, guess.has_header)
    }

    #[test]
    fn delimiters_are_those_that_split_every_record_alike() {
        for (text, delimiter) in [
            ("a;b\n1,5;2,5\n3,5;4,5\n", ';'),
            ("a|b|c\nx|y, z|1\n", '|'),
            ("a\tb\nx, y\tz\n", '\t'),
            ("a,b\n1;2,3\n", ','),
            // Every row has one decimal comma, and so has the header.
            ("name;price, EUR;n\nx;1,50;3\ny;2,50;4\n", ';'),
            ("name\nx\ny\n", ','),
            ("a,b\n1,2\n3\n", ','),
            ("\"a;b\",c\n\"1;2\",3\n", ','),
            ("", ','),
        ] {
            assert_eq!(guessed(text).0, delimiter, "{text}");
        }
    }

    #[test]
    fn apostrophes_are_quotes_only_around_fields() {
        let quote = |text| guessed(text).1;
        assert_eq!(quote("a,b\n'x, y','z'\n'it''s',''\n"), Some('\''));
        assert_eq!(quote("'a','b'\n'x','y'\n"), Some('\''));
        // They explain what would otherwise be ragged.
        assert_eq!(quote("a,b\nx,y\nx,y\nz,'1,5'\nq,w\n"), Some('\''));
        // A field in double quotes says that they are the quotes, however many fields that makes.
        assert_eq!(quote("a,b\nx,y\nz,'1,5'\n\"q\",w\n"), Some('"'));
        assert_eq!(quote("a,\"x,y\"\n'b',\"2,75\"\n"), Some('"'));
        assert_eq!(
            quote("1,\"Doe, John\",x\n2,\"Roe, Jane\",'y'\n3,\"Poe, Al\",z\n"),
            Some('"')
        );
        assert_eq!(
            quote(
                "\"x,y\",a,b\na,\"\"\"x\"\"\",\"1,5\"\nb,'a',\"2,75\"\nb,it's,\"1,5\"\nc,'a',\"2,5\"\n"
            ),
            Some('"')
        );
        assert_eq!(quote("a,b\nx,y\nx,y\nz,'quoted'\n"), Some('"'));
        assert_eq!(quote("a,b\n'tis,the season\nof,'90s\n"), Some('"'));
        assert_eq!(quote("a,b\n\"'x'\",y\n"), Some('"'));
    }

    #[test]
    fn a_first_row_is_told_from_a_header() {
        for (text, is_header) in [
            ("id,name\n1,a\n2,b\n", true),
            ("1,a\n2,b\n3,c\n", false),
            ("a,b\nc,d\n", true),
            ("Alien,1979\nBrazil,1985\n", false),
            ("country,2019,2020\nFrance,1.5,2.5\n", true),
            ("country,2020\nFrance,53\n", true),
            ("2024-01-02,a\n2024-01-03,b\n", false),
            ("id,name\n", true),
            ("id,7\n1,8\n2,9\n", true),
            ("7,x\n8,y\n,z\n", false),
            // One line.
            ("1,Alien,1979\n", false),
            ("Alien,1979", false),
            ("Alien,2024-01-02\n", false),
            ("x,-1.50\n", false),
            ("ada@example.org,Ada\n", false),
            ("Ada,true\n", false),
            ("Ada,\\N\n", false),
            ("id,name,born\n", true),
            ("country,2019,2020\n", true),
        ] {
            assert_eq!(guessed(text).2, is_header, "{text}");
        }
    }

    #[test]
    fn a_header_above_text_is_a_guess() {
        let is_told = |text: &str| sniff(text.as_bytes(), true, b',', &NOTHING).is_header_told;
        assert!(!is_told("a,b\nc,d\n"));
        for told in ["a,b\n", "id,b\n1,d\n", "1,b\n2,d\n", "2020,x\n1.5,y\n"] {
            assert!(is_told(told), "{told}");
        }
    }

    #[test]
    fn a_record_that_is_cut_off_does_not_count() {
        let text = "a;b\n1;\"x\n";
        let guess = |is_whole| sniff(text.as_bytes(), is_whole, b',', &NOTHING).delimiter;
        assert_eq!((guess(false), guess(true)), (b';', b','));
    }
}
