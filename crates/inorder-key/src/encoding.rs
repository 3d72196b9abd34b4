//! The list of encodings.

/// Storage format of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Encoding {
    /// A 64-bit integer.
    Integer,
    /// The bytes themselves: 16, or 20 for a token.
    Blob,
    /// The engine's own UUID type, if it has one.
    Native,
    /// Text: 36 characters for a UUID, 26 for a ULID, 40 hex digits for a token.
    Text,
    /// The 32 hex digits of a UUID or a ULID.
    Hex,
}

impl Encoding {
    /// Every encoding, in the order reports list them.
    pub const ALL: &[Encoding] = &[
        Encoding::Integer,
        Encoding::Blob,
        Encoding::Native,
        Encoding::Text,
        Encoding::Hex,
    ];

    /// The name used in experiment files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Encoding::Integer => "integer",
            Encoding::Blob => "blob",
            Encoding::Native => "native",
            Encoding::Text => "text",
            Encoding::Hex => "hex",
        }
    }

    /// Returns the encoding with this name, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|e| e.name() == name)
    }
}
