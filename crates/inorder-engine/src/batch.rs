//! Rows in bulk, as one array per column, which the hot path binds without an allocation and without a copy per row.

use std::sync::Arc;

/// One column of a batch.
#[derive(Clone, Debug, PartialEq)]
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
        /// The bytes that the spans refer to.
        pool: Arc<[u8]>,
        /// Offset and length of the value of each row.
        spans: Vec<(u32, u32)>,
        /// Text (valid UTF-8) rather than a blob. Every span falls on character boundaries.
        is_text: bool,
    },
    /// Values of any kind, including NULL, for data of users.
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
    /// Returns the number of rows in the column.
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

    /// Returns a copy of the value of one row. Do not use it on the hot path.
    ///
    /// # Panics
    /// If the column has no such row, or a text is not UTF-8.
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

    /// Returns the borrowed value of one row.
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

    /// Returns whether the column has no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Rows to write: columns of equal length, in the order of the statement's parameters.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// The columns.
    pub columns: Vec<Column>,
}

impl Batch {
    /// Returns the number of rows in the batch; 0 if it has no columns.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, Column::len)
    }
}
