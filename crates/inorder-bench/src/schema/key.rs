//! The kind of ids in a column, from its type, its default and its values.

use super::class::Class;
use inorder_copy::model::{Column, Default_};
use inorder_key::{Encoding, Inspection, KeyKind, UnixTime, Uuid};
use std::{collections::BTreeMap, time::SystemTime};

/// A key kind and its encoding, by their names in experiments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// The kind.
    pub kind: &'static str,
    /// The encoding.
    pub encoding: &'static str,
}

/// Characters of a UUID and of a ULID as text.
pub const UUID_LENGTH: usize = 36;
pub const ULID_LENGTH: usize = 26;
/// Hex digits of both.
pub const HEX_LENGTH: usize = 32;
/// The share of the values that must be of one kind. Others are exceptions, such as ids of an earlier version.
const SHARE: f64 = 0.5;

/// Returns the kind of ids that a column can store, or `None` if its type is none of an id, or its values are none of the
/// kinds that this program makes.
pub fn key_of(column: &Column, class: Class, values: &[Option<&[u8]>]) -> Option<Key> {
    let values: Vec<&[u8]> = values.iter().flatten().copied().collect();
    key_by_values(
        if says_uuid7(column) { "uuid7" } else { "uuid4" },
        class,
        &values,
    )
}

/// The same; `by_default` is the kind of a column without values.
fn key_by_values(by_default: &'static str, class: Class, values: &[&[u8]]) -> Option<Key> {
    let now = UnixTime::from(SystemTime::now());
    let of_text = |value: &[u8]| {
        let text = std::str::from_utf8(value).ok()?;
        let found = kind_of(&match text.len() {
            HEX_LENGTH => Inspection::of_blob(&Uuid::parse(text).ok()?.to_bytes(), now),
            _ => Inspection::of_text(text, now),
        })?;
        // Other forms have more or fewer characters than those that an experiment stores.
        let encodings = [Encoding::Text, Encoding::Hex].into_iter();
        let mut known = encodings.filter(|encoding| found.encodings().contains(encoding));
        let encoding = known.find(|e| found.width_bytes(*e) == Some(value.len()))?;
        Some((found, encoding))
    };
    let of_bytes =
        |value: &[u8]| Some((kind_of(&Inspection::of_blob(value, now))?, Encoding::Blob));
    let key = |kind, encoding| Some(Key { kind, encoding });
    match class {
        Class::Integer(_) if is_random(values) => key("int-random", "default"),
        Class::Integer(_) => key("int-seq", "default"),
        Class::Uuid if values.is_empty() => key(by_default, "native"),
        Class::Uuid => {
            let found = most_frequent(values, of_text);
            key(found.map_or("uuid4", |key| key.kind), "native")
        }
        Class::Text(most) if values.is_empty() => match most {
            Some(ULID_LENGTH) => key("ulid", "text"),
            Some(HEX_LENGTH) => key(by_default, "hex"),
            Some(most) if most < UUID_LENGTH => None,
            _ => key(by_default, "text"),
        },
        Class::Text(_) => most_frequent(values, of_text),
        Class::Bytes if values.is_empty() => key(by_default, "blob"),
        Class::Bytes => most_frequent(values, of_bytes).or_else(|| key("uuid4", "blob")),
        _ => None,
    }
}

/// The kind of an id, as experiments name it. Other UUIDs arrive in no order, as those of version 4 do, and so do 16 bytes
/// whose time is wrong: they are random, or a hash.
fn kind_of(found: &Inspection) -> Option<KeyKind> {
    let is_stored = |kind: &KeyKind| kind.encodings().contains(&found.encoding);
    match found.kind.filter(is_stored) {
        Some(KeyKind::Ulid) if found.encoding == Encoding::Blob && !found.problems.is_empty() => {
            Some(KeyKind::Uuid4)
        }
        Some(kind) => Some(kind),
        None => found
            .name
            .starts_with("UUID version")
            .then_some(KeyKind::Uuid4),
    }
}

/// The key that most values are, if more than a half are.
fn most_frequent(
    values: &[&[u8]],
    key: impl Fn(&[u8]) -> Option<(KeyKind, Encoding)>,
) -> Option<Key> {
    let mut counts: BTreeMap<(&'static str, &'static str), usize> = BTreeMap::new();
    for (kind, encoding) in values.iter().filter_map(|value| key(value)) {
        *counts.entry((kind.name(), encoding.name())).or_default() += 1;
    }
    let ((kind, encoding), count) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    (count as f64 > values.len() as f64 * SHARE).then_some(Key { kind, encoding })
}

fn says_uuid7(column: &Column) -> bool {
    matches!(&column.default, Some(Default_::Postgres(sql)) if sql.to_lowercase().contains("v7"))
}

/// Whether integers are spread so widely that they weren't counted.
fn is_random(values: &[&[u8]]) -> bool {
    let numbers = values.iter();
    let numbers = numbers.filter_map(|value| std::str::from_utf8(value).ok()?.parse::<i64>().ok());
    let numbers: Vec<i64> = numbers.collect();
    let (Some(least), Some(most)) = (numbers.iter().min(), numbers.iter().max()) else {
        return false;
    };
    most.abs_diff(*least) / 1_000_000 > numbers.len() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const UUID_4: &str = "9b2d7d1c-5f0e-4c7e-9a51-3a7f0c1d2e3f";
    const UUID_7: &str = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f";

    fn found(class: Class, values: &[&[u8]]) -> Option<&'static str> {
        key_by_values("uuid4", class, values).map(|key| key.kind)
    }

    #[test]
    fn the_first_value_is_one_of_many() {
        let (old, new) = (UUID_4.as_bytes(), UUID_7.as_bytes());
        assert_eq!(found(Class::Uuid, &[old, new, new, new]), Some("uuid7"));
        assert_eq!(found(Class::Text(None), &[new, old, old]), Some("uuid4"));
    }

    #[test]
    fn texts_as_long_as_ids_are_not_ids() {
        let words = |length| "w".repeat(length).into_bytes();
        assert_eq!(found(Class::Text(None), &[&words(36), &words(36)]), None);
        assert_eq!(found(Class::Text(None), &[&words(26)]), None);
        assert_eq!(
            found(Class::Text(None), &[b"01ARZ3NDEKTSV4RRFFQ69G5FAV"]),
            Some("ulid")
        );
        // With braces it is a UUID, in a form that no experiment stores.
        let braced = format!("{{{UUID_4}}}");
        assert_eq!(found(Class::Text(None), &[braced.as_bytes()]), None);
    }

    #[test]
    fn texts_of_32_hex_digits_are_ids() {
        let hex = |kind| {
            Some(Key {
                kind,
                encoding: "hex",
            })
        };
        let key = |most, values: &[&[u8]]| key_by_values("uuid4", Class::Text(most), values);
        assert_eq!(key(Some(32), &[]), hex("uuid4"));
        for (id, kind) in [(UUID_4, "uuid4"), (UUID_7, "uuid7")] {
            let digits = id.replace('-', "");
            assert_eq!(key(None, &[digits.as_bytes()]), hex(kind));
            let upper = digits.to_uppercase();
            assert_eq!(key(Some(32), &[upper.as_bytes()]), hex(kind));
        }
        // Hashes are as random as UUIDs of version 4.
        assert_eq!(
            key(None, &[&"f3c5a9".repeat(6).as_bytes()[..32]]),
            hex("uuid4")
        );
        assert_eq!(key(None, &["w".repeat(32).as_bytes()]), None);
    }

    #[test]
    fn bytes_are_uuids_ulids_or_tokens() {
        let ulid = 0x01890a5d_ac96_774b_0000_000000000001_u128.to_be_bytes();
        assert_eq!(found(Class::Bytes, &[&[7; 20]]), Some("token160"));
        assert_eq!(found(Class::Bytes, &[&[0xf3; 16]]), Some("uuid4"));
        assert_eq!(found(Class::Bytes, &[&ulid]), Some("ulid"));
    }
}
