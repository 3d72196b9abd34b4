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
use axum::extract::{FromRequest, Request};
use axum::http::request::Parts;
use inorder_serve::Detachable;
use serde_json::{Map, Value};

/// `GET /db/_changes`.
pub async fn changes(
    caller: Caller,
    Db(db): Db,
    detachable: Option<Extension<Detachable>>,
    params: Params,
    request: Request,
) -> HttpResult {
    let (head, _) = request.into_parts();
    let feed = feed(caller, db, &params, &head, &Map::new()).await?;
    feed.answer(detachable).await
}

/// `POST /db/_changes`: the same, with what a filter needs in the body.
pub async fn changes_of(
    caller: Caller,
    Db(db): Db,
    detachable: Option<Extension<Detachable>>,
    params: Params,
    request: Request,
) -> HttpResult {
    let (head, body) = request.into_parts();
    let copied = Request::from_parts(head.clone(), body);
    let body = Question::from_request(copied, &caller.server).await?;
    let body: Map<String, Value> = match body.0.is_empty() {
        true => Map::new(),
        false => body.object()?,
    };
    let feed = feed(caller, db, &params, &head, &body).await?;
    feed.answer(detachable).await
}

async fn feed(
    caller: Caller,
    db: Database,
    params: &Params,
    head: &Parts,
    body: &Map<String, Value>,
) -> HttpResult<Box<Feed>> {
    let asked = question::Asked::read(&db, params, body, &head.headers)?;
    let filter = filter::Filter::read(&caller, &db, params, head, body).await?;
    Ok(Feed::new(caller, db, asked, filter))
}
