//! Picks a film that several friends want to watch.

use super::common::Answer;
use crate::{
    db::{
        friends,
        tonight::{self, Candidate, Candidates},
        users::User,
    },
    request::{App, Wanted, with},
    web::{
        layout::{self, Place},
        parts,
        visitor::Member,
    },
    words::say,
};
use axum::{Router, extract::Query, routing::get};
use maud::{Markup, html};

/// Films that are shown; the pick is among all.
const FILMS_MAX: usize = 100;

/// The running times to choose from, in minutes.
const MINUTES_CHOICES: [i64; 4] = [90, 105, 120, 150];

pub fn router() -> Router<App> {
    Router::new().route("/tonight", get(show))
}

async fn show(
    Member { me, .. }: Member,
    Query(pairs): Query<Vec<(String, String)>>,
) -> Answer<Markup> {
    // The form was sent: without a friend it is about the user's own list.
    let is_asked = !pairs.is_empty();
    let wants_pick = pairs.iter().any(|(key, _)| key == "pick");
    let wanted = Wanted::of(&pairs)?;
    let (asked, app) = (wanted.clone(), me.app.clone());
    let look = me.read_long(move |db, user| {
        let chosen = friends::named(db, user.number, &with(pairs))?;
        let candidates = match is_asked {
            false => Candidates::default(),
            true => tonight::candidates(db, user, &chosen, &asked)?,
        };
        let all = friends::all(db, user.number)?;
        Ok((all, chosen, candidates, app.genres(db)?))
    });
    let (all, chosen, candidates, genres) = look.await?;
    let pick = wants_pick.then(|| tonight::pick(&candidates.all)).flatten();
    let body = html! {
        h1 { (say::tonight_question()) }
        (who(&all, &chosen, &wanted, &genres))
        @if let Some(pick) = pick { (picked(pick, &chosen, &wanted)) }
        @if is_asked { (result(&candidates, &me.user, &chosen)) }
        @if all.is_empty() {
            div.empty {
                p { (say::tonight_hint()) }
                p.buttons { a.button href="/friends" { (say::tonight_find_friend()) } }
            }
        }
    };
    Ok(layout::Page::new(say::tonight())
        .of(&me)
        .at(Place::Tonight)
        .show(body))
}

/// The form to say who watches, and what.
fn who(all: &[User], chosen: &[User], wanted: &Wanted, genres: &[String]) -> Markup {
    let is_chosen = |friend: &User| chosen.iter().any(|other| other.number == friend.number);
    let times = MINUTES_CHOICES.map(|minutes| (minutes, say::tonight_minutes_max(minutes)));
    html! {
        form.who action="/tonight" data-enhance {
            @if !all.is_empty() {
                fieldset {
                    legend { (say::tonight_you_and()) }
                    div.ticks {
                        @for friend in all {
                            label.tick {
                                input type="checkbox" name="with" value=(friend.name) checked[is_chosen(friend)];
                                span { bdi { (friend.name) } }
                            }
                        }
                    }
                }
            }
            div.row {
                (parts::kind_choice(wanted.kind))
                (parts::genre_choice(genres, wanted.genre.as_ref()))
                (parts::choice("minutes", say::tonight_minutes(), Some(say::any()), times, wanted.minutes_max.as_ref()))
            }
            p.buttons {
                button id="look" { (say::tonight_show()) }
                button.primary id="pick" name="pick" value="1" { (say::tonight_pick()) }
            }
        }
    }
}

/// The picked film, with a button to pick another.
fn picked(pick: &Candidate, chosen: &[User], wanted: &Wanted) -> Markup {
    html! {
        section.pick aria-labelledby="picked" role="status" {
            span.large { (parts::poster(&pick.film)) }
            div {
                h2 id="picked" { (say::tonight()) }
                p.film-name { (parts::title(&pick.film)) }
                p.line { (parts::line(&pick.film)) }
                form action="/tonight" data-enhance {
                    @for friend in chosen { input type="hidden" name="with" value=(friend.name); }
                    @if let Some(kind) = wanted.kind { input type="hidden" name="kind" value=(kind.name()); }
                    @if let Some(genre) = &wanted.genre { input type="hidden" name="genre" value=(genre); }
                    @if let Some(minutes) = wanted.minutes_max { input type="hidden" name="minutes" value=(minutes); }
                    button id="again" name="pick" value="1" { (say::tonight_again()) }
                }
            }
        }
    }
}

fn result(candidates: &Candidates, user: &User, chosen: &[User]) -> Markup {
    let people: Vec<&User> = std::iter::once(user).chain(chosen).collect();
    let (all, none, rank) = match chosen.is_empty() {
        true => (
            say::tonight_own(),
            say::tonight_own_none(),
            say::tonight_own_rank(),
        ),
        false => (say::tonight_all(), say::tonight_none(), say::tonight_rank()),
    };
    html! {
        section aria-labelledby="all" {
            h2 id="all" { (all) }
            @if candidates.all.is_empty() {
                div.empty { p { (none) } }
            } @else {
                p { (rank) }
                (table(&candidates.all, &people, true))
            }
        }
        @if !candidates.nearly.is_empty() {
            section aria-labelledby="nearly" {
                h2 id="nearly" { (say::tonight_nearly()) }
                (table(&candidates.nearly, &people, false))
            }
        }
    }
}

/// A table of films with the priority of each person. On a phone each row is a block.
fn table(candidates: &[Candidate], people: &[&User], has_chance: bool) -> Markup {
    html! {
        table.tonight {
            thead {
                tr {
                    th scope="col" { (say::tonight_film()) }
                    @for person in people { th scope="col" { bdi { (person.name) } } }
                    @if has_chance { th.number scope="col" { (say::tonight_chance()) } }
                }
            }
            tbody {
                @for candidate in candidates.iter().take(FILMS_MAX) {
                    tr {
                        th scope="row" { (parts::title(&candidate.film)) }
                        @for (priority, person) in candidate.priorities.iter().zip(people) {
                            td {
                                span.name aria-hidden="true" { bdi { (person.name) } }
                                @match priority {
                                    0 => (say::tonight_not_listed()),
                                    priority => (parts::pips(*priority)),
                                }
                            }
                        }
                        @if has_chance {
                            td.number { span.name aria-hidden="true" { (say::tonight_chance()) } (say::tonight_percent((candidate.chance * 100.0).round() as i64)) }
                        }
                    }
                }
            }
        }
        @if candidates.len() > FILMS_MAX {
            p { (say::and_more(candidates.len() - FILMS_MAX)) }
        }
    }
}
