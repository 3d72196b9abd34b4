//! Follows the databases whose documents describe replications.

use super::document_table::Found;
use super::shared::Replicator;
use super::{is_replicator_database, write_back};
use crate::replicate::{DocRef, Principal, ReplicateError, Replication};
use crate::store::{self, Change, Changes, Event, GetOptions};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::Instant;

/// The pause before databases that could not be read are read again.
const RETRY_PAUSE: Duration = Duration::from_secs(60);

/// The position in a database.
#[derive(Debug, Clone, Default)]
struct Position {
    /// The database's own id: another one is another database of the same name.
    uuid: String,
    since: u64,
}

/// Follows all such databases until the server stops.
pub async fn follow(replicator: Replicator) {
    // Before the databases are listed: no event is missed.
    let mut events = replicator.0.databases.events();
    let mut watch = Watch {
        replicator: replicator.clone(),
        positions: HashMap::new(),
        retry_at: None,
    };
    watch.read_all().await;
    loop {
        let event = tokio::select! {
            biased;
            () = replicator.0.stop.cancelled() => return,
            event = events.recv() => event,
            () = sleep_until(watch.retry_at) => {
                watch.read_all().await;
                continue;
            }
        };
        match event {
            Ok(event) if !is_replicator_database(&event.name) => {}
            Ok(event) if event.event == Event::Deleted => watch.deleted(&event.name),
            Ok(event) => watch.read(&event.name).await,
            Err(RecvError::Lagged(_)) => watch.read_all().await,
            Err(RecvError::Closed) => return,
        }
    }
}

struct Watch {
    replicator: Replicator,
    positions: HashMap<String, Position>,
    /// When all databases are read again, because one of them could not be read.
    retry_at: Option<Instant>,
}

/// Waits until a time; without one, for ever.
async fn sleep_until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

impl Watch {
    async fn read_all(&mut self) {
        self.retry_at = None;
        let names = match self.replicator.0.databases.names() {
            Ok(names) => names,
            Err(error) => {
                self.retry_at = Some(Instant::now() + RETRY_PAUSE);
                tracing::error!(%error, "cannot list the databases");
                return;
            }
        };
        let gone = self.positions.keys().filter(|name| !names.contains(name));
        for name in gone.cloned().collect::<Vec<_>>() {
            self.deleted(&name);
        }
        for name in names.iter().filter(|name| is_replicator_database(name)) {
            self.read(name).await;
        }
    }

    fn deleted(&mut self, name: &str) {
        self.positions.remove(name);
        self.replicator.forget_database(name);
    }

    async fn read(&mut self, name: &str) {
        match self.try_read(name).await {
            Ok(()) | Err(store::Error::DatabaseMissing | store::Error::Closed) => {}
            Err(error) => {
                let retry_at = Instant::now() + RETRY_PAUSE;
                self.retry_at.get_or_insert(retry_at);
                tracing::error!(database = name, %error, "cannot read replications");
            }
        }
    }

    async fn try_read(&mut self, name: &str) -> store::Result<()> {
        let db = self.replicator.0.databases.get(name)?;
        let known = self.positions.get(name);
        if known.is_some_and(|position| position.uuid != db.uuid()) {
            self.deleted(name);
        }
        let position = self.positions.entry(name.to_owned()).or_default();
        position.uuid = db.uuid().to_owned();
        loop {
            let question = Changes {
                since: position.since,
                include_docs: Some(GetOptions::default()),
                ..Changes::default()
            };
            let page = db.changes(&question, None)?;
            for change in page.changes {
                process(&self.replicator, name, change).await;
            }
            position.since = page.last_seq;
            if page.is_last {
                return Ok(());
            }
            tokio::task::yield_now().await;
        }
    }
}

async fn process(replicator: &Replicator, database: &str, change: Change) {
    if change.id.starts_with("_design/") {
        return;
    }
    let document = DocRef {
        database: database.to_owned(),
        id: change.id,
    };
    let body = change.document.filter(|_| !change.deleted);
    let body: Option<Map<String, Value>> =
        body.and_then(|document| serde_json::from_str(&document.body).ok());
    let Some(body) = body else {
        return replicator.found(document, Found::Nothing).await;
    };
    match body.get("_replication_state").and_then(Value::as_str) {
        Some("completed") => return replicator.completed(&document),
        Some("failed") => return,
        Some(_) if !replicator.settings().update_docs => {
            // An old version of CouchDB wrote the state.
            write_back::without_state(&replicator.0.databases, &document).await;
        }
        _ => {}
    }
    match parse(replicator, &document, &body) {
        Ok(replication) => {
            let found = Found::Replication(Box::new(replication));
            replicator.found(document, found).await;
        }
        Err(error) => {
            replicator.found(document.clone(), Found::Nothing).await;
            write_back::failed(&replicator.0.databases, &document, None, &error.reason()).await;
        }
    }
}

fn parse(
    replicator: &Replicator,
    document: &DocRef,
    body: &Map<String, Value>,
) -> Result<Replication, ReplicateError> {
    let defaults = replicator.settings().defaults;
    Replication::from_json(body, principal(body), Some(document.clone()), &defaults)
}

/// The user in whose name a document accesses local databases: its owner.
fn principal(body: &Map<String, Value>) -> Principal {
    let name = body.get("owner").and_then(Value::as_str);
    Principal {
        name: name.map(str::to_owned),
        roles: Vec::new(),
        is_local: true,
    }
}
