//! The design document `_auth` of the database of users, whose function says the rules to other servers.

use crate::http::functions::AUTH_DESIGN;
use crate::http::{HttpResult, Server};
use crate::store::{Database, Edit, Error};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// The database of users, unless the configuration names another.
pub const USERS: &str = "_users";

/// The time after which a new `_users` gets the design document. Clients expect a new database to be empty. CouchDB takes up to five
/// seconds.
const DELAY: Duration = Duration::from_secs(2);

const RULES: &str = include_str!("rules.js");

/// Writes the design document into the configured database of users, if there is one without it.
///
/// # Errors
/// If the database can't be read or written.
pub async fn ensure_rules(server: &Server) -> HttpResult<()> {
    let db = match server.databases.get(&server.auth.policy().users_database) {
        Ok(db) => db,
        Err(Error::DatabaseMissing | Error::IllegalDatabaseName(_)) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    match db.winner(AUTH_DESIGN) {
        Ok((_, false)) => Ok(()),
        Ok((_, true)) | Err(Error::NotFound(_)) => write(&db).await,
        Err(error) => Err(error.into()),
    }
}

/// Writes the design document into a new `_users`, which has the rules without it, too.
pub fn ensure_rules_later(server: &Arc<Server>) {
    let server = Arc::clone(server);
    tokio::spawn(async move {
        tokio::select! {
            () = server.stop.cancelled() => return,
            () = tokio::time::sleep(DELAY) => {}
        }
        if server.auth.policy().users_database != USERS {
            // The configuration names another database since. That one gets it with the next new `_users`.
            return;
        }
        if let Err(error) = ensure_rules(&server).await {
            tracing::error!(%error, "the design document _auth could not be written");
        }
    });
}

async fn write(db: &Database) -> HttpResult<()> {
    let body = json!({
        "_id": AUTH_DESIGN,
        "language": "javascript",
        "validate_doc_update": RULES.trim_end(),
    });
    let edit = Edit::from_json(&body.to_string(), &db.limits())?;
    match db.put(edit).await? {
        Ok(_) => Ok(()),
        Err(refusal) => Err(refusal.into()),
    }
}
