//! Rows on their way: from the inputs, past the rejects, to a writer.

mod batch;
mod block;
mod inputs;
mod origins;
mod rejects;

pub(crate) use batch::{Batch, Clash, Context, spilled};
pub(crate) use block::{Block, Blocks, Next};
pub(crate) use inputs::{Header, Inputs, bytes_total};
pub(crate) use origins::Origins;
pub(crate) use rejects::Rejects;
