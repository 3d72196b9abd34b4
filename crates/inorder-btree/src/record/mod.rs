//! Records, the form in which SQLite stores the values of a row or index entry.
//!
//! A record is a header (its own length and a serial type per value) and a body with the bytes of the values. This module
//! encodes, decodes and compares records.
//!
//! Source: <https://www.sqlite.org/fileformat2.html#record_format>.

mod fields;
mod order;
mod pairs;
mod read;
mod text;
pub mod varint;
mod write;

pub use fields::{Fields, Pick};
pub use order::{Collation, KeyColumn, KeyOrder, WORDS, of_bytes, of_real};
pub use pairs::sort_pairs;
pub use read::{Malformed, Record, Values};
pub use text::TextEncoding;
pub use write::{Writer, encode};

/// A stored value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// NULL.
    Null,
    /// A signed 64-bit integer.
    Integer(i64),
    /// A 64-bit floating-point number. It is encoded as such, also if it is whole; NaN is encoded as NULL, as in SQLite.
    Real(f64),
    /// Text, in the database's encoding.
    Text(&'a [u8]),
    /// A blob.
    Blob(&'a [u8]),
}

/// The largest magnitude, as `i` or `!i`, of an integer that is stored in 6 bytes.
const SIX_BYTES_MAX: u64 = (1 << 47) - 1;

impl Value<'_> {
    /// Returns the value that a column of REAL affinity stores for a number: an integer if the number is whole and takes at
    /// most 6 bytes as one. SQLite converts it back when it reads the column.
    #[must_use]
    pub fn in_real_column(real: f64) -> Self {
        let integer = real as i64;
        let is_exact = integer as f64 == real;
        if is_exact && magnitude(integer) <= SIX_BYTES_MAX {
            Value::Integer(integer)
        } else {
            Value::Real(real)
        }
    }
}

/// Returns the number that decides the size of an integer: the integer, or its complement if it is negative.
fn magnitude(integer: i64) -> u64 {
    (integer ^ (integer >> 63)) as u64
}
