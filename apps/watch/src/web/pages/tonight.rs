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
    let wants_pick = pairs.iter().any(|(key, _)| key == "pick");
    let wanted = Wanted::of(&pairs)?;
    let (asked, app) = (wanted.clone(), me.app.clone());
    let look = me.read_long(move |db, user| {
        let chosen = friends::named(db, user.number, &with(pairs))?;
        let candidates = match chosen.is_empty() {
            true => Candidates::default(),
            false => tonight::candidates(db, user, &chosen, &asked)?,
        };
        let all = friends::all(db, user.number)?;
        Ok((all, chosen, candidates, app.genres(db)?))
    });
    let (all, chosen, candidates, genres) = look.await?;
    let pick = wants_pick.then(|| tonight::pick(&candidates.all)).flatten();
    let body = html! {
        h1 { "What could we watch tonight?" }
        @if all.is_empty() {
            div.empty {
                p { "This finds the films that you and your friends all want to watch." }
                p.buttons { a.button.primary href="/friends" { "Find or invite a friend" } }
            }
        } @else {
            (who(&all, &chosen, &wanted, &genres))
        }
        @if let Some(pick) = pick { (picked(pick, &chosen, &wanted)) }
        @if !chosen.is_empty() { (result(&candidates, &me.user, &chosen)) }
    };
    Ok(layout::Page::new("Tonight")
        .of(&me)
        .at(Place::Tonight)
        .show(body))
}

/// The form to say who watches, and what.
fn who(all: &[User], chosen: &[User], wanted: &Wanted, genres: &[String]) -> Markup {
    let is_chosen = |friend: &User| chosen.iter().any(|other| other.number == friend.number);
    let times = MINUTES_CHOICES.map(|minutes| (minutes, format!("up to {minutes} min")));
    html! {
        form.who action="/tonight" data-enhance {
            fieldset {
                legend { "You and" }
                div.ticks {
                    @for friend in all {
                        label.tick {
                            input type="checkbox" name="with" value=(friend.name) checked[is_chosen(friend)];
                            span { bdi { (friend.name) } }
                        }
                    }
                }
            }
            div.row {
                (parts::genre_choice(genres, wanted.genre.as_ref()))
                (parts::choice("minutes", "Running time", "Any", times, wanted.minutes_max.as_ref()))
            }
            p.buttons {
                button id="look" { "Show the films" }
                button.primary id="pick" name="pick" value="1" { "Pick one for us" }
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
                h2 id="picked" { "Tonight" }
                p.film-name { (parts::title(&pick.film)) }
                p.line { (parts::line(&pick.film)) }
                form action="/tonight" data-enhance {
                    @for friend in chosen { input type="hidden" name="with" value=(friend.name); }
                    @if let Some(genre) = &wanted.genre { input type="hidden" name="genre" value=(genre); }
                    @if let Some(minutes) = wanted.minutes_max { input type="hidden" name="minutes" value=(minutes); }
                    button id="again" name="pick" value="1" { "Pick again" }
                }
            }
        }
    }
}

fn result(candidates: &Candidates, user: &User, chosen: &[User]) -> Markup {
    let people: Vec<&User> = std::iter::once(user).chain(chosen).collect();
    html! {
        section aria-labelledby="all" {
            h2 id="all" { "On all your lists" }
            @if candidates.all.is_empty() {
                div.empty { p { "No film is on all of your lists. Add a film from a friend’s list to yours, or choose fewer people." } }
            } @else {
                p {
                    "Ranked by the sum of your priorities. The pick is a lottery in which each of you has equal influence."
                }
                (table(&candidates.all, &people, true))
            }
        }
        @if !candidates.nearly.is_empty() {
            section aria-labelledby="nearly" {
                h2 id="nearly" { "Missing on one list" }
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
                    th scope="col" { "Film" }
                    @for person in people { th scope="col" { bdi { (person.name) } } }
                    @if has_chance { th.number scope="col" { "Chance" } }
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
                                    0 => "not on the list",
                                    priority => (parts::pips(*priority)),
                                }
                            }
                        }
                        @if has_chance {
                            td.number { span.name aria-hidden="true" { "Chance" } (format!("{:.0}%", candidate.chance * 100.0)) }
                        }
                    }
                }
            }
        }
        @if candidates.len() > FILMS_MAX {
            p { "And " (candidates.len() - FILMS_MAX) " more." }
        }
    }
}
