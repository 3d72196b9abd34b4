//! Rows of an application's threads, written together in the order of their key.
//!
//! Threads that each insert a row dirty a page each, and wait for a sync of the disk each. In a [`Writer`] they
//! hand in rows; whatever gathers while the last batch is written, or within a short time, is sorted by the
//! table's key, inserted in one transaction, and each thread is told when its own row is durable.
//!
//! ```
//! use std::sync::Arc;
//!
//! use inorder_load::writer::{Limits, Value, Writer};
//! use inorder_sqlite::queue::WriteQueue;
//!
//! let db = rusqlite::Connection::open_in_memory()?;
//! db.execute_batch("CREATE TABLE token(id BLOB PRIMARY KEY, user INTEGER) WITHOUT ROWID")?;
//! let queue = Arc::new(WriteQueue::start(db, Default::default())?);
//! let writer = Writer::new(Arc::clone(&queue), "token", &["id", "user"], Limits::default())?;
//! std::thread::scope(|scope| {
//!     for user in 0..8 {
//!         let writer = &writer;
//!         scope.spawn(move || {
//!             let mut id = [0; 20];
//!             inorder_key::fill_random(&mut id);
//!             // Returns when the row is committed.
//!             writer.insert(&[Value::Blob(&id), Value::Integer(user)]).expect("a new id");
//!         });
//!     }
//! });
//! let twice = [Value::Blob(b"same"), Value::Integer(1)];
//! writer.insert(&twice)?;
//! assert!(writer.insert(&twice).is_err()); // and nobody else's row suffers from it
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod pending;

use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use inorder_btree::{KeyOrder, TextEncoding};
use inorder_sqlite::queue::{self, WriteQueue};
use rusqlite::Connection;

use crate::destination::describe;
use crate::order::Sorted;
use crate::sql::{bind, is_of_a_row, quoted};
use pending::{Pending, Taken};

pub use inorder_btree::Value;

/// Why a row was not written.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The table or a column isn't there.
    #[error("{0}")]
    Table(Arc<crate::Error>),
    /// A row has another number of values than the writer has columns.
    #[error("the row has {found} values, the writer {expected} columns")]
    Values {
        /// Columns of the writer.
        expected: usize,
        /// Values of the row.
        found: usize,
    },
    /// The database doesn't take this row; the others of its batch are not touched.
    #[error("{0}")]
    Row(Arc<rusqlite::Error>),
    /// The batch could not be written or committed.
    #[error(transparent)]
    Queue(#[from] queue::Error),
    /// The writer has ended.
    #[error("the writer has ended")]
    Ended,
}

/// When a batch is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Rows of a batch at most.
    pub batch_rows_max: usize,
    /// How long the first row of a batch waits for others. Rows that come while a batch is written are the next
    /// one in any case: zero still batches whatever a busy database makes wait.
    pub linger: Duration,
    /// Bytes of rows that may wait: whoever hands in more waits for room.
    pub waiting_bytes_max: usize,
}

impl Default for Limits {
    /// 10,000 rows, 5 ms, 64 MiB.
    fn default() -> Self {
        Limits {
            batch_rows_max: 10_000,
            linger: Duration::from_millis(5),
            waiting_bytes_max: 64 << 20,
        }
    }
}

/// Writes rows of any number of threads; see the [module](self). Dropping it writes what still waits.
pub struct Writer {
    pending: Arc<Pending>,
    thread: Option<JoinHandle<()>>,
    columns: usize,
}

impl Writer {
    /// A writer of these columns of a table, through a queue that others may use too.
    ///
    /// # Errors
    /// [`Error::Table`] where the table or a column isn't there, [`Error::Queue`] where the queue has ended.
    ///
    /// # Panics
    /// Where the system has no thread left.
    pub fn new(
        queue: Arc<WriteQueue>,
        table: &str,
        columns: &[&str],
        limits: Limits,
    ) -> Result<Self, Error> {
        let wanted: Vec<String> = columns.iter().map(|&name| name.to_owned()).collect();
        let table = table.to_owned();
        let into = quoted(&table);
        let order = queue.run(move |db| order_of(db, &table, &wanted))?;
        let names: Vec<String> = columns.iter().map(|name| quoted(name)).collect();
        let sql = format!(
            "INSERT INTO {into}({}) VALUES ({})",
            names.join(","),
            vec!["?"; columns.len()].join(",")
        );
        let pending = Arc::new(Pending::new(order, limits));
        let thread = {
            let pending = Arc::clone(&pending);
            std::thread::Builder::new()
                .name("sorted-writer".to_owned())
                .spawn(move || write_batches(&pending, &queue, &Arc::from(sql)))
                .expect("a thread")
        };
        Ok(Writer {
            pending,
            thread: Some(thread),
            columns: columns.len(),
        })
    }

    /// Inserts a row, and returns when it is committed: durable as far as the connection's settings go.
    ///
    /// # Errors
    /// [`Error::Row`] where the database doesn't take it, and others where the batch fails.
    pub fn insert(&self, row: &[Value<'_>]) -> Result<(), Error> {
        let (told, given) = mpsc::sync_channel(1);
        self.submit(row, move |inserted| _ = told.send(inserted))?;
        given.recv().unwrap_or(Err(Error::Ended))
    }

    /// Like [`Writer::insert`], without waiting for the commit: `answer` is called on a thread of the writer's and
    /// has to be quick. Waits while as many bytes wait as the limits allow.
    ///
    /// # Errors
    /// [`Error::Values`]; `answer` is not called then.
    pub fn submit(
        &self,
        row: &[Value<'_>],
        answer: impl FnOnce(Result<(), Error>) + Send + 'static,
    ) -> Result<(), Error> {
        if row.len() != self.columns {
            return Err(Error::Values {
                expected: self.columns,
                found: row.len(),
            });
        }
        self.pending.push(row, Box::new(answer));
        Ok(())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.pending.end();
        if let Some(thread) = self.thread.take() {
            _ = thread.join();
        }
    }
}

/// What rows with these columns are sorted by.
fn order_of(db: &Connection, table: &str, columns: &[String]) -> Result<Option<KeyOrder>, Error> {
    let wrong = |error| Error::Table(Arc::new(error));
    let path = db.path().unwrap_or("the database").to_owned();
    let destination = describe(db, path.as_ref(), table).map_err(wrong)?;
    let place = |name: &String| {
        destination.column(name).ok_or_else(|| {
            let names = destination
                .columns
                .iter()
                .map(|column| column.name.as_str());
            wrong(crate::source::no_such_column(path.as_ref(), name, names))
        })
    };
    let record: Vec<usize> = columns.iter().map(place).collect::<Result<_, _>>()?;
    Ok(destination.order(&record))
}

/// Writes batch after batch until the writer ends.
fn write_batches(pending: &Pending, queue: &WriteQueue, sql: &Arc<str>) {
    while let Some(Taken { rows, answers }) = pending.take() {
        let (sql, count) = (Arc::clone(sql), answers.len());
        match queue.run(move |db| insert(db, &sql, rows, count)) {
            Ok(inserted) => answers
                .into_iter()
                .zip(inserted)
                .for_each(|(answer, inserted)| answer(inserted)),
            Err(error) => answers
                .into_iter()
                .for_each(|answer| answer(Err(Error::Queue(error.clone())))),
        }
    }
}

/// Inserts rows in their order. A row that isn't taken is its own error alone.
fn insert(
    db: &Connection,
    sql: &str,
    mut rows: Sorted,
    count: usize,
) -> Result<Vec<Result<(), Error>>, queue::Error> {
    let mut statement = db.prepare_cached(sql)?;
    let mut all = Vec::with_capacity(count);
    all.resize(count, Ok(()));
    while let Ok(Some((record, row))) = rows.next() {
        bind(&mut statement, 0, record, TextEncoding::Utf8)?;
        match statement.raw_execute() {
            Ok(_) => {}
            Err(error) if is_of_a_row(&error) => {
                all[row as usize] = Err(Error::Row(Arc::new(error)))
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests;
