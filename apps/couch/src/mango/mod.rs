//! Mango, CouchDB's query language: selectors, index definitions and query plans. It reads no database.
//!
//! A [`Selector`] is a condition; it is kept in CouchDB's normal form (names in full, negations at the leaves), because that
//! form decides which index may serve. An index is an SQLite index on an expression: [`collate`]'s key of some fields, whose
//! bytes are in CouchDB's order of JSON values. Every design document with the language `query` lists indexes; the
//! SQLite indexes follow it in the same transaction, however it was written.
//!
//! Where this differs from CouchDB: `$regex` is that of the `regex` crate, which has no look-around and no back references
//! and takes time in proportion to the text; text indexes are refused; indexes are built when they are created, not when they
//! are first asked.

pub mod collate;
mod error;
mod explain;
mod functions;
mod index;
mod path;
mod plan;
mod query;
mod selector;
mod sort;

pub use collate::COLLATOR_VERSION;
pub use error::Error;
pub use index::{Index, IndexDefinition, IndexWritten};
pub use query::{FindQuery, check_partition};
pub use selector::Selector;

pub(crate) use error::INVALID_LIST;
pub(crate) use explain::{candidates, hints};
pub(crate) use functions::{DOCUMENT, key_expression, register};
pub(crate) use index::{Definition, of_design, to_view};
pub(crate) use plan::{Chosen, Plan, warnings};
pub(crate) use query::{NO_BOOKMARK, invalid_bookmark};
pub(crate) use selector::LAST_CHARACTER;
