//! Operations, as devices send them.

use super::merge::Field;
use crate::{
    Error, Result,
    db::entries::{PRIORITY, State},
    words::{Arg, say},
};
use inorder_key::Ulid;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The limit of a place. The order of a list is exact below it.
const PLACE_MAX: f64 = 1e13;

/// A change of one film, made on a device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operation {
    /// The id, which the device makes.
    pub id: Ulid,
    /// The film.
    pub film: Ulid,
    /// The new values of fields.
    pub set: BTreeMap<Field, Value>,
    /// The versions that the device knew of these fields, and replaces.
    #[serde(default)]
    pub base: BTreeMap<Field, Vec<Ulid>>,
}

/// The value of [`Field::Watched`].
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Watched {
    /// Whether the film was watched.
    pub watched: bool,
    /// The day.
    pub watched_on: Option<String>,
    /// Earlier days.
    pub earlier: Vec<String>,
    /// How many seasons of a series were watched.
    pub seasons_watched: u32,
    /// The rating.
    pub rating: Option<i64>,
}

impl Operation {
    /// Validates the operation on a film or a series, as for [`State::checked`], and normalises its values.
    ///
    /// # Errors
    /// [`Error::Invalid`], with the reason.
    pub fn checked(mut self, series: Option<usize>) -> Result<Self> {
        if self.id == Ulid::NIL {
            return Err(Error::Invalid(say::operation_no_id()));
        }
        if self.set.is_empty() {
            return Err(Error::Invalid(say::operation_empty()));
        }
        for (field, value) in &mut self.set {
            *value = checked(*field, value.take(), series)?;
        }
        let removes = self.set.get(&Field::Listed).is_some_and(|on| on == false);
        if removes && self.set.len() > 1 {
            return Err(Error::Invalid(say::operation_removal()));
        }
        // A device that takes the film off without knowing of this change does not end it.
        if self.set.keys().any(|field| *field != Field::Place) {
            self.set.entry(Field::Listed).or_insert(Value::Bool(true));
        }
        Ok(self)
    }

    /// The versions that the operation replaces in a field.
    pub fn base(&self, field: Field) -> &[Ulid] {
        self.base.get(&field).map_or(&[], Vec::as_slice)
    }
}

/// Validates the value of a field. Equal values become equal JSON.
pub fn checked(field: Field, value: Value, series: Option<usize>) -> Result<Value> {
    let refused = || Error::Invalid(say::operation_value(Arg::key(field.name())));
    let state = State::default();
    match field {
        Field::Listed | Field::Public => match value {
            Value::Bool(_) => Ok(value),
            _ => Err(refused()),
        },
        Field::Priority => {
            let priority = value.as_i64().ok_or_else(refused)?;
            Ok(State { priority, ..state }.checked(series)?.priority.into())
        }
        Field::Note => {
            let note = Option::deserialize(value).map_err(|_| refused())?;
            Ok(State { note, ..state }.checked(series)?.note.into())
        }
        Field::Watched => {
            // Serde would take an array too, as the values of the fields in their order.
            let value = Some(value).filter(Value::is_object).ok_or_else(refused)?;
            let said = Watched::deserialize(value).map_err(|_| refused())?;
            let state = State {
                watched: said.watched,
                watched_on: said.watched_on,
                earlier: said.earlier,
                seasons_watched: said.seasons_watched,
                rating: said.rating,
                ..state
            };
            Ok(watched(&state.checked(series)?))
        }
        Field::Tags => {
            let tags = Vec::deserialize(value).map_err(|_| refused())?;
            Ok(State { tags, ..state }.checked(series)?.tags.into())
        }
        Field::Place => match value.as_f64() {
            Some(place) if place.abs() < PLACE_MAX => Ok(place.into()),
            None if value.is_null() => Ok(value),
            _ => Err(refused()),
        },
    }
}

/// What a state says of [`Field::Watched`].
fn watched(state: &State) -> Value {
    json!(Watched {
        watched: state.watched,
        watched_on: state.watched_on.clone(),
        earlier: state.earlier.clone(),
        seasons_watched: state.seasons_watched,
        rating: state.rating,
    })
}

/// What a state says of the fields that a form has.
pub fn fields_of(state: &State) -> BTreeMap<Field, Value> {
    BTreeMap::from([
        (Field::Priority, state.priority.into()),
        (Field::Public, state.public.into()),
        (Field::Watched, watched(state)),
        (Field::Note, state.note.clone().into()),
        (Field::Tags, state.tags.clone().into()),
    ])
}

/// The columns of a field that a form has, as positions in [`COLUMNS`](crate::db::undo). That a film is on the list is in all of them.
pub fn columns_of(field: Field) -> &'static [usize] {
    match field {
        Field::Priority | Field::Listed => &[0],
        Field::Public => &[1],
        Field::Watched => &[2, 5, 6, 9, 10],
        Field::Place => &[4],
        Field::Note => &[7],
        Field::Tags => &[8],
    }
}

/// The value of a field that nobody has written.
pub fn default_of(field: Field) -> Value {
    match field {
        Field::Listed => false.into(),
        Field::Priority => PRIORITY.into(),
        Field::Public => true.into(),
        Field::Watched => watched(&State::default()),
        Field::Note | Field::Place => Value::Null,
        Field::Tags => Value::Array(Vec::new()),
    }
}
