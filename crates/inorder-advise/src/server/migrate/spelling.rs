//! How a column spells its ids: what a text must look like to come back the same from 16 bytes.

use crate::server::model::Table;

/// How ids of 32 hexadecimal digits are written. `None` where a sample has both.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spelling {
    /// Whether hyphens part the digits as in a UUID.
    pub hyphens: Option<bool>,
    /// Whether letters are capitals.
    pub capitals: Option<bool>,
}

impl Spelling {
    /// The spelling of a column's sample.
    pub fn of(table: &Table, column: &str) -> Self {
        let (mut hyphens, mut capitals) = ((false, false), (false, false));
        let sample = table.sample.as_ref();
        let place = sample.and_then(|sample| sample.column(column));
        let values = sample.iter().flat_map(|sample| &sample.rows);
        for value in values.filter_map(|row| row.get(place?)?.as_deref()) {
            let has = |wanted: fn(&u8) -> bool| value.as_bytes().iter().any(wanted);
            let is_parted = has(|byte| *byte == b'-');
            hyphens = (hyphens.0 || is_parted, hyphens.1 || !is_parted);
            capitals.0 |= has(u8::is_ascii_uppercase);
            capitals.1 |= has(u8::is_ascii_lowercase);
        }
        let known = |seen: (bool, bool)| (seen.0 != seen.1).then_some(seen.0);
        Spelling {
            hyphens: known(hyphens),
            capitals: known(capitals),
        }
    }

    /// Whether each id has one text.
    pub fn is_known(self) -> bool {
        self.hyphens.is_some() && self.capitals.is_some()
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
        let groups = [8, 4, 4, 4, 12].map(|count| format!("{digit}{{{count}}}"));
        format!("^{}$", groups.join(hyphen))
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
            Some(false) => " without hyphens",
            None => "",
        };
        format!("32 hexadecimal digits{case}{hyphens}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::model::Sample;

    #[test]
    fn a_sample_tells_how_ids_are_spelled() {
        let of = |values: &[&str]| {
            let rows = values.iter().map(|value| vec![Some((*value).to_owned())]);
            let sample = Sample {
                columns: vec!["id".into()],
                rows: rows.collect(),
                ..Sample::default()
            };
            Spelling::of(
                &Table {
                    sample: Some(sample),
                    ..Table::default()
                },
                "id",
            )
        };
        let lower = "0f8fad5b-d9cb-469f-a165-70867728950e";
        let upper = "0F8FAD5BD9CB469FA16570867728950E";
        assert!(of(&[lower]).is_known() && of(&[upper]).is_known());
        assert_eq!(of(&[lower, upper]), Spelling::default());
        assert_eq!(
            of(&[upper]).pattern(),
            "^[0-9A-F]{8}[0-9A-F]{4}[0-9A-F]{4}[0-9A-F]{4}[0-9A-F]{12}$"
        );
        assert_eq!(
            of(&[lower]).in_words(),
            "32 hexadecimal digits in lower case with hyphens"
        );
        // Digits alone tell nothing of letters.
        assert!(!of(&["00000000-0000-0000-0000-000000000000"]).is_known());
        assert_eq!(of(&[]), Spelling::default());
    }
}
