//! The place to which documents are sent.

use super::spool::Spool;
use crate::http::Server;
use crate::store::Database;

/// Where documents go, and how large they may be.
#[derive(Debug, Clone, Copy)]
pub struct Receiver<'a> {
    /// Limits the memory.
    pub server: &'a Server,
    /// The database.
    pub db: &'a Database,
}

impl Receiver<'_> {
    /// Returns a place for bytes that wait.
    pub fn spool(&self) -> Spool {
        Spool::new(self.db, &self.server.body_memory)
    }
}
