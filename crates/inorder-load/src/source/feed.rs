//! Rows read by a thread of their own, for libraries whose readers can't be kept beside what they
//! borrow from.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

use super::row::Row;
use super::{Rows, Tally};
use crate::Error;

/// Rows handed over at a time.
const ROWS_TOGETHER: usize = 512;

/// Hand-overs that may wait: what bounds the memory.
const WAITING_MAX: usize = 4;

/// The receiving end: the rows of a file.
pub(super) struct Feed {
    columns: Vec<String>,
    path: PathBuf,
    full: Option<Receiver<Vec<Row>>>,
    empty: Sender<Vec<Row>>,
    rows: Vec<Row>,
    next: usize,
    reader: Option<JoinHandle<Result<(), Error>>>,
    tally: Option<Tally>,
}

/// The sending end.
pub(super) struct Outlet {
    full: SyncSender<Vec<Row>>,
    empty: Receiver<Vec<Row>>,
    rows: Vec<Row>,
    used: usize,
    ordinal: u64,
}

/// The error of a dropped receiver.
pub(super) struct Unwanted;

impl Feed {
    /// Starts to read. `read` fills rows through the outlet until there are none or they are unwanted.
    pub(super) fn start(
        columns: Vec<String>,
        path: PathBuf,
        read: impl FnOnce(&mut Outlet) -> Result<(), Error> + Send + 'static,
    ) -> Self {
        let (full, from_reader) = sync_channel(WAITING_MAX);
        let (to_reader, empty) = channel();
        let reader = std::thread::spawn(move || {
            let mut outlet = Outlet {
                full,
                empty,
                rows: Vec::new(),
                used: 0,
                ordinal: 0,
            };
            let read = read(&mut outlet);
            // Rows before an error are still delivered.
            _ = outlet.hand_over();
            read
        });
        Feed {
            columns,
            path,
            full: Some(from_reader),
            empty: to_reader,
            rows: Vec::new(),
            next: 0,
            reader: Some(reader),
            tally: None,
        }
    }

    /// The same rows, with a count that the reader keeps.
    #[cfg(feature = "parquet")]
    pub(super) fn with_tally(mut self, tally: Tally) -> Self {
        self.tally = Some(tally);
        self
    }

    /// Takes the next rows; false at the end.
    fn refill(&mut self) -> Result<bool, Error> {
        let used = std::mem::take(&mut self.rows);
        _ = self.empty.send(used);
        self.next = 0;
        if let Some(rows) = self.full.as_ref().and_then(|full| full.recv().ok()) {
            self.rows = rows;
            return Ok(true);
        }
        match self.reader.take().map(JoinHandle::join) {
            Some(Ok(read)) => read.map(|()| false),
            // Parsers of binary files panic at some that are damaged.
            Some(Err(_)) => Err(Error::Unreadable {
                path: self.path.clone(),
                what: "its reader gave up".to_owned(),
            }),
            None => Ok(false),
        }
    }
}

impl Rows for Feed {
    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn next(&mut self, row: &mut Row) -> Result<bool, Error> {
        while self.next == self.rows.len() {
            if !self.refill()? {
                return Ok(false);
            }
        }
        std::mem::swap(row, &mut self.rows[self.next]);
        self.next += 1;
        Ok(true)
    }

    fn tally(&self) -> Option<Tally> {
        self.tally.clone()
    }

    /// Those of Parquet: databases have numbers.
    fn has_decimals(&self) -> bool {
        true
    }
}

impl Drop for Feed {
    /// Ends the reading thread, which can no longer deliver rows.
    fn drop(&mut self) {
        self.full = None;
        if let Some(reader) = self.reader.take() {
            _ = reader.join();
        }
    }
}

impl Outlet {
    /// An empty row to fill.
    ///
    /// # Errors
    /// [`Unwanted`] if the receiver was dropped.
    pub(super) fn row(&mut self) -> Result<&mut Row, Unwanted> {
        if self.used == ROWS_TOGETHER {
            self.hand_over()?;
        }
        if self.used == self.rows.len() {
            self.rows.push(Row::default());
        }
        self.used += 1;
        self.ordinal += 1;
        let row = &mut self.rows[self.used - 1];
        row.begin(self.ordinal);
        Ok(row)
    }

    fn hand_over(&mut self) -> Result<(), Unwanted> {
        let empty = self.empty.try_recv().unwrap_or_default();
        let mut rows = std::mem::replace(&mut self.rows, empty);
        rows.truncate(self.used);
        self.used = 0;
        self.full.send(rows).map_err(|_| Unwanted)
    }
}
