//! Replication checkpoints: one document in `_local/` of the source and one of the target, in CouchDB's format.

use super::peer::{Ask, Peer, id_path};
use super::{ReplicateError, statistics::Statistics};
use axum::http::Method;
use serde_json::{Map, Value, json};
use std::time::SystemTime;

/// The maximum number of sessions in a checkpoint, as in CouchDB.
const HISTORY_MAX: usize = 50;

/// The version of the checkpoint format.
const VERSION: u64 = 4;

/// The member of a session with a hash of the code of its filter. CouchDB keeps members that it does not know.
const FUNCTION: &str = "filter_digest";

/// The checkpoints of one replication.
#[derive(Debug)]
pub struct Checkpoint {
    path: String,
    session_id: String,
    /// The checkpoint document of each side, with the `_rev` of the last read or write.
    source: Value,
    target: Value,
    /// The sequence at which this session began.
    pub start_seq: Value,
    /// The session that this one continues.
    last: Option<Value>,
    /// The earlier sessions.
    history: Vec<Value>,
    started: SystemTime,
    /// A hash of the code of the filter, if the replication's id does not include it.
    function: Option<String>,
    /// Whether documents of a list are replicated. Their checkpoints have more members.
    has_doc_ids: bool,
}

impl Checkpoint {
    /// Reads the checkpoints of both sides and finds the last sequence on which they agree.
    ///
    /// # Errors
    /// If one of them can't be read.
    pub async fn read(
        id: &str,
        function: Option<String>,
        has_doc_ids: bool,
        source: &Peer,
        target: &Peer,
    ) -> Result<Self, ReplicateError> {
        let path = id_path(&format!("_local/{id}"));
        let (source, target) = (log(source, &path).await?, log(target, &path).await?);
        let Common { seq, last, history } = common(&source, &target, function.as_deref());
        Ok(Checkpoint {
            path,
            session_id: crate::auth::hex(&crate::auth::random::<16>()),
            source,
            target,
            start_seq: seq,
            last,
            history,
            started: SystemTime::now(),
            function,
            has_doc_ids,
        })
    }

    /// The statistics of the last session.
    pub fn last_statistics(&self) -> Option<&Map<String, Value>> {
        self.last.as_ref()?.as_object()
    }

    /// The answer to a request whose replication had nothing to do: the last checkpoint.
    pub fn unchanged(&self) -> Value {
        let mut result = json!({ "no_changes": true });
        if let (Some(result), Some(log)) = (result.as_object_mut(), self.source.as_object()) {
            let members = log.iter().filter(|(name, _)| !name.starts_with('_'));
            result.extend(members.map(|(name, value)| (name.clone(), value.clone())));
        }
        result
    }

    /// Records on both sides that all changes up to `seq` are replicated. Returns the checkpoint.
    ///
    /// # Errors
    /// If one of them can't be written.
    pub async fn write(
        &mut self,
        seq: &Value,
        statistics: &Statistics,
        source: &Peer,
        target: &Peer,
    ) -> Result<Value, ReplicateError> {
        let log = self.log(seq, statistics);
        // Write the target first: a change that the target lacks must not be recorded as replicated.
        put(target, "target", &self.path, &log, &mut self.target).await?;
        put(source, "source", &self.path, &log, &mut self.source).await?;
        Ok(log)
    }

    fn log(&self, seq: &Value, statistics: &Statistics) -> Value {
        let started = httpdate::fmt_http_date(self.started);
        let ended = httpdate::fmt_http_date(SystemTime::now());
        let mut session = json!({
            "session_id": self.session_id,
            "start_time": started,
            "end_time": ended,
            "start_last_seq": self.start_seq,
            "end_last_seq": seq,
            "recorded_seq": seq,
        });
        if let Some(session) = session.as_object_mut() {
            session.extend(statistics.fields());
            if let Some(function) = &self.function {
                session.insert(FUNCTION.to_owned(), function.as_str().into());
            }
        }
        let mut history = vec![session];
        history.extend(self.history.iter().take(HISTORY_MAX - 1).cloned());
        let mut log = json!({
            "session_id": self.session_id,
            "source_last_seq": seq,
            "replication_id_version": VERSION,
        });
        if self.has_doc_ids {
            log["start_time"] = started.into();
            log["end_time"] = ended.into();
            log["docs_read"] = statistics.docs_read.into();
            log["docs_written"] = statistics.docs_written.into();
            log["doc_write_failures"] = statistics.doc_write_failures.into();
        }
        log["history"] = history.into();
        log
    }
}

async fn log(peer: &Peer, path: &str) -> Result<Value, ReplicateError> {
    match peer.json(Ask::new(Method::GET, path)).await {
        Err(error) if error.is_status(404) => Ok(json!({})),
        other => other,
    }
}

async fn put(
    peer: &Peer,
    side: &str,
    path: &str,
    log: &Value,
    last: &mut Value,
) -> Result<(), ReplicateError> {
    let mut sent = log.clone();
    if let Some(rev) = last.get("_rev") {
        sent["_rev"] = rev.clone();
    }
    let ask = Ask::new(Method::PUT, path).with("application/json", sent.to_string());
    let rev = match peer.json::<Value>(ask).await {
        Ok(answer) => answer["rev"].clone(),
        Err(error) if error.is_status(409) => {
            // An earlier attempt may have been written, and its answer lost.
            let found = self::log(peer, path).await?;
            if found["session_id"] != log["session_id"]
                || found["source_last_seq"] != log["source_last_seq"]
            {
                return Err(ReplicateError::Checkpoint(format!(
                    "Error updating the {side} checkpoint document: conflict"
                )));
            }
            found["_rev"].clone()
        }
        Err(error) => return Err(error),
    };
    let mut written = log.clone();
    written["_rev"] = rev;
    *last = written;
    Ok(())
}

/// The position from which a session continues.
struct Common {
    /// The last sequence that both sides recorded for the same session.
    seq: Value,
    /// That session.
    last: Option<Value>,
    /// The sessions to keep: those up to the last one, and those of other filters.
    history: Vec<Value>,
}

/// Compares the checkpoints of both sides. `function` is the hash of the present filter: a session of another one has left
/// out other changes.
fn common(source: &Value, target: &Value, function: Option<&str>) -> Common {
    let is_usable = |session: &Value| match (session[FUNCTION].as_str(), function) {
        (Some(recorded), Some(present)) => recorded == present,
        _ => true,
    };
    let sessions = |log: &Value| log["history"].as_array().cloned().unwrap_or_default();
    let (ours, theirs) = (sessions(source), sessions(target));
    let is_same = source["session_id"].is_string() && source["session_id"] == target["session_id"];
    if is_same && ours.first().is_none_or(is_usable) {
        return Common {
            seq: source["source_last_seq"].clone(),
            last: ours.first().cloned(),
            history: ours,
        };
    }
    let matching = |session: &Value| {
        let id = &session["session_id"];
        let is_matching = |other: &&Value| id.is_string() && other["session_id"] == *id;
        theirs
            .iter()
            .find(is_matching)
            .filter(|_| is_usable(session))
    };
    let at = ours.iter().position(|session| matching(session).is_some());
    let last = at.and_then(|at| ours.get(at));
    // The sequence that was written first is certain for both sides.
    let seq = last
        .and_then(matching)
        .map(|same| same["recorded_seq"].clone());
    let is_kept =
        |place: usize, session: &Value| !is_usable(session) || at.is_some_and(|at| place >= at);
    let kept = ours.iter().enumerate();
    let kept = kept.filter(|(place, session)| is_kept(*place, session));
    Common {
        seq: seq.unwrap_or_else(|| json!(0)),
        last: last.cloned(),
        history: kept.map(|(_, session)| session.clone()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(sessions: &[(&str, u64)]) -> Value {
        let history: Vec<Value> = sessions
            .iter()
            .map(|(id, seq)| json!({ "session_id": id, "recorded_seq": seq }))
            .collect();
        json!({
            "session_id": sessions.first().map(|(id, _)| id),
            "source_last_seq": sessions.first().map(|(_, seq)| seq),
            "history": history,
        })
    }

    #[test]
    fn both_must_agree_on_a_sequence() {
        let of = |source: &[_], target: &[_]| common(&log(source), &log(target), None).seq;
        assert_eq!(of(&[("b", 9), ("a", 5)], &[("b", 9)]), 9);
        assert_eq!(of(&[("b", 9), ("a", 5)], &[("a", 5)]), 5);
        assert_eq!(of(&[("a", 5)], &[("c", 20), ("a", 4)]), 4);
        assert_eq!(of(&[("a", 5)], &[("b", 5)]), 0);
        assert_eq!(of(&[], &[]), 0);
        assert_eq!(common(&json!({}), &json!({}), None).seq, 0);
    }

    #[test]
    fn a_session_of_another_function_does_not_count() {
        let mut both = log(&[("b", 9), ("a", 5)]);
        both["history"][0][FUNCTION] = "new".into();
        let of = |function| common(&both, &both, function).seq;
        assert_eq!(of(Some("new")), 9);
        assert_eq!(of(Some("old")), 5);
        assert_eq!(of(None), 9);
        both["history"][1][FUNCTION] = "older".into();
        let none = common(&both, &both, Some("old"));
        assert_eq!((none.seq, none.history.len()), (json!(0), 2));
    }
}
