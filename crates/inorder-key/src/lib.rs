//! Key kinds: how an id is made and how it is stored.
//!
//! Pure: this crate knows no database and no file. It generates, parses and formats.

mod buffer;
mod chacha;
mod clock;
mod encoding;
mod error;
mod factory;
mod generator;
mod id;
mod kind;
mod machine;
mod rng;
mod sequence;
mod stream;
mod text;
mod time_id;
mod ulid;
mod uuid;

pub use buffer::KeyBuffer;
pub use clock::{Clock, CountingClock, Reading, SystemClock, UnixTime};
pub use encoding::Encoding;
pub use error::Error;
pub use factory::Factory;
pub use generator::Generator;
pub use kind::KeyKind;
pub use sequence::{Method, Overflow};
pub use stream::KeyStream;
pub use time_id::TimeId;
pub use ulid::Ulid;
pub use uuid::Uuid;
