//! Reads one page of a list.

use super::{
    entry::Entry,
    order::{RANK, in_order},
};
use crate::Result;
use rusqlite::{Connection, types::Value};
use serde::{Deserialize, Serialize};
use serde_json::json;

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

    /// The expression to order by, and whether it needs the film. `None` where sorting in Rust is faster.
    fn order(self, watched: bool) -> Option<(&'static str, bool)> {
        match (self, watched) {
            (Sort::Priority, false) => None,
            (Sort::Priority, true) => Some(("entry.watched_on DESC, entry.film", false)),
            (Sort::Added, _) => Some(("entry.added_ms DESC, entry.film DESC", false)),
            (Sort::Title, _) => Some(("film.title COLLATE NOCASE, film.number", true)),
            (Sort::Year, _) => Some(("film.year DESC, film.number", true)),
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
    /// The tag.
    pub tag: Option<String>,
    /// The order.
    pub sort: Sort,
    /// The page number, from 0.
    pub page: i64,
    /// Whether private entries are excluded. Always set for the list of another user.
    pub public_only: bool,
}

/// A page of a list.
#[derive(Clone, Debug)]
pub struct Page {
    /// The films of the page.
    pub entries: Vec<Entry>,
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
    let films = films(db, user, filter)?;
    let first = usize::try_from(filter.page.saturating_mul(PAGE_ENTRIES)).unwrap_or(usize::MAX);
    let on_page = films.iter().skip(first).take(PAGE_ENTRIES as usize);
    let on_page: Vec<i64> = on_page.copied().collect();
    let sql = format!(
        "SELECT {} FROM json_each(?2) place
         CROSS JOIN entry ON entry.user = ?1 AND entry.film = place.value
         CROSS JOIN film ON film.number = entry.film ORDER BY place.key",
        Entry::columns()
    );
    let mut statement = db.prepare_cached(&sql)?;
    let entries = statement.query_map((user, json!(on_page).to_string()), Entry::of)?;
    Ok(Page {
        entries: entries.collect::<rusqlite::Result<_>>()?,
        total: films.len() as i64,
        counts: counts(db, user, filter.public_only)?,
    })
}

/// Returns the numbers of the films on all pages, in order. Reads and sorts only the columns that decide the order.
fn films(db: &Connection, user: i64, filter: &Filter) -> Result<Vec<i64>> {
    let order = filter.sort.order(filter.watched);
    let (conditions, bound, filter_needs_film) = conditions(user, filter);
    let join = match filter_needs_film || order.is_some_and(|(_, needs_film)| needs_film) {
        true => "JOIN film ON film.number = entry.film",
        false => "",
    };
    let bound = rusqlite::params_from_iter(bound);
    let Some((order, _)) = order else {
        let sql = format!("SELECT {RANK} FROM entry {join} WHERE {conditions}");
        return in_order(db, &sql, bound);
    };
    let sql = format!("SELECT entry.film FROM entry {join} WHERE {conditions} ORDER BY {order}");
    let mut statement = db.prepare_cached(&sql)?;
    let films = statement.query_map(bound, |row| row.get(0))?;
    Ok(films.collect::<rusqlite::Result<_>>()?)
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
    if let Some(genre) = &filter.genre {
        add(
            " AND EXISTS (SELECT 1 FROM json_each(film.genres) WHERE value = ?)",
            &[genre.clone().into()],
        );
    }
    if let Some(tag) = &filter.tag {
        add(
            " AND EXISTS (SELECT 1 FROM json_each(entry.tags) WHERE value = ?)",
            &[tag.clone().into()],
        );
    }
    let needs_film = filter.decade.is_some() || filter.genre.is_some();
    (conditions, bound, needs_film)
}

/// Returns the numbers of unwatched and watched films of a list.
///
/// # Errors
/// SQLite's error.
pub fn counts(db: &Connection, user: i64, public_only: bool) -> Result<(i64, i64)> {
    let sql = "SELECT count(*) FILTER (WHERE NOT watched), count(*) FILTER (WHERE watched)
               FROM entry WHERE user = ?1 AND public >= ?2";
    let mut statement = db.prepare_cached(sql)?;
    Ok(statement.query_row((user, public_only), |row| Ok((row.get(0)?, row.get(1)?)))?)
}
