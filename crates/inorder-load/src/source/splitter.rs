//! Records of delimited text, split out of large reads: by `csv-core` where there are quotes, by searching
//! for delimiters where there are none. Both split the same.

use std::io::{self, Read};
use std::ops::Range;

use csv_core::ReadRecordResult;

use super::escapes::{self, Escaped, Escapes, Syntax, is_line_end, newlines};
use super::quoting::{self, Broken};
use super::row::ROW_BYTES_MAX;

const BUFFER_BYTES: usize = 1 << 18;

/// A kind of line ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineEnd {
    /// LF, or CR LF.
    Newline,
    /// CR.
    Return,
}

/// The byte order mark of UTF-8.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// Splits text into records and keeps the bytes each was read from.
pub(super) struct Splitter {
    input: Box<dyn Read + Send>,
    /// Built when it is needed: that takes as long as to split a hundred records, and most parts of a file have none for it.
    core: Option<csv_core::Reader>,
    syntax: Syntax,
    /// Read but not split, from `at` to `filled`; the last record begins at `start`.
    buffer: Vec<u8>,
    start: usize,
    at: usize,
    filled: usize,
    is_at_end: bool,
    /// From here on to `filled` there is no quote, and nothing but ASCII: looked up once a read.
    unquoted_from: usize,
    ascii_from: usize,
    /// The last record has no quotes: its fields are those of `record`, a delimiter between two.
    is_plain: bool,
    /// The last record's fields, end to end without quotes and delimiters, unless it is plain.
    fields: Vec<u8>,
    /// The ends of the fields of the last record.
    ends: Vec<usize>,
    /// More about them, if there is an escape character.
    escaped: Escaped,
    ends_used: usize,
    /// The kind of the first line end.
    line_end: Option<LineEnd>,
    has_other_line_end: bool,
    /// The blank lines that were left out: how many, and the first one.
    blank_lines: Option<(u64, u64)>,
    line: u64,
    next_line: u64,
}

/// Records without quotes that were cut off.
pub(super) struct Cut {
    /// Begins with their bytes.
    text: Vec<u8>,
    bytes: usize,
    is_ascii: bool,
    line_end: Option<LineEnd>,
    /// The line of the first one.
    line: u64,
}

impl Splitter {
    /// Begins to split.
    pub(super) fn new(input: Box<dyn Read + Send>, syntax: Syntax) -> Self {
        Splitter::with_buffer(input, syntax, vec![0; BUFFER_BYTES])
    }

    fn with_buffer(input: Box<dyn Read + Send>, syntax: Syntax, buffer: Vec<u8>) -> Self {
        Splitter {
            input,
            core: None,
            syntax,
            is_plain: false,
            buffer,
            start: 0,
            at: 0,
            filled: 0,
            is_at_end: false,
            unquoted_from: 0,
            ascii_from: 0,
            fields: vec![0; 1 << 12],
            ends: vec![0; 64],
            escaped: Escaped::default(),
            ends_used: 0,
            line_end: None,
            has_other_line_end: false,
            blank_lines: None,
            line: 1,
            next_line: 1,
        }
    }

    /// Numbers the lines from this one.
    pub(super) fn begin_at_line(&mut self, line: u64) {
        self.next_line = line;
    }

    /// A parser at the beginning of a record.
    fn new_core(&mut self) -> csv_core::Reader {
        let mut core = csv_core::ReaderBuilder::new()
            .delimiter(self.syntax.delimiter)
            .quoting(self.syntax.quote.is_some())
            .quote(self.syntax.quote.unwrap_or(b'"'))
            .comment(self.syntax.comment)
            .build();
        // csv-core takes a byte order mark off the first record that it sees: this one.
        core.read_record(b"\n", &mut self.fields, &mut self.ends);
        core
    }

    /// A splitter of text that another one cut off.
    pub(super) fn of(cut: Cut, syntax: Syntax) -> Self {
        let Cut {
            text,
            bytes,
            is_ascii,
            line_end,
            line,
        } = cut;
        Splitter {
            ascii_from: if is_ascii { 0 } else { bytes },
            filled: bytes,
            is_at_end: true,
            // Its first record is not the file's.
            ends_used: 1,
            line_end,
            next_line: line,
            ..Splitter::with_buffer(Box::new(io::empty()), syntax, text)
        }
    }

    /// The memory of the text, to be used again.
    pub(super) fn into_memory(self) -> Vec<u8> {
        self.buffer
    }

    /// Cuts records off that another splitter can split, about so many bytes of text without quotes, into this memory. `None` if the text
    /// to come has quotes, is at its end, or its first record is longer.
    pub(super) fn cut(&mut self, bytes: usize, memory: &mut Vec<u8>) -> io::Result<Option<Cut>> {
        self.start = self.at;
        let rest = self.filled - self.at;
        if is_line_end(self.syntax.delimiter)
            || self.ends_used == 0
            || self.line_end != Some(LineEnd::Newline)
            || self.at < self.unquoted_from
        {
            return Ok(None);
        }
        let bytes = bytes.max(rest);
        if memory.len() < bytes {
            memory.resize(bytes, 0);
        }
        memory[..rest].copy_from_slice(&self.buffer[self.at..self.filled]);
        let mut filled = rest;
        while filled < bytes && !self.is_at_end {
            match self.input.read(&mut memory[filled..bytes]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => {
                    let read = read?;
                    filled += read;
                    self.is_at_end = read == 0;
                }
            }
        }
        let text = &memory[..filled];
        let has_quotes = self.syntax.is_marked(text);
        let end = match memchr::memrchr(b'\n', text) {
            Some(at) if !has_quotes => at + 1,
            _ => 0,
        };
        let is_ascii = text.is_ascii();
        self.keep(&text[end..], has_quotes, is_ascii);
        if end == 0 {
            return Ok(None);
        }
        let line = self.next_line;
        self.next_line += memchr::memchr_iter(b'\n', &text[..end]).count() as u64;
        Ok(Some(Cut {
            text: std::mem::take(memory),
            bytes: end,
            is_ascii,
            line_end: self.line_end,
            line,
        }))
    }

    /// Sets the text that was read and not split.
    fn keep(&mut self, text: &[u8], has_quotes: bool, is_ascii: bool) {
        if self.buffer.len() < text.len() {
            self.buffer.resize(text.len(), 0);
        }
        self.buffer[..text.len()].copy_from_slice(text);
        (self.start, self.at, self.filled) = (0, 0, text.len());
        self.unquoted_from = if has_quotes { text.len() } else { 0 };
        self.ascii_from = if is_ascii { 0 } else { text.len() };
    }

    /// Splits the next record off; false where there is none.
    #[inline]
    pub(super) fn next(&mut self) -> io::Result<bool> {
        self.is_plain = self.begin()? || self.split_plain();
        Ok(self.is_plain || self.split_any()?)
    }

    /// What is wrong with the last record if it has a line end of another kind than the lines before, outside of quotes. The
    /// bytes of the record go on to the end of the line.
    #[inline]
    pub(super) fn other_line_end(&self) -> Option<&'static str> {
        match self.line_end {
            _ if !self.has_other_line_end => None,
            Some(LineEnd::Return) => Some(
                "the line has a line feed (LF) without quotes, and the lines before end with CR",
            ),
            _ => Some(
                "the line has a carriage return (CR) without quotes, and the lines before end with LF",
            ),
        }
    }

    /// Takes blank lines for records from here on.
    pub(super) fn keep_blank_lines(&mut self) {
        self.syntax.keeps_blank_lines = true;
    }

    /// Takes the number of blank lines that were left out since it was asked last, and the first one.
    #[inline]
    pub(super) fn take_blank_lines(&mut self) -> Option<(u64, u64)> {
        self.blank_lines
            .is_some()
            .then(|| self.blank_lines.take())?
    }

    /// Goes to the beginning of the next record, behind blank lines and comments. Returns whether a blank line is the record.
    #[inline]
    fn begin(&mut self) -> io::Result<bool> {
        self.start = self.at;
        self.has_other_line_end = false;
        // Most often, a record begins here.
        match self.buffer[self.at..self.filled].first() {
            Some(&first)
                if self.ends_used > 0
                    && !self.syntax.is_line_end(first)
                    && Some(first) != self.syntax.comment =>
            {
                Ok(false)
            }
            _ => self.skip(),
        }
    }

    fn skip(&mut self) -> io::Result<bool> {
        if self.ends_used == 0 {
            while self.filled - self.at < BOM.len() && !self.is_at_end {
                self.fill()?;
            }
            if self.buffer[self.at..self.filled].starts_with(BOM) {
                self.at += BOM.len();
            }
        }
        loop {
            self.start = self.at;
            match self.peek()? {
                Some(byte) if self.syntax.is_line_end(byte) => {
                    let line = self.next_line;
                    self.at += 1;
                    self.end_line()?;
                    if self.syntax.keeps_blank_lines || self.has_other_line_end {
                        self.line = line;
                        (self.ends[0], self.ends_used) = (0, 1);
                        return Ok(true);
                    }
                    let (count, first) = self.blank_lines.unwrap_or((0, line));
                    self.blank_lines = Some((count + 1, first));
                }
                Some(byte) if Some(byte) == self.syntax.comment => self.go_to(b'\n')?,
                _ => return Ok(false),
            }
        }
    }

    /// The next byte, if there is one.
    fn peek(&mut self) -> io::Result<Option<u8>> {
        if self.at == self.filled && !self.is_at_end {
            self.fill()?;
        }
        Ok(self.buffer[self.at..self.filled].first().copied())
    }

    /// Goes behind the next such byte, or to the end.
    fn go_to(&mut self, byte: u8) -> io::Result<()> {
        while self.peek()?.is_some() {
            let rest = &self.buffer[self.at..self.filled];
            let found = memchr::memchr(byte, rest);
            let bytes = found.map_or(rest.len(), |at| at + 1);
            self.next_line += newlines(&rest[..bytes]);
            self.at += bytes;
            if found.is_some() {
                break;
            }
        }
        Ok(())
    }

    /// Goes behind a line end whose first byte is the last one, unless that was the end of the text. The first one decides which
    /// ones there are; a record with another one is marked and goes on.
    fn end_line(&mut self) -> io::Result<()> {
        let byte = self.buffer[self.at - 1];
        let end = match byte {
            b'\n' => LineEnd::Newline,
            b'\r' if self.peek()? == Some(b'\n') => {
                self.at += 1;
                LineEnd::Newline
            }
            b'\r' => LineEnd::Return,
            _ => return Ok(()),
        };
        self.next_line += u64::from(end == LineEnd::Newline);
        let usual = *self.line_end.get_or_insert(end);
        if end != usual {
            self.has_other_line_end = true;
            return self.go_to(match usual {
                LineEnd::Newline => b'\n',
                LineEnd::Return => b'\r',
            });
        }
        Ok(())
    }

    /// Splits the next record off if it has no quotes and is read to its end.
    fn split_plain(&mut self) -> bool {
        if is_line_end(self.syntax.delimiter) || self.ends_used == 0 {
            return false;
        }
        let rest = &self.buffer[self.at..self.filled];
        let mut ends = 0;
        for end in memchr::memchr3_iter(self.syntax.delimiter, b'\n', b'\r', rest) {
            if ends == self.ends.len() {
                self.ends.resize(ends * 2, 0);
            }
            self.ends[ends] = end;
            ends += 1;
            if rest[end] == b'\r' && !self.syntax.is_line_end(b'\r') {
                return false;
            }
            let bytes = match (rest[end], rest.get(end + 1)) {
                (b'\n', _) => 1,
                (b'\r', Some(b'\n')) => 2,
                (b'\r', Some(_)) => 0,
                (b'\r', None) => return false,
                _ => continue,
            };
            if self.at < self.unquoted_from && self.syntax.is_marked(&rest[..end]) {
                return false;
            }
            let is_usual = match self.line_end {
                Some(LineEnd::Newline) => bytes > 0,
                Some(LineEnd::Return) => bytes == 0,
                None => false,
            };
            if !is_usual {
                return false;
            }
            self.ends_used = ends;
            self.line = self.next_line;
            self.next_line += u64::from(bytes > 0);
            self.at += end + bytes.max(1);
            return true;
        }
        false
    }

    /// Splits off the next record, valid or not.
    fn split_any(&mut self) -> io::Result<bool> {
        if self.peek()?.is_none() {
            return Ok(false);
        }
        if let Some(escapes) = self.syntax.escapes {
            self.split_escaped(escapes)?;
            return Ok(true);
        }
        let mut core = match self.core.take() {
            Some(core) => core,
            None => self.new_core(),
        };
        core.set_line(self.next_line);
        self.split_by(&mut core)?;
        self.line = self.next_line;
        // The line end is counted below.
        let is_ended = self.buffer[self.at - 1] == b'\n';
        self.next_line = core.line() - u64::from(is_ended);
        self.core = Some(core);
        self.end_line()?;
        Ok(true)
    }

    /// The same where characters may be escaped.
    fn split_escaped(&mut self, escapes: Escapes) -> io::Result<()> {
        let (bytes, escaped) = loop {
            let text = &self.buffer[self.at..self.filled];
            let fields = (&mut self.fields, &mut self.ends);
            match escapes::split(text, self.is_at_end, &self.syntax, escapes, fields) {
                Some(split) => break split,
                None => self.fill()?,
            }
        };
        self.ends_used = self.ends.len();
        self.escaped = escaped;
        self.line = self.next_line;
        let record = &self.buffer[self.at..self.at + bytes];
        let is_ended = record.last() == Some(&b'\n');
        self.next_line += newlines(record) - u64::from(is_ended);
        self.at += bytes;
        self.end_line()
    }

    /// Finds out which fields of the last record are in quotes; none are if the list stays empty.
    ///
    /// # Errors
    /// [`Broken`] if a quote is never closed, or text follows it.
    pub(super) fn look(&mut self, is_quoted: &mut Vec<bool>) -> Result<(), Broken> {
        is_quoted.clear();
        match (self.is_plain, self.syntax.escapes, self.syntax.quote) {
            (true, ..) | (_, None, None) => Ok(()),
            (_, Some(_), _) => {
                is_quoted.extend(&self.escaped.is_quoted);
                self.escaped.broken.take().map_or(Ok(()), Err)
            }
            (_, None, Some(quote)) => {
                let record = self.record();
                match memchr::memchr(quote, record) {
                    Some(_) => quoting::look(record, self.syntax.delimiter, quote, is_quoted),
                    None => Ok(()),
                }
            }
        }
    }

    /// A field of the last record as it is in the file, if there is an escape character.
    pub(super) fn raw(&self, field: usize) -> Option<&[u8]> {
        let range = self.escaped.raw.get(field)?.clone();
        (!self.is_plain && self.syntax.escapes.is_some()).then(|| &self.record()[range])
    }

    /// The same, by this parser.
    fn split_by(&mut self, core: &mut csv_core::Reader) -> io::Result<()> {
        let (mut bytes, mut ends) = (0, 0);
        loop {
            if self.at == self.filled && !self.is_at_end {
                self.fill()?;
            }
            let (result, read, written, ended) = core.read_record(
                &self.buffer[self.at..self.filled],
                &mut self.fields[bytes..],
                &mut self.ends[ends..],
            );
            self.at += read;
            bytes += written;
            ends += ended;
            match result {
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull => self.fields.resize(self.fields.len() * 2, 0),
                ReadRecordResult::OutputEndsFull => self.ends.resize(self.ends.len() * 2, 0),
                ReadRecordResult::Record | ReadRecordResult::End => break,
            }
        }
        self.ends_used = ends;
        Ok(())
    }

    /// Reads on, behind the bytes of the record that has begun.
    fn fill(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.start..self.filled, 0);
        self.at -= self.start;
        self.filled -= self.start;
        self.unquoted_from = self.unquoted_from.saturating_sub(self.start);
        self.ascii_from = self.ascii_from.saturating_sub(self.start);
        self.start = 0;
        if self.filled == self.buffer.len() {
            if self.filled > ROW_BYTES_MAX {
                return Err(io::Error::other(
                    "the row has more than 1,000,000,000 bytes, SQLite's limit (is a quote not closed?)",
                ));
            }
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        let read = loop {
            match self.input.read(&mut self.buffer[self.filled..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        let new = &self.buffer[self.filled..][..read];
        self.filled += read;
        self.is_at_end = read == 0;
        if self.syntax.is_marked(new) {
            self.unquoted_from = self.filled;
        }
        if !new.is_ascii() {
            self.ascii_from = self.filled;
        }
        Ok(())
    }

    /// The last record's bytes as they are in the file, most often with its line end.
    pub(super) fn record(&self) -> &[u8] {
        &self.buffer[self.start..self.at]
    }

    /// The line the last record begins on, from 1.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// The line that would be read next.
    pub(super) fn next_line(&self) -> u64 {
        self.next_line
    }

    pub(super) fn syntax(&self) -> Syntax {
        self.syntax
    }

    /// The number of fields of the last record.
    pub(super) fn len(&self) -> usize {
        self.ends_used
    }

    /// Whether the last record is known to have no quotes.
    pub(super) fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Whether the last record is known to be ASCII.
    pub(super) fn is_ascii(&self) -> bool {
        self.start >= self.ascii_from
    }

    /// The last record's fields, unquoted.
    pub(super) fn fields(&self) -> impl Iterator<Item = &[u8]> {
        let text = self.text();
        self.ranges().map(|range| &text[range])
    }

    /// The bytes of the last record.
    #[inline]
    pub(super) fn text(&self) -> &[u8] {
        match (self.is_plain, self.ends[..self.ends_used].last()) {
            (true, Some(end)) => &self.record()[..*end],
            (false, Some(end)) => &self.fields[..*end],
            (_, None) => &[],
        }
    }

    /// Which parts of [`text`](Self::text) they are.
    #[inline]
    pub(super) fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        let gap_bytes = usize::from(self.is_plain);
        let ends = &self.ends[..self.ends_used];
        let starts = std::iter::once(0).chain(ends.iter().map(move |end| end + gap_bytes));
        starts.zip(ends).map(|(start, end)| start..*end)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use proptest::prelude::*;

    use super::*;

    /// A reader that gives a few bytes at a time.
    struct Slow(Cursor<Vec<u8>>, usize);

    impl Read for Slow {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let bytes = out.len().min(self.1);
            self.0.read(&mut out[..bytes])
        }
    }

    /// Each record's line, bytes and fields.
    type Split = Vec<(u64, Vec<u8>, Vec<Vec<u8>>)>;

    const CSV: Syntax = Syntax {
        delimiter: b',',
        quote: Some(b'"'),
        comment: None,
        keeps_blank_lines: false,
        escapes: None,
    };

    fn split(text: &[u8], syntax: Syntax, step: usize, plain: bool) -> Split {
        let slow = Slow(Cursor::new(text.to_vec()), step);
        let mut splitter = Splitter::new(Box::new(slow), syntax);
        let mut records = Vec::new();
        loop {
            let is_there = match plain {
                true => splitter.next(),
                false => match splitter.begin().expect("memory is read") {
                    true => {
                        splitter.is_plain = true;
                        Ok(true)
                    }
                    false => {
                        splitter.is_plain = false;
                        splitter.split_any()
                    }
                },
            };
            if !is_there.expect("memory is read") {
                return records;
            }
            assert_eq!(splitter.fields().count(), splitter.len());
            assert!(!splitter.is_ascii() || splitter.record().is_ascii());
            let fields = splitter.fields().map(<[u8]>::to_vec).collect();
            records.push((splitter.line(), splitter.record().to_vec(), fields));
        }
    }

    #[test]
    fn a_record_without_quotes_is_split_by_searching() {
        let text = Box::new(&b"a,b\r\n1,2\r\n\n,\n\"x\",3\n4,5"[..]);
        let mut splitter = Splitter::new(text, CSV);
        let mut plain = Vec::new();
        while splitter.next().expect("memory is read") {
            plain.push(splitter.is_plain());
        }
        assert_eq!(plain, [false, true, true, false, false]);
    }

    #[test]
    fn comments_are_no_records() {
        let text = b"# \"a\n\r\n#b\nx,y\n1,#2\n#,\"\n3,4\n#end";
        let syntax = Syntax {
            comment: Some(b'#'),
            ..CSV
        };
        let records = split(text, syntax, 3, true);
        let lines: Vec<u64> = records.iter().map(|(line, ..)| *line).collect();
        assert_eq!(lines, [4, 5, 7]);
        assert_eq!(records[2].1, b"3,4\n");
    }

    #[test]
    fn blank_lines_are_counted_or_records() {
        let text = b"\n\r\na\n\n1\n\r\n#x\n\n3\n\n";
        for keeps_blank_lines in [false, true] {
            let syntax = Syntax {
                comment: Some(b'#'),
                keeps_blank_lines,
                ..CSV
            };
            let mut splitter = Splitter::new(Box::new(&text[..]), syntax);
            let mut found = Vec::new();
            while splitter.next().expect("memory is read") {
                let field = String::from_utf8_lossy(splitter.text()).into_owned();
                found.push(format!("{}{field}", splitter.line()));
            }
            let (records, counted): (&[&str], _) = match keeps_blank_lines {
                true => (&["1", "2", "3a", "4", "51", "6", "8", "93", "10"], None),
                false => (&["3a", "51", "93"], Some((6, 1))),
            };
            assert_eq!(found, records);
            assert_eq!(splitter.take_blank_lines(), counted);
        }
    }

    #[test]
    fn a_line_end_unlike_the_first_one_is_marked() {
        for (text, marked) in [
            (&b"a,b\n1,x\ry,2\n3,4\r\n5,6\n"[..], &[2][..]),
            (b"a,b\r\n1,2\r3,4\r\n5,\"\r\"\r\n7,8\r", &[2, 4]),
            (b"a,b\r1,2\r3,4\n5,6\r7,8", &[3]),
            (b"a,b\r1,2\r3,\"x\ny\"\r5,6\r", &[]),
            (b"a,b\n1,2\n\r3,4\n", &[3]),
        ] {
            for step in [1, 64] {
                let slow = Slow(Cursor::new(text.to_vec()), step);
                let mut splitter = Splitter::new(Box::new(slow), CSV);
                let (mut records, mut found) = (0, Vec::new());
                while splitter.next().expect("memory is read") {
                    records += 1;
                    found.extend(splitter.other_line_end().map(|_| records));
                }
                assert_eq!(found, marked, "{}", String::from_utf8_lossy(text));
            }
        }
    }

    /// Splits with cuts of so many bytes wherever one is possible.
    fn split_in_parts(text: &[u8], syntax: Syntax, step: usize, bytes: usize) -> Split {
        let slow = Slow(Cursor::new(text.to_vec()), step);
        let mut splitter = Splitter::new(Box::new(slow), syntax);
        let (mut records, mut memory) = (Vec::new(), Vec::new());
        let record = |splitter: &Splitter| {
            assert!(!splitter.is_ascii() || splitter.record().is_ascii());
            let fields = splitter.fields().map(<[u8]>::to_vec).collect();
            (splitter.line(), splitter.record().to_vec(), fields)
        };
        loop {
            let cut = splitter.cut(bytes, &mut memory);
            if let Some(cut) = cut.expect("memory is read") {
                let mut part = Splitter::of(cut, syntax);
                while part.next().expect("memory is read") {
                    records.push(record(&part));
                }
                memory = part.into_memory();
            } else if splitter.next().expect("memory is read") {
                records.push(record(&splitter));
            } else {
                return records;
            }
        }
    }

    #[test]
    fn text_without_quotes_is_cut_in_parts() {
        let text = b"a,b\n1,2\n3,\xc3\xa4\n5";
        let mut splitter = Splitter::new(Box::new(&text[..]), CSV);
        assert!(splitter.next().expect("memory is read"));
        let mut memory = Vec::new();
        let cut = splitter.cut(64, &mut memory).expect("memory is read");
        let cut = cut.expect("there are no quotes");
        assert_eq!((cut.bytes, cut.line, cut.is_ascii), (9, 2, false));
        assert_eq!(splitter.next_line(), 4);
        assert!(
            splitter
                .cut(64, &mut memory)
                .expect("memory is read")
                .is_none()
        );
        let text = b"a,b\r\n1,2\r\n\n\n3,\xc3\xa4\n4,\"5\"\n6,7\n8,9";
        for bytes in [8, 16, 64] {
            assert_eq!(
                split_in_parts(text, CSV, 3, bytes),
                split(text, CSV, 3, true)
            );
        }
    }

    proptest! {
        #[test]
        fn cuts_do_not_change_records(
            text in prop::collection::vec(prop::sample::select(&b"ab,;#\t\"'\r\n\n\n\xef\xbb\xbf\0"[..]), 0..200),
            quote in prop::sample::select(&[None, Some(b'"'), Some(b'\'')][..]),
            comment in prop::sample::select(&[None, Some(b'#')][..]),
            keeps_blank_lines: bool,
            step in prop::sample::select(&[1usize, 7, 64, 1 << 16][..]),
            bytes in prop::sample::select(&[2usize, 8, 16, 64, 256][..]),
        ) {
            let syntax = Syntax { delimiter: b',', quote, comment, keeps_blank_lines, escapes: None };
            prop_assert_eq!(
                split_in_parts(&text, syntax, step, bytes),
                split(&text, syntax, step, true)
            );
        }

        #[test]
        fn searching_splits_any_bytes_as_csv_core_does(
            text in prop::collection::vec(prop::sample::select(&b"ab,;#\t\"'\r\n\xef\xbb\xbf\0"[..]), 0..200),
            delimiter in prop::sample::select(&b",;\t\n"[..]),
            quote in prop::sample::select(&[None, Some(b'"'), Some(b'\'')][..]),
            comment in prop::sample::select(&[None, Some(b'#')][..]),
            keeps_blank_lines: bool,
            step in prop::sample::select(&[1usize, 2, 7, 64, 1 << 16][..]),
        ) {
            let syntax = Syntax { delimiter, quote, comment, keeps_blank_lines, escapes: None };
            prop_assert_eq!(
                split(&text, syntax, step, true),
                split(&text, syntax, step, false)
            );
        }

        #[test]
        fn searching_splits_records_of_many_fields_as_csv_core_does(
            fields in prop::collection::vec(0usize..300, 1..20),
        ) {
            let record = |fields: &usize| format!("{}\n", vec!["x"; *fields].join(","));
            let text: String = fields.iter().map(record).collect();
            prop_assert_eq!(
                split(text.as_bytes(), CSV, 1 << 16, true),
                split(text.as_bytes(), CSV, 1 << 16, false)
            );
        }
    }
}
