//! JSON whose objects take several lines: an array of objects, or objects one after another.

use std::io::{self, BufRead};
use std::path::PathBuf;

use super::jsonl::malformed;
use super::object::{Objects, what};
use super::row::{ROW_BYTES_MAX, Row};
use super::{Format, Rows, Tally};
use crate::Error;

pub(super) const FORMAT: Format = Format {
    name: "json",
    description: "JSON: an array of objects, or objects one after another (.json)",
    recognises: |extension, head| match head.trim_ascii_start() {
        [b'[', ..] => true,
        text @ [b'{', ..] => extension == "json" || has_object_of_lines(text),
        _ => extension == "json",
    },
    open: |input, settings| {
        let line = input.lines_skipped() + 1;
        let (path, text) = input.into_parts();
        Ok(Box::new(JsonRows {
            path,
            values: Values {
                text,
                place: Place::Start,
                value: Vec::new(),
                start: (line, 1),
                line,
                column: 1,
            },
            objects: Objects::new(settings.flattens),
        }))
    },
};

/// Whether the first object does not end on its first line.
fn has_object_of_lines(text: &[u8]) -> bool {
    let line = memchr::memchr(b'\n', text).map(|end| text[..end].trim_ascii_end());
    line.is_some_and(|line| matches!(line.last(), Some(b'{' | b'[' | b',')))
}

const REMEDY: &str = "write an array of objects, or objects one after another";

struct JsonRows {
    path: PathBuf,
    values: Values,
    objects: Objects,
}

/// The values of an array, or one after another, without a look into them.
struct Values {
    text: Box<dyn BufRead + Send>,
    place: Place,
    /// The last value.
    value: Vec<u8>,
    /// Its line and column.
    start: (u64, usize),
    /// The position of the next byte.
    line: u64,
    column: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Place {
    Start,
    /// In an array, before its first value.
    First,
    /// In an array, after a value.
    After,
    /// Between values that are in no array.
    Between,
    End,
}

/// Why there is no next value.
enum Fault {
    Read(io::Error),
    /// The rest can't be split.
    Broken(String),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Fault::Read(error)
    }
}

impl Values {
    /// Finds the next value; false where there is none.
    fn next(&mut self) -> Result<bool, Fault> {
        self.value.clear();
        let mut next = self.skip_spaces()?;
        if self.place == Place::Start {
            self.place = match next {
                Some(b'[') => Place::First,
                _ => Place::Between,
            };
            if next == Some(b'[') {
                self.skip()?;
                next = self.skip_spaces()?;
            }
        }
        match (self.place, next) {
            (Place::End | Place::Between, None) => return Ok(false),
            (Place::First | Place::After, Some(b']')) => {
                self.skip()?;
                self.place = Place::End;
                return match self.skip_spaces()? {
                    None => Ok(false),
                    Some(_) => Err(self.broken("text follows the array")),
                };
            }
            (Place::After, Some(b',')) => {
                self.skip()?;
                next = self.skip_spaces()?;
            }
            (Place::After, Some(_)) => return Err(self.broken("a comma is missing")),
            _ => {}
        }
        self.start = (self.line, self.column);
        match next {
            None => return Err(self.broken("the array is never closed")),
            Some(b',' | b']' | b'}') => return Err(self.broken("a value is missing")),
            Some(b'{' | b'[' | b'"') => self.take_nested()?,
            Some(_) => self.take_plain()?,
        }
        if self.place == Place::First {
            self.place = Place::After;
        }
        Ok(true)
    }

    fn broken(&self, what: &str) -> Fault {
        Fault::Broken(what.to_owned())
    }

    /// Takes an object, an array or a string.
    fn take_nested(&mut self) -> Result<(), Fault> {
        let (mut depth, mut is_in_string, mut is_escaped) = (0_usize, false, false);
        loop {
            let buffer = self.text.fill_buf()?;
            if buffer.is_empty() {
                return Err(self.broken("the value is never closed"));
            }
            let mut bytes = 0;
            let mut is_end = false;
            for &byte in buffer {
                bytes += 1;
                if is_in_string {
                    is_in_string = is_escaped || byte != b'"';
                    is_escaped = !is_escaped && byte == b'\\';
                } else {
                    match byte {
                        b'"' => is_in_string = true,
                        b'{' | b'[' => depth += 1,
                        b'}' | b']' => depth = depth.saturating_sub(1),
                        _ => {}
                    }
                }
                if depth == 0 && !is_in_string {
                    is_end = true;
                    break;
                }
            }
            self.take(bytes)?;
            if is_end {
                return Ok(());
            }
        }
    }

    /// Takes a number or a name, up to what ends it.
    fn take_plain(&mut self) -> Result<(), Fault> {
        loop {
            let buffer = self.text.fill_buf()?;
            let is_end =
                |byte: &u8| matches!(byte, b',' | b']' | b'}') || byte.is_ascii_whitespace();
            let bytes = buffer.iter().position(is_end).unwrap_or(buffer.len());
            let is_over = bytes < buffer.len() || buffer.is_empty();
            self.take(bytes)?;
            if is_over {
                return Ok(());
            }
        }
    }

    /// Moves bytes of the buffer into the value.
    fn take(&mut self, bytes: usize) -> Result<(), Fault> {
        let taken = &self.text.fill_buf()?[..bytes];
        if self.value.len() + bytes > ROW_BYTES_MAX {
            return Err(self
                .broken("the value has more than 1,000,000,000 bytes, SQLite's limit for a row"));
        }
        self.value.extend_from_slice(taken);
        let newlines = memchr::memchr_iter(b'\n', taken).count() as u64;
        self.column = match memchr::memrchr(b'\n', taken) {
            Some(at) => bytes - at,
            None => self.column + bytes,
        };
        self.line += newlines;
        self.text.consume(bytes);
        Ok(())
    }

    /// Leaves out a byte.
    fn skip(&mut self) -> Result<(), Fault> {
        self.take(1)?;
        self.value.clear();
        Ok(())
    }

    /// Leaves out spaces. Returns the byte after them.
    fn skip_spaces(&mut self) -> Result<Option<u8>, Fault> {
        loop {
            let buffer = self.text.fill_buf()?;
            let is_space = |byte: &&u8| byte.is_ascii_whitespace();
            let bytes = buffer.iter().take_while(is_space).count();
            let next = buffer.get(bytes).copied();
            let is_over = next.is_some() || buffer.is_empty();
            self.take(bytes)?;
            self.value.clear();
            if is_over {
                return Ok(next);
            }
        }
    }
}

impl Rows for JsonRows {
    fn columns(&self) -> &[String] {
        self.objects.names()
    }

    fn next(&mut self, row: &mut Row) -> Result<bool, Error> {
        let path = &self.path;
        match self.values.next() {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            Err(Fault::Read(source)) => {
                return Err(Error::Read {
                    path: path.clone(),
                    line: self.values.line,
                    source,
                });
            }
            Err(Fault::Broken(what)) => {
                return Err(Error::Unreadable {
                    path: path.clone(),
                    what: format!(
                        "line {}, column {}: {what}",
                        self.values.line, self.values.column
                    ),
                });
            }
        }
        let (line, column) = self.values.start;
        let text = std::str::from_utf8(&self.values.value).map_err(|error| {
            let before = &self.values.value[..error.valid_up_to()];
            let lines = memchr::memchr_iter(b'\n', before).count() as u64;
            let at = match memchr::memrchr(b'\n', before) {
                Some(newline) => before.len() - newline,
                None => column + before.len(),
            };
            let what = "the bytes are not UTF-8".to_owned();
            let remedy = "name the encoding of the file, such as --encoding windows-1252";
            malformed(path, line + lines, at, what, remedy)
        })?;
        row.begin(line);
        self.objects.read(text, row).map_err(|error| {
            let at = match error.line() {
                0 | 1 => column + error.column().max(1) - 1,
                _ => error.column(),
            };
            let line = line + (error.line() as u64).max(1) - 1;
            malformed(path, line, at, what(&error), REMEDY)
        })?;
        Ok(true)
    }

    fn tally(&self) -> Option<Tally> {
        Some(self.objects.tally())
    }

    fn last(&self) -> &[u8] {
        &self.values.value
    }

    fn are_columns_known(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Cursor};

    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn split(text: &str, buffer_bytes: usize) -> Result<Vec<String>, String> {
        let text = Cursor::new(text.as_bytes().to_vec());
        let mut values = Values {
            text: Box::new(BufReader::with_capacity(buffer_bytes, text)),
            place: Place::Start,
            value: Vec::new(),
            start: (1, 1),
            line: 1,
            column: 1,
        };
        let mut all = Vec::new();
        loop {
            match values.next() {
                Ok(true) => all.push(String::from_utf8_lossy(&values.value).into_owned()),
                Ok(false) => return Ok(all),
                Err(Fault::Read(error)) => panic!("{error}"),
                Err(Fault::Broken(what)) => {
                    return Err(format!("{}:{}: {what}", values.line, values.column));
                }
            }
        }
    }

    #[test]
    fn arrays_and_sequences_are_split() {
        let objects = [r#"{"a": "]}\" \\"}"#, r#"{"b": [1, {}]}"#];
        for text in [
            format!(" [{} ,\n{}] ", objects[0], objects[1]),
            format!("{}{}", objects[0], objects[1]),
            format!("{}\n\n{}\n", objects[0], objects[1]),
        ] {
            for buffer in [1, 3, 1000] {
                assert_eq!(split(&text, buffer).expect("values"), objects, "{text}");
            }
        }
        assert_eq!(split("[]", 8).expect("none"), [""; 0]);
        assert_eq!(split("[1, null]", 8).expect("values"), ["1", "null"]);
    }

    #[test]
    fn what_can_not_be_split_is_named() {
        for (text, error) in [
            ("[{}", "1:4: the array is never closed"),
            ("[{} {}]", "1:5: a comma is missing"),
            ("[{},]", "1:5: a value is missing"),
            ("[]\n x", "2:2: text follows the array"),
            ("{\"a\":\n1", "2:2: the value is never closed"),
        ] {
            let said = split(text, 8).expect_err(text);
            assert_eq!(said, error, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_array_is_split_as_serde_json_reads_it(
            values in prop::collection::vec(("[a-z\"\\\\{}\\[\\],\n]{0,20}", any::<i64>(), any::<bool>()), 0..8),
            is_pretty: bool,
            buffer in 1usize..16,
        ) {
            let object = |(text, number, nested): &(String, i64, bool)| match nested {
                true => serde_json::json!({ text: { "n": [number, text] } }),
                false => serde_json::json!({ "t": text, "n": number }),
            };
            let array: Vec<Value> = values.iter().map(object).collect();
            let text = match is_pretty {
                true => serde_json::to_string_pretty(&array),
                false => serde_json::to_string(&array),
            };
            let found = split(&text.expect("JSON"), buffer).expect("values");
            let found: Vec<Value> = found.iter().map(|text| serde_json::from_str(text).expect("JSON")).collect();
            prop_assert_eq!(found, array);
        }
    }
}
