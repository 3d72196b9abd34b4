//! Counts values that a column does not store as its type says: text in columns of numbers or bytes, and NaN.

use super::{Decode, excerpt};
use crate::note::{Note, NoteKind};

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
    /// Zeros with a minus sign in columns that the load creates, and the first one.
    zeros: u64,
    first_zero: Option<(u64, u64, String)>,
    /// Texts that were decoded to bytes without being told to, and the first one.
    decoded: u64,
    first_decoded: Option<(u64, u64, String)>,
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

    #[cold]
    pub(super) fn add_zero(&mut self, text: &[u8], block: u64, line: u64) {
        self.zeros += 1;
        if self.first_zero.is_none() {
            self.first_zero = Some((block, line, excerpt(text)));
        }
    }

    #[inline]
    pub(super) fn add_decoded(&mut self, text: &[u8], block: u64, line: u64) {
        self.decoded += 1;
        if self.first_decoded.is_none() {
            self.first_decoded = Some((block, line, excerpt(text)));
        }
    }

    /// Adds those of other blocks.
    pub(super) fn merge(&mut self, other: Misfits) {
        self.values += other.values;
        let firsts = [self.first.take(), other.first];
        self.first = firsts.into_iter().flatten().min();
        self.nans += other.nans;
        let firsts = [self.first_nan, other.first_nan];
        self.first_nan = firsts.into_iter().flatten().min();
        self.zeros += other.zeros;
        let firsts = [self.first_zero.take(), other.first_zero];
        self.first_zero = firsts.into_iter().flatten().min();
        self.decoded += other.decoded;
        let firsts = [self.first_decoded.take(), other.first_decoded];
        self.first_decoded = firsts.into_iter().flatten().min();
    }

    /// A remark about the zeros of a column that have lost their sign; `None` if there are none.
    pub(super) fn remark_about_zeros(&self, column: &str) -> Option<Note> {
        let (_, line, text) = self.first_zero.as_ref()?;
        let values = match self.zeros {
            1 => "1 zero is".to_owned(),
            zeros => format!("{zeros} zeros are"),
        };
        let text = format!(
            "column `{column}`: {values} stored without the minus sign, the first in line {line}: `{text}`"
        );
        let note = Note::new(NoteKind::SignDropped, text);
        Some(note.of_column(column).counted(self.zeros, *line))
    }

    /// A remark about text that was decoded because all of the first rows have one form; `None` if there is none.
    pub(super) fn remark_about_bytes(&self, column: &str, decode: Decode) -> Option<Note> {
        let (_, line, text) = self.first_decoded.as_ref()?;
        let values = match self.decoded {
            1 => "1 text is".to_owned(),
            texts => format!("{texts} texts are"),
        };
        let text = format!(
            "column `{column}`: {values} read as {} and stored as bytes, the first in line {line}: `{text}`; --decode \
             {column}=none keeps the text",
            decode.name()
        );
        let note = Note::new(NoteKind::DecodedAsBytes, text);
        Some(note.of_column(column).counted(self.decoded, *line))
    }

    /// A remark about the NaNs of a column; `None` if there are none.
    pub(super) fn remark_about_nans(&self, column: &str) -> Option<Note> {
        let (_, line) = self.first_nan?;
        let values = match self.nans {
            1 => "1 value is NaN and".to_owned(),
            values => format!("{values} values are NaN and"),
        };
        let text = format!("column `{column}`: {values} stored as NULL, the first in line {line}");
        let note = Note::new(NoteKind::NanAsNull, text);
        Some(note.of_column(column).counted(self.nans, line))
    }

    /// A remark about a column of numbers, or of bytes; `None` if it has no other text.
    pub(super) fn remark(&self, column: &str, is_of_bytes: bool) -> Option<Note> {
        let (_, line, text) = self.first.as_ref()?;
        let told = |text: String| {
            let note = Note::new(NoteKind::StoredAsText, text);
            note.of_column(column).counted(self.values, *line)
        };
        let values = match self.values {
            1 => "1 value is".to_owned(),
            values => format!("{values} values are"),
        };
        if is_of_bytes {
            return Some(told(format!(
                "column `{column}` has the type BLOB, and {values} stored as text, the first in line {line}: `{text}`; --decode \
                 {column}=hex, or another form, stores bytes"
            )));
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
        Some(told(format!(
            "column `{column}` has a numeric type, and {values} stored as text, the first in line {line}: `{text}`{hint}"
        )))
    }
}
