//! The documents that describe replications, and how they become jobs.

use super::document_table::{Found, Row, RowState};
use super::job_table::Content;
use super::shared::Replicator;
use super::write_back;
use crate::replicate::{DocRef, ReplicateError, Replication};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The time for the computation of an id, which may read the code of a filter function.
const IDENTIFY_TIMEOUT: Duration = Duration::from_secs(61);

/// The range of the first pause after an error, in seconds. The pause is random; the range doubles with every error.
const PAUSE_SECONDS: u64 = 64;

/// The number of times that the range doubles.
const PAUSE_DOUBLINGS_MAX: u32 = 12;

/// The longest pause after so many errors.
fn pause_max(errors: u32) -> u64 {
    PAUSE_SECONDS << errors.min(PAUSE_DOUBLINGS_MAX)
}

impl Replicator {
    /// Notes what was found out about a document, and starts or stops its replication.
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
                if row.is_some_and(|row| row.replication.is_same(&replication)) {
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
        let other = self.0.jobs.content(&ids.job);
        match other.map(|content| content.replication.document.clone()) {
            None => {}
            Some(Some(other)) if other == document => {}
            Some(None) => {
                let reason = format!(
                    "Replication `{}` specified by document `{}` already running as a transient replication, started via `_replicate` API endpoint",
                    ids.job, document.id
                );
                return self.failed(document, attempt, &reason).await;
            }
            Some(Some(other)) => {
                let reason = format!(
                    "Replication `{}` specified by document `{}` already started, triggered by document `{}` from db `{}`",
                    ids.job, document.id, other.id, other.database
                );
                if self.is_current(&document, attempt) {
                    self.0.documents.lock().rows.remove(&document);
                    write_back::failed(&self.0.databases, &document, &reason).await;
                }
                return;
            }
        }
        self.scheduled(&document, attempt, ids, replication).await;
    }

    fn is_current(&self, document: &DocRef, attempt: u64) -> bool {
        let row = self.0.documents.row(document);
        row.is_some_and(|row| row.attempt == attempt)
    }

    async fn scheduled(
        &self,
        document: &DocRef,
        attempt: u64,
        ids: super::Ids,
        replication: Arc<Replication>,
    ) {
        {
            let mut state = self.0.documents.lock();
            let row = state.rows.get_mut(document);
            // The document may have changed meanwhile.
            let Some(row) = row.filter(|row| row.attempt == attempt) else {
                return;
            };
            let old = row.id.replace(ids.job.clone());
            row.info = old
                .filter(|old| *old != ids.job)
                .map(|old| format!("Replication id changed: {old} -> {}", ids.job));
            row.state = RowState::Scheduled;
            row.errors = 0;
            row.updated = SystemTime::now();
            let mut content = Content::new(replication, ids.checkpoint);
            content.started = row.started;
            drop(self.add_job(&ids.job, content));
        }
        if self.settings().update_docs {
            write_back::triggered(&self.0.databases, document, &ids.job).await;
        }
    }

    /// Notes a temporary error, and tries again later.
    async fn failed(&self, document: DocRef, attempt: u64, reason: &str) {
        let errors = {
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
            row.errors
        };
        tracing::warn!(
            database = document.database,
            id = document.id,
            reason,
            "no replication"
        );
        if self.settings().update_docs {
            write_back::error(&self.0.databases, &document, None, reason).await;
        }
        let random = u64::from_le_bytes(crate::auth::random());
        let pause = Duration::from_secs(1 + random % pause_max(errors));
        self.begin_attempt(document, pause);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pause_after_errors_doubles_up_to_a_limit() {
        let ranges: Vec<u64> = [0, 1, 2, 12, 13, u32::MAX].map(pause_max).into();
        assert_eq!(ranges, [64, 128, 256, 262_144, 262_144, 262_144]);
    }
}
