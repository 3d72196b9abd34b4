//! Records of delimited text, split by `csv-core` out of large reads.

use std::io::{self, Read};

use csv_core::ReadRecordResult;

use super::row::ROW_BYTES_MAX;

const BUFFER_BYTES: usize = 1 << 18;

/// Splits text into records and keeps the bytes each was read from.
pub(super) struct Splitter {
    text: Box<dyn Read + Send>,
    core: csv_core::Reader,
    /// Read but not split, from `at` to `filled`; the last record begins at `start`.
    buffer: Vec<u8>,
    start: usize,
    at: usize,
    filled: usize,
    is_at_end: bool,
    /// The last record's fields, end to end without quotes and delimiters, and where each ends.
    fields: Vec<u8>,
    ends: Vec<usize>,
    ends_used: usize,
    line: u64,
}

impl Splitter {
    pub(super) fn new(text: Box<dyn Read + Send>, core: csv_core::Reader) -> Self {
        Splitter {
            text,
            core,
            buffer: vec![0; BUFFER_BYTES],
            start: 0,
            at: 0,
            filled: 0,
            is_at_end: false,
            fields: vec![0; 1 << 12],
            ends: vec![0; 64],
            ends_used: 0,
            line: 1,
        }
    }

    /// Splits the next record off; false where there is none.
    pub(super) fn next(&mut self) -> io::Result<bool> {
        self.start = self.at;
        let line_before = self.core.line();
        let (mut bytes, mut ends) = (0, 0);
        loop {
            if self.at == self.filled && !self.is_at_end {
                self.fill()?;
            }
            let (result, read, written, ended) = self.core.read_record(
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
                ReadRecordResult::Record => break,
                ReadRecordResult::End => return Ok(false),
            }
        }
        self.ends_used = ends;
        self.line = line_before + self.skip_line_ends();
        Ok(true)
    }

    /// Blank lines, and the second half of the last record's line end, are no part of this record.
    fn skip_line_ends(&mut self) -> u64 {
        let mut lines = 0;
        while let Some(byte @ (b'\r' | b'\n')) = self.buffer[self.start..self.at].first() {
            lines += u64::from(*byte == b'\n');
            self.start += 1;
        }
        lines
    }

    /// Reads on, behind the bytes of the record that has begun.
    fn fill(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.start..self.filled, 0);
        self.at -= self.start;
        self.filled -= self.start;
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
            match self.text.read(&mut self.buffer[self.filled..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        self.filled += read;
        self.is_at_end = read == 0;
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
        self.core.line()
    }

    /// How many fields the last record has.
    pub(super) fn len(&self) -> usize {
        self.ends_used
    }

    /// The last record's fields, unquoted.
    pub(super) fn fields(&self) -> impl Iterator<Item = &[u8]> {
        let ends = &self.ends[..self.ends_used];
        let starts = std::iter::once(0).chain(ends.iter().copied());
        starts
            .zip(ends)
            .map(|(start, end)| &self.fields[start..*end])
    }
}
