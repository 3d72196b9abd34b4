//! Replication between two databases by CouchDB's protocol.
//!
//! Source and target are URLs of any CouchDB, or names of local databases. Both are accessed through the same protocol;
//! requests to a local database use no connection. A checkpoint in `_local/` of both sides records the progress. An
//! interrupted replication continues at its checkpoint.

mod checkpoint;
mod error;
mod peer;
mod request;
mod revisions;
mod run;
mod statistics;

pub use error::ReplicateError;
pub use peer::{Ask, Peer, encoded};
pub use request::{Endpoint, Request};

use crate::tasks::Tasks;
use run::Run;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio_util::sync::CancellationToken;

/// The result of a request to replicate.
#[derive(Debug)]
pub enum Started {
    /// The replication completed; CouchDB's answer.
    Finished(Value),
    /// A continuous replication runs; its id.
    Continuous(String),
    /// The replication was cancelled; its id.
    Cancelled(String),
}

/// The replications of a server.
#[derive(Debug)]
pub struct Replicator {
    tasks: Arc<Tasks>,
    stop: CancellationToken,
    running: List,
}

/// The running replications, by the keys of their requests.
type List = Arc<Mutex<HashMap<String, Entry>>>;

#[derive(Debug)]
struct Entry {
    token: CancellationToken,
    /// The current id, which changes with the code of the filter function.
    id: Arc<Mutex<String>>,
}

impl Replicator {
    /// Creates an empty list of replications; `stop` ends all.
    pub fn new(tasks: Arc<Tasks>, stop: CancellationToken) -> Self {
        Replicator {
            tasks,
            stop,
            running: Arc::default(),
        }
    }

    /// Executes a request. `here` answers requests to databases of this server; `uuid` identifies it.
    ///
    /// # Errors
    /// If the source or target is invalid, unreachable or refuses, or the replication to cancel does not exist.
    pub async fn start(
        &self,
        request: Request,
        here: axum::Router,
        uuid: &str,
    ) -> Result<Started, ReplicateError> {
        let key = request.key(uuid);
        if request.cancel {
            return self.cancel(request.replication_id.as_deref().unwrap_or(&key));
        }
        let running = match Running::begin(&self.running, &key, &self.stop) {
            Ok(running) => running,
            // The requested replication already runs.
            Err(id) if request.continuous => return Ok(Started::Continuous(id)),
            Err(id) => return Err(ReplicateError::Running(id)),
        };
        let source = Peer::new(&request.source, here.clone())?;
        let target = Peer::new(&request.target, here)?;
        let continuous = request.continuous;
        let id = Arc::clone(&running.id);
        let mut run = Run::new(source, target, request, key, &self.tasks, id);
        run.prepare().await?;
        if !continuous {
            let result = tokio::select! {
                result = run.once() => result,
                () = running.token.cancelled() => Err(ReplicateError::Cancelled),
            };
            return result.map(Started::Finished);
        }
        let id = locked(&running.id).clone();
        tokio::spawn(async move {
            let token = running.token.clone();
            tokio::select! {
                () = run.forever() => {}
                () = token.cancelled() => {}
            }
            drop(running);
        });
        Ok(Started::Continuous(id))
    }

    fn cancel(&self, id: &str) -> Result<Started, ReplicateError> {
        let id = id.trim_end_matches("+continuous");
        let running = locked(&self.running);
        let is_meant = |(key, entry): &(&String, &Entry)| *key == id || *locked(&entry.id) == id;
        let (_, entry) = running
            .iter()
            .find(is_meant)
            .ok_or(ReplicateError::NoSuch)?;
        entry.token.cancel();
        Ok(Started::Cancelled(locked(&entry.id).clone()))
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no panic while held")
}

/// An entry in the list of running replications; there is one entry per request.
struct Running {
    list: List,
    key: String,
    token: CancellationToken,
    id: Arc<Mutex<String>>,
}

impl Running {
    /// Adds the entry, or returns the id of the running replication.
    fn begin(list: &List, key: &str, stop: &CancellationToken) -> Result<Self, String> {
        let mut running = locked(list);
        if let Some(entry) = running.get(key) {
            return Err(locked(&entry.id).clone());
        }
        let (token, id) = (stop.child_token(), Arc::new(Mutex::new(key.to_owned())));
        let entry = Entry {
            token: token.clone(),
            id: Arc::clone(&id),
        };
        running.insert(key.to_owned(), entry);
        Ok(Running {
            list: Arc::clone(list),
            key: key.to_owned(),
            token,
            id,
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        locked(&self.list).remove(&self.key);
    }
}
