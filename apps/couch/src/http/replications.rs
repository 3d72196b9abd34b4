//! The documents of `_replicator` databases as users write them, and the users in whose names replications run.

use super::{HttpError, HttpResult, Server};
use crate::auth::{ADMIN_ROLE, Handler, User};
use crate::replicate::{Principal, Settings};
use crate::replicator::{check, for_reader, is_replicator_database, note_owner};
use crate::store::{Database, Edit, Limits, Mode, Refusal};
use axum::http::Method;
use serde_json::{Map, Value};

/// Converts the user of a request for the replicator.
pub fn principal(user: &User) -> Principal {
    Principal {
        name: user.name().map(str::to_owned),
        roles: user.roles().to_vec(),
        is_local: user.local_name().is_some(),
    }
}

/// Refuses requests that would show credentials in documents of other users to a user who is no admin; `rest` is the path
/// below the database.
///
/// # Errors
/// If the request reads documents in another way than one by one.
pub fn authorize(method: &Method, rest: &[&str]) -> HttpResult<()> {
    let is_open = match rest {
        [] => true,
        ["_bulk_docs" | "_ensure_full_commit" | "_security"] => true,
        [name] => !name.starts_with('_') && *method != "COPY",
        _ => false,
    };
    match is_open {
        true => Ok(()),
        false => Err(HttpError::Unauthorized(
            "You are not a server or db admin.".to_owned(),
        )),
    }
}

/// The body of a document as a user who is no admin sees it: without credentials, unless it is the user's own.
///
/// # Errors
/// If the body is not a JSON object.
pub fn shown(body: &str, reader: Option<&str>) -> HttpResult<String> {
    let members = serde_json::from_str::<Map<String, Value>>(body);
    let mut members = members.map_err(|error| HttpError::Internal(error.to_string()))?;
    match for_reader(&mut members, reader, false) {
        true => Ok(Value::Object(members).to_string()),
        false => Ok(body.to_owned()),
    }
}

/// The user in whose name the replicator accesses databases of this server.
pub fn user(server: &Server, principal: &Principal) -> User {
    let is_admin = principal.roles.iter().any(|role| role == ADMIN_ROLE);
    match &principal.name {
        Some(name) => {
            let handler = match principal.is_local {
                true => Handler::Default,
                false => Handler::Jwt,
            };
            User::new(name, principal.roles.clone().into(), handler)
        }
        None if is_admin || !server.auth.has_admin() => User::nameless_admin(),
        None => User::anonymous(),
    }
}

/// The rules for a user's edits of documents that describe replications.
pub struct Rules {
    user: Principal,
    is_server_admin: bool,
    /// Whether the edits are new. What was made elsewhere need not describe a replication.
    is_new: bool,
    settings: Settings,
    limits: Limits,
}

impl Rules {
    /// The rules for edits of a database. There are none for other databases.
    pub fn of(server: &Server, user: &User, db: &Database, mode: Mode) -> Option<Self> {
        is_replicator_database(db.name()).then(|| Rules {
            user: principal(user),
            is_server_admin: user.is_server_admin(),
            is_new: mode == Mode::New,
            settings: Settings::of(&server.config.values()),
            limits: db.limits(),
        })
    }

    /// Checks an edit, and notes the owner in it.
    ///
    /// # Errors
    /// If it is forbidden.
    pub fn prepare(&self, mut edit: Edit) -> Result<Edit, Refusal> {
        let is_special = |id: &String| id.starts_with("_design/") || id.starts_with("_local/");
        if edit.id.as_ref().is_some_and(is_special) {
            return Ok(edit);
        }
        let bad = |error: &dyn std::fmt::Display| Refusal::BadRequest(error.to_string());
        let mut body: Map<String, Value> =
            serde_json::from_str(edit.body()).map_err(|error| bad(&error))?;
        let before = body.get("owner").cloned();
        note_owner(&mut body, &self.user, self.is_server_admin).map_err(Refusal::Forbidden)?;
        if self.is_new {
            check(&body, edit.deleted, &self.user, &self.settings).map_err(Refusal::Forbidden)?;
        }
        if body.get("owner") != before.as_ref() {
            let changed = Edit::from_json(&Value::Object(body).to_string(), &self.limits);
            edit.replace_body(changed.map_err(|error| bad(&error))?);
        }
        Ok(edit)
    }
}

impl From<crate::replicate::ReplicateError> for HttpError {
    fn from(error: crate::replicate::ReplicateError) -> Self {
        let text = error.to_string();
        match error.name() {
            "bad_request" => HttpError::BadRequest(text),
            "not_found" => HttpError::NotFound(text),
            "unauthorized" => HttpError::Unauthorized(text),
            "forbidden" => HttpError::Forbidden(text),
            name => HttpError::Replication(name, text),
        }
    }
}
