//! Films.

use super::answer::{Answer, Bearer, Body, done};
use crate::db::{
    films::{self, Facts, Film, Kind},
    find::{self, Query as Wanted},
    users::User,
};
use axum::{
    Json,
    extract::{Path, Query},
    http::StatusCode,
};
use inorder_key::Ulid;
use rusqlite::Connection;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
pub struct Search {
    #[serde(default)]
    q: String,
    genre: Option<String>,
    decade: Option<i64>,
    kind: Option<Kind>,
    page: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewFilm {
    #[serde(default)]
    kind: Kind,
    title: String,
    original_title: Option<String>,
    year: Option<i64>,
    end_year: Option<i64>,
    #[serde(default)]
    seasons: Vec<u32>,
    #[serde(default)]
    people: Vec<String>,
    #[serde(default)]
    genres: Vec<String>,
    minutes: Option<i64>,
}

impl NewFilm {
    fn facts(self) -> Facts {
        Facts {
            kind: self.kind,
            title: self.title,
            original: self.original_title,
            year: self.year,
            end_year: self.end_year,
            seasons: self.seasons,
            people: self.people,
            genres: self.genres,
            minutes: self.minutes,
            imdb: None,
        }
    }
}

pub async fn find(Bearer(me): Bearer, Query(search): Query<Search>) -> Answer {
    let wanted = Wanted {
        text: search.q,
        genre: search.genre,
        decade: search.decade,
        kind: search.kind,
        page: search.page.unwrap_or(1).max(1) - 1,
    };
    let found = me.read_long(move |db, _| find::find(db, &wanted)).await?;
    let films: Vec<Value> = found.films.iter().map(Film::as_json).collect();
    Ok(Json(
        json!({"films": films, "is_guess": found.is_guess, "has_more": found.has_more}),
    ))
}

pub async fn get(Bearer(me): Bearer, Path(film): Path<Ulid>) -> Answer {
    let film = me.read(|db, _| films::by_id(db, film))?;
    Ok(Json(film.as_json()))
}

pub async fn add(
    Bearer(me): Bearer,
    Body(film): Body<NewFilm>,
) -> Answer<(StatusCode, Json<Value>)> {
    let facts = film.facts();
    let film = me
        .write(move |db, user| films::add(db, facts, user))
        .await?;
    Ok((StatusCode::CREATED, Json(film.as_json())))
}

pub async fn change(
    Bearer(me): Bearer,
    Path(film): Path<Ulid>,
    Body(new): Body<NewFilm>,
) -> Answer {
    let facts = new.facts();
    let change = move |db: &Connection, user: &User| {
        films::change(db, film, facts, user)?;
        films::by_id(db, film)
    };
    let film = me.write(change).await?;
    me.app.forget_genres();
    Ok(Json(film.as_json()))
}

pub async fn remove(Bearer(me): Bearer, Path(film): Path<Ulid>) -> Answer {
    let remove = move |db: &Connection, user: &User| films::remove(db, film, user);
    me.write(remove).await?;
    me.app.forget_genres();
    done()
}
