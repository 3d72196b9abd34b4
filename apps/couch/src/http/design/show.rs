//! `_show`: a document in the form that a function gives it.

use super::respond::{HTML, response};
use super::{call, document, load, path};
use crate::http::caller::Caller;
use crate::http::document::{is_known, not_modified};
use crate::http::request::request_object;
use crate::http::target::Db;
use crate::http::{HttpError, HttpResult};
use crate::store::Document;
use axum::extract::Request;
use axum::http::{StatusCode, header};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};

/// `/db/_design/name/_show/function/id`.
pub async fn show(caller: Caller, Db(db): Db, request: Request) -> HttpResult {
    let (head, body) = request.into_parts();
    let path = path(&head);
    let [_, design, _, name, id @ ..] = path.as_slice() else {
        return Err(HttpError::Function(
            "show_error".to_owned(),
            "Invalid path.".to_owned(),
        ));
    };
    let loaded = load(&db, design, "shows", name)?;
    let id = (!id.is_empty()).then(|| id.join("/"));
    let document = match &id {
        Some(id) => document(&db, id)?,
        None => None,
    };
    let accept = head.headers.get(header::ACCEPT);
    let mut digest = Sha256::new();
    digest.update(loaded.design.revision.to_string());
    let revision = document
        .as_ref()
        .map(|document| document.revision.to_string());
    digest.update(format!(
        "\n{revision:?}\n{accept:?}\n{:?}",
        caller.user.roles()
    ));
    digest.update(head.uri.to_string());
    let tag = URL_SAFE_NO_PAD.encode(&digest.finalize()[..16]);
    if is_known(&head.headers, &tag) {
        return Ok(not_modified(&tag));
    }
    let body = super::body_of(&caller, body).await?;
    let request = request_object(&caller, &db, &head, id.as_deref(), body)?;
    let input = document.as_ref().map(Document::to_json);
    let input = input.as_deref().unwrap_or("null");
    let answer = call(&caller, &db, &loaded.function, "show", &request, input).await?;
    let tag = format!("\"{tag}\"");
    let headers = [("etag", tag.as_str()), ("vary", "Accept")];
    response(StatusCode::OK, HTML, &answer["answer"], &headers)
}
