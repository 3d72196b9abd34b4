//! Putting the films of a file on a list.

use super::{
    plan::{Choices, Found, Outcome, Planned, plan},
    row::ListRow,
};
use crate::{
    Result,
    db::{
        entries::{self, State},
        films,
        undo::Change,
        users::User,
    },
};
use inorder_key::Ulid;
use rusqlite::Connection;
use serde::Serialize;

/// The results of the rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Imported {
    /// Films that are new on the list.
    pub added: usize,
    /// Films that were on the list, of which the file says more.
    pub changed: usize,
    /// Films that were on the list, which stay as they are.
    pub present: usize,
    /// Titles that may be several films, and were left out.
    pub unclear: Vec<Missing>,
    /// Titles that are no film here.
    pub missing: Vec<Missing>,
    /// Titles for which the list or the catalogue has no room, and which were left out.
    pub no_room: Vec<Missing>,
}

/// A title; as JSON it is a text, with its year.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(into = "String")]
pub struct Missing {
    /// The original text.
    pub title: String,
    /// The original text.
    pub year: Option<i64>,
}

impl From<Missing> for String {
    fn from(Missing { title, year }: Missing) -> Self {
        match year {
            Some(year) => format!("{title} ({year})"),
            None => title,
        }
    }
}

impl Imported {
    /// What an import of these films does.
    pub fn of(planned: &[Planned]) -> Self {
        let mut imported = Imported::default();
        for planned in planned {
            let facts = &planned.row.facts;
            let title = || Missing {
                title: facts.title.clone(),
                year: facts.year,
            };
            match &planned.outcome {
                Outcome::New(..) | Outcome::Added => imported.added += 1,
                Outcome::Present { before, after, .. } if before != after => imported.changed += 1,
                Outcome::Present { .. } => imported.present += 1,
                Outcome::Unclear => imported.unclear.push(title()),
                Outcome::Missing => imported.missing.push(title()),
                Outcome::NoRoom => imported.no_room.push(title()),
                Outcome::LeftOut => {}
            }
        }
        imported
    }
}

/// Imports the films into a list, as one change. Those that are new on it have the order of the file.
///
/// # Errors
/// SQLite's error.
pub fn apply(
    db: &Connection,
    user: &User,
    found: Found,
    choices: &Choices,
) -> Result<(Ulid, Imported)> {
    let planned = plan(db, user, found, choices)?;
    let imported = Imported::of(&planned);
    let mut states: Vec<(i64, State)> = Vec::new();
    for planned in planned {
        match planned.outcome {
            Outcome::New(film, state) => states.push((film.number, state)),
            Outcome::Present {
                film,
                before,
                after,
                ..
            } if before != after => {
                states.push((film.number, after));
            }
            Outcome::Added => {
                let ListRow {
                    facts,
                    said,
                    has_id,
                    ..
                } = planned.row;
                let state = said.state(&facts)?;
                states.push((films::add_imported(db, facts, user, has_id)?, state));
            }
            _ => {}
        }
    }
    let change = Change::begin(db, user.number)?;
    let first_ms = entries::next_ms(db, user.number)?;
    let mut states: Vec<_> = (first_ms..).zip(states).collect();
    // In the order of the key, so that the list grows page by page. Of one film what comes later in the file has all of it.
    states.sort_by_key(|(added_ms, (film, _))| (*film, *added_ms));
    for (added_ms, (film, state)) in states {
        entries::put_in(db, change, user.number, film, state, added_ms)?;
    }
    Ok((change.id, imported))
}
