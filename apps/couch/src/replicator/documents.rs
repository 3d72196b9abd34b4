//! The documents that describe replications, and how they become jobs.

use super::document_table::{Found, Row, RowState};
use super::job_table::{Content, Starter};
use super::shared::Replicator;
use super::write_back;
use crate::replicate::{DocRef, ReplicateError, Replication};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The time limit for computing an id, which may read the code of a filter function from the source.
const IDENTIFY_TIMEOUT: Duration = Duration::from_secs(61);

/// The range of the first pause after an error, in seconds. The pause is random; the range doubles with every error.
const PAUSE_SECONDS: u64 = 64;

/// The number of times that the range doubles.
const PAUSE_DOUBLINGS_MAX: u32 = 12;

/// The longest pause after a number of errors, in seconds.
fn pause_max(errors: u32) -> u64 {
    PAUSE_SECONDS << errors.min(PAUSE_DOUBLINGS_MAX)
}

impl Replicator {
    /// Starts or stops the replication of a document, as a new version of it demands.
    pub(super) async fn found(&self, document: DocRef, found: Found) {
        match found {
            Found::Nothing => self.forget(&document),
            Found::Renamed => {
                let mut state = self.0.documents.lock();
                if let Some(row) = state.rows.get_mut(&document) {
                    row.state = RowState::Initializing;
                }
                drop(state);
                self.begin_attempt(document, Duration::ZERO);
            }
            Found::Replication(replication) => {
                let row = self.0.documents.row(&document);
                let is_known = |row: Row| {
                    row.replication.is_same(&replication) && !self.is_ended(&document, &row)
                };
                if row.is_some_and(is_known) {
                    return;
                }
                self.forget(&document);
                let now = SystemTime::now();
                let row = Row {
                    replication: Arc::new(*replication),
                    state: RowState::Initializing,
                    id: None,
                    info: None,
                    errors: 0,
                    updated: now,
                    started: now,
                    attempt: 0,
                };
                self.0.documents.lock().rows.insert(document.clone(), row);
                self.begin_attempt(document, Duration::ZERO);
            }
        }
    }

    /// Whether a document had a job that is gone: it completed or was cancelled. If it completed, the document may have been
    /// written again before its completed version was read here.
    fn is_ended(&self, document: &DocRef, row: &Row) -> bool {
        let id = row.id.as_deref();
        let id = id.filter(|_| row.state == RowState::Scheduled);
        let starter = |id| self.0.jobs.lock().starter(id);
        id.is_some_and(|id| starter(id) != Some(Some(document.clone())))
    }

    /// Forgets a document and stops its replication.
    fn forget(&self, document: &DocRef) {
        self.0.documents.lock().rows.remove(document);
        let jobs = self
            .0
            .jobs
            .ids(|job| job.document.as_ref() == Some(document));
        for id in jobs {
            self.remove_job(&id);
        }
    }

    /// Forgets a completed document: its job ends by itself.
    pub(super) fn completed(&self, document: &DocRef) {
        self.0.documents.lock().rows.remove(document);
    }

    /// Forgets a database that was deleted.
    pub(super) fn forget_database(&self, database: &str) {
        for document in self.0.documents.of_database(database) {
            self.forget(&document);
        }
    }

    fn begin_attempt(&self, document: DocRef, pause: Duration) {
        let Some((attempt, replication)) = self.0.documents.lock().attempt(&document) else {
            return;
        };
        let replicator = self.clone();
        tokio::spawn(async move {
            tokio::select! {
                biased;
                () = replicator.0.stop.cancelled() => return,
                () = tokio::time::sleep(pause) => {}
            }
            replicator.attempt(document, attempt, replication).await;
        });
    }

    /// Makes a job of a document.
    async fn attempt(&self, document: DocRef, attempt: u64, replication: Arc<Replication>) {
        let ids = tokio::time::timeout(IDENTIFY_TIMEOUT, self.identify(&replication)).await;
        let ids = ids.unwrap_or_else(|_| {
            Err(ReplicateError::Filter(format!(
                "Replication for db {} doc {} failed to start due to timeout after {} seconds",
                document.database,
                document.id,
                IDENTIFY_TIMEOUT.as_secs()
            )))
        });
        let ids = match ids {
            Ok(ids) => ids,
            Err(error) => return self.failed(document, attempt, &error.reason()).await,
        };
        let content = Content::new(Arc::clone(&replication), ids.checkpoint);
        match self.schedule(&document, attempt, &ids.job, content) {
            None => {}
            Some(Ok(())) if !self.settings().update_docs => {}
            Some(Ok(())) => {
                let databases = &self.0.databases;
                write_back::triggered(databases, &document, &replication, &ids.job).await;
            }
            Some(Err(None)) => {
                let reason = format!(
                    "Replication `{}` specified by document `{}` already running as a transient replication, started via `_replicate` API endpoint",
                    ids.job, document.id
                );
                self.failed(document, attempt, &reason).await;
            }
            Some(Err(Some(other))) => {
                let reason = format!(
                    "Replication `{}` specified by document `{}` already started, triggered by document `{}` from db `{}`",
                    ids.job, document.id, other.id, other.database
                );
                let databases = &self.0.databases;
                write_back::failed(databases, &document, Some(&replication), &reason).await;
            }
        }
    }

    /// Adds the job of a document. Returns nothing if the document has changed since the attempt began.
    ///
    /// # Errors
    /// If the job's id is taken. Returns who started that job. If another document did, this one is forgotten.
    fn schedule(
        &self,
        document: &DocRef,
        attempt: u64,
        id: &str,
        mut content: Content,
    ) -> Option<Result<(), Starter>> {
        let mut state = self.0.documents.lock();
        let row = state.rows.get_mut(document);
        let row = row.filter(|row| row.attempt == attempt)?;
        content.started = row.started;
        let added = self.add_document_job(id, content);
        match &added {
            Ok(()) => {
                let old = row.id.replace(id.to_owned());
                row.info = old
                    .filter(|old| *old != id)
                    .map(|old| format!("Replication id changed: {old} -> {id}"));
                row.state = RowState::Scheduled;
                row.errors = 0;
                row.updated = SystemTime::now();
            }
            Err(Some(_)) => {
                state.rows.remove(document);
            }
            Err(None) => {}
        }
        Some(added)
    }

    /// Notes a temporary error, and tries again later.
    async fn failed(&self, document: DocRef, attempt: u64, reason: &str) {
        let (errors, replication) = {
            let mut state = self.0.documents.lock();
            let row = state.rows.get_mut(&document);
            let Some(row) = row.filter(|row| row.attempt == attempt) else {
                return;
            };
            row.id = None;
            row.state = RowState::Error;
            row.info = Some(reason.to_owned());
            row.errors += 1;
            row.updated = SystemTime::now();
            (row.errors, Arc::clone(&row.replication))
        };
        tracing::warn!(
            database = document.database,
            id = document.id,
            reason,
            "no replication"
        );
        if self.settings().update_docs {
            write_back::error(&self.0.databases, &document, &replication, None, reason).await;
        }
        let random = u64::from_le_bytes(crate::auth::random());
        let pause = Duration::from_secs(1 + random % pause_max(errors));
        self.begin_attempt(document, pause);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replicate::{Principal, Tuning};
    use serde_json::json;

    const DATABASE: &str = "_replicator";

    /// A continuous replication from a database that does not exist, by a document or by a request.
    fn replication(document: Option<&str>) -> Replication {
        let body = json!({ "source": "none", "target": "none", "continuous": true });
        let document = document.map(|id| DocRef {
            database: DATABASE.to_owned(),
            id: id.to_owned(),
        });
        let (body, user) = (body.as_object().unwrap(), Principal::default());
        Replication::from_json(body, user, document, &Tuning::default()).unwrap()
    }

    /// Lets the replicator find a document, and returns the id of its job.
    async fn job_of(replicator: &Replicator, document: &str) -> String {
        let found = replication(Some(document));
        let document = found.document.clone().unwrap();
        let found = Found::Replication(Box::new(found));
        replicator.found(document.clone(), found).await;
        for _ in 0..1000 {
            for (id, job) in replicator.0.jobs.all() {
                if job.content.replication.document.as_ref() == Some(&document) {
                    return id;
                }
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("{document:?} has no job");
    }

    #[tokio::test]
    async fn a_document_whose_job_is_gone_gets_another() {
        let folder = tempfile::tempdir().unwrap();
        let replicator = Replicator::in_folder(folder.path());
        let id = job_of(&replicator, "a").await;
        assert_eq!(job_of(&replicator, "a").await, id);
        assert!(replicator.remove_job(&id));
        assert_eq!(job_of(&replicator, "a").await, id);
    }

    #[tokio::test]
    async fn a_job_of_a_document_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let replicator = Replicator::in_folder(folder.path());
        let id = job_of(&replicator, "a").await;
        let content = |document| {
            let replication = Arc::new(replication(document));
            Content::new(replication, id.clone())
        };
        let starter = replication(Some("a")).document;
        let taken = replicator.add_document_job(&id, content(Some("b")));
        assert_eq!(taken, Err(starter.clone()));
        drop(replicator.add_requested_job(&id, content(None)));
        assert_eq!(replicator.0.jobs.lock().starter(&id), Some(starter));
        // Nor does a document replace the job of a request.
        replicator.remove_job(&id);
        drop(replicator.add_requested_job(&id, content(None)));
        let taken = replicator.add_document_job(&id, content(Some("a")));
        assert_eq!(taken, Err(None));
    }

    #[test]
    fn the_pause_after_errors_doubles_up_to_a_limit() {
        let ranges: Vec<u64> = [0, 1, 2, 12, 13, u32::MAX].map(pause_max).into();
        assert_eq!(ranges, [64, 128, 256, 262_144, 262_144, 262_144]);
    }
}
