//! The trait of an open database.

use crate::{
    ColumnInfo, Error, Io, Load, LoadColumn, LoadShape, LoadTable, PageFill, Reader, Retry,
    TableChange, Tree, Writer,
};
use std::{sync::Arc, time::Duration};

/// A server that stores a part of a table's rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Its name.
    pub name: String,
    /// Number of the table's rows on the server.
    pub rows: u64,
}

/// One open database, shared by the threads of a trial.
pub trait Database: Send + Sync {
    /// Quotes a name for the engine's SQL, also a reserved word: in double quotes as in standard SQL, unless the
    /// engine uses others.
    fn quoted(&self, name: &str) -> String {
        format!("\"{}\"", name.replace('"', "\"\""))
    }

    /// Runs statements that return nothing, such as DDL.
    ///
    /// # Errors
    /// The engine's message with the statement.
    fn execute(&self, sql: &str) -> Result<(), Error>;

    /// Runs one query on the control connection and returns its rows. Each value is its text, `None` is NULL. Bytes of
    /// a value that are not UTF-8 are replaced. Do not use it for rows in bulk.
    ///
    /// # Errors
    /// The engine's message with the query, or that the engine has no such function.
    fn select(&self, sql: &str) -> Result<Vec<Vec<Option<String>>>, Error> {
        Err(Error::Database {
            doing: sql.to_owned(),
            message: "this engine does not return the rows of a query".to_owned(),
        })
    }

    /// Returns the columns of a table in order, or none if the table is missing.
    ///
    /// # Errors
    /// If the engine does not answer.
    fn columns(&self, table: &str) -> Result<Vec<ColumnInfo>, Error>;

    /// Returns every setting as the engine reports it now: name and value, in a fixed order.
    ///
    /// # Errors
    /// If the engine doesn't answer.
    fn settings(&self) -> Result<Vec<(String, String)>, Error>;

    /// Returns where another session of this machine finds the same database: the path of its file, or the URL of a
    /// private server. `None` for a running server.
    fn location(&self) -> Option<String> {
        None
    }

    /// Opens a connection that inserts rows into `columns` of `table`. The columns of a batch are bound to them in
    /// this order. Without columns, the engine fills every column (`DEFAULT VALUES`).
    ///
    /// # Errors
    /// If the table or a column isn't there.
    fn writer(&self, table: &str, columns: &[&str], retry: Retry)
    -> Result<Box<dyn Writer>, Error>;

    /// Returns the properties of a table that a load needs.
    ///
    /// # Errors
    /// If the engine doesn't answer.
    fn load_shape(&self, table: &str) -> Result<LoadShape, Error> {
        let columns = self.columns(table)?;
        Ok(LoadShape {
            columns: columns.into_iter().map(LoadColumn::as_given).collect(),
            ..LoadShape::default()
        })
    }

    /// Begins a load into `columns` of `table`, with the statements of [`Database::writer`]. If the table is empty,
    /// the engine may build keys and indexes after the rows. Other sessions cannot access the table until then. With
    /// `survives_refusals` the load continues after refused rows, if the engine supports it.
    ///
    /// # Errors
    /// If the table or a column isn't there.
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

    /// Returns whether a table has rows, or `None` if it is missing. Waits so long for a lock.
    ///
    /// # Errors
    /// If the engine doesn't answer.
    fn has_rows(&self, table: &str, _lock_max: Duration) -> Result<Option<bool>, Error> {
        match self.columns(table)?.is_empty() {
            true => Ok(None),
            false => Ok(Some(self.count(table)? > 0)),
        }
    }

    /// Returns the properties that a table has after a change. Nothing is changed.
    ///
    /// # Errors
    /// If the engine doesn't answer, refuses the change, or has no such changes.
    fn shape_after(&self, table: &str, _change: &TableChange) -> Result<LoadShape, Error> {
        Err(no_changes(table))
    }

    /// Begins a load that also makes a change, as [`Database::load`].
    ///
    /// # Errors
    /// Those of [`Database::load`] and [`Database::shape_after`].
    fn load_after(
        &self,
        table: &str,
        _columns: &[&str],
        _survives_refusals: bool,
        _change: &TableChange,
    ) -> Result<Load, Error> {
        Err(no_changes(table))
    }

    /// Returns whether an index, or the table's own order, finds rows by these columns.
    ///
    /// # Errors
    /// If the engine doesn't answer.
    fn finds_by_index(&self, table: &str, columns: &[String]) -> Result<bool, Error>;

    /// Returns the processes of a server; none for an embedded engine.
    fn processes(&self) -> Vec<u32> {
        Vec::new()
    }

    /// Returns whether all work of the database is done by [`Database::processes`] or this process. CPU time and
    /// input and output of a server on another machine cannot be measured.
    fn is_in_sight(&self) -> bool {
        true
    }

    /// Opens a connection that runs one query repeatedly. A parameter is a `?`.
    ///
    /// # Errors
    /// If the query is invalid.
    fn reader(&self, sql: &str) -> Result<Box<dyn Reader>, Error>;

    /// Returns the engine-issued input and output so far, over all connections.
    fn io(&self) -> Io;

    /// Writes all changes into the main file: runs a complete checkpoint and truncates the log.
    ///
    /// # Errors
    /// If a reader or writer blocks the checkpoint, or the disk fails.
    fn quiesce(&self) -> Result<(), Error>;

    /// Returns the number of rows in a table.
    ///
    /// # Errors
    /// If there is no such table.
    fn count(&self, table: &str) -> Result<u64, Error>;

    /// Returns at most `most` values of a column that the engine generates, evenly spaced and in order. Returns
    /// `None` if the engine counts from 1 without gaps.
    ///
    /// # Errors
    /// If there is no such table or column.
    fn counted(&self, _table: &str, _column: &str, _most: u64) -> Result<Option<Vec<i64>>, Error> {
        Ok(None)
    }

    /// Returns the servers that store the rows of a table; none if one server stores all rows.
    ///
    /// # Errors
    /// If there is no such table.
    fn shards(&self, _table: &str) -> Result<Vec<Shard>, Error> {
        Ok(Vec::new())
    }

    /// Returns the current size of the database's files in bytes. For a server, this is the size of its tables and
    /// indexes.
    ///
    /// # Errors
    /// If they can't be read.
    fn size_bytes(&self) -> Result<u64, Error>;

    /// Returns the structure of every table and index. Call [`Database::quiesce`] first.
    ///
    /// # Errors
    /// If the engine doesn't answer.
    fn structure(&self) -> Result<Vec<Tree>, Error>;

    /// Returns the fill of the leaf pages of one table or index, in key order.
    ///
    /// # Errors
    /// If there is no such tree.
    fn page_fill(&self, tree: &str) -> Result<PageFill, Error>;

    /// Rewrites the database without free space (VACUUM).
    ///
    /// # Errors
    /// If the disk is full or a connection is in the way.
    fn vacuum(&self) -> Result<(), Error>;

    /// Drops the database's pages from the page cache of the operating system, so that the next read is cold. Returns
    /// `false` if that is not possible, as for every server. A server fills its own cache from its start, and only a
    /// restart empties it. Existing readers keep their own page cache.
    ///
    /// # Errors
    /// If the files cannot be opened.
    fn forget_cached_pages(&self) -> Result<bool, Error> {
        Ok(false)
    }

    /// Returns the plan of a query, one line per step.
    ///
    /// # Errors
    /// If the query is wrong.
    fn query_plan(&self, sql: &str) -> Result<Vec<String>, Error>;
}

/// Returns the error of an engine that loads tables only as they are.
pub(crate) fn no_changes(table: &str) -> Error {
    Error::Database {
        doing: format!("preparing {table}"),
        message:
            "a load into this database can't create, empty, extend or update a table: do that \
                  yourself, and load with --append"
                .to_owned(),
    }
}

/// A table of one database.
pub struct DatabaseTable {
    database: Arc<dyn Database>,
    name: String,
    change: Option<TableChange>,
}

impl DatabaseTable {
    /// Returns the table of this name, which need not exist.
    pub fn new(database: Arc<dyn Database>, name: &str) -> Self {
        DatabaseTable {
            database,
            name: name.to_owned(),
            change: None,
        }
    }
}

impl LoadTable for DatabaseTable {
    fn shape(&self) -> Result<LoadShape, Error> {
        match &self.change {
            Some(change) => self.database.shape_after(&self.name, change),
            None => self.database.load_shape(&self.name),
        }
    }

    fn load(&self, columns: &[&str], survives_refusals: bool) -> Result<Load, Error> {
        let (database, name) = (&self.database, &*self.name);
        match &self.change {
            Some(change) => database.load_after(name, columns, survives_refusals, change),
            None => database.load(name, columns, survives_refusals),
        }
    }

    fn has_rows(&self, lock_max: Duration) -> Result<Option<bool>, Error> {
        self.database.has_rows(&self.name, lock_max)
    }

    fn changed(self: Box<Self>, change: TableChange) -> Result<Box<dyn LoadTable>, Error> {
        Ok(Box::new(DatabaseTable {
            change: Some(change),
            ..*self
        }))
    }
}
