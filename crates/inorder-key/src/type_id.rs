//! TypeIDs: a UUID with the type of what it identifies.

use core::fmt;
use core::str::{self, FromStr};

use crate::{Error, Uuid, text};

/// Maximum length of a prefix in characters.
const PREFIX_BYTES_MAX: usize = 63;

/// A UUID with a prefix that names its type, such as `user_01h455vb4pex5vsknk084sn02q`.
///
/// It follows version 0.3 of the [TypeID specification](https://github.com/jetify-com/typeid/tree/main/spec). The
/// prefix has up to 63 characters `a` to `z` and `_`, and neither begins nor ends with `_`. It may be empty; there is
/// no `_` after an empty one. The suffix is the UUID in 26 lower-case characters of Crockford's base 32. New TypeIDs
/// have a UUIDv7, so those of one prefix are in the order in which they were made.
///
/// ```
/// use inorder_key::TypeId;
/// let (a, b) = (TypeId::now("user")?, TypeId::now("user")?);
/// assert!(a < b && a.to_string() < b.to_string());
/// assert_eq!((a.prefix(), a.uuid().version()), ("user", Some(7)));
/// assert_eq!(a.to_string().parse(), Ok(a));
/// # Ok::<(), inorder_key::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(
    feature = "diesel",
    derive(diesel::expression::AsExpression, diesel::deserialize::FromSqlRow)
)]
#[cfg_attr(feature = "diesel", diesel(sql_type = diesel::sql_types::Text))]
pub struct TypeId {
    /// The prefix and zeros, which sort before all of its characters.
    prefix: [u8; PREFIX_BYTES_MAX],
    uuid: Uuid,
}

impl TypeId {
    /// Length of the text after the prefix and its `_`, in characters.
    pub const SUFFIX_BYTES: usize = 26;

    /// Creates a new TypeID with [`Uuid::now_v7`].
    ///
    /// # Errors
    /// [`Error::Prefix`] if the prefix is invalid.
    ///
    /// # Panics
    /// If the system gives no random bytes.
    #[cfg(feature = "std")]
    pub fn now(prefix: &str) -> Result<Self, Error> {
        Self::new(prefix, Uuid::now_v7())
    }

    /// Creates the TypeID of a UUID.
    ///
    /// # Errors
    /// [`Error::Prefix`] if the prefix is invalid.
    pub fn new(prefix: &str, uuid: Uuid) -> Result<Self, Error> {
        let is_edge = |c: Option<&u8>| c.is_none_or(u8::is_ascii_lowercase);
        let bytes = prefix.as_bytes();
        let is_valid = bytes.len() <= PREFIX_BYTES_MAX
            && bytes.iter().all(|c| c.is_ascii_lowercase() || *c == b'_')
            && is_edge(bytes.first())
            && is_edge(bytes.last());
        if !is_valid {
            return Err(Error::Prefix);
        }
        let mut padded = [0; PREFIX_BYTES_MAX];
        padded[..bytes.len()].copy_from_slice(bytes);
        Ok(Self {
            prefix: padded,
            uuid,
        })
    }

    /// Returns the TypeID with the same prefix and another UUID.
    #[must_use]
    pub fn with_uuid(self, uuid: Uuid) -> Self {
        Self { uuid, ..self }
    }

    /// Reads the text form. Upper case is invalid.
    ///
    /// # Errors
    /// [`Error::Prefix`], or [`Error::Length`], [`Error::Character`] or [`Error::TooLarge`] of the suffix, whose first
    /// character has position 1.
    pub fn parse(text: impl AsRef<[u8]>) -> Result<Self, Error> {
        let text = text.as_ref();
        let (prefix, suffix) = match text.iter().rposition(|&c| c == b'_') {
            // Nothing is before the `_` of an empty prefix, so it is none.
            Some(0) => return Err(Error::Prefix),
            Some(at) => (&text[..at], &text[at + 1..]),
            None => (&[][..], text),
        };
        let prefix = str::from_utf8(prefix).map_err(|_| Error::Prefix)?;
        Self::new(prefix, Uuid::from_u128(text::read_suffix(suffix)?))
    }

    /// Returns the prefix, without `_`.
    pub fn prefix(&self) -> &str {
        let length = self.prefix.iter().position(|&c| c == 0);
        let prefix = &self.prefix[..length.unwrap_or(PREFIX_BYTES_MAX)];
        str::from_utf8(prefix).expect("ASCII")
    }

    /// Returns the UUID.
    pub const fn uuid(&self) -> Uuid {
        self.uuid
    }

    /// Returns the 26 characters after the prefix and its `_`, in ASCII.
    pub fn suffix(&self) -> [u8; Self::SUFFIX_BYTES] {
        let mut out = [0; Self::SUFFIX_BYTES];
        text::write_ulid(self.uuid.to_u128(), &mut out);
        out.make_ascii_lowercase();
        out
    }
}

impl fmt::Display for TypeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let separator = if self.prefix[0] == 0 { "" } else { "_" };
        let suffix = self.suffix();
        let suffix = str::from_utf8(&suffix).expect("ASCII");
        write!(f, "{}{separator}{suffix}", self.prefix())
    }
}

impl fmt::Debug for TypeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TypeId({self})")
    }
}

impl FromStr for TypeId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text)
    }
}
