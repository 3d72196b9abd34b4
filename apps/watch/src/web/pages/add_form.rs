//! The action for a film on a page of films: add it to one's list, or edit it there.

use crate::{
    db::{
        entries::{self, State},
        films::Film,
    },
    web::parts,
    words::say,
};
use maud::{Markup, html};

/// The action for a film, given its state on the user's list. The form returns to the address `back`.
pub fn actions(film: &Film, state: Option<&State>, token: &str, back: &str) -> Markup {
    let title = &film.facts.title;
    html! {
        @if let Some(state) = state {
            div.actions {
                span.there { @if state.watched { (say::add_watched()) } @else { (say::add_listed()) } }
                a.button.small href=(parts::film_address(film)) aria-label=(say::edit_film(title).plain()) { (say::edit()) }
            }
        } @else {
            form.actions method="post" action={ "/list/" (film.id) "/add" } data-enhance {
                (parts::hidden(token, back))
                select name="priority" aria-label=(say::add_priority(title).plain()) {
                    @for priority in entries::PRIORITIES.rev() {
                        option value=(priority) selected[priority == entries::PRIORITY] { (say::priority_choice(priority, parts::priority_name(priority))) }
                    }
                }
                button.primary.small id={ "a" (film.id) } aria-label=(say::add_film(title).plain()) { (say::add()) }
            }
        }
    }
}
