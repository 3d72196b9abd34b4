//! What servers have in common: finding their programs, running one privately, connections that
//! write and read, and their SQL.
//!
//! A server runs as an unprivileged user on a Unix socket, in folders of its own, and ends with the
//! process that started it, however that ends:
//! - normally and on a panic it is stopped when the last connection's [`Server`] is dropped;
//! - a *watchdog*, a shell that reads from a pipe of this process, stops it when the pipe closes,
//!   which the kernel sees to after `kill -9` too;
//! - what even that left behind is stopped and removed by the next start ([`home`]).

pub mod find;
pub mod home;
pub mod owner;
pub mod process;
pub mod session;
pub mod sql;
pub mod template;
pub mod user;
mod writer;

pub use find::Programs;
pub use home::Home;
pub use process::Server;
pub use session::{Connection, Failure, Sessions};
pub use writer::{ServerReader, ServerWriter};
