//! Rows as fields between delimiters, after a line that names them: what CSV, TSV and IMDb's files
//! have in common.

use std::io::BufRead;
use std::path::{Path, PathBuf};

use csv::{ErrorKind, Position, Reader, ReaderBuilder, StringRecord};

use super::column::ColumnBuilder;
use super::input::Input;
use super::{Table, no_such_column};
use crate::Error;

/// How fields are written.
pub(super) struct Dialect {
    pub(super) delimiter: u8,
    /// Whether a field may stand in double quotes.
    pub(super) quotes: bool,
    /// The field that means NULL.
    pub(super) null: &'static str,
    /// Further names of columns: the further name, then the one in the header.
    pub(super) aliases: &'static [(&'static str, &'static str)],
}

impl Dialect {
    /// Reads the rows of a file in this dialect.
    pub(super) fn read(&self, input: Input, columns: Option<&[String]>) -> Result<Table, Error> {
        let (path, text) = input.into_parts();
        let reader = ReaderBuilder::new()
            .delimiter(self.delimiter)
            .quoting(self.quotes)
            .from_reader(text);
        let mut rows = Rows { path, reader };
        let header = rows.header()?;
        let selected = self.select(&rows.path, &header, columns)?;
        let mut builders: Vec<ColumnBuilder> = Vec::new();
        builders.resize_with(selected.len(), ColumnBuilder::default);

        let mut record = StringRecord::new();
        let mut count = 0;
        while rows.next(&mut record, &header)? {
            count += 1;
            for ((name, field), builder) in selected.iter().zip(&mut builders) {
                let text = &record[*field];
                if text == self.null {
                    builder.push_null();
                } else {
                    let pushed = builder.push_text(text);
                    pushed.map_err(|_| Error::too_much_text(&rows.path, name))?;
                }
            }
        }
        if count == 0 {
            return Err(Error::NoRows { path: rows.path });
        }
        let finish = |mut builder: ColumnBuilder| {
            builder.recognise_numbers();
            builder.finish()
        };
        Ok(Table {
            columns: selected.into_iter().map(|(name, _)| name).collect(),
            rows: count,
            values: builders.into_iter().map(finish).collect(),
        })
    }

    /// The columns to keep, each with the field it is read from.
    fn select(
        &self,
        path: &Path,
        header: &StringRecord,
        columns: Option<&[String]>,
    ) -> Result<Vec<(String, usize)>, Error> {
        let mut present: Vec<(&str, usize)> = header.iter().zip(0..).collect();
        for (alias, name) in self.aliases {
            let field = header.iter().position(|column| column == *name);
            present.extend(field.map(|field| (*alias, field)));
        }
        let Some(columns) = columns else {
            let all = present.into_iter();
            return Ok(all.map(|(name, field)| (name.to_owned(), field)).collect());
        };
        columns
            .iter()
            .map(|column| {
                let found = present.iter().find(|(name, _)| name == column);
                let names = || present.iter().map(|(name, _)| *name);
                let &(_, field) = found.ok_or_else(|| no_such_column(path, column, names()))?;
                Ok((column.clone(), field))
            })
            .collect()
    }
}

/// The rows of an open file.
struct Rows {
    path: PathBuf,
    reader: Reader<Box<dyn BufRead>>,
}

impl Rows {
    /// The names of the columns: at least one, none of them twice.
    fn header(&mut self) -> Result<StringRecord, Error> {
        let header = match self.reader.headers() {
            Ok(header) => header.clone(),
            Err(error) => return Err(self.error(error, &StringRecord::new())),
        };
        if header.is_empty() {
            return Err(Error::NoRows {
                path: self.path.clone(),
            });
        }
        for (i, name) in header.iter().enumerate() {
            if header.iter().take(i).any(|before| before == name) {
                return Err(Error::Malformed {
                    path: self.path.clone(),
                    line: 1,
                    at: format!(", field {}", i + 1),
                    what: format!("there is a column `{name}` already"),
                    remedy: "give each column a name of its own in the first line",
                });
            }
        }
        Ok(header)
    }

    /// Reads the next row; false where there is none.
    fn next(&mut self, record: &mut StringRecord, header: &StringRecord) -> Result<bool, Error> {
        let read = self.reader.read_record(record);
        read.map_err(|error| self.error(error, header))
    }

    fn error(&self, error: csv::Error, header: &StringRecord) -> Error {
        let here = self.reader.position().line();
        let line = |position: &Option<Position>| position.as_ref().map_or(here, Position::line);
        let path = self.path.clone();
        match error.into_kind() {
            ErrorKind::Io(source) => Error::Read {
                path,
                line: here,
                source,
            },
            ErrorKind::Utf8 { pos, err } => Error::Malformed {
                path,
                line: line(&pos),
                at: match header.get(err.field()) {
                    Some(name) => format!(", column `{name}`"),
                    None => format!(", field {}", err.field() + 1),
                },
                what: format!("byte {} of the field is not UTF-8", err.valid_up_to() + 1),
                remedy: "convert the file to UTF-8, as iconv does",
            },
            ErrorKind::UnequalLengths {
                pos,
                expected_len,
                len,
            } => Error::Malformed {
                path,
                line: line(&pos),
                at: String::new(),
                what: format!(
                    "the line has {len} field{}, the first line {expected_len}",
                    if len == 1 { "" } else { "s" }
                ),
                remedy: "write a field for each column, in double quotes if it holds the delimiter, \
                         a quote or a line end",
            },
            other => Error::Malformed {
                path,
                line: here,
                at: String::new(),
                what: format!("{other:?}"),
                remedy: "compare the line with the ones before it",
            },
        }
    }
}
