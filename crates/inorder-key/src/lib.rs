//! Key kinds: how an id is made and how it is stored.
//!
//! Pure: this crate knows no database and no file. It generates, parses and formats.

mod buffer;
mod clock;
mod encoding;
mod error;
mod kind;
mod rng;
mod sequence;
mod stream;
mod text;

pub use buffer::KeyBuffer;
pub use clock::{Clock, CountingClock, Reading, SystemClock, UnixTime};
pub use encoding::Encoding;
pub use error::Error;
pub use kind::KeyKind;
pub use stream::KeyStream;
