//! One's own list.

use super::{
    common::{Answer, Done, form_of, go_back},
    conflicts::{self, Choice},
    names,
    state_form::StateForm,
};
use crate::{
    Error, Result, date,
    db::{
        entries::{self, Direction, Listed, PAGE_ENTRIES, Page, Sort, State, tags},
        films::{self, Film},
        sync,
        undo::{self, Undoable, Undone},
        users::User,
    },
    request::{App, DrawnFilm, Me, View, is_usual},
    web::{
        form::{Nothing, Posted, Sent},
        layout::{self, Place},
        parts,
        pattern::{Pattern, around},
        visitor::{Member, Visitor},
    },
    words::{self, Arg, EachLanguage, Message, say},
};
use axum::{
    Router,
    extract::{DefaultBodyLimit, Path, Query, rejection::QueryRejection},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use inorder_key::Ulid;
use maud::{Markup, html};
use rusqlite::Connection;
use serde::Deserialize;
use std::{collections::HashMap, sync::Arc};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// Bytes of the form of an entry. A note and names of lists have at most 3,200 characters, of twelve bytes each in a form, and are sent twice:
/// as the form was made and as it is filled in.
const FORM_BYTES_MAX: usize = 128 * 1024;

pub fn router() -> Router<App> {
    Router::new()
        .route("/", get(show))
        .route("/list/{film}/add", form_of("/", post(add)))
        .route(
            "/list/{film}/save",
            form_of("/", post(save)).layer(DefaultBodyLimit::max(FORM_BYTES_MAX)),
        )
        .route("/list/{film}/remove", form_of("/", post(remove)))
        .route("/list/{film}/watched", form_of("/", post(watched)))
        .route("/list/{film}/season/{season}", form_of("/", post(season)))
        .route("/list/{film}/up", form_of("/", post(up)))
        .route("/list/{film}/down", form_of("/", post(down)))
        .route("/list/{film}/top", form_of("/", post(top)))
        .route("/list/{film}/to/{other}", form_of("/", post(to)))
        .route("/list/{film}/choose", form_of("/", post(choose)))
        .route("/undo/{change}", form_of("/", post(undo)))
}

/// The frame of a page of a list, the user's own or a friend's.
pub struct Shown<'a, E> {
    pub view: &'a View,
    pub path: &'a str,
    pub page: &'a Page<E>,
    pub genres: &'a [String],
}

impl<E> Shown<'_, E> {
    /// The two parts of the list, and what to choose of them.
    pub fn head(&self) -> Markup {
        let tab = |watched: bool, name: Message, count: i64| {
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
            nav.tabs aria-label=(say::list_parts()) {
                (tab(false, say::list_to_watch(), self.page.counts.0))
                (tab(true, say::list_watched(), self.page.counts.1))
            }
            @if self.page.counts.0 + self.page.counts.1 > 0 { (self.filter_form()) }
        }
    }

    fn filter_form(&self) -> Markup {
        let view = self.view;
        let priorities = entries::PRIORITIES
            .rev()
            .map(|p| (p, say::priority_choice(p, parts::priority_name(p))));
        let sorts = Sort::ALL.map(|(_, value)| (value, say::list_sort(Arg::key(value))));
        let sort = Sort::ALL
            .iter()
            .find(|(sort, _)| *sort == view.sort)
            .map(|(_, value)| *value);
        let is_used = view.has_choice() || !is_usual(&view.sort);
        html! {
            details.choose open[is_used] {
                summary { (say::list_filter()) }
                form.filter action=(self.path) data-live {
                    @if view.watched { input type="hidden" name="watched" value="1"; }
                    @if let Some(tag) = &view.tag { input type="hidden" name="tag" value=(tag); }
                    (parts::kind_choice(view.kind))
                    (parts::genre_choice(self.genres, view.genre.as_ref()))
                    (parts::decade_choice(view.decade))
                    (parts::choice("priority", say::priority(), Some(say::any()), priorities, view.priority.as_ref()))
                    (parts::choice("sort", say::list_order(), None, sorts, sort.as_ref()))
                    button { (say::list_show()) }
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
                nav.pager aria-label=(say::pages()) {
                    @if at > 1 { a href=(to(at - 1)) rel="prev" { (say::previous()) } }
                    span { (say::page_of_pages(at, pages)) }
                    @if at < pages { a href=(to(at + 1)) rel="next" { (say::next()) } }
                }
            }
        }
    }

    /// The message for an empty list.
    pub fn nothing(&self, otherwise: Markup) -> Markup {
        html! {
            @if self.view.is_filtered() {
                div.empty {
                    p { (say::list_none_fits()) }
                    p.buttons { a.button href=(View { watched: self.view.watched, ..View::default() }.address(self.path)) { (say::list_show_all()) } }
                }
            } @else {
                div.empty { (otherwise) }
            }
        }
    }
}

async fn show(
    visitor: Visitor,
    view: Result<Query<View>, QueryRejection>,
    done: Result<Query<Done>, QueryRejection>,
) -> Result<Markup, Response> {
    let (Query(view), Query(Done { done, change })) = match view.and_then(|view| Ok((view, done?)))
    {
        Ok(query) => query,
        Err(rejection) => {
            visitor.read(|_, _| Ok(())).await?;
            return Err(rejection.into_response());
        }
    };
    let read = |db: &Connection, me: &Me| {
        let user = me.user.number;
        let page = entries::page_of_states(db, user, &view.filter(false))?;
        Ok((
            films_of(db, &me.app, &page.entries)?,
            page,
            me.app.genres(db)?,
            tags::all(db, user)?,
            undo::recent(db, user, change)?,
            sync::in_conflict(db, user)?,
        ))
    };
    let (Member { me, secret }, found) = visitor.read(read).await?;
    let (films, page, genres, tags, last, to_choose) = found;
    let shown = Shown {
        view: &view,
        path: "/",
        page: &page,
        genres: &genres,
    };
    let (token, back) = (secret.form_token(), view.address("/"));
    let head = html! {
        div.head {
            h1 { @match &view.tag { Some(tag) => bdi { (tag) }, None => (say::list()) } }
            a.button href="/films" { (say::list_find()) }
        }
        (notice(&done, last.as_ref(), &token, &back))
        (conflicts::notice(&to_choose))
        (shown.head())
        (names::chooser("/", say::names_yours(), &view, &tags))
    };
    let [before, rows, behind] = match page.entries.is_empty() {
        true => [
            shown.nothing(nothing_yet(view.watched)).0,
            String::new(),
            String::new(),
        ],
        false => form(&view, &page.entries, &films, parts::hidden(&token, &back)),
    };
    let foot = html! {
        @if !page.entries.is_empty() { (shown.pager()) }
        @if let Some(tag) = tags.iter().find(|tag| Some(&tag.name) == view.tag.as_ref()) {
            (names::forms(tag, &token))
        }
    };
    Ok(layout::Page::new(say::list())
        .of(&me)
        .at(Place::List)
        .show_parts(&[&head.0, &before, &rows, &behind, &foot.0]))
}

/// The form with the films of a page: what stands before its rows, the rows, and what stands behind them.
fn form(view: &View, entries: &[Listed], films: &[Arc<DrawnFilm>], hidden: Markup) -> [String; 3] {
    let can_move = view.sort == Sort::Priority && !view.watched && !view.is_filtered();
    let rows = rows(entries, films, view.watched, can_move);
    let (before, behind) = around(|place| {
        html! {
            form method="post" data-enhance {
                (hidden)
                // Enter in no field presses this: nothing is done by accident.
                ol.films data-films data-move[can_move] start=(view.filter(false).page * PAGE_ENTRIES + 1) {
                    (place)
                }
            }
        }
    });
    [before, rows, behind]
}

fn nothing_yet(watched: bool) -> Markup {
    html! {
        @if watched {
            p { (say::list_watched_empty()) }
            p.buttons { a.button.primary href="/" { (say::list_show_yours()) } }
        } @else {
            p { (say::list_empty()) }
            p { (say::list_empty_hint()) }
            p.buttons { a.button.primary href="/films" { (say::list_find_one()) } a.button href="/import" { (say::list_import()) } }
        }
    }
}

/// Returns what the rows say of the films of these entries. Few are drawn: most are known from other pages.
fn films_of(db: &Connection, app: &App, entries: &[Listed]) -> Result<Vec<Arc<DrawnFilm>>> {
    let (stamp, language) = (films::stamp(db)?, words::current());
    let numbers = || entries.iter().map(|entry| entry.film);
    let known = app.drawn_films().find(stamp, language, numbers());
    let pairs = || numbers().zip(&known);
    let unknown = pairs().filter_map(|(number, film)| film.is_none().then_some(number));
    let unknown: Vec<i64> = unknown.collect();
    let mut drawn = HashMap::new();
    if !unknown.is_empty() {
        let films = films::with_numbers(db, &unknown)?;
        drawn.extend(films.iter().map(|film| (film.number, Arc::new(draw(film)))));
        let kept = drawn
            .iter()
            .map(|(number, film)| (*number, Arc::clone(film)));
        app.drawn_films().keep(stamp, language, kept);
    }
    let film = |(number, film): (i64, &Option<Arc<DrawnFilm>>)| {
        let found = film.clone().or_else(|| drawn.get(&number).cloned());
        found.ok_or(Error::NotFound("film"))
    };
    pairs().map(film).collect()
}

fn draw(film: &Film) -> DrawnFilm {
    let facts = html! {
        p { (parts::title(film)) }
        p.line { (parts::line(film)) }
    };
    DrawnFilm {
        id: film.id.to_string(),
        title: parts::attribute(&film.facts.title),
        poster: parts::tile(film).into_string(),
        facts: facts.into_string(),
        series: film.facts.series(),
    }
}

/// What a row says of the state of its film.
fn state(series: Option<usize>, state: &State) -> String {
    let state = html! {
        (marks(series, state))
        @if !state.tags.is_empty() { (names::chips(&state.tags)) }
        @if let Some(note) = &state.note { p.note dir="auto" { (note) } }
    };
    state.into_string()
}

/// The season that is to be watched next, of a series with several.
fn next_season(series: Option<usize>, state: &State) -> Option<i64> {
    let seasons = series.filter(|seasons| *seasons != 1)?;
    let next = state.seasons_watched + 1;
    let is_there = seasons == 0 || next as usize <= seasons;
    (is_there && !state.watched).then_some(next.into())
}

/// The rows of films to watch, of those that can be moved, of watched ones, and of series with a next season, those that can be moved
/// last; without what changes from row to row: the id of the film, its title for attributes, its poster, what is said of it and of its state,
/// and of a series the next season and the button for it.
static ROWS: EachLanguage<[Pattern<7>; 5]> = EachLanguage::new();

/// The kinds of rows: watched, movable, and with a next season.
const KINDS: [(bool, bool, bool); 5] = [
    (false, false, false),
    (false, true, false),
    (true, false, false),
    (false, false, true),
    (false, true, true),
];

/// The rows of a page.
fn rows(entries: &[Listed], films: &[Arc<DrawnFilm>], watched: bool, can_move: bool) -> String {
    let patterns = ROWS.get(|| KINDS.map(new_pattern));
    let long = films
        .iter()
        .map(|film| film.poster.len() + film.facts.len());
    let bytes = long.sum::<usize>() + entries.len() * patterns[0].bytes();
    let mut markup = String::with_capacity(bytes);
    for (entry, film) in entries.iter().zip(films) {
        let state = state(film.series, &entry.state);
        let season = next_season(film.series, &entry.state);
        let kind = (watched, can_move, season.is_some());
        let at = KINDS.iter().position(|other| *other == kind);
        let button = season.map(|season| html! { (say::list_season(season)) }.into_string());
        let season = season.map(|season| season.to_string());
        let values = [
            &film.id,
            &film.title,
            &film.poster,
            &film.facts,
            &state,
            season.as_deref().unwrap_or_default(),
            button.as_deref().unwrap_or_default(),
        ];
        patterns[at.unwrap_or_default()].add(&values, &mut markup);
    }
    markup
}

fn new_pattern((watched, can_move, has_season): (bool, bool, bool)) -> Pattern<7> {
    Pattern::new(|[id, title, poster, facts, state, season, button]| {
        let season = has_season.then_some((season, button));
        html! {
            li.film id={ "f" (id) } {
                (poster)
                div.what { (facts) (state) }
                (actions(id, title, season, watched, can_move))
            }
        }
    })
}

/// The button and the menu of a film.
fn actions(
    id: &str,
    title: &str,
    season: Option<(&str, &str)>,
    watched: bool,
    can_move: bool,
) -> Markup {
    html! {
        div.actions id={ "m" (id) } {
            @if let Some((season, button)) = season {
                button.small.sign.season formaction={ "/list/" (id) "/season/" (season) } aria-label=(say::list_mark_season(season, title).plain()) { (button) }
            } @else if !watched {
                button.small.sign formaction={ "/list/" (id) "/watched" } aria-label=(say::list_mark_watched(title).plain()) { (say::list_watched()) }
            }
            details.menu {
                summary.button.small.sign aria-label=(say::list_more_for(title).plain()) { (say::list_more()) }
                div.items {
                    a.button href={ "/films/" (id) } aria-label=(say::edit_film(title).plain()) { (say::edit()) }
                    @if can_move {
                        button id={ "t" (id) } formaction={ "/list/" (id) "/top" } aria-label=(say::list_top_film(title).plain()) { (say::list_top()) }
                        button id={ "u" (id) } formaction={ "/list/" (id) "/up" } aria-label=(say::list_up_film(title).plain()) { (say::list_up()) }
                        button id={ "d" (id) } formaction={ "/list/" (id) "/down" } aria-label=(say::list_down_film(title).plain()) { (say::list_down()) }
                    }
                    @if season.is_some() {
                        button formaction={ "/list/" (id) "/watched" } aria-label=(say::list_all_seasons_film(title).plain()) { (say::list_all_seasons()) }
                    }
                    @if watched {
                        button formaction={ "/list/" (id) "/watched" } aria-label=(say::list_again_film(title).plain()) { (say::list_again()) }
                    }
                    button formaction={ "/list/" (id) "/remove" } aria-label=(say::list_take_off_film(title).plain()) { (say::list_take_off()) }
                }
            }
        }
    }
}

/// Priority, rating and so on, in a line. `series` is the number of seasons of a series, as in [`Facts::series`](films::Facts::series).
pub fn marks(series: Option<usize>, state: &State) -> Markup {
    html! {
        p.marks {
            @if state.watched {
                span { (say::list_watched()) @if let Some(day) = &state.watched_on { " " (parts::day(day)) } (parts::times(state)) }
            } @else {
                (parts::pips(state.priority))
            }
            (parts::progress(series, state))
            @if let Some(rating) = state.rating { span.rating { (rating) " / 10" } }
            @if !state.public { span.private { (say::private()) } }
        }
    }
}

/// The notice about the last change, with an undo button.
pub fn notice(done: &str, last: Option<&Undoable>, token: &str, back: &str) -> Markup {
    let film = last.and_then(|change| change.title.as_deref());
    // A change of several films has no title.
    let films = || match film {
        Some(title) => say::quoted(title),
        None => say::some_films(),
    };
    let words = |films: Message| {
        Some(match done {
            "added" => say::done_added(films),
            "saved" => say::done_saved(films),
            "removed" => say::done_removed(films),
            "watched" => say::done_watched(films),
            "season" => say::done_season(films),
            "present" => say::done_present(),
            // The first move of a list gives places to other films too.
            "moved" if film.is_none() => say::done_moved_all(),
            "moved" => say::done_moved(films),
            "shared" => say::done_shared(),
            "unshared" => say::done_unshared(),
            "renamed" => say::done_renamed(),
            "chosen" => say::done_chosen(films),
            "undone" => say::done_undone(),
            "undone-part" => say::done_undone_part(),
            "undone-nothing" => say::done_undone_nothing(),
            "gone" => say::done_gone(),
            _ => return None,
        })
    };
    let named = film.and_then(|title| words(say::as_is(title)));
    let named = named.map(|what| say::undo_what(what).plain());
    html! {
        @if let Some(words) = words(films()) {
            div.notice role="status" {
                p { (words) }
                @if let Some(change) = last {
                    form method="post" action={ "/undo/" (change.id) } data-enhance {
                        (parts::hidden(token, back))
                        button.small aria-label=[named] { (say::undo()) }
                    }
                }
            }
        }
    }
}

/// Changes what a member says about a film, then goes back to where the form was, saying what was done.
async fn change<T>(
    member: Member,
    film: Ulid,
    Posted(sent): Posted<Sent<T>>,
    work: impl FnOnce(&Connection, i64, i64, T) -> Result<(&'static str, Option<Ulid>)> + Send + 'static,
) -> Answer
where
    T: Send + 'static,
{
    let Sent { back, form } = sent;
    let change =
        move |db: &Connection, user: &User| work(db, user.number, films::number(db, film)?, form);
    let (done, change) = member.me.write(change).await?;
    Ok(go_back(&back, done, change))
}

async fn add(member: Member, Path(film): Path<Ulid>, form: Posted<Sent<StateForm>>) -> Answer {
    change(member, film, form, |db, user, film, form| {
        // Adding an existing film again does not overwrite its entry, which may be watched.
        match entries::state(db, user, film)? {
            Some(_) => Ok(("present", None)),
            None => {
                let state = form.state(None, films::series(db, film)?);
                entries::put(db, user, film, state).map(|id| ("added", Some(id)))
            }
        }
    })
    .await
}

async fn save(member: Member, Path(film): Path<Ulid>, form: Posted<Sent<StateForm>>) -> Answer {
    change(member, film, form, |db, user, film, form| {
        let before = match &form.before {
            Some(before) => before.clone(),
            None => entries::state(db, user, film)?,
        };
        let page = form.page;
        let state = form.state(before.clone(), films::series(db, film)?);
        sync::save(db, user, film, (page, before), state).map(|id| ("saved", id))
    })
    .await
}

async fn remove(member: Member, Path(film): Path<Ulid>, form: Posted<Sent<Nothing>>) -> Answer {
    change(member, film, form, |db, user, film, Nothing {}| {
        entries::remove(db, user, film).map(|id| ("removed", Some(id)))
    })
    .await
}

/// A film that was watched today.
#[derive(Deserialize)]
struct Today {
    /// The day where the user is, from a script. Without one it is that of UTC.
    today: Option<String>,
}

impl Today {
    /// The day, if it is one anywhere.
    fn day(self) -> String {
        let now = date::now_ms().unsigned_abs();
        let near = date::day(now.saturating_sub(DAY_MS))..=date::day(now + DAY_MS);
        let day = self
            .today
            .filter(|day| date::is_day(day) && near.contains(day));
        day.unwrap_or_else(|| date::day(now))
    }
}

async fn watched(member: Member, Path(film): Path<Ulid>, form: Posted<Sent<Today>>) -> Answer {
    change(member, film, form, |db, user, film, today| {
        let state = entries::state(db, user, film)?;
        let mut state = state.ok_or(Error::NotFound("entry"))?;
        state.watched = true;
        state.earlier.extend(state.watched_on.replace(today.day()));
        entries::put(db, user, film, state).map(|id| ("watched", Some(id)))
    })
    .await
}

/// Marks the seasons of a series up to this one as watched.
async fn season(
    member: Member,
    Path((film, season)): Path<(Ulid, u32)>,
    form: Posted<Sent<Today>>,
) -> Answer {
    change(member, film, form, move |db, user, film, today| {
        let (id, is_last) = entries::watch_season(db, user, film, season, today.day())?;
        Ok((if is_last { "watched" } else { "season" }, Some(id)))
    })
    .await
}

/// Moves a film of the list.
async fn shift(
    member: Member,
    film: Ulid,
    form: Posted<Sent<Nothing>>,
    direction: Direction,
) -> Answer {
    change(member, film, form, move |db, user, film, Nothing {}| {
        entries::shift(db, user, film, direction).map(|id| ("moved", Some(id)))
    })
    .await
}

async fn up(member: Member, Path(film): Path<Ulid>, form: Posted<Sent<Nothing>>) -> Answer {
    shift(member, film, form, Direction::Up).await
}

async fn down(member: Member, Path(film): Path<Ulid>, form: Posted<Sent<Nothing>>) -> Answer {
    shift(member, film, form, Direction::Down).await
}

async fn top(member: Member, Path(film): Path<Ulid>, form: Posted<Sent<Nothing>>) -> Answer {
    shift(member, film, form, Direction::Top).await
}

/// Moves a film to the place of another, as a script sends it after dragging.
async fn to(
    member: Member,
    Path((film, other)): Path<(Ulid, Ulid)>,
    form: Posted<Sent<Nothing>>,
) -> Answer {
    change(member, film, form, move |db, user, film, Nothing {}| {
        let other = films::number(db, other)?;
        entries::take_place(db, user, film, other).map(|id| ("moved", Some(id)))
    })
    .await
}

async fn choose(member: Member, Path(film): Path<Ulid>, form: Posted<Sent<Choice>>) -> Answer {
    change(member, film, form, |db, user, film, choice| {
        Ok(("chosen", Some(choice.apply(db, user, film)?)))
    })
    .await
}

async fn undo(
    member: Member,
    Path(change): Path<Ulid>,
    Posted(Sent { back, .. }): Posted<Sent<Nothing>>,
) -> Answer {
    let done = match member.me.undo(change).await? {
        Undone { left: 0, .. } => "undone",
        Undone { films: 0, .. } => "undone-nothing",
        _ => "undone-part",
    };
    Ok(go_back(&back, done, None))
}
