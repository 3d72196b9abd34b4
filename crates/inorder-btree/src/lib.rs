//! SQLite database files written page by page, bottom up, from records that come in order.
//!
//! The file format and nothing else: no SQL, no schema, no database driver. Everything here follows
//! <https://www.sqlite.org/fileformat2.html>.

pub mod record;

pub use record::{Collation, KeyColumn, KeyOrder, Record, TextEncoding, Value};
