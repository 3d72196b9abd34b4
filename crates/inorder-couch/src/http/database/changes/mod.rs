//! `_changes`: what has changed, once or as it happens.

mod feed;
mod filter;
mod question;

use crate::auth::User;
use crate::http::body::JsonBody;
use crate::http::params::Params;
use crate::http::target::Db;
use crate::http::{HttpResult, Server};
use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use serde_json::{Map, Value};
use std::sync::Arc;

/// `GET /db/_changes`.
pub async fn changes(
    State(server): State<Arc<Server>>,
    Extension(user): Extension<User>,
    Db(db): Db,
    params: Params,
    headers: HeaderMap,
) -> HttpResult {
    let asked = question::Asked::read(&db, &params, &Map::new(), &headers)?;
    let filter = filter::Filter::read(&server, &db, &user, &params, &Map::new()).await?;
    feed::Feed::new(server, db, asked, filter).answer().await
}

/// `POST /db/_changes`: the same, with what a filter needs in the body.
pub async fn changes_of(
    State(server): State<Arc<Server>>,
    Extension(user): Extension<User>,
    Db(db): Db,
    params: Params,
    headers: HeaderMap,
    JsonBody(body): JsonBody,
) -> HttpResult {
    let body: Map<String, Value> = if body.is_empty() {
        Map::new()
    } else {
        body.json()?
    };
    let asked = question::Asked::read(&db, &params, &body, &headers)?;
    let filter = filter::Filter::read(&server, &db, &user, &params, &body).await?;
    feed::Feed::new(server, db, asked, filter).answer().await
}
