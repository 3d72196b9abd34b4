//! The path of a field in a document.

use super::Error;
use crate::json::{self, Reader, Token};
use serde_json::Value;

/// The names on the way to a field. In texts a dot stands between them, `\.` for a dot in a name, `\$` for a dollar sign at its start.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Path {
    text: String,
    names: Vec<String>,
}

/// The value at a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Found<'a> {
    Value(&'a Value),
    /// The last object on the way does not have it.
    Missing,
    /// The way ends in a value that has no members, or not so many.
    NoWay,
}

impl Path {
    /// Reads a path. Backslashes are in no name: they keep the dots after them from parting names.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let mut names = vec![String::new()];
        let mut is_escaped = false;
        for character in text.chars() {
            match character {
                '.' if !is_escaped => names.push(String::new()),
                '\\' => {}
                other => push(&mut names, other),
            }
            is_escaped = character == '\\';
        }
        if names.iter().any(String::is_empty) {
            let message = format!("Invalid field name: {text}");
            return Err(Error::new("invalid_field_name", message));
        }
        let text = text.to_owned();
        Ok(Path { text, names })
    }

    /// The value itself.
    pub fn here() -> Self {
        Path {
            text: String::new(),
            names: Vec::new(),
        }
    }

    /// The original text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it is the document's id.
    pub fn is_id(&self) -> bool {
        self.text == "_id"
    }

    /// Whether it leads into what is no part of the body.
    pub fn is_special(&self) -> bool {
        self.text.starts_with('_')
    }

    /// Returns the value at the path.
    pub fn find<'a>(&self, value: &'a Value) -> Found<'a> {
        let mut value = value;
        for name in &self.names {
            value = match value {
                Value::Object(members) => match members.get(name) {
                    Some(member) => member,
                    None => return Found::Missing,
                },
                Value::Array(items) => {
                    let index: Option<usize> = name.parse().ok();
                    match index.and_then(|index| items.get(index)) {
                        Some(item) => item,
                        None => return Found::NoWay,
                    }
                }
                _ => return Found::NoWay,
            };
        }
        Found::Value(value)
    }

    /// The text of what is found there in a document's text.
    pub fn find_text<'a>(&self, text: &'a str) -> Result<Option<&'a str>, json::Error> {
        let mut reader = Reader::new(text, usize::MAX);
        let Some((last, before)) = self.names.split_last() else {
            return reader.skip_value().map(Some);
        };
        for name in before {
            if !enter(&mut reader, name)? {
                return Ok(None);
            }
        }
        match enter(&mut reader, last)? {
            true => reader.skip_value().map(Some),
            false => Ok(None),
        }
    }

    /// The names on the way.
    pub fn names(&self) -> &[String] {
        &self.names
    }
}

/// Stops before the value of that name in the value that is next; false when there is none.
fn enter(reader: &mut Reader<'_>, name: &str) -> Result<bool, json::Error> {
    match reader.next()? {
        Some(Token::ObjectStart) => {
            while let Some(Token::Key(key)) = reader.next()? {
                if key.decode() == name {
                    return Ok(true);
                }
                reader.skip_value()?;
            }
            Ok(false)
        }
        Some(Token::ArrayStart) => {
            let Ok(index) = name.parse::<usize>() else {
                return Ok(false);
            };
            for _ in 0..index {
                if !reader.has_item()? {
                    return Ok(false);
                }
                reader.skip_value()?;
            }
            reader.has_item()
        }
        _ => Ok(false),
    }
}

fn push(names: &mut [String], character: char) {
    if let Some(name) = names.last_mut() {
        name.push(character);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn path(text: &str) -> Path {
        Path::parse(text).unwrap()
    }

    #[test]
    fn dots_part_names_unless_escaped() {
        assert_eq!(path("a.b").names, ["a", "b"]);
        assert_eq!(path(r"a\.b.c").names, ["a.b", "c"]);
        assert_eq!(path(r"a\b").names, ["ab"]);
        assert_eq!(path(r"\$foobar").names, ["$foobar"]);
        for bad in ["", ".", "a.", ".a", "a..b"] {
            assert!(Path::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_field_is_found_in_values_and_in_texts_alike() {
        let text = r#"{"a":{"b":[10,{"c.d":1.50},[]],"e":null},"a2":"x","\u0066":true}"#;
        let value: Value = serde_json::from_str(text).unwrap();
        let cases = [
            ("a.b.0", Some("10")),
            (r"a.b.1.c\.d", Some("1.50")),
            ("a.b.2", Some("[]")),
            ("a.b.3", None),
            ("a.b.x", None),
            ("a.b.2.0", None),
            ("a.e", Some("null")),
            ("a.e.f", None),
            ("a2", Some("\"x\"")),
            ("f", Some("true")),
            ("b", None),
        ];
        for (text_path, expected) in cases {
            assert_eq!(
                path(text_path).find_text(text).unwrap(),
                expected,
                "{text_path}"
            );
            let expected: Option<Value> = expected.map(|text| serde_json::from_str(text).unwrap());
            match path(text_path).find(&value) {
                Found::Value(found) => assert_eq!(Some(found), expected.as_ref(), "{text_path}"),
                _ => assert_eq!(expected, None, "{text_path}"),
            }
        }
        assert_eq!(path("b").find(&value), Found::Missing);
        assert_eq!(path("a2.b").find(&value), Found::NoWay);
        assert_eq!(path("a.b.9").find(&json!({"a": {"b": [1]}})), Found::NoWay);
    }
}
