//! Replaces a password hash of an older scheme at the next login.

use super::users_db::id_of;
use super::{Server, validation};
use crate::auth::User;
use crate::store::{Edit, GetOptions, Mode};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Replaces the hash of a user, with the same salt, so that sessions continue. It happens beside the request that logged
/// in; a conflict means that the document was changed meanwhile, and the next login tries again.
pub fn upgrade(server: &Arc<Server>, name: &str, password: String) {
    let (server, name) = (Arc::clone(server), name.to_owned());
    if !server
        .upgrades
        .lock()
        .is_ok_and(|mut names| names.insert(name.clone()))
    {
        return;
    }
    tokio::spawn(async move {
        if let Err(error) = try_upgrade(&server, &name, password).await {
            tracing::warn!(
                user = name,
                error,
                "cannot upgrade the stored password hash"
            );
        }
        if let Ok(mut names) = server.upgrades.lock() {
            names.remove(&name);
        }
    });
}

async fn try_upgrade(server: &Server, name: &str, password: String) -> Result<(), String> {
    let policy = server.auth.policy();
    let db = server.databases.get(&policy.users_database);
    let db = db.map_err(|error| error.to_string())?;
    let document = db.get(&id_of(name), &GetOptions::default());
    let document = document.map_err(|error| error.to_string())?;
    let body = serde_json::from_str::<Map<String, Value>>(&document.body);
    let mut body = body.map_err(|error| error.to_string())?;
    body.insert("password".to_owned(), password.into());
    body.insert("preserve_salt".to_owned(), true.into());
    let text = Value::Object(body).to_string();
    let read = Edit::from_json(&text, &db.limits()).map_err(|error| error.to_string())?;
    let mut edit = Edit::of(&document).map_err(|error| error.to_string())?;
    edit.replace_body(read);
    let admin = User::nameless_admin();
    let written = validation::write(server, &admin, &db, vec![edit], Mode::New, &mut None).await;
    match written.map_err(|error| error.to_string())?.pop() {
        Some(Err(refusal)) => Err(refusal.to_string()),
        _ => Ok(()),
    }
}
