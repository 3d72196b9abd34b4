//! Requests to a document.

mod answer;
mod attachment;
mod content;
mod copy;
mod local;
mod options;
pub mod parts;
mod read;
mod received;
mod write;

pub use attachment::{delete_attachment, get_attachment, put_attachment};
pub use copy::copy;
pub use options::{Accepts, get_options, shown_options};
pub use read::get;
pub use write::{delete, post, put};
