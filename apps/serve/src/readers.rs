//! A pool of connections that read.

use rusqlite::Connection;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The pool was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the database was closed")]
pub struct PoolClosed;

/// Lends connections to readers. A connection is opened when none is idle; the one returned last is lent first.
///
/// A connection that is returned within a transaction is closed, not lent again, unless the pool
/// [keeps snapshots](ReaderPool::keeping_snapshots).
pub struct ReaderPool<E> {
    open: Box<dyn Fn() -> Result<Connection, E> + Send + Sync>,
    connections_max: usize,
    keeps_snapshots: bool,
    state: Mutex<State>,
    returned: Condvar,
}

#[derive(Default)]
struct State {
    idle: Vec<Connection>,
    lent: usize,
    /// Readers that wait for a connection. Without any the notification, a system call, is saved.
    waiting: usize,
    /// Transactions that began. A snapshot from before the last one is not kept.
    writes: u64,
    is_writing: bool,
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
            keeps_snapshots: false,
            state: Mutex::default(),
            returned: Condvar::new(),
        }
    }

    /// Keeps the snapshot of a reader for the readers that follow, until the next write. That saves two locks of the file, two
    /// system calls, per read. One process may write to the file. Its only writer must be a [`WriteQueue`](crate::WriteQueue)
    /// that was [started beside](crate::WriteQueue::start_beside) this pool, or write between [`ReaderPool::writing`] and the drop
    /// of what that returns.
    pub fn keeping_snapshots(mut self) -> Self {
        self.keeps_snapshots = true;
        self
    }

    /// Calls `read` with a connection, outside of a transaction. Waits while all connections are lent.
    ///
    /// # Errors
    /// The error of `read` or of opening a connection; one made from [`PoolClosed`] after [`ReaderPool::close`].
    pub fn read<T>(&self, read: impl FnOnce(&Connection) -> Result<T, E>) -> Result<T, E> {
        let mut lent = self.lent()?;
        let connection = lent.connection(&self.open)?;
        end_snapshot(connection)?;
        read(connection)
    }

    /// Calls `read`, which executes one statement, with a connection. It sees all writes that were answered before.
    ///
    /// # Errors
    /// Those of [`ReaderPool::read`].
    pub fn read_one<T>(&self, read: impl FnOnce(&Connection) -> Result<T, E>) -> Result<T, E> {
        let lent = self.lent()?;
        let is_alone = !lent.may_keep;
        self.read_with(lent, is_alone, read)
    }

    /// Calls `read` with a connection within a transaction: all statements see one snapshot, which has all writes that were
    /// answered before.
    ///
    /// # Errors
    /// Those of [`ReaderPool::read`].
    pub fn read_snapshot<T>(&self, read: impl FnOnce(&Connection) -> Result<T, E>) -> Result<T, E> {
        let lent = self.lent()?;
        self.read_with(lent, false, read)
    }

    fn read_with<T>(
        &self,
        mut lent: Lent<'_, E>,
        is_alone: bool,
        read: impl FnOnce(&Connection) -> Result<T, E>,
    ) -> Result<T, E> {
        let may_keep = lent.may_keep;
        let connection = lent.connection(&self.open)?;
        if is_alone {
            return read(connection);
        }
        if connection.is_autocommit() {
            connection.prepare_cached("BEGIN")?.execute([])?;
        }
        let given = read(connection);
        match may_keep {
            true => lent.keeps = true,
            false => end_snapshot(connection)?,
        }
        given
    }

    fn lent(&self) -> Result<Lent<'_, E>, E> {
        let (connection, writes, is_writing) = self.lend()?;
        Ok(Lent {
            pool: self,
            connection,
            writes,
            may_keep: self.keeps_snapshots && !is_writing,
            keeps: false,
        })
    }
}

/// Ends the transaction of a connection, if it has one.
fn end_snapshot(connection: &Connection) -> rusqlite::Result<()> {
    if !connection.is_autocommit() {
        connection.prepare_cached("COMMIT")?.execute([])?;
    }
    Ok(())
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

    /// Announces a transaction that writes; it ends before the returned value is dropped. There is one at a time.
    pub fn writing(&self) -> Writing<'_, E> {
        self.write_begins();
        Writing(self)
    }

    /// Ends the snapshots that are kept, before a transaction that writes: the next readers see what it writes, and its
    /// checkpoint is not held up.
    pub(crate) fn write_begins(&self) {
        let mut kept = Vec::new();
        let mut state = self.lock();
        state.is_writing = true;
        state.writes += 1;
        if self.keeps_snapshots {
            let (idle, with_snapshot) = std::mem::take(&mut state.idle)
                .into_iter()
                .partition(Connection::is_autocommit);
            state.idle = idle;
            kept = with_snapshot;
            state.lent += kept.len();
        }
        drop(state);
        for connection in kept {
            let ended = end_snapshot(&connection);
            self.take_back(ended.is_ok().then_some(connection));
        }
    }

    /// Allows to keep snapshots again.
    pub(crate) fn write_ended(&self) {
        self.lock().is_writing = false;
    }

    /// Takes an idle connection, or the permission to open one. Returns also how many transactions began, and whether the last
    /// one is still open.
    fn lend(&self) -> Result<(Option<Connection>, u64, bool), PoolClosed> {
        let mut state = self.lock();
        loop {
            if state.is_closed {
                return Err(PoolClosed);
            }
            if !state.idle.is_empty() || state.lent < self.connections_max {
                state.lent += 1;
                return Ok((state.idle.pop(), state.writes, state.is_writing));
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
        self.add_idle(self.lock(), connection);
    }

    /// Takes a connection back with its snapshot, unless a transaction began since it was lent.
    fn take_back_kept(&self, connection: Connection, writes: u64) {
        let state = self.lock();
        if state.writes == writes {
            return self.add_idle(state, Some(connection));
        }
        drop(state);
        let ended = end_snapshot(&connection);
        self.take_back(ended.is_ok().then_some(connection));
    }

    fn add_idle(&self, mut state: MutexGuard<'_, State>, connection: Option<Connection>) {
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

/// A transaction that writes, beside readers that keep snapshots.
#[must_use]
pub struct Writing<'a, E>(&'a ReaderPool<E>);

impl<E> Drop for Writing<'_, E> {
    fn drop(&mut self) {
        self.0.write_ended();
    }
}

/// Returns the connection when the reader ends or panics.
struct Lent<'a, E> {
    pool: &'a ReaderPool<E>,
    connection: Option<Connection>,
    /// The transactions that had begun when it was lent.
    writes: u64,
    /// Whether no transaction was open then.
    may_keep: bool,
    /// Whether it is returned with its snapshot.
    keeps: bool,
}

impl<E> Lent<'_, E> {
    fn connection(&mut self, open: impl Fn() -> Result<Connection, E>) -> Result<&Connection, E> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => open()?,
        };
        Ok(self.connection.insert(connection))
    }
}

impl<E> Drop for Lent<'_, E> {
    fn drop(&mut self) {
        match self.connection.take() {
            Some(connection) if self.keeps => self.pool.take_back_kept(connection, self.writes),
            connection => {
                let usable = connection.filter(Connection::is_autocommit);
                self.pool.take_back(usable);
            }
        }
    }
}
