//! Requests to a document.

mod answer;
mod attachment;
mod copy;
mod form;
mod local;
mod options;
pub mod parts;
mod read;
mod received;
mod write;

pub use answer::{is_known, location, not_modified};
pub use attachment::{delete_attachment, get_attachment, put_attachment};
pub use copy::copy;
pub use form::post_form;
pub use local::{no_local_attachment, no_local_id};
pub use options::{Accepts, get_options, shown_options};
pub use read::{get, plain};
pub use write::{NO_REVISION, delete, post, put};
