//! The file of an index.

use super::design::Design;
use super::node::{Corrupt, reductions, write_reductions};
use super::tree::Root;
use super::{Error, Result};
use crate::store;
use inorder_serve::{ReaderPool, private};
use rusqlite::{Connection, OpenFlags, OptionalExtension};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Marks the file as one of ours: "ioCv".
const APPLICATION_ID: i64 = 0x696f_4376;

/// Counts changes of the tables. An index of another version is built again.
const VERSION: i64 = 2;

/// One node fits into a page, and two small ones do.
const PAGE_BYTES: u32 = 8192;

/// Connections that read at the same time.
const READERS_MAX: usize = 4;

const TABLES: &str = "
-- One row: what the index was made of. The mark is the last change at update_seq, with the hash of its revision.
CREATE TABLE state(
  one INTEGER PRIMARY KEY CHECK (one = 1),
  uuid TEXT NOT NULL,
  update_seq INTEGER NOT NULL,
  purge_seq INTEGER NOT NULL,
  mark_seq INTEGER NOT NULL,
  mark_hash BLOB NOT NULL
) STRICT;
CREATE TABLE trees(
  view INTEGER PRIMARY KEY,
  root INTEGER NOT NULL,
  height INTEGER NOT NULL,
  count INTEGER NOT NULL,
  reductions BLOB NOT NULL
) STRICT;
CREATE TABLE nodes(
  id INTEGER PRIMARY KEY,
  node BLOB NOT NULL
) STRICT;
-- The keys that each document has in each view.
CREATE TABLE docs(
  id TEXT PRIMARY KEY,
  keys BLOB NOT NULL
) STRICT, WITHOUT ROWID;
-- Documents that were set aside, because a map function failed with them: the reason, and the limits that the function had.
CREATE TABLE failed(
  id TEXT PRIMARY KEY,
  reason TEXT NOT NULL,
  limits TEXT NOT NULL
) STRICT, WITHOUT ROWID;
";

/// How the last update ended.
#[derive(Debug, Default)]
pub struct LastUpdate {
    /// When it began, and why it failed; none when it did not.
    pub failure: Option<(Instant, Error)>,
}

/// An index that is open.
pub struct Index {
    pub path: PathBuf,
    /// The functions: those of the design document that opened it first.
    pub design: Arc<Design>,
    pub readers: ReaderPool<Error>,
    writer: Mutex<Connection>,
    update_seq: AtomicU64,
    purge_seq: AtomicU64,
    /// Held while it is updated, with what the last update ended with.
    pub updating: Arc<tokio::sync::Mutex<LastUpdate>>,
    compactions: AtomicUsize,
    has_failed: AtomicBool,
}

/// A document that was set aside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// Its id.
    pub id: String,
    /// Why.
    pub reason: String,
    /// The limits that the function had.
    pub limits: String,
}

/// Documents set aside that are listed.
const FAILED_SHOWN_MAX: i64 = 100;

/// A compaction that was requested. The index shows it as running until this is dropped.
#[derive(Debug)]
pub struct Compaction(Arc<Index>);

impl Compaction {
    /// Registers a compaction, which [`Compaction::run`] does.
    pub fn new(index: Arc<Index>) -> Self {
        index.compactions.fetch_add(1, Ordering::SeqCst);
        Compaction(index)
    }

    /// Frees the space that nothing is in. It blocks.
    ///
    /// # Errors
    /// If the index cannot be written.
    pub fn run(&self) -> Result<()> {
        let writer = self.0.writer();
        let _writing = self.0.readers.writing();
        writer.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE);")?;
        Ok(())
    }
}

impl Drop for Compaction {
    fn drop(&mut self) {
        self.0.compactions.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The sequences of an index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    pub update_seq: u64,
    pub purge_seq: u64,
    pub mark_seq: u64,
    pub mark_hash: Vec<u8>,
}

impl Index {
    /// Opens the index of a database, and makes it if there is none that can be used.
    pub fn open(folder: &Path, design: Arc<Design>, uuid: &str) -> Result<Self> {
        let io = |error| store::Error::io(folder, error);
        private::create_folder(folder).map_err(io)?;
        let path = folder.join(format!("{}.sqlite", design.signature));
        let writer = match connect(&path, uuid) {
            Some(connection) => connection,
            None => {
                remove(&path)?;
                create(&path, uuid)?
            }
        };
        let state = State::read(&writer)?;
        let has_failed = has_failed(&writer)?;
        let readers_of = path.clone();
        Ok(Index {
            readers: ReaderPool::new(READERS_MAX, move || open_reader(&readers_of))
                .keeping_snapshots(),
            path,
            design,
            writer: Mutex::new(writer),
            update_seq: AtomicU64::new(state.update_seq),
            purge_seq: AtomicU64::new(state.purge_seq),
            updating: Arc::default(),
            compactions: AtomicUsize::new(0),
            has_failed: AtomicBool::new(has_failed),
        })
    }

    /// The sequence up to which documents are in it, and that of the last purge.
    pub fn sequences(&self) -> (u64, u64) {
        (
            self.update_seq.load(Ordering::Acquire),
            self.purge_seq.load(Ordering::Acquire),
        )
    }

    /// Runs a change in a transaction. The change returns the new sequence.
    pub fn change(&self, change: impl FnOnce(&Connection) -> Result<State>) -> Result<()> {
        let mut writer = self.writer();
        let _writing = self.readers.writing();
        let transaction = writer.transaction()?;
        let state = change(&transaction)?;
        state.write(&transaction)?;
        let has_failed = has_failed(&transaction)?;
        transaction.commit()?;
        self.has_failed.store(has_failed, Ordering::Release);
        self.update_seq.store(state.update_seq, Ordering::Release);
        self.purge_seq.store(state.purge_seq, Ordering::Release);
        Ok(())
    }

    /// Removes everything, so that it is built again.
    pub fn clear(&self) -> Result<()> {
        self.change(|connection| {
            connection.execute_batch(
                "DELETE FROM trees; DELETE FROM nodes; DELETE FROM docs; DELETE FROM failed;",
            )?;
            Ok(State::default())
        })
    }

    /// The documents that were set aside: how many, and the first ones.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn failed(&self) -> Result<(u64, Vec<Failed>)> {
        if !self.has_failed.load(Ordering::Acquire) {
            return Ok((0, Vec::new()));
        }
        self.readers.read(|connection| {
            let sql = "SELECT id, reason, limits FROM failed ORDER BY id LIMIT ?1";
            let mut statement = connection.prepare_cached(sql)?;
            let rows = statement.query_map([FAILED_SHOWN_MAX], |row| {
                let (id, reason, limits) = (row.get(0)?, row.get(1)?, row.get(2)?);
                Ok(Failed { id, reason, limits })
            })?;
            let first = rows.collect::<rusqlite::Result<_>>()?;
            let count = connection.query_row("SELECT count(*) FROM failed", [], |row| {
                row.get::<_, i64>(0)
            })?;
            Ok((count as u64, first))
        })
    }

    /// Whether documents were set aside that must be tried again: they were set aside under other limits than these, or none are
    /// to be set aside any more.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn is_outdated(&self, limits: Option<&str>) -> Result<bool> {
        let (_, failed) = self.failed()?;
        Ok(failed.iter().any(|one| Some(&*one.limits) != limits))
    }

    /// Whether a compaction was requested that has not ended.
    pub fn is_compacting(&self) -> bool {
        self.compactions.load(Ordering::SeqCst) > 0
    }

    fn writer(&self) -> MutexGuard<'_, Connection> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn has_failed(connection: &Connection) -> Result<bool> {
    let mut statement = connection.prepare_cached("SELECT 1 FROM failed LIMIT 1")?;
    Ok(statement.exists([])?)
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Index")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

impl State {
    pub fn read(connection: &Connection) -> Result<Self> {
        let sql = "SELECT update_seq, purge_seq, mark_seq, mark_hash FROM state";
        let mut statement = connection.prepare_cached(sql)?;
        Ok(statement.query_row([], |row| {
            Ok(State {
                update_seq: row.get::<_, i64>(0)? as u64,
                purge_seq: row.get::<_, i64>(1)? as u64,
                mark_seq: row.get::<_, i64>(2)? as u64,
                mark_hash: row.get(3)?,
            })
        })?)
    }

    fn write(&self, connection: &Connection) -> Result<()> {
        let sql = "UPDATE state SET update_seq = ?1, purge_seq = ?2, mark_seq = ?3, mark_hash = ?4";
        connection.prepare_cached(sql)?.execute((
            self.update_seq as i64,
            self.purge_seq as i64,
            self.mark_seq as i64,
            &self.mark_hash,
        ))?;
        Ok(())
    }
}

/// Reads the root of a view's tree.
pub fn root(connection: &Connection, view: usize) -> Result<Root> {
    let sql = "SELECT root, height, count, reductions FROM trees WHERE view = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_row([view as i64], |row| {
        Ok((
            row.get(0)?,
            row.get(1)?,
            row.get::<_, i64>(2)?,
            row.get::<_, Vec<u8>>(3)?,
        ))
    });
    let Some((node, height, count, stored)) = found.optional()? else {
        return Ok(Root::default());
    };
    Ok(Root {
        node,
        height,
        count: u64::try_from(count).map_err(|_| Corrupt)?,
        reductions: reductions(&stored)?,
    })
}

/// Writes the root of a view's tree.
pub fn set_root(connection: &Connection, view: usize, root: &Root) -> Result<()> {
    let sql = "INSERT OR REPLACE INTO trees(view, root, height, count, reductions) VALUES (?1, ?2, ?3, ?4, ?5)";
    let mut stored = Vec::new();
    write_reductions(&mut stored, &root.reductions);
    let values = (
        view as i64,
        root.node,
        root.height,
        root.count as i64,
        stored,
    );
    connection.prepare_cached(sql)?.execute(values)?;
    Ok(())
}

/// Removes the files of an index.
pub fn remove(path: &Path) -> Result<()> {
    for ending in ["", "-wal", "-shm", "-journal"] {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        match std::fs::remove_file(&name) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(store::Error::io(name, error).into());
            }
            _ => {}
        }
    }
    Ok(())
}

fn flags(access: OpenFlags) -> OpenFlags {
    // One thread at a time has a connection.
    access | OpenFlags::SQLITE_OPEN_NO_MUTEX
}

/// Opens a file that is an index of this version and database.
fn connect(path: &Path, uuid: &str) -> Option<Connection> {
    if !path.exists() {
        return None;
    }
    let connection =
        Connection::open_with_flags(path, flags(OpenFlags::SQLITE_OPEN_READ_WRITE)).ok()?;
    let number = |name: &str| {
        connection
            .pragma_query_value(None, name, |row| row.get::<_, i64>(0))
            .ok()
    };
    let own: String = connection
        .query_row("SELECT uuid FROM state", [], |row| row.get(0))
        .ok()?;
    let is_own = number("application_id")? == APPLICATION_ID
        && number("user_version")? == VERSION
        && own == uuid;
    set_up_writer(&connection).ok()?;
    is_own.then_some(connection)
}

fn create(path: &Path, uuid: &str) -> Result<Connection> {
    private::create_new(path).map_err(|error| store::Error::io(path, error))?;
    let connection = Connection::open_with_flags(path, flags(OpenFlags::SQLITE_OPEN_READ_WRITE))?;
    connection.execute_batch(&format!(
        "PRAGMA page_size = {PAGE_BYTES}; PRAGMA journal_mode = WAL;
         BEGIN; PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {VERSION}; {TABLES}"
    ))?;
    connection.execute("INSERT INTO state VALUES (1, ?1, 0, 0, 0, x'')", [uuid])?;
    connection.execute_batch("COMMIT")?;
    set_up_writer(&connection)?;
    Ok(connection)
}

fn set_up_writer(connection: &Connection) -> rusqlite::Result<()> {
    // After a loss of power the last updates are repeated: nothing is lost that is not in the database.
    connection.execute_batch("PRAGMA synchronous = NORMAL; PRAGMA cache_size = -2048; PRAGMA journal_size_limit = 4194304;")?;
    connection.busy_timeout(Duration::from_secs(10))
}

fn open_reader(path: &Path) -> Result<Connection> {
    let connection = Connection::open_with_flags(path, flags(OpenFlags::SQLITE_OPEN_READ_ONLY))?;
    connection.execute_batch("PRAGMA cache_size = -2048;")?;
    connection.busy_timeout(Duration::from_secs(10))?;
    Ok(connection)
}
