//! What friends could watch together.

use super::Answer;
use crate::{
    db::{
        friends,
        tonight::{self, Candidate},
        users::User,
    },
    web::{
        App,
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

/// Films that are shown; the pick is among all.
const FILMS_MAX: usize = 100;

pub fn router() -> Router<App> {
    Router::new().route("/tonight", get(show))
}

async fn show(
    Shared(app): Shared<App>,
    member: Member,
    Query(pairs): Query<Vec<(String, String)>>,
) -> Answer<Response> {
    let wants_pick = pairs.iter().any(|(key, _)| key == "pick");
    let names = pairs
        .into_iter()
        .filter(|(key, _)| key == "with")
        .map(|(_, name)| name);
    let names: Vec<String> = names.collect();
    let user = member.user.clone();
    let (all, chosen, candidates) = app
        .db()
        .read(move |db| {
            let all = friends::all(db, user.number)?;
            let chosen = friends::named(db, user.number, &names)?;
            let mut people = vec![&user];
            people.extend(&chosen);
            let candidates = match chosen.is_empty() {
                true => Vec::new(),
                false => tonight::candidates(db, &people)?,
            };
            Ok((all, chosen, candidates))
        })
        .await?;
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
        @if !chosen.is_empty() { (result(&candidates, &member.user, &chosen)) }
    };
    let page = layout::Page::new("Tonight")
        .of(&member.user)
        .at(Place::Tonight);
    Ok(page.show(body).into_response())
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
                            span { (friend.name) }
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
                p.empty { "No film is on everybody’s list. Add something from a friend’s list to yours, or leave somebody out." }
            } @else {
                p {
                    "Ranked by everybody’s priorities. The pick is fair: each of you has the same say, spread over these films by your own priorities."
                }
                div.scroll tabindex="0" role="group" aria-label="Table" {
                    table {
                        thead {
                            tr {
                                th scope="col" { "Film" }
                                th scope="col" { (user.name) }
                                @for friend in chosen { th scope="col" { (friend.name) } }
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
