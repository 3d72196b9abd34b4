//! JSON with one object per line: <https://jsonlines.org>.

use std::io::BufRead;
use std::path::PathBuf;

use super::object::{Objects, what};
use super::row::{ROW_BYTES_MAX, Row};
use super::{Format, Rows, Tally};
use crate::Error;

pub(super) const FORMAT: Format = Format {
    name: "jsonl",
    description: "JSON with one object per line (.jsonl, .ndjson, or any file that begins with `{`)",
    recognises: |extension, head| {
        matches!(extension, "jsonl" | "ndjson") || head.trim_ascii_start().first() == Some(&b'{')
    },
    open: |input, settings| {
        let number = input.lines_skipped();
        let (path, text) = input.into_parts();
        Ok(Box::new(JsonRows {
            path,
            text,
            number,
            line: Vec::new(),
            objects: Objects::new(settings.flattens),
        }))
    },
};

const REMEDY: &str = "write one object per line; `--format json` reads objects of several lines, and arrays of objects";

struct JsonRows {
    path: PathBuf,
    text: Box<dyn BufRead + Send>,
    number: u64,
    line: Vec<u8>,
    objects: Objects,
}

impl Rows for JsonRows {
    fn columns(&self) -> &[String] {
        self.objects.names()
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

    fn tally(&self) -> Option<Tally> {
        Some(self.objects.tally())
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
            let remedy = "name the encoding of the file, such as --encoding windows-1252";
            malformed(
                &self.path,
                self.number,
                error.valid_up_to() + 1,
                what,
                remedy,
            )
        })?;
        self.objects.read(line.trim_end(), row).map_err(|error| {
            let column = error.column().max(1);
            malformed(&self.path, self.number, column, what(&error), REMEDY)
        })
    }
}

pub(super) fn malformed(
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
