//! Picks a film that several friends want to watch.

use super::common::Answer;
use crate::{
    db::{
        friends,
        tonight::{self, Candidate},
        users::User,
    },
    request::{App, with},
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

pub fn router() -> Router<App> {
    Router::new().route("/tonight", get(show))
}

async fn show(
    Member { me, .. }: Member,
    Query(pairs): Query<Vec<(String, String)>>,
) -> Answer<Markup> {
    let wants_pick = pairs.iter().any(|(key, _)| key == "pick");
    let look = me.read_long(move |db, user| {
        let chosen = friends::named(db, user.number, &with(pairs))?;
        let candidates = match chosen.is_empty() {
            true => Vec::new(),
            false => tonight::candidates(db, user, &chosen)?,
        };
        Ok((friends::all(db, user.number)?, chosen, candidates))
    });
    let (all, chosen, candidates) = look.await?;
    let pick = wants_pick.then(|| tonight::pick(&candidates)).flatten();
    let body = html! {
        h1 { "What could we watch tonight?" }
        @if all.is_empty() {
            div.empty {
                p { "This finds the films that you and your friends all want to watch." }
                p { a href="/friends" { "Find or invite a friend" } " first." }
            }
        } @else {
            (who(&all, &chosen))
        }
        @if let Some(pick) = pick { (picked(pick)) }
        @if !chosen.is_empty() { (result(&candidates, &me.user, &chosen)) }
    };
    Ok(layout::Page::new("Tonight")
        .of(&me.user)
        .at(Place::Tonight)
        .show(body))
}

/// The form to say who watches.
fn who(all: &[User], chosen: &[User]) -> Markup {
    let is_chosen = |friend: &User| chosen.iter().any(|other| other.number == friend.number);
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
            p.buttons {
                button id="look" { "Show the films" }
                button.primary id="pick" name="pick" value="1" { "Pick one for us" }
            }
        }
    }
}

fn picked(pick: &Candidate) -> Markup {
    html! {
        section.pick aria-labelledby="picked" role="status" {
            h2 id="picked" { "Tonight" }
            p.film-name { (parts::title(&pick.film)) }
            p.line { (parts::line(&pick.film)) }
        }
    }
}

fn result(candidates: &[Candidate], user: &User, chosen: &[User]) -> Markup {
    html! {
        section aria-labelledby="all" {
            h2 id="all" { "On all your lists" }
            @if candidates.is_empty() {
                p.empty { "No film is on all of your lists. Add a film from a friend’s list to yours, or choose fewer people." }
            } @else {
                p {
                    "Ranked by the sum of your priorities. The pick is a lottery in which each of you has equal influence."
                }
                div.scroll tabindex="0" role="group" aria-label="Table" {
                    table {
                        thead {
                            tr {
                                th scope="col" { "Film" }
                                th scope="col" { bdi { (user.name) } }
                                @for friend in chosen { th scope="col" { bdi { (friend.name) } } }
                                th.number scope="col" { "Chance" }
                            }
                        }
                        tbody { @for candidate in candidates.iter().take(FILMS_MAX) { (row(candidate)) } }
                    }
                }
                @if candidates.len() > FILMS_MAX {
                    p { "And " (candidates.len() - FILMS_MAX) " more." }
                }
            }
        }
    }
}

fn row(candidate: &Candidate) -> Markup {
    html! {
        tr {
            th scope="row" { (parts::title(&candidate.film)) }
            @for &priority in &candidate.priorities { td { (parts::pips(priority)) } }
            td.number { (format!("{:.0}%", candidate.chance * 100.0)) }
        }
    }
}
