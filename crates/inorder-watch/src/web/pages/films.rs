//! Looking for films.

use super::{Answer, list::notice};
use crate::{
    db::{entries, films::Film, undo},
    films::find::{self, FILMS_MAX, Found, Query as Wanted},
    web::{
        App, form,
        layout::{self, Place},
        parts,
        visitor::Member,
    },
};
use axum::{
    Router,
    extract::{Query, State as Shared},
    response::{IntoResponse, Response},
    routing::get,
};
use maud::{Markup, html};
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
    #[serde(default, skip_serializing)]
    done: String,
}

/// A film that was found, and its priority if it is on the list; none once it was watched.
type Hit = (Film, Option<entries::State>);

async fn show(
    Shared(app): Shared<App>,
    member: Member,
    Query(search): Query<Search>,
) -> Answer<Response> {
    let shared = app.clone();
    let user = member.user.number;
    let wanted = Wanted {
        text: search.q.clone(),
        genre: search.genre.clone(),
        decade: search.decade,
    };
    let (hits, is_guess, last, genres) = app
        .db()
        .read(move |db| {
            let Found { films, is_guess } = find::find(db, &wanted)?;
            let hit = |film: Film| Ok((entries::state(db, user, film.number)?, film));
            let hits: Vec<_> = films.into_iter().map(hit).collect::<crate::Result<_>>()?;
            let hits: Vec<Hit> = hits
                .into_iter()
                .map(|(state, film)| (film, state))
                .collect();
            Ok((hits, is_guess, undo::last(db, user)?, shared.genres(db)?))
        })
        .await?;
    let token = member.form_token();
    let back = format!(
        "/films?{}",
        serde_urlencoded::to_string(&search).unwrap_or_default()
    );
    let body = html! {
        h1 { "Find a film" }
        form.search action="/films" role="search" data-live {
            label.field {
                span { "Title, year, person or genre" }
                input type="search" id="q" name="q" value=(search.q) autocomplete="off" spellcheck="false" enterkeyhint="search" aria-keyshortcuts="/";
            }
            div.row {
                (parts::genre_choice(&genres, search.genre.as_ref()))
                (parts::decade_choice(search.decade))
                button.primary { "Search" }
            }
        }
        div id="results" {
            (notice(&search.done, last.as_ref(), &token, &back))
            p.found id="found" { (words(&search, hits.len(), is_guess)) }
            @if !hits.is_empty() {
                ul.films { @for hit in &hits { (row(hit, &token, &back)) } }
            }
            p { "Is a film missing? " a href={ "/films/new?" (serde_urlencoded::to_string([("title", &search.q)]).unwrap_or_default()) } { "Add it" } "." }
        }
    };
    let page = layout::Page::new("Find a film")
        .of(&member.user)
        .at(Place::Films);
    Ok(page.show(body).into_response())
}

/// Says what was found.
fn words(search: &Search, count: usize, is_guess: bool) -> String {
    let is_empty = search.q.trim().is_empty();
    match count {
        0 => "Nothing found.".to_owned(),
        _ if is_guess => format!(
            "Nothing is called “{}”. Is it one of these?",
            search.q.trim()
        ),
        _ if is_empty => "The newest films".to_owned(),
        1 => "1 film".to_owned(),
        FILMS_MAX => format!("The best {FILMS_MAX}; one more word tells fewer"),
        count => format!("{count} films"),
    }
}

fn row((film, state): &Hit, token: &str, back: &str) -> Markup {
    let title = &film.facts.title;
    html! {
        li.film id={ "f" (film.id) } {
            (parts::tile(film))
            div.what {
                p { (parts::title(film)) }
                p.line { (parts::line(film)) }
            }
            @if let Some(state) = state {
                div.actions {
                    span.there { @if state.watched { "Watched" } @else { "On your list" } }
                    a.button.small href=(parts::film_address(film)) aria-label={ "Edit " (title) } { "Edit" }
                }
            } @else {
                form.actions method="post" action={ "/list/" (film.id) "/add" } data-enhance {
                    (parts::hidden(token, back))
                    select name="priority" aria-label={ "Priority of " (title) } {
                        @for priority in entries::PRIORITIES.rev() {
                            option value=(priority) selected[priority == entries::PRIORITY] { (priority) " " (parts::priority_name(priority)) }
                        }
                    }
                    button.primary.small id={ "a" (film.id) } aria-label={ "Add " (title) } { "Add" }
                }
            }
        }
    }
}
