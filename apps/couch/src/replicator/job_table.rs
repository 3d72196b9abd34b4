//! The jobs and their runs.

use super::time::iso8601;
use crate::replicate::{DocRef, Progress, ReplicateError, Replication, Settings};
use crate::scheduler::{Job, Limits, Scheduler};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::SystemTime;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// What a job does.
#[derive(Debug, Clone)]
pub struct Content {
    /// The replication.
    pub replication: Arc<Replication>,
    /// The id of its checkpoints.
    pub checkpoint_id: String,
    /// When the replication was requested.
    pub started: SystemTime,
    /// The progress.
    pub progress: Progress,
}

impl Content {
    /// A job that has not run.
    pub fn new(replication: Arc<Replication>, checkpoint_id: String) -> Self {
        Content {
            replication,
            checkpoint_id,
            started: SystemTime::now(),
            progress: Progress::default(),
        }
    }

    /// The statistics of the job once it is completed, as its document shows them.
    pub fn completed_stats(&self) -> Map<String, Value> {
        let mut stats = self.progress.fields();
        for name in ["source_seq", "through_seq"] {
            stats.shift_remove(name);
        }
        stats.insert("start_time".to_owned(), iso8601(self.started).into());
        stats
    }
}

/// The result of a job.
pub type End = Result<Value, ReplicateError>;

/// Who started a job: the document that describes the replication, or, with `None`, a request to `_replicate`.
pub type Starter = Option<DocRef>;

/// The jobs of a server.
#[derive(Debug, Default)]
pub struct Jobs(Mutex<JobState>);

/// The state of the jobs.
#[derive(Debug, Default)]
pub struct JobState {
    /// Decides which jobs run.
    pub scheduler: Scheduler<Content>,
    /// The last run of each job. It may be stopped already and still write its checkpoint.
    pub runs: HashMap<String, Running>,
    /// Requests that wait for the end of a job.
    pub waiting: HashMap<String, Vec<oneshot::Sender<End>>>,
}

impl JobState {
    /// Whether this run of a job goes on.
    pub fn is_running(&self, id: &str, run: u64) -> bool {
        let job = self.scheduler.job(id);
        job.is_some_and(|job| job.run() == Some(run))
    }

    /// Who started the job with this id, if there is one.
    pub fn starter(&self, id: &str) -> Option<Starter> {
        let job = self.scheduler.job(id)?;
        Some(job.content.replication.document.clone())
    }

    /// Notes a request that waits for the end of a job.
    pub fn wait(&mut self, id: &str) -> oneshot::Receiver<End> {
        let (sender, receiver) = oneshot::channel();
        let waiting = self.waiting.entry(id.to_owned()).or_default();
        // A job may run for years: requests that wait no longer must not pile up.
        waiting.retain(|sender| !sender.is_closed());
        waiting.push(sender);
        receiver
    }
}

/// A run of a job.
#[derive(Debug)]
pub struct Running {
    /// The number of the run.
    pub run: u64,
    /// Stops the run.
    pub stop: CancellationToken,
    /// The task of the run.
    pub task: JoinHandle<()>,
}

impl Jobs {
    /// Locks the state.
    pub fn lock(&self) -> MutexGuard<'_, JobState> {
        self.0.lock().expect("no panic while held")
    }

    /// What the job with this id does.
    pub fn content(&self, id: &str) -> Option<Content> {
        self.lock().scheduler.job(id).map(|job| job.content.clone())
    }

    /// All jobs, in the order of their ids.
    pub fn all(&self) -> Vec<(String, Job<Content>)> {
        let state = self.lock();
        let jobs = state.scheduler.jobs();
        jobs.map(|(id, job)| (id.to_owned(), job.clone())).collect()
    }

    /// Whether this run of a job goes on: the job was not stopped, removed or replaced meanwhile.
    pub fn is_running(&self, id: &str, run: u64) -> bool {
        self.lock().is_running(id, run)
    }

    /// The job with this id.
    pub fn one(&self, id: &str) -> Option<Job<Content>> {
        self.lock().scheduler.job(id).cloned()
    }

    /// The ids of the jobs whose replications meet a condition.
    pub fn ids(&self, is_wanted: impl Fn(&Replication) -> bool) -> Vec<String> {
        let state = self.lock();
        let jobs = state.scheduler.jobs();
        let wanted = jobs.filter(|(_, job)| is_wanted(&job.content.replication));
        wanted.map(|(id, _)| id.to_owned()).collect()
    }
}

/// The scheduler's part of the settings.
pub fn limits(settings: &Settings) -> Limits {
    Limits {
        max_jobs: settings.max_jobs,
        max_churn: settings.max_churn,
        max_history: settings.max_history,
        health_threshold: settings.health_threshold,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_that_wait_no_longer_are_forgotten() {
        let mut state = JobState::default();
        let first = state.wait("a");
        for _ in 0..9 {
            drop(state.wait("a"));
        }
        let last = state.wait("a");
        assert_eq!(state.waiting["a"].len(), 2);
        drop((first, last));
    }
}
