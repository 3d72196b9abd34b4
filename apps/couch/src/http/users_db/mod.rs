//! The rules of the database of users: validation, hashing of passwords, and who sees which document.

mod design;
mod document;

pub use design::{USERS, ensure_rules, ensure_rules_later};
pub use document::validate;

use super::{HttpError, HttpResult, Server};
use crate::auth::{ID_PREFIX, Policy, User};
use crate::json::{Reader, Token, write_string};
use crate::store::{Database, Edit};
use axum::http::Method;
use serde_json::Value;

/// The documents of a database that a user sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Visible {
    /// All documents.
    All,
    /// In the database of users: the user's own document, if the user has a name.
    Own(Option<String>),
    /// In a `_replicator` database: all documents, but credentials only in those of this owner.
    OwnCredentials(Option<String>),
}

impl Visible {
    /// Returns whether the user sees a document.
    pub fn includes(&self, id: &str) -> bool {
        match self {
            Visible::All | Visible::OwnCredentials(_) => true,
            Visible::Own(own) => own.as_deref() == Some(id),
        }
    }
}

/// Returns the id of a user's document.
pub fn id_of(name: &str) -> String {
    format!("{ID_PREFIX}{name}")
}

/// The paths below the database that show no documents of others: these check what they show, or show no documents.
const OPEN: &[&str] = &[
    "_bulk_docs",
    "_bulk_get",
    "_compact",
    "_ensure_full_commit",
    "_explain",
    "_find",
    "_index",
    "_local",
    "_missing_revs",
    "_revs_diff",
    "_revs_limit",
    "_security",
    "_shards",
];

/// Refuses what a user who is no admin must not see; `rest` is the path below the database.
///
/// # Errors
/// If the document is not the user's own.
pub fn authorize(
    policy: &Policy,
    method: &Method,
    rest: &[&str],
    own: Option<&str>,
) -> HttpResult<()> {
    // A deletion reads the document first.
    let is_read = !matches!(*method, Method::PUT | Method::POST);
    match rest {
        ["_design", _] if matches!(*method, Method::PUT | Method::DELETE) => Ok(()),
        ["_design", ..] => {
            let reason = "Only administrators can view design docs in the users database.";
            Err(HttpError::Forbidden(reason.to_owned()))
        }
        ["_local", ..] if *method != Method::GET => Err(HttpError::DocumentMissing),
        [] => Ok(()),
        [name, ..] if OPEN.contains(name) => Ok(()),
        [name, ..] if name.starts_with('_') => Err(HttpError::Unauthorized(
            "You are not a server admin.".to_owned(),
        )),
        [id, ..] if own == Some(*id) || !is_read => Ok(()),
        [_] if !policy.public_fields.is_empty() && *method != "COPY" => Ok(()),
        _ => Err(HttpError::DocumentMissing),
    }
}

/// Returns the members of a user's document that other users see.
///
/// # Errors
/// If they see none.
pub fn public(policy: &Policy, body: &str) -> HttpResult<String> {
    let fields = serde_json::from_str::<serde_json::Map<String, Value>>(body);
    let mut fields = fields.map_err(|error| HttpError::Internal(error.to_string()))?;
    fields.retain(|name, _| policy.public_fields.iter().any(|public| public == name));
    if fields.is_empty() {
        return Err(HttpError::DocumentMissing);
    }
    Ok(Value::Object(fields).to_string())
}

/// Prepares edits for the database of users: passwords are hashed.
///
/// # Errors
/// If the user may not see one of the documents, or a password can't be hashed.
pub async fn prepare(
    server: &Server,
    user: &User,
    db: &Database,
    mut edits: Vec<Edit>,
) -> HttpResult<Vec<Edit>> {
    let is_admin = db.security()?.is_admin(user);
    let own = user.name().map(id_of);
    if !is_admin && own.is_some() && edits.iter().any(|edit| edit.id != own) {
        return Err(HttpError::DocumentMissing);
    }
    for edit in &mut edits {
        if let Some(body) = hashed(server, edit.body()).await? {
            let read = Edit::from_json(&body, &db.limits())?;
            edit.replace_body(read);
        }
    }
    Ok(edits)
}

/// The members of a hashed password, which a new password replaces.
const PASSWORD_FIELDS: &[&str] = &[
    "derived_key",
    "iterations",
    "password",
    "password_scheme",
    "password_sha",
    "preserve_salt",
    "pbkdf2_prf",
    "salt",
];

/// Returns the answer if a new password is refused.
fn refused(server: &Server, password: &str) -> Option<HttpError> {
    match &server.auth.policy().password_rules {
        Ok(rules) => {
            let reason = rules.check(password).err()?;
            Some(HttpError::BadRequest(reason.to_owned()))
        }
        Err(_) => Some(HttpError::Forbidden(NO_HASH.to_owned())),
    }
}

/// The reason while the configuration of passwords is wrong. The log says more.
const NO_HASH: &str = "Server cannot hash passwords at this time.";

/// Returns the body with its password hashed, or `None` if it has no password.
async fn hashed(server: &Server, body: &str) -> HttpResult<Option<String>> {
    let (mut password, mut salt, mut is_preserved) = (None, None, false);
    let mut rest = Vec::with_capacity(body.len());
    let mut reader = Reader::new(body, usize::MAX);
    let broken = |error: crate::json::Error| HttpError::Internal(error.to_string());
    reader.next().map_err(broken)?;
    while let Some(Token::Key(key)) = reader.next().map_err(broken)? {
        let name = key.decode();
        let value = reader.skip_value().map_err(broken)?;
        let read = || serde_json::from_str::<Value>(value).unwrap_or_default();
        match &*name {
            "password" => password = Some(read()),
            "salt" => salt = read().as_str().map(str::to_owned),
            "preserve_salt" => is_preserved = read() == Value::Bool(true),
            _ => {}
        }
        if !PASSWORD_FIELDS.contains(&&*name) {
            rest.push(b',');
            write_string(&mut rest, &name);
            rest.push(b':');
            rest.extend_from_slice(value.as_bytes());
        }
    }
    let password = match password {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(password)) => password,
        Some(other) => {
            let reason = format!("Password value of '{other}' is invalid.");
            return Err(HttpError::Forbidden(reason));
        }
    };
    let salt = salt.filter(|_| is_preserved);
    let salt = salt.unwrap_or_else(crate::auth::password::new_salt);
    if let Some(refused) = refused(server, &password) {
        return Err(refused);
    }
    let hash = server
        .auth
        .new_hash(&password, salt)
        .await
        .ok_or_else(|| HttpError::Forbidden(NO_HASH.to_owned()))?;
    let mut text = hash.to_members();
    text.push_str(&String::from_utf8_lossy(&rest));
    Ok(Some(format!("{{{text}}}")))
}
