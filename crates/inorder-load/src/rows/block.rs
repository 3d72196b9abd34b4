//! Rows of the inputs that one thread reads and encodes together.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::inputs::{Header, Inputs, Part};
use super::rejects::Rejects;
use crate::Error;
use crate::note::Note;
use crate::order::Origin;
use crate::source::Row;

/// Rows that are read together, and the bytes from which they are.
const ROWS_MAX: usize = 1024;
const BYTES_MAX: usize = 1 << 17;

/// The inputs, block by block, for one thread or several.
///
/// A thread has the inputs to itself while it takes a block, and encodes the block beside the other threads. So the
/// same thread reads and encodes a row: to hand rows over cost half as much as to read them.
pub(crate) struct Blocks<'a> {
    inputs: Inputs<'a>,
    columns_version: (usize, usize),
    /// The columns of the rows to come, and how often they changed.
    header: Arc<Header>,
    headers: u64,
    taken: u64,
    has_ended: bool,
}

/// Rows one after another, and what comes after them. Its memory is used again.
#[derive(Default)]
pub(crate) struct Block {
    /// The place of the block among all.
    number: u64,
    /// Rows that are yet to be split, in place of those here.
    part: Option<Part>,
    memory: Vec<u8>,
    rows: Vec<Row>,
    /// The origin of each row that is in use.
    origins: Vec<Origin>,
    /// The columns of the rows, and from which row on they are others. Each has a number.
    header: Arc<Header>,
    header_number: u64,
    headers: Vec<(usize, Arc<Header>)>,
    next: usize,
    after: After,
}

/// What may follow a block.
pub(crate) enum Next {
    /// Further rows.
    Rows,
    /// Further rows, after one that was rejected.
    Rejected,
    /// Nothing.
    Nothing,
}

/// What comes after the rows of a block.
#[derive(Default)]
enum After {
    /// Further rows.
    #[default]
    Rows,
    /// A malformed row.
    Bad(Box<Bad>),
    /// An error that ends the load.
    Failed(Box<Error>),
    /// Nothing.
    End,
}

/// A malformed row: its error, its file and its text.
struct Bad {
    error: Error,
    path: PathBuf,
    text: Vec<u8>,
}

impl<'a> Blocks<'a> {
    /// The rows of these inputs, whose first ones had these columns.
    pub(crate) fn new(inputs: Inputs<'a>, header: Header) -> Self {
        Blocks {
            columns_version: inputs.columns_version(),
            inputs,
            header: Arc::new(header),
            headers: 0,
            taken: 0,
            has_ended: false,
        }
    }

    /// Whether the last block was taken.
    pub(crate) fn have_ended(&self) -> bool {
        self.has_ended
    }

    /// The blocks taken so far.
    pub(crate) fn taken(&self) -> u64 {
        self.taken
    }

    /// What is to be said about the inputs.
    pub(crate) fn remarks(&self) -> Vec<Note> {
        self.inputs.remarks()
    }

    /// Takes the next block. With `part_bytes`, it may be about so many bytes of text that are yet to be split.
    pub(crate) fn take(&mut self, block: &mut Block, part_bytes: Option<usize>) {
        block.begin(self.taken, &self.header, self.headers);
        self.taken += 1;
        match part_bytes.map(|bytes| self.part(block, bytes)) {
            Some(Ok(true)) => return,
            Some(Err(error)) => block.after = After::Failed(Box::new(error)),
            Some(Ok(false)) | None => self.fill(block),
        }
        self.has_ended = matches!(block.after, After::Failed(_) | After::End);
    }

    /// Takes a part of the open file as the block, if that is possible.
    fn part(&mut self, block: &mut Block, bytes: usize) -> Result<bool, Error> {
        if !self.inputs.is_open()? || self.inputs.columns_version() != self.columns_version {
            return Ok(false);
        }
        block.part = self.inputs.part(bytes, &mut block.memory)?;
        Ok(block.part.is_some())
    }

    /// Reads rows until there are enough, one can't be read or there are none.
    fn fill(&mut self, block: &mut Block) {
        let mut bytes = 0;
        while block.origins.len() < ROWS_MAX && bytes < BYTES_MAX {
            match self.read(block) {
                Ok(row_bytes) => bytes += row_bytes,
                Err(after) => {
                    block.after = after;
                    return;
                }
            }
        }
    }

    /// Reads a row. Returns its bytes, or what is there instead.
    #[inline]
    fn read(&mut self, block: &mut Block) -> Result<usize, After> {
        let inputs = &mut self.inputs;
        let at = block.origins.len();
        if at == block.rows.len() {
            block.rows.push(Row::default());
        }
        let row = &mut block.rows[at];
        loop {
            match inputs.is_open() {
                Ok(true) => {}
                Ok(false) => return Err(After::End),
                Err(error) => return Err(After::Failed(Box::new(error))),
            }
            match inputs.read(row) {
                Ok(true) => break,
                Ok(false) => {}
                Err(error) => return Err(wrong(error, &inputs.path(), inputs.last())),
            }
        }
        if inputs.columns_version() != self.columns_version {
            self.columns_version = inputs.columns_version();
            self.header = Arc::new(inputs.header());
            self.headers += 1;
            block.headers.push((at, Arc::clone(&self.header)));
        }
        block.origins.push(inputs.origin(row));
        Ok(row.bytes_len())
    }
}

impl Block {
    fn begin(&mut self, number: u64, header: &Arc<Header>, header_number: u64) {
        if let Some(part) = self.part.take() {
            self.memory = part.into_memory();
        }
        self.number = number;
        self.header = Arc::clone(header);
        self.header_number = header_number;
        self.origins.clear();
        self.headers.clear();
        self.next = 0;
        self.after = After::Rows;
    }

    /// The place of the block among all.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// About how many bytes its rows have.
    pub(crate) fn bytes(&self) -> usize {
        match &self.part {
            Some(part) => part.bytes(),
            None => self.rows[..self.origins.len()]
                .iter()
                .map(Row::bytes_len)
                .sum(),
        }
    }

    /// The next row and its origin; `None` if no other can be read.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<(&Row, Origin)> {
        if self.part.is_some() {
            return self.next_of_part();
        }
        let at = self.next;
        let origin = *self.origins.get(at)?;
        self.next += 1;
        Some((&self.rows[at], origin))
    }

    #[inline]
    fn next_of_part(&mut self) -> Option<(&Row, Origin)> {
        if self.rows.is_empty() {
            self.rows.push(Row::default());
        }
        let part = self.part.as_mut()?;
        match part.next(&mut self.rows[0]) {
            Ok(origin) => origin.map(|origin| (&self.rows[0], origin)),
            Err(error) => {
                self.after = wrong(error, part.path(), part.last());
                None
            }
        }
    }

    /// The columns of the next row, if they are not those of this number. Sets the number to theirs.
    #[inline]
    pub(crate) fn other_header(&self, number: &mut u64) -> Option<&Header> {
        let changed = self
            .headers
            .iter()
            .take_while(|(from, _)| *from <= self.next)
            .count();
        let own = self.header_number + changed as u64;
        if own == *number {
            return None;
        }
        *number = own;
        Some(match changed {
            0 => &self.header,
            changes => &self.headers[changes - 1].1,
        })
    }

    /// Whether all rows can be read.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self.after, After::Rows | After::End)
    }

    /// Ends the block: rejects the row that can't be read, if there is one. Returns whether further rows may follow.
    ///
    /// # Errors
    /// Those of [`Rejects::bad`], and any error that ends the input.
    pub(crate) fn end(&mut self, rejects: &mut Rejects) -> Result<Next, Error> {
        match std::mem::take(&mut self.after) {
            After::Rows => Ok(Next::Rows),
            After::Bad(bad) => {
                let Bad { error, path, text } = *bad;
                rejects.unreadable(&path, &text, error)?;
                Ok(Next::Rejected)
            }
            After::Failed(error) => Err(*error),
            After::End => {
                self.after = After::End;
                Ok(Next::Nothing)
            }
        }
    }
}

/// What comes next where the last row can't be read.
#[cold]
fn wrong(error: Error, path: &Path, last: &[u8]) -> After {
    match error {
        Error::Malformed { .. } => After::Bad(Box::new(Bad {
            error,
            path: path.to_owned(),
            text: last.to_owned(),
        })),
        fatal => After::Failed(Box::new(fatal)),
    }
}
