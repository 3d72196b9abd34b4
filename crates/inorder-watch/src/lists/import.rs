//! Putting the films of a file on a list.

use super::rows::ListRow;
use crate::{
    Result,
    db::{entries, films, undo, users::User},
    films::find,
};
use inorder_key::Ulid;
use rusqlite::Connection;
use serde::Serialize;

/// The rows of a file, and which films they are.
#[derive(Default)]
pub struct Plan {
    /// Films by their numbers.
    found: Vec<(i64, entries::State)>,
    missing: Vec<ListRow>,
}

/// What became of the rows.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct Imported {
    /// Films that are new on the list.
    pub added: usize,
    /// Films that were on the list, which stay as they are.
    pub present: usize,
    /// Titles that are no film here, with their years.
    pub missing: Vec<String>,
}

impl Plan {
    /// Finds the films of these rows too: all the work that needs no writing.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn find(&mut self, db: &Connection, rows: &[ListRow]) -> Result<()> {
        for row in rows {
            match film(db, row)? {
                Some(film) => self.found.push((film, row.state.clone())),
                None => self.missing.push(row.clone()),
            }
        }
        Ok(())
    }
}

fn film(db: &Connection, row: &ListRow) -> Result<Option<i64>> {
    if let Some(imdb) = row.facts.imdb
        && let Some(film) = films::by_imdb(db, imdb)?
    {
        return Ok(Some(film.number));
    }
    let film = find::by_title(db, &row.facts.title, row.facts.year)?;
    Ok(film.map(|film| film.number))
}

/// Puts the films on a list, as one change. Films that are nowhere to be found are added if that is wanted.
///
/// # Errors
/// [`Error::Invalid`](crate::Error::Invalid) when the list has no room for them; nothing is imported then.
pub fn apply(
    db: &Connection,
    user: &User,
    plan: Plan,
    add_missing: bool,
) -> Result<(Ulid, Imported)> {
    let Plan { mut found, missing } = plan;
    let mut imported = Imported::default();
    for row in missing {
        if add_missing {
            let film = films::add(db, row.facts, user)?;
            found.push((film.number, row.state));
        } else {
            imported.missing.push(name(&row));
        }
    }
    entries::check_room(db, user.number, found.len())?;
    let change = undo::begin(db, user.number)?;
    // In the order of the key, so that the list grows page by page; of a film named twice the first row counts.
    found.sort_by_key(|(film, _)| *film);
    for (film, state) in found {
        if entries::state(db, user.number, film)?.is_some() {
            imported.present += 1;
        } else {
            entries::put_in(db, change, user.number, film, state)?;
            imported.added += 1;
        }
    }
    Ok((change, imported))
}

fn name(row: &ListRow) -> String {
    match row.facts.year {
        Some(year) => format!("{} ({year})", row.facts.title),
        None => row.facts.title.clone(),
    }
}
