//! One document after another, written within a job of the writing thread.

mod attachments;
mod edit;
mod ground;
mod group;
mod proposal;
mod put;
mod ready;
mod writer;

pub use proposal::{Basis, Consent, Draft, Progress, Proposal};
pub use ready::{Ready, ReadyAttachment, ReadyContent};
pub use writer::Writer;
