//! A thread that owns the one connection that writes, and commits together what waits.
//!
//! SQLite has one writer at a time, and a durable commit costs a sync of the disk. Threads that each write for themselves
//! wait for both, one after another, and meet [`SQLITE_BUSY`](https://www.sqlite.org/rescode.html#busy). In a [`WriteQueue`]
//! they hand in what is to be written; whatever has gathered while the last commit ran is committed by the next.
//!
//! ```
//! use inorder_sqlite::queue::{Error, Limits, WriteQueue};
//!
//! let db = rusqlite::Connection::open_in_memory()?;
//! db.execute_batch("CREATE TABLE note(text TEXT NOT NULL)")?;
//! let queue = WriteQueue::start(db, Limits::default())?;
//! let id: i64 = queue.run(|db| {
//!     db.execute("INSERT INTO note VALUES ('first')", [])?;
//!     Ok::<_, Error>(db.last_insert_rowid())
//! })?;
//! assert_eq!(id, 1); // and by now it is durable, as far as the connection's settings go
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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

/// Why a write did not happen, other than by its own error.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// SQLite refused the statement, or the commit that the write was part of.
    #[error("{0}")]
    Sqlite(Arc<rusqlite::Error>),
    /// Another write of the same transaction met a full disk or a failing one, and SQLite took all of it back.
    #[error("the transaction was taken back because the disk is full or failing; try again")]
    TakenBack,
    /// As many writes wait as the limits allow.
    #[error("too many writes are waiting; try again")]
    Full,
    /// The write panicked; nothing of it is kept.
    #[error("the write panicked")]
    Panicked,
    /// The queue has ended.
    #[error("the write queue has ended")]
    Ended,
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        Error::Sqlite(Arc::new(error))
    }
}

/// How much may gather.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Writes of one transaction.
    pub transaction_writes_max: usize,
    /// Writes that wait for theirs.
    pub waiting_writes_max: usize,
    /// How long a transaction stays open for more writes when none is waiting: zero commits at once. More gives larger
    /// transactions, and each write that much longer to wait.
    pub linger: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            transaction_writes_max: 1024,
            waiting_writes_max: 4096,
            linger: Duration::ZERO,
        }
    }
}

/// What a queue has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Writes that were kept.
    pub writes: u64,
    /// Transactions that were committed.
    pub commits: u64,
}

#[derive(Default)]
struct Counters {
    writes: AtomicU64,
    commits: AtomicU64,
}

/// The thread that writes; see the [module](self). Dropping it commits what still waits, then closes the connection.
pub struct WriteQueue {
    sender: Option<SyncSender<Entry>>,
    thread: Option<JoinHandle<()>>,
    counters: Arc<Counters>,
}

/// What waits in the queue.
enum Entry {
    /// To be written in a transaction with others.
    Write(Box<dyn Write>),
    /// To be run while no transaction is open.
    Alone(Box<dyn Write>),
}

/// A write with its types forgotten: first it runs, then, once its transaction has ended, whoever waits is told.
trait Write: Send {
    /// Runs it; whether what it wrote is to be kept.
    fn run(&mut self, connection: &Connection) -> bool;

    /// Answers: with what the write gave, or with why the transaction failed.
    fn answer(self: Box<Self>, ended: Result<(), Error>);
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
    E: From<Error> + Send,
{
    fn run(&mut self, connection: &Connection) -> bool {
        let Some(work) = self.work.take() else {
            return false;
        };
        let given = catch_unwind(AssertUnwindSafe(|| work(connection)))
            .unwrap_or_else(|_| Err(Error::Panicked.into()));
        self.given.insert(given).is_ok()
    }

    fn answer(self: Box<Self>, ended: Result<(), Error>) {
        let given = match (self.given, ended) {
            // Its own error says more than that of the transaction.
            (Some(Err(error)), _) => Err(error),
            (Some(given), Ok(())) => given,
            (_, Err(error)) => Err(error.into()),
            (None, Ok(())) => Err(Error::Ended.into()),
        };
        let answer = self.answer;
        // The thread outlives a caller that panics when it is told.
        let _ = catch_unwind(AssertUnwindSafe(|| answer(given)));
    }
}

impl WriteQueue {
    /// Starts the thread. The connection is used as it is set up: journal mode and `synchronous` decide what durable means.
    ///
    /// # Errors
    /// When the system has no thread left.
    pub fn start(connection: Connection, limits: Limits) -> io::Result<Self> {
        let (sender, receiver) = mpsc::sync_channel(limits.waiting_writes_max);
        let counters = Arc::new(Counters::default());
        let writer = Writer {
            connection,
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

    /// Writes, and returns when the transaction with it is committed. `work` runs in a savepoint of its own: when it gives an
    /// error, what it wrote is taken back and the others of the transaction are not touched. It must not begin or end
    /// transactions. Waits while the queue is full.
    ///
    /// # Errors
    /// That of `work`, or one made from [`Error`].
    pub fn run<T, E>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        self.wait_for(Entry::Write, work)
    }

    /// Like [`WriteQueue::run`], while no transaction is open: for `VACUUM`, checkpoints, and work with transactions of its own.
    ///
    /// # Errors
    /// That of `work`, or one made from [`Error`].
    pub fn run_alone<T, E>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        self.wait_for(Entry::Alone, work)
    }

    /// Like [`WriteQueue::run`], without waiting: `answer` is called on the writing thread when the transaction has ended, and
    /// has to be quick (waking a task is).
    ///
    /// # Errors
    /// [`Error::Full`] and [`Error::Ended`]; `answer` is not called then.
    pub fn submit<T, E>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
        answer: impl FnOnce(Result<T, E>) + Send + 'static,
    ) -> Result<(), Error>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        let entry = Entry::Write(task(work, answer));
        let sender = self.sender.as_ref().ok_or(Error::Ended)?;
        sender.try_send(entry).map_err(|refused| match refused {
            TrySendError::Full(_) => Error::Full,
            TrySendError::Disconnected(_) => Error::Ended,
        })
    }

    /// What it has done so far.
    pub fn done(&self) -> Done {
        Done {
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
        E: From<Error> + Send + 'static,
    {
        let (told, given) = mpsc::sync_channel(1);
        let answer = move |given| {
            let _ = told.send(given);
        };
        let sender = self.sender.as_ref().ok_or(Error::Ended)?;
        let sent = sender.send(entry(task(work, answer)));
        sent.map_err(|_| Error::Ended)?;
        given.recv().unwrap_or_else(|_| Err(Error::Ended.into()))
    }
}

impl Drop for WriteQueue {
    fn drop(&mut self) {
        // Without a sender the thread ends once nothing waits.
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
    E: From<Error> + Send + 'static,
{
    Box::new(Task {
        work: Some(work),
        given: None,
        answer,
    })
}

/// The thread's side.
struct Writer {
    connection: Connection,
    limits: Limits,
    receiver: Receiver<Entry>,
    counters: Arc<Counters>,
    /// The writes of the open transaction.
    written: Vec<Box<dyn Write>>,
    /// How many of them are kept.
    kept: u64,
    /// What was taken from the queue and has to wait for the transaction's end.
    next: VecDeque<Entry>,
}

impl Writer {
    fn run(mut self) {
        while let Some(entry) = self.next.pop_front().or_else(|| self.receiver.recv().ok()) {
            match entry {
                Entry::Write(first) => self.transaction(first),
                Entry::Alone(mut write) => {
                    let kept = write.run(&self.connection);
                    self.leave_no_transaction();
                    self.count(u64::from(kept), 0);
                    write.answer(Ok(()));
                }
            }
        }
    }

    /// A transaction of this write and all that wait.
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

    /// What waits next; none when nothing has come by then.
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

    /// Runs a write in its savepoint. An error says that the transaction is lost.
    fn write(&mut self, mut write: Box<dyn Write>) -> Result<(), Error> {
        let kept = match self.statement("SAVEPOINT write") {
            Ok(()) => write.run(&self.connection),
            Err(error) => {
                self.written.push(write);
                return Err(error);
            }
        };
        self.written.push(write);
        // A full disk, a failing one, or a shortage of memory: SQLite has rolled all of it back.
        if self.connection.is_autocommit() {
            return Err(Error::TakenBack);
        }
        if kept {
            self.kept += 1;
        } else {
            self.statement("ROLLBACK TO write")?;
        }
        self.statement("RELEASE write")
    }

    /// Tells everybody how the transaction ended, with none left open.
    fn end(&mut self, ended: Result<(), Error>) {
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

    fn statement(&self, sql: &str) -> Result<(), Error> {
        self.connection.prepare_cached(sql)?.execute([])?;
        Ok(())
    }
}
