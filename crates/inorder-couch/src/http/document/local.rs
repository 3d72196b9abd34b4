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

/// `PUT`: whatever was there before, as CouchDB does.
pub async fn put(db: &Database, id: &str, edit: &Edit) -> HttpResult {
    if edit.deleted {
        return delete(db, id).await;
    }
    if !edit.attachments.is_empty() {
        let reason = "Attachments are not supported on _local documents.";
        return Err(HttpError::BadRequest(reason.to_owned()));
    }
    let written = db.local_put(id, edit.body().to_owned()).await?;
    answer(StatusCode::CREATED, &written.id, written.writes)
}

/// `DELETE`.
pub async fn delete(db: &Database, id: &str) -> HttpResult {
    db.local_delete(id).await?;
    answer(StatusCode::OK, id, 0)
}

fn answer(status: StatusCode, id: &str, writes: u64) -> HttpResult {
    let body = json!({ "ok": true, "id": id, "rev": format!("0-{writes}") });
    reply::json(status, &body)
}
