//! The load: rows from files, in the order of their key, into a table.

mod batch;
mod clash;
mod inputs;
mod job;
mod naive;
mod plan;
mod progress;
mod rejects;
mod run;
mod summary;

pub(crate) use batch::spilled;
pub use batch::{Batch, OnDuplicate};
pub use inputs::Origins;
pub use job::{Job, Order, memory_bytes_default};
pub use plan::DecodeAs;
pub use progress::{Phase, Progress};
pub use rejects::Rejects;
pub use run::{run, run_into};
pub use summary::{Seconds, Summary};
