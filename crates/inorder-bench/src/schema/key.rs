//! The kind of ids in a column, from its type, its default and its values.

use super::class::Class;
use inorder_copy::model::{Column, Default_};

/// A key kind and its encoding, by their names in experiments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// The kind.
    pub kind: &'static str,
    /// The encoding.
    pub encoding: &'static str,
}

/// Characters of a UUID and of a ULID as text.
const UUID_LENGTH: usize = 36;
const ULID_LENGTH: usize = 26;

/// Returns the kind of ids that a column can store, or `None` if its type is none of an id.
pub fn key_of(column: &Column, class: Class, values: &[Option<&[u8]>]) -> Option<Key> {
    let first = values.iter().flatten().next().copied();
    let kind = |version: Option<char>| match version {
        Some('7') => "uuid7",
        _ if says_uuid7(column) => "uuid7",
        _ => "uuid4",
    };
    match class {
        Class::Integer(_) => Some(Key {
            kind: if is_random(values) {
                "int-random"
            } else {
                "int-seq"
            },
            encoding: "default",
        }),
        Class::Uuid => Some(Key {
            kind: kind(first.and_then(version)),
            encoding: "native",
        }),
        Class::Text(most) => match first.map(<[u8]>::len) {
            Some(ULID_LENGTH) => Some("ulid"),
            Some(UUID_LENGTH) => Some(kind(first.and_then(version))),
            Some(_) => None,
            None if most.is_none_or(|most| most >= UUID_LENGTH) => Some(kind(None)),
            None if most == Some(ULID_LENGTH) => Some("ulid"),
            None => None,
        }
        .map(|kind| Key {
            kind,
            encoding: "text",
        }),
        Class::Bytes => Some(Key {
            kind: match first.map(<[u8]>::len) {
                Some(20) => "token160",
                Some(16) => kind(first.map(|bytes| if bytes[6] >> 4 == 7 { '7' } else { '4' })),
                _ => kind(None),
            },
            encoding: "blob",
        }),
        _ => None,
    }
}

/// The version of a UUID in its text form.
fn version(text: &[u8]) -> Option<char> {
    (text.len() == UUID_LENGTH).then(|| char::from(text[14]))
}

fn says_uuid7(column: &Column) -> bool {
    matches!(&column.default, Some(Default_::Postgres(sql)) if sql.to_lowercase().contains("v7"))
}

/// Whether integers are spread so widely that they weren't counted.
fn is_random(values: &[Option<&[u8]>]) -> bool {
    let numbers = values.iter().flatten();
    let numbers = numbers.filter_map(|value| std::str::from_utf8(value).ok()?.parse::<i64>().ok());
    let numbers: Vec<i64> = numbers.collect();
    let (Some(least), Some(most)) = (numbers.iter().min(), numbers.iter().max()) else {
        return false;
    };
    most.abs_diff(*least) / 1_000_000 > numbers.len() as u64
}
