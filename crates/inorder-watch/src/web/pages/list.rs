//! One's own list.

use super::{Answer, film::StateForm};
use crate::{
    Error, date,
    db::{
        entries::{self, Direction, Entry, Filter, PAGE_ENTRIES, Page, Sort, State},
        films, now_ms, undo,
    },
    web::{
        App,
        form::{self, Posted, local},
        layout::{self, Place},
        parts,
        visitor::Member,
    },
};
use axum::{
    Router,
    extract::{Path, Query, State as Shared},
    response::{IntoResponse, Redirect, Response},
    routing::{get, post},
};
use inorder_key::Ulid;
use maud::{Markup, html};
use serde::{Deserialize, Serialize};

pub fn router() -> Router<App> {
    Router::new()
        .route("/", get(show))
        .route("/list/{film}/add", post(add))
        .route("/list/{film}/save", post(save))
        .route("/list/{film}/remove", post(remove))
        .route("/list/{film}/watched", post(watched))
        .route("/list/{film}/up", post(up))
        .route("/list/{film}/down", post(down))
        .route("/undo/{change}", post(undo))
}

/// What an address of a list says: which part of it, in which order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct View {
    #[serde(
        deserialize_with = "form::ticked",
        skip_serializing_if = "std::ops::Not::not"
    )]
    watched: bool,
    #[serde(
        deserialize_with = "form::optional",
        skip_serializing_if = "Option::is_none"
    )]
    genre: Option<String>,
    #[serde(
        deserialize_with = "form::optional",
        skip_serializing_if = "Option::is_none"
    )]
    decade: Option<i64>,
    #[serde(
        deserialize_with = "form::optional",
        skip_serializing_if = "Option::is_none"
    )]
    priority: Option<i64>,
    sort: Sort,
    #[serde(
        deserialize_with = "form::optional",
        skip_serializing_if = "Option::is_none"
    )]
    page: Option<i64>,
}

impl View {
    /// What to read for it.
    pub fn filter(&self, public_only: bool) -> Filter {
        Filter {
            watched: self.watched,
            genre: self.genre.clone(),
            decade: self.decade,
            priority: self.priority,
            sort: self.sort,
            page: self.page.unwrap_or(1).max(1) - 1,
            public_only,
        }
    }

    /// The address of this view of the list at `path`.
    fn address(&self, path: &str) -> String {
        match serde_urlencoded::to_string(self) {
            Ok(query) if *self != View::default() && !query.is_empty() => format!("{path}?{query}"),
            _ => path.to_owned(),
        }
    }

    fn is_filtered(&self) -> bool {
        self.genre.is_some() || self.decade.is_some() || self.priority.is_some()
    }
}

/// What is shown around a page of a list, of one's own or a friend's.
pub struct Shown<'a> {
    pub view: &'a View,
    pub path: &'a str,
    pub page: &'a Page,
    /// To watch, and watched.
    pub counts: (i64, i64),
    pub genres: &'a [String],
}

impl Shown<'_> {
    /// The two parts of the list, and what to choose of them.
    pub fn head(&self) -> Markup {
        let tab = |watched: bool, name: &str, count: i64| {
            let view = View {
                watched,
                ..View::default()
            };
            let is_this = self.view.watched == watched;
            html! {
                a href=(view.address(self.path)) aria-current=[is_this.then_some("true")] {
                    (name) " " span.count { (count) }
                }
            }
        };
        html! {
            nav.tabs aria-label="Parts of the list" {
                (tab(false, "To watch", self.counts.0))
                (tab(true, "Watched", self.counts.1))
            }
            @if self.counts.0 + self.counts.1 > 0 { (self.filter_form()) }
        }
    }

    fn filter_form(&self) -> Markup {
        let view = self.view;
        let priorities = entries::PRIORITIES
            .rev()
            .map(|p| (p, format!("{p} {}", parts::priority_name(p))));
        let sorts = Sort::ALL.map(|(_, value, name)| (value, name));
        let sort = Sort::ALL
            .iter()
            .find(|(sort, ..)| *sort == view.sort)
            .map(|(_, value, _)| *value);
        let is_used = view.is_filtered() || view.sort != Sort::default();
        html! {
            details.choose open[is_used] {
                summary { "Filter and order" }
                form.filter action=(self.path) data-live {
                    @if view.watched { input type="hidden" name="watched" value="1"; }
                    (parts::genre_choice(self.genres, view.genre.as_ref()))
                    (parts::decade_choice(view.decade))
                    (parts::choice("priority", "Priority", "Any", priorities, view.priority.as_ref()))
                    (parts::choice("sort", "Order", "", sorts, sort.as_ref()))
                    button { "Show" }
                }
            }
        }
    }

    /// The way to other pages.
    pub fn pager(&self) -> Markup {
        let at = self.view.page.unwrap_or(1).max(1);
        let pages = (self.page.total + PAGE_ENTRIES - 1) / PAGE_ENTRIES;
        let to = |page: i64| {
            View {
                page: Some(page),
                ..self.view.clone()
            }
            .address(self.path)
        };
        html! {
            @if pages > 1 {
                nav.pager aria-label="Pages" {
                    @if at > 1 { a href=(to(at - 1)) rel="prev" { "Previous" } }
                    span { "Page " (at) " of " (pages) }
                    @if at < pages { a href=(to(at + 1)) rel="next" { "Next" } }
                }
            }
        }
    }

    /// What is said when there is nothing to show.
    pub fn nothing(&self, otherwise: Markup) -> Markup {
        html! {
            @if self.view.is_filtered() {
                div.empty {
                    p { "No film of the list fits." }
                    p { a href=(View { watched: self.view.watched, ..View::default() }.address(self.path)) { "Show all" } }
                }
            } @else {
                div.empty { (otherwise) }
            }
        }
    }
}

/// What was done to get here.
#[derive(Deserialize, Default)]
struct Done {
    #[serde(default)]
    done: String,
}

async fn show(
    Shared(app): Shared<App>,
    member: Member,
    Query(view): Query<View>,
    Query(Done { done }): Query<Done>,
) -> Answer {
    let (user, filter) = (member.user.number, view.filter(false));
    let shared = app.clone();
    let (page, counts, genres, last) = app
        .db()
        .read(move |db| {
            let page = entries::page(db, user, &filter)?;
            let last = undo::last(db, user)?;
            Ok((
                page,
                entries::counts(db, user, false)?,
                shared.genres(db)?,
                last,
            ))
        })
        .await?;
    let shown = Shown {
        view: &view,
        path: "/",
        page: &page,
        counts,
        genres: &genres,
    };
    let (token, back) = (member.form_token(), view.address("/"));
    let can_move = view.sort == Sort::Priority && !view.watched && !view.is_filtered();
    let body = html! {
        div.head {
            h1 { "Your list" }
            a.button href="/films" { "Find films" }
        }
        (notice(&done, last.as_ref(), &token, &back))
        (shown.head())
        @if page.entries.is_empty() {
            (shown.nothing(nothing_yet(view.watched)))
        } @else {
            form method="post" data-enhance {
                (parts::hidden(&token, &back))
                // Enter in no field presses this: nothing is done by accident.
                ol.films start=(view.filter(false).page * PAGE_ENTRIES + 1) {
                    @for entry in &page.entries { (row(entry, can_move)) }
                }
            }
            (shown.pager())
        }
    };
    let page = layout::Page::new("Your list")
        .of(&member.user)
        .at(Place::List);
    Ok(page.show(body).into_response())
}

fn nothing_yet(watched: bool) -> Markup {
    html! {
        @if watched {
            p { "Nothing watched yet. Mark a film of your list as watched, and it is here with its day and your rating." }
        } @else {
            p { "Nothing on your list yet." }
            p { a href="/films" { "Find a film" } " and add it, or " a href="/import" { "bring a list" } " from Letterboxd or IMDb." }
        }
    }
}

fn row(entry: &Entry, can_move: bool) -> Markup {
    let id = entry.film.id.to_string();
    let title = &entry.film.facts.title;
    let action = |verb: &str| format!("/list/{id}/{verb}");
    html! {
        li.film id={ "f" (id) } {
            (parts::tile(&entry.film))
            div.what {
                p { (parts::title(&entry.film)) }
                p.line { (parts::line(&entry.film)) }
                (marks(&entry.state))
                @if let Some(note) = &entry.state.note { p.note { (note) } }
            }
            div.actions {
                @if can_move {
                    button.small id={ "u" (id) } formaction=(action("up")) aria-label={ "Move " (title) " up" } title="Up" { "↑" }
                    button.small id={ "d" (id) } formaction=(action("down")) aria-label={ "Move " (title) " down" } title="Down" { "↓" }
                }
                @if !entry.state.watched {
                    button.small formaction=(action("watched")) aria-label={ "Mark " (title) " as watched" } { "Watched" }
                }
                a.button.small href={ "/films/" (id) } aria-label={ "Edit " (title) } { "Edit" }
            }
        }
    }
}

/// Priority, rating and so on, in a line.
pub fn marks(state: &State) -> Markup {
    html! {
        p.marks {
            @if state.watched {
                span { "Watched" @if let Some(day) = &state.watched_on { " " time datetime=(day) { (day) } } }
                @if let Some(rating) = state.rating { span.rating { (rating) " / 10" } }
            } @else {
                (parts::pips(state.priority))
            }
            @if !state.public { span.private { "Private" } }
        }
    }
}

/// Says what was done, and offers to undo it.
pub fn notice(
    done: &str,
    last: Option<&(Ulid, Option<String>)>,
    token: &str,
    back: &str,
) -> Markup {
    let film = last.and_then(|(_, title)| title.as_deref());
    let of = |film: Option<&str>| {
        film.map_or_else(|| "the films".to_owned(), |title| format!("“{title}”"))
    };
    let words = match done {
        "added" => format!("Added {} to your list.", of(film)),
        "saved" => format!("Saved {}.", of(film)),
        "present" => "It was on your list already.".to_owned(),
        "removed" => format!("Took {} off your list.", of(film)),
        "watched" => format!("Marked {} as watched.", of(film)),
        "moved" => "Moved.".to_owned(),
        "undone" => "Undone.".to_owned(),
        "imported" => "Imported.".to_owned(),
        _ => return html! {},
    };
    html! {
        div.notice role="status" {
            p { (words) }
            @if let Some((change, _)) = last && !matches!(done, "undone" | "present") {
                form method="post" action={ "/undo/" (change) } data-enhance {
                    (parts::hidden(token, back))
                    button.small { "Undo" }
                }
            }
        }
    }
}

/// The forms that only say which film.
#[derive(Deserialize)]
struct Back {
    #[serde(default)]
    back: String,
}

/// Goes back to where the form was, saying what was done.
fn go_back(back: &str, done: &str) -> Response {
    let back = local(back);
    let (path, query) = back.split_once('?').unwrap_or((back, ""));
    let kept = query
        .split('&')
        .filter(|pair| !pair.is_empty() && !pair.starts_with("done="));
    let mut pairs: Vec<&str> = kept.collect();
    let done = format!("done={done}");
    pairs.push(&done);
    Redirect::to(&format!("{path}?{}", pairs.join("&"))).into_response()
}

async fn add(
    Shared(app): Shared<App>,
    member: Member,
    Path(film): Path<Ulid>,
    Posted(form): Posted<StateForm>,
) -> Answer {
    let user = member.user.number;
    let back = form.back.clone();
    let done = app
        .db()
        .write(move |db| {
            let film = films::by_id(db, film)?.number;
            // What is on the list already, perhaps watched, isn't overwritten by adding it once more.
            if entries::state(db, user, film)?.is_some() {
                return Ok("present");
            }
            entries::put(db, user, film, form.state()).map(|_| "added")
        })
        .await?;
    Ok(go_back(&back, done))
}

async fn save(
    Shared(app): Shared<App>,
    member: Member,
    Path(film): Path<Ulid>,
    Posted(form): Posted<StateForm>,
) -> Answer {
    let user = member.user.number;
    let back = form.back.clone();
    app.db()
        .write(move |db| entries::put(db, user, films::by_id(db, film)?.number, form.state()))
        .await?;
    Ok(go_back(&back, "saved"))
}

async fn remove(
    Shared(app): Shared<App>,
    member: Member,
    Path(film): Path<Ulid>,
    Posted(Back { back }): Posted<Back>,
) -> Answer {
    let user = member.user.number;
    app.db()
        .write(move |db| entries::remove(db, user, films::by_id(db, film)?.number))
        .await?;
    Ok(go_back(&back, "removed"))
}

async fn watched(
    Shared(app): Shared<App>,
    member: Member,
    Path(film): Path<Ulid>,
    Posted(Back { back }): Posted<Back>,
) -> Answer {
    let user = member.user.number;
    app.db()
        .write(move |db| {
            let film = films::by_id(db, film)?.number;
            let state = entries::state(db, user, film)?;
            let state = state.ok_or(Error::NotFound("film on the list"))?;
            let today = date::day(now_ms().unsigned_abs());
            let state = State {
                watched: true,
                watched_on: Some(today),
                ..state
            };
            entries::put(db, user, film, state)
        })
        .await?;
    Ok(go_back(&back, "watched"))
}

async fn up(app: Shared<App>, member: Member, film: Path<Ulid>, form: Posted<Back>) -> Answer {
    shift(app, member, film, form, Direction::Up).await
}

async fn down(app: Shared<App>, member: Member, film: Path<Ulid>, form: Posted<Back>) -> Answer {
    shift(app, member, film, form, Direction::Down).await
}

async fn shift(
    Shared(app): Shared<App>,
    member: Member,
    Path(film): Path<Ulid>,
    Posted(Back { back }): Posted<Back>,
    direction: Direction,
) -> Answer {
    let user = member.user.number;
    app.db()
        .write(move |db| entries::shift(db, user, films::by_id(db, film)?.number, direction))
        .await?;
    Ok(go_back(&back, "moved"))
}

async fn undo(
    Shared(app): Shared<App>,
    member: Member,
    Path(change): Path<Ulid>,
    Posted(Back { back }): Posted<Back>,
) -> Answer {
    let user = member.user.number;
    app.db()
        .write(move |db| undo::undo(db, user, change))
        .await?;
    Ok(go_back(&back, "undone"))
}
