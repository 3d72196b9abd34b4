//! A table of text: CSV.

use super::{
    encoding::{decoded, delimiter},
    guard::unguarded,
    tags_of,
};
use crate::{Error, Result, words::say};
use csv::StringRecord;

/// A file with a header and rows.
pub struct Sheet {
    /// The name of the file.
    pub name: String,
    /// The names of the columns.
    pub header: Vec<String>,
    /// The name of the list that the file is, where the file says so.
    pub list: Vec<String>,
    /// Whether it is a list of the user's own.
    pub is_list: bool,
    text: String,
    delimiter: u8,
    /// Lines before the text.
    before: usize,
    /// Records before the rows.
    head: usize,
}

/// The sign of a first line `sep=;`, which spreadsheets write.
fn stated(line: &str) -> Option<u8> {
    let line = line.trim().trim_matches('"');
    match *line.strip_prefix("sep=")?.as_bytes() {
        [sign] => Some(sign),
        // Tabs at the end were cut off.
        [] => Some(b'\t'),
        _ => None,
    }
}

impl Sheet {
    /// Opens a file.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it has no columns.
    pub fn open(name: &str, bytes: &[u8], is_list: bool) -> Result<Self> {
        let text = decoded(bytes);
        let first = text.lines().next().unwrap_or_default();
        let (sign, skipped) = match stated(first) {
            Some(sign) => (sign, text.find('\n').map_or(text.len(), |end| end + 1)),
            None => (delimiter(first), 0),
        };
        let mut sheet = Sheet {
            name: name.to_owned(),
            header: Vec::new(),
            list: Vec::new(),
            is_list,
            text: text[skipped..].to_owned(),
            delimiter: sign,
            before: usize::from(skipped > 0),
            head: 0,
        };
        sheet.read_head()?;
        Ok(sheet)
    }

    /// Reads the header. At Letterboxd, lines on the list itself come before it.
    fn read_head(&mut self) -> Result<()> {
        let is_letterboxd_list = self.text.starts_with("Letterboxd list export");
        let (mut header, mut list, mut head) = (None, Vec::new(), 0);
        let mut reader = self.reader();
        for record in reader.records() {
            let record = record.map_err(bad)?;
            head += 1;
            if !is_letterboxd_list || record.get(0) == Some("Position") {
                header = Some(record.iter().map(|field| field.trim().to_owned()).collect());
                break;
            }
            list = tags_of(&record.get(1).unwrap_or_default().replace(',', " "));
        }
        self.header = header.ok_or_else(no_columns)?;
        (self.list, self.head) = (list, head);
        match self.header.iter().all(String::is_empty) {
            true => Err(no_columns()),
            false => Ok(()),
        }
    }

    fn reader(&self) -> csv::Reader<&[u8]> {
        csv::ReaderBuilder::new()
            .flexible(true)
            .has_headers(false)
            .delimiter(self.delimiter)
            .from_reader(self.text.as_bytes())
    }

    /// Calls `take` with the line and the fields of each row, and returns their number.
    ///
    /// # Errors
    /// That of `take`.
    pub fn rows(&self, mut take: impl FnMut(usize, &StringRecord) -> Result<()>) -> Result<usize> {
        let mut lines = Lines::new(&self.text);
        let mut count = 0;
        for record in self.reader().records().skip(self.head) {
            let record = record.map_err(bad)?;
            take(self.before + lines.of(&record), &record)?;
            count += 1;
        }
        Ok(count)
    }
}

/// The text of a field, of at most a line of it for a sample.
pub fn field(record: &StringRecord, at: usize) -> &str {
    unguarded(record.get(at).unwrap_or_default().trim())
}

fn bad(error: csv::Error) -> Error {
    Error::Invalid(say::csv_bad(error.to_string()))
}

fn no_columns() -> Error {
    Error::Invalid(say::csv_no_header())
}

/// Counts lines. The reader's own number is one less where lines end with a carriage return and a line feed.
struct Lines<'a> {
    text: &'a [u8],
    at: usize,
    line: usize,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Self {
        let (text, at, line) = (text.as_bytes(), 0, 1);
        Lines { text, at, line }
    }

    /// The line at which a record begins, which comes after those before.
    fn of(&mut self, record: &StringRecord) -> usize {
        let start = record
            .position()
            .map_or(0, |position| position.byte() as usize);
        let rest = self.text.get(start..).unwrap_or_default();
        let ends = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
        let start = start + ends.count();
        let passed = self.text.get(self.at..start).unwrap_or_default();
        self.line += passed.iter().filter(|byte| **byte == b'\n').count();
        self.at = start;
        self.line
    }
}
