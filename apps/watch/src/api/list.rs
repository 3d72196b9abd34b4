//! One's list.

use super::answer::{Answer, Bearer, Body};
use crate::{
    Error, Result,
    db::{
        account,
        entries::{self, Direction, Filter, PAGE_ENTRIES},
        films, undo,
        users::User,
    },
    lists,
    request::{Me, View},
};
use axum::{
    Json,
    body::Bytes,
    extract::{Path, Query},
    http::header,
    response::IntoResponse,
};
use inorder_key::Ulid;
use rusqlite::Connection;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Move {
    direction: Direction,
}

#[derive(Deserialize)]
pub struct Import {
    add_missing: Option<String>,
    watched: Option<String>,
}

/// A page as JSON.
pub fn as_json(page: &entries::Page, filter: &Filter) -> Value {
    let films: Vec<Value> = page.entries.iter().map(account::entry).collect();
    let pages = (page.total + PAGE_ENTRIES - 1) / PAGE_ENTRIES;
    json!({"total": page.total, "page": filter.page + 1, "pages": pages, "films": films})
}

pub async fn page(Bearer(me): Bearer, Query(view): Query<View>) -> Answer {
    let filter = view.filter(false);
    let page = me.read(|db, user| entries::page(db, user.number, &filter))?;
    Ok(Json(as_json(&page, &filter)))
}

pub async fn get(Bearer(me): Bearer, Path(film): Path<Ulid>) -> Answer {
    let state = me.read(|db, user| entries::state(db, user.number, films::number(db, film)?))?;
    let state = state.ok_or(Error::NotFound("film on the list"))?;
    Ok(Json(account::state(&state)))
}

/// Changes the list, and gives the change.
async fn change(
    me: &Me,
    film: Ulid,
    work: impl FnOnce(&Connection, i64, i64) -> Result<Ulid> + Send + 'static,
) -> Answer {
    let change =
        move |db: &Connection, user: &User| work(db, user.number, films::number(db, film)?);
    let change = me.write(change).await?;
    Ok(Json(json!({"change": change.to_string()})))
}

pub async fn put(
    Bearer(me): Bearer,
    Path(film): Path<Ulid>,
    Body(state): Body<entries::State>,
) -> Answer {
    let put = |db: &Connection, user, film| entries::put(db, user, film, state);
    change(&me, film, put).await
}

pub async fn remove(Bearer(me): Bearer, Path(film): Path<Ulid>) -> Answer {
    change(&me, film, entries::remove).await
}

pub async fn shift(
    Bearer(me): Bearer,
    Path(film): Path<Ulid>,
    Body(Move { direction }): Body<Move>,
) -> Answer {
    let shift = move |db: &Connection, user, film| entries::shift(db, user, film, direction);
    change(&me, film, shift).await
}

pub async fn undo(Bearer(me): Bearer, Path(change): Path<Ulid>) -> Answer {
    let undo = move |db: &Connection, user: &User| undo::undo(db, user.number, change);
    Ok(Json(json!({"done": true, "films": me.write(undo).await?})))
}

pub async fn import(Bearer(me): Bearer, Query(wanted): Query<Import>, text: Bytes) -> Answer {
    let kind = match wanted.watched {
        Some(_) => lists::Kind::Watched,
        None => lists::Kind::ToWatch,
    };
    let import = me.import(text, kind, wanted.add_missing.is_some());
    let (change, imported) = import.await?;
    let mut told = json!(imported);
    told["change"] = change.to_string().into();
    Ok(Json(told))
}

pub async fn csv(Bearer(me): Bearer) -> Answer<impl IntoResponse> {
    let entries = me
        .read_long(|db, user| entries::all(db, user.number))
        .await?;
    let kind = [(header::CONTENT_TYPE, "text/csv; charset=utf-8")];
    Ok((kind, lists::csv(&entries)?))
}
