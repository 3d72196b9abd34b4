//! Writes the state of a replication into its document.

use super::time::iso8601;
use crate::replicate::DocRef;
use crate::store::{Database, Databases, Edit, Error, GetOptions, Refusal};
use serde_json::{Map, Value};
use std::time::SystemTime;

/// A write that conflicts with another is repeated so often.
const ATTEMPTS: u32 = 20;

/// New values of members; without a value, the member is removed.
type Members = Vec<(&'static str, Option<Value>)>;

const STATE: &str = "_replication_state";
const TIME: &str = "_replication_state_time";
const REASON: &str = "_replication_state_reason";
const STATS: &str = "_replication_stats";
const ID: &str = "_replication_id";

/// Writes that a replication completed.
pub async fn completed(databases: &Databases, document: &DocRef, stats: Map<String, Value>) {
    let members = vec![
        (STATE, Some("completed".into())),
        (REASON, None),
        (STATS, Some(Value::Object(stats))),
    ];
    update(databases, document, members).await;
}

/// Writes that a document describes no replication, or that of another document.
pub async fn failed(databases: &Databases, document: &DocRef, reason: &str) {
    tracing::error!(
        database = document.database,
        id = document.id,
        reason,
        "replication failed"
    );
    let members = vec![
        (STATE, Some("failed".into())),
        (STATS, None),
        (REASON, Some(reason.into())),
    ];
    update(databases, document, members).await;
}

/// Writes that a replication has a job.
pub async fn triggered(databases: &Databases, document: &DocRef, id: &str) {
    let members = vec![
        (STATE, Some("triggered".into())),
        (REASON, None),
        (ID, Some(id.into())),
        (STATS, None),
    ];
    update(databases, document, members).await;
}

/// Writes that a replication crashed.
pub async fn error(databases: &Databases, document: &DocRef, id: Option<&str>, reason: &str) {
    let members = vec![
        (STATE, Some("error".into())),
        (REASON, Some(reason.into())),
        (STATS, None),
        (ID, Some(id.into())),
    ];
    update(databases, document, members).await;
}

/// Removes all that a replicator writes.
pub async fn without_state(databases: &Databases, document: &DocRef) {
    let members = [STATE, TIME, REASON, ID, STATS];
    update(databases, document, members.map(|name| (name, None)).into()).await;
}

async fn update(databases: &Databases, document: &DocRef, members: Members) {
    let result = match databases.get(&document.database) {
        Ok(db) => try_update(&db, &document.id, &members).await,
        Err(error) => Err(error),
    };
    match result {
        // Deleted meanwhile.
        Ok(()) | Err(Error::NotFound(_) | Error::DatabaseMissing | Error::Closed) => {}
        Err(error) => {
            tracing::error!(database = document.database, id = document.id, %error, "cannot write the state of a replication");
        }
    }
}

async fn try_update(db: &Database, id: &str, members: &Members) -> Result<(), Error> {
    for _ in 0..ATTEMPTS {
        let document = db.get(id, &GetOptions::default())?;
        let body: Map<String, Value> =
            serde_json::from_str(&document.to_json()).unwrap_or_default();
        let changed = changed(&body, members, SystemTime::now());
        if changed == body {
            return Ok(());
        }
        let edit = Edit::from_json(&Value::Object(changed).to_string(), &db.limits())?;
        match db.put(edit).await? {
            Ok(_) => return Ok(()),
            Err(Refusal::Conflict) => {}
            Err(refusal) => return Err(Error::BadRequest(refusal.to_string())),
        }
    }
    Err(Error::Conflict)
}

/// A document with other members. A new state has its time.
fn changed(body: &Map<String, Value>, members: &Members, now: SystemTime) -> Map<String, Value> {
    let mut body = body.clone();
    for (name, value) in members {
        match value {
            None => {
                body.shift_remove(*name);
            }
            Some(value) => {
                let is_new = body.get(*name) != Some(value);
                body.insert((*name).to_owned(), value.clone());
                if *name == STATE && is_new {
                    body.insert(TIME.to_owned(), iso8601(now).into());
                }
            }
        }
    }
    body
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_state_has_the_time_of_its_beginning() {
        let object = |value: Value| value.as_object().unwrap().clone();
        let body = object(json!({ "source": "a", STATS: {} }));
        let members = vec![(STATE, Some("failed".into())), (STATS, None)];
        let at = SystemTime::UNIX_EPOCH;
        let failed = changed(&body, &members, at);
        let expected = json!({ "source": "a", STATE: "failed", TIME: "1970-01-01T00:00:00Z" });
        assert_eq!(failed, object(expected));
        assert_eq!(changed(&failed, &members, SystemTime::now()), failed);
    }
}
