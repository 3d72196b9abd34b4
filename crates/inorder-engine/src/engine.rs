//! The traits an engine implements, and the list of engines.

use crate::{
    Batch, Error, Io, KernelCheck, Load, LoadColumn, LoadShape, PageFill, Settings, TableShape,
    Tree,
};
use inorder_key::{Encoding, KeyKind};
use std::{
    ops::Range,
    path::{Path, PathBuf},
    time::Duration,
};

/// Every engine, the default first. Adding one is a module and a line here.
pub const ENGINES: &[&dyn Engine] = &[
    &crate::sqlite::Sqlite,
    &crate::postgres::Postgres,
    &crate::mariadb::MariaDb,
    &crate::sharded::PostgresSharded,
    &crate::galera::Galera,
];

/// The engine with this name, if there is one.
pub fn engine(name: &str) -> Option<&'static dyn Engine> {
    ENGINES.iter().copied().find(|engine| engine.name() == name)
}

/// Refuses settings that an engine doesn't take.
pub(crate) fn check(engine: &dyn Engine, settings: &Settings) -> Result<(), Error> {
    engine.accepts(settings).map_err(|what| Error::Unsupported {
        engine: engine.name(),
        what,
    })
}

/// Which engine ran, exactly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineInfo {
    /// The engine's name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// How it was compiled, or its build string.
    pub compile_options: Vec<String>,
}

/// An engine that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its version.
    pub version: String,
    /// Its program; `None` for one that is part of this program.
    pub path: Option<PathBuf>,
}

/// A kind of database.
pub trait Engine: Sync {
    /// The name used in experiment files and on the command line.
    fn name(&self) -> &'static str;

    /// What of it is there, the newest first: that one is used.
    ///
    /// # Errors
    /// [`Error::NotInstalled`], with the command that installs it.
    fn found(&self) -> Result<Vec<Found>, Error>;

    /// Whether it takes these settings; if not, which one and why.
    ///
    /// # Errors
    /// What it can't do, in words.
    fn accepts(&self, _settings: &Settings) -> Result<(), String> {
        Ok(())
    }

    /// Names of the fields of [`Settings`] that mean nothing to it: they are reported as `n/a`.
    fn ignores(&self) -> &'static [&'static str] {
        &[]
    }

    /// The kernel's counter that its own count of bytes written is checked against.
    fn kernel_check(&self) -> KernelCheck;

    /// Version and build.
    ///
    /// # Errors
    /// When the engine isn't there or doesn't answer.
    fn info(&self) -> Result<EngineInfo, Error>;

    /// The column type that stores this kind of key in this encoding, or `None` where the engine
    /// has none (SQLite has no native UUID type).
    fn key_type(&self, kind: KeyKind, encoding: Encoding) -> Option<&'static str>;

    /// The column type of a key that the engine itself makes as rows come, with its default, or why
    /// there is none. (A serial key's [`Engine::key_type`] is such.)
    ///
    /// # Errors
    /// What would be needed, such as a newer version, in words.
    fn key_made(&self, kind: KeyKind, _encoding: Encoding) -> Result<&'static str, String> {
        Err(format!(
            "{} makes no {} by itself",
            self.name(),
            kind.name()
        ))
    }

    /// The column type of bytes, however many.
    fn blob_type(&self) -> &'static str {
        "BLOB"
    }

    /// The column type of text, however long.
    fn text_type(&self) -> &'static str {
        "TEXT"
    }

    /// The statements that create the built-in table in one of [`crate::LAYOUTS`].
    ///
    /// # Errors
    /// Why this engine can't store such a table, in words.
    fn create_table(&self, shape: &TableShape<'_>) -> Result<String, String>;

    /// Creates an empty database in `folder`, which exists and holds none, with these settings. What
    /// later ones can share is kept in the folder [`crate::TEMPLATES`] beside it, where that exists.
    ///
    /// # Errors
    /// When a database is there already, the folder can't be written, or a setting isn't taken.
    fn create(&self, folder: &Path, settings: &Settings) -> Result<Box<dyn Database>, Error>;
}

/// A column as the engine describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnInfo {
    /// Its name.
    pub name: String,
    /// Its declared type, as written.
    pub declared_type: String,
    /// Whether it may be left out of an INSERT: nullable, defaulted, or assigned by the engine.
    pub is_optional: bool,
    /// Position in the primary key from 1, or 0.
    pub primary_key: u32,
}

/// One of the servers that a table's rows are spread over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Its name.
    pub name: String,
    /// Rows of the table on it.
    pub rows: u64,
}

/// What to do while another writer holds the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// Retries before [`Error::Busy`].
    pub retries_max: u64,
    /// Pause before the first retry; it doubles up to 64 times this.
    pub pause: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Retry {
            retries_max: 100_000,
            pause: Duration::from_micros(50),
        }
    }
}

/// One open database, shared by the threads of a trial.
pub trait Database: Send + Sync {
    /// A name as its SQL writes it, whatever word the engine reserves: standard SQL's double quotes,
    /// unless the engine has others.
    fn quoted(&self, name: &str) -> String {
        format!("\"{}\"", name.replace('"', "\"\""))
    }

    /// Runs statements that return nothing, such as DDL.
    ///
    /// # Errors
    /// The engine's message with the statement.
    fn execute(&self, sql: &str) -> Result<(), Error>;

    /// A table's columns, in order; empty when there is no such table.
    ///
    /// # Errors
    /// When the engine doesn't answer.
    fn columns(&self, table: &str) -> Result<Vec<ColumnInfo>, Error>;

    /// Every setting as the engine itself reports it now: name and value, in a fixed order.
    ///
    /// # Errors
    /// When the engine doesn't answer.
    fn settings(&self) -> Result<Vec<(String, String)>, Error>;

    /// A connection that inserts rows into `columns` of `table`. The batch's columns are bound to
    /// them in this order; none means the engine fills every column (`DEFAULT VALUES`).
    ///
    /// # Errors
    /// When the table or a column isn't there.
    fn writer(&self, table: &str, columns: &[&str], retry: Retry)
    -> Result<Box<dyn Writer>, Error>;

    /// A table as a load has to know it.
    ///
    /// # Errors
    /// When the engine doesn't answer.
    fn load_shape(&self, table: &str) -> Result<LoadShape, Error> {
        let columns = self.columns(table)?;
        Ok(LoadShape {
            columns: columns.into_iter().map(LoadColumn::as_given).collect(),
            why_in_input_order: None,
        })
    }

    /// Begins to load rows into `columns` of `table`, as [`Database::writer`] writes them. Where the table is
    /// empty, keys and indexes may be made after the rows: until then nobody else gets at the table. With
    /// `survives_refusals` the load is to go on after rows that the server doesn't take, where it can.
    ///
    /// # Errors
    /// When the table or a column isn't there.
    fn load(&self, table: &str, columns: &[&str], _survives_refusals: bool) -> Result<Load, Error> {
        let mut writer = self.writer(table, columns, Retry::default())?;
        writer.begin()?;
        Ok(Load {
            writer,
            told: Vec::new(),
            survives_refusals: false,
            is_one_statement: false,
        })
    }

    /// Whether an index (or the table's own order) finds rows by these columns.
    ///
    /// # Errors
    /// When the engine doesn't answer.
    fn finds_by_index(&self, table: &str, columns: &[String]) -> Result<bool, Error>;

    /// The processes of a server; none where the engine is part of this one.
    fn processes(&self) -> Vec<u32> {
        Vec::new()
    }

    /// Whether all that works for it is in [`Database::processes`] or this process. Not so for a server
    /// of another machine: its CPU time and what it asks of its disk can't be seen.
    fn is_in_sight(&self) -> bool {
        true
    }

    /// A connection that runs one query again and again. A parameter is a `?`.
    ///
    /// # Errors
    /// When the query is wrong.
    fn reader(&self, sql: &str) -> Result<Box<dyn Reader>, Error>;

    /// Engine-issued input and output so far, over all connections.
    fn io(&self) -> Io;

    /// Brings everything written into the main file (checkpoints the log to its end, truncates it).
    ///
    /// # Errors
    /// When a reader or writer is in the way, or the disk fails.
    fn quiesce(&self) -> Result<(), Error>;

    /// Rows in a table.
    ///
    /// # Errors
    /// When there is no such table.
    fn count(&self, table: &str) -> Result<u64, Error>;

    /// An even sample, in order, of at most `most` values of a column that the engine counts; `None`
    /// where it counts from 1 and leaves none out.
    ///
    /// # Errors
    /// When there is no such table or column.
    fn counted(&self, _table: &str, _column: &str, _most: u64) -> Result<Option<Vec<i64>>, Error> {
        Ok(None)
    }

    /// The servers that a table's rows are spread over; none where they are all in one place.
    ///
    /// # Errors
    /// When there is no such table.
    fn shards(&self, _table: &str) -> Result<Vec<Shard>, Error> {
        Ok(Vec::new())
    }

    /// Bytes of the database's files now; of a server those of its tables and indexes.
    ///
    /// # Errors
    /// When they can't be read.
    fn size_bytes(&self) -> Result<u64, Error>;

    /// Every table and index. Quiesce first.
    ///
    /// # Errors
    /// When the engine doesn't answer.
    fn structure(&self) -> Result<Vec<Tree>, Error>;

    /// Fill of the leaf pages of one table or index, in key order.
    ///
    /// # Errors
    /// When there is no such tree.
    fn page_fill(&self, tree: &str) -> Result<PageFill, Error>;

    /// Rewrites the database without free space.
    ///
    /// # Errors
    /// When the disk is full or a connection is in the way.
    fn vacuum(&self) -> Result<(), Error>;

    /// Asks the operating system to forget its cached pages of the database, so that the next read
    /// is cold. `false` where that isn't possible, as with every server: its own cache is filled from
    /// the start, and only a restart empties it. Readers made before keep their own page cache.
    ///
    /// # Errors
    /// When the files can't be opened.
    fn forget_cached_pages(&self) -> Result<bool, Error> {
        Ok(false)
    }

    /// The plan of a query, one line a step.
    ///
    /// # Errors
    /// When the query is wrong.
    fn query_plan(&self, sql: &str) -> Result<Vec<String>, Error>;
}

/// One connection that writes.
pub trait Writer: Send {
    /// Begins a transaction that may write, waiting for other writers as the retry policy says.
    ///
    /// # Errors
    /// [`Error::Busy`] when the lock was never free.
    fn begin(&mut self) -> Result<(), Error>;

    /// Inserts these rows of the batch, one after another.
    ///
    /// # Errors
    /// [`Error::Row`] when a row breaks a constraint; the transaction is still open (PostgreSQL's can
    /// only be rolled back).
    fn insert(&mut self, batch: &Batch, rows: Range<usize>) -> Result<(), Error>;

    /// Does what takes long, or may fail, before the commit: nothing but in a [`Load`].
    ///
    /// # Errors
    /// When the rows break a constraint that is made after them.
    fn complete(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// Rows that the engine says it stored since the transaction began, where that may be others than it was given
    /// (triggers), once all is complete.
    fn stored(&self) -> Option<u64> {
        None
    }

    /// Commits. A checkpoint that becomes due is left to [`Writer::checkpoint_if_due`].
    ///
    /// # Errors
    /// When the disk fails or is full.
    fn commit(&mut self) -> Result<(), Error>;

    /// Rolls back; nothing where no transaction is open.
    ///
    /// # Errors
    /// When the engine can't.
    fn rollback(&mut self) -> Result<(), Error>;

    /// Runs the checkpoint that the settings make due after the last commit, as the engine itself
    /// would have inside the commit. Says whether there was one. Kept apart to be timed apart.
    ///
    /// # Errors
    /// When the disk fails or is full.
    fn checkpoint_if_due(&mut self) -> Result<bool, Error>;

    /// Times this writer found the database locked and tried again.
    fn retries(&self) -> u64;
}

/// One connection that reads with one prepared query.
pub trait Reader: Send {
    /// Runs the query with the batch's columns at `row` as its parameters, reads every column of
    /// every result row, and returns how many rows there were.
    ///
    /// # Errors
    /// When the query fails.
    fn query(&mut self, batch: &Batch, row: usize) -> Result<u64, Error>;
}
