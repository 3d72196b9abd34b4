//! Builds SQLite database files bottom-up from sorted records, without SQL.
//!
//! A [`Builder`] writes a file from its first page to its last, one tree after another. Each page is written once; only the
//! pages on the right edge of a tree are in memory. Rows come as [`record`]s in the order of their tree:
//!
//! | tree | rows come in the order of |
//! | --- | --- |
//! | [`Builder::table`]: a table with rowids | the rowid |
//! | [`Builder::index`]: an index, or a WITHOUT ROWID table | a [`KeyOrder`] |
//! | [`Builder::table_with_index`]: a table and one of its indexes | both |
//!
//! A [`Reader`] returns the records of an existing file. [`Builder::extend`] builds trees behind the pages of a database,
//! [`Builder::append`] those of tables that it has, a [`PageMap`] tells which pages a tree has, and [`Moves`] brings the last pages of a file into its free ones.
//!
//! ```
//! use inorder_btree::{Builder, Options, SchemaEntry, Value, record};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("films.db");
//! let builder = Builder::create(std::fs::File::create(&path)?, Options::default())?;
//! let mut table = builder.table()?;
//! let mut row = Vec::new();
//! for (rowid, title) in [(1, "Alien"), (2, "Brazil")] {
//!     row.clear();
//!     record::encode(&[Value::Text(title.as_bytes())], &mut row);
//!     table.push(rowid, &row)?;
//! }
//! let (builder, root) = table.finish()?;
//! let file = builder.finish(&[SchemaEntry {
//!     kind: "table".into(),
//!     name: "film".into(),
//!     table_name: "film".into(),
//!     root,
//!     sql: Some("CREATE TABLE film(title TEXT)".into()),
//! }])?;
//! file.sync_all()?;
//!
//! let db = rusqlite::Connection::open(&path)?;
//! let title: String = db.query_row("SELECT title FROM film WHERE rowid = 2", [], |row| row.get(0))?;
//! assert_eq!(title, "Brazil");
//! # Ok(())
//! # }
//! ```
//!
//! The crate knows the file format and nothing else: no SQL, no schemas, no database driver. The caller sorts the records,
//! and writes the `CREATE` statements that the schema has.
//!
//! Source: <https://www.sqlite.org/fileformat2.html>.

mod builder;
mod cell;
mod cells;
mod density;
mod error;
mod free_list;
mod geometry;
mod header;
mod index;
mod mapped;
mod moves;
mod numbers;
pub mod o_direct;
mod options;
mod output;
mod page;
mod page_file;
mod page_map;
mod payload;
mod pointer_map;
mod reader;
pub mod record;
pub mod rollback;
mod schema;
mod spine;
mod table;
mod windows;

pub use builder::{Builder, IndexBuilder, PairBuilder, TableBuilder};
pub use cells::LeafPage;
pub use error::Error;
pub use free_list::{FreeList, Sizes};
pub use header::set_schema_cookie;
pub use mapped::Mapped;
pub use moves::Moves;
pub use numbers::lock_page;
pub use options::{AutoVacuum, Options};
pub use output::Appended;
pub use page_map::PageMap;
pub use reader::{Reader, Visitor};
pub use record::{Collation, KeyColumn, KeyOrder, Record, TextEncoding, Value};
pub use schema::SchemaEntry;
