//! Objects of JSON as rows.

use std::collections::HashMap;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::row::{Field, Row};
use super::{Tally, not_finite};
use crate::note::NoteKind;

/// Reads objects, and keeps the names met so far, each with its place.
pub(super) struct Objects {
    names: Names,
    /// Whether the members of nested objects are columns.
    flattens: bool,
    /// Numbers in nested values that JSON does not have.
    not_json: Tally,
}

impl Objects {
    pub(super) fn new(flattens: bool) -> Self {
        Objects {
            names: Names::default(),
            flattens,
            not_json: Tally::new(NoteKind::NanAsNull, not_json_told),
        }
    }

    /// The names met so far.
    pub(super) fn names(&self) -> &[String] {
        &self.names.names
    }

    /// The count of numbers in nested values that JSON does not have.
    pub(super) fn tally(&self) -> Tally {
        self.not_json.clone()
    }

    /// Reads a text that is one object into a row. `NaN`, `Infinity` and `-Infinity`, as Python writes them, are numbers.
    ///
    /// # Errors
    /// Those of the parser.
    pub(super) fn read(&mut self, text: &str, row: &mut Row) -> Result<(), serde_json::Error> {
        let read = self.read_json(text, row, None);
        let Err(error) = read else {
            return Ok(());
        };
        let Some(finite) = not_finite::replaced(text) else {
            return Err(error);
        };
        let line = row.line();
        row.begin(line);
        let written = Written {
            text,
            finite: &finite,
        };
        self.read_json(&finite, row, Some(written))
            .map_err(|_| error)
    }

    fn read_json(
        &mut self,
        text: &str,
        row: &mut Row,
        written: Option<Written<'_>>,
    ) -> Result<(), serde_json::Error> {
        let mut json = serde_json::Deserializer::from_str(text);
        let names = &mut self.names;
        let fields = Fields {
            written,
            not_json: &self.not_json,
        };
        let read = match self.flattens {
            true => {
                let prefix = "";
                Flat {
                    names,
                    row,
                    fields,
                    prefix,
                }
                .deserialize(&mut json)
            }
            false => Object { names, row, fields }.deserialize(&mut json),
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
    fields: Fields<'a>,
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
            let field = self
                .fields
                .field(self.row, value.get())
                .map_err(A::Error::custom)?;
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
    fields: Fields<'a>,
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
                    fields: self.fields,
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
            let field = self
                .fields
                .field(self.row, json)
                .map_err(A::Error::custom)?;
            self.row.set(place, field);
            likely = place + 1;
        }
        Ok(())
    }
}

/// A text with numbers that JSON does not have, and the same with others in their place.
#[derive(Clone, Copy)]
struct Written<'a> {
    text: &'a str,
    finite: &'a str,
}

/// Makes fields of values.
#[derive(Clone, Copy)]
struct Fields<'a> {
    written: Option<Written<'a>>,
    not_json: &'a Tally,
}

impl Fields<'_> {
    /// The field that a part of the text stands for.
    fn field(self, row: &mut Row, json: &str) -> Result<Field, serde_json::Error> {
        let Some(Written { text, finite }) = self.written else {
            return field(row, json);
        };
        let start = json.as_ptr() as usize - finite.as_ptr() as usize;
        let written = &text[start..start + json.len()];
        if written == json {
            return field(row, json);
        }
        if let Some(real) = not_finite::number(written) {
            return Ok(Field::Real(real));
        }
        let (nested, count) = not_finite::as_null(written);
        self.not_json.add(count, row.line());
        field(row, &nested)
    }
}

fn not_json_told(count: u64, line: u64) -> String {
    match count {
        1 => format!(
            "1 number in a nested value is NaN or infinite, which is null in JSON, in line {line}"
        ),
        _ => format!(
            "{count} numbers in nested values are NaN or infinite, which is null in JSON, the first in line {line}"
        ),
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
    fn numbers_that_json_does_not_have_are_read() {
        let text =
            r#"{"a": NaN, "b": [1, -Infinity, "NaN"], "c": -Infinity, "d": "Infinity", "e": 0e0}"#;
        let mut objects = Objects::new(false);
        let mut row = Row::default();
        objects.read(text, &mut row).expect("JSON");
        let fields: Vec<String> = (0..5)
            .map(|place| format!("{:?}", row.given(place)))
            .collect();
        assert_eq!(fields[0], "Real(NaN)");
        assert_eq!(fields[2], "Real(-inf)");
        assert_eq!(row.field(1), crate::source::Raw::Text(br#"[1,null,"NaN"]"#));
        assert_eq!(row.field(3), crate::source::Raw::Text(b"Infinity"));
        assert_eq!(row.field(4), crate::source::Raw::Number(b"0e0"));
        assert_eq!(
            objects.tally().remark().and_then(|note| note.count),
            Some(1)
        );
        for wrong in [
            r#"{"a": NaNa}"#,
            r#"{"a": Infinit}"#,
            r#"{NaN: 1}"#,
            r#"{"a": NaN"#,
        ] {
            assert!(objects.read(wrong, &mut row).is_err(), "{wrong}");
        }
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
