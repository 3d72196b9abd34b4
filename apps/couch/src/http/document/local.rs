//! `_local/` documents: not replicated, not in `_changes`, without attachments.

use super::answer::{is_known, location, not_modified};
use crate::http::caller::Caller;
use crate::http::target::Db;
use crate::http::{HttpError, HttpResult, reply};
use crate::store::{Database, Edit, LocalDocument};
use axum::http::{HeaderMap, StatusCode, header};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::json;
use sha2::{Digest, Sha256};

/// `/db/_local` without an id.
pub async fn no_local_id(_: Db) -> HttpError {
    HttpError::BadRequest("Invalid _local document id.".to_owned())
}

/// A path below a `_local` document.
pub async fn no_local_attachment(_: Db) -> HttpError {
    HttpError::BadRequest("_local documents do not accept attachments.".to_owned())
}

/// `GET`.
pub fn get(db: &Database, id: &str, headers: &HeaderMap) -> HttpResult {
    let document = db.local_get(id)?;
    let tag = tag(&document);
    if is_known(headers, &tag) {
        return Ok(not_modified(&tag));
    }
    let mut response = reply::text(StatusCode::OK, document.to_json() + "\n");
    reply::set(&mut response, header::ETAG, &format!("\"{tag}\""));
    Ok(response)
}

/// Returns the ETag. The revision alone does not identify the content: it counts writes, and starts again after a deletion.
fn tag(document: &LocalDocument) -> String {
    URL_SAFE_NO_PAD.encode(&Sha256::digest(document.to_json())[..16])
}

/// `PUT`: replaces the document without a check of its revision, as CouchDB does. Attachments are not kept.
pub async fn put(caller: &Caller, db: &Database, mut edit: Edit) -> HttpResult {
    edit.attachments.clear();
    let is_deleted = edit.deleted;
    let written = db.put(edit).await??;
    let body = json!({ "ok": true, "id": written.id, "rev": written.revision });
    let status = if is_deleted {
        StatusCode::OK
    } else {
        StatusCode::CREATED
    };
    let mut response = reply::json(status, &body)?;
    if let Ok(document) = db.local_get(&written.id) {
        let tag = tag(&document);
        reply::set(&mut response, header::ETAG, &format!("\"{tag}\""));
    }
    let url = location(&caller.origin, &[db.name(), &written.id]);
    reply::set(&mut response, header::LOCATION, &url);
    Ok(response)
}

/// `DELETE`.
pub async fn delete(db: &Database, id: &str) -> HttpResult {
    db.local_delete(id).await?;
    let body = json!({ "ok": true, "id": id, "rev": "0-0" });
    let mut response = reply::json(StatusCode::OK, &body)?;
    // Clients read the revision of an edit from this header.
    reply::set(&mut response, header::ETAG, "\"0-0\"");
    Ok(response)
}
