//! The file of a database.

use super::blobs::{self, Pins};
use super::security_slot::SecuritySlot;
use super::settings::LiveLimits;
use super::state::State;
use super::{DatabaseEvent, Error, Event, Pending, Result, Settings, indexes, partition, schema};
use inorder_serve::{QueueLimits, ReaderPool, WriteQueue};
use rusqlite::Connection;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use tokio::sync::{broadcast, oneshot, watch};

/// Counts how often this process opened a database.
static OPENINGS: AtomicU64 = AtomicU64::new(0);

/// The file of a database: its readers and its writing thread. All handles of a database share one.
pub struct Shared {
    pub name: String,
    pub uuid: String,
    pub path: PathBuf,
    pub is_partitioned: bool,
    pub partition_sizes: Arc<partition::Sizes>,
    pub limits: Arc<LiveLimits>,
    pub readers: Arc<ReaderPool<Error>>,
    pub pins: Pins,
    pub is_compacting: AtomicBool,
    /// Tells apart the openings of databases by this process.
    pub opening: u64,
    /// Counts committed writes.
    pub writes: Arc<AtomicU64>,
    pub security: SecuritySlot,
    /// None once it is closed.
    writing: RwLock<Option<Writing>>,
    events: broadcast::Sender<DatabaseEvent>,
}

/// The thread that writes, and the sequence of the last change it committed.
struct Writing {
    queue: WriteQueue,
    seq: watch::Sender<u64>,
}

impl Shared {
    /// Opens the file of a database.
    pub fn open(
        name: &str,
        path: &Path,
        settings: Settings,
        limits: Arc<LiveLimits>,
        events: broadcast::Sender<DatabaseEvent>,
    ) -> Result<Self> {
        let connection = schema::open_writer(path, &settings)?;
        let pins = Pins::default();
        // Remove unused uploads of an earlier process.
        while blobs::remove_unused(&connection, &pins)? {}
        let seq = State::read(&connection)?.update_seq;
        // An earlier version may have read the design documents otherwise.
        indexes::follow_designs(&connection)?;
        let is_partitioned = partition::partitioned(&connection)?;
        let uuid = connection.query_row("SELECT uuid FROM state", [], |row| row.get(0))?;
        let readers_of = path.to_owned();
        let readers = ReaderPool::new(settings.readers_max, move || {
            schema::open_reader(&readers_of)
        });
        let readers = Arc::new(readers.keeping_snapshots());
        let queue = WriteQueue::start_beside(&readers, connection, QueueLimits::default())
            .map_err(|error| Error::io(path, error))?;
        Ok(Shared {
            name: name.to_owned(),
            uuid,
            path: path.to_owned(),
            is_partitioned,
            partition_sizes: Arc::default(),
            limits,
            readers,
            pins,
            is_compacting: AtomicBool::new(false),
            opening: OPENINGS.fetch_add(1, Ordering::Relaxed),
            writes: Arc::default(),
            security: SecuritySlot::default(),
            writing: RwLock::new(Some(Writing {
                queue,
                seq: watch::Sender::new(seq),
            })),
            events,
        })
    }

    /// Hands work to the writing thread. It gives, beside its result, the sequence of the last change if it made any.
    pub fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<(T, Option<u64>)> + Send + 'static,
    ) -> Pending<T> {
        self.write_then(work, || {})
    }

    /// The same, with something to do after the commit and before the answer.
    pub fn write_then<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<(T, Option<u64>)> + Send + 'static,
        then: impl FnOnce() + Send + 'static,
    ) -> Pending<T> {
        let (tell, told) = oneshot::channel();
        let (events, name) = (self.events.clone(), self.name.clone());
        let writing = self.writing.read().unwrap_or_else(PoisonError::into_inner);
        let Some(Writing { queue, seq }) = &*writing else {
            return Pending::known(Err(Error::Closed));
        };
        let (seq, writes) = (seq.clone(), Arc::clone(&self.writes));
        let sizes = Arc::clone(&self.partition_sizes);
        let answer = move |given: Result<(T, Option<u64>)>| {
            if given.is_err() {
                sizes.forget();
            }
            if given.is_ok() {
                writes.fetch_add(1, Ordering::Release);
                then();
            }
            if let Ok((_, Some(new))) = &given {
                let is_later = seq.send_if_modified(|seq| {
                    let is_later = *new > *seq;
                    *seq = (*seq).max(*new);
                    is_later
                });
                if is_later && events.receiver_count() > 0 {
                    let event = Event::Updated;
                    let _ = events.send(DatabaseEvent { name, event });
                }
            }
            let _ = tell.send(given.map(|(given, _)| given));
        };
        match queue.submit(work, answer) {
            Ok(()) => Pending::new(told),
            Err(error) => Pending::known(Err(error.into())),
        }
    }

    /// The limit of its partitions, for a job of the writing thread; none if the database has no partitions.
    pub fn partition_limit(&self) -> Option<partition::Limit> {
        let limit = || {
            let bytes_max = self.limits.get().partition_bytes_max;
            partition::Limit::new(bytes_max, Arc::clone(&self.partition_sizes))
        };
        self.is_partitioned.then(limit)
    }

    /// Runs work on the writing thread while no transaction is open, and waits for it.
    pub fn write_alone<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let writing = self.writing.read().unwrap_or_else(PoisonError::into_inner);
        let writing = writing.as_ref().ok_or(Error::Closed)?;
        writing.queue.run_alone(work)
    }

    /// Ends the writing thread and closes all connections. Afterwards the files can be removed.
    pub fn close(&self) {
        let mut writing = self.writing.write().unwrap_or_else(PoisonError::into_inner);
        // Commits what waits, and tells those who watch that it is over.
        *writing = None;
        self.readers.close();
    }

    /// Returns a receiver of the sequence of the last committed change.
    pub fn watch(&self) -> watch::Receiver<u64> {
        let writing = self.writing.read().unwrap_or_else(PoisonError::into_inner);
        match &*writing {
            Some(writing) => writing.seq.subscribe(),
            None => watch::channel(0).1,
        }
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
