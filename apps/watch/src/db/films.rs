//! Films.

use super::{find, user::User};
use crate::{Error, Result, date::now_ms, title::Title};
use inorder_key::Ulid;
use rusqlite::{Connection, OptionalExtension};

pub use super::film::{Facts, Film, NAMES_MAX, TEXT_CHARACTERS_MAX, YEARS};

/// Films one person may add.
const ADDED_MAX: i64 = 1000;

/// The time in which the user who added a film may remove it, in milliseconds.
const REMOVAL_MS: i64 = 60 * 60 * 1000;

fn json_of(names: &[String]) -> String {
    serde_json::Value::from(names).to_string()
}

/// Adds a film, and gives its number. The facts have been [checked](Facts::checked).
///
/// # Errors
/// What SQLite says, for instance that there is one of this IMDb number.
pub fn insert(db: &Connection, facts: &Facts, added_by: Option<i64>) -> Result<i64> {
    let sql = "INSERT INTO film(title, year, people, genres, imdb, added_by) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let (people, genres) = (json_of(&facts.people), json_of(&facts.genres));
    db.prepare_cached(sql)?.execute((
        &facts.title,
        facts.year,
        people,
        genres,
        facts.imdb,
        added_by,
    ))?;
    let number = db.last_insert_rowid();
    insert_keys(db, number, &facts.title)?;
    Ok(number)
}

/// Writes down what a film's title may be typed as.
fn insert_keys(db: &Connection, number: i64, title: &str) -> Result<()> {
    let mut statement = db.prepare_cached("INSERT INTO film_key VALUES (?1, ?2)")?;
    for key in Title::of(title).keys() {
        statement.execute((key, number))?;
    }
    Ok(())
}

/// Says which number a film has at IMDb.
///
/// # Errors
/// What SQLite says, for instance that another has it.
pub fn set_imdb(db: &Connection, number: i64, imdb: i64) -> Result<()> {
    db.prepare_cached("UPDATE film SET imdb = ?2 WHERE number = ?1")?
        .execute((number, imdb))?;
    Ok(())
}

/// Adds a film, or returns the film of the same title and year.
///
/// # Errors
/// [`Error::Invalid`] as [`Facts::checked`], and for one film too many.
pub fn add(db: &Connection, facts: Facts, user: &User) -> Result<Film> {
    let facts = facts.checked()?;
    match find::by_title(db, &facts.title, facts.year)? {
        Some(film) => Ok(film),
        None => add_new(db, facts, user),
    }
}

/// Adds a film that is none of those there.
///
/// # Errors
/// [`Error::Invalid`] for one film too many.
pub fn add_new(db: &Connection, facts: Facts, user: &User) -> Result<Film> {
    let sql = "SELECT count(*) FROM film WHERE added_by = ?1";
    let added: i64 = db
        .prepare_cached(sql)?
        .query_row([user.number], |row| row.get(0))?;
    if added >= ADDED_MAX {
        return Err(Error::Invalid(format!(
            "You have added {ADDED_MAX} films: ask the owner to import more."
        )));
    }
    let facts = Facts {
        imdb: None,
        ..facts
    };
    let number = insert(db, &facts, Some(user.number))?;
    by_number(db, number)
}

/// The film of this id.
///
/// # Errors
/// [`Error::NotFound`].
pub fn by_id(db: &Connection, id: Ulid) -> Result<Film> {
    one(db, "film.id = ?1", id.to_bytes())
}

/// The number of the film of this id.
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

/// The film of this number.
///
/// # Errors
/// [`Error::NotFound`].
pub fn by_number(db: &Connection, number: i64) -> Result<Film> {
    one(db, "film.number = ?1", number)
}

/// The film of this number at IMDb.
///
/// # Errors
/// What SQLite says.
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

/// Whether a person may change a film's facts: they added it, or the server is theirs.
///
/// # Errors
/// What SQLite says.
pub fn may_change(db: &Connection, film: i64, user: &User) -> Result<bool> {
    let sql = "SELECT added_by IS ?2 FROM film WHERE number = ?1";
    let added: Option<bool> = db
        .prepare_cached(sql)?
        .query_row((film, user.number), |row| row.get(0))
        .optional()?;
    Ok(user.is_owner || added == Some(true))
}

/// The film of this id, if this person [may change](may_change) it.
///
/// # Errors
/// [`Error::NotFound`] when not.
pub fn own(db: &Connection, id: Ulid, user: &User) -> Result<Film> {
    let film = by_id(db, id)?;
    match may_change(db, film.number, user)? {
        true => Ok(film),
        false => Err(Error::NotFound("film")),
    }
}

/// Corrects a film's facts; its number at IMDb stays.
///
/// # Errors
/// [`Error::NotFound`] when the film isn't this person's to change, [`Error::Invalid`] as [`Facts::checked`].
pub fn change(db: &Connection, id: Ulid, facts: Facts, user: &User) -> Result<()> {
    let film = own(db, id, user)?;
    let facts = facts.checked()?;
    let sql = "UPDATE film SET title = ?2, year = ?3, people = ?4, genres = ?5 WHERE number = ?1";
    let (people, genres) = (json_of(&facts.people), json_of(&facts.genres));
    db.prepare_cached(sql)?
        .execute((film.number, &facts.title, facts.year, people, genres))?;
    db.prepare_cached("DELETE FROM film_key WHERE film = ?1")?
        .execute([film.number])?;
    insert_keys(db, film.number, &facts.title)
}

/// Whether a person may remove a film: the owner always, who added it for an hour after. Whether others have it on their lists
/// doesn't count, or the answer would tell of private ones.
pub fn may_remove(film: &Film, user: &User) -> bool {
    let age_ms = now_ms().saturating_sub_unsigned(film.id.ms());
    user.is_owner || age_ms < REMOVAL_MS
}

/// Removes a film, also from every list.
///
/// # Errors
/// [`Error::NotFound`] when it isn't this person's to change, [`Error::Invalid`] when they [may not](may_remove) remove it.
pub fn remove(db: &Connection, id: Ulid, user: &User) -> Result<()> {
    let film = own(db, id, user)?;
    if !may_remove(&film, user) {
        return Err(Error::invalid(
            "A film is removed within an hour after it was added; later the owner of the server does it.",
        ));
    }
    db.prepare_cached("DELETE FROM film WHERE number = ?1")?
        .execute([film.number])?;
    Ok(())
}

/// How many films there are.
///
/// # Errors
/// What SQLite says.
pub fn count(db: &Connection) -> Result<i64> {
    Ok(db
        .prepare_cached("SELECT count(*) FROM film")?
        .query_row([], |row| row.get(0))?)
}

/// The number of the film that was added last; 0 without any.
///
/// # Errors
/// What SQLite says.
pub fn newest(db: &Connection) -> Result<i64> {
    let sql = "SELECT coalesce(max(number), 0) FROM film";
    Ok(db.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
}

/// The genres of all films, by name. Reads every film.
///
/// # Errors
/// What SQLite says.
pub fn genres(db: &Connection) -> Result<Vec<String>> {
    let sql = "SELECT DISTINCT value FROM (SELECT DISTINCT genres FROM film), json_each(genres) ORDER BY value";
    let mut statement = db.prepare_cached(sql)?;
    let genres = statement.query_map([], |row| row.get(0))?;
    Ok(genres.collect::<rusqlite::Result<_>>()?)
}

/// The friends who have this film on the public part of their lists, by name, and whether they have watched it.
///
/// # Errors
/// What SQLite says.
pub fn friends_with(db: &Connection, film: i64, user: i64) -> Result<Vec<(User, bool)>> {
    let sql = format!(
        "SELECT {}, entry.watched FROM friend JOIN user ON user.number = friend.friend
         JOIN entry ON entry.user = friend.friend AND entry.film = ?1 AND entry.public
         WHERE friend.user = ?2 ORDER BY user.folded",
        User::COLUMNS
    );
    let mut statement = db.prepare_cached(&sql)?;
    let friends = statement.query_map((film, user), |row| Ok((User::of(row)?, row.get(4)?)))?;
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
