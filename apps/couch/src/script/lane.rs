//! Limits the number of processes that run functions, per database and for the server.
//!
//! A call begins in one of many places for calls that have just begun. When it turns slow it moves to one of the few places
//! for slow calls, or is ended if all of them are taken. So functions that never return can't keep the others from beginning.

use super::ScriptError;
use super::process::Process;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout};

/// The owner of functions. Calls of one owner do not wait for those of another.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Owner {
    /// The database's own id.
    pub database: String,
    /// The purpose of the call.
    pub purpose: Purpose,
}

/// The purpose of a call: writes do not wait for reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// To write documents: `validate_doc_update`.
    Write,
    /// To read them: filters, and map functions as filters.
    Read,
    /// To build and read views.
    Index,
}

/// Places for calls.
#[derive(Debug)]
pub struct Places {
    begun: Arc<Semaphore>,
    begun_max: usize,
    slow: Arc<Semaphore>,
}

impl Places {
    /// So many for calls that have just begun, and for slow ones.
    pub fn new(begun: usize, slow: usize) -> Self {
        Places {
            begun: Arc::new(Semaphore::new(begun)),
            begun_max: begun,
            slow: Arc::new(Semaphore::new(slow)),
        }
    }
}

/// A call waits that long for its place.
const PLACE_WAIT_MAX: Duration = Duration::from_secs(5);

/// A call waits that long for a process that another call has before a new process is started.
const PROCESS_WAIT_MAX: Duration = Duration::from_millis(5);

/// The places a call has.
#[derive(Debug)]
pub struct Seat {
    lane: Arc<Lane>,
    server: Arc<Places>,
    _taken: (OwnedSemaphorePermit, OwnedSemaphorePermit),
}

impl Seat {
    /// Moves to the places for slow calls; false when all are taken.
    pub fn turn_slow(&mut self) -> bool {
        let [lane, server] = [&self.lane.places, &*self.server]
            .map(|places| Arc::clone(&places.slow).try_acquire_owned());
        match (lane, server) {
            (Ok(lane), Ok(server)) => {
                self._taken = (lane, server);
                true
            }
            _ => false,
        }
    }
}

/// The processes of one owner.
#[derive(Debug)]
pub struct Lane {
    places: Places,
    /// The number of processes in `idle`.
    ready: Semaphore,
    /// The processes with the time since which they are idle; the last one is used first.
    idle: Mutex<Vec<(Instant, Process)>>,
}

impl Lane {
    /// One without processes.
    pub fn new(places: Places) -> Self {
        Lane {
            places,
            ready: Semaphore::new(0),
            idle: Mutex::default(),
        }
    }

    /// Waits for a place here and on the server.
    ///
    /// # Errors
    /// If none becomes free in time.
    pub async fn seat(self: Arc<Self>, server: &Arc<Places>) -> Result<Seat, ScriptError> {
        let of = |places: &Places| {
            let begun = Arc::clone(&places.begun).acquire_owned();
            async { begun.await.map_err(|_| ScriptError::Busy) }
        };
        let both = async { Ok((of(&self.places).await?, of(server).await?)) };
        let taken = timeout(PLACE_WAIT_MAX, both).await;
        let taken = taken.map_err(|_| ScriptError::Busy)??;
        Ok(Seat {
            lane: self,
            server: Arc::clone(server),
            _taken: taken,
        })
    }

    /// Takes an idle process, or none when the holder of a place must start a new one.
    pub async fn process(&self) -> Option<Process> {
        let is_alone = self.places.begun.available_permits() + 1 >= self.places.begun_max;
        let permit = match self.ready.try_acquire() {
            Ok(permit) => permit,
            Err(_) if is_alone => return None,
            Err(_) => {
                let waited = timeout(PROCESS_WAIT_MAX, self.ready.acquire()).await;
                waited.ok()?.ok()?
            }
        };
        permit.forget();
        self.idle().pop().map(|(_, process)| process)
    }

    /// When the process that was idle for longest became so.
    pub fn idle_since(&self) -> Option<Instant> {
        self.idle().first().map(|(since, _)| *since)
    }

    /// Takes a process back.
    pub fn put(&self, process: Process) {
        self.idle().push((Instant::now(), process));
        self.ready.add_permits(1);
    }

    /// Ends the process that was idle for longest, if one is idle; how many.
    pub fn end_oldest(&self) -> usize {
        let Ok(permit) = self.ready.try_acquire() else {
            return 0;
        };
        permit.forget();
        self.idle().remove(0);
        1
    }

    /// Ends processes that have been idle for so long; how many.
    pub fn end_idle(&self, for_at_least: Duration) -> usize {
        let mut ended = 0;
        while let Ok(permit) = self.ready.try_acquire() {
            let mut idle = self.idle();
            // The most recently used one is last.
            let is_old = |(since, _): &(Instant, Process)| since.elapsed() >= for_at_least;
            if !idle.first().is_some_and(is_old) {
                break;
            }
            permit.forget();
            idle.remove(0);
            ended += 1;
        }
        ended
    }

    fn idle(&self) -> MutexGuard<'_, Vec<(Instant, Process)>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
