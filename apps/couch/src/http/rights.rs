//! The rights of users: what a request needs, by its method and path. The rules and the texts are CouchDB's.

use super::updates::GLOBAL_CHANGES;
use super::users_db::{self, Visible};
use super::{HttpError, HttpResult, Server, replications};
use crate::auth::{METRICS_ROLE, Policy, User};
use crate::replicator::is_replicator_database;
use crate::store::{Database, Error};
use axum::extract::FromRequestParts;
use axum::http::Method;
use axum::http::request::Parts;
use percent_encoding::percent_decode_str;
use std::borrow::Cow;

/// The database that a request was admitted to.
#[derive(Debug, Clone)]
pub struct Admitted {
    /// The database.
    pub db: Database,
    /// Whether the user is an admin of it.
    pub is_admin: bool,
    /// The documents that the user sees.
    pub visible: Visible,
}

impl<S: Send + Sync> FromRequestParts<S> for Visible {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> HttpResult<Self> {
        let admitted = parts.extensions.get::<Admitted>();
        let admitted = admitted.ok_or(HttpError::DatabaseMissing)?;
        Ok(admitted.visible.clone())
    }
}

/// The number of leading path segments that decide which rights a request needs.
const SEGMENTS_MAX: usize = 6;

/// Checks that the user has the rights that the path needs. Handlers reach a database only through the result.
///
/// # Errors
/// If the user lacks a right.
pub fn authorize(
    server: &Server,
    policy: &Policy,
    user: &User,
    method: &Method,
    path: &str,
) -> HttpResult<Option<Admitted>> {
    let mut decoded: [Cow<'_, str>; SEGMENTS_MAX] = Default::default();
    let segments = path.split('/').filter(|segment| !segment.is_empty());
    let mut count = 0;
    for (decoded, segment) in decoded.iter_mut().zip(segments) {
        *decoded = match segment.contains('%') {
            true => percent_decode_str(segment).decode_utf8_lossy(),
            false => Cow::Borrowed(segment),
        };
        count += 1;
    }
    let segments = decoded.each_ref().map(|segment| &**segment);
    admit(server, policy, user, method, &segments[..count])
}

fn admit(
    server: &Server,
    policy: &Policy,
    user: &User,
    method: &Method,
    parts: &[&str],
) -> HttpResult<Option<Admitted>> {
    let is_change = *method == Method::PUT || *method == Method::DELETE;
    let database = match parts {
        [] | ["favicon.ico", ..] => return Ok(None),
        ["_all_dbs" | "_dbs_info", ..] if !policy.admin_only_all_dbs => return Ok(None),
        [name, rest @ ..] if is_database_of_system(policy, name) => {
            let is_list = matches!(rest, ["_all_docs" | "_changes", ..]);
            if is_list || (rest.is_empty() && is_change) {
                require_server_admin(user)?;
            }
            name
        }
        [name, ..] if name.starts_with('_') && *name != GLOBAL_CHANGES => {
            return authorize_server(user, method, parts).map(|()| None);
        }
        [name, rest @ ..] => {
            match rest {
                [] if is_change => require_server_admin(user)?,
                ["_sync_shards" | "_purge" | "_purged_infos_limit"] => require_server_admin(user)?,
                _ => {}
            }
            name
        }
    };
    let db = match server.databases.get(database) {
        Ok(db) => db,
        // The handler tells what is wrong with the name; without rights to a database it finds none.
        Err(Error::DatabaseMissing | Error::IllegalDatabaseName(_)) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let admitted = admit_to(policy, user, db)?;
    if matches!(parts, [_, "_compact", ..] | [_, "_view_cleanup"]) && !admitted.is_admin {
        return Err(unauthorized("You are not a server or db admin."));
    }
    match &admitted.visible {
        Visible::All => {}
        Visible::Own(own) => users_db::authorize(policy, method, &parts[1..], own.as_deref())?,
        Visible::OwnCredentials(_) => replications::authorize(method, &parts[1..])?,
    }
    Ok(Some(admitted))
}

fn is_database_of_system(policy: &Policy, name: &str) -> bool {
    name == "_replicator" || name == policy.users_database
}

/// Admits a user to a database.
///
/// # Errors
/// If the user is not a member.
pub fn admit_to(policy: &Policy, user: &User, db: Database) -> HttpResult<Admitted> {
    let is_admin = match user.is_server_admin() {
        true => true,
        false => {
            let security = db.security()?;
            if !security.is_member(user) {
                return Err(no_access(user));
            }
            security.is_admin(user)
        }
    };
    Ok(Admitted {
        visible: match db.name() {
            _ if is_admin => Visible::All,
            name if name == policy.users_database => Visible::Own(user.name().map(users_db::id_of)),
            name if is_replicator_database(name) => {
                Visible::OwnCredentials(user.name().map(str::to_owned))
            }
            _ => Visible::All,
        },
        is_admin,
        db,
    })
}

fn authorize_server(user: &User, method: &Method, parts: &[&str]) -> HttpResult<()> {
    let is_read = *method == Method::GET || *method == Method::HEAD;
    match parts {
        ["_up"] | ["_uuids"] | ["_session"] => Ok(()),
        ["_utils", ..] if is_read => Ok(()),
        ["_replicate"] => match user.name().is_some() || user.is_server_admin() {
            true => Ok(()),
            false => Err(unauthorized("You are not an authenticated user")),
        },
        ["_node", _, "_stats" | "_system" | "_prometheus", ..] => {
            match user.is_server_admin() || user.has_role(METRICS_ROLE) {
                true => Ok(()),
                false => Err(unauthorized(
                    "You are not a server admin or read-only metrics user",
                )),
            }
        }
        _ => require_server_admin(user),
    }
}

/// Checks that the user is a server admin.
///
/// # Errors
/// If not.
pub fn require_server_admin(user: &User) -> HttpResult<()> {
    match user.is_server_admin() {
        true => Ok(()),
        false => Err(unauthorized("You are not a server admin.")),
    }
}

fn unauthorized(reason: &str) -> HttpError {
    HttpError::Unauthorized(reason.to_owned())
}

/// Returns the answer to a user who is not a member of a database.
fn no_access(user: &User) -> HttpError {
    match user.name() {
        None => unauthorized("You are not authorized to access this db."),
        Some(_) => HttpError::Forbidden("You are not allowed to access this db.".to_owned()),
    }
}

/// The reason why a user may not change a database's settings and design documents.
pub const NO_ADMIN: &str = "You are not a db or server admin.";

/// Returns the answer to a user who is not an admin of a database.
fn no_admin(user: &User) -> HttpError {
    match user.name() {
        None => unauthorized(NO_ADMIN),
        Some(_) => HttpError::Forbidden(NO_ADMIN.to_owned()),
    }
}

/// Checks again, during a long request, that the user may read a database. Accounts and rights may have changed.
///
/// # Errors
/// If not, or if that can't be read.
pub fn may_still_read(server: &Server, user: &User, db: &Database) -> HttpResult<()> {
    let user = server.auth.refreshed(user, &server.accounts)?;
    let policy = server.auth.policy();
    let admitted = admit_to(&policy, &user, db.clone())?;
    match admitted.visible {
        Visible::All => Ok(()),
        Visible::Own(_) | Visible::OwnCredentials(_) => Err(no_access(&user)),
    }
}

/// The database in the path. Only its admins get it.
#[derive(Debug)]
pub struct AdminDb(pub Database);

impl<S: Send + Sync> FromRequestParts<S> for AdminDb {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> HttpResult<Self> {
        let admitted = parts.extensions.get::<Admitted>();
        let admitted = admitted.ok_or(HttpError::DatabaseMissing)?;
        match (admitted.is_admin, parts.extensions.get::<User>()) {
            (true, _) => Ok(AdminDb(admitted.db.clone())),
            (false, Some(user)) => Err(no_admin(user)),
            (false, None) => Err(no_admin(&User::anonymous())),
        }
    }
}
