//! The common part of ULIDs and UUIDs: 128 bits as a number, bytes or text.

/// Defines an id of 128 bits. Ids, their bytes and their texts have the same order.
macro_rules! define_id {
    ($(#[$doc:meta])* $name:ident, $what:literal, $text_bytes:literal, $write:path, $read:path) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "diesel", derive(diesel::expression::AsExpression, diesel::deserialize::FromSqlRow))]
        #[cfg_attr(feature = "diesel", diesel(sql_type = diesel::sql_types::Binary))]
        #[cfg_attr(feature = "diesel-postgres", diesel(sql_type = diesel::sql_types::Uuid))]
        #[repr(transparent)]
        pub struct $name(u128);

        impl $name {
            /// Length of the text form in characters.
            pub const TEXT_BYTES: usize = $text_bytes;
            /// The id with all 128 bits clear. As a UUID it is the nil UUID (RFC 9562 section 5.9).
            pub const NIL: Self = Self(0);
            /// The id with all 128 bits set. As a UUID it is the max UUID (RFC 9562 section 5.10).
            pub const MAX: Self = Self(u128::MAX);

            /// Creates the id with these 128 bits. The most significant bit is the first in bytes and text.
            #[inline]
            pub const fn from_u128(bits: u128) -> Self {
                Self(bits)
            }

            /// Returns the 128 bits.
            #[inline]
            pub const fn to_u128(self) -> u128 {
                self.0
            }

            /// Creates the id from 16 bytes in big-endian order.
            #[inline]
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(u128::from_be_bytes(bytes))
            }

            /// Reads the id from a blob of 16 bytes.
            ///
            /// # Errors
            /// [`Error::Length`](crate::Error::Length) for any other length.
            pub fn from_slice(blob: &[u8]) -> Result<Self, $crate::Error> {
                let bytes = blob.try_into().map_err(|_| $crate::Error::Length {
                    what: $what,
                    expected: 16,
                    found: blob.len(),
                    unit: "bytes",
                })?;
                Ok(Self::from_bytes(bytes))
            }

            /// Returns the 16 bytes in big-endian order. They sort as the ids do.
            #[inline]
            pub const fn to_bytes(self) -> [u8; 16] {
                self.0.to_be_bytes()
            }

            /// Reads the text form or 32 hex digits in upper or lower case. A UUID may have braces or the prefix
            /// `urn:uuid:`.
            ///
            /// # Errors
            /// [`Error::Length`](crate::Error::Length), [`Error::Character`](crate::Error::Character) or
            /// [`Error::TooLarge`](crate::Error::TooLarge), each with the position.
            #[inline]
            pub fn parse(text: impl AsRef<[u8]>) -> Result<Self, $crate::Error> {
                $read(text.as_ref()).map(Self)
            }

            /// Writes the text form in ASCII, without allocation.
            #[inline]
            pub fn write_text(self, out: &mut [u8; $text_bytes]) {
                $write(self.0, out);
            }

            /// Returns the text form in ASCII, without allocation.
            #[inline]
            pub fn to_text(self) -> [u8; $text_bytes] {
                let mut text = [0; $text_bytes];
                self.write_text(&mut text);
                text
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.pad(core::str::from_utf8(&self.to_text()).expect("ASCII"))
            }
        }

        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }

        impl core::str::FromStr for $name {
            type Err = $crate::Error;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::parse(text)
            }
        }

        impl From<[u8; 16]> for $name {
            fn from(bytes: [u8; 16]) -> Self {
                Self::from_bytes(bytes)
            }
        }

        impl From<$name> for [u8; 16] {
            fn from(id: $name) -> Self {
                id.to_bytes()
            }
        }

        #[cfg(feature = "serde")]
        impl serde::Serialize for $name {
            /// Serializes as text for human-readable formats, and as 16 bytes for others.
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match serializer.is_human_readable() {
                    true => serializer.collect_str(self),
                    false => serializer.serialize_bytes(&self.to_bytes()),
                }
            }
        }

        #[cfg(feature = "serde")]
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
                struct Visitor;

                impl ::serde::de::Visitor<'_> for Visitor {
                    type Value = $name;

                    fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                        f.write_str($what)
                    }

                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$name, E> {
                        $name::parse(text).map_err(E::custom)
                    }

                    fn visit_bytes<E: serde::de::Error>(self, blob: &[u8]) -> Result<$name, E> {
                        $name::from_slice(blob).map_err(E::custom)
                    }
                }

                match input.is_human_readable() {
                    true => input.deserialize_str(Visitor),
                    false => input.deserialize_bytes(Visitor),
                }
            }
        }

        #[cfg(feature = "uuid")]
        impl From<$name> for ::uuid::Uuid {
            fn from(id: $name) -> Self {
                Self::from_u128(id.to_u128())
            }
        }

        #[cfg(feature = "uuid")]
        impl From<::uuid::Uuid> for $name {
            fn from(id: ::uuid::Uuid) -> Self {
                Self::from_u128(id.as_u128())
            }
        }
    };
}

pub(crate) use define_id;
