//! Edits of one document: `PUT`, `POST` and `DELETE`.

use super::answer::written;
use super::{local, received};
use crate::http::body::require_json;
use crate::http::caller::Caller;
use crate::http::params::Params;
use crate::http::target::{Db, Doc};
use crate::http::{HttpError, HttpResult};
use crate::revision::{History, Revision};
use crate::store::{Edit, Missing, Mode};
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};

/// `PUT /db/id`.
pub async fn put(
    caller: Caller,
    Doc { db, id }: Doc,
    params: Params,
    request: Request,
) -> HttpResult {
    let parent = parent(&params, request.headers())?;
    let mut edit = received::edit(&caller.server, &db, request).await?;
    if id.starts_with("_local/") {
        edit.id = Some(id);
        return local::put(&caller, &db, edit).await;
    }
    if let Some(parent) = parent {
        set_parent(&mut edit, parent)?;
    }
    edit.id = Some(id);
    let status = match accepted(&params) {
        StatusCode::CREATED if edit.deleted => StatusCode::OK,
        status => status,
    };
    let is_new = params.parsed("new_edits")?.unwrap_or(true);
    let mode = match is_new {
        true => Mode::New,
        false => Mode::Replicated,
    };
    require_revision(&edit, mode)?;
    let done = caller.write(&db, edit, mode).await?;
    written(status, &caller, db.name(), &done)
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
    let done = caller.write(&db, edit, Mode::New).await?;
    written(accepted(&params), &caller, db.name(), &done)
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
    let Some(parent) = parent(&params, &headers)? else {
        let (_, is_deleted) = db.winner(&id)?;
        return Err(if is_deleted {
            HttpError::DocumentDeleted
        } else {
            HttpError::Conflict
        });
    };
    db.winner(&id)?;
    let done = caller
        .write(&db, Edit::deletion(id, parent), Mode::New)
        .await?;
    let status = accepted(&params);
    let status = if status == StatusCode::CREATED {
        StatusCode::OK
    } else {
        status
    };
    written(status, &caller, db.name(), &done)
}

/// Refuses a revision made elsewhere that has no name.
///
/// # Errors
/// If it has none.
pub fn require_revision(edit: &Edit, mode: Mode) -> HttpResult<()> {
    if mode == Mode::Replicated && edit.history.is_none() {
        let reason = "When `new_edits: false`, the document needs `_rev` or `_revisions` specified";
        return Err(HttpError::BadRequest(reason.to_owned()));
    }
    Ok(())
}

/// Every edit is committed before the answer, also with `batch=ok`.
fn accepted(params: &Params) -> StatusCode {
    match params.get("batch") {
        Some("ok") => StatusCode::ACCEPTED,
        _ => StatusCode::CREATED,
    }
}

/// The revision an edit was made from, as the URL or `If-Match` names it.
pub fn parent(params: &Params, headers: &HeaderMap) -> HttpResult<Option<Revision>> {
    let named = params.get("rev").map(str::parse::<Revision>).transpose()?;
    let tag = headers.get(header::IF_MATCH);
    let tag = tag.and_then(|value| value.to_str().ok());
    let tag = tag.map(|text| text.trim().trim_start_matches("W/").trim_matches('"'));
    let tag = tag.map(str::parse::<Revision>).transpose()?;
    match (named, tag) {
        (Some(named), Some(tag)) if named != tag => Err(HttpError::BadRequest(
            "Document rev and etag have different values".to_owned(),
        )),
        (named, tag) => Ok(named.or(tag)),
    }
}

fn set_parent(edit: &mut Edit, parent: Revision) -> HttpResult<()> {
    match &edit.history {
        Some(history) if history.revision() != parent => Err(HttpError::BadRequest(
            "Document rev from request body and query string have different values".to_owned(),
        )),
        Some(_) => Ok(()),
        None => {
            edit.history = Some(History::from(parent));
            Ok(())
        }
    }
}

/// Whether a document is not there, or deleted.
pub fn is_absent(error: &crate::store::Error) -> bool {
    use crate::store::Error;
    matches!(error, Error::NotFound(Missing::Missing | Missing::Deleted))
}
