//! JSON with an object a line: <https://jsonlines.org>.

use std::collections::HashMap;
use std::io::BufRead;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::column::{ColumnBuilder, TooMuchText};
use super::input::Input;
use super::{Format, Table, no_such_column};
use crate::Error;

pub(super) const FORMAT: Format = Format {
    description: "JSON with an object a line (.jsonl, .ndjson, or any file that begins with `{`)",
    // An array is recognised so that the error can say how to make lines of it.
    recognises: |extension, head| {
        matches!(extension, "jsonl" | "ndjson") || matches!(head.first(), Some(b'{' | b'['))
    },
    read,
};

const REMEDY: &str = "write one object a line, as `jq -c .` does (`jq -c '.[]'` for an array)";

fn read(input: Input, columns: Option<&[String]>) -> Result<Table, Error> {
    let (path, mut text) = input.into_parts();
    let mut lines = Lines {
        path,
        number: 0,
        bytes: Vec::new(),
    };
    let mut fields = Fields::new(columns);
    while let Some(object) = lines.next(&mut text)? {
        for (name, value) in object {
            let pushed = fields.push(&name, value);
            pushed.map_err(|_| Error::too_much_text(&lines.path, &name))?;
        }
        fields.rows += 1;
    }
    fields.finish(&lines.path)
}

/// Where reading is.
struct Lines {
    path: PathBuf,
    number: u64,
    bytes: Vec<u8>,
}

impl Lines {
    /// The object of the next line that is not blank.
    fn next(&mut self, text: &mut dyn BufRead) -> Result<Option<Map<String, Value>>, Error> {
        loop {
            self.bytes.clear();
            self.number += 1;
            let read = text.read_until(b'\n', &mut self.bytes);
            let read = read.map_err(|source| Error::Read {
                path: self.path.clone(),
                line: self.number,
                source,
            })?;
            if read == 0 {
                return Ok(None);
            }
            let line = self.bytes.trim_ascii();
            if !line.is_empty() {
                return self.parse(line).map(Some);
            }
        }
    }

    fn parse(&self, line: &[u8]) -> Result<Map<String, Value>, Error> {
        let line = std::str::from_utf8(line).map_err(|error| {
            let what = "the bytes are not UTF-8".to_owned();
            let remedy = "convert the file to UTF-8, as iconv does";
            self.malformed(error.valid_up_to() + 1, what, remedy)
        })?;
        serde_json::from_str(line).map_err(|error| {
            let what = error.to_string();
            // The parser's own position is one within the line.
            let what = what
                .rsplit_once(" at line ")
                .map_or(&*what, |(what, _)| what);
            let what = format!("not a JSON object: {what}");
            self.malformed(error.column().max(1), what, REMEDY)
        })
    }

    fn malformed(&self, character: usize, what: String, remedy: &'static str) -> Error {
        Error::Malformed {
            path: self.path.clone(),
            line: self.number,
            at: format!(", column {character}"),
            what,
            remedy,
        }
    }
}

/// The names met so far, and the columns kept.
struct Fields {
    fields: Vec<Field>,
    /// Where each name is in `fields`.
    places: HashMap<String, usize>,
    are_all_kept: bool,
    rows: usize,
}

struct Field {
    name: String,
    column: ColumnBuilder,
    is_kept: bool,
    is_met: bool,
}

impl Fields {
    fn new(columns: Option<&[String]>) -> Self {
        let mut fields = Fields {
            fields: Vec::new(),
            places: HashMap::new(),
            are_all_kept: columns.is_none(),
            rows: 0,
        };
        for name in columns.unwrap_or_default() {
            fields.add(name, true);
        }
        fields
    }

    fn add(&mut self, name: &str, is_kept: bool) -> usize {
        let place = self.fields.len();
        self.places.insert(name.to_owned(), place);
        self.fields.push(Field {
            name: name.to_owned(),
            column: ColumnBuilder::default(),
            is_kept,
            is_met: false,
        });
        place
    }

    /// Adds a field of the row that follows the `rows` complete ones.
    fn push(&mut self, name: &str, value: Value) -> Result<(), TooMuchText> {
        let place = match self.places.get(name) {
            Some(place) => *place,
            None => self.add(name, self.are_all_kept),
        };
        let Field {
            column,
            is_kept,
            is_met,
            ..
        } = &mut self.fields[place];
        *is_met = true;
        if !*is_kept {
            return Ok(());
        }
        column.pad(self.rows);
        match value {
            Value::Null => column.push_null(),
            Value::Bool(bool) => column.push_integer(bool.into()),
            Value::Number(number) => match number.as_i64() {
                Some(integer) => column.push_integer(integer),
                None => column.push_real(number.as_f64().unwrap_or(f64::INFINITY)),
            },
            Value::String(text) => column.push_text(&text)?,
            nested => column.push_text(&nested.to_string())?,
        }
        Ok(())
    }

    fn finish(self, path: &Path) -> Result<Table, Error> {
        if self.rows == 0 {
            return Err(Error::NoRows {
                path: path.to_owned(),
            });
        }
        if let Some(missing) = self.fields.iter().find(|field| !field.is_met) {
            let met = self.fields.iter().filter(|field| field.is_met);
            let met = met.map(|field| field.name.as_str());
            return Err(no_such_column(path, &missing.name, met));
        }
        let kept = self.fields.into_iter().filter(|field| field.is_kept);
        let (columns, values) = kept
            .map(|mut field| {
                field.column.pad(self.rows);
                (field.name, field.column.finish())
            })
            .unzip();
        Ok(Table {
            columns,
            rows: self.rows,
            values,
        })
    }
}
