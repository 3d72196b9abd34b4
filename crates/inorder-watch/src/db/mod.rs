//! The file: whoever reads takes a connection of a pool, whoever writes hands in a closure.
//!
//! A write is acknowledged when the transaction with it is committed and synced, so it outlives a killed process and a power
//! cut. Because there is one writer nothing ever waits for a lock, except for a command that writes beside a server.

pub mod account;
pub mod devices;
pub mod entries;
pub mod films;
pub mod friends;
pub mod links;
pub mod private;
pub mod reads;
mod schema;
pub mod sessions;
pub mod settings;
pub mod tokens;
pub mod tonight;
pub mod undo;
pub mod users;

use crate::{Error, Result, films::title::Title};
use inorder_sqlite::queue::{Limits, WriteQueue};
use reads::Readers;
use rusqlite::{Connection, OpenFlags, config::DbConfig, functions::FunctionFlags};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};
use tokio::sync::oneshot;

pub use schema::{MIGRATIONS, migrate};

/// How long to wait for another process that writes, such as an import of films beside a server.
const BUSY_TIMEOUT: Duration = Duration::from_secs(30);

/// Bytes of the file that readers map into memory; what is beyond they read.
const MAPPED_BYTES_MAX: i64 = 1 << 30;

/// Statements that stay prepared on each connection.
const STATEMENTS_MAX: usize = 128;

/// The open file. Dropping it writes what still waits.
#[derive(Clone)]
pub struct Database {
    // Closed first: only a connection that writes can bring the log into the file when it is the last.
    readers: Arc<Readers>,
    writer: Arc<WriteQueue>,
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
        private::close(path)?;
        Ok(Database {
            writer: Arc::new(WriteQueue::start(connection, Limits::default())?),
            readers: Arc::new(Readers::new(path)),
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
        self.readers.read(work)
    }

    /// Like [`Database::read`], for what may look at many rows: a server's threads answer others meanwhile.
    ///
    /// # Errors
    /// That of `work`.
    pub async fn read_long<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.readers.read_long(work).await
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
        let ended = |_| Err(Error::Queue(inorder_sqlite::queue::Error::Ended));
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

/// Milliseconds since 1970.
pub fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    })
}
