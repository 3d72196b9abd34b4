//! Reads one page of a list.

use super::{
    entry::{self, Entry, Listed},
    order::ORDER,
};
use crate::{Result, db::film::Kind};
use rusqlite::{Connection, types::Value};
use serde::{Deserialize, Serialize};

/// Films per page.
pub const PAGE_ENTRIES: i64 = 25;

/// The order of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sort {
    /// By priority, highest first, then by position. Watched films by day, latest first.
    #[default]
    Priority,
    /// Latest added first.
    Added,
    /// By title.
    Title,
    /// Newest first.
    Year,
}

impl Sort {
    /// All orders with their names in addresses.
    pub const ALL: [(Sort, &str); 4] = [
        (Sort::Priority, "priority"),
        (Sort::Added, "added"),
        (Sort::Title, "title"),
        (Sort::Year, "year"),
    ];

    /// The expression to order by, and whether it needs the film.
    fn order(self) -> (&'static str, bool) {
        match self {
            Sort::Priority => (ORDER, false),
            Sort::Added => ("entry.added_ms DESC, entry.film DESC", false),
            Sort::Title => ("film.title COLLATE NOCASE, film.number", true),
            Sort::Year => ("film.year DESC, film.number", true),
        }
    }
}

/// The filter of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Watched or unwatched films.
    pub watched: bool,
    /// The genre.
    pub genre: Option<String>,
    /// The first year of a decade.
    pub decade: Option<i64>,
    /// The priority.
    pub priority: Option<i64>,
    /// Only films, or only series.
    pub kind: Option<Kind>,
    /// The tag.
    pub tag: Option<String>,
    /// The order.
    pub sort: Sort,
    /// The page number, from 0.
    pub page: i64,
    /// Whether private entries are excluded. Always set for the list of another user.
    pub public_only: bool,
}

impl Filter {
    /// Whether it has all films of the list that are watched or unwatched.
    fn is_whole(&self) -> bool {
        self.genre.is_none()
            && self.decade.is_none()
            && self.priority.is_none()
            && self.kind.is_none()
            && self.tag.is_none()
    }

    /// The number of films on the pages before.
    fn skipped(&self) -> i64 {
        self.page.saturating_mul(PAGE_ENTRIES)
    }
}

/// A page of a list, with entries or only their states.
#[derive(Clone, Debug)]
pub struct Page<E = Entry> {
    /// The films of the page.
    pub entries: Vec<E>,
    /// The number of films on all pages.
    pub total: i64,
    /// The numbers of unwatched and watched films of the whole list.
    pub counts: (i64, i64),
}

/// Reads a page of a user's list.
///
/// # Errors
/// SQLite's error.
pub fn page(db: &Connection, user: i64, filter: &Filter) -> Result<Page> {
    page_with(db, user, filter, entry::of_films)
}

/// Reads a page of a user's list without the films.
///
/// # Errors
/// SQLite's error.
pub fn page_of_states(db: &Connection, user: i64, filter: &Filter) -> Result<Page<Listed>> {
    page_with(db, user, filter, entry::states_of_films)
}

fn page_with<E>(
    db: &Connection,
    user: i64,
    filter: &Filter,
    entries_of: impl FnOnce(&Connection, i64, &[i64]) -> Result<Vec<E>>,
) -> Result<Page<E>> {
    let counts = counts(db, user, filter.public_only)?;
    let (films, total) = if filter.is_whole() {
        let total = if filter.watched { counts.1 } else { counts.0 };
        (
            films(db, user, filter, PAGE_ENTRIES, filter.skipped())?,
            total,
        )
    } else {
        let films = films(db, user, filter, i64::MAX, 0)?;
        let total = films.len() as i64;
        let first = usize::try_from(filter.skipped()).unwrap_or(usize::MAX);
        let on_page = films.into_iter().skip(first).take(PAGE_ENTRIES as usize);
        (on_page.collect(), total)
    };
    Ok(Page {
        entries: entries_of(db, user, &films)?,
        total,
        counts,
    })
}

/// Returns the numbers of films in order.
fn films(db: &Connection, user: i64, filter: &Filter, limit: i64, offset: i64) -> Result<Vec<i64>> {
    let (sql, mut bound) = query(user, filter);
    bound.extend([limit.into(), offset.into()]);
    let mut statement = db.prepare_cached(&sql)?;
    let films = statement.query_map(rusqlite::params_from_iter(bound), |row| row.get(0))?;
    Ok(films.collect::<rusqlite::Result<_>>()?)
}

/// The query for the numbers of films in order, and its bound values but for LIMIT and OFFSET. It reads only the columns that decide the
/// order, so an index is enough for a whole list in its own order.
fn query(user: i64, filter: &Filter) -> (String, Vec<Value>) {
    let (order, order_needs_film) = filter.sort.order();
    let (conditions, bound, filter_needs_film) = conditions(user, filter);
    let join = match filter_needs_film || order_needs_film {
        true => "JOIN film ON film.number = entry.film",
        false => "",
    };
    let sql = format!(
        "SELECT entry.film FROM entry {join} WHERE {conditions} ORDER BY {order} LIMIT ? OFFSET ?"
    );
    (sql, bound)
}

/// The conditions, their bound values, and whether they need the film.
fn conditions(user: i64, filter: &Filter) -> (String, Vec<Value>, bool) {
    let mut conditions = "entry.user = ? AND entry.watched = ?".to_owned();
    let mut bound = vec![Value::from(user), Value::from(filter.watched)];
    let mut add = |condition: &str, values: &[Value]| {
        conditions += condition;
        bound.extend_from_slice(values);
    };
    if filter.public_only {
        add(" AND entry.public", &[]);
    }
    if let Some(priority) = filter.priority {
        add(" AND entry.priority = ?", &[priority.into()]);
    }
    if let Some(decade) = filter.decade {
        add(
            " AND film.year BETWEEN ? AND ?",
            &[decade.into(), decade.saturating_add(9).into()],
        );
    }
    if let Some(kind) = filter.kind {
        add(" AND film.is_series = ?", &[(kind == Kind::Series).into()]);
    }
    if let Some(genre) = &filter.genre {
        add(
            " AND EXISTS (SELECT 1 FROM json_each(film.genres) WHERE value = ?)",
            &[genre.clone().into()],
        );
    }
    if let Some(tag) = &filter.tag {
        add(
            " AND entry.tags <> '[]' AND EXISTS (SELECT 1 FROM json_each(entry.tags) WHERE value = ?)",
            &[tag.clone().into()],
        );
    }
    let needs_film = filter.decade.is_some() || filter.genre.is_some() || filter.kind.is_some();
    (conditions, bound, needs_film)
}

/// Returns the numbers of unwatched and watched films of a list.
///
/// # Errors
/// SQLite's error.
pub fn counts(db: &Connection, user: i64, public_only: bool) -> Result<(i64, i64)> {
    // Triggers count the films: a list may have thousands.
    let sql = match public_only {
        false => "SELECT films_to_watch, films_watched FROM user WHERE number = ?1",
        true => "SELECT public_to_watch, public_watched FROM user WHERE number = ?1",
    };
    let mut statement = db.prepare_cached(sql)?;
    Ok(statement.query_row([user], |row| Ok((row.get(0)?, row.get(1)?)))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::{MIGRATIONS, migrate, set_up};

    /// What SQLite does for a page of a list.
    fn plan(filter: &Filter) -> String {
        let mut db = Connection::open_in_memory().unwrap();
        set_up(&db).unwrap();
        migrate(&mut db, MIGRATIONS).unwrap();
        let (sql, mut bound) = query(1, filter);
        bound.extend([PAGE_ENTRIES.into(), 0.into()]);
        let mut statement = db.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let steps = statement.query_map(rusqlite::params_from_iter(bound), |row| row.get(3));
        let steps: Vec<String> = steps.unwrap().map(Result::unwrap).collect();
        steps.join("; ")
    }

    #[test]
    fn a_page_of_a_list_reads_its_own_films_from_an_index_and_sorts_nothing() {
        for (watched, public_only) in [(false, false), (true, false), (false, true), (true, true)] {
            let filter = Filter {
                watched,
                public_only,
                ..Filter::default()
            };
            assert_eq!(
                plan(&filter),
                "SEARCH entry USING COVERING INDEX entry_order (user=? AND watched=?)"
            );
        }
        let by_title = Filter {
            sort: Sort::Title,
            ..Filter::default()
        };
        assert!(plan(&by_title).contains("TEMP B-TREE"));
    }
}
