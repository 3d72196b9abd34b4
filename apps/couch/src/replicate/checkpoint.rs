//! Replication checkpoints: one document in `_local/` of the source and one of the target, in CouchDB's format.

use super::peer::{Ask, Peer, id_path};
use super::{ReplicateError, statistics::Statistics};
use axum::http::Method;
use serde_json::{Value, json};

/// The maximum number of sessions in a checkpoint, as in CouchDB.
const HISTORY_MAX: usize = 50;

/// The version of the checkpoint format.
const VERSION: u64 = 4;

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
    /// The earlier sessions.
    history: Vec<Value>,
    start_time: String,
}

impl Checkpoint {
    /// Reads the checkpoints of both sides and finds the last sequence on which they agree.
    ///
    /// # Errors
    /// If one of them can't be read.
    pub async fn read(id: &str, source: &Peer, target: &Peer) -> Result<Self, ReplicateError> {
        let path = id_path(&format!("_local/{id}"));
        let (source, target) = (log(source, &path).await?, log(target, &path).await?);
        let (start_seq, history) = common(&source, &target);
        Ok(Checkpoint {
            path,
            session_id: crate::auth::hex(&crate::auth::random::<16>()),
            source,
            target,
            start_seq,
            history,
            start_time: http_date(),
        })
    }

    /// Records on both sides that all changes up to `seq` are replicated.
    ///
    /// # Errors
    /// If one of them can't be written.
    pub async fn write(
        &mut self,
        seq: &Value,
        statistics: &Statistics,
        source: &Peer,
        target: &Peer,
    ) -> Result<(), ReplicateError> {
        let log = self.log(seq, statistics);
        // Write the target first: a change that the target lacks must not be recorded as replicated.
        put(target, &self.path, &log, &mut self.target).await?;
        put(source, &self.path, &log, &mut self.source).await
    }

    /// The entry of this session in the history.
    pub fn log(&self, seq: &Value, statistics: &Statistics) -> Value {
        let mut session = json!({
            "session_id": self.session_id,
            "start_time": self.start_time,
            "end_time": http_date(),
            "start_last_seq": self.start_seq,
            "end_last_seq": seq,
            "recorded_seq": seq,
        });
        if let Some(session) = session.as_object_mut() {
            session.extend(statistics.fields());
        }
        let mut history = vec![session];
        history.extend(self.history.iter().take(HISTORY_MAX - 1).cloned());
        json!({
            "session_id": self.session_id,
            "source_last_seq": seq,
            "replication_id_version": VERSION,
            "history": history,
        })
    }
}

async fn log(peer: &Peer, path: &str) -> Result<Value, ReplicateError> {
    match peer.json(Ask::new(Method::GET, path)).await {
        Err(error) if error.is_status(404) => Ok(json!({})),
        other => other,
    }
}

async fn put(peer: &Peer, path: &str, log: &Value, last: &mut Value) -> Result<(), ReplicateError> {
    let mut log = log.clone();
    if let Some(rev) = last.get("_rev") {
        log["_rev"] = rev.clone();
    }
    let ask = Ask::new(Method::PUT, path).with("application/json", log.to_string());
    let answer: Value = peer.json(ask).await?;
    *last = json!({ "_rev": answer["rev"] });
    Ok(())
}

/// The last sequence that both sides recorded for the same session, and the sessions up to it.
fn common(source: &Value, target: &Value) -> (Value, Vec<Value>) {
    let sessions = |log: &Value| log["history"].as_array().cloned().unwrap_or_default();
    let (ours, theirs) = (sessions(source), sessions(target));
    if source["session_id"].is_string() && source["session_id"] == target["session_id"] {
        return (source["source_last_seq"].clone(), ours);
    }
    for (at, session) in ours.iter().enumerate() {
        let id = &session["session_id"];
        let same = theirs
            .iter()
            .find(|other| id.is_string() && other["session_id"] == *id);
        if let Some(same) = same {
            // The sequence that was written first is certain for both sides.
            return (same["recorded_seq"].clone(), ours[at..].to_vec());
        }
    }
    (json!(0), Vec::new())
}

/// The current time in the format of RFC 1123.
fn http_date() -> String {
    httpdate::fmt_http_date(std::time::SystemTime::now())
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
        let of = |source: &[_], target: &[_]| common(&log(source), &log(target)).0;
        assert_eq!(of(&[("b", 9), ("a", 5)], &[("b", 9)]), 9);
        assert_eq!(of(&[("b", 9), ("a", 5)], &[("a", 5)]), 5);
        assert_eq!(of(&[("a", 5)], &[("c", 20), ("a", 4)]), 4);
        assert_eq!(of(&[("a", 5)], &[("b", 5)]), 0);
        assert_eq!(of(&[], &[]), 0);
        assert_eq!(common(&json!({}), &json!({})).0, 0);
    }
}
