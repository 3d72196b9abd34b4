//! One's list.

use super::answer::{Answer, Bearer, Body, done};
use crate::{
    Error, Result,
    db::{
        account,
        entries::{self, Direction, Filter, PAGE_ENTRIES, tags},
        films,
        undo::Undone,
        users::User,
    },
    lists,
    request::{Me, View, ticked},
    words::{Message, say},
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
use std::sync::Arc;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Move {
    direction: Direction,
}

#[derive(Deserialize)]
pub struct Import {
    #[serde(default)]
    name: String,
    #[serde(default, deserialize_with = "ticked")]
    add_missing: bool,
    /// Whether films were watched, where no column says so.
    #[serde(default, deserialize_with = "ticked")]
    watched: bool,
    #[serde(default, deserialize_with = "ticked")]
    prefer_file: bool,
    #[serde(default, deserialize_with = "ticked")]
    preview: bool,
    zone: Option<String>,
    day_first: Option<String>,
    profile: Option<String>,
    /// JSON: what becomes of columns, by their names.
    columns: Option<String>,
}

impl Import {
    fn answers(&self) -> Result<lists::Answers> {
        let yes = |text: &String| !["0", "false", "no"].contains(&text.as_str());
        let bad = |error: serde_json::Error| Error::Invalid(say::columns_bad(error.to_string()));
        let columns = self.columns.as_deref().map(serde_json::from_str);
        Ok(lists::Answers {
            rows: self.watched.then_some(lists::Kind::Watched),
            zone: self.zone.clone(),
            is_day_first: self.day_first.as_ref().map(yes),
            profile: self.profile.clone(),
            columns: columns.transpose().map_err(bad)?.unwrap_or_default(),
        })
    }
}

/// What the columns of a file become, as JSON.
fn mapped(mapped: &lists::Mapped) -> Value {
    let column = |column: &lists::Column| json!({"name": column.name, "becomes": column.meaning, "samples": column.samples});
    let columns: Vec<Value> = mapped.columns.iter().map(column).collect();
    json!({"format": mapped.format, "files": mapped.files, "rows": mapped.rows, "columns": columns})
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
    let state = state.ok_or(Error::NotFound("entry"))?;
    Ok(Json(json!(state)))
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TagName {
    name: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shared {
    shared: bool,
}

pub async fn tags(Bearer(me): Bearer) -> Answer {
    let tags = me.read(|db, user| tags::all(db, user.number))?;
    Ok(Json(json!({"tags": tags})))
}

pub async fn share(
    Bearer(me): Bearer,
    Path(tag): Path<String>,
    Body(Shared { shared }): Body<Shared>,
) -> Answer {
    me.write(move |db, user| tags::share(db, user.number, &tag, shared))
        .await?;
    done()
}

pub async fn rename(
    Bearer(me): Bearer,
    Path(tag): Path<String>,
    Body(TagName { name }): Body<TagName>,
) -> Answer {
    let rename = move |db: &Connection, user: &User| tags::rename(db, user.number, &tag, &name);
    let change = me.write(rename).await?;
    Ok(Json(json!({"change": change.to_string()})))
}

pub async fn undo(Bearer(me): Bearer, Path(change): Path<Ulid>) -> Answer {
    let Undone { films, left } = me.undo(change).await?;
    Ok(Json(json!({"done": true, "films": films, "left": left})))
}

pub async fn import(Bearer(me): Bearer, Query(wanted): Query<Import>, file: Bytes) -> Answer {
    let sent = lists::Sent {
        answers: wanted.answers()?,
        name: wanted.name,
        bytes: file.into(),
    };
    let reading = me.read_file(Arc::new(sent)).await?;
    let read: Vec<Value> = reading.mapped.iter().map(mapped).collect();
    let questions: Vec<String> = reading
        .questions
        .iter()
        .map(|question| question.words().plain())
        .collect();
    // Nobody is asked here: the file is imported whole or not at all.
    if !wanted.preview {
        let question = reading.questions.first().map(lists::Question::words);
        if let Some(words) = question.or(reading.problems.first().cloned()) {
            return Err(Error::Invalid(words).into());
        }
    }
    let problems: Vec<String> = reading.problems.iter().map(Message::plain).collect();
    let found = me.find_films(reading.rows).await?;
    let choices = lists::Choices {
        add_missing: wanted.add_missing,
        prefer_file: wanted.prefer_file,
        ..lists::Choices::default()
    };
    let (change, imported) = match wanted.preview {
        true => {
            let plan = move |db: &Connection, user: &User| lists::plan(db, user, found, &choices);
            let planned = me.read_long(plan).await?;
            (None, lists::Imported::of(&planned))
        }
        false => {
            let apply = move |db: &Connection, user: &User| lists::apply(db, user, found, &choices);
            let (change, imported) = me.write(apply).await?;
            (Some(change.to_string()), imported)
        }
    };
    let mut told = json!(imported);
    told["change"] = change.into();
    told["tables"] = read.into();
    told["zone"] = reading.zone.into();
    told["questions"] = questions.into();
    told["problems"] = problems.into();
    told["no_films"] = reading.no_films.into();
    told["dropped"] = reading.dropped.into();
    Ok(Json(told))
}

pub async fn csv(Bearer(me): Bearer) -> Answer<impl IntoResponse> {
    let entries = me
        .read_long(|db, user| entries::all(db, user.number))
        .await?;
    let kind = [(header::CONTENT_TYPE, "text/csv; charset=utf-8")];
    Ok((kind, lists::csv(&entries)?))
}

pub async fn letterboxd(Bearer(me): Bearer) -> Answer<impl IntoResponse> {
    of_letterboxd(me, true).await
}

pub async fn letterboxd_watchlist(Bearer(me): Bearer) -> Answer<impl IntoResponse> {
    of_letterboxd(me, false).await
}

async fn of_letterboxd(me: Me, is_watched: bool) -> Answer<impl IntoResponse> {
    let entries = me
        .read_long(|db, user| entries::all(db, user.number))
        .await?;
    let kind = [(header::CONTENT_TYPE, "text/csv; charset=utf-8")];
    Ok((kind, lists::letterboxd(&entries, is_watched)?))
}
