//! `_list`: the rows of a view in the form that a function gives them.

use super::respond::response;
use super::{call, load, missing_key, path};
use crate::http::caller::Caller;
use crate::http::database::listed_rows;
use crate::http::params::Params;
use crate::http::request::request_object;
use crate::http::target::Db;
use crate::http::{HttpError, HttpResult};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde_json::{Map, Value};

/// `GET /db/_design/name/_list/function/view` or `…/function/other-design/view`.
pub async fn list(caller: Caller, Db(db): Db, params: Params, request: Request) -> HttpResult {
    let (head, _) = request.into_parts();
    answer(caller, Db(db), params, &head, Map::new()).await
}

/// `POST`, with keys in the body.
pub async fn list_of(caller: Caller, Db(db): Db, params: Params, request: Request) -> HttpResult {
    crate::http::body::require_json(request.headers())?;
    let (head, body) = request.into_parts();
    let body = super::body_of(&caller, body).await?;
    let body = body.as_ref().and_then(Value::as_str).unwrap_or("{}");
    let body = serde_json::from_str(body).map_err(|error| HttpError::BadJson(error.to_string()))?;
    answer(caller, Db(db), params, &head, body).await
}

async fn answer(
    caller: Caller,
    Db(db): Db,
    params: Params,
    head: &Parts,
    body: Map<String, Value>,
) -> HttpResult {
    let path = path(head);
    let (design, name, view) = match path.as_slice() {
        [_, design, _, name, view] => (design, name, view),
        [_, design, _, name, _, view] => (design, name, view),
        _ => {
            return Err(HttpError::Function(
                "list_error".to_owned(),
                "Invalid path.".to_owned(),
            ));
        }
    };
    let loaded = load(&db, design, "lists", name)?;
    if view != "_all_docs" {
        return Err(missing_key(view));
    }
    let input = listed_rows(&db, &params, &body)?;
    let body = (!body.is_empty()).then_some(Value::Object(body));
    let request = request_object(&caller, &db, head, None, body)?;
    let answer = call(&caller, &db, &loaded.function, "list", &request, &input).await?;
    response(StatusCode::OK, &answer["answer"], &[])
}
