//! What can go wrong with a key.

use crate::{Encoding, KeyKind, UnixTime};

/// What can go wrong when keys are made or read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The kind of key cannot be stored in this encoding.
    #[error(
        "a {} key cannot be stored as {}: choose {}",
        kind.name(),
        encoding.name(),
        names(kind.encodings())
    )]
    Encoding {
        /// The kind asked for.
        kind: KeyKind,
        /// The encoding asked for.
        encoding: Encoding,
    },
    /// The system gave no random bytes.
    #[error("the system gave no random bytes: {0}")]
    Entropy(#[from] getrandom::Error),
    /// No id is left: in the millisecond, where the generator refuses to run ahead, or in all of time.
    #[error("no id is left after the last one: wait for the clock, or let the ids run ahead of it")]
    Exhausted,
    /// The bits of a [`Method`](crate::Method) are out of its range.
    #[error("the method takes {min} to {max} bits, not {bits}")]
    Method {
        /// The bits asked for.
        bits: u32,
        /// The fewest bits the method takes.
        min: u32,
        /// The most bits the method takes.
        max: u32,
    },
    /// An id has no room for this time.
    #[error(
        "millisecond {ms} is in no id: they begin in 1970 with 0 and end in the year 10889 with {}",
        UnixTime::MS_MAX
    )]
    Time {
        /// Milliseconds since the Unix epoch.
        ms: i128,
    },
    /// A text is no time.
    #[error(
        "{0:?} is no time: write 2024-01-31, 2024-01-31T12:30:00.250Z or milliseconds since 1970, 12 digits or more"
    )]
    TimeText(String),
    /// The text or blob of an id is too short or too long.
    #[error("{what} has {expected} {unit}, not {found}")]
    Length {
        /// What was to be read.
        what: &'static str,
        /// The length it has.
        expected: usize,
        /// The length of what was given.
        found: usize,
        /// What the lengths count.
        unit: &'static str,
    },
    /// A character has no place in the text of an id.
    #[error("{what} cannot have {:?} at position {at}", char::from(*found))]
    Character {
        /// What was to be read.
        what: &'static str,
        /// The byte found there.
        found: u8,
        /// Where, in bytes, counted from 1.
        at: usize,
    },
    /// The first character of a ULID stands for more than 128 bits.
    #[error("a ULID begins with 0 to 7, not {:?}: it would exceed 128 bits", char::from(*found))]
    TooLarge {
        /// The first character.
        found: u8,
    },
}

/// The names of encodings as a sentence lists them.
fn names(encodings: &[Encoding]) -> String {
    let names: Vec<_> = encodings.iter().map(|e| e.name()).collect();
    names.join(" or ")
}
