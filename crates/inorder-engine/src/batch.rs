//! Rows in bulk, column by column, as the hot path binds them: no allocation and no copy a row.

use std::sync::Arc;

/// One column of a batch.
#[derive(Clone, Debug)]
pub enum Column {
    /// 64-bit integers.
    Integers(Vec<i64>),
    /// Floating-point numbers.
    Reals(Vec<f64>),
    /// Values of `width_bytes` each, end to end.
    Fixed {
        /// Bytes of one value.
        width_bytes: usize,
        /// `width_bytes * rows` bytes.
        bytes: Vec<u8>,
        /// Text (valid UTF-8) rather than a blob.
        is_text: bool,
    },
    /// Values that are slices of a shared pool.
    Spans {
        /// What the spans point into.
        pool: Arc<[u8]>,
        /// Offset and length of each row's value.
        spans: Vec<(u32, u32)>,
        /// Text (valid UTF-8) rather than a blob. Every span falls on character boundaries.
        is_text: bool,
    },
    /// Values of any kind, NULL included: for data that people bring.
    Any(Vec<Value>),
}

/// One value of a [`Column::Any`].
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// NULL.
    Null,
    /// An integer.
    Integer(i64),
    /// A floating-point number.
    Real(f64),
    /// Text.
    Text(Arc<str>),
    /// A blob.
    Blob(Arc<[u8]>),
}

/// A value of a batch, borrowed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cell<'a> {
    Null,
    Integer(i64),
    Real(f64),
    /// Valid UTF-8.
    Text(&'a [u8]),
    Blob(&'a [u8]),
}

impl Column {
    /// Rows in the column.
    pub fn len(&self) -> usize {
        match self {
            Column::Integers(values) => values.len(),
            Column::Reals(values) => values.len(),
            Column::Fixed {
                width_bytes, bytes, ..
            } => bytes.len().checked_div(*width_bytes).unwrap_or(0),
            Column::Spans { spans, .. } => spans.len(),
            Column::Any(values) => values.len(),
        }
    }

    /// The value of one row. It is copied: not for the hot path.
    ///
    /// # Panics
    /// Where the column has no such row, or a text isn't UTF-8.
    pub fn value(&self, row: usize) -> Value {
        match self.cell(row) {
            Cell::Null => Value::Null,
            Cell::Integer(integer) => Value::Integer(integer),
            Cell::Real(real) => Value::Real(real),
            Cell::Text(bytes) => {
                let text = std::str::from_utf8(bytes).expect("a text column holds UTF-8");
                Value::Text(Arc::from(text))
            }
            Cell::Blob(bytes) => Value::Blob(Arc::from(bytes)),
        }
    }

    /// The value of one row, borrowed.
    pub(crate) fn cell(&self, row: usize) -> Cell<'_> {
        let of_bytes = |bytes, is_text| match is_text {
            true => Cell::Text(bytes),
            false => Cell::Blob(bytes),
        };
        match self {
            Column::Integers(values) => Cell::Integer(values[row]),
            Column::Reals(values) => Cell::Real(values[row]),
            Column::Fixed {
                width_bytes,
                bytes,
                is_text,
            } => of_bytes(&bytes[row * width_bytes..][..*width_bytes], *is_text),
            Column::Spans {
                pool,
                spans,
                is_text,
            } => {
                let (start, length) = spans[row];
                of_bytes(&pool[start as usize..][..length as usize], *is_text)
            }
            Column::Any(values) => match &values[row] {
                Value::Null => Cell::Null,
                Value::Integer(integer) => Cell::Integer(*integer),
                Value::Real(real) => Cell::Real(*real),
                Value::Text(text) => Cell::Text(text.as_bytes()),
                Value::Blob(blob) => Cell::Blob(blob),
            },
        }
    }

    /// Whether the column has no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Rows to be written: columns of one length, in the order of the statement's parameters.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// The columns.
    pub columns: Vec<Column>,
}

impl Batch {
    /// Rows in the batch; 0 where it has no columns.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, Column::len)
    }
}
