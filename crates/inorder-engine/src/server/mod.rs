//! Common code of server engines: finding programs, running private servers, connections for writing and reading, and
//! their SQL.
//!
//! A server runs as an unprivileged user on a Unix socket in its own folders. It ends with the process that started
//! it:
//! - after a normal end or a panic, dropping the last connection's [`Server`] stops it;
//! - a *watchdog*, a shell that reads from a pipe of this process, stops it when the pipe closes, which the kernel
//!   also does after `kill -9`;
//! - the next start stops and removes any remaining server ([`home`]).

pub mod children;
pub mod environment;
pub mod find;
pub mod home;
mod kept;
pub mod owner;
pub mod process;
pub mod replay;
pub mod session;
mod sessions;
pub mod sql;
pub mod template;
pub mod user;
mod writer;

pub use find::Programs;
pub use home::Home;
pub use kept::Kept;
pub use process::Server;
pub use session::{Connection, Failure};
pub use sessions::Sessions;
pub use writer::{ServerReader, ServerWriter};
