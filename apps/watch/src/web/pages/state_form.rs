//! The form of an entry on a list.

use crate::{
    db::entries::{PRIORITY, State},
    web::form,
};
use serde::Deserialize;

/// The form of an entry on a list.
#[derive(Deserialize)]
pub struct StateForm {
    #[serde(default, deserialize_with = "form::optional")]
    priority: Option<i64>,
    #[serde(default, deserialize_with = "form::ticked")]
    private: bool,
    #[serde(default, deserialize_with = "form::ticked")]
    watched: bool,
    #[serde(default, deserialize_with = "form::optional")]
    watched_on: Option<String>,
    #[serde(default, deserialize_with = "form::optional")]
    rating: Option<i64>,
    #[serde(default)]
    note: String,
}

impl StateForm {
    /// Parses the form.
    pub fn state(self) -> State {
        State {
            priority: self.priority.unwrap_or(PRIORITY),
            public: !self.private,
            // A day or a rating says as much as the box.
            watched: self.watched || self.watched_on.is_some() || self.rating.is_some(),
            watched_on: self.watched_on,
            rating: self.rating,
            note: Some(self.note),
        }
    }
}
