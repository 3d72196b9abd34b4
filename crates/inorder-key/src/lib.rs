//! Makes, parses, formats and inspects primary keys: ULIDs, UUIDs, TypeIDs, TSIDs, tokens and integers.
//!
//! ```
//! use inorder_key::{Inspection, KeyKind, TimeId, Ulid, UnixTime, Uuid, parse_time};
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
//! # Ok::<(), inorder_key::Error>(())
//! ```
//!
//! The crate uses no database and no file. UUIDs follow [RFC 9562](https://www.rfc-editor.org/rfc/rfc9562), ULIDs their
//! [specification](https://github.com/ulid/spec). Errors say what is wrong and at which position ([`Error`]).
//!
//! | task | use |
//! | --- | --- |
//! | keys in bulk, reproducible or real, for measurements and loads | [`bulk`] |
//! | one id, in order over all threads | [`Ulid::now`], [`Uuid::now_v7`], [`Ulid::now_v7`] |
//! | one id of 64 bits, for integer columns | [`Tsid`], [`TsidFactory`] |
//! | an id with the name of its type | [`TypeId`] |
//! | many ids, in order over all threads | [`Factory::fill`] |
//! | an id without order | [`Uuid::new_v4`], [`Token`] |
//! | another method, clock or overflow | [`Generator`] |
//! | ids of a given time, or bounds of a range | [`TimeId`] |
//! | parsing a time | [`parse_time`] |
//! | inspecting an id | [`Inspection`] |
//! | recognising the byte order of stored UUIDs | [`ByteOrder`] |
//!
//! # Features
//! | feature | adds |
//! | --- | --- |
//! | `std` (default) | making ids, with the clock and the randomness of the system. Without it the crate needs `alloc` only, and parses, formats and inspects ids |
//! | `js` | on `wasm32-unknown-unknown`, the clock and the randomness of JavaScript |
//! | `serde` | ids as text in formats that people read. In others a ULID and a UUID are 16 bytes, and a TSID is an integer |
//! | `uuid` | conversions to and from `uuid::Uuid` |
//! | `rusqlite` | `ToSql` and `FromSql` for SQLite: 16 bytes, a TSID as an integer, a TypeID as text |
//! | `postgres-types` | `ToSql` and `FromSql` for PostgreSQL: `uuid`, `bytea` or text, a TSID as `bigint`, a TypeID as text |
//! | `sqlx` | `Type`, `Encode` and `Decode` of sqlx 0.8, whose feature `uuid` must be on: a ULID and a UUID as `uuid::Uuid` is stored, a TSID as an integer, a TypeID as text |
//! | `diesel-sqlite`, `diesel-postgres`, `diesel-mysql` | expressions, `ToSql` and `FromSql` of diesel 2.3: `Binary` (PostgreSQL also `Uuid`), a TSID as `BigInt`, a TypeID as `Text` |
//!
//! # Randomness
//! Random bytes come from ChaCha8 through a buffer. The operating system provides the key. Every refill replaces the
//! key, and the child of a fork takes a new one. Making an id needs no system call.

#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

#[cfg(feature = "std")]
mod buffer;
mod byte_order;
#[cfg(feature = "std")]
mod chacha;
mod clock;
#[cfg(feature = "std")]
mod counting_clock;
#[cfg(feature = "diesel")]
mod diesel_value;
mod encoding;
mod error;
#[cfg(feature = "std")]
mod factory;
mod foreign;
#[cfg(feature = "std")]
mod generator;
mod id;
mod inspect;
mod kind;
#[cfg(feature = "std")]
mod machine;
#[cfg(feature = "postgres-types")]
mod postgres_value;
#[cfg(feature = "std")]
mod rng;
#[cfg(feature = "std")]
mod sequence;
#[cfg(feature = "serde")]
mod serde_value;
#[cfg(feature = "std")]
mod split_mix;
#[cfg(feature = "rusqlite")]
mod sqlite_value;
#[cfg(feature = "sqlx")]
mod sqlx_value;
#[cfg(feature = "std")]
mod stream;
#[cfg(feature = "std")]
mod system_clock;
mod text;
mod time;
mod time_id;
mod token;
mod tsid;
#[cfg(feature = "std")]
mod tsid_factory;
mod type_id;
mod ulid;
mod uuid;

pub use byte_order::ByteOrder;
pub use clock::{Clock, Reading, UnixTime};
pub use encoding::Encoding;
pub use error::Error;
#[cfg(feature = "std")]
pub use factory::Factory;
pub use foreign::Alternative;
#[cfg(feature = "std")]
pub use generator::Generator;
pub use inspect::{Field, Inspection};
pub use kind::KeyKind;
#[cfg(feature = "std")]
pub use sequence::{Method, Overflow};
#[cfg(feature = "std")]
pub use system_clock::SystemClock;
pub use time::{parse_time, time_of_ms, time_of_seconds};
pub use time_id::TimeId;
pub use token::Token;
#[cfg(feature = "std")]
pub use token::fill_random;
pub use tsid::Tsid;
#[cfg(feature = "std")]
pub use tsid_factory::TsidFactory;
pub use type_id::TypeId;
pub use ulid::Ulid;
pub use uuid::Uuid;

/// Keys in bulk for measurements and loads: streams of one kind, the same for the same seed, and numbers for test data.
#[cfg(feature = "std")]
pub mod bulk {
    pub use crate::buffer::KeyBuffer;
    pub use crate::counting_clock::CountingClock;
    pub use crate::split_mix::SplitMix64;
    pub use crate::stream::{COMPOSITE_BUCKETS, KeyStream};
}

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
