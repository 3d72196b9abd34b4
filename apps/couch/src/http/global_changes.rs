//! The database `_global_changes`: a document for the last creation, change and deletion of each database, as CouchDB writes them.
//!
//! It is written as long as it exists. `GET /_db_updates` does not need it here.

use super::Server;
use super::updates::{GLOBAL_CHANGES, noted};
use crate::store::{Database, DatabaseEvent, Databases, Edit, Error, Event};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

/// Events are written together after this time, CouchDB's `global_changes/max_write_delay`.
const WRITE_DELAY: Duration = Duration::from_millis(500);

/// Writes the events of databases as long as the server is there.
pub fn follow(server: &Arc<Server>) {
    let (databases, stop) = (server.databases.clone(), server.stop.clone());
    let events = databases.events();
    tokio::spawn(async move {
        tokio::select! {
            () = stop.cancelled() => {}
            () = run(databases, events) => {}
        }
    });
}

async fn run(databases: Databases, mut events: broadcast::Receiver<DatabaseEvent>) {
    loop {
        let mut ids = BTreeSet::new();
        match events.recv().await {
            Ok(event) => add(&mut ids, &event),
            Err(RecvError::Lagged(_)) => add_all(&mut ids, &databases),
            Err(RecvError::Closed) => return,
        }
        tokio::time::sleep(WRITE_DELAY).await;
        loop {
            match events.try_recv() {
                Ok(event) => add(&mut ids, &event),
                Err(TryRecvError::Lagged(_)) => add_all(&mut ids, &databases),
                Err(TryRecvError::Empty | TryRecvError::Closed) => break,
            }
        }
        if ids.is_empty() {
            continue;
        }
        match write(&databases, &ids).await {
            Ok(()) | Err(Error::DatabaseMissing) => {}
            Err(error) => tracing::error!(%error, "cannot write the events of databases"),
        }
    }
}

fn add(ids: &mut BTreeSet<String>, event: &DatabaseEvent) {
    ids.extend(noted(event).map(|(event, name)| format!("{}:{name}", event.name())));
}

/// Some events were missed: any database may have changed.
fn add_all(ids: &mut BTreeSet<String>, databases: &Databases) {
    for name in databases.names().unwrap_or_default() {
        let event = Event::Updated;
        add(ids, &DatabaseEvent { name, event });
    }
}

/// Writes a new revision of each document.
async fn write(databases: &Databases, ids: &BTreeSet<String>) -> Result<(), Error> {
    let db = databases.get(GLOBAL_CHANGES)?;
    let edits: Result<Vec<Edit>, Error> = ids.iter().map(|id| edit(&db, id)).collect();
    let outcomes = db.bulk(edits?).await?;
    for refusal in outcomes.into_iter().filter_map(Result::err) {
        tracing::warn!(?refusal, "an event of a database was not written");
    }
    Ok(())
}

fn edit(db: &Database, id: &str) -> Result<Edit, Error> {
    let mut document = serde_json::json!({ "_id": id });
    match db.winner(id) {
        Ok((revision, false)) => document["_rev"] = revision.to_string().into(),
        Ok((_, true)) | Err(Error::NotFound(_)) => {}
        Err(error) => return Err(error),
    }
    Edit::from_json(&document.to_string(), &db.limits())
}
