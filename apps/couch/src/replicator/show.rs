//! The answers of `_scheduler`.

use super::document_table::{Row, RowState};
use super::job_table::{Content, limits};
use super::shared::Replicator;
use super::time::iso8601;
use crate::replicate::{DocRef, Endpoint, Replication};
use crate::scheduler::{EventKind, Job, State};
use crate::store::{AllDocs, Error, GetOptions, RowValue};
use crate::tasks::NODE;
use serde_json::{Map, Value, json};

/// The states of replications.
const STATES: [&str; 7] = [
    "initializing",
    "error",
    "running",
    "pending",
    "crashing",
    "completed",
    "failed",
];

/// A query for documents that describe replications.
#[derive(Debug, Clone, Default)]
pub struct DocsQuery {
    /// The range of ids.
    pub range: AllDocs,
    /// Only replications in these states; none for all states.
    pub states: Vec<String>,
}

impl DocsQuery {
    /// Reads a list of states, separated by commas.
    ///
    /// # Errors
    /// If there is no such state.
    pub fn states(list: &str) -> Result<Vec<String>, String> {
        let names = list.split(',').filter(|name| !name.is_empty());
        let names: Vec<String> = names.map(str::to_ascii_lowercase).collect();
        match names.iter().all(|name| STATES.contains(&name.as_str())) {
            true => Ok(names),
            false => Err(format!(
                "States must be one or more of [{}]",
                STATES.join(",")
            )),
        }
    }
}

impl Replicator {
    /// The jobs, in the order of their ids.
    pub fn jobs(&self) -> Vec<Value> {
        let jobs = self.0.jobs.all();
        jobs.iter().map(|(id, job)| job_json(id, job)).collect()
    }

    /// The job with this id.
    pub fn job(&self, id: &str) -> Option<Value> {
        let job = self.0.jobs.one(id)?;
        Some(job_json(id, &job))
    }

    /// The documents of a database that describe replications, and the number of all its documents.
    ///
    /// # Errors
    /// If there is no such database, or it can't be read.
    pub fn docs(&self, database: &str, query: DocsQuery) -> Result<(u64, Vec<Value>), Error> {
        let db = self.0.databases.get(database)?;
        let total = db.info()?.doc_count;
        let DocsQuery { mut range, states } = query;
        let (mut skip, limit) = (range.skip, range.limit.unwrap_or(usize::MAX));
        (range.skip, range.limit) = (0, None);
        range.include_docs = Some(GetOptions::default());
        let mut found = Vec::new();
        let mut next = Some(range);
        while let Some(question) = next.take() {
            let page = db.all_docs(&question)?;
            for row in page.rows {
                let RowValue::Present { document, .. } = row.value else {
                    continue;
                };
                let Some(info) = document.and_then(|doc| self.info(database, &row.id, &doc.body))
                else {
                    continue;
                };
                let state = info["state"].as_str().unwrap_or_default();
                if !states.is_empty() && !states.iter().any(|wanted| wanted == state) {
                    continue;
                }
                if skip > 0 {
                    skip -= 1;
                } else if found.len() < limit {
                    found.push(info);
                } else {
                    return Ok((total, found));
                }
            }
            next = page.next;
        }
        Ok((total, found))
    }

    /// The document with this id.
    ///
    /// # Errors
    /// If there is no such document.
    pub fn doc(&self, database: &str, id: &str) -> Result<Option<Value>, Error> {
        let db = self.0.databases.get(database)?;
        let document = db.get(id, &GetOptions::default())?;
        let info = self.info(database, id, &document.body);
        Ok(info.or_else(|| unseen_json(database, id, &document.body)))
    }

    /// What is known about a document. None for a design document, and for one that is just being found or completed.
    fn info(&self, database: &str, id: &str, body: &str) -> Option<Value> {
        if id.starts_with("_design/") {
            return None;
        }
        let body: Map<String, Value> = serde_json::from_str(body).ok()?;
        match body.get("_replication_state").and_then(Value::as_str) {
            Some(state @ ("completed" | "failed")) => Some(ended_json(database, id, state, &body)),
            _ => {
                let document = DocRef {
                    database: database.to_owned(),
                    id: id.to_owned(),
                };
                let row = self.0.documents.row(&document)?;
                self.row_json(&document, &row)
            }
        }
    }

    fn row_json(&self, document: &DocRef, row: &Row) -> Option<Value> {
        let state = match row.state {
            RowState::Scheduled => {
                let id = row.id.as_deref()?;
                let job = self.0.jobs.one(id)?;
                return Some(self.scheduled_json(document, id, &job));
            }
            RowState::Initializing => "initializing",
            RowState::Error => "error",
        };
        Some(json!({
            "database": document.database,
            "doc_id": document.id,
            "id": row.id,
            "state": state,
            "info": row.info.as_ref().map(|info| json!({ "error": info })),
            "error_count": row.errors,
            "node": NODE,
            "last_updated": iso8601(row.updated),
            "start_time": iso8601(row.started),
        }))
    }

    fn scheduled_json(&self, document: &DocRef, id: &str, job: &Job<Content>) -> Value {
        let (state, crashes) = job.state(&limits(&self.settings()));
        let last = job.history().next();
        let (state, info) = match state {
            State::Running => ("running", progress(&job.content)),
            State::Pending => ("pending", progress(&job.content)),
            State::Crashing => {
                let reason = last.map(|event| match &event.kind {
                    EventKind::Crashed(reason) => json!({ "error": reason }),
                    _ => Value::Null,
                });
                ("crashing", reason.unwrap_or_default())
            }
        };
        let replication = &job.content.replication;
        json!({
            "database": document.database,
            "doc_id": document.id,
            "id": id,
            "node": NODE,
            "source": shown(&replication.source),
            "target": shown(&replication.target),
            "state": state,
            "info": info,
            "error_count": crashes,
            "last_updated": last.map(|event| iso8601(event.at)),
            "start_time": iso8601(job.content.started),
            "source_proxy": null,
            "target_proxy": null,
        })
    }
}

/// The user of a job. As in CouchDB, a document's owner is not shown.
pub(super) fn user(replication: &Replication) -> Option<&str> {
    let name = replication.user.name.as_deref();
    name.filter(|_| replication.document.is_none())
}

fn shown(endpoint: &Endpoint) -> &str {
    endpoint.shown()
}

/// The progress of a job; none before its first run.
fn progress(content: &Content) -> Value {
    let fields = content.progress.fields();
    match fields.is_empty() {
        true => Value::Null,
        false => Value::Object(fields),
    }
}

/// A document that the replicator has not seen yet: a client may ask at once after it has written it.
fn unseen_json(database: &str, id: &str, body: &str) -> Option<Value> {
    if id.starts_with("_design/") {
        return None;
    }
    let body: Map<String, Value> = serde_json::from_str(body).ok()?;
    let mut unseen = ended_json(database, id, "completed", &body);
    for name in ["state", "info", "start_time", "last_updated"] {
        unseen[name] = Value::Null;
    }
    Some(unseen)
}

fn ended_json(database: &str, id: &str, state: &str, body: &Map<String, Value>) -> Value {
    let time = body.get("_replication_state_time");
    let endpoint = |name: &str| {
        let endpoint = Endpoint::from_json(body.get(name).unwrap_or(&Value::Null));
        // A URL that can't be parsed may contain a password.
        endpoint.map(|endpoint| endpoint.shown().to_owned()).ok()
    };
    let (info, errors, started) = match state {
        "completed" => {
            let stats = body.get("_replication_stats").and_then(Value::as_object);
            let mut stats = stats.cloned().unwrap_or_default();
            let started = stats.shift_remove("start_time");
            (Value::Object(stats), 0, started)
        }
        _ => {
            let reason = body.get("_replication_state_reason");
            let info = reason.map(|reason| json!({ "error": reason }));
            (info.unwrap_or_default(), 1, time.cloned())
        }
    };
    json!({
        "database": database,
        "doc_id": id,
        "id": null,
        "source": endpoint("source"),
        "target": endpoint("target"),
        "state": state,
        "error_count": errors,
        "info": info,
        "start_time": started,
        "last_updated": time,
    })
}

fn job_json(id: &str, job: &Job<Content>) -> Value {
    let replication = &job.content.replication;
    let document = replication.document.as_ref();
    let history = job.history().map(|event| {
        let timestamp = iso8601(event.at);
        match &event.kind {
            EventKind::Crashed(reason) => {
                json!({ "timestamp": timestamp, "type": "crashed", "reason": reason })
            }
            kind => json!({ "timestamp": timestamp, "type": kind_name(kind) }),
        }
    });
    json!({
        "database": document.map(|document| &document.database),
        "id": id,
        "pid": job.run().map(|run| format!("<0.{run}.0>")),
        "source": shown(&replication.source),
        "target": shown(&replication.target),
        "user": user(replication),
        "doc_id": document.map(|document| &document.id),
        "info": progress(&job.content),
        "history": history.collect::<Vec<_>>(),
        "node": NODE,
        "start_time": iso8601(job.content.started),
    })
}

fn kind_name(kind: &EventKind) -> &'static str {
    match kind {
        EventKind::Added => "added",
        EventKind::Started => "started",
        EventKind::Stopped => "stopped",
        EventKind::Crashed(_) => "crashed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_that_was_just_written_has_no_state() {
        let body = r#"{"source":"http://a:b@127.0.0.1:1/s","target":"http://127.0.0.1:1/t"}"#;
        let unseen = unseen_json("_replicator", "r", body).unwrap();
        assert_eq!(unseen["source"], "http://127.0.0.1:1/s/");
        assert_eq!(
            (&unseen["state"], &unseen["error_count"]),
            (&Value::Null, &json!(0))
        );
        assert_eq!(unseen_json("_replicator", "_design/d", "{}"), None);
    }
}
