//! Errors of copies.

/// An error: what was wrong, where, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A server failed.
    #[error(transparent)]
    Server(#[from] inorder_engine::Error),
    /// A SQLite database failed.
    #[error("{path}: {source}")]
    Sqlite {
        /// Its file.
        path: String,
        /// SQLite's reason.
        source: rusqlite::Error,
    },
    /// The job can't be done.
    #[error("{0}")]
    Refused(String),
    /// A value has no equivalent in the destination.
    #[error("table {table}, row {row}, column `{column}`: {what}")]
    Value {
        /// The table.
        table: String,
        /// The number of the row in the order of the key, from 1.
        row: u64,
        /// The column.
        column: String,
        /// The fault, and the remedy.
        what: String,
    },
    /// The rows of a table can't be written to SQLite.
    #[error("table {table}: {source}")]
    Load {
        /// The table.
        table: String,
        /// The loader's reason.
        source: Box<inorder_load::Error>,
    },
    /// The rows in the destination are not those of the source.
    #[error(
        "table {table}: {read} rows were read and {stored} rows were found in the copy, and their contents differ in {what}; \
         the table was not kept"
    )]
    Differs {
        /// The table.
        table: String,
        /// The rows read from the source.
        read: u64,
        /// The rows found in the destination.
        stored: u64,
        /// What differs.
        what: String,
    },
    /// Source and copy compute different things of a column.
    #[error(
        "table {table}, column `{column}`: the source says that its {measure} is {source_says}, and the copy {copy_says}; \
         the table was not kept"
    )]
    Means {
        /// The table.
        table: String,
        /// The column.
        column: String,
        /// What was computed.
        measure: &'static str,
        /// The result in the source.
        source_says: String,
        /// The result in the copy.
        copy_says: String,
    },
    /// The copy was stopped.
    #[error("stopped; finished tables are kept, and the same command continues with the others")]
    Stopped,
}
