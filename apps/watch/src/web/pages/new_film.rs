//! Adding a film that is missing, correcting what is said of one, and removing it.

use super::common::{Answer, again, form_of};
use crate::{
    db::{
        films::{self, Facts, Film, Kind},
        users::User,
    },
    request::App,
    web::{
        form::{self, Nothing, Posted},
        layout::{self, Place},
        parts,
        visitor::Member,
    },
    words::{Arg, Message, say},
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
    kind: Option<Kind>,
    #[serde(default, deserialize_with = "form::optional")]
    year: Option<i64>,
    #[serde(default, deserialize_with = "form::optional")]
    end_year: Option<i64>,
    /// How many seasons there are.
    #[serde(default, deserialize_with = "form::optional")]
    seasons: Option<u16>,
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
            kind: self.kind.unwrap_or_default(),
            year: self.year,
            end_year: self.end_year,
            seasons: vec![0; self.seasons.unwrap_or_default().into()],
            people: names(&self.people),
            genres: names(&self.genres),
            minutes: self.minutes,
            imdb: None,
        }
    }

    fn of(facts: Facts) -> Self {
        let seasons = facts.series().and_then(|seasons| seasons.try_into().ok());
        FilmForm {
            title: facts.title,
            original: facts.original.unwrap_or_default(),
            kind: Some(facts.kind),
            year: facts.year,
            end_year: facts.end_year,
            seasons,
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
        let edit = |film: &Film| say::film_edit(Arg::key(film.facts.kind.name()));
        let heading = film.map_or_else(say::new_film, edit);
        let token = secret.form_token();
        let kinds = Kind::ALL.map(|(_, name)| (name, say::new_film_kind(Arg::key(name))));
        let kind = self.kind.unwrap_or_default().name();
        let body = html! {
            section.narrow {
                h1 { (heading) }
                p { (say::new_film_hint()) }
                (parts::problem(problem))
                form method="post" {
                    (parts::hidden(&token, ""))
                    (parts::choice("kind", say::kind(), None, kinds, Some(&kind)))
                    (parts::text("title", say::new_film_title(), &self.title, None))
                    (parts::text("original", say::new_film_original(), &self.original, Some(say::new_film_original_hint())))
                    (number("year", say::new_film_year(), self.year, "[0-9]{4}", say::new_film_year_hint()))
                    fieldset {
                        legend { (say::new_film_of_series()) }
                        (number("end_year", say::new_film_end_year(), self.end_year, "[0-9]{4}", say::new_film_end_year_hint()))
                        (number("seasons", say::new_film_seasons(), self.seasons, "[0-9]{1,3}", say::new_film_seasons_hint()))
                    }
                    (number("minutes", say::new_film_minutes(), self.minutes, "[0-9]{1,5}", say::new_film_minutes_hint()))
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

/// A field for a number.
fn number<N: Into<i64>>(
    name: &str,
    label: Message,
    value: Option<N>,
    pattern: &str,
    hint: Message,
) -> Markup {
    let value = value.map_or_else(String::new, |value| value.into().to_string());
    html! {
        label.field for=(name) { (label) }
        input id=(name) name=(name) value=(value) inputmode="numeric" pattern=(pattern) title=(hint);
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
