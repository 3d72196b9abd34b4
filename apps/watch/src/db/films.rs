//! The film catalogue.

use super::{
    film::{ENTRIES_MAX, numbers_of},
    find, spelling,
    user::User,
};
use crate::{Error, Result, date::now_ms, title::Title, words::say};
use inorder_key::Ulid;
use rusqlite::{Connection, OptionalExtension};
use serde_json::json;
use std::{collections::HashMap, sync::LazyLock};

pub use super::film::{
    Facts, Film, Kind, MINUTES, NAMES_MAX, SEASONS_MAX, TEXT_CHARACTERS_MAX, YEARS,
};

/// The maximum number of films that one user may add by hand.
pub const ADDED_MAX: i64 = 1000;

/// The maximum number of films that imports of one user add: as many as a list can have.
const IMPORTED_MAX: i64 = ENTRIES_MAX as i64;

/// The time in which the user who added a film may remove it, in milliseconds.
const REMOVAL_MS: i64 = 60 * 60 * 1000;

fn json_of(names: &[String]) -> String {
    serde_json::Value::from(names).to_string()
}

fn numbers_json(numbers: &[u32]) -> String {
    match numbers {
        [] => "[]".to_owned(),
        numbers => serde_json::Value::from(numbers).to_string(),
    }
}

/// Inserts a film and returns its number. The facts are [checked](Facts::checked).
///
/// # Errors
/// SQLite's error, for instance if the IMDb number is taken.
pub fn insert(db: &Connection, facts: &Facts, added_by: Option<i64>) -> Result<i64> {
    let sql = "INSERT INTO film(title, year, people, genres, minutes, imdb, added_by, original, is_series, end_year, seasons)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
    let (people, genres) = (json_of(&facts.people), json_of(&facts.genres));
    db.prepare_cached(sql)?.execute((
        &facts.title,
        facts.year,
        people,
        genres,
        facts.minutes,
        facts.imdb,
        added_by,
        &facts.original,
        facts.kind == Kind::Series,
        facts.end_year,
        numbers_json(&facts.seasons),
    ))?;
    let number = db.last_insert_rowid();
    insert_keys(db, number, facts)?;
    Ok(number)
}

/// Adds a film's titles to the search index.
fn insert_keys(db: &Connection, number: i64, facts: &Facts) -> Result<()> {
    let mut keys = db.prepare_cached("INSERT OR IGNORE INTO film_key VALUES (?1, ?2)")?;
    let mut endings = db.prepare_cached("INSERT OR IGNORE INTO film_ending VALUES (?1, ?2)")?;
    for title in facts.titles() {
        let title = Title::of(title);
        for key in title.keys() {
            keys.execute((key, number))?;
        }
        for ending in title.endings() {
            endings.execute((ending, number))?;
        }
    }
    let others = facts.people.iter().chain(&facts.genres);
    spelling::learn(
        db,
        facts
            .titles()
            .chain(others.map(String::as_str))
            .flat_map(find::all_words),
    )
}

/// Sets the IMDb number of a film.
///
/// # Errors
/// SQLite's error, for instance if another film has the number.
pub fn set_imdb(db: &Connection, number: i64, imdb: i64) -> Result<()> {
    db.prepare_cached("UPDATE film SET imdb = ?2 WHERE number = ?1")?
        .execute((number, imdb))?;
    Ok(())
}

/// Sets the running time of a film that has none.
///
/// # Errors
/// SQLite's error.
pub fn set_minutes(db: &Connection, number: i64, minutes: i64) -> Result<()> {
    let sql = "UPDATE film SET minutes = ?2 WHERE number = ?1 AND minutes IS NULL";
    db.prepare_cached(sql)?.execute((number, minutes))?;
    Ok(())
}

/// Sets the last year of a series.
///
/// # Errors
/// SQLite's error.
pub fn set_end_year(db: &Connection, number: i64, year: i64) -> Result<()> {
    db.prepare_cached("UPDATE film SET end_year = ?2 WHERE number = ?1")?
        .execute((number, year))?;
    Ok(())
}

/// Sets the numbers of episodes of the seasons of a series. Who had watched all of them has it to watch again if there are more.
/// Nothing of what entries say is lost.
///
/// # Errors
/// SQLite's error.
pub fn set_seasons(db: &Connection, number: i64, seasons: &[u32]) -> Result<()> {
    db.prepare_cached("UPDATE film SET seasons = ?2 WHERE number = ?1")?
        .execute((number, numbers_json(seasons)))?;
    Ok(())
}

/// The seasons with the numbers of episodes that were known before, where the new ones are not known.
pub fn with_episodes(mut seasons: Vec<u32>, before: &[u32]) -> Vec<u32> {
    for (new, old) in seasons.iter_mut().zip(before) {
        if *new == 0 {
            *new = *old;
        }
    }
    seasons
}

/// Returns the series with a number at IMDb: this number, and their numbers and seasons here.
///
/// # Errors
/// SQLite's error.
pub fn series_of_imdb(db: &Connection) -> Result<HashMap<i64, (i64, Vec<u32>)>> {
    let sql = "SELECT imdb, number, seasons FROM film WHERE is_series AND imdb IS NOT NULL";
    let mut statement = db.prepare(sql)?;
    let series = statement.query_map([], |row| {
        let seasons = numbers_of(row.get_ref(2)?.as_str()?);
        Ok((row.get(0)?, (row.get(1)?, seasons)))
    })?;
    Ok(series.collect::<rusqlite::Result<_>>()?)
}

/// Returns the number of seasons of a series, 0 if it isn't known; `None` for a film.
///
/// # Errors
/// SQLite's error.
pub fn series(db: &Connection, number: i64) -> Result<Option<usize>> {
    let sql = "SELECT is_series, json_array_length(seasons) FROM film WHERE number = ?1";
    let mut statement = db.prepare_cached(sql)?;
    let seasons = statement.query_row([number], |row| {
        Ok(match row.get(0)? {
            true => Some(row.get::<_, u32>(1)? as usize),
            false => None,
        })
    });
    Ok(seasons.optional()?.flatten())
}

/// Adds a film, or returns the film of the same kind, title and year.
///
/// # Errors
/// [`Error::Invalid`] as for [`Facts::checked`], and if the user has added too many films.
pub fn add(db: &Connection, facts: Facts, user: &User) -> Result<Film> {
    let facts = facts.checked()?;
    match find::same(db, &facts)? {
        Some(film) => Ok(film),
        None => add_new(db, facts, user),
    }
}

/// Adds a film that differs from all others.
///
/// # Errors
/// [`Error::Invalid`] if the user has added too many films.
fn add_new(db: &Connection, facts: Facts, user: &User) -> Result<Film> {
    if !Quota::of(db, user)?.take(false) {
        return Err(Error::Invalid(say::films_added_max(ADDED_MAX)));
    }
    let facts = Facts {
        imdb: None,
        ..facts
    };
    let number = insert(db, &facts, Some(user.number))?;
    by_number(db, number)
}

/// How many films a user may still add. The owner, who imports catalogues too, may add as many as a list can have.
#[derive(Clone, Copy, Debug)]
pub struct Quota {
    by_hand: i64,
    imported: i64,
}

impl Quota {
    /// The quota of a user.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn of(db: &Connection, user: &User) -> Result<Self> {
        let sql = "SELECT count(*) FILTER (WHERE NOT is_imported), count(*) FILTER (WHERE is_imported) FROM film WHERE added_by = ?1";
        let counts = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let counts = db.prepare_cached(sql)?.query_row([user.number], counts)?;
        let (by_hand, imported): (i64, i64) = if user.is_owner { (0, 0) } else { counts };
        let by_hand_max = if user.is_owner {
            IMPORTED_MAX
        } else {
            ADDED_MAX
        };
        Ok(Quota {
            by_hand: by_hand_max - by_hand,
            imported: IMPORTED_MAX - imported,
        })
    }

    /// Takes a film, of an import that has its number at another site, or not. Returns whether there was one left.
    pub fn take(&mut self, is_imported: bool) -> bool {
        let left = if is_imported {
            &mut self.imported
        } else {
            &mut self.by_hand
        };
        *left -= 1;
        *left >= 0
    }
}

/// Adds a film of an import, for which there is a [`Quota`], and returns its number. One that has a number at another site is not
/// counted as a film that the user has made up. Only the owner's numbers of IMDb are kept: with a wrong one, lists of others would
/// have the wrong film.
///
/// # Errors
/// SQLite's error.
pub fn add_imported(db: &Connection, facts: Facts, user: &User, has_id: bool) -> Result<i64> {
    let facts = Facts {
        imdb: facts.imdb.filter(|_| user.is_owner),
        ..facts
    };
    let number = insert(db, &facts, Some(user.number))?;
    db.prepare_cached("UPDATE film SET is_imported = ?2 WHERE number = ?1")?
        .execute((number, has_id))?;
    Ok(number)
}

/// Returns the film with this id.
///
/// # Errors
/// [`Error::NotFound`].
pub fn by_id(db: &Connection, id: Ulid) -> Result<Film> {
    one(db, "film.id = ?1", id.to_bytes())
}

/// Returns the number of the film with this id.
///
/// # Errors
/// [`Error::NotFound`].
pub fn number(db: &Connection, id: Ulid) -> Result<i64> {
    let sql = "SELECT number FROM film WHERE id = ?1";
    let number = db
        .prepare_cached(sql)?
        .query_row([id.to_bytes()], |row| row.get(0));
    number.optional()?.ok_or(Error::NotFound("film"))
}

/// Returns the film with this number.
///
/// # Errors
/// [`Error::NotFound`].
pub fn by_number(db: &Connection, number: i64) -> Result<Film> {
    one(db, "film.number = ?1", number)
}

/// Returns the film with this IMDb number.
///
/// # Errors
/// SQLite's error.
pub fn by_imdb(db: &Connection, imdb: i64) -> Result<Option<Film>> {
    match one(db, "film.imdb = ?1", imdb) {
        Ok(film) => Ok(Some(film)),
        Err(Error::NotFound(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

fn one(db: &Connection, condition: &str, bound: impl rusqlite::ToSql) -> Result<Film> {
    let sql = format!("SELECT {} FROM film WHERE {condition}", Film::COLUMNS);
    let film = db.prepare_cached(&sql)?.query_row([bound], Film::of);
    film.optional()?.ok_or(Error::NotFound("film"))
}

/// Whether a user may change a film's facts: the user added it, or owns the server.
///
/// # Errors
/// SQLite's error.
pub fn may_change(db: &Connection, film: i64, user: &User) -> Result<bool> {
    let sql = "SELECT added_by IS ?2 FROM film WHERE number = ?1";
    let added: Option<bool> = db
        .prepare_cached(sql)?
        .query_row((film, user.number), |row| row.get(0))
        .optional()?;
    Ok(user.is_owner || added == Some(true))
}

/// Returns the film with this id, if this user [may change](may_change) it.
///
/// # Errors
/// [`Error::NotFound`] otherwise.
pub fn own(db: &Connection, id: Ulid, user: &User) -> Result<Film> {
    let film = by_id(db, id)?;
    match may_change(db, film.number, user)? {
        true => Ok(film),
        false => Err(Error::NotFound("film")),
    }
}

/// Updates a film's facts. Its IMDb number is kept, and so are the numbers of episodes where the new ones are not known.
///
/// # Errors
/// [`Error::NotFound`] if the user may not change the film, [`Error::Invalid`] as for [`Facts::checked`].
pub fn change(db: &Connection, id: Ulid, facts: Facts, user: &User) -> Result<()> {
    let film = own(db, id, user)?;
    let mut facts = facts.checked()?;
    facts.seasons = with_episodes(facts.seasons, &film.facts.seasons);
    let sql = "UPDATE film SET title = ?2, year = ?3, people = ?4, genres = ?5, minutes = ?6, original = ?7, is_series = ?8, end_year = ?9,
                 seasons = ?10 WHERE number = ?1";
    let (people, genres) = (json_of(&facts.people), json_of(&facts.genres));
    db.prepare_cached(sql)?.execute((
        film.number,
        &facts.title,
        facts.year,
        people,
        genres,
        facts.minutes,
        &facts.original,
        facts.kind == Kind::Series,
        facts.end_year,
        numbers_json(&facts.seasons),
    ))?;
    remove_keys(db, film.number)?;
    let sql = "SELECT is_withdrawn FROM film WHERE number = ?1";
    let mut statement = db.prepare_cached(sql)?;
    match statement.query_row([film.number], |row| row.get(0))? {
        true => Ok(()),
        false => insert_keys(db, film.number, &facts),
    }
}

/// Removes a film's titles from the search index.
fn remove_keys(db: &Connection, number: i64) -> Result<()> {
    for table in ["film_key", "film_ending"] {
        db.prepare_cached(&format!("DELETE FROM {table} WHERE film = ?1"))?
            .execute([number])?;
    }
    Ok(())
}

/// Whether a user may remove a film: the owner always, the user who added it for one hour. Entries of other users do
/// not count, because the answer would reveal private ones.
pub fn may_remove(film: &Film, user: &User) -> bool {
    let age_ms = now_ms().saturating_sub_unsigned(film.id.ms());
    user.is_owner || age_ms < REMOVAL_MS
}

/// Removes a film from the catalogue and from the user's list. Lists of others keep it, with another id: nobody else finds it, and the
/// user does not learn whether it is still there.
///
/// # Errors
/// [`Error::NotFound`] if the user may not change it, [`Error::Invalid`] if the user [may not](may_remove) remove it.
pub fn remove(db: &Connection, id: Ulid, user: &User) -> Result<()> {
    let film = own(db, id, user)?;
    if !may_remove(&film, user) {
        return Err(Error::Invalid(say::film_removal_late()));
    }
    let sql = "SELECT EXISTS (SELECT 1 FROM entry WHERE film = ?1 AND user <> ?2)";
    let mut statement = db.prepare_cached(sql)?;
    match statement.query_row((film.number, user.number), |row| row.get(0))? {
        true => withdraw(db, film.number, user.number),
        false => {
            db.prepare_cached("DELETE FROM film WHERE number = ?1")?
                .execute([film.number])?;
            Ok(())
        }
    }
}

/// Takes a film out of the catalogue, and out of all that is kept of a user.
fn withdraw(db: &Connection, number: i64, user: i64) -> Result<()> {
    for table in ["entry", "gone", "version", "undo"] {
        let sql = format!("DELETE FROM {table} WHERE film = ?1 AND user = ?2");
        db.prepare_cached(&sql)?.execute((number, user))?;
    }
    remove_keys(db, number)?;
    let sql = "UPDATE film SET is_withdrawn = 1, added_by = NULL, imdb = NULL, id = ulid() WHERE number = ?1";
    db.prepare_cached(sql)?.execute([number])?;
    Ok(())
}

/// Returns the number of films.
///
/// # Errors
/// SQLite's error.
pub fn count(db: &Connection) -> Result<i64> {
    Ok(db
        .prepare_cached("SELECT count(*) FROM film")?
        .query_row([], |row| row.get(0))?)
}

/// Returns the number of the last added film; 0 if there is none.
///
/// # Errors
/// SQLite's error.
pub fn newest(db: &Connection) -> Result<i64> {
    let sql = "SELECT coalesce(max(number), 0) FROM film";
    Ok(db.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
}

/// Returns a number that is another one after each change of a film or of a poster. It is random.
///
/// # Errors
/// SQLite's error.
pub fn stamp(db: &Connection) -> Result<i64> {
    let sql = "SELECT stamp FROM film_state";
    Ok(db.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
}

/// Returns the films with these numbers, in no order.
///
/// # Errors
/// SQLite's error.
pub fn with_numbers(db: &Connection, numbers: &[i64]) -> Result<Vec<Film>> {
    static SQL: LazyLock<String> = LazyLock::new(|| {
        format!(
            "SELECT {} FROM json_each(?1) wanted CROSS JOIN film ON film.number = wanted.value",
            Film::COLUMNS
        )
    });
    let mut statement = db.prepare_cached(&SQL)?;
    let films = statement.query_map([json!(numbers).to_string()], Film::of)?;
    Ok(films.collect::<rusqlite::Result<_>>()?)
}

/// Returns the genres of all films, by name. Reads every film.
///
/// # Errors
/// SQLite's error.
pub fn genres(db: &Connection) -> Result<Vec<String>> {
    let sql = "SELECT DISTINCT value FROM (SELECT DISTINCT genres FROM film WHERE NOT is_withdrawn), json_each(genres) ORDER BY value";
    let mut statement = db.prepare_cached(sql)?;
    let genres = statement.query_map([], |row| row.get(0))?;
    Ok(genres.collect::<rusqlite::Result<_>>()?)
}

/// A friend with a film among their public entries.
#[derive(Clone, Debug)]
pub struct FriendWith {
    /// The friend.
    pub friend: User,
    /// Whether they have watched it.
    pub watched: bool,
    /// How many seasons of it they have watched.
    pub seasons_watched: u32,
}

/// Returns the friends with this film among their public entries, by name.
///
/// # Errors
/// SQLite's error.
pub fn friends_with(db: &Connection, film: i64, user: i64) -> Result<Vec<FriendWith>> {
    let sql = format!(
        "SELECT {}, entry.watched, iif(film.is_series, entry.seasons_watched, 0) FROM friend JOIN user ON user.number = friend.friend
         JOIN entry ON entry.user = friend.friend AND entry.film = ?1 AND entry.public
         JOIN film ON film.number = entry.film
         WHERE friend.user = ?2 ORDER BY user.folded",
        User::COLUMNS
    );
    let mut statement = db.prepare_cached(&sql)?;
    let friends = statement.query_map((film, user), |row| {
        Ok(FriendWith {
            friend: User::of(row)?,
            watched: row.get(User::COLUMN_COUNT)?,
            seasons_watched: row.get(User::COLUMN_COUNT + 1)?,
        })
    })?;
    Ok(friends.collect::<rusqlite::Result<_>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_tidied_and_checked() {
        let names = |names: &[&str]| {
            names
                .iter()
                .map(|&name| name.to_owned())
                .collect::<Vec<_>>()
        };
        let facts = Facts {
            title: "  The \n Thing ".to_owned(),
            year: Some(1982),
            people: names(&["Kurt  Russell", "", "Kurt Russell"]),
            ..Facts::default()
        };
        let facts = facts.checked().unwrap();
        assert_eq!(
            (facts.title.as_str(), facts.people),
            ("The Thing", names(&["Kurt Russell"]))
        );
        for (title, year) in [
            ("", None),
            (" ", None),
            ("\u{200b}", None),
            ("\u{3164} \u{fe0f}", None),
            ("a", Some(1)),
            (&"a".repeat(301), None),
        ] {
            let facts = Facts {
                title: title.to_owned(),
                year,
                ..Facts::default()
            };
            assert!(facts.checked().is_err(), "{title} {year:?}");
        }
    }
}
