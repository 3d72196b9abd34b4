//! A film, and what one says about it.

use super::{
    common::{Answer, Done},
    conflicts,
    list::notice,
};
use crate::{
    db::{
        entries::{self, State, tags::Tag},
        films::{self, Facts, Film, FriendWith},
        posters, sync, undo,
    },
    request::App,
    web::{
        layout::{self, Place},
        parts,
        visitor::Member,
    },
    words::{self, Arg, Message, say},
};
use axum::{
    Router,
    extract::{Path, Query},
    routing::get,
};
use inorder_key::Ulid;
use maud::{Markup, html};
use serde_json::json;

pub fn router() -> Router<App> {
    Router::new().route("/films/{film}", get(show))
}

async fn show(
    Member { me, secret }: Member,
    Path(id): Path<Ulid>,
    Query(Done { done, change }): Query<Done>,
) -> Answer<Markup> {
    let (film, synopsis, state, tags, friends, may_change, last, to_choose) =
        me.read(|db, user| {
            let film = films::by_id(db, id)?;
            let synopsis = posters::synopsis(db, film.number, words::current())?;
            let state = entries::state(db, user.number, film.number)?;
            let tags = entries::tags::all(db, user.number)?;
            let friends = films::friends_with(db, film.number, user.number)?;
            let may_change = films::may_change(db, film.number, user)?;
            let last = undo::recent(db, user.number, change)?;
            let to_choose = sync::conflicts(db, user.number, film.number)?;
            Ok((
                film, synopsis, state, tags, friends, may_change, last, to_choose,
            ))
        })?;
    me.app.want_posters([&film]);
    let token = secret.form_token();
    let back = parts::film_address(&film);
    let body = html! {
        (notice(&done, last.as_ref(), &token, &back))
        article {
            (heading(&film))
            (from_tmdb(&film, synopsis.as_deref()))
            @if may_change {
                p { a href={ (back) "/change" } { (say::film_edit(Arg::key(film.facts.kind.name()))) } }
            }
            (conflicts::section(&film, &to_choose, &token))
            (mine(&film, state.as_ref(), &tags, &token))
            @if !friends.is_empty() { (friends_with(&friends)) }
        }
    };
    Ok(layout::Page::new(say::page_of(&film.facts.title))
        .of(&me)
        .at(Place::Films)
        .show(body))
}

fn heading(film: &Film) -> Markup {
    let people = html! {
        @for (i, name) in film.facts.people.iter().enumerate() {
            @if i > 0 { ", " }
            a href={ "/films?" (serde_urlencoded::to_string([("q", name)]).unwrap_or_default()) } { bdi { (name) } }
        }
    };
    html! {
        div.heading {
            span.large { (parts::poster(film)) }
            div {
                h1 data-seasons=[film.facts.series()] { bdi { (film.facts.title) } }
                @if let Some(original) = &film.facts.original { p.line { (say::film_original(original)) } }
                p.line {
                    (parts::series(&film.facts))
                    @if film.facts.year.is_some() { span.year { (parts::years(&film.facts)) } }
                    @if let Some(minutes) = film.facts.minutes { span { (say::minutes(minutes)) } }
                    @for genre in &film.facts.genres {
                        a href={ "/films?" (serde_urlencoded::to_string([("genre", genre)]).unwrap_or_default()) } { bdi { (genre) } }
                    }
                }
            }
        }
        (episodes(&film.facts))
        @if !film.facts.people.is_empty() {
            p.cast { (say::film_with(people)) }
        }
    }
}

/// The numbers of episodes of each season, where they are known.
fn episodes(facts: &Facts) -> Markup {
    let known = facts.seasons.iter().zip(1_i64..);
    let known: Vec<(u32, i64)> = known
        .filter(|(episodes, _)| **episodes > 0)
        .map(|(episodes, season)| (*episodes, season))
        .collect();
    html! {
        @if !known.is_empty() {
            p.line.episodes { @for (episodes, season) in known { span { (say::season_episodes(season, episodes)) } } }
        }
    }
}

/// What TMDB says of a film, with the words that its terms ask for.
fn from_tmdb(film: &Film, synopsis: Option<&str>) -> Markup {
    html! {
        @if let Some(synopsis) = synopsis { p.synopsis { bdi { (synopsis) } } }
        @if synopsis.is_some() || film.poster_ms.is_some() {
            p.hint { (say::film_tmdb()) }
        }
    }
}

/// The form with what one says about it.
fn mine(film: &Film, state: Option<&State>, tags: &[Tag], token: &str) -> Markup {
    let address = |verb: &str| format!("/list/{}/{verb}", film.id);
    let is_there = state.is_some();
    let before = json!(state);
    let state = state.cloned().unwrap_or_default();
    html! {
        section.card aria-labelledby="mine" {
            h2 id="mine" { @if is_there { (say::add_listed()) } @else { (say::film_put()) } }
            form method="post" action=(address("save")) data-enhance {
                (parts::hidden(token, &parts::film_address(film)))
                input type="hidden" name="before" value=(before);
                input type="hidden" name="page" value=(Ulid::now());
                (parts::priority_choice(state.priority))
                label.tick {
                    input type="checkbox" name="private" checked[!state.public];
                    span { (say::film_private(html! { small { (say::film_private_hint()) } })) }
                }
                fieldset {
                    legend { (say::film_watched()) }
                    (how_far(&film.facts, &state))
                    div.row {
                        label.field {
                            span { @if film.facts.series().is_some() { (say::film_finished_on()) } @else { (say::film_on()) } }
                            input type="date" name="watched_on" value=[state.watched_on.as_ref()];
                        }
                        (parts::rating_choice(state.rating))
                    }
                    @if state.watched || !state.earlier.is_empty() {
                        label.field for="earlier" { (say::film_earlier()) }
                        input id="earlier" name="earlier" autocomplete="off" value=(state.earlier.join(", ")) aria-describedby="earlier-hint";
                        p.hint id="earlier-hint" { (say::film_earlier_hint()) }
                    }
                }
                (tags_field(&state.tags, tags))
                label.field for="note" { (say::film_note(html! { small { (say::film_note_private()) } })) }
                textarea id="note" name="note" dir="auto" rows="3" maxlength=(entries::NOTE_CHARACTERS_MAX) { (state.note.unwrap_or_default()) }
                p.buttons {
                    button.primary { @if is_there { (say::save()) } @else { (say::film_add()) } }
                    @if is_there { button formaction=(address("remove")) formnovalidate { (say::list_take_off()) } }
                }
            }
        }
    }
}

/// The fields that say whether a film was watched, and how many seasons of a series.
fn how_far(facts: &Facts, state: &State) -> Markup {
    let box_of = |words: Message| {
        html! {
            label.tick { input type="checkbox" name="watched" checked[state.watched]; span { (words) } }
        }
    };
    let begun = state.seasons_watched;
    match facts.series() {
        None => box_of(say::film_have_watched()),
        Some(0) => html! {
            (box_of(say::film_have_watched_series()))
            label.field {
                span { (say::film_seasons_watched()) }
                input type="number" name="seasons_watched" value=(begun) min="0" max=(films::SEASONS_MAX);
            }
        },
        Some(seasons) => {
            let name = |season: usize| match season {
                0 => say::none(),
                season if season == seasons => say::film_seasons_all(seasons),
                season => say::film_seasons_up_to(season),
            };
            let choices = (0..=seasons).map(|season| (season, name(season)));
            let chosen = if state.watched {
                seasons
            } else {
                (begun as usize).min(seasons)
            };
            let label = say::film_seasons_watched();
            parts::choice("seasons_watched", label, None, choices, Some(&chosen))
        }
    }
}

/// The field for the names of lists, which offers those that there are.
fn tags_field(chosen: &[String], all: &[Tag]) -> Markup {
    html! {
        label.field for="tags" { (say::film_lists(html! { small { (say::film_lists_private()) } })) }
        input id="tags" name="tags" dir="auto" autocomplete="off" list="all-tags" value=(chosen.join(", ")) aria-describedby="tags-hint";
        datalist id="all-tags" { @for tag in all { option value=(tag.name) {} } }
        p.hint id="tags-hint" { (say::film_lists_hint()) }
    }
}

fn friends_with(friends: &[FriendWith]) -> Markup {
    html! {
        section aria-labelledby="friends" {
            h2 id="friends" { (say::film_friends()) }
            ul.plain {
                @for FriendWith { friend, watched, seasons_watched } in friends {
                    @let link = html! { a href=(parts::person_address(&friend.name)) { bdi { (friend.name) } } };
                    li {
                        @if *watched { (say::film_friend_watched(link)) }
                        @else if *seasons_watched > 0 { (say::film_friend_seasons(link, *seasons_watched)) }
                        @else { (say::film_friend_wants(link)) }
                    }
                }
            }
        }
    }
}
