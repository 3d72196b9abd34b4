//! Adding a film that is missing, and correcting what is said of one.

use super::Answer;
use crate::{
    Error,
    db::films::{self, Facts},
    web::{
        App,
        form::{self, Posted},
        layout::{self, Place},
        parts,
        visitor::Member,
    },
};
use axum::{
    Router,
    extract::{Path, Query, State as Shared},
    http::StatusCode,
    response::{IntoResponse, Redirect},
    routing::get,
};
use inorder_key::Ulid;
use maud::{Markup, html};
use serde::Deserialize;

pub fn router() -> Router<App> {
    Router::new()
        .route("/films/new", get(show).post(add))
        .route("/films/{film}/change", get(show_change).post(change))
}

/// The form; names are a line each, or between commas.
#[derive(Deserialize, Default)]
struct FilmForm {
    #[serde(default)]
    title: String,
    #[serde(default, deserialize_with = "form::optional")]
    year: Option<i64>,
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
            year: self.year,
            people: names(&self.people),
            genres: names(&self.genres),
            imdb: None,
        }
    }

    fn of(facts: Facts) -> Self {
        FilmForm {
            title: facts.title,
            year: facts.year,
            people: facts.people.join(", "),
            genres: facts.genres.join(", "),
        }
    }

    fn show(&self, member: &Member, heading: &str, problem: Option<&str>) -> Markup {
        let year = self.year.map_or_else(String::new, |year| year.to_string());
        let body = html! {
            section.narrow {
                h1 { (heading) }
                p { "Everybody here sees the film; who added it is not shown." }
                (parts::problem(problem))
                form method="post" {
                    (parts::hidden(&member.form_token(), ""))
                    (parts::text("title", "Title", &self.title, ""))
                    label.field for="year" { "Year" }
                    input id="year" name="year" value=(year) inputmode="numeric" pattern="[0-9]{4}" title="Four digits";
                    (parts::text("people", "People", &self.people, "Names, with commas between them."))
                    (parts::text("genres", "Genres", &self.genres, "Such as Drama, Comedy."))
                    p.buttons { button.primary { (heading) } }
                }
            }
        };
        layout::Page::new(heading)
            .of(&member.user)
            .at(Place::Films)
            .show(body)
    }
}

const ADD: &str = "Add a film";
const CHANGE: &str = "Correct a film";

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
    .show(&member, ADD, None)
}

async fn add(Shared(app): Shared<App>, member: Member, Posted(form): Posted<FilmForm>) -> Answer {
    let (facts, user) = (form.facts(), member.user.clone());
    let added = app.db().write(move |db| films::add(db, facts, &user)).await;
    match added {
        Ok(film) => Ok(Redirect::to(&parts::film_address(&film)).into_response()),
        Err(error) => again(&form, &member, ADD, error),
    }
}

async fn show_change(Shared(app): Shared<App>, member: Member, Path(id): Path<Ulid>) -> Answer {
    let user = member.user.clone();
    let read = move |db: &rusqlite::Connection| {
        let film = films::by_id(db, id)?;
        match films::may_change(db, film.number, &user)? {
            true => Ok(film),
            false => Err(Error::NotFound("film")),
        }
    };
    let film = app.db().read(read).await?;
    Ok(FilmForm::of(film.facts)
        .show(&member, CHANGE, None)
        .into_response())
}

async fn change(
    Shared(app): Shared<App>,
    member: Member,
    Path(id): Path<Ulid>,
    Posted(form): Posted<FilmForm>,
) -> Answer {
    let (facts, user) = (form.facts(), member.user.clone());
    let changed = app
        .db()
        .write(move |db| films::change(db, id, facts, &user))
        .await;
    match changed {
        Ok(()) => Ok(Redirect::to(&format!("/films/{id}")).into_response()),
        Err(error) => again(&form, &member, CHANGE, error),
    }
}

/// The form once more, with what is wrong with it.
fn again(form: &FilmForm, member: &Member, heading: &str, error: Error) -> Answer {
    let words = super::problem(error)?;
    let page = form.show(member, heading, Some(&words));
    Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
}
