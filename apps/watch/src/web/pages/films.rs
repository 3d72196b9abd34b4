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
        films::{Film, Kind},
        find::{self, Found, PAGE_FILMS, Query as Wanted},
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
    words::say,
};
use axum::{Router, extract::Query, routing::get};
use maud::{Markup, html};
use rusqlite::Connection;
use serde::Deserialize;

pub fn router() -> Router<App> {
    Router::new().route("/films", get(show))
}

#[derive(Deserialize)]
struct Search {
    #[serde(default)]
    q: String,
    #[serde(default, deserialize_with = "form::optional")]
    genre: Option<String>,
    #[serde(default, deserialize_with = "form::optional")]
    decade: Option<i64>,
    #[serde(default, deserialize_with = "form::optional")]
    kind: Option<Kind>,
    #[serde(default, deserialize_with = "form::optional")]
    page: Option<usize>,
}

impl Search {
    /// The page, from 1.
    fn at(&self) -> usize {
        self.page.unwrap_or(1).clamp(1, find::PAGES_MAX)
    }

    /// The address of a page of the results.
    fn address(&self, page: Option<usize>) -> String {
        let query = [
            ("q", Some(self.q.clone())),
            ("genre", self.genre.clone()),
            ("decade", self.decade.map(|decade| decade.to_string())),
            ("kind", self.kind.map(|kind| kind.name().to_owned())),
            ("page", page.map(|page| page.to_string())),
        ];
        let query = query
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)));
        let query: Vec<(&str, String)> = query.collect();
        format!(
            "/films?{}",
            serde_urlencoded::to_string(query).unwrap_or_default()
        )
    }
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
        kind: search.kind,
        page: search.at() - 1,
    };
    let (app, change) = (me.app.clone(), done.change);
    let look = move |db: &Connection, user: &User| {
        let Found {
            films,
            is_guess,
            has_more,
        } = find::find(db, &wanted)?;
        let hit = |film: Film| Ok((entries::state(db, user.number, film.number)?, film));
        let hits = films.into_iter().map(hit).collect::<Result<Vec<_>>>()?;
        Ok((
            hits,
            (is_guess, has_more),
            undo::recent(db, user.number, change)?,
            app.genres(db)?,
        ))
    };
    let (hits, (is_guess, has_more), last, genres) = me.read_long(look).await?;
    me.app.want_posters(hits.iter().map(|(_, film)| film));
    let token = secret.form_token();
    let back = search.address(search.page);
    let title = serde_urlencoded::to_string([("title", &search.q)]).unwrap_or_default();
    let add = html! { a href={ "/films/new?" (title) } { (say::find_missing_add()) } };
    let body = html! {
        h1 { (say::find()) }
        form.search action="/films" role="search" data-live {
            label.field {
                span { (say::find_what()) }
                input type="search" id="q" name="q" value=(search.q) dir="auto" autocomplete="off" spellcheck="false" enterkeyhint="search" aria-keyshortcuts="/";
            }
            div.row {
                (parts::kind_choice(search.kind))
                (parts::genre_choice(&genres, search.genre.as_ref()))
                (parts::decade_choice(search.decade))
                button.primary { (say::find_button()) }
            }
        }
        div id="results" {
            (notice(&done.done, last.as_ref(), &token, &back))
            p.found id="found" { (words(&search, hits.len(), is_guess, has_more)) }
            @if !hits.is_empty() {
                ul.films.wall { @for hit in &hits { (row(hit, &token, &back)) } }
            }
            (pager(&search, has_more))
            p { (say::find_missing(add)) }
        }
    };
    Ok(layout::Page::new(say::find())
        .of(&me)
        .at(Place::Films)
        .show(body))
}

/// The heading of the search results.
fn words(search: &Search, count: usize, is_guess: bool, has_more: bool) -> Markup {
    let is_empty = search.q.trim().is_empty();
    let first = (search.at() - 1) * PAGE_FILMS;
    html! {
        @match count {
            0 if first > 0 => (say::find_no_more()),
            0 => (say::find_nothing()),
            _ if is_guess => (say::find_guess(search.q.trim())),
            _ if is_empty => (say::find_newest()),
            count if first > 0 || has_more => (say::find_range(first + 1, first + count)),
            count => (say::find_count(count)),
        }
    }
}

/// The way to other pages.
fn pager(search: &Search, has_more: bool) -> Markup {
    let at = search.at();
    html! {
        @if at > 1 || has_more {
            nav.pager aria-label=(say::pages()) {
                @if at > 1 { a href=(search.address(Some(at - 1))) rel="prev" { (say::previous()) } }
                span { (say::page(at)) }
                @if has_more { a href=(search.address(Some(at + 1))) rel="next" { (say::next()) } }
            }
        }
    }
}

fn row((state, film): &Hit, token: &str, back: &str) -> Markup {
    html! {
        li.film id={ "f" (film.id) } {
            (parts::poster(film))
            div.what {
                p { (parts::title(film)) }
                p.line { (parts::line(film)) }
            }
            (actions(film, state.as_ref(), token, back))
        }
    }
}
