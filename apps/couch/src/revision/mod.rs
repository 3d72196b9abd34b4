//! Revisions: their names, the tree they grow in, and the hash that names the same edit the same everywhere.

mod codec;
mod hash;
mod history;
mod name;
mod term;
mod tree;

pub use codec::CorruptTree;
pub use hash::{AttachmentDigest, next};
pub use history::{History, HistoryError};
pub use name::{Revision, RevisionError, RevisionHash};
pub use term::{Term, TermError};
pub use tree::{Leaf, Merge, Node, Tree};
