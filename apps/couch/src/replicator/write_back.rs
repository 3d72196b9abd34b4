//! Writes the state of a replication into its document.

use super::time::iso8601;
use crate::replicate::{DocRef, Principal, Replication, Tuning};
use crate::store::{Database, Databases, Edit, Error, GetOptions, Refusal};
use serde_json::{Map, Value};
use std::time::SystemTime;

/// The attempts of a write that conflicts with others.
const ATTEMPTS: u32 = 20;

/// New values of members; without a value, the member is removed.
type Members = Vec<(&'static str, Option<Value>)>;

const STATE: &str = "_replication_state";
const TIME: &str = "_replication_state_time";
const REASON: &str = "_replication_state_reason";
const STATS: &str = "_replication_stats";
const ID: &str = "_replication_id";

/// The version of a document whose state is written. Another version begins its own replication, which the state of this
/// one would stop.
#[derive(Debug, Clone, Copy)]
enum Version<'a> {
    /// Any version.
    Any,
    /// The one that describes this replication; `None` if it describes none.
    Of(Option<&'a Replication>),
}

/// Writes that a replication completed.
pub async fn completed(
    databases: &Databases,
    document: &DocRef,
    replication: &Replication,
    stats: Map<String, Value>,
) {
    let members = vec![
        (STATE, Some("completed".into())),
        (REASON, None),
        (STATS, Some(Value::Object(stats))),
    ];
    update(databases, document, Version::Of(Some(replication)), members).await;
}

/// Writes that a document describes no replication, or that of another document.
pub async fn failed(
    databases: &Databases,
    document: &DocRef,
    replication: Option<&Replication>,
    reason: &str,
) {
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
    update(databases, document, Version::Of(replication), members).await;
}

/// Writes that a replication has a job.
pub async fn triggered(
    databases: &Databases,
    document: &DocRef,
    replication: &Replication,
    id: &str,
) {
    let members = vec![
        (STATE, Some("triggered".into())),
        (REASON, None),
        (ID, Some(id.into())),
        (STATS, None),
    ];
    update(databases, document, Version::Of(Some(replication)), members).await;
}

/// Writes that a replication crashed.
pub async fn error(
    databases: &Databases,
    document: &DocRef,
    replication: &Replication,
    id: Option<&str>,
    reason: &str,
) {
    let members = vec![
        (STATE, Some("error".into())),
        (REASON, Some(reason.into())),
        (STATS, None),
        (ID, Some(id.into())),
    ];
    update(databases, document, Version::Of(Some(replication)), members).await;
}

/// Removes all that a replicator writes.
pub async fn without_state(databases: &Databases, document: &DocRef) {
    let members = [STATE, TIME, REASON, ID, STATS];
    let members = members.map(|name| (name, None)).into();
    update(databases, document, Version::Any, members).await;
}

async fn update(databases: &Databases, document: &DocRef, version: Version<'_>, members: Members) {
    let result = match databases.get(&document.database) {
        Ok(db) => try_update(&db, document, version, &members).await,
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

async fn try_update(
    db: &Database,
    document: &DocRef,
    version: Version<'_>,
    members: &Members,
) -> Result<(), Error> {
    for _ in 0..ATTEMPTS {
        let stored = db.get(&document.id, &GetOptions::default())?;
        let body = serde_json::from_str::<Map<String, Value>>(&stored.to_json());
        let body = body.map_err(|error| Error::BadRequest(error.to_string()))?;
        if !version.matches(document, &body) {
            return Ok(());
        }
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

impl Version<'_> {
    fn matches(&self, document: &DocRef, body: &Map<String, Value>) -> bool {
        let Version::Of(replication) = self else {
            return true;
        };
        let (nobody, document) = (Principal::default(), Some(document.clone()));
        let stored = Replication::from_json(body, nobody, document, &Tuning::default());
        match (stored, replication) {
            (Ok(stored), Some(replication)) => stored.copies_same(replication),
            (Err(_), None) => true,
            _ => false,
        }
    }
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
    use crate::store::Settings;
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

    #[tokio::test]
    async fn a_state_is_written_into_the_version_it_belongs_to() {
        let folder = tempfile::tempdir().unwrap();
        let databases = Databases::open(folder.path(), Settings::default()).unwrap();
        let db = databases.create("_replicator").unwrap();
        let document = DocRef {
            database: "_replicator".to_owned(),
            id: "a".to_owned(),
        };
        let old = json!({ "_id": "a", "source": "a", "target": "old" });
        let replication = |body: &Value| {
            let (body, nobody) = (body.as_object().unwrap(), Principal::default());
            Replication::from_json(body, nobody, Some(document.clone()), &Tuning::default())
        };
        let old_replication = replication(&old).unwrap();
        let attachments = json!({ "note": { "content_type": "text/plain", "data": "eA==" } });
        let new =
            json!({ "_id": "a", "source": "a", "target": "new", "_attachments": attachments });
        let edit = Edit::from_json(&new.to_string(), &db.limits()).unwrap();
        db.put(edit).await.unwrap().unwrap();
        let stored = || {
            let stored = db.get("a", &GetOptions::default()).unwrap().to_json();
            serde_json::from_str::<Value>(&stored).unwrap()
        };
        let before = stored();
        completed(&databases, &document, &old_replication, Map::new()).await;
        triggered(&databases, &document, &old_replication, "id").await;
        error(&databases, &document, &old_replication, None, "x").await;
        failed(&databases, &document, Some(&old_replication), "x").await;
        failed(&databases, &document, None, "describes nothing").await;
        assert_eq!(stored(), before);
        let new_replication = replication(&new).unwrap();
        completed(&databases, &document, &new_replication, Map::new()).await;
        let after = stored();
        assert_eq!(after[STATE], "completed");
        assert_eq!(after["_attachments"], before["_attachments"]);
    }
}
