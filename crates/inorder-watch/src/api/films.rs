//! Films.

use super::answer::{Answer, Bearer, Body};
use crate::{
    db::{
        account,
        films::{self, Facts},
    },
    films::find::{self, Query as Wanted},
    web::App,
};
use axum::{
    Json,
    extract::{Path, Query, State},
    http::StatusCode,
};
use inorder_key::Ulid;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
pub struct Search {
    #[serde(default)]
    q: String,
    genre: Option<String>,
    decade: Option<i64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewFilm {
    title: String,
    year: Option<i64>,
    #[serde(default)]
    people: Vec<String>,
    #[serde(default)]
    genres: Vec<String>,
}

pub async fn find(State(app): State<App>, _: Bearer, Query(search): Query<Search>) -> Answer {
    let wanted = Wanted {
        text: search.q,
        genre: search.genre,
        decade: search.decade,
    };
    let found = app.db().read(move |db| find::find(db, &wanted)).await?;
    let films: Vec<Value> = found.films.iter().map(account::film).collect();
    Ok(Json(json!({"films": films, "is_guess": found.is_guess})))
}

pub async fn get(State(app): State<App>, _: Bearer, Path(film): Path<Ulid>) -> Answer {
    let film = app.db().read(move |db| films::by_id(db, film)).await?;
    Ok(Json(account::film(&film)))
}

pub async fn add(
    State(app): State<App>,
    Bearer(user): Bearer,
    Body(film): Body<NewFilm>,
) -> Answer<(StatusCode, Json<Value>)> {
    let NewFilm {
        title,
        year,
        people,
        genres,
    } = film;
    let facts = Facts {
        title,
        year,
        people,
        genres,
        imdb: None,
    };
    let film = app
        .db()
        .write(move |db| films::add(db, facts, &user))
        .await?;
    Ok((StatusCode::CREATED, Json(account::film(&film))))
}
