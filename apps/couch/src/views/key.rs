//! Keys of view rows as bytes that sort as the view collates them.

use crate::mango::collate::{self, Tags};
use serde_json::Value;

/// The order of a view's keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Collation {
    /// CouchDB's order, strings by ICU's root collation.
    #[default]
    Unicode,
    /// Erlang's order of terms (`"collation": "raw"`): numbers, `false`, `null`, `true`, objects, arrays, strings by bytes.
    Raw,
}

/// The tags of raw keys.
const RAW: Tags = Tags {
    number: 2,
    string: 8,
    lists: [6, 7],
    end: 1,
};
const RAW_ATOMS: [u8; 3] = [3, 4, 5];

impl Collation {
    /// Appends the key of a value.
    pub fn write(self, out: &mut Vec<u8>, value: &Value) {
        match self {
            Collation::Unicode => collate::write_key(out, value),
            Collation::Raw => write_raw(out, value),
        }
    }

    /// Appends the key of a JSON text that was written from a value.
    ///
    /// # Errors
    /// If the text is no JSON, or nested too deeply. A part of the key may be appended then.
    pub fn write_text(self, out: &mut Vec<u8>, text: &str) -> serde_json::Result<()> {
        match self {
            Collation::Unicode => collate::write_key_of_text(out, text),
            Collation::Raw => {
                write_raw(out, &serde_json::from_str(text)?);
                Ok(())
            }
        }
    }

    /// Returns the key of a value.
    pub fn key(self, value: &Value) -> Vec<u8> {
        let mut key = Vec::new();
        self.write(&mut key, value);
        key
    }

    /// Returns the part of a key that decides its group: of an array its first `level` items, else the whole key.
    pub fn group(self, key: &[u8], level: usize) -> &[u8] {
        let (tags, array) = match self {
            Collation::Unicode => (&collate::TAGS, collate::TAGS.lists[0]),
            Collation::Raw => (&RAW, RAW.lists[1]),
        };
        if key.first() != Some(&array) {
            return key;
        }
        let mut at = 1;
        for _ in 0..level {
            if key.get(at) == Some(&tags.end) {
                return key;
            }
            at = tags.part_end(key, at);
        }
        &key[..at]
    }
}

/// Returns what stands before the keys of a partition: partitions are in CouchDB's order of strings, and none has the key of another.
pub fn partition_prefix(partition: &str) -> Vec<u8> {
    let partition = Value::from(partition);
    let mut prefix = Vec::new();
    collate::write_key(&mut prefix, &partition);
    write_raw(&mut prefix, &partition);
    prefix
}

/// Appends a key in Erlang's order of terms.
pub fn write_raw(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Bool(false) => out.push(RAW_ATOMS[0]),
        Value::Null => out.push(RAW_ATOMS[1]),
        Value::Bool(true) => out.push(RAW_ATOMS[2]),
        Value::Number(number) => {
            out.push(RAW.number);
            collate::write_number(out, number);
        }
        Value::String(text) => write_raw_text(out, text),
        Value::Array(items) => {
            out.push(RAW.lists[1]);
            items.iter().for_each(|item| write_raw(out, item));
            out.push(RAW.end);
        }
        Value::Object(members) => {
            out.push(RAW.lists[0]);
            for (name, value) in members {
                write_raw_text(out, name);
                write_raw(out, value);
            }
            out.push(RAW.end);
        }
    }
}

/// A zero ends a text, so the bytes 0 and 1 are written as two.
fn write_raw_text(out: &mut Vec<u8>, text: &str) {
    out.push(RAW.string);
    for byte in text.bytes() {
        match byte {
            0 | 1 => out.extend([1, byte + 1]),
            _ => out.push(byte),
        }
    }
    out.push(0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn raw_keys_are_in_the_order_of_erlangs_terms() {
        let ordered = [
            json!(-1.5),
            json!(0),
            json!(1),
            json!(false),
            json!(null),
            json!(true),
            json!({}),
            json!({"a": 1}),
            json!({"a": 1, "b": 0}),
            json!({"a": 2}),
            json!([]),
            json!([1]),
            json!([1, 2]),
            json!(["a"]),
            json!(""),
            json!("\u{0}"),
            json!("\u{0}a"),
            json!("\u{1}"),
            json!("A"),
            json!("B"),
            json!("a"),
            json!("aa"),
            json!("ä"),
        ];
        for pair in ordered.windows(2) {
            let [one, other] = [&pair[0], &pair[1]].map(|value| Collation::Raw.key(value));
            assert!(one < other, "{} {}", pair[0], pair[1]);
        }
    }

    #[test]
    fn a_group_is_the_beginning_of_an_array() {
        for collation in [Collation::Unicode, Collation::Raw] {
            let group =
                |value: &Value, level| collation.group(&collation.key(value), level).to_vec();
            let long = json!([1, "a\u{0}b", [2, {"x": null}], true]);
            for level in 1..4 {
                let short = Value::from(long.as_array().unwrap()[..level].to_vec());
                assert_eq!(group(&long, level), group(&short, level));
                assert_ne!(group(&long, level + 1), group(&short, level + 1));
            }
            assert_eq!(group(&json!([]), 1), collation.key(&json!([])));
            assert_eq!(group(&json!("a"), 1), collation.key(&json!("a")));
        }
    }
}
