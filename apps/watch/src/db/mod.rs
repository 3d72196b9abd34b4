//! The database: a pool of reading connections, and a queue of writes.
//!
//! A write is acknowledged after its transaction is committed and synced. It therefore survives a killed process and a
//! power failure. There is one writer, so nothing waits for a lock, except for a command that writes while a server
//! runs.

mod access;
pub mod account;
pub mod backup;
pub mod blocks;
pub mod devices;
pub mod entries;
mod film;
pub mod films;
pub mod find;
pub mod friends;
pub mod imports;
pub mod links;
mod look;
pub mod mail;
pub mod news;
pub mod overview;
pub mod passkeys;
pub mod posters;
pub mod restore;
mod schema;
pub mod sessions;
pub mod settings;
mod spelling;
pub mod sync;
pub mod tokens;
pub mod tonight;
pub mod undo;
mod user;
pub mod users;

use crate::{Error, Result, title::Title};
use inorder_key::{TimeId, Ulid, UnixTime};
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

pub use access::Access;
pub use schema::{MIGRATIONS, migrate};

/// The busy timeout, for another writing process such as an import of films.
const BUSY_TIMEOUT: Duration = Duration::from_secs(30);

/// The size of the memory map of readers in bytes. Beyond it they use read calls.
const MAPPED_BYTES_MAX: i64 = 1 << 30;

/// The number of reading connections.
const READERS_MAX: usize = 64;

/// Prepared statements cached per connection.
const STATEMENTS_MAX: usize = 128;

/// The open file. Dropping it completes the queued writes.
#[derive(Clone)]
pub struct Database {
    // Dropped first: only the last connection can checkpoint the WAL on close, and it must be a writing one.
    readers: Arc<ReaderPool<Error>>,
    writer: Arc<WriteQueue>,
    /// Limits concurrent long reads, so that some cores stay free for other requests.
    long_reads: Arc<Semaphore>,
    path: PathBuf,
}

impl Database {
    /// Opens the file, creates it if it is missing, and migrates its schema.
    ///
    /// # Errors
    /// [`Error::Foreign`] and [`Error::Newer`] leave the file unchanged.
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

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs reads within one snapshot. They take microseconds, so they run on the calling thread.
    ///
    /// # Errors
    /// The error of `work`.
    pub fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        self.readers.read_snapshot(work)
    }

    /// Like [`Database::read`], for reads of many rows: runs on a blocking thread.
    ///
    /// # Errors
    /// The error of `work`.
    pub async fn read_long<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let _permit = self.long_reads.acquire().await.map_err(io::Error::other)?;
        let readers = Arc::clone(&self.readers);
        let read = task::spawn_blocking(move || readers.read_snapshot(work));
        read.await.map_err(io::Error::other)?
    }

    /// Runs a write and returns after the commit. If `work` fails, nothing is written.
    ///
    /// # Errors
    /// The error of `work`, or [`Error::Queue`].
    pub async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (told, given) = oneshot::channel();
        self.writer.submit(work, move |result| {
            // The client may have disconnected; the write is kept.
            let _ = told.send(result);
        })?;
        let ended = |_| Err(Error::Queue(QueueError::Ended));
        given.await.unwrap_or_else(ended)
    }

    /// Like [`Database::write`], for commands: blocks this thread, also while the queue is full.
    ///
    /// # Errors
    /// The error of `work`, or [`Error::Queue`].
    pub fn write_now<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.writer.run(work)
    }

    /// Like [`Database::write_now`], outside of a transaction.
    ///
    /// # Errors
    /// The error of `work`, or [`Error::Queue`].
    pub fn write_alone<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.writer.run_alone(work)
    }
}

/// Removes other users' access to the file, its WAL and its shared memory: an early version left them readable.
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
    // Each commit invalidates the page caches of all other connections; pages in the system's cache remain.
    connection.pragma_update(None, "mmap_size", MAPPED_BYTES_MAX)?;
    Ok(connection)
}

fn set_up(connection: &Connection) -> Result<()> {
    inorder_sqlite::register(connection)?;
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    // The triggers pass times of the clock: also small ones, of a machine whose clock began in 1970, which the general function refuses.
    let in_triggers = flags | FunctionFlags::SQLITE_INNOCUOUS;
    connection.create_scalar_function("ulid_min", 1, in_triggers, |arguments| {
        let ms = u64::try_from(arguments.get::<i64>(0)?).unwrap_or_default();
        let first = Ulid::first_at(ms.min(UnixTime::MS_MAX)).unwrap_or(Ulid::NIL);
        Ok(first.to_bytes())
    })?;
    connection.create_scalar_function("title_keys", 1, flags, |arguments| {
        let title = Title::of(&arguments.get::<String>(0)?);
        Ok(serde_json::json!(title.keys()).to_string())
    })?;
    connection.create_scalar_function("title_endings", 1, flags, |arguments| {
        let title = Title::of(&arguments.get::<String>(0)?);
        Ok(serde_json::json!(title.endings()).to_string())
    })?;
    connection.create_scalar_function("backwards", 1, flags, |arguments| {
        Ok(spelling::backwards(arguments.get_raw(0).as_str()?))
    })?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    // Otherwise SQLite prepares a statement again whenever another LIMIT is bound.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "synchronous", "full")?;
    // A negative number means KiB: searches read many pages repeatedly.
    connection.pragma_update(None, "cache_size", -16 * 1024)?;
    Ok(())
}
