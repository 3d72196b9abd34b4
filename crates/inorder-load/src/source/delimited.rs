//! Rows as fields between delimiters: what CSV, TSV and IMDb's files have in common.

use std::path::PathBuf;

use super::decimal::with_point;
use super::escapes::{Escapes, Syntax};
use super::input::Input;
use super::names::distinct;
use super::quoting;
use super::row::{Field, Row};
use super::sniff::{Guess, Known, sniff};
use super::splitter::Splitter;
use super::{ReadOptions, Rows, Tally, WrittenBy};
use crate::Error;
use crate::note::{Note, NoteKind};

/// The syntax of fields.
pub(super) struct Dialect {
    pub(super) delimiter: u8,
    /// Whether a field may stand in double quotes.
    pub(super) quotes: bool,
    /// The field that means NULL, unless it stands in quotes.
    pub(super) null: &'static str,
    /// Whether delimiter, quotes and header may be others than the usual, as the first bytes tell.
    pub(super) is_found: bool,
    /// Further names of columns: the further name, then the one in the header.
    pub(super) aliases: &'static [(&'static str, &'static str)],
}

const REMEDY_FOR_QUOTES: &str = "put the field in double quotes and double each quote inside it, \
                                 or turn quoting off (--quote none)";

const REMEDY_FOR_LINE_ENDS: &str =
    "put the field in double quotes if the character belongs to it, and end all lines alike";

impl Dialect {
    /// The rows of a file in this dialect, but for what is said about it.
    pub(super) fn rows(
        &self,
        mut input: Input,
        settings: &ReadOptions,
    ) -> Result<Box<dyn Rows>, Error> {
        let separator = match self.is_found {
            true => separator(&mut input)?,
            false => None,
        };
        let known = self.known(settings, separator, &input);
        let usual = Guess {
            delimiter: known.delimiter.unwrap_or(self.delimiter),
            quote: known.quote.unwrap_or(self.quotes.then_some(b'"')),
            has_header: known.has_header.unwrap_or(true),
            is_header_told: true,
            is_one_line: false,
            is_sure: true,
        };
        let guess = match self.is_found {
            true => sniff(input.head(), input.is_head_whole(), self.delimiter, &known),
            false => usual,
        };
        let mut remarks = remarks(&input, &usual, &guess);
        if let (Some(separator), None) = (separator, settings.delimiter) {
            let separator = char::from(separator);
            let text =
                format!("the delimiter is `{separator}`, as the first line says (--delimiter)");
            let note = Note::new(NoteKind::DelimiterAssumed, text);
            remarks.push(note.in_file(input.path().display()));
        }
        let is_german = settings.dialect == Some(WrittenBy::Excel) && guess.delimiter == b';';
        if is_german && settings.has_decimal_comma.is_none() {
            let text = "numbers have a decimal comma, as Excel writes them beside semicolons (--decimal .)";
            let note = Note::new(NoteKind::DecimalCommaRead, text);
            remarks.push(note.in_file(input.path().display()));
        }
        let line = input.lines_skipped() + 1;
        let (path, text) = input.into_parts();
        let syntax = Syntax {
            delimiter: guess.delimiter,
            quote: guess.quote,
            comment: settings.comment,
            keeps_blank_lines: false,
            escapes: known.escapes,
        };
        let mut splitter = Splitter::new(text, syntax);
        splitter.begin_at_line(line);
        let nulls = self.nulls(settings);
        let mut rows = DelimitedRows {
            path,
            splitter,
            null_bytes_max: nulls.iter().map(String::len).max().unwrap_or_default(),
            nulls,
            has_end_mark: settings.dialect == Some(WrittenBy::PgText),
            columns: Vec::new(),
            aliases: self.aliases,
            is_quoted: Vec::new(),
            is_first_pending: false,
            blank_rows: None,
            blank_lines: Tally::new(NoteKind::LinesLeftOut, blank_lines_told),
            has_header: guess.has_header,
            pads_records: settings.pads_records,
            has_decimal_comma: settings.has_decimal_comma.unwrap_or(is_german),
            remarks,
        };
        rows.name_columns()?;
        Ok(Box::new(rows))
    }

    /// The fields that mean NULL.
    fn nulls(&self, settings: &ReadOptions) -> Vec<String> {
        match (&settings.nulls, settings.dialect) {
            (Some(nulls), _) => nulls.clone(),
            (None, Some(dialect)) if dialect.is_of_server() => vec!["\\N".to_owned()],
            (None, _) => vec![self.null.to_owned()],
        }
    }

    /// What is known of the syntax before the content is looked at.
    fn known(&self, settings: &ReadOptions, separator: Option<u8>, input: &Input) -> Known {
        let first = input.head().split(|byte| *byte == b'\n').next();
        let has_returns = first.is_some_and(|line| line.ends_with(b"\r"));
        let dialect = settings.dialect;
        let is_of_server = dialect.is_some_and(WrittenBy::is_of_server);
        let escape = settings
            .escape
            .filter(|escape| Some(*escape) != settings.quote.unwrap_or(Some(b'"')));
        let usual = escape.unwrap_or(b'\\');
        Known {
            delimiter: settings
                .delimiter
                .or(separator)
                .or(is_of_server.then_some(b'\t')),
            quote: settings.quote.or(is_of_server.then_some(None)),
            has_header: settings.has_header.or(is_of_server.then_some(false)),
            comment: settings.comment,
            escapes: match dialect {
                Some(WrittenBy::Spark) => Some(Escapes::Quotes(usual)),
                Some(WrittenBy::MySql) => Some(Escapes::MySql {
                    escape: usual,
                    has_returns,
                }),
                Some(WrittenBy::PgText) => Some(Escapes::PgText(usual)),
                Some(WrittenBy::Excel) | None => escape.map(Escapes::Quotes),
            },
        }
    }
}

/// The delimiter that a first line such as `sep=;` names. That line is left out.
fn separator(input: &mut Input) -> Result<Option<u8>, Error> {
    let line = input
        .head()
        .split(|byte| *byte == b'\n')
        .next()
        .unwrap_or_default();
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let separator = match line {
        [s, e, p, b'=', separator] if [*s, *e, *p].eq_ignore_ascii_case(b"sep") => *separator,
        _ => return Ok(None),
    };
    input.skip_line().map_err(|source| Error::Read {
        path: input.path().to_owned(),
        line: 1,
        source,
    })?;
    Ok(Some(separator))
}

/// What was found and is not the usual.
fn remarks(input: &Input, usual: &Guess, guess: &Guess) -> Vec<Note> {
    let mut found = Vec::new();
    let mut add = |kind, text: String| {
        found.push(Note::new(kind, text).in_file(input.path().display()));
    };
    if let Some(encoding) = input.found_encoding() {
        add(
            NoteKind::EncodingAssumed,
            format!("the encoding is {encoding} (--encoding)"),
        );
    }
    if guess.delimiter != usual.delimiter {
        let delimiter = match guess.delimiter {
            b'\t' => "a tab".to_owned(),
            byte => format!("`{}`", char::from(byte)),
        };
        add(
            NoteKind::DelimiterAssumed,
            format!("the delimiter is {delimiter} (--delimiter)"),
        );
    }
    if guess.quote != usual.quote
        && let Some(quote) = guess.quote
    {
        let quote = char::from(quote);
        add(
            NoteKind::QuoteAssumed,
            format!("the quote character is {quote} (--quote)"),
        );
    }
    if guess.is_one_line && guess.has_header && usual.is_header_told && !guess.is_sure {
        let text = "the only line is taken as a header, and there are no rows (--no-header)";
        add(NoteKind::HeaderAssumed, text.to_owned());
    }
    if guess.has_header != usual.has_header {
        add(
            NoteKind::HeaderAssumed,
            "the first line is a row and not a header (--header)".to_owned(),
        );
    }
    if !guess.is_header_told {
        add(NoteKind::HeaderAssumed, "the first line is taken as a header (--header, --no-header), because all values are text".to_owned());
    }
    found
}

fn blank_lines_told(count: u64, line: u64) -> String {
    match count {
        1 => format!("1 blank line is left out, line {line}"),
        _ => format!("{count} blank lines are left out, the first is line {line}"),
    }
}

struct DelimitedRows {
    path: PathBuf,
    splitter: Splitter,
    /// The fields that mean NULL, unless they stand in quotes.
    nulls: Vec<String>,
    /// The length of the longest of them, by which most other fields are told.
    null_bytes_max: usize,
    /// Whether a line `\\.` ends the rows.
    has_end_mark: bool,
    columns: Vec<String>,
    aliases: &'static [(&'static str, &'static str)],
    /// Whether each field of the last record is quoted, if the record has quotes.
    is_quoted: Vec<bool>,
    /// Whether the first record is a row, because there is no header.
    is_first_pending: bool,
    /// Blank lines before it that are rows: how many, and the line of the next one.
    blank_rows: Option<(u64, u64)>,
    /// Those that are no rows.
    blank_lines: Tally,
    has_header: bool,
    pads_records: bool,
    has_decimal_comma: bool,
    remarks: Vec<Note>,
}

impl DelimitedRows {
    /// Whether a field that is not in quotes means NULL.
    #[inline]
    fn is_null(&self, field: &[u8]) -> bool {
        field.len() <= self.null_bytes_max && self.nulls.iter().any(|null| null.as_bytes() == field)
    }

    /// A field as it is in the file, before escapes were read.
    #[inline(never)]
    fn written<'a>(&'a self, number: usize, field: &'a [u8]) -> &'a [u8] {
        self.splitter.raw(number).unwrap_or(field)
    }

    /// Names the columns after the fields of the first record, or by number if that is a row.
    fn name_columns(&mut self) -> Result<(), Error> {
        let is_there = self.split()?;
        let blank_lines = self.splitter.take_blank_lines();
        if !is_there {
            return Err(Error::NoRows {
                path: self.path.clone(),
            });
        }
        let text = |field: &[u8]| String::from_utf8_lossy(field).into_owned();
        let (columns, notes) = match self.has_header {
            true => distinct(self.splitter.fields().map(text).collect()),
            false => (
                (1..=self.splitter.len())
                    .map(|number| format!("c{number}"))
                    .collect(),
                Vec::new(),
            ),
        };
        self.columns = columns;
        let notes = notes
            .into_iter()
            .map(|note| note.in_file(self.path.display()));
        self.remarks.extend(notes);
        self.is_first_pending = !self.has_header;
        // In a file of one column, a blank line is a row of one empty field.
        let is_narrow = self.columns.len() == 1;
        if is_narrow {
            self.splitter.keep_blank_lines();
        }
        match blank_lines {
            Some(_) if is_narrow && !self.has_header => self.blank_rows = blank_lines,
            Some((count, line)) => self.blank_lines.add(count, line),
            None => {}
        }
        Ok(())
    }

    /// Splits off a record whose quotes are whole and whose text is UTF-8.
    fn split(&mut self) -> Result<bool, Error> {
        let is_there = self.splitter.next().map_err(|source| Error::Read {
            path: self.path.clone(),
            line: self.splitter.next_line(),
            source,
        })?;
        if !is_there {
            return Ok(false);
        }
        if let Some(what) = self.splitter.other_line_end() {
            let at = String::new();
            return Err(self.malformed(
                self.splitter.line(),
                at,
                what.to_owned(),
                REMEDY_FOR_LINE_ENDS,
            ));
        }
        if self.splitter.is_plain() && !self.has_end_mark {
            self.is_quoted.clear();
            let is_text =
                self.splitter.is_ascii() || std::str::from_utf8(self.splitter.record()).is_ok();
            return is_text.then_some(true).ok_or_else(|| self.not_utf8());
        }
        self.check_marked()
    }

    /// Checks a record that may have quotes, escapes or an end mark.
    #[inline(never)]
    fn check_marked(&mut self) -> Result<bool, Error> {
        if let Err(broken) = self.splitter.look(&mut self.is_quoted) {
            return Err(self.broken(&broken));
        }
        let is_text =
            self.splitter.is_ascii() || std::str::from_utf8(self.splitter.record()).is_ok();
        // An escape may stand for any byte.
        let is_escaped = self.splitter.syntax().escapes.is_some() && !self.splitter.is_plain();
        if !is_text || is_escaped && std::str::from_utf8(self.splitter.text()).is_err() {
            return Err(self.not_utf8());
        }
        if self.has_end_mark && self.splitter.record().trim_ascii_end() == b"\\." {
            return self.end();
        }
        Ok(true)
    }

    /// Ends the rows at the end mark.
    fn end(&mut self) -> Result<bool, Error> {
        let is_more = self.splitter.next().is_ok_and(|is_there| is_there);
        match is_more {
            false => Ok(false),
            true => Err(self.malformed(
                self.splitter.line(),
                String::new(),
                "text follows the end mark `\\.`".to_owned(),
                "write the rows of one table to a file of its own",
            )),
        }
    }

    fn broken(&self, broken: &quoting::Broken) -> Error {
        let before = &self.splitter.record()[..broken.at];
        let lines = memchr::memchr_iter(b'\n', before).count() as u64;
        let line_start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
        let column = String::from_utf8_lossy(&before[line_start..])
            .chars()
            .count()
            + 1;
        self.malformed(
            self.splitter.line() + lines,
            format!(", column {column}{}", self.in_field(broken.field)),
            broken.what.to_owned(),
            REMEDY_FOR_QUOTES,
        )
    }

    fn not_utf8(&self) -> Error {
        let wrong = self.splitter.fields().enumerate().find_map(|(i, field)| {
            let error = std::str::from_utf8(field).err()?;
            Some((i, error.valid_up_to() + 1))
        });
        let (field, byte) = wrong.unwrap_or((0, 1));
        let at = match self.columns.get(field) {
            Some(name) => format!(", column `{name}`"),
            None => format!(", field {}", field + 1),
        };
        self.malformed(
            self.splitter.line(),
            at,
            format!("byte {byte} of the field is not UTF-8"),
            "name the encoding of the file, such as --encoding windows-1252",
        )
    }

    fn in_field(&self, field: usize) -> String {
        match self.columns.get(field) {
            Some(name) => format!(" (`{name}`)"),
            None => format!(" (field {})", field + 1),
        }
    }

    fn malformed(&self, line: u64, at: String, what: String, remedy: &'static str) -> Error {
        Error::Malformed {
            path: self.path.clone(),
            line,
            at,
            what,
            remedy,
        }
    }

    fn check_length(&self) -> Result<(), Error> {
        let (wanted, found) = (self.columns.len(), self.splitter.len());
        if wanted == found || (self.pads_records && (found < wanted || self.is_surplus_empty())) {
            return Ok(());
        }
        Err(self.malformed(
            self.splitter.line(),
            String::new(),
            format!(
                "the line has {found} field{}, the first line {wanted}",
                if found == 1 { "" } else { "s" }
            ),
            "write one field per column; put it in double quotes if it contains the delimiter, \
             a quote or a line end; --ragged pad reads missing fields as NULL, --delimiter names another delimiter",
        ))
    }

    /// Whether the fields after those of the columns are empty.
    fn is_surplus_empty(&self) -> bool {
        let mut surplus = self.splitter.fields().skip(self.columns.len());
        surplus.all(<[u8]>::is_empty)
    }
}

impl Rows for DelimitedRows {
    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn aliases(&self) -> &[(&'static str, &'static str)] {
        self.aliases
    }

    fn next(&mut self, row: &mut Row) -> Result<bool, Error> {
        if let Some((count, line)) = self.blank_rows.take() {
            self.blank_rows = (count > 1).then_some((count - 1, line + 1));
            row.begin(line);
            let empty = row.keep(b"");
            row.fields.push(match self.is_null(b"") {
                true => Field::Null,
                false => Field::Text(empty),
            });
            return Ok(true);
        }
        if !std::mem::take(&mut self.is_first_pending) {
            let is_there = self.split();
            if let Some((count, line)) = self.splitter.take_blank_lines() {
                self.blank_lines.add(count, line);
            }
            if !is_there? {
                return Ok(false);
            }
        }
        self.check_length()?;
        row.begin(self.splitter.line());
        let has_raw = self.splitter.syntax().escapes.is_some();
        let text = self.splitter.text();
        let kept = row.keep(text);
        let ranges = self.splitter.ranges().take(self.columns.len());
        if !has_raw && !self.has_decimal_comma && self.is_quoted.is_empty() {
            for range in ranges {
                row.fields.push(match self.is_null(&text[range.clone()]) {
                    true => Field::Null,
                    false => Field::Text(kept.part(range)),
                });
            }
            return Ok(true);
        }
        for (i, range) in ranges.enumerate() {
            let is_quoted = self.is_quoted.get(i).copied().unwrap_or(false);
            let field = &text[range.clone()];
            let written = match has_raw {
                true => self.written(i, field),
                false => field,
            };
            let field = match !is_quoted && self.is_null(written) {
                true => Field::Null,
                false if self.has_decimal_comma => match with_point(field) {
                    Some(number) => row.keep_number(kept.part(range), &number),
                    None => Field::Text(kept.part(range)),
                },
                false => Field::Text(kept.part(range)),
            };
            row.fields.push(field);
        }
        Ok(true)
    }

    fn part(&mut self, bytes: usize, memory: &mut Vec<u8>) -> Result<Option<Box<dyn Rows>>, Error> {
        if self.is_first_pending {
            return Ok(None);
        }
        let line = self.splitter.next_line();
        let cut = self
            .splitter
            .cut(bytes, memory)
            .map_err(|source| Error::Read {
                path: self.path.clone(),
                line,
                source,
            })?;
        let Some(cut) = cut else {
            return Ok(None);
        };
        Ok(Some(Box::new(DelimitedRows {
            path: self.path.clone(),
            splitter: Splitter::of(cut, self.splitter.syntax()),
            nulls: self.nulls.clone(),
            null_bytes_max: self.null_bytes_max,
            columns: self.columns.clone(),
            blank_lines: self.blank_lines.clone(),
            is_quoted: Vec::new(),
            remarks: Vec::new(),
            ..*self
        })))
    }

    fn into_memory(self: Box<Self>) -> Vec<u8> {
        self.splitter.into_memory()
    }

    fn last(&self) -> &[u8] {
        self.splitter.record()
    }

    fn is_typed(&self) -> bool {
        false
    }

    fn are_columns_nameless(&self) -> bool {
        !self.has_header
    }

    fn remarks(&self) -> &[Note] {
        &self.remarks
    }

    fn tally(&self) -> Option<Tally> {
        Some(self.blank_lines.clone())
    }
}
