//! Looking for films.

use super::{
    add_form::actions,
    common::{Answer, Done},
    list::notice,
};
use crate::{
    Result,
    db::{
        entries,
        films::Film,
        find::{self, FILMS_MAX, Found, Query as Wanted},
        undo,
        users::User,
    },
    request::App,
    web::{
        form,
        layout::{self, Place},
        parts,
        visitor::Member,
    },
};
use axum::{Router, extract::Query, routing::get};
use maud::{Markup, html};
use rusqlite::Connection;
use serde::{Deserialize, Serialize};

pub fn router() -> Router<App> {
    Router::new().route("/films", get(show))
}

#[derive(Deserialize, Serialize)]
struct Search {
    #[serde(default)]
    q: String,
    #[serde(
        default,
        deserialize_with = "form::optional",
        skip_serializing_if = "Option::is_none"
    )]
    genre: Option<String>,
    #[serde(
        default,
        deserialize_with = "form::optional",
        skip_serializing_if = "Option::is_none"
    )]
    decade: Option<i64>,
}

/// A film with its state, if it is on the list.
type Hit = (Option<entries::State>, Film);

async fn show(
    Member { me, secret }: Member,
    Query(search): Query<Search>,
    Query(done): Query<Done>,
) -> Answer<Markup> {
    let wanted = Wanted {
        text: search.q.clone(),
        genre: search.genre.clone(),
        decade: search.decade,
    };
    let (app, change) = (me.app.clone(), done.change);
    let look = move |db: &Connection, user: &User| {
        let Found { films, is_guess } = find::find(db, &wanted)?;
        let hit = |film: Film| Ok((entries::state(db, user.number, film.number)?, film));
        let hits = films.into_iter().map(hit).collect::<Result<Vec<_>>>()?;
        Ok((
            hits,
            is_guess,
            undo::recent(db, user.number, change)?,
            app.genres(db)?,
        ))
    };
    let (hits, is_guess, last, genres) = me.read_long(look).await?;
    let token = secret.form_token();
    let back = format!(
        "/films?{}",
        serde_urlencoded::to_string(&search).unwrap_or_default()
    );
    let body = html! {
        h1 { "Find a film" }
        form.search action="/films" role="search" data-live {
            label.field {
                span { "Title, year, person or genre" }
                input type="search" id="q" name="q" value=(search.q) dir="auto" autocomplete="off" spellcheck="false" enterkeyhint="search" aria-keyshortcuts="/";
            }
            div.row {
                (parts::genre_choice(&genres, search.genre.as_ref()))
                (parts::decade_choice(search.decade))
                button.primary { "Search" }
            }
        }
        div id="results" {
            (notice(&done.done, last.as_ref(), &token, &back))
            p.found id="found" { (words(&search, hits.len(), is_guess)) }
            @if !hits.is_empty() {
                ul.films { @for hit in &hits { (row(hit, &token, &back)) } }
            }
            p { "Is a film missing? " a href={ "/films/new?" (serde_urlencoded::to_string([("title", &search.q)]).unwrap_or_default()) } { "Add it" } "." }
        }
    };
    Ok(layout::Page::new("Find a film")
        .of(&me)
        .at(Place::Films)
        .show(body))
}

/// The heading of the search results.
fn words(search: &Search, count: usize, is_guess: bool) -> Markup {
    let is_empty = search.q.trim().is_empty();
    html! {
        @match count {
            0 => "Nothing found.",
            _ if is_guess => { "Nothing is called “" bdi { (search.q.trim()) } "”. Is it one of these?" }
            _ if is_empty => "The newest films",
            1 => "1 film",
            FILMS_MAX => { "The best " (FILMS_MAX) "; one more word tells fewer" }
            count => { (count) " films" }
        }
    }
}

fn row((state, film): &Hit, token: &str, back: &str) -> Markup {
    html! {
        li.film id={ "f" (film.id) } {
            (parts::tile(film))
            div.what {
                p { (parts::title(film)) }
                p.line { (parts::line(film)) }
            }
            (actions(film, state.as_ref(), token, back))
        }
    }
}
