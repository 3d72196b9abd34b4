//! Objects of JSON as rows.

use std::collections::HashMap;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::row::{Field, Row};

/// Reads objects, and keeps the names met so far, each with its place.
#[derive(Default)]
pub(super) struct Objects {
    names: Names,
    /// Whether the members of nested objects are columns.
    flattens: bool,
}

impl Objects {
    pub(super) fn new(flattens: bool) -> Self {
        Objects {
            names: Names::default(),
            flattens,
        }
    }

    /// The names met so far.
    pub(super) fn names(&self) -> &[String] {
        &self.names.names
    }

    /// Reads a text that is one object into a row.
    ///
    /// # Errors
    /// Those of the parser.
    pub(super) fn read(&mut self, text: &str, row: &mut Row) -> Result<(), serde_json::Error> {
        let mut json = serde_json::Deserializer::from_str(text);
        let names = &mut self.names;
        let read = match self.flattens {
            true => {
                let prefix = "";
                Flat { names, row, prefix }.deserialize(&mut json)
            }
            false => Object { names, row }.deserialize(&mut json),
        };
        read.and_then(|()| json.end())
    }
}

/// The message of a parser's error without its position.
pub(super) fn what(error: &serde_json::Error) -> String {
    let what = error.to_string();
    let what = what
        .rsplit_once(" at line ")
        .map_or(&*what, |(what, _)| what);
    format!("not a JSON object: {what}")
}

/// Names, each with its place.
#[derive(Default)]
struct Names {
    names: Vec<String>,
    places: HashMap<String, usize>,
}

impl Names {
    /// The place of a name. Objects mostly repeat the order of the ones before: that is tried first.
    fn place(&mut self, name: &str, likely: usize) -> usize {
        if self.names.get(likely).is_some_and(|there| there == name) {
            return likely;
        }
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        self.names.push(name.to_owned());
        self.places.insert(name.to_owned(), self.names.len() - 1);
        self.names.len() - 1
    }
}

/// Parses an object directly into a row.
struct Object<'a> {
    names: &'a mut Names,
    row: &'a mut Row,
}

impl<'de> DeserializeSeed<'de> for Object<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Object<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut likely = 0;
        loop {
            let name = Name {
                names: self.names,
                likely,
            };
            let Some(place) = map.next_key_seed(name)? else {
                return Ok(());
            };
            let value: &RawValue = map.next_value()?;
            let field = field(self.row, value.get()).map_err(A::Error::custom)?;
            self.row.set(place, field);
            likely = place + 1;
        }
    }
}

/// Reads a key as its place.
struct Name<'a> {
    names: &'a mut Names,
    likely: usize,
}

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<usize, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<usize, E> {
        Ok(self.names.place(name, self.likely))
    }
}

/// Between the name of an object and that of its member.
const SEPARATOR: &str = "_";

/// Parses an object directly into a row, with the members of nested objects as fields of their own.
struct Flat<'a> {
    names: &'a mut Names,
    row: &'a mut Row,
    /// What the names begin with.
    prefix: &'a str,
}

impl<'de> DeserializeSeed<'de> for Flat<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Flat<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut likely = 0;
        while let Some((name, value)) = map.next_entry::<String, &RawValue>()? {
            let name = format!("{}{name}", self.prefix);
            let json = value.get();
            if json.starts_with('{') && !json[1..].trim_start().starts_with('}') {
                let nested = Flat {
                    names: self.names,
                    row: self.row,
                    prefix: &format!("{name}{SEPARATOR}"),
                };
                let mut json = serde_json::Deserializer::from_str(json);
                nested.deserialize(&mut json).map_err(A::Error::custom)?;
                likely = self.row.len();
                continue;
            }
            let place = self.names.place(&name, likely);
            if self.row.has(place) {
                let what =
                    format!("`{name}` appears twice: as a name, and as a member of an object");
                return Err(A::Error::custom(what));
            }
            let field = field(self.row, json).map_err(A::Error::custom)?;
            self.row.set(place, field);
            likely = place + 1;
        }
        Ok(())
    }
}

/// The field that a JSON text stands for: nested values stay JSON.
fn field(row: &mut Row, json: &str) -> Result<Field, serde_json::Error> {
    let bytes = json.as_bytes();
    Ok(match bytes.first() {
        Some(b'"') if memchr::memchr(b'\\', bytes).is_none() => {
            Field::JsonString(row.keep(&bytes[1..bytes.len() - 1]))
        }
        Some(b'"') => {
            let text: String = serde_json::from_str(json)?;
            Field::JsonString(row.keep(text.as_bytes()))
        }
        Some(b'{' | b'[') => Field::Json(row.keep(&without_spaces(bytes))),
        Some(b'n') => Field::Null,
        Some(b't') => Field::Bool(true),
        Some(b'f') => Field::Bool(false),
        _ => Field::Number(row.keep(bytes)),
    })
}

/// JSON without the spaces and line ends between its parts.
fn without_spaces(json: &[u8]) -> Vec<u8> {
    let (mut is_in_string, mut is_escaped) = (false, false);
    let is_kept = |byte: &u8| {
        if is_in_string {
            is_in_string = is_escaped || *byte != b'"';
            is_escaped = !is_escaped && *byte == b'\\';
            true
        } else {
            is_in_string = *byte == b'"';
            !byte.is_ascii_whitespace()
        }
    };
    let mut is_kept = is_kept;
    json.iter().copied().filter(|byte| is_kept(byte)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flat(text: &str) -> Result<Vec<(String, String)>, String> {
        let mut objects = Objects::new(true);
        let mut row = Row::default();
        objects.read(text, &mut row).map_err(|error| what(&error))?;
        let fields = objects.names().iter().enumerate().map(|(place, name)| {
            let value = format!("{:?}", row.given(place));
            (name.clone(), value)
        });
        Ok(fields.collect())
    }

    #[test]
    fn members_of_nested_objects_are_fields() {
        let fields = flat(r#"{"a":{"b":1,"c":{"d":2},"e":{}},"f":[{"g":3}]}"#).expect("JSON");
        let names: Vec<&str> = fields.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["a_b", "a_c_d", "a_e", "f"]);
        assert!(fields[3].1.starts_with("Json("), "{fields:?}");
        let twice = flat(r#"{"a_b":1,"a":{"b":2}}"#).expect_err("two of a name");
        assert!(twice.contains("`a_b` appears twice"), "{twice}");
    }

    #[test]
    fn spaces_go_from_between_the_parts_alone() {
        let nested = br#"{ "a b" : [ 1.10 , "\" x\\" , { } ] }"#;
        assert_eq!(without_spaces(nested), br#"{"a b":[1.10,"\" x\\",{}]}"#);
    }
}
