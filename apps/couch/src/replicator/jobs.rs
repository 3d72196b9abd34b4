//! Runs the jobs that the scheduler says should run.

use super::document_table::Found;
use super::job_table::{Content, End, JobState, Running, Starter, limits};
use super::shared::Replicator;
use super::{Ids, write_back};
use crate::replicate::{Plan, ReplicateError, Run};
use crate::scheduler::Order;
use futures_util::FutureExt;
use serde_json::{Map, Value};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// Lets jobs take turns, after each interval of the scheduler.
pub async fn reschedule(replicator: Replicator) {
    loop {
        let interval = replicator.settings().interval;
        tokio::select! {
            () = replicator.0.stop.cancelled() => return,
            () = tokio::time::sleep(interval) => {}
        }
        let limits = limits(&replicator.settings());
        let mut state = replicator.0.jobs.lock();
        let orders = state.scheduler.reschedule(&limits, SystemTime::now());
        replicator.execute(&mut state, orders);
    }
}

impl Replicator {
    /// Adds the job of a request to `_replicate`, unless there is an equal one. The request joins the job of a document: to
    /// replace it would end the document's replication with the request's. Returns a receiver of the job's end.
    pub(super) fn add_requested_job(&self, id: &str, content: Content) -> oneshot::Receiver<End> {
        let mut state = self.0.jobs.lock();
        let end = state.wait(id);
        let starter = state.starter(id);
        if starter.is_none_or(|document| document.is_none()) {
            self.add_job(&mut state, id, content);
        }
        end
    }

    /// Adds the job of a document, unless there is an equal one.
    ///
    /// # Errors
    /// If there is a job with this id that the document did not start. Returns who started it.
    pub(super) fn add_document_job(&self, id: &str, content: Content) -> Result<(), Starter> {
        let mut state = self.0.jobs.lock();
        match state.starter(id) {
            Some(starter) if starter != content.replication.document => Err(starter),
            _ => {
                self.add_job(&mut state, id, content);
                Ok(())
            }
        }
    }

    fn add_job(&self, state: &mut JobState, id: &str, content: Content) {
        let limits = limits(&self.settings());
        let known = state.scheduler.job(id).map(|job| &job.content.replication);
        let is_known = known.is_some_and(|known| known.is_same(&content.replication));
        if !is_known {
            let is_continuous = content.replication.continuous;
            let is_retried = content.replication.document.is_some();
            let flags = (is_continuous, is_retried);
            let now = SystemTime::now();
            let orders = state.scheduler.add(id, content, flags, &limits, now);
            self.execute(state, orders);
        }
    }

    /// Removes a job. Returns whether there was one.
    pub(super) fn remove_job(&self, id: &str) -> bool {
        let mut state = self.0.jobs.lock();
        let is_known = state.scheduler.job(id).is_some();
        let orders = state.scheduler.remove(id);
        self.execute(&mut state, orders);
        tell(&mut state, id, &Err(ReplicateError::Stopped));
        is_known
    }

    /// Stops all jobs for good, and waits until they have written their last checkpoints.
    pub async fn stop_within(&self, timeout: Duration) {
        self.0.stop.cancel();
        let runs = std::mem::take(&mut self.0.jobs.lock().runs);
        let tasks = runs.into_values().map(|running| running.task);
        let all = futures_util::future::join_all(tasks);
        if tokio::time::timeout(timeout, all).await.is_err() {
            tracing::warn!("some replications have not written their last checkpoint");
        }
    }

    fn execute(&self, state: &mut JobState, orders: Vec<Order>) {
        for order in orders {
            match order {
                Order::Stop { id, run } => {
                    if let Some(running) = state.runs.get(&id).filter(|one| one.run == run) {
                        running.stop.cancel();
                    }
                }
                Order::Start { id, run } => {
                    let Some(job) = state.scheduler.job(&id) else {
                        continue;
                    };
                    let content = job.content.clone();
                    let before = state.runs.remove(&id).map(|running| running.task);
                    let stop = self.0.stop.child_token();
                    let (replicator, job, token) = (self.clone(), id.clone(), stop.clone());
                    let task = tokio::spawn(async move {
                        if let Some(before) = before {
                            // A run that was stopped writes its last checkpoint.
                            let _ = before.await;
                        }
                        let end = AssertUnwindSafe(replicator.run(&job, &content, token));
                        let end = end.catch_unwind().await;
                        let end = end.unwrap_or(Err(ReplicateError::Panicked));
                        replicator.ended(&job, run, content, end).await;
                        let mut state = replicator.0.jobs.lock();
                        if state.runs.get(&job).is_some_and(|last| last.run == run) {
                            state.runs.remove(&job);
                        }
                    });
                    state.runs.insert(id, Running { run, stop, task });
                }
            }
        }
    }

    async fn run(&self, id: &str, content: &Content, stop: CancellationToken) -> End {
        let settings = self.settings();
        let jitter = random_below(settings.startup_jitter);
        tokio::select! {
            biased;
            () = stop.cancelled() => return Err(ReplicateError::Stopped),
            () = tokio::time::sleep(jitter) => {}
        }
        let replication = &content.replication;
        let plan = Plan {
            source: self.peer(&replication.source, replication)?,
            target: self.peer(&replication.target, replication)?,
            replication: Arc::clone(replication),
            uuid: self.0.uuid.clone(),
            checkpoint_id: content.checkpoint_id.clone(),
            id_bytes_max: settings.id_bytes_max,
            progress: content.progress.clone(),
        };
        let task = self.0.tasks.begin("replication", task_fields(id, content));
        if settings.update_docs
            && let Some(document) = &replication.document
        {
            write_back::triggered(&self.0.databases, document, replication, id).await;
        }
        Run::new(plan, task, stop).run().await
    }

    async fn ended(&self, id: &str, run: u64, content: Content, end: End) {
        if !self.0.jobs.is_running(id, run) {
            return;
        }
        let settings = self.settings();
        let replication = &content.replication;
        match (&end, &replication.document) {
            (Err(ReplicateError::FilterChanged), _) => return self.renamed(id, run, content).await,
            (Ok(_), Some(document)) => {
                let stats = content.completed_stats();
                write_back::completed(&self.0.databases, document, replication, stats).await;
            }
            (Err(ReplicateError::Stopped), _) | (Ok(_), None) => {}
            (Err(error), document) => {
                tracing::warn!(replication = id, %error, "the replication crashed");
                if let (Some(document), true) = (document, settings.update_docs) {
                    let reason = error.reason();
                    let databases = &self.0.databases;
                    write_back::error(databases, document, replication, Some(id), &reason).await;
                }
            }
        }
        let crash = match &end {
            Ok(_) => None,
            Err(ReplicateError::Stopped) => return,
            Err(error) => Some(error.reason()),
        };
        let mut state = self.0.jobs.lock();
        let limits = limits(&settings);
        let orders = state
            .scheduler
            .ended(id, run, crash, &limits, SystemTime::now());
        self.execute(&mut state, orders);
        tell(&mut state, id, &end);
    }

    /// Continues a replication whose filter function has changed: it has another id.
    async fn renamed(&self, id: &str, run: u64, content: Content) {
        if let Some(document) = &content.replication.document {
            self.remove_job(id);
            self.found(document.clone(), Found::Renamed).await;
            return;
        }
        let ids = self.identify(&content.replication).await;
        let mut state = self.0.jobs.lock();
        if !state.is_running(id, run) {
            // It was cancelled meanwhile.
            return;
        }
        let waiting = state.waiting.remove(id).unwrap_or_default();
        let orders = state.scheduler.remove(id);
        self.execute(&mut state, orders);
        match ids {
            Ok(Ids { checkpoint, job }) => {
                state
                    .waiting
                    .entry(job.clone())
                    .or_default()
                    .extend(waiting);
                drop(state);
                tracing::info!(old = id, new = job, "the filter function has changed");
                drop(self.add_requested_job(&job, Content::new(content.replication, checkpoint)));
            }
            Err(error) => {
                tracing::warn!(replication = id, %error, "the replication crashed");
                for sender in waiting {
                    let _ = sender.send(Err(error.clone()));
                }
            }
        }
    }
}

/// Answers the requests that wait for a job.
fn tell(state: &mut JobState, id: &str, end: &End) {
    for sender in state.waiting.remove(id).unwrap_or_default() {
        // The client may have gone.
        let _ = sender.send(end.clone());
    }
}

/// A random duration below a limit.
fn random_below(limit: Duration) -> Duration {
    let random = u64::from_le_bytes(crate::auth::random());
    let nanos = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
    Duration::from_nanos(random.checked_rem(nanos).unwrap_or(0))
}

/// The fields of a task that do not change.
fn task_fields(id: &str, content: &Content) -> Map<String, Value> {
    let replication = &content.replication;
    let document = replication.document.as_ref();
    let interval = replication.tuning.checkpoint_interval.as_millis() as u64;
    let fields = serde_json::json!({
        "replication_id": id,
        "source": replication.source.shown(),
        "target": replication.target.shown(),
        "continuous": replication.continuous,
        "user": super::show::user(replication),
        "database": document.map(|document| &document.database),
        "doc_id": document.map(|document| &document.id),
        "checkpoint_interval": interval,
    });
    fields.as_object().cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replicate::{Principal, Replication, Tuning};
    use crate::replicator::Here;
    use axum::Router;
    use serde_json::json;

    fn content() -> Content {
        let body = json!({ "source": "none", "target": "none" });
        let (body, user) = (body.as_object().unwrap(), Principal::default());
        let replication = Replication::from_json(body, user, None, &Tuning::default()).unwrap();
        Content::new(Arc::new(replication), "old".to_owned())
    }

    #[tokio::test]
    async fn a_run_that_panics_has_crashed() {
        let folder = tempfile::tempdir().unwrap();
        let replicator = Replicator::in_folder(folder.path());
        let here: Here = Box::new(|_| Router::new().fallback(panicking));
        assert!(replicator.0.here.set(here).is_ok());
        let end = replicator.add_requested_job("job", content()).await;
        let error = end.unwrap().unwrap_err();
        assert!(error.to_string().contains("internal error"), "{error}");
        assert!(replicator.0.jobs.all().is_empty());
    }

    async fn panicking() -> &'static str {
        panic!("expected by the test")
    }

    #[tokio::test]
    async fn a_cancelled_replication_is_not_continued_under_another_id() {
        let folder = tempfile::tempdir().unwrap();
        let (replicator, content) = (Replicator::in_folder(folder.path()), content());
        let run = |replicator: &Replicator| replicator.0.jobs.one("old").unwrap().run().unwrap();
        drop(replicator.add_requested_job("old", content.clone()));
        let first = run(&replicator);
        assert!(replicator.remove_job("old"));
        replicator.renamed("old", first, content.clone()).await;
        assert!(replicator.0.jobs.all().is_empty());
        // One that is not cancelled goes on.
        drop(replicator.add_requested_job("old", content.clone()));
        let second = run(&replicator);
        replicator.renamed("old", second, content).await;
        let jobs = replicator.0.jobs.all();
        assert_eq!(jobs.len(), 1);
        assert_ne!(jobs[0].0, "old");
    }
}
