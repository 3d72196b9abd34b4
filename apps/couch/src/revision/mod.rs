//! Revisions: names, the revision tree, and the revision hash, which is the same for the same edit on every server.

mod codec;
mod growth;
mod hash;
mod history;
mod name;
mod term;
mod tree;

pub use codec::CorruptTree;
pub use growth::Growth;
pub use hash::{AttachmentDigest, next};
pub use history::{History, HistoryError};
pub use name::{Revision, RevisionError, RevisionHash};
pub use term::{Term, TermError};
pub use tree::{Leaf, Merge, Node, Tree};
