//! How a column spells its ids: what a text must look like to come back the same from its bytes.

use crate::server::model::{ColumnTo, Table};

/// What may be before the digits of an id.
const PREFIX: &str = "0x";

/// Bytes of a UUID.
const UUID_BYTES: u8 = 16;

/// How the hexadecimal digits of ids are written. `None` where a sample has both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spelling {
    /// Whether hyphens part the digits as in a UUID.
    pub hyphens: Option<bool>,
    /// Whether letters are capitals.
    pub capitals: Option<bool>,
    /// Whether `0x` is before the digits.
    pub has_prefix: bool,
    /// Bytes of an id: half of its digits.
    pub bytes: u8,
}

impl Spelling {
    /// The spelling of a column's sample, whose ids become another type.
    pub fn of(table: &Table, column: &str, to: ColumnTo) -> Self {
        let (bytes, has_prefix) = match to {
            ColumnTo::Bytes { bytes, has_prefix } => (bytes, has_prefix),
            _ => (UUID_BYTES, false),
        };
        let (mut hyphens, mut capitals) = ((false, false), (false, false));
        let sample = table.sample.as_ref();
        let place = sample.and_then(|sample| sample.column(column));
        let values = sample.iter().flat_map(|sample| &sample.rows);
        for value in values.filter_map(|row| row.get(place?)?.as_deref()) {
            let digits = value.strip_prefix(PREFIX).filter(|_| has_prefix);
            let digits = digits.unwrap_or(value);
            let has = |wanted: fn(&u8) -> bool| digits.as_bytes().iter().any(wanted);
            let is_parted = has(|byte| *byte == b'-');
            hyphens = (hyphens.0 || is_parted, hyphens.1 || !is_parted);
            capitals.0 |= has(u8::is_ascii_uppercase);
            capitals.1 |= has(u8::is_ascii_lowercase);
        }
        let known = |seen: (bool, bool)| (seen.0 != seen.1).then_some(seen.0);
        // A digest is one text: without a letter in the sample, letters are refused but in lower case.
        let is_digest = matches!(to, ColumnTo::Bytes { .. });
        Spelling {
            hyphens: known(hyphens).or(is_digest.then_some(false)),
            capitals: known(capitals).or(is_digest.then_some(false)),
            has_prefix,
            bytes,
        }
    }

    /// Whether each id has one text.
    pub fn is_known(self) -> bool {
        self.hyphens.is_some() && self.capitals.is_some()
    }

    /// What is before the digits.
    pub fn prefix(self) -> &'static str {
        if self.has_prefix { PREFIX } else { "" }
    }

    /// The regular expression of its texts, for PostgreSQL, MariaDB and MySQL. Letters of the other case are to be refused
    /// besides where the comparison has no regard to case.
    pub fn pattern(self) -> String {
        let digit = match self.capitals {
            Some(true) => "[0-9A-F]",
            Some(false) => "[0-9a-f]",
            None => "[0-9A-Fa-f]",
        };
        let hyphen = match self.hyphens {
            Some(true) => "-",
            Some(false) => "",
            None => "-?",
        };
        let digits = |count: u8| format!("{digit}{{{count}}}");
        let digits = match self.hyphens {
            Some(false) => digits(2 * self.bytes),
            _ => [8, 4, 4, 4, 12].map(digits).join(hyphen),
        };
        format!("^{}{digits}$", self.prefix())
    }

    /// The spelling in words.
    pub fn in_words(self) -> String {
        let case = match self.capitals {
            Some(true) => " in capitals",
            Some(false) => " in lower case",
            None => "",
        };
        let hyphens = match self.hyphens {
            Some(true) => " with hyphens",
            Some(false) if self.bytes == UUID_BYTES => " without hyphens",
            _ => "",
        };
        let prefix = if self.has_prefix { "0x and " } else { "" };
        let digits = 2 * self.bytes;
        format!("{prefix}{digits} hexadecimal digits{case}{hyphens}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::model::Sample;

    fn as_type(values: &[&str], to: ColumnTo) -> Spelling {
        let rows = values.iter().map(|value| vec![Some((*value).to_owned())]);
        let sample = Sample {
            columns: vec!["id".into()],
            rows: rows.collect(),
            ..Sample::default()
        };
        let table = Table {
            sample: Some(sample),
            ..Table::default()
        };
        Spelling::of(&table, "id", to)
    }

    #[test]
    fn digests_have_one_text_each() {
        for bytes in [20, 32, 40, 64] {
            for (prefix, capitals) in [("", false), ("0x", false), ("", true), ("0x", true)] {
                let has_prefix = !prefix.is_empty();
                let to = ColumnTo::Bytes { bytes, has_prefix };
                let digits = if capitals { "A1" } else { "a1" };
                let text = format!("{prefix}{}", digits.repeat(bytes.into()));
                let found = as_type(&[&text], to);
                assert!(found.is_known(), "{text}");
                assert_eq!(found.capitals, Some(capitals), "{text}");
                let letters = if capitals { "A-F" } else { "a-f" };
                let wanted = format!("^{prefix}[0-9{letters}]{{{}}}$", 2 * bytes);
                assert_eq!(found.pattern(), wanted);
            }
        }
        let to = ColumnTo::Bytes {
            bytes: 20,
            has_prefix: true,
        };
        let found = as_type(&["0x1111111111111111111111111111111111111111"], to);
        assert_eq!(
            found.in_words(),
            "0x and 40 hexadecimal digits in lower case"
        );
    }

    #[test]
    fn a_sample_tells_how_ids_are_spelled() {
        let of = |values: &[&str]| as_type(values, ColumnTo::Uuid);
        let lower = "0f8fad5b-d9cb-469f-a165-70867728950e";
        let upper = "0F8FAD5BD9CB469FA16570867728950E";
        assert!(of(&[lower]).is_known() && of(&[upper]).is_known());
        let unknown = of(&[lower, upper]);
        assert_eq!((unknown.hyphens, unknown.capitals), (None, None));
        assert_eq!(of(&[upper]).pattern(), "^[0-9A-F]{32}$");
        assert_eq!(
            of(&[lower]).in_words(),
            "32 hexadecimal digits in lower case with hyphens"
        );
        // Digits alone tell nothing of letters.
        assert!(!of(&["00000000-0000-0000-0000-000000000000"]).is_known());
        assert_eq!(of(&[]), unknown);
    }
}
