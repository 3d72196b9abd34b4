//! SQLite database files written page by page, bottom up, from records that come in order.
//!
//! The file format and nothing else: no SQL, no schema, no database driver. Everything here follows
//! <https://www.sqlite.org/fileformat2.html>.
//!
//! A [`Builder`] writes a file from its first page to its last, one tree after another; only the pages on
//! each tree's right edge are in memory. Rows come as [`record`]s, in the order of their tree: by rowid into
//! [`Builder::table`], by a [`KeyOrder`] into [`Builder::index`], which also makes WITHOUT ROWID tables, or into
//! both at once with [`Builder::table_with_index`].

mod builder;
mod cell;
pub mod direct;
mod error;
mod geometry;
mod header;
mod index;
mod numbers;
mod options;
mod output;
mod page;
mod pair;
mod pointer_map;
pub mod record;
mod schema;
mod sink;
mod spine;
mod table;

pub use builder::Builder;
pub use error::Error;
pub use index::IndexBuilder;
pub use options::{AutoVacuum, Options};
pub use pair::PairBuilder;
pub use record::{Collation, KeyColumn, KeyOrder, Record, TextEncoding, Value};
pub use schema::SchemaEntry;
pub use table::TableBuilder;
