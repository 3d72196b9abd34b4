//! Edits of one document: `PUT`, `POST` and `DELETE`.

use super::answer::{Says, written};
use super::{local, received};
use crate::http::body::require_json;
use crate::http::caller::Caller;
use crate::http::params::Params;
use crate::http::target::{Db, Doc};
use crate::http::{HttpError, HttpResult, reply};
use crate::revision::{History, Revision};
use crate::store::{Database, Edit, Missing, Mode};
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use serde_json::json;

/// `PUT /db/id`.
pub async fn put(
    caller: Caller,
    Doc { db, id }: Doc,
    params: Params,
    request: Request,
) -> HttpResult {
    let parent = named_revision(&params, request.headers())?;
    let mut edit = received::edit(&caller.server, &db, request).await?;
    if id.starts_with("_local/") {
        edit.id = Some(id);
        return local::put(&caller, &db, edit).await;
    }
    if let Some(parent) = parent {
        set_parent(&mut edit, parent, params.get("rev").is_some())?;
    }
    db.check_id(&id)?;
    edit.id = Some(id);
    let status = match edit.deleted {
        true => StatusCode::OK,
        false => StatusCode::CREATED,
    };
    let is_new = params.parsed("new_edits")?.unwrap_or(true);
    let mode = match is_new {
        true => Mode::New,
        false => Mode::Replicated,
    };
    require_revision(&edit, mode)?;
    finish(&caller, &db, edit, mode, &params, (status, Says::Both)).await
}

/// `POST /db`: a document whose id is in it, or made here.
pub async fn post(caller: Caller, Db(db): Db, params: Params, request: Request) -> HttpResult {
    require_json(request.headers())?;
    let edit = received::edit(&caller.server, &db, request).await?;
    if edit
        .id
        .as_deref()
        .is_some_and(|id| id.starts_with("_local/"))
    {
        return local::put(&caller, &db, edit).await;
    }
    edit.id.as_deref().map_or(Ok(()), |id| db.check_id(id))?;
    let answer = (StatusCode::CREATED, Says::Place);
    finish(&caller, &db, edit, Mode::New, &params, answer).await
}

/// `DELETE /db/id`.
pub async fn delete(
    caller: Caller,
    Doc { db, id }: Doc,
    params: Params,
    headers: HeaderMap,
) -> HttpResult {
    if id.starts_with("_local/") {
        return local::delete(&db, &id).await;
    }
    if let (_, true) = db.winner(&id)? {
        return Err(HttpError::DocumentDeleted);
    }
    let parent = named_revision(&params, &headers)?.ok_or(HttpError::Conflict)?;
    let edit = Edit::deletion(id, parent);
    let answer = (StatusCode::OK, Says::Revision);
    finish(&caller, &db, edit, Mode::New, &params, answer).await
}

/// Writes an edit. With `batch=ok` the answer names no revision and no conflict, as in CouchDB; the edit is committed all the
/// same.
async fn finish(
    caller: &Caller,
    db: &Database,
    mut edit: Edit,
    mode: Mode,
    params: &Params,
    (status, says): (StatusCode, Says),
) -> HttpResult {
    if params.get("batch") != Some("ok") {
        let done = caller.write(db, edit, mode).await?;
        return written(status, says, caller, db.name(), &done);
    }
    let id = edit.id.get_or_insert_with(|| caller.new_id()).clone();
    match caller.write(db, edit, mode).await {
        Ok(_) | Err(HttpError::Conflict) => {}
        Err(error) => return Err(error),
    }
    reply::json(StatusCode::ACCEPTED, &json!({ "ok": true, "id": id }))
}

/// Why a replicated edit without a revision is refused.
pub const NO_REVISION: &str =
    "When `new_edits: false`, the document needs `_rev` or `_revisions` specified";

/// Checks that an edit with `new_edits=false` has a revision.
///
/// # Errors
/// If not.
fn require_revision(edit: &Edit, mode: Mode) -> HttpResult<()> {
    if mode == Mode::Replicated && edit.history.is_none() {
        return Err(HttpError::BadRequest(NO_REVISION.to_owned()));
    }
    Ok(())
}

const DIFFERENT_TAG: &str = "Document rev and etag have different values";

/// Returns the revision that the URL or the header `If-Match` names: the parent of an edit, or the one to copy.
pub fn named_revision(params: &Params, headers: &HeaderMap) -> HttpResult<Option<Revision>> {
    let named = params.get("rev").map(str::parse::<Revision>).transpose()?;
    let tag = headers.get(header::IF_MATCH);
    let tag = tag.and_then(|value| value.to_str().ok());
    let tag = tag.map(|text| text.trim().trim_start_matches("W/").trim_matches('"'));
    let tag = tag.map(str::parse::<Revision>).transpose()?;
    match (named, tag) {
        (Some(named), Some(tag)) if named != tag => {
            Err(HttpError::BadRequest(DIFFERENT_TAG.to_owned()))
        }
        (named, tag) => Ok(named.or(tag)),
    }
}

fn set_parent(edit: &mut Edit, parent: Revision, is_in_query: bool) -> HttpResult<()> {
    match &edit.history {
        Some(history) if history.revision() != parent => {
            let reason = match is_in_query {
                true => "Document rev from request body and query string have different values",
                false => DIFFERENT_TAG,
            };
            Err(HttpError::BadRequest(reason.to_owned()))
        }
        Some(_) => Ok(()),
        None => {
            edit.history = Some(History::from(parent));
            Ok(())
        }
    }
}

/// Returns whether a document is missing or deleted.
pub fn is_absent(error: &crate::store::Error) -> bool {
    use crate::store::Error;
    matches!(error, Error::NotFound(Missing::Missing | Missing::Deleted))
}
