//! `_list`: the rows of a view in the form that a function gives them.

use super::respond::{JSON, response};
use super::{call, load, path};
use crate::http::caller::Caller;
use crate::http::database::{listed_rows, listed_view_rows};
use crate::http::params::Params;
use crate::http::request::request_object;
use crate::http::target::{Db, ViewOf};
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
    let (design, name, of, view) = match path.as_slice() {
        [_, design, _, name, view] => (design, name, design, view),
        [_, design, _, name, of, view] => (design, name, of, view),
        _ => {
            return Err(HttpError::Function(
                "list_error".to_owned(),
                "Invalid path.".to_owned(),
            ));
        }
    };
    let loaded = load(&db, design, "lists", name)?;
    let input = match view.as_str() {
        "_all_docs" => listed_rows(&caller.server, &db, &params, &body)?,
        name => {
            let view = ViewOf {
                db: db.clone(),
                id: format!("_design/{of}"),
                name: name.to_owned(),
            };
            listed_view_rows(&caller.server, &view, &params, &body).await?
        }
    };
    let body = (!body.is_empty()).then_some(Value::Object(body));
    let request = request_object(&caller, &db, head, None, body)?;
    let answer = call(&caller, &db, &loaded.function, "list", &request, &input).await?;
    response(StatusCode::OK, JSON, &answer["answer"], &[])
}
