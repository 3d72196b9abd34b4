//! A replication from its checkpoint to the end, batch by batch.

use super::checkpoint::Checkpoint;
use super::peer::{Ask, Peer, encoded, id_path};
use super::request::replication_id;
use super::revisions::{Carrier, MissingByDocument};
use super::statistics::Statistics;
use super::{ReplicateError, Request};
use crate::tasks::{Task, Tasks};
use axum::http::Method;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;

/// Changes per batch.
const BATCH_CHANGES: usize = 500;

/// The interval between checkpoints. The last one is written at the end.
const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(5);

/// The number of attempts of a replication that is not continuous.
const ATTEMPTS: u32 = 5;

const PAUSE_FIRST: Duration = Duration::from_millis(250);

/// The longest pause before a continuous replication retries.
const PAUSE_MAX: Duration = Duration::from_secs(60);

/// The heartbeat of a waiting feed, in milliseconds.
const HEARTBEAT_MILLIS: u64 = 10_000;

/// The lifetime of a feed with a filter function, in milliseconds. A feed keeps the function it began with; the code is
/// compared when it ends.
const FILTERED_MILLIS: u64 = 5_000;

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

/// A running replication.
pub struct Run {
    source: Peer,
    target: Peer,
    request: Request,
    /// The request's key.
    key: String,
    /// The id for other modules.
    id: Arc<Mutex<String>>,
    statistics: Statistics,
    task: Task,
}

/// The filter function, as of when its code was read.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Function {
    /// The `_rev` of its design document: a restored version has still missed the changes of the time between.
    rev: String,
    code: String,
}

/// The state of one pass over the changes.
struct Pass {
    function: Option<Function>,
    checkpoint: Checkpoint,
    carrier: Carrier,
    since: Value,
    /// The sequence of the last checkpoint.
    written: Value,
    written_at: Instant,
}

impl Run {
    /// Creates a replication, listed among the active tasks until it is dropped.
    pub fn new(
        source: Peer,
        target: Peer,
        request: Request,
        key: String,
        tasks: &Arc<Tasks>,
        id: Arc<Mutex<String>>,
    ) -> Self {
        let mut fields = Map::new();
        let mut set = |name: &str, value: Value| fields.insert(name.to_owned(), value);
        set("replication_id", key.as_str().into());
        set("source", source.shown().into());
        set("target", target.shown().into());
        set("continuous", request.continuous.into());
        set("user", Value::Null);
        set("database", Value::Null);
        set("doc_id", Value::Null);
        fields.extend(Statistics::default().fields());
        Run {
            task: tasks.begin("replication", fields),
            statistics: Statistics::default(),
            source,
            target,
            request,
            key,
            id,
        }
    }

    /// Checks that both sides and the function exist, and creates the target if the request says so.
    ///
    /// # Errors
    /// If one of them does not exist or can't be reached.
    pub async fn prepare(&self) -> Result<(), ReplicateError> {
        if self.request.create_target {
            self.target.create().await?;
        }
        for peer in [&self.source, &self.target] {
            if !peer.exists().await? {
                return Err(ReplicateError::Refused {
                    url: peer.shown().to_owned(),
                    status: 404,
                    error: "db_not_found".to_owned(),
                    reason: format!("could not open {}", peer.shown()),
                });
            }
        }
        self.identify().await.map(drop)
    }

    /// Reads the function's code and computes the replication's id.
    async fn identify(&self) -> Result<(Option<Function>, String), ReplicateError> {
        let function = self.function().await?;
        let code = function.as_ref().map(|function| function.code.as_str());
        let id = replication_id(&self.key, code);
        self.id.lock().expect("no panic while held").clone_from(&id);
        self.task
            .update([("replication_id", Value::from(id.as_str()))]);
        Ok((function, id))
    }

    async fn function(&self) -> Result<Option<Function>, ReplicateError> {
        let Some(path) = self.request.function()? else {
            return Ok(None);
        };
        let ask = Ask::new(Method::GET, id_path(&path.design));
        let design: Value = self.source.json(ask).await?;
        let code = path.code(&design).ok_or_else(|| {
            let name = path.path.join(".");
            ReplicateError::BadRequest(format!("{} has no function {name}", path.design))
        })?;
        let rev = design["_rev"].as_str().unwrap_or_default().to_owned();
        Ok(Some(Function { rev, code }))
    }

    /// Replicates all changes. Retries after a temporary failure.
    ///
    /// # Errors
    /// The reason why it failed.
    pub async fn once(&mut self) -> Result<Value, ReplicateError> {
        let mut pause = PAUSE_FIRST;
        for _ in 1..ATTEMPTS {
            match self.pass().await {
                Err(error) if error.is_transient() => {
                    self.note(&error);
                    tokio::time::sleep(pause).await;
                    pause *= 2;
                }
                result => return result,
            }
        }
        self.pass().await
    }

    /// Replicates all changes and those to come. Retries after every failure.
    pub async fn forever(&mut self) {
        let mut pause = PAUSE_FIRST;
        loop {
            let before = self.statistics.clone();
            if let Err(error) = self.pass().await {
                self.note(&error);
                if self.statistics != before {
                    pause = PAUSE_FIRST;
                }
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(PAUSE_MAX);
            }
        }
    }

    fn note(&self, error: &ReplicateError) {
        tracing::warn!(replication = self.key, %error, "interrupted");
        self.task.update([("last_error", error.to_string().into())]);
    }

    /// Starts at the last checkpoint of the same function.
    async fn begin(&self) -> Result<Pass, ReplicateError> {
        let (function, id) = self.identify().await?;
        let checkpoint = Checkpoint::read(&id, &self.source, &self.target).await?;
        let since = self.request.since_seq.clone();
        Ok(Pass {
            function,
            since: since.unwrap_or_else(|| checkpoint.start_seq.clone()),
            written: checkpoint.start_seq.clone(),
            checkpoint,
            carrier: Carrier::new(self.source.clone(), self.target.clone()),
            written_at: Instant::now(),
        })
    }

    async fn pass(&mut self) -> Result<Value, ReplicateError> {
        let mut pass = self.begin().await?;
        let mut waits = false;
        loop {
            let changes = self.changes(&pass.since, waits).await?;
            if pass.function != self.function().await? {
                // The feed may have applied either version of the function.
                pass = self.begin().await?;
                waits = false;
                continue;
            }
            waits = self.request.continuous && changes.results.len() < BATCH_CHANGES;
            let is_end = !self.request.continuous && changes.results.is_empty();
            self.bring(&mut pass, changes).await?;
            if is_end || waits || pass.written_at.elapsed() >= CHECKPOINT_INTERVAL {
                self.write_checkpoint(&mut pass).await?;
            }
            if is_end {
                return Ok(self.result(&pass));
            }
        }
    }

    async fn bring(&mut self, pass: &mut Pass, changes: Changes) -> Result<(), ReplicateError> {
        let mut revisions: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for change in changes.results {
            let revs = change.changes.into_iter().map(|revision| revision.rev);
            revisions.entry(change.id).or_default().extend(revs);
        }
        if !revisions.is_empty() {
            self.statistics.missing_checked +=
                revisions.values().map(Vec::len).sum::<usize>() as u64;
            let missing = self.missing(&revisions).await?;
            pass.carrier.carry(&missing, &mut self.statistics).await?;
        }
        pass.since = changes.last_seq;
        let Statistics {
            missing_checked,
            missing_found,
            docs_read,
            docs_written,
            doc_write_failures,
        } = self.statistics;
        self.task.update([
            ("revisions_checked", missing_checked.into()),
            ("missing_revisions_found", missing_found.into()),
            ("docs_read", docs_read.into()),
            ("docs_written", docs_written.into()),
            ("doc_write_failures", doc_write_failures.into()),
            ("changes_pending", changes.pending.into()),
            ("source_seq", pass.since.clone()),
            ("through_seq", pass.since.clone()),
        ]);
        Ok(())
    }

    async fn write_checkpoint(&self, pass: &mut Pass) -> Result<(), ReplicateError> {
        pass.written_at = Instant::now();
        if pass.since == pass.written {
            return Ok(());
        }
        let (source, target) = (&self.source, &self.target);
        pass.checkpoint
            .write(&pass.since, &self.statistics, source, target)
            .await?;
        pass.written = pass.since.clone();
        self.task
            .update([("checkpointed_source_seq", pass.since.clone())]);
        Ok(())
    }

    fn result(&self, pass: &Pass) -> Value {
        let mut result = pass.checkpoint.log(&pass.since, &self.statistics);
        result["ok"] = true.into();
        if self.statistics == Statistics::default() {
            result["no_changes"] = true.into();
        }
        result
    }

    async fn changes(&self, since: &Value, waits: bool) -> Result<Changes, ReplicateError> {
        let since = since
            .as_str()
            .map_or_else(|| since.to_string(), str::to_owned);
        let since = encoded(&since);
        let mut path = format!("/_changes?style=all_docs&limit={BATCH_CHANGES}&since={since}");
        if waits {
            path += &match self.request.function()? {
                None => format!("&feed=longpoll&heartbeat={HEARTBEAT_MILLIS}"),
                Some(_) => format!("&feed=longpoll&timeout={FILTERED_MILLIS}"),
            };
        }
        let Request {
            filter,
            query_params,
            doc_ids,
            selector,
            ..
        } = &self.request;
        for (name, value) in query_params {
            let value = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            path += &format!("&{}={}", encoded(name), encoded(&value));
        }
        let ask = if let Some(doc_ids) = doc_ids {
            Ask::post(
                path + "&filter=_doc_ids",
                json!({ "doc_ids": doc_ids }).to_string(),
            )
        } else if let Some(selector) = selector {
            Ask::post(
                path + "&filter=_selector",
                json!({ "selector": selector }).to_string(),
            )
        } else if let Some(filter) = filter {
            Ask::new(Method::GET, format!("{path}&filter={}", encoded(filter)))
        } else {
            Ask::new(Method::GET, path)
        };
        self.source.json(ask).await
    }

    async fn missing(
        &self,
        revisions: &BTreeMap<String, Vec<String>>,
    ) -> Result<MissingByDocument, ReplicateError> {
        let body = json!(revisions).to_string();
        self.target.json(Ask::post("/_revs_diff", body)).await
    }
}
