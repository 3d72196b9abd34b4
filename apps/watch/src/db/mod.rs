//! The database: a pool of reading connections, and a queue of writes.
//!
//! A write is acknowledged when the transaction with it is committed and synced, so it outlives a killed process and a power
//! cut. Because there is one writer nothing ever waits for a lock, except for a command that writes beside a server.

pub mod account;
pub mod devices;
pub mod entries;
mod film;
pub mod films;
pub mod find;
pub mod friends;
pub mod links;
mod schema;
pub mod sessions;
pub mod settings;
mod spelling;
pub mod tokens;
pub mod tonight;
pub mod undo;
mod user;
pub mod users;

use crate::{Error, Result, title::Title};
use inorder_serve::{QueueError, QueueLimits, ReaderPool, WriteQueue, private};
use rusqlite::{Connection, OpenFlags, config::DbConfig, functions::FunctionFlags};
use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::Duration,
};
use tokio::{
    sync::{Semaphore, oneshot},
    task,
};

pub use schema::{MIGRATIONS, migrate};

/// How long to wait for another process that writes, such as an import of films beside a server.
const BUSY_TIMEOUT: Duration = Duration::from_secs(30);

/// Bytes of the file that readers map into memory; what is beyond they read.
const MAPPED_BYTES_MAX: i64 = 1 << 30;

/// Connections that read at the same time.
const READERS_MAX: usize = 64;

/// Statements that stay prepared on each connection.
const STATEMENTS_MAX: usize = 128;

/// The open file. Dropping it writes what still waits.
#[derive(Clone)]
pub struct Database {
    // Closed first: only a connection that writes can bring the log into the file when it is the last.
    readers: Arc<ReaderPool<Error>>,
    writer: Arc<WriteQueue>,
    /// Limits the long reads, so that some cores stay for other requests.
    long_reads: Arc<Semaphore>,
    path: PathBuf,
}

impl Database {
    /// Opens the file, makes it if it isn't there, and brings its schema up to date.
    ///
    /// # Errors
    /// [`Error::Foreign`] and [`Error::Newer`] leave the file as it is.
    pub fn open(path: &Path) -> Result<Self> {
        private::create(path)?;
        let mut connection = Connection::open(path)?;
        schema::check(&connection, path)?;
        set_up(&connection)?;
        connection.pragma_update(None, "journal_mode", "wal")?;
        migrate(&mut connection, MIGRATIONS)?;
        close_to_others(path)?;
        let reader_path = path.to_owned();
        let cores = thread::available_parallelism().map_or(1, usize::from);
        Ok(Database {
            writer: Arc::new(WriteQueue::start(connection, QueueLimits::default())?),
            readers: Arc::new(ReaderPool::new(READERS_MAX, move || {
                open_reader(&reader_path)
            })),
            long_reads: Arc::new(Semaphore::new(cores.div_ceil(2))),
            path: path.to_owned(),
        })
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads, all of it from one moment's state. Some microseconds are too few to hand it to another thread.
    ///
    /// # Errors
    /// That of `work`.
    pub fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        self.readers.read_snapshot(work)
    }

    /// Like [`Database::read`], for what may look at many rows: a server's threads answer others meanwhile.
    ///
    /// # Errors
    /// That of `work`.
    pub async fn read_long<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let _permit = self.long_reads.acquire().await.map_err(io::Error::other)?;
        let readers = Arc::clone(&self.readers);
        let read = task::spawn_blocking(move || readers.read_snapshot(work));
        read.await.map_err(io::Error::other)?
    }

    /// Writes; returns when it is committed. When `work` gives an error nothing of it is kept.
    ///
    /// # Errors
    /// That of `work`, or [`Error::Queue`].
    pub async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (told, given) = oneshot::channel();
        self.writer.submit(work, move |result| {
            // Whoever asked may have gone away; the write is kept all the same.
            let _ = told.send(result);
        })?;
        let ended = |_| Err(Error::Queue(QueueError::Ended));
        given.await.unwrap_or_else(ended)
    }

    /// Like [`Database::write`], for commands: waits on this thread, also while the queue is full.
    ///
    /// # Errors
    /// That of `work`, or [`Error::Queue`].
    pub fn write_now<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.writer.run(work)
    }

    /// Like [`Database::write_now`], while no transaction is open.
    ///
    /// # Errors
    /// That of `work`, or [`Error::Queue`].
    pub fn write_alone<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.writer.run_alone(work)
    }
}

/// Closes the file, its WAL and its shared memory to other users: an early version left them readable.
fn close_to_others(path: &Path) -> Result<()> {
    for path in ["", "-wal", "-shm"].map(|ending| private::beside(path, ending)) {
        match private::close_to(0o077, &path) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                tracing::warn!("{} can be read by others: chmod 600", path.display());
            }
            closed => drop(closed?),
        }
    }
    Ok(())
}

/// Opens the file for reading.
fn open_reader(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    set_up(&connection)?;
    // Each commit empties the page cache of everybody else; pages of the system's cache stay.
    connection.pragma_update(None, "mmap_size", MAPPED_BYTES_MAX)?;
    Ok(connection)
}

fn set_up(connection: &Connection) -> Result<()> {
    inorder_sqlite::register(connection)?;
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("title_keys", 1, flags, |arguments| {
        let title = Title::of(&arguments.get::<String>(0)?);
        Ok(serde_json::json!(title.keys()).to_string())
    })?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    // Otherwise a statement is planned anew whenever a LIMIT is bound to another number.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "synchronous", "full")?;
    // Bytes, as a negative number of KiB: searches read many pages again and again.
    connection.pragma_update(None, "cache_size", -16 * 1024)?;
    Ok(())
}
