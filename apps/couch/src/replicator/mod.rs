//! The replications of a server: those of `_replicate`, and those that documents of `_replicator` databases describe.
//!
//! | module | does |
//! | --- | --- |
//! | `watch` | follows the `_replicator` databases |
//! | `documents` | makes jobs of the documents that `watch` found |
//! | `jobs` | runs what the scheduler says |
//! | `document_table`, `job_table`, `shared` | keep the state of documents and jobs |
//! | `write_back` | writes the results into the documents |
//! | `rules` | says which documents a `_replicator` database accepts |
//! | `show` | answers `_scheduler` |

mod document_table;
mod documents;
mod job_table;
mod jobs;
mod rules;
mod shared;
mod show;
mod time;
mod watch;
mod write_back;

pub use rules::{check, for_reader, note_owner};
pub use shared::{Here, Replicator};
pub use show::DocsQuery;

use crate::config::Config;
use crate::replicate::{
    Function, Principal, ReplicateError, Replication, Request, checkpoint_id, function, job_id,
};
use crate::store::Databases;
use crate::tasks::Tasks;
use document_table::Documents;
use job_table::{Content, Jobs};
use serde_json::{Map, Value};
use shared::Inner;
use std::sync::{Arc, OnceLock};
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
    /// The replication was cancelled, or the server was stopped, while the request waited for its end.
    Stopped,
}

/// Returns whether documents of a database describe replications.
pub fn is_replicator_database(name: &str) -> bool {
    name == "_replicator" || name.ends_with("/_replicator")
}

/// The ids of a replication.
struct Ids {
    checkpoint: String,
    job: String,
}

impl Replicator {
    /// Creates a replicator without replications; `stop` ends all.
    pub fn new(
        databases: Databases,
        config: Arc<Config>,
        uuid: String,
        tasks: Arc<Tasks>,
        stop: CancellationToken,
    ) -> Self {
        Replicator(Arc::new(Inner {
            databases,
            config,
            uuid,
            tasks,
            stop,
            here: OnceLock::new(),
            jobs: Jobs::default(),
            documents: Documents::default(),
        }))
    }

    /// Begins to schedule jobs and to follow the `_replicator` databases; `here` answers requests to this server.
    pub fn begin(&self, here: Here) {
        if self.0.here.set(here).is_ok() {
            tokio::spawn(jobs::reschedule(self.clone()));
            tokio::spawn(watch::follow(self.clone()));
        }
    }

    /// Executes the body of `_replicate`.
    ///
    /// # Errors
    /// If the source or target is invalid, unreachable or refuses, or the replication to cancel does not exist.
    pub async fn replicate(
        &self,
        body: &Map<String, Value>,
        user: Principal,
        is_admin: bool,
    ) -> Result<Started, ReplicateError> {
        let defaults = self.settings().defaults;
        let (id, replication) = match Request::from_json(body, user.clone(), &defaults)? {
            Request::CancelId(id) => return self.cancel(id, &user, is_admin),
            Request::Cancel(replication) => {
                let ids = self.identify(&replication).await?;
                return self.cancel(ids.job, &user, is_admin);
            }
            Request::Start(replication) => (self.identify(&replication).await?, replication),
        };
        self.authorize(&id.job, &user, is_admin)?;
        let is_continuous = replication.continuous;
        let job = id.job.clone();
        let content = Content::new(Arc::new(*replication), id.checkpoint);
        let end = self.add_requested_job(&job, content);
        if is_continuous {
            return Ok(Started::Continuous(job));
        }
        let end = tokio::select! {
            biased;
            end = end => end,
            () = self.0.stop.cancelled() => return Ok(Started::Stopped),
        };
        match end {
            Ok(Ok(result)) => Ok(Started::Finished(result)),
            Ok(Err(ReplicateError::Stopped)) | Err(_) => Ok(Started::Stopped),
            Ok(Err(error)) => Err(error),
        }
    }

    fn cancel(
        &self,
        id: String,
        user: &Principal,
        is_admin: bool,
    ) -> Result<Started, ReplicateError> {
        self.authorize(&id, user, is_admin)?;
        match self.remove_job(&id) {
            true => Ok(Started::Cancelled(id)),
            false => Err(ReplicateError::NoSuch),
        }
    }

    /// Allows a user to change a job: an administrator, and the user who started it.
    fn authorize(&self, id: &str, user: &Principal, is_admin: bool) -> Result<(), ReplicateError> {
        let owner = self
            .0
            .jobs
            .content(id)
            .map(|job| job.replication.user.name.clone());
        match owner {
            Some(owner) if owner != user.name && !is_admin => Err(ReplicateError::NotAdmin),
            _ => Ok(()),
        }
    }

    /// Computes the ids of a replication. If it has a filter function, its code is read from the source.
    async fn identify(&self, replication: &Replication) -> Result<Ids, ReplicateError> {
        let code = match replication.selection.has_code() {
            false => None,
            true => {
                let source = self.peer(&replication.source, replication)?;
                source.info().await.map_err(|error| {
                    ReplicateError::Filter(format!(
                        "Could not open source database `{}`: {{{},<<\"{error}\">>}}",
                        source.shown(),
                        error.name()
                    ))
                })?;
                function(&source, replication).await?
            }
        };
        let code = code.map(|Function { code, .. }| code);
        let checkpoint = checkpoint_id(&self.0.uuid, replication, code.as_deref());
        let job = job_id(&checkpoint, replication);
        Ok(Ids { checkpoint, job })
    }
}
