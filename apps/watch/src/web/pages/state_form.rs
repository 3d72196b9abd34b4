//! The form of an entry on a list.

use crate::{
    db::entries::{PRIORITY, State, tags},
    web::form,
};
use inorder_key::Ulid;
use serde::Deserialize;

/// The form of an entry on a list.
#[derive(Deserialize)]
pub struct StateForm {
    /// The state that the form was made from: `Some(None)` if the film was not on the list, `None` if the form does not say.
    #[serde(default, deserialize_with = "form::json")]
    pub before: Option<Option<State>>,
    /// The id of the page that has the form.
    #[serde(default, deserialize_with = "form::optional")]
    pub page: Option<Ulid>,
    #[serde(default, deserialize_with = "form::optional")]
    priority: Option<i64>,
    #[serde(default, deserialize_with = "form::ticked")]
    private: bool,
    #[serde(default, deserialize_with = "form::ticked")]
    watched: bool,
    #[serde(default, deserialize_with = "form::optional")]
    watched_on: Option<String>,
    /// Earlier days, with commas between them. A form without the field changes none.
    earlier: Option<String>,
    /// How many seasons of a series were watched. A form without the field changes none.
    #[serde(default, deserialize_with = "form::optional")]
    seasons_watched: Option<u32>,
    #[serde(default, deserialize_with = "form::optional")]
    rating: Option<i64>,
    #[serde(default)]
    note: String,
    /// The names of lists, with commas between them. A form without the field changes none.
    tags: Option<String>,
}

impl StateForm {
    /// Parses the form of an entry that was on the list before, or not. `series` is the number of seasons of a series.
    pub fn state(self, before: Option<State>, series: Option<usize>) -> State {
        let before = before.unwrap_or_default();
        let has_said = self.watched || self.watched_on.is_some() || self.rating.is_some();
        // Where the seasons are known, the number of those that were watched says all.
        let watched = match (series, self.seasons_watched) {
            (Some(seasons), Some(_)) if seasons > 0 => false,
            (Some(_), Some(begun)) if begun > 0 => self.watched,
            _ => has_said,
        };
        State {
            priority: self.priority.unwrap_or(PRIORITY),
            public: !self.private,
            // A day or a rating says as much as the box.
            watched,
            watched_on: self.watched_on,
            earlier: self
                .earlier
                .map_or(before.earlier, |text| tags::split(&text)),
            seasons_watched: self.seasons_watched.unwrap_or(before.seasons_watched),
            rating: self.rating,
            note: Some(self.note),
            tags: self.tags.map_or(before.tags, |text| tags::split(&text)),
        }
    }
}
