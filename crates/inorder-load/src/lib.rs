//! Loads rows from files into a table in the order of its key.
//!
//! Rows in the order of the key fill the pages of a B-tree one after another, so that each page is written once. This
//! crate reads CSV, TSV, JSON, IMDb's `title.basics.tsv`, tables of SQLite files and, with the feature `parquet`,
//! Parquet files; it sorts the rows by the key of the table, spilling to disk what exceeds the memory, and writes them in
//! one transaction. An empty table of SQLite is built page by page, without SQL (see [`inorder_btree`]), and one that has
//! rows is merged with the new ones where that writes fewer pages than inserts; other tables are filled by INSERT statements. PostgreSQL and MariaDB take the rows by their own bulk load.
//!
//! A [`Job`] says what is loaded, [`run`] loads it, and the [`Summary`] says what was done:
//!
//! ```
//! use inorder_load::{Job, OnDuplicate, Progress, run, source::Location};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let (csv, database) = (folder.path().join("films.csv"), folder.path().join("films.db"));
//! std::fs::write(&csv, "id,title\nb,Brazil\na,Alien\nb,Brazil\n")?;
//! let db = rusqlite::Connection::open(&database)?;
//! db.execute_batch("CREATE TABLE film(id TEXT PRIMARY KEY, title TEXT) WITHOUT ROWID")?;
//!
//! let input = Location { path: csv, table: None };
//! let mut job = Job::new(vec![input], database.display().to_string(), "film".to_owned());
//! job.on_duplicate = OnDuplicate::Ignore;
//! let summary = run(&job, &Progress::default())?;
//!
//! assert_eq!((summary.rows_read, summary.rows_written, summary.rows_duplicate), (3, 2, 1));
//! assert_eq!(summary.sorted_by, ["id"]);
//! let first: String = db.query_row("SELECT title FROM film", [], |row| row.get(0))?;
//! assert_eq!(first, "Alien");
//! # Ok(())
//! # }
//! ```
//!
//! A load that fails, is stopped ([`Progress::stop`]) or is killed leaves the database as it was.
//!
//! [`group`] is for applications: it collects rows of many threads and commits them together, in the order of the key.

mod database;
mod destination;
mod disk_space;
mod encode;
mod error;
pub mod files;
pub mod group;
mod job;
mod note;
pub mod order;
mod pages;
mod pipeline;
pub mod raw_pages;
mod row_writer;
mod rows;
mod schema;
mod sink;
pub mod source;
mod sql;

pub use destination::{Create, ForeignKey, FullText, KeySpec};
pub use encode::Decode;
pub use error::Error;
pub use job::{
    DecodeAs, Existing, Job, OnDuplicate, Phase, Progress, RowOrder, Seconds, Summary,
    WriterChoice, memory_bytes_default, threads_default,
};
pub use note::{Note, NoteKind};
pub use pipeline::{GivenRows, run, run_into, run_rows};
pub use source::{GivenRow, Table};
