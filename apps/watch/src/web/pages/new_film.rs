//! Adding a film that is missing, correcting what is said of one, and removing it.

use super::common::{Answer, again, form_of};
use crate::{
    db::{
        films::{self, Facts, Film},
        users::User,
    },
    request::App,
    web::{
        form::{self, Nothing, Posted},
        layout::{self, Place},
        parts,
        visitor::Member,
    },
    words::{Message, say},
};
use axum::{
    Router,
    extract::{Path, Query},
    response::{IntoResponse, Redirect},
    routing::{get, post},
};
use inorder_key::Ulid;
use maud::{Markup, html};
use rusqlite::Connection;
use serde::Deserialize;

pub fn router() -> Router<App> {
    Router::new()
        .route("/films/new", get(show).post(add))
        .route("/films/{film}/change", get(show_change).post(change))
        .route("/films/{film}/remove", form_of("/films", post(remove)))
}

/// The form; names are a line each, or between commas.
#[derive(Deserialize, Default)]
struct FilmForm {
    #[serde(default)]
    title: String,
    #[serde(default)]
    original: String,
    #[serde(default, deserialize_with = "form::optional")]
    year: Option<i64>,
    #[serde(default, deserialize_with = "form::optional")]
    minutes: Option<i64>,
    #[serde(default)]
    people: String,
    #[serde(default)]
    genres: String,
}

impl FilmForm {
    fn facts(&self) -> Facts {
        let names = |text: &str| text.split([',', '\n']).map(str::to_owned).collect();
        Facts {
            title: self.title.clone(),
            original: Some(self.original.clone()),
            year: self.year,
            people: names(&self.people),
            genres: names(&self.genres),
            minutes: self.minutes,
            imdb: None,
        }
    }

    fn of(facts: Facts) -> Self {
        FilmForm {
            title: facts.title,
            original: facts.original.unwrap_or_default(),
            year: facts.year,
            people: facts.people.join(", "),
            genres: facts.genres.join(", "),
            minutes: facts.minutes,
        }
    }

    /// The page with the form, for a new film or this one.
    fn show(
        &self,
        Member { me, secret }: &Member,
        film: Option<&Film>,
        problem: Option<&Message>,
    ) -> Markup {
        let heading = film.map_or_else(say::new_film, |_| say::film_edit());
        let token = secret.form_token();
        let year = self.year.map_or_else(String::new, |year| year.to_string());
        let minutes = self
            .minutes
            .map_or_else(String::new, |minutes| minutes.to_string());
        let body = html! {
            section.narrow {
                h1 { (heading) }
                p { (say::new_film_hint()) }
                (parts::problem(problem))
                form method="post" {
                    (parts::hidden(&token, ""))
                    (parts::text("title", say::new_film_title(), &self.title, None))
                    (parts::text("original", say::new_film_original(), &self.original, Some(say::new_film_original_hint())))
                    label.field for="year" { (say::new_film_year()) }
                    input id="year" name="year" value=(year) inputmode="numeric" pattern="[0-9]{4}" title=(say::new_film_year_hint());
                    label.field for="minutes" { (say::new_film_minutes()) }
                    input id="minutes" name="minutes" value=(minutes) inputmode="numeric" pattern="[0-9]{1,5}" title=(say::new_film_minutes_hint());
                    (parts::text("people", say::new_film_people(), &self.people, Some(say::new_film_people_hint())))
                    (parts::text("genres", say::new_film_genres(), &self.genres, Some(say::new_film_genres_hint())))
                    p.buttons { button.primary { (heading) } }
                }
                @if let Some(film) = film && films::may_remove(film, &me.user) { (removal(film, &token)) }
            }
        };
        layout::Page::new(heading)
            .of(me)
            .at(Place::Films)
            .show(body)
    }
}

#[derive(Deserialize)]
struct Typed {
    #[serde(default)]
    title: String,
}

async fn show(member: Member, Query(Typed { title }): Query<Typed>) -> Markup {
    FilmForm {
        title,
        ..FilmForm::default()
    }
    .show(&member, None, None)
}

async fn add(member: Member, Posted(form): Posted<FilmForm>) -> Answer {
    let facts = form.facts();
    let add = move |db: &Connection, user: &User| films::add(db, facts, user);
    match member.me.write(add).await {
        Ok(film) => Ok(Redirect::to(&parts::film_address(&film)).into_response()),
        Err(error) => again(error, |words| form.show(&member, None, Some(words))),
    }
}

async fn show_change(member: Member, Path(id): Path<Ulid>) -> Answer<Markup> {
    let film = member.me.read(|db, user| films::own(db, id, user))?;
    let form = FilmForm::of(film.facts.clone());
    Ok(form.show(&member, Some(&film), None))
}

async fn change(member: Member, Path(id): Path<Ulid>, Posted(form): Posted<FilmForm>) -> Answer {
    let facts = form.facts();
    let change = move |db: &Connection, user: &User| films::change(db, id, facts, user);
    match member.me.write(change).await {
        Ok(()) => {
            member.me.app.forget_genres();
            Ok(Redirect::to(&format!("/films/{id}")).into_response())
        }
        Err(error) => {
            let film = member.me.read(|db, user| films::own(db, id, user))?;
            again(error, |words| form.show(&member, Some(&film), Some(words)))
        }
    }
}

/// The form that removes a film.
fn removal(film: &Film, token: &str) -> Markup {
    html! {
        details {
            summary { (say::new_film_remove()) }
            p { (say::new_film_remove_hint()) }
            form method="post" action={ "/films/" (parts::film_id(film)) "/remove" } {
                (parts::hidden(token, ""))
                p.buttons { button.danger { (say::new_film_remove_button()) } }
            }
        }
    }
}

async fn remove(
    Member { me, .. }: Member,
    Path(id): Path<Ulid>,
    Posted(Nothing {}): Posted<Nothing>,
) -> Answer<Redirect> {
    me.write(move |db, user| films::remove(db, id, user))
        .await?;
    me.app.forget_genres();
    Ok(Redirect::to("/films?done=gone"))
}
