//! The rows of a table on their way to the destination.

use std::sync::mpsc::Receiver;
use std::thread::ScopedJoinHandle;

use crate::error::Error;
use crate::model::Table;
use crate::stop::Stop;
use crate::value::Content;

/// The result of a thread that reads rows.
type Reader<'s> = ScopedJoinHandle<'s, Result<Content, Error>>;

/// Rows that another thread reads, and the proof that a copy has all of them.
pub struct Incoming<'s> {
    table: &'s Table,
    stop: &'s Stop,
    rows: Receiver<Vec<u8>>,
    /// Until it has ended.
    reader: Option<Reader<'s>>,
    /// What it read, from then on.
    content: Content,
}

impl<'s> Incoming<'s> {
    pub fn new(
        table: &'s Table,
        stop: &'s Stop,
        rows: Receiver<Vec<u8>>,
        reader: Reader<'s>,
    ) -> Self {
        Incoming {
            table,
            stop,
            rows,
            reader: Some(reader),
            content: Content::default(),
        }
    }

    /// Tells whether the copy is to end.
    pub fn stop(&self) -> &'s Stop {
        self.stop
    }

    /// Returns the next rows in canonical form, end to end; `None` after the last.
    ///
    /// # Errors
    /// If the source can't be read to its end, or the copy is stopped.
    pub fn next(&mut self) -> Result<Option<Vec<u8>>, Error> {
        if let Ok(rows) = self.rows.recv() {
            return Ok(Some(rows));
        }
        if let Some(reader) = self.reader.take() {
            self.content = joined(reader)?;
        }
        Ok(None)
    }

    /// Compares all rows with those in the destination. Returns what to record about the table.
    ///
    /// # Errors
    /// [`Error::Differs`] if they are not the same.
    pub fn prove(&self, stored: &Content) -> Result<String, Error> {
        assert!(self.reader.is_none(), "the rows were taken to the last");
        if *stored == self.content {
            return Ok(self.content.text());
        }
        let columns = self.content.differences(stored);
        let name = |at: usize| format!("`{}`", self.table.columns[at].name);
        let names: Vec<String> = columns.into_iter().map(name).collect();
        Err(Error::Differs {
            table: self.table.name.clone(),
            read: self.content.rows,
            stored: stored.rows,
            what: match names.is_empty() {
                true => "their rows".to_owned(),
                false => names.join(", "),
            },
        })
    }

    /// Ends the reader. Returns what was read, and what the destination returned.
    ///
    /// # Errors
    /// An error of one side ends the other: the first cause is returned.
    pub fn end<T>(self, written: Result<T, Error>) -> Result<(Content, T), Error> {
        let Incoming {
            rows,
            reader,
            content,
            ..
        } = self;
        // A reader whose rows nobody takes ends.
        drop(rows);
        match (reader.map(joined).transpose(), written) {
            (Ok(_) | Err(Error::Stopped), Err(error)) | (Err(error), _) => Err(error),
            (Ok(_), Ok(written)) => Ok((content, written)),
        }
    }
}

fn joined(reader: Reader<'_>) -> Result<Content, Error> {
    let read = reader.join();
    read.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
