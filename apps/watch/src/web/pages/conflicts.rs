//! Values that two devices wrote without knowing of each other, for the user to choose.

use crate::{
    Result,
    db::{
        films,
        sync::{self, Conflict, Field, Watched},
    },
    web::{form::ticked, parts},
    words::say,
};
use inorder_key::Ulid;
use maud::{Markup, html};
use rusqlite::Connection;
use serde::Deserialize;
use serde_json::Value;

/// What was chosen: the other value, or the one that is shown.
#[derive(Deserialize)]
pub struct Choice {
    field: Field,
    version: Ulid,
    #[serde(default, deserialize_with = "ticked")]
    other: bool,
}

impl Choice {
    /// Does what was chosen. Returns the change, for undo.
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound) if it was chosen before.
    pub fn apply(self, db: &Connection, user: i64, film: i64) -> Result<Ulid> {
        sync::resolve(db, user, film, (self.field, self.version), self.other)
    }
}

/// The films of a list about which something is to be chosen.
pub fn notice(films: &[(Ulid, String)]) -> Markup {
    let links = html! {
        @for (i, (film, title)) in films.iter().enumerate() {
            @if i > 0 { ", " }
            a href={ "/films/" (film) } { bdi { (title) } }
        }
    };
    html! {
        @if !films.is_empty() {
            div.notice {
                p { (say::conflict_notice(links)) }
            }
        }
    }
}

/// What is to be chosen about a film.
pub fn section(film: &films::Film, conflicts: &[Conflict], token: &str) -> Markup {
    let back = parts::film_address(film);
    let title = &film.facts.title;
    html! {
        @if !conflicts.is_empty() {
            section.card aria-labelledby="choose" {
                h2 id="choose" { (say::conflict()) }
                @for conflict in conflicts {
                    form method="post" action={ "/list/" (film.id) "/choose" } data-enhance {
                        (parts::hidden(token, &back))
                        input type="hidden" name="field" value=(conflict.field.name());
                        input type="hidden" name="version" value=(conflict.version);
                        p { (say::conflict_here(words(conflict.field, &conflict.shown))) }
                        p { (say::conflict_there(words(conflict.field, &conflict.other))) }
                        p.buttons {
                            button aria-label=(say::conflict_keep_film(title).plain()) { (say::conflict_keep()) }
                            button name="other" value="1" aria-label=(say::conflict_other_film(title).plain()) { (say::conflict_other()) }
                        }
                    }
                }
            }
        }
    }
}

/// A value in words.
fn words(field: Field, value: &Value) -> Markup {
    let seen = Watched::deserialize(value).unwrap_or_default();
    html! {
        @match field {
            Field::Listed if value == true => (say::conflict_listed()),
            Field::Listed => (say::conflict_unlisted()),
            Field::Priority => {
                @let priority = value.as_i64().unwrap_or_default();
                (say::conflict_priority(priority, parts::priority_name(priority)))
            }
            Field::Public if value == true => (say::conflict_public()),
            Field::Public => (say::conflict_private()),
            Field::Watched if seen.watched => {
                (say::conflict_watched())
                @for day in seen.earlier.iter().chain(&seen.watched_on) { " " (parts::day(day)) }
                @if let Some(rating) = seen.rating { ", " (rating) " / 10" }
            }
            Field::Watched if seen.seasons_watched > 0 => {
                (say::season_progress_open(seen.seasons_watched))
                @if let Some(rating) = seen.rating { ", " (rating) " / 10" }
            }
            Field::Watched => (say::conflict_unwatched()),
            Field::Note => @match value.as_str() {
                Some(note) => bdi.note { (note) },
                None => (say::conflict_no_note()),
            },
            Field::Place => (say::conflict_place()),
            Field::Tags => {
                @let names: Vec<String> = Vec::deserialize(value).unwrap_or_default();
                @if names.is_empty() { (say::conflict_no_tags()) } @else { (say::conflict_tags(parts::names(&names))) }
            }
        }
    }
}
