//! A pool of connections that read.

use rusqlite::Connection;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The pool was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the database was closed")]
pub struct PoolClosed;

/// Lends connections to readers. A connection is opened when none is idle; the one returned last is lent first.
///
/// A connection that is returned within a transaction is closed, not lent again.
pub struct ReaderPool<E> {
    open: Box<dyn Fn() -> Result<Connection, E> + Send + Sync>,
    connections_max: usize,
    state: Mutex<State>,
    returned: Condvar,
}

#[derive(Default)]
struct State {
    idle: Vec<Connection>,
    lent: usize,
    /// Readers that wait for a connection. Without any the notification, a system call, is saved.
    waiting: usize,
    is_closed: bool,
}

impl<E: From<PoolClosed> + From<rusqlite::Error>> ReaderPool<E> {
    /// Makes a pool whose connections are opened by `open`. At most `connections_max` are open at a time.
    pub fn new(
        connections_max: usize,
        open: impl Fn() -> Result<Connection, E> + Send + Sync + 'static,
    ) -> Self {
        ReaderPool {
            open: Box::new(open),
            connections_max: connections_max.max(1),
            state: Mutex::default(),
            returned: Condvar::new(),
        }
    }

    /// Calls `read` with a connection. Waits while all connections are lent.
    ///
    /// # Errors
    /// The error of `read` or of opening a connection; one made from [`PoolClosed`] after [`ReaderPool::close`].
    pub fn read<T>(&self, read: impl FnOnce(&Connection) -> Result<T, E>) -> Result<T, E> {
        let mut lent = Lent {
            connection: self.lend()?,
            pool: self,
        };
        let connection = match lent.connection.take() {
            Some(connection) => connection,
            None => (self.open)()?,
        };
        read(lent.connection.insert(connection))
    }

    /// Calls `read` with a connection within a transaction: all statements see one snapshot.
    ///
    /// # Errors
    /// Those of [`ReaderPool::read`].
    pub fn read_snapshot<T>(&self, read: impl FnOnce(&Connection) -> Result<T, E>) -> Result<T, E> {
        self.read(|connection| {
            connection.prepare_cached("BEGIN")?.execute([])?;
            let given = read(connection);
            connection.prepare_cached("COMMIT")?.execute([])?;
            given
        })
    }
}

impl<E> ReaderPool<E> {
    /// Waits until all connections are returned and closes them. Later reads fail.
    pub fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        state.idle.clear();
        self.returned.notify_all();
        while state.lent > 0 {
            state = self.wait(state);
        }
    }

    /// Takes an idle connection, or the permission to open one.
    fn lend(&self) -> Result<Option<Connection>, PoolClosed> {
        let mut state = self.lock();
        loop {
            if state.is_closed {
                return Err(PoolClosed);
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

/// Returns the connection when the reader ends or panics.
struct Lent<'a, E> {
    pool: &'a ReaderPool<E>,
    connection: Option<Connection>,
}

impl<E> Drop for Lent<'_, E> {
    fn drop(&mut self) {
        let connection = self.connection.take();
        self.pool
            .take_back(connection.filter(Connection::is_autocommit));
    }
}
