//! A database per user: made for each document in the database of users, for that user alone (CouchDB's `couch_peruser`).

use super::Server;
use super::blocking::blocking;
use crate::auth::{ID_PREFIX, Security};
use crate::config::keys;
use crate::store::{Change, Changes, Database, DatabaseEvent, Error, is_database_name};
use serde_json::{Map, Value, json};
use std::sync::{Arc, Weak};
use tokio::sync::{broadcast, watch};

/// Follows the database of users as long as the server is there and the setting is on.
pub fn follow(server: &Arc<Server>) {
    let (tell, config) = watch::channel(());
    server.config.listen(move |_| {
        tell.send_replace(());
    });
    tokio::spawn(run(Arc::downgrade(server), config));
}

/// How far the database of users was read.
struct Position {
    /// The database's own id, and the prefix for which it was read.
    of: (String, String),
    seq: u64,
}

/// What is waited for.
enum Next {
    /// Nothing: the setting is off, or wrong.
    Off,
    /// The database of users.
    Database(broadcast::Receiver<DatabaseEvent>),
    /// A change in it.
    Change(watch::Receiver<u64>),
}

async fn run(server: Weak<Server>, mut config: watch::Receiver<()>) {
    let mut position = None;
    loop {
        config.mark_unchanged();
        let Some(server) = server.upgrade() else {
            return;
        };
        let stop = server.stop.clone();
        let next = catch_up(&server, &mut position)
            .await
            .unwrap_or_else(|error| {
                tracing::error!(%error, "cannot make the databases of users");
                Next::Off
            });
        drop(server);
        tokio::select! {
            () = stop.cancelled() => return,
            changed = config.changed() => if changed.is_err() { return },
            () = next.wait() => {}
        }
    }
}

impl Next {
    async fn wait(self) {
        match self {
            Next::Off => std::future::pending().await,
            Next::Database(mut events) => drop(events.recv().await),
            // Also when the database is deleted.
            Next::Change(mut changes) => drop(changes.changed().await),
        }
    }
}

/// Handles the changes that were not handled yet.
async fn catch_up(server: &Server, position: &mut Option<Position>) -> Result<Next, Error> {
    let values = server.config.values();
    if !values.read(&keys::PERUSER_ENABLE) {
        *position = None;
        return Ok(Next::Off);
    }
    let events = server.databases.events();
    let prefix = values.read(&keys::PERUSER_DATABASE_PREFIX);
    if !is_database_name(&prefix) {
        return Err(Error::IllegalDatabaseName(prefix));
    }
    let users = match server.databases.get(&server.auth.policy().users_database) {
        Ok(users) => users,
        Err(Error::DatabaseMissing) => return Ok(Next::Database(events)),
        Err(error) => return Err(error),
    };
    let of = (users.uuid().to_owned(), prefix);
    let mut at = match position.take() {
        Some(position) if position.of == of => position,
        _ => Position { of, seq: 0 },
    };
    let mut changes = users.watch();
    changes.mark_unchanged();
    loop {
        let question = Changes {
            since: at.seq,
            ..Changes::default()
        };
        let page = users.changes(&question, None)?;
        for change in &page.changes {
            if let Some(user) = change.id.strip_prefix(ID_PREFIX)
                && let Err(error) = handle(server, &at.of.1, user, change).await
            {
                tracing::error!(user, %error, "cannot make or change the database of a user");
            }
        }
        at.seq = page.last_seq;
        if page.is_last {
            break;
        }
    }
    *position = Some(at);
    Ok(Next::Change(changes))
}

async fn handle(server: &Server, prefix: &str, user: &str, change: &Change) -> Result<(), Error> {
    let name = database_name(prefix, user);
    let (databases, deletes) = (
        server.databases.clone(),
        server.config.values().read(&keys::PERUSER_DELETE_DBS),
    );
    let deleted = change.deleted;
    let database = blocking(move || match databases.get(&name) {
        Ok(_) if deleted && deletes => databases.delete(&name).map(|()| None),
        Err(Error::DatabaseMissing) if deleted => Ok(None),
        Err(Error::DatabaseMissing) => databases.create(&name).map(Some),
        found => found.map(Some),
    });
    let database = database
        .await
        .map_err(|error| Error::BadRequest(error.to_string()))??;
    let Some(database) = database else {
        return Ok(());
    };
    let object = database.security()?.object().clone();
    let changed = match deleted {
        false => with_user(object.clone(), user),
        true => without_user(object.clone(), user),
    };
    if changed != object {
        set_security(&database, changed).await?;
    }
    Ok(())
}

async fn set_security(database: &Database, object: Map<String, Value>) -> Result<(), Error> {
    let security = Security::new(object).map_err(|error| Error::BadRequest(error.to_string()))?;
    database.set_security(&security).await
}

/// The prefix and the name's bytes in hexadecimal, as CouchDB writes them: a byte below 16 has one digit.
fn database_name(prefix: &str, user: &str) -> String {
    let bytes = user.bytes().map(|byte| format!("{byte:x}"));
    prefix.to_owned() + &bytes.collect::<String>()
}

fn with_user(mut object: Map<String, Value>, user: &str) -> Map<String, Value> {
    for group in ["admins", "members"] {
        let group = object.entry(group).or_insert_with(|| json!({}));
        let Value::Object(group) = group else {
            continue;
        };
        let names = group.entry("names").or_insert_with(|| json!([]));
        if let Value::Array(names) = names
            && !names.iter().any(|name| name == user)
        {
            names.insert(0, user.into());
        }
    }
    object
}

fn without_user(mut object: Map<String, Value>, user: &str) -> Map<String, Value> {
    for group in ["admins", "members"] {
        if let Some(Value::Array(names)) = object.get_mut(group).and_then(|it| it.get_mut("names"))
        {
            names.retain(|name| name != user);
        }
    }
    object
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_hexadecimal() {
        assert_eq!(
            database_name("userdb-", "anna\u{1}ü"),
            "userdb-616e6e611c3bc"
        );
    }

    #[test]
    fn users_are_added_to_both_groups_and_taken_out() {
        let empty = Security::default().object().clone();
        let anna = with_user(empty, "anna");
        assert_eq!(
            Value::Object(anna.clone()),
            json!({
                "members": { "roles": ["_admin"], "names": ["anna"] },
                "admins": { "roles": ["_admin"], "names": ["anna"] },
            })
        );
        assert_eq!(with_user(anna.clone(), "anna"), anna);
        let nobody = without_user(anna, "anna");
        assert_eq!(
            nobody["members"],
            json!({ "roles": ["_admin"], "names": [] })
        );
    }
}
