//! `_changes`: what has changed, once or as it happens.

mod feed;
mod filter;
mod question;

use self::feed::Feed;
use self::filter::Filter;
use self::question::Asked;
use crate::http::body::Question;
use crate::http::caller::Caller;
use crate::http::document::{is_known, not_modified};
use crate::http::feed::Kind;
use crate::http::params::Params;
use crate::http::seq::SeqFormat;
use crate::http::target::Db;
use crate::http::users_db::Visible;
use crate::http::{HttpResult, reply};
use crate::store::Database;
use axum::Extension;
use axum::extract::{FromRequest, Request};
use axum::http::header;
use axum::http::request::Parts;
use inorder_serve::Detachable;
use serde_json::{Map, Value};

/// `GET /db/_changes`.
pub async fn changes(
    caller: Caller,
    Db(db): Db,
    visible: Visible,
    detachable: Option<Extension<Detachable>>,
    params: Params,
    request: Request,
) -> HttpResult {
    let (head, _) = request.into_parts();
    let (asked, filter) = read(&caller, &db, &params, &head, &Map::new()).await?;
    let is_tagged = matches!(visible, Visible::All)
        && asked.kind == Kind::Normal
        && !matches!(filter, Filter::Function(..));
    if !is_tagged {
        return Feed::new(caller, db, asked, filter)
            .answer(detachable)
            .await;
    }
    let tag = tag(&db, &asked)?;
    if is_known(&head.headers, &tag) {
        return Ok(not_modified(&tag));
    }
    let mut response = Feed::new(caller, db, asked, filter)
        .answer(detachable)
        .await?;
    reply::set(&mut response, header::ETAG, &format!("\"{tag}\""));
    Ok(response)
}

/// Returns the tag of a URL's answer: the state of the database, and the sequence from which on a client asks. It is read before
/// the answer, which may be newer but never older. Feeds that do not depend on these alone have none: those that filter by a
/// function, which sees the user and the headers, and those of databases that show each user something else.
fn tag(db: &Database, asked: &Asked) -> HttpResult<String> {
    let info = db.info()?;
    let seq = SeqFormat::of_info(&info).text(info.update_seq);
    Ok(format!("{seq}-{}-{}", info.purge_seq, asked.question.since))
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
    let (asked, filter) = read(&caller, &db, &params, &head, &body).await?;
    Feed::new(caller, db, asked, filter)
        .answer(detachable)
        .await
}

async fn read(
    caller: &Caller,
    db: &Database,
    params: &Params,
    head: &Parts,
    body: &Map<String, Value>,
) -> HttpResult<(Asked, Filter)> {
    let asked = Asked::read(db, params, body, &head.headers)?;
    let filter = Filter::read(caller, db, params, head, body).await?;
    Ok((asked, filter))
}
