//! Group commit for the threads of an application, in the order of the key.
//!
//! Threads that insert one row per transaction dirty one page and wait for one sync each. A [`GroupWriter`] collects the
//! rows that arrive while the last batch is written, or within a short time. It sorts them by the table's key, inserts them
//! in one transaction, and notifies each thread when its row is durable.
//!
//! ```
//! use inorder_load::group::{GroupLimits, GroupWriter, Value, Work};
//!
//! let mut db = rusqlite::Connection::open_in_memory()?;
//! db.execute_batch("CREATE TABLE token(id BLOB PRIMARY KEY, user INTEGER) WITHOUT ROWID")?;
//! // An application that has a thread for all its writes hands the work to that.
//! let commit = move |work: Work| -> rusqlite::Result<()> {
//!     let transaction = db.transaction()?;
//!     work(&transaction)?;
//!     transaction.commit()
//! };
//! let writer = GroupWriter::new(commit, "token", &["id", "user"], GroupLimits::default())?;
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
//! assert!(writer.insert(&twice).is_err()); // and the rows of other threads are not affected
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod pending;

use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use inorder_btree::{KeyOrder, TextEncoding};
use rusqlite::Connection;

use crate::destination::describe;
use crate::order::Sorted;
use crate::sql::{bind, is_of_a_row, quoted};
use pending::{Pending, Taken};

pub use inorder_btree::Value;

/// The reason why a row was not written.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The table or a column doesn't exist.
    #[error("{0}")]
    Table(Arc<crate::Error>),
    /// The row doesn't have one value per column.
    #[error("the row has {found} values, the writer {expected} columns")]
    Values {
        /// The number of columns.
        expected: usize,
        /// The number of values.
        found: usize,
    },
    /// The database refuses this row. The other rows of its batch are not affected.
    #[error("{0}")]
    Row(Arc<rusqlite::Error>),
    /// The batch can't be written or committed.
    #[error("{0}")]
    Commit(Arc<dyn std::error::Error + Send + Sync>),
    /// The writer has ended.
    #[error("the writer has ended")]
    Ended,
}

/// Writes of one transaction.
pub type Work = Box<dyn FnOnce(&Connection) -> rusqlite::Result<()> + Send>;

/// Runs work in a transaction, and returns when it is committed.
type Commit = Box<dyn FnMut(Work) -> Result<(), Error> + Send>;

/// The limits of a batch: it is written when it reaches one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupLimits {
    /// The most rows per batch.
    pub batch_rows_max: usize,
    /// The longest time that the first row of a batch waits for others. Rows that arrive while a batch is written form
    /// the next one in
    /// any case, also with zero.
    pub linger: Duration,
    /// The most bytes of waiting rows. A thread that hands in more is blocked (back-pressure).
    pub waiting_bytes_max: usize,
}

impl Default for GroupLimits {
    /// 10,000 rows, 5 ms, 64 MiB.
    fn default() -> Self {
        GroupLimits {
            batch_rows_max: 10_000,
            linger: Duration::from_millis(5),
            waiting_bytes_max: 64 << 20,
        }
    }
}

/// Writes the rows of any number of threads; see the [module](self). Dropping it writes the rows that wait.
pub struct GroupWriter {
    pending: Arc<Pending>,
    thread: Option<JoinHandle<()>>,
    columns: usize,
}

impl GroupWriter {
    /// Starts a writer of these columns of a table. `commit` runs work in a transaction and returns when it is committed.
    ///
    /// # Errors
    /// [`Error::Table`] if the table or a column doesn't exist, [`Error::Commit`] if `commit` fails.
    ///
    /// # Panics
    /// If the system can't start a thread.
    pub fn new<E: std::error::Error + Send + Sync + 'static>(
        mut commit: impl FnMut(Work) -> Result<(), E> + Send + 'static,
        table: &str,
        columns: &[&str],
        limits: GroupLimits,
    ) -> Result<Self, Error> {
        let mut commit: Commit =
            Box::new(move |work| commit(work).map_err(|error| Error::Commit(Arc::new(error))));
        let wanted: Vec<String> = columns.iter().map(|&name| name.to_owned()).collect();
        let table = table.to_owned();
        let into = quoted(&table);
        let order = committed(&mut commit, move |db| Ok(order_of(db, &table, &wanted)))??;
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
                .spawn(move || write_batches(&pending, &mut commit, &Arc::from(sql)))
                .expect("a thread")
        };
        Ok(GroupWriter {
            pending,
            thread: Some(thread),
            columns: columns.len(),
        })
    }

    /// Inserts a row. Returns when it is committed, and as durable as the connection's settings make it.
    ///
    /// # Errors
    /// [`Error::Values`], [`Error::Row`] if the database refuses the row, and the others if its batch fails.
    pub fn insert(&self, row: &[Value<'_>]) -> Result<(), Error> {
        let (told, given) = mpsc::sync_channel(1);
        self.submit(row, move |inserted| _ = told.send(inserted))?;
        given.recv().unwrap_or(Err(Error::Ended))
    }

    /// Inserts a row without waiting for the commit.
    ///
    /// A thread of the writer calls `answer`, which must be quick. Blocks while the limits are reached.
    ///
    /// # Errors
    /// [`Error::Values`]. `answer` is not called then.
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

impl Drop for GroupWriter {
    fn drop(&mut self) {
        self.pending.end();
        if let Some(thread) = self.thread.take() {
            _ = thread.join();
        }
    }
}

/// Runs work in a separate transaction. Returns its result after the commit.
fn committed<T: Send + 'static>(
    commit: &mut Commit,
    work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
) -> Result<T, Error> {
    let (told, given) = mpsc::sync_channel(1);
    commit(Box::new(move |db| {
        _ = told.send(work(db)?);
        Ok(())
    }))?;
    given.recv().map_err(|_| Error::Ended)
}

/// The sort order of rows with these columns.
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
            wrong(crate::Error::no_such_column(path.as_ref(), name, names))
        })
    };
    let record: Vec<usize> = columns.iter().map(place).collect::<Result<_, _>>()?;
    Ok(destination.order(&record))
}

/// Writes batch after batch until the writer ends.
fn write_batches(pending: &Pending, commit: &mut Commit, sql: &Arc<str>) {
    while let Some(Taken { rows, answers }) = pending.take() {
        let (sql, count) = (Arc::clone(sql), answers.len());
        match committed(commit, move |db| insert(db, &sql, rows, count)) {
            Ok(inserted) => answers
                .into_iter()
                .zip(inserted)
                .for_each(|(answer, inserted)| answer(inserted)),
            Err(error) => answers
                .into_iter()
                .for_each(|answer| answer(Err(error.clone()))),
        }
    }
}

/// Inserts rows in their order. A refused row doesn't affect the others.
fn insert(
    db: &Connection,
    sql: &str,
    mut rows: Sorted,
    count: usize,
) -> rusqlite::Result<Vec<Result<(), Error>>> {
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
            Err(error) => return Err(error),
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests;
