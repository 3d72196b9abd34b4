//! `_update`: a function makes an edit of a request.

use super::respond::{HTML, response};
use super::{call, document, load, path};
use crate::http::caller::Caller;
use crate::http::request::request_object;
use crate::http::target::Db;
use crate::http::{HttpError, HttpResult};
use crate::store::{Document, Edit, Mode};
use axum::extract::Request;
use axum::http::StatusCode;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// `/db/_design/name/_update/function/id`.
pub async fn update(caller: Caller, Db(db): Db, request: Request) -> HttpResult {
    let (head, body) = request.into_parts();
    let path = path(&head);
    let [_, design, _, name, id @ ..] = path.as_slice() else {
        return Err(HttpError::Function(
            "update_error".to_owned(),
            "Invalid path.".to_owned(),
        ));
    };
    let loaded = load(&db, design, "updates", name)?;
    let id = (!id.is_empty()).then(|| id.join("/"));
    let document = match &id {
        Some(id) => document(&db, id)?,
        None => None,
    };
    let body = super::body_of(&caller, body).await?;
    let request = request_object(&caller, &db, &head, id.as_deref(), body)?;
    let input = document.as_ref().map(Document::to_json);
    let input = input.as_deref().unwrap_or("null");
    let answer = call(&caller, &db, &loaded.function, "update", &request, input).await?;
    if !answer["doc"].is_object() {
        return response(StatusCode::OK, HTML, &answer["answer"], &[]);
    }
    let edit = Edit::from_json(&answer["doc"].to_string(), &db.limits())?;
    db.check_id(edit.id.as_deref().unwrap_or_default())?;
    let written = caller.write(&db, edit, Mode::New).await?;
    let id = utf8_percent_encode(&written.id, NON_ALPHANUMERIC).to_string();
    let revision = written.revision.to_string();
    let headers = [
        ("x-couch-update-newrev", revision.as_str()),
        ("x-couch-id", &id),
    ];
    response(StatusCode::CREATED, HTML, &answer["answer"], &headers)
}
