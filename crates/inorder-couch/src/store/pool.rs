//! Connections that read.

use super::{Error, Result, schema};
use rusqlite::Connection;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Lends connections: opened when first needed, at most so many, the last returned is the first lent.
pub struct Pool {
    path: PathBuf,
    connections_max: usize,
    state: Mutex<State>,
    returned: Condvar,
}

#[derive(Default)]
struct State {
    idle: Vec<Connection>,
    lent: usize,
    /// Readers that wait for a connection: waking nobody is a system call, too.
    waiting: usize,
    is_closed: bool,
}

impl Pool {
    pub fn new(path: PathBuf, connections_max: usize) -> Self {
        Pool {
            path,
            connections_max: connections_max.max(1),
            state: Mutex::default(),
            returned: Condvar::new(),
        }
    }

    /// Reads through a connection, and waits for one while all are lent.
    pub fn read<T>(&self, read: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let lent = self.lend()?;
        let connection = match lent {
            Some(connection) => connection,
            None => match schema::open_reader(&self.path) {
                Ok(connection) => connection,
                Err(error) => {
                    self.take_back(None);
                    return Err(error);
                }
            },
        };
        let mut lent = Lent {
            pool: self,
            connection: Some(connection),
        };
        lent.connection
            .as_mut()
            .map_or(Err(Error::Closed), |it| read(it))
    }

    /// Like [`Pool::read`], in one snapshot.
    pub fn read_snapshot<T>(&self, read: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        self.read(|connection| {
            let transaction = connection.unchecked_transaction()?;
            let given = read(&transaction)?;
            transaction.commit()?;
            Ok(given)
        })
    }

    /// Closes all connections, once they are back. Nothing is read afterwards.
    pub fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        state.idle.clear();
        self.returned.notify_all();
        while state.lent > 0 {
            state = self.wait(state);
        }
    }

    /// An idle connection, or the permission to open one.
    fn lend(&self) -> Result<Option<Connection>> {
        let mut state = self.lock();
        loop {
            if state.is_closed {
                return Err(Error::Closed);
            }
            if !state.idle.is_empty() || state.lent < self.connections_max {
                state.lent += 1;
                return Ok(state.idle.pop());
            }
            state = self.wait(state);
        }
    }

    fn wait<'a>(&self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        state.waiting += 1;
        let waited = self.returned.wait(state);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        state.waiting -= 1;
        state
    }

    fn take_back(&self, connection: Option<Connection>) {
        let mut state = self.lock();
        state.lent -= 1;
        if !state.is_closed {
            state.idle.extend(connection);
        }
        let is_awaited = state.waiting > 0;
        drop(state);
        if is_awaited {
            self.returned.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes the connection back when the reader is done, or panics.
struct Lent<'a> {
    pool: &'a Pool,
    connection: Option<Connection>,
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        // A connection in the middle of a transaction is not lent again.
        let connection = self.connection.take();
        self.pool
            .take_back(connection.filter(Connection::is_autocommit));
    }
}
