//! Finding documents by what is in them: CouchDB's Mango.
//!
//! A [`Selector`] is a condition; it is kept in CouchDB's normal form (names in full, negations at the leaves), because that
//! form decides which index may serve. An index is an SQLite index on an expression: [`collate`]'s key of some fields, whose
//! bytes are in CouchDB's order of JSON values. Every design document with the language `query` lists indexes; the
//! SQLite indexes follow it in the same transaction, however it was written.
//!
//! Where this differs from CouchDB: `$regex` is that of the `regex` crate, which has no look-around and no back references
//! and takes time in proportion to the text; text indexes and partitions are refused; indexes are built when they are
//! created, not when they are first asked.

mod catalog;
pub mod collate;
mod error;
mod explain;
mod find;
mod functions;
mod index;
mod path;
mod plan;
mod query;
mod selector;
mod sort;

pub use error::Error;
pub use explain::Explanation;
pub use find::FindPage;
pub use index::{Index, IndexDefinition, IndexWritten};
pub use query::FindQuery;
pub use selector::Selector;

pub(crate) use catalog::{create_index, delete_index, design_changed, indexes};
pub(crate) use explain::explain;
pub(crate) use find::find;
pub(crate) use functions::register;
