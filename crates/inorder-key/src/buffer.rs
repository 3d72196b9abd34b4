//! Keys in bulk, as a batch of rows wants them: one array a column, no allocation a key.

/// A column (or two) of keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyBuffer {
    /// The engine makes the key: nothing but a count is kept.
    Assigned(usize),
    /// Integer keys.
    Integers(Vec<i64>),
    /// Keys of two integer columns: bucket and sequence.
    Pairs(Vec<i64>, Vec<i64>),
    /// Keys of `width_bytes` each, end to end.
    Bytes {
        /// Bytes of one key.
        width_bytes: usize,
        /// `width_bytes * n` bytes.
        bytes: Vec<u8>,
        /// Whether the bytes are text (ASCII) rather than a blob.
        is_text: bool,
    },
}
