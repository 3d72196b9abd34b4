//! Serialization of TSIDs and TypeIDs.

use core::fmt;

use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Tsid, TypeId};

impl Serialize for Tsid {
    /// Serializes as text for human-readable formats, because JSON is often read with numbers of 53 bits, and as an
    /// integer for others.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match serializer.is_human_readable() {
            true => serializer.collect_str(self),
            false => serializer.serialize_i64(self.to_i64()),
        }
    }
}

impl<'de> Deserialize<'de> for Tsid {
    /// Accepts both forms in human-readable formats.
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct TsidVisitor;

        impl Visitor<'_> for TsidVisitor {
            type Value = Tsid;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a TSID")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Tsid, E> {
                Tsid::parse(text).map_err(E::custom)
            }

            fn visit_i64<E: Error>(self, integer: i64) -> Result<Tsid, E> {
                Tsid::from_i64(integer).map_err(E::custom)
            }

            fn visit_u64<E: Error>(self, integer: u64) -> Result<Tsid, E> {
                match integer.try_into() {
                    Ok(integer) => self.visit_i64(integer),
                    Err(_) => Err(E::invalid_value(Unexpected::Unsigned(integer), &self)),
                }
            }
        }

        match input.is_human_readable() {
            true => input.deserialize_any(TsidVisitor),
            false => input.deserialize_i64(TsidVisitor),
        }
    }
}

impl Serialize for TypeId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TypeId {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct TypeIdVisitor;

        impl Visitor<'_> for TypeIdVisitor {
            type Value = TypeId;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a TypeID")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<TypeId, E> {
                TypeId::parse(text).map_err(E::custom)
            }
        }

        input.deserialize_str(TypeIdVisitor)
    }
}
