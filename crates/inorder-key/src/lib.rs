//! Makes, parses, formats and inspects primary keys: ULIDs, UUIDs, TypeIDs, TSIDs, tokens and integers.
//!
//! ```
//! use inorder_key::{Encoding, Inspection, KeyKind, KeyStream, TimeId, Ulid, UnixTime, Uuid, parse_time};
//!
//! // Ids of this process are in order, over all its threads.
//! let (first, second) = (Uuid::now_v7(), Uuid::now_v7());
//! assert!(first < second && first.to_string() < second.to_string());
//!
//! // Text and bytes hold the same 128 bits, and sort as the ids do.
//! let id = Ulid::parse("01ARZ3NDEKTSV4RRFFQ69G5FAV")?;
//! assert_eq!(Ulid::from_bytes(id.to_bytes()), id);
//! assert_eq!(UnixTime::from(id).to_string(), "2016-07-30T23:54:10.259Z");
//!
//! // The ids of a day are those from its first id up to the first id of the next day.
//! let day = Ulid::first_at(parse_time("2016-07-30")?.ms)?..Ulid::first_at(parse_time("2016-07-31")?.ms)?;
//! assert!(day.contains(&id));
//!
//! // What is this?
//! let found = Inspection::of_text("919108f7-52d1-4320-9bac-f847db4148a8", UnixTime::default());
//! assert_eq!((found.kind, found.time), (Some(KeyKind::Uuid4), None));
//!
//! // A thousand keys for a measurement, the same on every machine.
//! let keys = KeyStream::seeded(KeyKind::Uuid7, Encoding::Blob, 42)?.fill(1000);
//! assert_eq!(keys.len(), 1000);
//! # Ok::<(), inorder_key::Error>(())
//! ```
//!
//! The crate uses no database and no file. UUIDs follow [RFC 9562](https://www.rfc-editor.org/rfc/rfc9562), ULIDs their
//! [specification](https://github.com/ulid/spec). Errors say what is wrong and at which position ([`Error`]).
//!
//! | task | use |
//! | --- | --- |
//! | keys in bulk, reproducible or real, for measurements and loads | [`KeyStream`] |
//! | one id, in order over all threads | [`Ulid::now`], [`Uuid::now_v7`], [`Ulid::now_v7`] |
//! | one id of 64 bits, for integer columns | [`Tsid`], [`TsidFactory`] |
//! | an id with the name of its type | [`TypeId`] |
//! | many ids, in order over all threads | [`Factory::fill`] |
//! | an id without order | [`Uuid::new_v4`], [`Token`] |
//! | another method, clock or overflow | [`Generator`] |
//! | ids of a given time, or bounds of a range | [`TimeId`] |
//! | parsing a time | [`parse_time`] |
//! | inspecting an id | [`Inspection`] |
//! | reproducible numbers for test data | [`SplitMix64`] |
//!
//! # Features
//! `serde` (ids as text or 16 bytes) and `uuid` (conversions to and from `uuid::Uuid`). The crate needs the standard
//! library for the clock and for one random number generator per thread.
//!
//! # Randomness
//! Random bytes come from ChaCha8 through a buffer. The operating system provides the key. Every refill replaces the
//! key, and the child of a fork takes a new one. Making an id needs no system call.

mod buffer;
mod chacha;
mod clock;
mod encoding;
mod error;
mod factory;
mod foreign;
mod generator;
mod id;
mod inspect;
mod kind;
mod machine;
mod rng;
mod sequence;
mod split_mix;
mod stream;
mod text;
mod time;
mod time_id;
mod token;
mod tsid;
mod type_id;
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
pub use split_mix::SplitMix64;
pub use stream::COMPOSITE_BUCKETS;
pub use stream::KeyStream;
pub use time::parse_time;
pub use time_id::TimeId;
pub use token::{Token, fill_random};
pub use tsid::{Tsid, TsidFactory};
pub use type_id::TypeId;
pub use ulid::Ulid;
pub use uuid::Uuid;

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
