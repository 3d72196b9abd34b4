//! Remarks of a load: what it decided by itself, and how it wrote the rows.

use std::fmt;

use serde::Serialize;

/// What a [`Note`] is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoteKind {
    /// The encoding was derived from the first bytes.
    EncodingAssumed,
    /// The delimiter was derived from the content.
    DelimiterAssumed,
    /// The quote character was derived from the content.
    QuoteAssumed,
    /// The first line was taken as a header, or as a row.
    HeaderAssumed,
    /// A column has another name than in the header, which has none for it, or the same twice.
    ColumnRenamed,
    /// Numbers with a decimal comma were read as numbers.
    DecimalCommaRead,
    /// A created column of numbers, or nearly so, has the type of text.
    KeptAsText,
    /// A value lost what a number does not keep: the sign of a zero.
    SignDropped,
    /// Text was decoded to bytes.
    DecodedAsBytes,
    /// The rows after the first ones changed the type of a column.
    TypeWidened,
    /// A column of numbers or bytes that exists has text.
    StoredAsText,
    /// Dates are stored as they are written.
    DatesKept,
    /// NaN was stored as NULL.
    NanAsNull,
    /// Blank lines were left out.
    LinesLeftOut,
    /// A flag had no effect.
    FlagUnused,
    /// Fewer or other rows were stored than sent.
    RowsChanged,
    /// A column was added to the table.
    ColumnAdded,
    /// How the rows were written.
    Writing,
}

impl NoteKind {
    /// Whether the loader decided something that may surprise. Other remarks say what was asked for, or how it was done.
    pub fn is_decision(self) -> bool {
        !matches!(self, NoteKind::ColumnAdded | NoteKind::Writing)
    }
}

/// A remark of a load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Note {
    /// What it is about.
    pub kind: NoteKind,
    /// The file, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The column, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// How many values or lines it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// The line, or row, of the first of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The remark in words.
    pub text: String,
}

impl Note {
    pub(crate) fn new(kind: NoteKind, text: impl Into<String>) -> Self {
        Note {
            kind,
            file: None,
            column: None,
            count: None,
            line: None,
            text: text.into(),
        }
    }

    /// Adds the file, whose name begins the text.
    pub(crate) fn in_file(mut self, file: impl fmt::Display) -> Self {
        self.text = format!("{file}: {}", self.text);
        self.file = Some(file.to_string());
        self
    }

    pub(crate) fn of_column(mut self, column: &str) -> Self {
        self.column = Some(column.to_owned());
        self
    }

    pub(crate) fn counted(mut self, count: u64, line: u64) -> Self {
        (self.count, self.line) = (Some(count), Some(line));
        self
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
