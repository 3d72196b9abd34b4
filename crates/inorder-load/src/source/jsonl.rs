//! JSON with one object per line: <https://jsonlines.org>.

use std::collections::HashMap;
use std::fmt;
use std::io::BufRead;
use std::path::PathBuf;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::row::{Field, ROW_BYTES_MAX, Row};
use super::{Format, Rows};
use crate::Error;

pub(super) const FORMAT: Format = Format {
    name: "jsonl",
    description: "JSON with one object per line (.jsonl, .ndjson, or any file that begins with `{`)",
    // An array is recognised so that the error can say how to make lines of it.
    recognises: |extension, head| {
        matches!(extension, "jsonl" | "ndjson") || matches!(head.first(), Some(b'{' | b'['))
    },
    open: |input, _| {
        let (path, text) = input.into_parts();
        Ok(Box::new(JsonRows {
            path,
            text,
            number: 0,
            line: Vec::new(),
            names: Names::default(),
        }))
    },
};

const REMEDY: &str =
    "write one object per line, for example with `jq -c .` (`jq -c '.[]'` for an array)";

struct JsonRows {
    path: PathBuf,
    text: Box<dyn BufRead + Send>,
    number: u64,
    line: Vec<u8>,
    names: Names,
}

impl Rows for JsonRows {
    fn columns(&self) -> &[String] {
        &self.names.names
    }

    /// Takes the object of the next line that is not blank.
    fn next(&mut self, row: &mut Row) -> Result<bool, Error> {
        loop {
            if !self.read_line()? {
                return Ok(false);
            }
            if !self.line.trim_ascii().is_empty() {
                row.begin(self.number);
                self.parse(row)?;
                return Ok(true);
            }
        }
    }

    fn last(&self) -> &[u8] {
        &self.line
    }

    fn are_columns_known(&self) -> bool {
        false
    }
}

impl JsonRows {
    fn read_line(&mut self) -> Result<bool, Error> {
        use std::io::{Error as IoError, Read as _};
        self.line.clear();
        self.number += 1;
        let limit = ROW_BYTES_MAX as u64 + 1;
        let read = (&mut self.text)
            .take(limit)
            .read_until(b'\n', &mut self.line);
        let read = match read {
            Ok(read) if read as u64 == limit => Err(IoError::other(
                "the line has more than 1,000,000,000 bytes, SQLite's limit for a row",
            )),
            read => read,
        };
        let read = read.map_err(|source| Error::Read {
            path: self.path.clone(),
            line: self.number,
            source,
        })?;
        Ok(read > 0)
    }

    fn parse(&mut self, row: &mut Row) -> Result<(), Error> {
        let line = std::str::from_utf8(&self.line).map_err(|error| {
            let what = "the bytes are not UTF-8".to_owned();
            let remedy = "convert the file to UTF-8, for example with iconv";
            malformed(
                &self.path,
                self.number,
                error.valid_up_to() + 1,
                what,
                remedy,
            )
        })?;
        let mut json = serde_json::Deserializer::from_str(line.trim_end());
        let object = Object {
            names: &mut self.names,
            row,
        };
        let parsed = object.deserialize(&mut json).and_then(|()| json.end());
        parsed.map_err(|error| {
            let what = error.to_string();
            // The parser's own position is one within the line.
            let what = what
                .rsplit_once(" at line ")
                .map_or(&*what, |(what, _)| what);
            let what = format!("not a JSON object: {what}");
            malformed(&self.path, self.number, error.column().max(1), what, REMEDY)
        })
    }
}

fn malformed(
    path: &std::path::Path,
    line: u64,
    character: usize,
    what: String,
    remedy: &'static str,
) -> Error {
    Error::Malformed {
        path: path.to_owned(),
        line,
        at: format!(", column {character}"),
        what,
        remedy,
    }
}

/// The names met so far, each with its place.
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

    #[test]
    fn spaces_go_from_between_the_parts_alone() {
        let nested = br#"{ "a b" : [ 1.10 , "\" x\\" , { } ] }"#;
        assert_eq!(without_spaces(nested), br#"{"a b":[1.10,"\" x\\",{}]}"#);
    }
}
