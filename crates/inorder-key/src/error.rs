//! Errors of this crate.

use alloc::string::String;
use alloc::vec::Vec;

use crate::{Encoding, KeyKind, UnixTime};

/// Error of making or reading a key.
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
        /// The requested kind.
        kind: KeyKind,
        /// The requested encoding.
        encoding: Encoding,
    },
    /// The operating system returned no random bytes.
    #[cfg(feature = "std")]
    #[error("the system gave no random bytes: {0}")]
    Entropy(#[from] getrandom::Error),
    /// No id is left: in the millisecond, if the generator may not run ahead, or in the whole range of times.
    #[error("no id is left after the last one: wait for the clock, or let the ids run ahead of it")]
    Exhausted,
    /// The number of bits of a [`Method`](crate::Method) is out of range.
    #[error("the method takes {min} to {max} bits, not {bits}")]
    Method {
        /// The requested number of bits.
        bits: u32,
        /// The minimum number of bits of the method.
        min: u32,
        /// The maximum number of bits of the method.
        max: u32,
    },
    /// The time is outside the range of an id.
    #[error(
        "millisecond {ms} is in no id: they begin in 1970 with 0 and end in the year 10889 with {}",
        UnixTime::MS_MAX
    )]
    Time {
        /// Milliseconds since the Unix epoch.
        ms: i128,
    },
    /// The text is not a time.
    #[error(
        "{0:?} is no time: write 2024-01-31, 2024-01-31T12:30:00.250Z or milliseconds since 1970, 12 digits or more"
    )]
    TimeText(String),
    /// A number is no time in milliseconds. It could be one in another unit.
    #[error(
        "{number} is no time in milliseconds since 1970, which have 12 digits or more{}",
        unit.map_or(String::new(), |(unit, time)| alloc::format!(": as {unit} it is {time}"))
    )]
    TimeNumber {
        /// The number.
        number: i128,
        /// The unit in which the number is a plausible time, and that time.
        unit: Option<(&'static str, UnixTime)>,
    },
    /// A number is no time in seconds.
    #[error(
        "{seconds} is no time in seconds since 1970, which have 9 digits or more and end in the year 10889 with 281474976710"
    )]
    SecondsNumber {
        /// The number.
        seconds: i64,
    },
    /// The text or blob of an id is too short or too long.
    #[error("{what} has {expected} {unit}, not {found}")]
    Length {
        /// Name of the expected id.
        what: &'static str,
        /// The expected length.
        expected: usize,
        /// The actual length.
        found: usize,
        /// The unit of the lengths.
        unit: &'static str,
    },
    /// A character is invalid in the text of an id.
    #[error("{what} cannot have {found:?} at position {at}")]
    Character {
        /// Name of the expected id.
        what: &'static str,
        /// The invalid character. A byte that is not UTF-8 is the character of its number.
        found: char,
        /// Position of the character, from 1.
        at: usize,
    },
    /// The first character of a text in Crockford's base 32 exceeds the bits of the id.
    #[error("{what} begins with 0 to 7, not {:?}: it would exceed {bits} bits", char::from(*found))]
    TooLarge {
        /// Name of the expected id.
        what: &'static str,
        /// Number of bits of the id.
        bits: u32,
        /// The first character.
        found: u8,
    },
    /// The prefix of a TypeID is invalid.
    #[error(
        "the prefix of a TypeID has up to 63 characters a to z and _, neither first nor last: user_01h455vb4pex5vsknk084sn02q"
    )]
    Prefix,
    /// The time is outside the range of a TSID.
    #[error(
        "millisecond {ms} is in no TSID: they begin in 2020 with {min} and end in 2089 with {max}"
    )]
    TsidTime {
        /// Milliseconds since the Unix epoch.
        ms: u64,
        /// The first millisecond of TSIDs.
        min: u64,
        /// The last millisecond of TSIDs.
        max: u64,
    },
    /// The node of a TSID is out of range.
    #[error("node {node} is in no TSID: they are 0 to {max}")]
    Node {
        /// The requested node.
        node: i64,
        /// The greatest node.
        max: u16,
    },
    /// The variable INORDER_NODE has no node.
    #[error("INORDER_NODE is {text:?}; the nodes of TSIDs are 0 to {max}")]
    NodeText {
        /// The value of the variable.
        text: String,
        /// The greatest node.
        max: u16,
    },
    /// The node of INORDER_NODE belongs to the process of which this one is a fork.
    #[error(
        "node {node} of INORDER_NODE is that of the process that forked this one: give each process its own, as tsid(node)"
    )]
    NodeOfParent {
        /// The node.
        node: u16,
    },
    /// A TSID is not a negative integer.
    #[error("{integer} is no TSID: they are integers from 0 on")]
    Negative {
        /// The integer.
        integer: i64,
    },
}

/// The names of encodings as a sentence lists them.
fn names(encodings: &[Encoding]) -> String {
    let names: Vec<_> = encodings.iter().map(|e| e.name()).collect();
    names.join(" or ")
}
