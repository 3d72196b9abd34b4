//! One's list.

use super::answer::{Answer, Bearer, Body};
use crate::{
    Error,
    db::{
        account,
        entries::{self, Direction, Filter, PAGE_ENTRIES, PRIORITY},
        films, undo,
    },
    lists,
    web::{App, View},
};
use axum::{
    Json,
    body::Bytes,
    extract::{Path, Query, State},
    http::header,
    response::IntoResponse,
};
use inorder_key::Ulid;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NewState {
    priority: i64,
    public: bool,
    watched: bool,
    watched_on: Option<String>,
    rating: Option<i64>,
    note: Option<String>,
}

impl Default for NewState {
    fn default() -> Self {
        NewState {
            priority: PRIORITY,
            public: true,
            watched: false,
            watched_on: None,
            rating: None,
            note: None,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Move {
    direction: Direction,
}

#[derive(Deserialize)]
pub struct Missing {
    add_missing: Option<String>,
}

/// A page as JSON.
pub fn as_json(page: &entries::Page, filter: &Filter) -> Value {
    let films: Vec<Value> = page.entries.iter().map(account::entry).collect();
    let pages = (page.total + PAGE_ENTRIES - 1) / PAGE_ENTRIES;
    json!({"total": page.total, "page": filter.page + 1, "pages": pages, "films": films})
}

pub async fn page(
    State(app): State<App>,
    Bearer(user): Bearer,
    Query(view): Query<View>,
) -> Answer {
    let filter = view.filter(false);
    let wanted = filter.clone();
    let page = app
        .db()
        .read(move |db| entries::page(db, user.number, &wanted))
        .await?;
    Ok(Json(as_json(&page, &filter)))
}

pub async fn get(State(app): State<App>, Bearer(user): Bearer, Path(film): Path<Ulid>) -> Answer {
    let read = move |db: &rusqlite::Connection| {
        let film = films::by_id(db, film)?;
        entries::state(db, user.number, film.number)?.ok_or(Error::NotFound("film on the list"))
    };
    let state = app.db().read(read).await?;
    Ok(Json(account::state(&state)))
}

fn changed(change: Ulid) -> Answer {
    Ok(Json(json!({"change": change.to_string()})))
}

pub async fn put(
    State(app): State<App>,
    Bearer(user): Bearer,
    Path(film): Path<Ulid>,
    Body(new): Body<NewState>,
) -> Answer {
    let state = entries::State {
        priority: new.priority,
        public: new.public,
        watched: new.watched,
        watched_on: new.watched_on,
        rating: new.rating,
        note: new.note,
    };
    let put = move |db: &rusqlite::Connection| {
        entries::put(db, user.number, films::by_id(db, film)?.number, state)
    };
    changed(app.db().write(put).await?)
}

pub async fn remove(
    State(app): State<App>,
    Bearer(user): Bearer,
    Path(film): Path<Ulid>,
) -> Answer {
    let remove = move |db: &rusqlite::Connection| {
        entries::remove(db, user.number, films::by_id(db, film)?.number)
    };
    changed(app.db().write(remove).await?)
}

pub async fn shift(
    State(app): State<App>,
    Bearer(user): Bearer,
    Path(film): Path<Ulid>,
    Body(Move { direction }): Body<Move>,
) -> Answer {
    let shift = move |db: &rusqlite::Connection| {
        entries::shift(db, user.number, films::by_id(db, film)?.number, direction)
    };
    changed(app.db().write(shift).await?)
}

pub async fn undo(
    State(app): State<App>,
    Bearer(user): Bearer,
    Path(change): Path<Ulid>,
) -> Answer {
    let films = app
        .db()
        .write(move |db| undo::undo(db, user.number, change))
        .await?;
    Ok(Json(json!({"done": true, "films": films})))
}

pub async fn import(
    State(app): State<App>,
    Bearer(user): Bearer,
    Query(Missing { add_missing }): Query<Missing>,
    text: Bytes,
) -> Answer {
    let plan = app.db().read(move |db| lists::plan(db, &text)).await?;
    let apply =
        move |db: &rusqlite::Connection| lists::apply(db, &user, plan, add_missing.is_some());
    let (change, imported) = app.db().write(apply).await?;
    let lists::Imported {
        added,
        present,
        missing,
    } = imported;
    Ok(Json(
        json!({"change": change.to_string(), "added": added, "present": present, "missing": missing}),
    ))
}

pub async fn csv(State(app): State<App>, Bearer(user): Bearer) -> Answer<impl IntoResponse> {
    let entries = app
        .db()
        .read(move |db| entries::all(db, user.number))
        .await?;
    Ok((
        [(header::CONTENT_TYPE, "text/csv; charset=utf-8")],
        lists::csv(&entries)?,
    ))
}
