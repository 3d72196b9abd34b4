//! `_changes`: what has changed, once or as it happens.

mod feed;
mod filter;
mod question;

use self::feed::Feed;
use crate::http::HttpResult;
use crate::http::body::Question;
use crate::http::caller::Caller;
use crate::http::params::Params;
use crate::http::target::Db;
use crate::store::Database;
use axum::Extension;
use axum::http::HeaderMap;
use inorder_serve::Detachable;
use serde_json::{Map, Value};

/// `GET /db/_changes`.
pub async fn changes(
    caller: Caller,
    Db(db): Db,
    detachable: Option<Extension<Detachable>>,
    params: Params,
    headers: HeaderMap,
) -> HttpResult {
    let feed = feed(caller, db, &params, &headers, &Map::new()).await?;
    feed.answer(detachable).await
}

/// `POST /db/_changes`: the same, with what a filter needs in the body.
pub async fn changes_of(
    caller: Caller,
    Db(db): Db,
    detachable: Option<Extension<Detachable>>,
    params: Params,
    headers: HeaderMap,
    Question(body): Question,
) -> HttpResult {
    let body: Map<String, Value> = if body.is_empty() {
        Map::new()
    } else {
        body.json()?
    };
    let feed = feed(caller, db, &params, &headers, &body).await?;
    feed.answer(detachable).await
}

async fn feed(
    caller: Caller,
    db: Database,
    params: &Params,
    headers: &HeaderMap,
    body: &Map<String, Value>,
) -> HttpResult<Box<Feed>> {
    let asked = question::Asked::read(&db, params, body, headers)?;
    let filter = filter::Filter::read(&caller, &db, params, body).await?;
    Ok(Feed::new(caller, db, asked, filter))
}
