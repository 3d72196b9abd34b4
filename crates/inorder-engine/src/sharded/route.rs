//! Which shard a row goes to, found here by the rules that the coordinator's partitions have.

use super::hash;
use crate::{Partition, batch::Cell};
use inorder_key::Uuid;
use std::borrow::Cow;

/// The type of the column that rows are distributed by.
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

/// A value as both hash and order take it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key<'a> {
    Integer(i64),
    Bytes(Cow<'a, [u8]>),
}

/// How the rows of one table are spread over the shards.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The column.
    pub column: String,
    /// Its type.
    pub key: KeyType,
    /// By hash or range.
    pub partition: Partition,
    /// Of a range: where each shard but the first begins, as SQL literals without quotes.
    pub bounds: Vec<String>,
    /// How many.
    pub shards: usize,
}

impl KeyType {
    /// The type of this name, as `format_type` gives it.
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

    /// Where each of so many shards but the first begins, when all positive integers, or all bytes,
    /// are shared out evenly. Texts are taken for hexadecimal digits.
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

    /// A value of a batch as one of this type.
    ///
    /// # Errors
    /// Why it can't be.
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

    /// A bound as a key.
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

/// Where each of so many shards but the first begins, when the integers from `first` to below `end`
/// are shared out evenly.
pub fn bounds_between(first: i64, end: i64, shards: usize) -> Vec<String> {
    let all = i128::from(end) - i128::from(first);
    let bound = |at| i128::from(first) + all * at / shards as i128;
    (1..shards as i128)
        .map(|at| bound(at).to_string())
        .collect()
}

/// A rule made ready for many rows.
#[derive(Debug)]
pub struct Router {
    key: KeyType,
    shards: usize,
    /// Of a range: where each shard but the first begins.
    bounds: Option<Vec<Key<'static>>>,
}

impl Router {
    /// Reads the rule.
    ///
    /// # Errors
    /// When a bound isn't of the column's type.
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

    /// The shard, from 0, of a row with this value.
    ///
    /// # Errors
    /// When the value isn't of the column's type, or no shard takes it.
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
