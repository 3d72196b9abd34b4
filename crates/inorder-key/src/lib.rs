//! Key kinds: how an id is made and how it is stored.
//!
//! Pure: this crate knows no database and no file. It generates, parses and formats.

mod buffer;
mod encoding;
mod kind;

pub use buffer::KeyBuffer;
pub use encoding::Encoding;
pub use kind::KeyKind;
