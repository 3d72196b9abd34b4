//! The list of key kinds.

use crate::Encoding;

/// Kind of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum KeyKind {
    /// The database assigns the key, and no value is bound.
    Serial,
    /// 1, 2, 3, …, assigned by the application.
    IntSeq,
    /// A uniformly random positive 63-bit integer.
    IntRandom,
    /// UUID version 4, RFC 9562 section 5.4.
    Uuid4,
    /// UUID version 7, RFC 9562 section 5.7.
    Uuid7,
    /// ULID: 48 bits of milliseconds, 80 random bits, monotonic within a millisecond (<https://github.com/ulid/spec>).
    Ulid,
    /// TSID: 41 bits of milliseconds, a node of 10 bits and a counter of 12 bits, as in Snowflake ids.
    Tsid,
    /// 20 random bytes, as for session tokens.
    Token160,
    /// A hash bucket and a sequence, in two columns.
    Composite,
}

impl KeyKind {
    /// Every kind, in the order reports list them.
    pub const ALL: &[KeyKind] = &[
        KeyKind::Serial,
        KeyKind::IntSeq,
        KeyKind::IntRandom,
        KeyKind::Uuid4,
        KeyKind::Uuid7,
        KeyKind::Ulid,
        KeyKind::Tsid,
        KeyKind::Token160,
        KeyKind::Composite,
    ];

    /// The name used in experiment files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            KeyKind::Serial => "serial",
            KeyKind::IntSeq => "int-seq",
            KeyKind::IntRandom => "int-random",
            KeyKind::Uuid4 => "uuid4",
            KeyKind::Uuid7 => "uuid7",
            KeyKind::Ulid => "ulid",
            KeyKind::Tsid => "tsid",
            KeyKind::Token160 => "token160",
            KeyKind::Composite => "composite",
        }
    }

    /// Returns the kind with this name, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }

    /// Returns whether keys of this kind sort in the order in which they were made.
    pub const fn is_ordered(self) -> bool {
        matches!(
            self,
            KeyKind::Serial | KeyKind::IntSeq | KeyKind::Uuid7 | KeyKind::Ulid | KeyKind::Tsid
        )
    }

    /// Encodings that can store this kind, the default first.
    pub const fn encodings(self) -> &'static [Encoding] {
        match self {
            KeyKind::Serial
            | KeyKind::IntSeq
            | KeyKind::IntRandom
            | KeyKind::Tsid
            | KeyKind::Composite => &[Encoding::Integer],
            KeyKind::Uuid4 | KeyKind::Uuid7 | KeyKind::Ulid => &[
                Encoding::Blob,
                Encoding::Native,
                Encoding::Text,
                Encoding::Hex,
            ],
            KeyKind::Token160 => &[Encoding::Blob, Encoding::Text],
        }
    }

    /// Bytes per stored key, or `None` for integers, whose size depends on the engine.
    pub const fn width_bytes(self, encoding: Encoding) -> Option<usize> {
        match (self, encoding) {
            (_, Encoding::Integer) => None,
            (KeyKind::Token160, Encoding::Text) => Some(40),
            (KeyKind::Token160, _) => Some(20),
            (KeyKind::Ulid, Encoding::Text) => Some(26),
            (_, Encoding::Text) => Some(36),
            (_, Encoding::Hex) => Some(32),
            _ => Some(16),
        }
    }
}
