//! Tables that rows are loaded into, many at once.

use crate::{ColumnInfo, Database, Error, Writer};
use std::sync::Arc;

/// A load into one table, in one transaction that has begun.
pub struct Load {
    /// Writes the rows, and commits. Whatever ends it before leaves the table as it was.
    pub writer: Box<dyn Writer>,
    /// What is worth knowing of how rows are written, in words.
    pub told: Vec<String>,
}

/// A table that rows are loaded into, wherever they lie.
pub trait LoadTable: Send + Sync {
    /// Its columns, in order; empty when there is no such table.
    ///
    /// # Errors
    /// When the engine doesn't answer.
    fn columns(&self) -> Result<Vec<ColumnInfo>, Error>;

    /// Begins to load rows into these columns.
    ///
    /// # Errors
    /// When the table or a column isn't there.
    fn load(&self, columns: &[&str]) -> Result<Load, Error>;
}

/// A table of one database.
pub struct DatabaseTable {
    database: Arc<dyn Database>,
    name: String,
}

impl DatabaseTable {
    /// The table of this name, which need not be there.
    pub fn new(database: Arc<dyn Database>, name: &str) -> Self {
        DatabaseTable {
            database,
            name: name.to_owned(),
        }
    }
}

impl LoadTable for DatabaseTable {
    fn columns(&self) -> Result<Vec<ColumnInfo>, Error> {
        self.database.columns(&self.name)
    }

    fn load(&self, columns: &[&str]) -> Result<Load, Error> {
        self.database.load(&self.name, columns)
    }
}
