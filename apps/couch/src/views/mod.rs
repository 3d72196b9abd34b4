//! Map and reduce views.
//!
//! [`Views`] keeps the indexes of all databases. An index belongs to the views of a design document; design documents with the
//! same functions share one, because its file is named after their signature. An index is a SQLite file of its own beside the
//! database (`index`): building it takes no lock of the database, and it can be removed at any time.
//!
//! A view is a B-tree whose nodes are rows of a table (`tree`). Inner nodes keep the number of rows and the reductions
//! of what is below them, so that an offset, a `skip` and the reduction of a range cost two paths of the tree. An update reads
//! the documents after the index's sequence, runs the map functions in a script host, and applies the rows in one
//! transaction (`update`).

mod batch;
mod design;
mod error;
mod index;
mod key;
mod node;
mod page;
mod query;
mod read;
mod reduce;
mod registry;
mod tree;
mod update;

pub use design::{Design, MapView};
pub use error::{Error, Result};
pub use index::Failed;
pub use key::Collation;
pub use page::{Page, ViewRow};
pub use query::{Given, Query, Update};
pub use read::{Answer, Reader};
pub use reduce::overflow_reason;
pub use registry::{IndexInfo, Views};
