//! Runs JavaScript of design documents in QuickJS, in separate processes: a function that does not return is killed
//! with its process.
//!
//! [`Scripts`] is all that the server knows of it: it takes a [`Function`] and the documents it is to be called with. Behind
//! it are processes that run the same program with a hidden subcommand ([`host`]), bound in number for each database and for
//! the server.

mod function;
pub mod host;
mod lane;
mod process;
mod sandbox;
mod scripts;
mod verdict;
mod wire;

pub use function::Function;
pub use lane::{Owner, Purpose};
pub use process::SUBCOMMAND;
pub use scripts::{ScriptSettings, Scripts};
pub use verdict::{ScriptError, ScriptLimits, Verdict};
