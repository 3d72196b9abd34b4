//! A film, and what one says about it.

use super::{
    common::{Answer, Done},
    conflicts,
    list::notice,
};
use crate::{
    db::{
        entries::{self, State, tags::Tag},
        films::{self, Film},
        posters, sync, undo,
        users::User,
    },
    request::App,
    web::{
        layout::{self, Place},
        parts,
        visitor::Member,
    },
    words::{self, say},
};
use axum::{
    Router,
    extract::{Path, Query},
    routing::get,
};
use inorder_key::Ulid;
use maud::{Markup, html};

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
                p { a href={ (back) "/change" } { (say::film_edit()) } }
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
                h1 { bdi { (film.facts.title) } }
                @if let Some(original) = &film.facts.original { p.line { (say::film_original(original)) } }
                p.line {
                    @if let Some(year) = film.facts.year { span.year { (year) } }
                    @if let Some(minutes) = film.facts.minutes { span { (say::minutes(minutes)) } }
                    @for genre in &film.facts.genres {
                        a href={ "/films?" (serde_urlencoded::to_string([("genre", genre)]).unwrap_or_default()) } { bdi { (genre) } }
                    }
                }
            }
        }
        @if !film.facts.people.is_empty() {
            p.cast { (say::film_with(people)) }
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
    let state = state.cloned().unwrap_or_default();
    html! {
        section.card aria-labelledby="mine" {
            h2 id="mine" { @if is_there { (say::add_listed()) } @else { (say::film_put()) } }
            form method="post" action=(address("save")) data-enhance {
                (parts::hidden(token, &parts::film_address(film)))
                (parts::priority_choice(state.priority))
                label.tick {
                    input type="checkbox" name="private" checked[!state.public];
                    span { (say::film_private(html! { small { (say::film_private_hint()) } })) }
                }
                fieldset {
                    legend { (say::film_watched()) }
                    label.tick { input type="checkbox" name="watched" checked[state.watched]; span { (say::film_have_watched()) } }
                    div.row {
                        label.field {
                            span { (say::film_on()) }
                            input type="date" name="watched_on" value=[state.watched_on.as_ref()];
                        }
                        (parts::rating_choice(state.rating))
                    }
                    @if state.watched {
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

/// The field for the names of lists, which offers those that there are.
fn tags_field(chosen: &[String], all: &[Tag]) -> Markup {
    html! {
        label.field for="tags" { (say::film_lists(html! { small { (say::film_lists_private()) } })) }
        input id="tags" name="tags" dir="auto" autocomplete="off" list="all-tags" value=(chosen.join(", ")) aria-describedby="tags-hint";
        datalist id="all-tags" { @for tag in all { option value=(tag.name) {} } }
        p.hint id="tags-hint" { (say::film_lists_hint()) }
    }
}

fn friends_with(friends: &[(User, bool)]) -> Markup {
    html! {
        section aria-labelledby="friends" {
            h2 id="friends" { (say::film_friends()) }
            ul.plain {
                @for (friend, watched) in friends {
                    @let link = html! { a href={ "/people/" (friend.name) } { bdi { (friend.name) } } };
                    li { @if *watched { (say::film_friend_watched(link)) } @else { (say::film_friend_wants(link)) } }
                }
            }
        }
    }
}
