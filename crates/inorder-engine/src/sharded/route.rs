//! Computes the shard of a row by the rules of the coordinator's partitions.

use super::hash;
use crate::{Partition, batch::Cell};
use inorder_key::Uuid;
use std::borrow::Cow;

/// Type of the distribution column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyType {
    /// `smallint`.
    Int2,
    /// `integer`.
    Int4,
    /// `bigint`.
    Int8,
    /// `uuid`.
    Uuid,
    /// `bytea`.
    Bytes,
    /// `text` and `character varying` in a deterministic collation that sorts by bytes.
    Text,
}

/// A value in the form that both the hash and the order use.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key<'a> {
    Integer(i64),
    Bytes(Cow<'a, [u8]>),
}

/// Distribution of one table's rows over the shards.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The distribution column.
    pub column: String,
    /// Its type.
    pub key: KeyType,
    /// Partitioning by hash or by range.
    pub partition: Partition,
    /// Lower bounds of all ranges but the first, as SQL literals without quotes.
    pub bounds: Vec<String>,
    /// Number of shards.
    pub shards: usize,
}

impl KeyType {
    /// Returns the type of this name, in the form of `format_type`.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name.split('(').next().unwrap_or(name).trim_end() {
            "smallint" => KeyType::Int2,
            "integer" => KeyType::Int4,
            "bigint" => KeyType::Int8,
            "uuid" => KeyType::Uuid,
            "bytea" => KeyType::Bytes,
            "text" | "character varying" => KeyType::Text,
            _ => return None,
        })
    }

    /// Returns the lower bounds of all shards but the first, which divide all positive integers, or all bytes,
    /// evenly. Texts are read as hexadecimal digits.
    pub fn even_bounds(self, shards: usize) -> Vec<String> {
        let share = |all: u128| (1..shards as u128).map(move |at| all / shards as u128 * at);
        match self {
            KeyType::Int2 => bounds_between(0, i64::from(i16::MAX), shards),
            KeyType::Int4 => bounds_between(0, i64::from(i32::MAX), shards),
            KeyType::Int8 => bounds_between(0, i64::MAX, shards),
            KeyType::Uuid => share(u128::MAX)
                .map(|bound| Uuid::from_u128(bound).to_string())
                .collect(),
            KeyType::Bytes => share(1 << 64)
                .map(|bound| format!("\\x{bound:016x}"))
                .collect(),
            KeyType::Text => share(1 << 16).map(|bound| format!("{bound:04x}")).collect(),
        }
    }

    /// Converts a value of a batch to this type.
    ///
    /// # Errors
    /// Why that is not possible.
    pub fn key_of<'a>(self, cell: Cell<'a>) -> Result<Option<Key<'a>>, String> {
        let bytes = |bytes: &'a [u8]| Key::Bytes(Cow::Borrowed(bytes));
        Ok(Some(match (self, cell) {
            (_, Cell::Null) => return Ok(None),
            (KeyType::Int2 | KeyType::Int4 | KeyType::Int8, Cell::Integer(value)) => {
                Key::Integer(value)
            }
            (KeyType::Uuid, Cell::Blob(value)) if value.len() == 16 => bytes(value),
            (KeyType::Bytes, Cell::Blob(value)) => bytes(value),
            (KeyType::Text, Cell::Text(value)) => bytes(value),
            (_, cell) => return Err(format!("{cell:?} isn't of the column's type ({self:?})")),
        }))
    }

    /// Converts a bound to a key.
    fn bound(self, text: &str) -> Result<Key<'static>, String> {
        let wrong = || format!("the bound '{text}' isn't of the column's type ({self:?})");
        let bytes = match self {
            KeyType::Int2 | KeyType::Int4 | KeyType::Int8 => {
                return text.parse().map(Key::Integer).map_err(|_| wrong());
            }
            KeyType::Uuid => {
                let uuid = Uuid::parse(text).map_err(|_| wrong())?;
                uuid.to_u128().to_be_bytes().to_vec()
            }
            KeyType::Bytes => {
                let digits = text.strip_prefix("\\x").ok_or_else(wrong)?;
                let pairs = digits.as_bytes().chunks(2);
                let byte = |pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
                pairs.map(byte).collect::<Option<_>>().ok_or_else(wrong)?
            }
            KeyType::Text => text.as_bytes().to_vec(),
        };
        Ok(Key::Bytes(Cow::Owned(bytes)))
    }
}

/// Returns the lower bounds of all shards but the first, which divide the integers from `first` to below `end`
/// evenly.
pub fn bounds_between(first: i64, end: i64, shards: usize) -> Vec<String> {
    let all = i128::from(end) - i128::from(first);
    let bound = |at| i128::from(first) + all * at / shards as i128;
    (1..shards as i128)
        .map(|at| bound(at).to_string())
        .collect()
}

/// A distribution prepared for many rows.
#[derive(Debug)]
pub struct Router {
    key: KeyType,
    shards: usize,
    /// Lower bounds of all ranges but the first.
    bounds: Option<Vec<Key<'static>>>,
}

impl Router {
    /// Prepares a distribution.
    ///
    /// # Errors
    /// If a bound is not of the column's type.
    pub fn new(rule: &Rule) -> Result<Self, String> {
        let bounds = rule.bounds.iter().map(|text| rule.key.bound(text));
        Ok(Router {
            key: rule.key,
            shards: rule.shards,
            bounds: match rule.partition {
                Partition::Hash => None,
                Partition::Range => Some(bounds.collect::<Result<_, _>>()?),
            },
        })
    }

    /// Returns the shard, from 0, of a row with this value.
    ///
    /// # Errors
    /// If the value is not of the column's type, or no shard has it.
    pub fn shard(&self, cell: Cell<'_>) -> Result<usize, String> {
        let key = self.key.key_of(cell)?;
        match (&self.bounds, key) {
            (None, key) => {
                let hash = key.map(|key| match (key, self.key) {
                    (Key::Integer(value), KeyType::Int8) => hash::of_i64(value),
                    (Key::Integer(value), _) => hash::of_i32(value as i32),
                    (Key::Bytes(bytes), _) => hash::of_bytes(&bytes),
                });
                Ok(hash::remainder(hash, self.shards))
            }
            (Some(bounds), Some(key)) => Ok(bounds.partition_point(|begin| *begin <= key)),
            (Some(_), None) => Err("NULL is in no range".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(key: KeyType, bounds: &[&str]) -> Router {
        Router::new(&Rule {
            column: "id".to_owned(),
            key,
            partition: Partition::Range,
            bounds: bounds.iter().map(|&bound| bound.to_owned()).collect(),
            shards: bounds.len() + 1,
        })
        .unwrap()
    }

    #[test]
    fn a_range_begins_at_its_bound() {
        let router = range(KeyType::Int8, &["10", "20"]);
        let shards =
            [i64::MIN, 9, 10, 19, 20, i64::MAX].map(|key| router.shard(Cell::Integer(key)));
        assert_eq!(shards.map(Result::unwrap), [0, 0, 1, 1, 2, 2]);
        assert!(router.shard(Cell::Null).is_err());
        assert!(router.shard(Cell::Text(b"10")).is_err());
    }

    #[test]
    fn even_bounds_share_every_type_out() {
        let types = [
            ("integer", Cell::Integer(1 << 30), 1),
            ("bigint", Cell::Integer(i64::MAX), 2),
            ("uuid", Cell::Blob(&[0x80; 16]), 1),
            ("bytea", Cell::Blob(&[0xff; 20]), 2),
            ("character varying(40)", Cell::Text(b"0199"), 0),
        ];
        for (name, cell, shard) in types {
            let key = KeyType::named(name).unwrap();
            let bounds = key.even_bounds(3);
            let bounds: Vec<&str> = bounds.iter().map(String::as_str).collect();
            assert_eq!(bounds.len(), 2);
            assert_eq!(range(key, &bounds).shard(cell), Ok(shard), "{name}");
        }
        assert_eq!(KeyType::named("double precision"), None);
        assert_eq!(bounds_between(0, 64, 3), ["21", "42"]);
        assert_eq!(bounds_between(i64::MIN, i64::MAX, 2), ["-1"]);
    }

    #[test]
    fn a_bound_of_another_type_is_an_error() {
        for (key, bound) in [
            (KeyType::Int8, "x"),
            (KeyType::Bytes, "00"),
            (KeyType::Bytes, "\\x0g"),
            (KeyType::Uuid, "0"),
        ] {
            let rule = Rule {
                column: "id".to_owned(),
                key,
                partition: Partition::Range,
                bounds: vec![bound.to_owned()],
                shards: 2,
            };
            assert!(Router::new(&rule).is_err(), "{key:?} {bound}");
        }
    }
}
