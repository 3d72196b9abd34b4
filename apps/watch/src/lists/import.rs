//! Putting the films of a file on a list.

use super::rows::ListRow;
use crate::{
    Result,
    db::{entries, films, find, undo::Change, users::User},
};
use inorder_key::Ulid;
use rusqlite::Connection;
use serde::Serialize;
use std::collections::HashMap;

/// The rows of a file, and which films they may be.
#[derive(Default)]
pub struct Plan {
    rows: Vec<(ListRow, Vec<Candidate>)>,
}

/// A film that a row may mean.
struct Candidate {
    number: i64,
    /// Whether it is called exactly as the row has it, or has its number at IMDb.
    is_exact: bool,
}

/// The results of the rows.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct Imported {
    /// Films that are new on the list.
    pub added: usize,
    /// Films that were on the list, which stay as they are.
    pub present: usize,
    /// Titles that are no film here.
    pub missing: Vec<Missing>,
}

/// A title that is no film here; as JSON it is a text, with its year.
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

impl Plan {
    /// Finds the films of these rows too: all the work that needs no writing.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn find(&mut self, db: &Connection, rows: &[ListRow]) -> Result<()> {
        for row in rows {
            self.rows.push((row.clone(), candidates(db, row)?));
        }
        Ok(())
    }
}

/// The films that a row may mean, the nearest first.
fn candidates(db: &Connection, row: &ListRow) -> Result<Vec<Candidate>> {
    let ListRow { facts, .. } = row;
    if let Some(imdb) = facts.imdb
        && let Some(film) = films::by_imdb(db, imdb)?
    {
        let (number, is_exact) = (film.number, true);
        return Ok(vec![Candidate { number, is_exact }]);
    }
    let same = find::same(db, &facts.title, facts.year)?.into_iter();
    // Two numbers at IMDb are two films.
    let same = same.filter(|(_, film)| film.facts.imdb.is_none() || facts.imdb.is_none());
    let candidate = |(distance, film): (usize, films::Film)| Candidate {
        number: film.number,
        is_exact: distance == 0,
    };
    Ok(same.map(candidate).collect())
}

/// The films that rows have taken. Rows of different titles are different films, however alike they are spelt: a list that
/// has both *Tar* and *Tár* of one year gets both.
#[derive(Default)]
struct Taken(HashMap<i64, String>);

impl Taken {
    /// The first of these films that no row of another title has.
    fn take(&mut self, row: &ListRow, candidates: &[Candidate]) -> Option<i64> {
        let title = &row.facts.title;
        let is_free =
            |film: &&Candidate| self.0.get(&film.number).is_none_or(|taken| taken == title);
        let number = candidates.iter().find(is_free)?.number;
        self.0.insert(number, title.clone());
        Some(number)
    }
}

/// Adds the films to a list, as one change. Films missing from the catalogue are added to it if requested.
///
/// # Errors
/// [`Error::Invalid`](crate::Error::Invalid) when the list has no room for them; nothing is imported then.
pub fn apply(
    db: &Connection,
    user: &User,
    plan: Plan,
    add_missing: bool,
) -> Result<(Ulid, Imported)> {
    let mut imported = Imported::default();
    let (mut taken, mut found) = (Taken::default(), Vec::new());
    let is_exact =
        |(_, films): &(ListRow, Vec<Candidate>)| films.first().is_some_and(|film| film.is_exact);
    let (exact, other): (Vec<_>, Vec<_>) = plan.rows.into_iter().partition(is_exact);
    for (row, films) in exact.into_iter().chain(other) {
        let number = match taken.take(&row, &films) {
            Some(number) => number,
            None if !add_missing => {
                let (title, year) = (row.facts.title, row.facts.year);
                imported.missing.push(Missing { title, year });
                continue;
            }
            // A row before this one may have added it.
            None => match taken.take(&row, &candidates(db, &row)?) {
                Some(number) => number,
                None => {
                    let number = films::add_new(db, row.facts.clone(), user)?.number;
                    taken.0.insert(number, row.facts.title.clone());
                    number
                }
            },
        };
        found.push((number, row.state));
    }
    entries::check_room(db, user.number, found.len())?;
    let change = Change::begin(db, user.number)?;
    let added_ms = entries::next_ms(db, user.number)?;
    // In the order of the key, so that the list grows page by page; of a film named twice the first row counts.
    found.sort_by_key(|(film, _)| *film);
    for (film, state) in found {
        if entries::state(db, user.number, film)?.is_some() {
            imported.present += 1;
        } else {
            entries::put_in(db, change, user.number, film, state, added_ms)?;
            imported.added += 1;
        }
    }
    Ok((change.id, imported))
}
