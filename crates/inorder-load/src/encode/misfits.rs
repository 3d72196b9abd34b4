//! Counts values that a column does not store as its type says: text in columns of numbers or bytes, and NaN.

use super::excerpt;

/// The values of a column that are not of its type.
#[derive(Debug, Default)]
pub(super) struct Misfits {
    values: u64,
    /// The block, the line and the beginning of the first one.
    first: Option<(u64, u64, String)>,
    /// Reals that are NaN, which SQLite stores as NULL.
    nans: u64,
    /// The block and the line of the first one.
    first_nan: Option<(u64, u64)>,
}

impl Misfits {
    #[cold]
    pub(super) fn add(&mut self, text: &[u8], block: u64, line: u64) {
        self.values += 1;
        if self.first.is_none() {
            self.first = Some((block, line, excerpt(text)));
        }
    }

    #[cold]
    pub(super) fn add_nan(&mut self, block: u64, line: u64) {
        self.nans += 1;
        self.first_nan.get_or_insert((block, line));
    }

    /// Adds those of other blocks.
    pub(super) fn merge(&mut self, other: Misfits) {
        self.values += other.values;
        let firsts = [self.first.take(), other.first];
        self.first = firsts.into_iter().flatten().min();
        self.nans += other.nans;
        let firsts = [self.first_nan, other.first_nan];
        self.first_nan = firsts.into_iter().flatten().min();
    }

    /// A remark about the NaNs of a column; `None` if there are none.
    pub(super) fn remark_about_nans(&self, column: &str) -> Option<String> {
        let (_, line) = self.first_nan?;
        let values = match self.nans {
            1 => "1 value is NaN and".to_owned(),
            values => format!("{values} values are NaN and"),
        };
        Some(format!(
            "column `{column}`: {values} stored as NULL, the first in line {line}"
        ))
    }

    /// A remark about a column of numbers, or of bytes; `None` if it has no other text.
    pub(super) fn remark(&self, column: &str, is_of_bytes: bool) -> Option<String> {
        let (_, line, text) = self.first.as_ref()?;
        let values = match self.values {
            1 => "1 value is".to_owned(),
            values => format!("{values} values are"),
        };
        if is_of_bytes {
            return Some(format!(
                "column `{column}` has the type BLOB, and {values} stored as text, the first in line {line}: `{text}`; the rows \
                 read first have no text that tells its form: --decode {column}=hex, or another form, stores bytes"
            ));
        }
        let has_comma = |text: &str| {
            let (whole, fraction) = text.split_once(',')?;
            Some(
                !whole.is_empty()
                    && whole
                        .chars()
                        .chain(fraction.chars())
                        .all(|c| c.is_ascii_digit()),
            )
        };
        let hint = match has_comma(text) {
            Some(true) => "; --decimal , reads decimal commas",
            _ => "",
        };
        Some(format!(
            "column `{column}` has a numeric type, and {values} stored as text, the first in line {line}: `{text}`{hint}"
        ))
    }
}
