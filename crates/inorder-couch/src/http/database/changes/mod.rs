//! `_changes`: what has changed, once or as it happens.

mod feed;
mod filter;
mod question;

use self::feed::Feed;
use crate::auth::User;
use crate::http::body::JsonBody;
use crate::http::detached::Detachable;
use crate::http::params::Params;
use crate::http::target::Db;
use crate::http::{HttpResult, Server};
use crate::store::Database;
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
    detachable: Option<Extension<Detachable>>,
    params: Params,
    headers: HeaderMap,
) -> HttpResult {
    let feed = feed(server, &user, db, &params, &headers, &Map::new()).await?;
    feed.answer(detachable).await
}

/// `POST /db/_changes`: the same, with what a filter needs in the body.
pub async fn changes_of(
    State(server): State<Arc<Server>>,
    Extension(user): Extension<User>,
    Db(db): Db,
    detachable: Option<Extension<Detachable>>,
    params: Params,
    headers: HeaderMap,
    JsonBody(body): JsonBody,
) -> HttpResult {
    let body: Map<String, Value> = if body.is_empty() {
        Map::new()
    } else {
        body.json()?
    };
    let feed = feed(server, &user, db, &params, &headers, &body).await?;
    feed.answer(detachable).await
}

async fn feed(
    server: Arc<Server>,
    user: &User,
    db: Database,
    params: &Params,
    headers: &HeaderMap,
    body: &Map<String, Value>,
) -> HttpResult<Box<Feed>> {
    let asked = question::Asked::read(&db, params, body, headers)?;
    let filter = filter::Filter::read(&server, &db, user, params, body).await?;
    Ok(Feed::new(server, db, asked, filter))
}
