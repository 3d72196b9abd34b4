//! `_local/` documents: not replicated, not in `_changes`, without attachments.

use crate::http::{HttpError, HttpResult, reply};
use crate::store::{Database, Edit};
use axum::http::StatusCode;
use serde_json::json;

/// `GET`.
pub fn get(db: &Database, id: &str) -> HttpResult {
    let document = db.local_get(id)?;
    Ok(reply::text(StatusCode::OK, document.to_json() + "\n"))
}

/// `PUT`: replaces the document without a check of its revision, as CouchDB does.
pub async fn put(db: &Database, edit: Edit) -> HttpResult {
    if !edit.attachments.is_empty() {
        let reason = "Attachments are not supported on _local documents.";
        return Err(HttpError::BadRequest(reason.to_owned()));
    }
    let written = db.put(edit).await??;
    let body = json!({ "ok": true, "id": written.id, "rev": written.revision });
    reply::json(StatusCode::CREATED, &body)
}

/// `DELETE`.
pub async fn delete(db: &Database, id: &str) -> HttpResult {
    db.local_delete(id).await?;
    reply::json(
        StatusCode::OK,
        &json!({ "ok": true, "id": id, "rev": "0-0" }),
    )
}
