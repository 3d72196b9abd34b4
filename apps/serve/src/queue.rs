//! A writing thread with group commit.

use crate::ReaderPool;
use rusqlite::Connection;
use std::{
    collections::VecDeque,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{self, Receiver, SyncSender, TryRecvError, TrySendError},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// Why the queue did not commit a write.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueueError {
    /// SQLite refused a statement or the commit of the transaction.
    #[error("{0}")]
    Sqlite(Arc<rusqlite::Error>),
    /// SQLite rolled the transaction back, because another write of it found the disk full or failing.
    #[error("the transaction was rolled back because the disk is full or failing; try again")]
    TakenBack,
    /// [`QueueLimits::waiting_writes_max`] writes wait.
    #[error("too many writes are waiting; try again")]
    Full,
    /// The write panicked and was rolled back.
    #[error("the write panicked")]
    Panicked,
    /// The queue has ended.
    #[error("the write queue has ended")]
    Ended,
}

impl From<rusqlite::Error> for QueueError {
    fn from(error: rusqlite::Error) -> Self {
        QueueError::Sqlite(Arc::new(error))
    }
}

/// The limits of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueLimits {
    /// Writes per transaction.
    pub transaction_writes_max: usize,
    /// Writes that wait for a transaction.
    pub waiting_writes_max: usize,
    /// How long a transaction stays open for more writes when none is waiting. Zero commits at once. A longer time makes
    /// larger transactions and delays each write.
    pub linger: Duration,
}

impl Default for QueueLimits {
    fn default() -> Self {
        QueueLimits {
            transaction_writes_max: 1024,
            waiting_writes_max: 4096,
            linger: Duration::ZERO,
        }
    }
}

/// Statistics of a queue since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueCounts {
    /// Committed writes.
    pub writes: u64,
    /// Committed transactions.
    pub commits: u64,
}

#[derive(Default)]
struct Counters {
    writes: AtomicU64,
    commits: AtomicU64,
}

/// A queue of writes and the thread that commits them in groups.
///
/// SQLite allows one writer at a time, and a durable commit costs a sync of the disk. Threads that write by themselves wait
/// for both in turn, and get [`SQLITE_BUSY`](https://www.sqlite.org/rescode.html#busy). Here one thread owns the writing
/// connection. The writes that arrive during a commit are committed together by the next one. Dropping the queue commits
/// the waiting writes and closes the connection.
///
/// ```
/// use inorder_serve::{QueueError, QueueLimits, WriteQueue};
///
/// let db = rusqlite::Connection::open_in_memory()?;
/// db.execute_batch("CREATE TABLE note(text TEXT NOT NULL)")?;
/// let queue = WriteQueue::start(db, QueueLimits::default())?;
/// let id: i64 = queue.run(|db| {
///     db.execute("INSERT INTO note VALUES ('first')", [])?;
///     Ok::<_, QueueError>(db.last_insert_rowid())
/// })?;
/// assert_eq!(id, 1); // committed
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct WriteQueue {
    sender: Option<SyncSender<Entry>>,
    thread: Option<JoinHandle<()>>,
    counters: Arc<Counters>,
}

/// Readers beside the writer, whatever their errors are.
trait Beside: Send + Sync {
    fn write_begins(&self);
    fn write_ended(&self);
}

impl<E: Send> Beside for ReaderPool<E> {
    fn write_begins(&self) {
        ReaderPool::write_begins(self);
    }

    fn write_ended(&self) {
        ReaderPool::write_ended(self);
    }
}

/// A waiting write.
enum Entry {
    /// In a transaction with others.
    Write(Box<dyn Write>),
    /// While no transaction is open.
    Alone(Box<dyn Write>),
}

/// A write without its types: it runs, and its caller gets the answer after the end of the transaction.
trait Write: Send {
    /// Runs it. Returns whether its changes are kept.
    fn run(&mut self, connection: &Connection) -> bool;

    /// Sends the caller the result of the write, or the error of the transaction.
    fn answer(self: Box<Self>, ended: Result<(), QueueError>);
}

struct Task<Work, Answer, T, E> {
    work: Option<Work>,
    given: Option<Result<T, E>>,
    answer: Answer,
}

impl<Work, Answer, T, E> Write for Task<Work, Answer, T, E>
where
    Work: FnOnce(&Connection) -> Result<T, E> + Send,
    Answer: FnOnce(Result<T, E>) + Send,
    T: Send,
    E: From<QueueError> + Send,
{
    fn run(&mut self, connection: &Connection) -> bool {
        let Some(work) = self.work.take() else {
            return false;
        };
        let given = catch_unwind(AssertUnwindSafe(|| work(connection)))
            .unwrap_or_else(|_| Err(QueueError::Panicked.into()));
        self.given.insert(given).is_ok()
    }

    fn answer(self: Box<Self>, ended: Result<(), QueueError>) {
        let given = match (self.given, ended) {
            // Its own error is more precise than that of the transaction.
            (Some(Err(error)), _) => Err(error),
            (Some(given), Ok(())) => given,
            (_, Err(error)) => Err(error.into()),
            (None, Ok(())) => Err(QueueError::Ended.into()),
        };
        let answer = self.answer;
        // A panic of the callback does not end the thread.
        let _ = catch_unwind(AssertUnwindSafe(|| answer(given)));
    }
}

impl WriteQueue {
    /// Starts the thread. The settings of the connection, such as `synchronous`, decide how durable a commit is.
    ///
    /// # Errors
    /// If the thread cannot be started.
    pub fn start(connection: Connection, limits: QueueLimits) -> io::Result<Self> {
        WriteQueue::start_with(connection, limits, None)
    }

    /// Starts the thread as the only writer beside a pool that [keeps snapshots](ReaderPool::keeping_snapshots).
    ///
    /// # Errors
    /// If the thread cannot be started.
    pub fn start_beside<E: Send + 'static>(
        readers: &Arc<ReaderPool<E>>,
        connection: Connection,
        limits: QueueLimits,
    ) -> io::Result<Self> {
        let readers: Arc<dyn Beside> = Arc::clone(readers) as _;
        WriteQueue::start_with(connection, limits, Some(readers))
    }

    fn start_with(
        connection: Connection,
        limits: QueueLimits,
        readers: Option<Arc<dyn Beside>>,
    ) -> io::Result<Self> {
        let (sender, receiver) = mpsc::sync_channel(limits.waiting_writes_max);
        let counters = Arc::new(Counters::default());
        let writer = Writer {
            connection,
            readers,
            limits,
            receiver,
            counters: Arc::clone(&counters),
            written: Vec::new(),
            kept: 0,
            next: VecDeque::new(),
        };
        let thread = thread::Builder::new()
            .name("sqlite-writer".to_owned())
            .spawn(move || writer.run())?;
        Ok(WriteQueue {
            sender: Some(sender),
            thread: Some(thread),
            counters,
        })
    }

    /// Runs `work` on the writing thread and returns when its transaction is committed. Waits while the queue is full.
    ///
    /// `work` runs in its own savepoint. If it returns an error, only its own changes are rolled back. It must not begin or
    /// end transactions.
    ///
    /// # Errors
    /// The error of `work`, or one made from [`QueueError`].
    pub fn run<T, E>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<QueueError> + Send + 'static,
    {
        self.wait_for(Entry::Write, work)
    }

    /// Like [`WriteQueue::run`], but with no transaction open: for `VACUUM`, checkpoints and work with its own transactions.
    ///
    /// # Errors
    /// The error of `work`, or one made from [`QueueError`].
    pub fn run_alone<T, E>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<QueueError> + Send + 'static,
    {
        self.wait_for(Entry::Alone, work)
    }

    /// Like [`WriteQueue::run`], without waiting. `answer` is called on the writing thread after the end of the transaction.
    /// It must be quick, such as waking a task.
    ///
    /// # Errors
    /// [`QueueError::Full`] and [`QueueError::Ended`]; `answer` is not called then.
    pub fn submit<T, E>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
        answer: impl FnOnce(Result<T, E>) + Send + 'static,
    ) -> Result<(), QueueError>
    where
        T: Send + 'static,
        E: From<QueueError> + Send + 'static,
    {
        let entry = Entry::Write(task(work, answer));
        let sender = self.sender.as_ref().ok_or(QueueError::Ended)?;
        sender.try_send(entry).map_err(|refused| match refused {
            TrySendError::Full(_) => QueueError::Full,
            TrySendError::Disconnected(_) => QueueError::Ended,
        })
    }

    /// Returns what the queue has done since its start.
    pub fn counts(&self) -> QueueCounts {
        QueueCounts {
            writes: self.counters.writes.load(Ordering::Relaxed),
            commits: self.counters.commits.load(Ordering::Relaxed),
        }
    }

    fn wait_for<T, E>(
        &self,
        entry: fn(Box<dyn Write>) -> Entry,
        work: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<QueueError> + Send + 'static,
    {
        let (told, given) = mpsc::sync_channel(1);
        let answer = move |given| {
            let _ = told.send(given);
        };
        let sender = self.sender.as_ref().ok_or(QueueError::Ended)?;
        let sent = sender.send(entry(task(work, answer)));
        sent.map_err(|_| QueueError::Ended)?;
        given
            .recv()
            .unwrap_or_else(|_| Err(QueueError::Ended.into()))
    }
}

impl Drop for WriteQueue {
    fn drop(&mut self) {
        // Without a sender the thread ends when the queue is empty.
        self.sender = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn task<T, E>(
    work: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    answer: impl FnOnce(Result<T, E>) + Send + 'static,
) -> Box<dyn Write>
where
    T: Send + 'static,
    E: From<QueueError> + Send + 'static,
{
    Box::new(Task {
        work: Some(work),
        given: None,
        answer,
    })
}

/// The writing thread.
struct Writer {
    connection: Connection,
    readers: Option<Arc<dyn Beside>>,
    limits: QueueLimits,
    receiver: Receiver<Entry>,
    counters: Arc<Counters>,
    /// The writes of the open transaction.
    written: Vec<Box<dyn Write>>,
    /// The number of writes that kept their changes.
    kept: u64,
    /// Entries taken from the queue that wait for the end of the transaction.
    next: VecDeque<Entry>,
}

impl Writer {
    fn run(mut self) {
        while let Some(entry) = self.next.pop_front().or_else(|| self.receiver.recv().ok()) {
            if let Some(readers) = &self.readers {
                readers.write_begins();
            }
            match entry {
                Entry::Write(first) => self.transaction(first),
                Entry::Alone(mut write) => {
                    let kept = write.run(&self.connection);
                    self.leave_no_transaction();
                    self.count(u64::from(kept), 0);
                    write.answer(Ok(()));
                }
            }
            if let Some(readers) = &self.readers {
                readers.write_ended();
            }
        }
    }

    /// Runs a transaction with this write and the waiting ones.
    fn transaction(&mut self, first: Box<dyn Write>) {
        if let Err(error) = self.statement("BEGIN IMMEDIATE") {
            return first.answer(Err(error));
        }
        let until = Instant::now() + self.limits.linger;
        let mut write = first;
        loop {
            if let Err(error) = self.write(write) {
                return self.end(Err(error));
            }
            if self.written.len() >= self.limits.transaction_writes_max {
                break;
            }
            match self.another(until) {
                Some(Entry::Write(another)) => write = another,
                Some(alone) => {
                    self.next.push_back(alone);
                    break;
                }
                None => break,
            }
        }
        let committed = self.statement("COMMIT");
        self.end(committed);
    }

    /// Returns the next waiting entry, or none when there is none until then.
    fn another(&self, until: Instant) -> Option<Entry> {
        match self.receiver.try_recv() {
            Ok(entry) => Some(entry),
            Err(TryRecvError::Disconnected) => None,
            Err(TryRecvError::Empty) => {
                let left = until.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return None;
                }
                self.receiver.recv_timeout(left).ok()
            }
        }
    }

    /// Runs a write in its savepoint. An error means that the transaction is lost.
    fn write(&mut self, mut write: Box<dyn Write>) -> Result<(), QueueError> {
        let kept = match self.statement("SAVEPOINT write") {
            Ok(()) => write.run(&self.connection),
            Err(error) => {
                self.written.push(write);
                return Err(error);
            }
        };
        self.written.push(write);
        // SQLite rolls back at a full or failing disk and without memory.
        if self.connection.is_autocommit() {
            return Err(QueueError::TakenBack);
        }
        if kept {
            self.kept += 1;
        } else {
            self.statement("ROLLBACK TO write")?;
        }
        self.statement("RELEASE write")
    }

    /// Closes the transaction and answers its writes.
    fn end(&mut self, ended: Result<(), QueueError>) {
        self.leave_no_transaction();
        let kept = std::mem::take(&mut self.kept);
        if ended.is_ok() {
            self.count(kept, 1);
        }
        for write in self.written.drain(..) {
            write.answer(ended.clone());
        }
    }

    fn leave_no_transaction(&self) {
        if !self.connection.is_autocommit() {
            // If even this fails, the next BEGIN says so.
            let _ = self.statement("ROLLBACK");
        }
    }

    fn count(&self, writes: u64, commits: u64) {
        self.counters.writes.fetch_add(writes, Ordering::Relaxed);
        self.counters.commits.fetch_add(commits, Ordering::Relaxed);
    }

    fn statement(&self, sql: &str) -> Result<(), QueueError> {
        self.connection.prepare_cached(sql)?.execute([])?;
        Ok(())
    }
}
