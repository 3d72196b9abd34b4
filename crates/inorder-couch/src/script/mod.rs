//! JavaScript of design documents, in QuickJS, with limits on memory and time and no way out.

mod cache;
mod sandbox;

pub use cache::ScriptCache;
pub use sandbox::{Limits, Script, ScriptError, Verdict};
