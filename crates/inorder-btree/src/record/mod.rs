//! Records: how SQLite stores a row's values, and the order in which it keeps them.
//!
//! A record is a header (its own length and a serial type for each value) and a body with the values'
//! bytes. A row is encoded once, compared as it is, and copied into a page.
//!
//! Source: <https://www.sqlite.org/fileformat2.html#record_format>.

mod fields;
mod order;
mod read;
mod text;
pub mod varint;
mod write;

pub use fields::{Fields, Pick};
pub use order::{Collation, KeyColumn, KeyOrder, of_bytes, of_real};
pub use read::{Malformed, Record, Values};
pub use text::TextEncoding;
pub use write::encode;

/// One stored value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// No value.
    Null,
    /// A signed number of 64 bits.
    Integer(i64),
    /// A floating-point number. Encoded as such, whatever its value; NaN is encoded as NULL, as in SQLite.
    Real(f64),
    /// A string, its bytes in the database's encoding.
    Text(&'a [u8]),
    /// Bytes.
    Blob(&'a [u8]),
}

/// The largest magnitude, as `i` or `!i`, of an integer that is stored in 6 bytes.
const SIX_BYTES_MAX: u64 = (1 << 47) - 1;

impl Value<'_> {
    /// A number as a column of REAL affinity stores it: as an integer where it is whole and takes at most
    /// 6 bytes that way, otherwise as it is. SQLite turns it back on reading.
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

/// What decides how many bytes an integer takes: itself, or its complement where it is negative.
fn magnitude(integer: i64) -> u64 {
    (integer ^ (integer >> 63)) as u64
}
