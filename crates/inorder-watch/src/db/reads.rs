//! A pool of connections that only read.

use super::open_reader;
use crate::{Error, Result};
use rusqlite::Connection;
use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    thread,
};
use tokio::{sync::Semaphore, task};

/// Connections to a file, opened when they are first wanted.
pub struct Readers {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
    permits: Semaphore,
}

impl Readers {
    /// A pool over this file, of twice as many connections as there are cores.
    pub fn new(path: &Path) -> Self {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        Readers {
            path: path.to_owned(),
            idle: Mutex::default(),
            permits: Semaphore::new(cores * 2),
        }
    }

    /// Reads on a thread that may wait for the disk.
    ///
    /// # Errors
    /// That of `work`.
    pub async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let ended = |_| Error::Io(std::io::Error::other("the server is ending"));
        let _permit = self.permits.acquire().await.map_err(ended)?;
        let readers = Arc::clone(self);
        match task::spawn_blocking(move || readers.read_now(work)).await {
            Ok(result) => result,
            Err(panic) => Err(Error::Io(std::io::Error::other(panic))),
        }
    }

    /// Reads on this thread.
    ///
    /// # Errors
    /// That of `work`.
    pub fn read_now<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let idle = self.idle().pop();
        let connection = idle.map_or_else(|| open_reader(&self.path), Ok)?;
        // A transaction, so that all statements see one state. It ends when it is dropped.
        let result = {
            let transaction = connection.unchecked_transaction()?;
            work(&transaction)
        };
        self.idle().push(connection);
        result
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
