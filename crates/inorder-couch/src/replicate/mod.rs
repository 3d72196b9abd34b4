//! Replication: what one database has and another lacks is brought over, by CouchDB's protocol.
//!
//! Source and target are URLs of any CouchDB, or names of databases here; both are spoken to in the same way, only that
//! requests to a database here take no network. A checkpoint in `_local/` of both says how far it came, so that
//! it goes on from there after an interruption.

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

use crate::http::Tasks;
use run::Run;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use tokio_util::sync::CancellationToken;

/// What became of a request to replicate.
#[derive(Debug)]
pub enum Started {
    /// It ran to its end; CouchDB's answer.
    Finished(Value),
    /// It runs on; its id.
    Continuous(String),
    /// It was ended; its id.
    Cancelled(String),
}

/// The replications of a server.
#[derive(Debug)]
pub struct Replicator {
    tasks: Arc<Tasks>,
    stop: CancellationToken,
    running: Arc<Mutex<HashMap<String, CancellationToken>>>,
}

impl Replicator {
    /// Runs no replication yet; `stop` ends all.
    pub fn new(tasks: Arc<Tasks>, stop: CancellationToken) -> Self {
        Replicator {
            tasks,
            stop,
            running: Arc::default(),
        }
    }

    /// Does what a request asks for. `here` answers requests to databases of this server, `uuid` names it.
    ///
    /// # Errors
    /// When source or target can't be reached, refuse, or are none; or there is no such replication to cancel.
    pub async fn start(
        &self,
        request: Request,
        here: axum::Router,
        uuid: &str,
    ) -> Result<Started, ReplicateError> {
        let id = request.id(uuid);
        if request.cancel {
            return self.cancel(request.replication_id.as_deref().unwrap_or(&id));
        }
        let Some(running) = Running::begin(&self.running, &id, &self.stop) else {
            return match request.continuous {
                // It runs already, and that is what is asked for.
                true => Ok(Started::Continuous(id)),
                false => Err(ReplicateError::Running(id)),
            };
        };
        let source = Peer::new(&request.source, here.clone())?;
        let target = Peer::new(&request.target, here)?;
        let continuous = request.continuous;
        let mut run = Run::new(source, target, request, id.clone(), &self.tasks);
        run.prepare().await?;
        if !continuous {
            let result = tokio::select! {
                result = run.once() => result,
                () = running.token.cancelled() => Err(ReplicateError::Cancelled),
            };
            return result.map(Started::Finished);
        }
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
        let running = self.running.lock().expect("no panic while held");
        let token = running.get(id).ok_or(ReplicateError::NoSuch)?;
        token.cancel();
        Ok(Started::Cancelled(id.to_owned()))
    }
}

/// A replication in the list of those that run; of one id there is one.
struct Running {
    list: Arc<Mutex<HashMap<String, CancellationToken>>>,
    id: String,
    token: CancellationToken,
}

impl Running {
    fn begin(
        list: &Arc<Mutex<HashMap<String, CancellationToken>>>,
        id: &str,
        stop: &CancellationToken,
    ) -> Option<Self> {
        let mut running = list.lock().expect("no panic while held");
        if running.contains_key(id) {
            return None;
        }
        let token = stop.child_token();
        running.insert(id.to_owned(), token.clone());
        Some(Running {
            list: Arc::clone(list),
            id: id.to_owned(),
            token,
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut running = self.list.lock().expect("no panic while held");
        running.remove(&self.id);
    }
}
