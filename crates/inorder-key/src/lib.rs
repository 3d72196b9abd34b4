//! Key kinds: how an id is made and how it is stored.
//!
//! Pure: this crate knows no database and no file. It generates, parses, formats and inspects.
//!
//! | wanted | take |
//! | --- | --- |
//! | keys in bulk, reproducible or real, for measurements and loads | [`KeyStream`] |
//! | an id, now, in order among all threads | [`Ulid::now`], [`Uuid::now_v7`], [`Ulid::now_v7`] |
//! | many of them | [`Factory::fill`] |
//! | an id in no order | [`Uuid::new_v4`], [`Token`] |
//! | another method, clock or overflow | [`Generator`] |
//! | ids of a given time, or bounds of a range | [`TimeId`] |
//! | a time that people write | [`parse_time`] |
//! | what is this id? | [`Inspection`] |
//!
//! Features: `serde` (ids as text or 16 bytes) and `uuid` (conversions to and from `uuid::Uuid`). The standard library is
//! needed, for the clock and for a random number generator a thread.
//!
//! Randomness is ChaCha8 keyed by the system, read through a buffer whose key is replaced at every refill, and keyed
//! again in the child of a fork. Nothing that this crate makes costs a system call an id.

mod buffer;
mod chacha;
mod clock;
mod encoding;
mod error;
mod factory;
mod generator;
mod id;
mod inspect;
mod kind;
mod machine;
mod rng;
mod sequence;
mod stream;
mod text;
mod time;
mod time_id;
mod token;
mod ulid;
mod uuid;

pub use buffer::KeyBuffer;
pub use clock::{Clock, CountingClock, Reading, SystemClock, UnixTime};
pub use encoding::Encoding;
pub use error::Error;
pub use factory::Factory;
pub use generator::Generator;
pub use inspect::{Field, Inspection};
pub use kind::KeyKind;
pub use sequence::{Method, Overflow};
pub use stream::COMPOSITE_BUCKETS;
pub use stream::KeyStream;
pub use time::parse_time;
pub use time_id::TimeId;
pub use token::{Token, fill_random};
pub use ulid::Ulid;
pub use uuid::Uuid;
