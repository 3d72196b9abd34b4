//! A pool of connections that only read.

use super::open_reader;
use crate::Result;
use rusqlite::Connection;
use std::{
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
};
use tokio::{sync::Semaphore, task};

/// Connections to a file, opened when they are first wanted.
pub struct Readers {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
    /// Of those who read long; some cores stay for everybody else.
    long: Semaphore,
}

impl Readers {
    /// A pool over this file.
    pub fn new(path: &Path) -> Self {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        Readers {
            path: path.to_owned(),
            idle: Mutex::default(),
            long: Semaphore::new(cores.div_ceil(2)),
        }
    }

    /// Reads on this thread, all of it from one moment's state.
    ///
    /// # Errors
    /// That of `work`.
    pub fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let idle = self.idle().pop();
        let connection = idle.map_or_else(|| open_reader(&self.path), Ok)?;
        run(&connection, "BEGIN")?;
        let result = work(&connection);
        // One whose transaction didn't end would show this moment for ever.
        run(&connection, "COMMIT")?;
        self.idle().push(connection);
        result
    }

    /// Reads on another thread: for what may look at many rows.
    ///
    /// # Errors
    /// That of `work`.
    pub async fn read_long<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let _permit = self.long.acquire().await.map_err(io::Error::other)?;
        let readers = Arc::clone(self);
        let read = task::spawn_blocking(move || readers.read(work));
        read.await.map_err(io::Error::other)?
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn run(connection: &Connection, sql: &str) -> Result<()> {
    connection.prepare_cached(sql)?.execute([])?;
    Ok(())
}
