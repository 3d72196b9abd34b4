//! A replication from its checkpoint to the end, batch by batch.

use super::ReplicateError;
use super::checkpoint::Checkpoint;
use super::encoded::encoded;
use super::filter::{Function, Selection};
use super::id::checkpoint_id;
use super::peer::{Ask, Peer, id_path, text_of};
use super::request::Replication;
use super::revisions::{Carrier, MissingByDocument};
use super::statistics::Statistics;
use crate::tasks::Task;
use axum::http::Method;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The lifetime of a feed with a filter function. A feed keeps the function it began with; the code is compared when it
/// ends.
const FILTERED_MILLIS: u128 = 5_000;

#[derive(Deserialize)]
struct Changes {
    results: Vec<Change>,
    last_seq: Value,
    #[serde(default)]
    pending: Option<u64>,
}

#[derive(Deserialize)]
struct Change {
    id: String,
    changes: Vec<ChangedRevision>,
}

#[derive(Deserialize)]
struct ChangedRevision {
    rev: String,
}

/// The progress of a replication, as `_scheduler` and `_active_tasks` show it. It outlives a run.
#[derive(Debug, Clone, Default)]
pub struct Progress(Arc<Mutex<Map<String, Value>>>);

impl Progress {
    /// The figures. There are none before the first run.
    pub fn fields(&self) -> Map<String, Value> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Map<String, Value>> {
        self.0.lock().expect("no panic while held")
    }
}

/// What a run needs.
#[derive(Debug)]
pub struct Plan {
    /// The source.
    pub source: Peer,
    /// The target.
    pub target: Peer,
    /// The replication.
    pub replication: Arc<Replication>,
    /// The server's id.
    pub uuid: String,
    /// The id of the checkpoints.
    pub checkpoint_id: String,
    /// The longest document id that is replicated.
    pub id_bytes_max: usize,
    /// The progress.
    pub progress: Progress,
}

/// A running replication.
pub struct Run {
    plan: Plan,
    task: Task,
    stop: CancellationToken,
    statistics: Statistics,
    /// Whether revisions were compared in this run.
    is_changed: bool,
}

/// The state of one pass over the changes.
struct Pass {
    function: Option<Function>,
    checkpoint: Checkpoint,
    carrier: Carrier,
    /// The creation times of source and target. Another one is another database.
    instances: [Value; 2],
    since: Value,
    /// The sequence of the last checkpoint.
    written: Value,
    written_at: Instant,
    /// The checkpoint written last.
    log: Option<Value>,
}

impl Run {
    /// Creates a run; `stop` ends it after a last checkpoint.
    pub fn new(plan: Plan, task: Task, stop: CancellationToken) -> Self {
        Run {
            plan,
            task,
            stop,
            statistics: Statistics::default(),
            is_changed: false,
        }
    }

    /// Replicates all changes, and those to come if the replication is continuous. Returns CouchDB's answer.
    ///
    /// # Errors
    /// The reason why it failed, or [`ReplicateError::Stopped`].
    pub async fn run(mut self) -> Result<Value, ReplicateError> {
        let mut pass = self.stoppable(self.prepare()).await?;
        self.statistics.raise(&self.plan.progress.fields());
        if let Some(recorded) = pass.checkpoint.last_statistics() {
            self.statistics.raise(recorded);
        }
        self.note(&pass, None);
        let result = self.replicate(&mut pass).await;
        if matches!(result, Err(ReplicateError::Stopped))
            && let Err(error) = self.write_checkpoint(&mut pass).await
        {
            tracing::warn!(%error, "the last checkpoint was not written");
        }
        result
    }

    async fn stoppable<T>(
        &self,
        work: impl Future<Output = Result<T, ReplicateError>>,
    ) -> Result<T, ReplicateError> {
        tokio::select! {
            biased;
            () = self.stop.cancelled() => Err(ReplicateError::Stopped),
            result = work => result,
        }
    }

    /// Opens both sides, creates the target if the replication says so, and finds the last checkpoint.
    async fn prepare(&self) -> Result<Pass, ReplicateError> {
        let Plan {
            source,
            target,
            replication,
            ..
        } = &self.plan;
        let source_info = source.info().await?;
        if replication.create_target {
            target.create(&replication.create_target_params).await?;
        }
        let target_info = target.info().await?;
        let instance = |info: Value| info["instance_start_time"].clone();
        self.begin([instance(source_info), instance(target_info)])
            .await
    }

    /// Starts at the last checkpoint of the present function.
    async fn begin(&self, instances: [Value; 2]) -> Result<Pass, ReplicateError> {
        let Plan {
            source,
            target,
            replication,
            ..
        } = &self.plan;
        let function = self.function().await?;
        let code = function.as_ref().map(|function| function.code.as_str());
        if checkpoint_id(&self.plan.uuid, replication, code) != self.plan.checkpoint_id {
            return Err(ReplicateError::FilterChanged);
        }
        let digest = function
            .as_ref()
            .and_then(|function| function.digest.clone());
        let has_doc_ids = matches!(replication.selection, Selection::DocIds(_));
        let id = &self.plan.checkpoint_id;
        let checkpoint = Checkpoint::read(id, digest, has_doc_ids, source, target).await?;
        let since = replication.since_seq.clone();
        let use_bulk_get = replication.tuning.use_bulk_get;
        Ok(Pass {
            function,
            since: since.unwrap_or_else(|| checkpoint.start_seq.clone()),
            written: checkpoint.start_seq.clone(),
            checkpoint,
            carrier: Carrier::new(source.clone(), target.clone(), use_bulk_get),
            instances,
            written_at: Instant::now(),
            log: None,
        })
    }

    async fn function(&self) -> Result<Option<Function>, ReplicateError> {
        function(&self.plan.source, &self.plan.replication).await
    }

    async fn replicate(&mut self, pass: &mut Pass) -> Result<Value, ReplicateError> {
        let is_continuous = self.plan.replication.continuous;
        let interval = self.plan.replication.tuning.checkpoint_interval;
        let mut waits = false;
        loop {
            let changes = self.next_changes(pass, waits, interval).await?;
            if pass.function != self.stoppable(self.function()).await? {
                // The feed may have applied either version of the function.
                let instances = std::mem::take(&mut pass.instances);
                *pass = self.stoppable(self.begin(instances)).await?;
                waits = false;
                continue;
            }
            let is_last = changes.results.len() < self.plan.replication.tuning.batch_size;
            waits = is_continuous && is_last;
            // A batch that is not full ends at the source's last change. To wait for an empty one would take as long as
            // documents are written to the source.
            let is_complete = is_last && changes.pending.is_none_or(|pending| pending == 0);
            let is_end = !is_continuous && (is_complete || changes.results.is_empty());
            self.bring(pass, changes).await?;
            if is_end {
                self.write_checkpoint(pass).await?;
                return Ok(self.result(pass));
            }
            if pass.written_at.elapsed() >= interval {
                self.write_checkpoint(pass).await?;
            }
        }
    }

    /// Reads the next changes, and writes checkpoints while it waits for them.
    async fn next_changes(
        &self,
        pass: &mut Pass,
        waits: bool,
        interval: Duration,
    ) -> Result<Changes, ReplicateError> {
        let since = pass.since.clone();
        let mut changes = pin!(self.changes(&since, waits));
        loop {
            let due = pass.written_at + interval;
            let is_due = waits && self.has_progress(pass);
            tokio::select! {
                biased;
                () = self.stop.cancelled() => return Err(ReplicateError::Stopped),
                changes = &mut changes => return changes,
                () = tokio::time::sleep_until(due), if is_due => {}
            }
            self.write_checkpoint(pass).await?;
        }
    }

    async fn bring(&mut self, pass: &mut Pass, changes: Changes) -> Result<(), ReplicateError> {
        let mut revisions: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for change in changes.results {
            if change.id.len() > self.plan.id_bytes_max {
                tracing::warn!(id = change.id, "the id is too long: it is not replicated");
                self.statistics.doc_write_failures += 1;
                continue;
            }
            let revs = change.changes.into_iter().map(|revision| revision.rev);
            revisions.entry(change.id).or_default().extend(revs);
        }
        if !revisions.is_empty() {
            let stop = self.stop.clone();
            tokio::select! {
                biased;
                () = stop.cancelled() => return Err(ReplicateError::Stopped),
                result = self.copy(pass, &revisions) => result?,
            }
        }
        pass.since = changes.last_seq;
        self.note(pass, changes.pending);
        Ok(())
    }

    async fn copy(
        &mut self,
        pass: &mut Pass,
        revisions: &BTreeMap<String, Vec<String>>,
    ) -> Result<(), ReplicateError> {
        let checked = revisions.values().map(Vec::len).sum::<usize>();
        self.is_changed |= checked > 0;
        self.statistics.missing_checked += checked as u64;
        let ask = Ask::post("/_revs_diff", json!(revisions).to_string());
        let missing: MissingByDocument = self.plan.target.json(ask).await?;
        pass.carrier.carry(&missing, &mut self.statistics).await
    }

    /// Shows the progress.
    fn note(&self, pass: &Pass, pending: Option<u64>) {
        let mut fields = self.statistics.task_fields();
        let mut set = |name: &str, value: Value| fields.insert(name.to_owned(), value);
        set("changes_pending", pending.into());
        let since = text_of(&pass.since);
        set("checkpointed_source_seq", text_of(&pass.written).into());
        set("source_seq", since.as_str().into());
        set("through_seq", since.into());
        self.task.set(fields.clone());
        *self.plan.progress.lock() = fields;
    }

    /// Returns whether there is a checkpoint to write.
    fn has_progress(&self, pass: &Pass) -> bool {
        self.plan.replication.tuning.use_checkpoints && pass.since != pass.written
    }

    async fn write_checkpoint(&self, pass: &mut Pass) -> Result<(), ReplicateError> {
        pass.written_at = Instant::now();
        if !self.has_progress(pass) {
            return Ok(());
        }
        let (source, target) = (&self.plan.source, &self.plan.target);
        let sides = [(source, "source"), (target, "target")];
        for ((peer, side), known) in sides.into_iter().zip(&pass.instances) {
            let ask = Ask::post("/_ensure_full_commit", "");
            let committed: Value = peer.json(ask).await?;
            let instance = &committed["instance_start_time"];
            if instance != known && *instance != "0" && *known != "0" {
                return Err(ReplicateError::Checkpoint(format!(
                    "instance_start_time on {side} database has changed since last checkpoint."
                )));
            }
        }
        let written = pass
            .checkpoint
            .write(&pass.since, &self.statistics, source, target);
        pass.log = Some(written.await?);
        pass.written = pass.since.clone();
        let seq = Value::from(text_of(&pass.written));
        self.task.update([("checkpointed_source_seq", seq.clone())]);
        self.plan
            .progress
            .lock()
            .insert("checkpointed_source_seq".to_owned(), seq);
        Ok(())
    }

    fn result(&self, pass: &Pass) -> Value {
        let mut result = Map::from_iter([("ok".to_owned(), Value::Bool(true))]);
        let log = match &pass.log {
            _ if !self.plan.replication.tuning.use_checkpoints => {
                json!({ "use_checkpoints": false })
            }
            Some(log) if self.is_changed => log.clone(),
            _ => pass.checkpoint.unchanged(),
        };
        result.extend(log.as_object().cloned().unwrap_or_default());
        Value::Object(result)
    }

    async fn changes(&self, since: &Value, waits: bool) -> Result<Changes, ReplicateError> {
        let replication = &self.plan.replication;
        let style = match replication.winning_revs_only {
            true => "main_only",
            false => "all_docs",
        };
        let limit = replication.tuning.batch_size;
        let since = encoded(&text_of(since));
        let mut path = format!("/_changes?style={style}&limit={limit}&since={since}");
        if waits {
            // A sign of life before the time without a byte is over.
            let heartbeat = (replication.tuning.connection_timeout / 3)
                .as_millis()
                .max(1);
            path += &match replication.selection.function(&replication.query_params)? {
                None => format!("&feed=longpoll&heartbeat={heartbeat}"),
                Some(_) => format!("&feed=longpoll&timeout={}", heartbeat.min(FILTERED_MILLIS)),
            };
        }
        for (name, value) in &replication.query_params {
            path += &format!("&{}={}", encoded(name), encoded(&text_of(value)));
        }
        let (filter, body) = replication.selection.question();
        if let Some(filter) = filter {
            path += &format!("&filter={}", encoded(&filter));
        }
        let ask = match body {
            Some(body) => Ask::post(path, body.to_string()),
            None => Ask::new(Method::GET, path),
        };
        self.plan.source.json(ask).await
    }
}

/// Reads the filter function of a replication from its source.
///
/// # Errors
/// If the design document can't be read or has no such function.
pub async fn function(
    source: &Peer,
    replication: &Replication,
) -> Result<Option<Function>, ReplicateError> {
    let Some(path) = replication.selection.function(&replication.query_params)? else {
        return Ok(None);
    };
    let ask = Ask::new(Method::GET, id_path(&path.design));
    let shown = source.shown();
    let design: Value = source.json(ask).await.map_err(|error| match &error {
        ReplicateError::Refused { error, .. } => ReplicateError::Filter(format!(
            "Couldn't open document `{}` from source database `{shown}`: {{error,<<\"{error}\">>}}",
            path.design
        )),
        _ => error,
    })?;
    let function = path.find(&design).ok_or_else(|| {
        ReplicateError::Filter(format!(
            "Couldn't parse filter code from document {} on `{shown}`: there is no `{}`",
            path.design.trim_start_matches("_design/"),
            path.shown()
        ))
    })?;
    Ok(Some(function))
}
