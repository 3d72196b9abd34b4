//! Documents of a request, read while they arrive.
//!
//! A request with many documents can be larger than the memory: large attachments go to the database as they arrive, and documents that
//! wait for the end of the request go to a file. Nothing is written to a document before the whole request was read.

mod data;
mod documents;
mod edits;
mod input;
mod receiver;
mod spool;

pub use edits::{Batches, Gathering, OneGiven, Unreadable};
pub use input::Input;
pub use receiver::Receiver;
pub use spool::Spool;
