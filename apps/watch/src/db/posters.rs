//! Posters and synopses of films.

use super::{
    film::{Film, Kind},
    films,
};
use crate::{Error, Result, words::Language};
use inorder_key::Ulid;
use rusqlite::{Connection, OptionalExtension};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// The time after which a film is asked for again, in milliseconds. TMDB's terms allow to keep what it says for six months.
const KEPT_MS: i64 = 150 * DAY_MS;

/// The time after which a film is asked for again that has no poster, in milliseconds.
const MISSING_MS: i64 = 30 * DAY_MS;

/// The number of films asked for from which on only those on lists are: who looks at every film does not fill the disk.
const ASKED_MAX: i64 = 20_000;

/// The widths in which a poster is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// 154 pixels wide.
    Small,
    /// 342 pixels wide.
    Large,
}

/// What is known of a film. All may be missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The poster, small and large.
    pub pictures: Option<[Vec<u8>; 2]>,
    /// The synopsis in some languages.
    pub synopses: Vec<(Language, String)>,
}

/// Films among which some are to be asked for.
#[derive(Clone, Debug)]
pub enum Among {
    /// Those on lists.
    Lists,
    /// Those of these numbers.
    These(Vec<i64>),
}

/// Returns the films that are to be asked for, at most so many: first those that were never asked for.
///
/// # Errors
/// SQLite's error.
pub fn due(db: &Connection, among: &Among, now_ms: i64, count_max: usize) -> Result<Vec<Film>> {
    let (films, these) = match among {
        Among::These(_) if asked(db)? >= ASKED_MAX => return Ok(Vec::new()),
        Among::Lists => ("SELECT film FROM entry WHERE ?1 IS NULL", None),
        Among::These(these) => {
            let these = serde_json::Value::from(&these[..]).to_string();
            ("SELECT value FROM json_each(?1)", Some(these))
        }
    };
    let sql = format!(
        "SELECT {} FROM film LEFT JOIN poster ON poster.film = film.number WHERE film.number IN ({films})
         AND coalesce(poster.asked_ms + iif(poster.small IS NULL, ?3, ?4) <= ?2, TRUE)
         ORDER BY poster.asked_ms, film.number LIMIT ?5",
        Film::COLUMNS
    );
    let mut statement = db.prepare_cached(&sql)?;
    let parameters = (these, now_ms, MISSING_MS, KEPT_MS, count_max as i64);
    let films = statement.query_map(parameters, Film::of)?;
    Ok(films.collect::<rusqlite::Result<_>>()?)
}

/// The number of films that were asked for.
fn asked(db: &Connection) -> Result<i64> {
    let mut statement = db.prepare_cached("SELECT count(*) FROM poster")?;
    Ok(statement.query_row([], |row| row.get(0))?)
}

/// What TMDB is asked by.
fn identity(film: &Film) -> (Kind, &str, Option<i64>, Option<i64>) {
    let facts = &film.facts;
    (facts.kind, &facts.title, facts.year, facts.imdb)
}

/// Keeps what was found of a film, in place of what was kept before. Keeps nothing if the film was removed or corrected since it was
/// asked for, or if its number is another film's after a restore: it is asked for again then.
///
/// # Errors
/// SQLite's error.
pub fn keep(db: &Connection, asked: &Film, now_ms: i64, found: &Found) -> Result<()> {
    let film = asked.number;
    let is_this = |now: &Film| now.id == asked.id && identity(now) == identity(asked);
    match films::by_number(db, film) {
        Ok(now) if is_this(&now) => {}
        Ok(_) | Err(Error::NotFound(_)) => return Ok(()),
        Err(error) => return Err(error),
    }
    let sql = "INSERT INTO poster VALUES (?1, ?2, ?3, ?4)
               ON CONFLICT DO UPDATE SET asked_ms = excluded.asked_ms, small = excluded.small, large = excluded.large";
    let [small, large] = match &found.pictures {
        Some([small, large]) => [Some(small), Some(large)],
        None => [None, None],
    };
    db.prepare_cached(sql)?
        .execute((film, now_ms, small, large))?;
    db.prepare_cached("DELETE FROM synopsis WHERE film = ?1")?
        .execute([film])?;
    let mut insert = db.prepare_cached("INSERT INTO synopsis VALUES (?1, ?2, ?3)")?;
    for (language, text) in &found.synopses {
        insert.execute((film, language.tag(), text))?;
    }
    Ok(())
}

/// Returns the poster of the film with this id, if it has one.
///
/// # Errors
/// SQLite's error.
pub fn picture(db: &Connection, film: Ulid, size: Size) -> Result<Option<Vec<u8>>> {
    let sql = match size {
        Size::Small => "SELECT small FROM poster JOIN film ON number = film WHERE id = ?1",
        Size::Large => "SELECT large FROM poster JOIN film ON number = film WHERE id = ?1",
    };
    let picture = db
        .prepare_cached(sql)?
        .query_row([film.to_bytes()], |row| row.get(0));
    Ok(picture.optional()?.flatten())
}

/// Returns the synopsis of a film in a language, or in English if there is none.
///
/// # Errors
/// SQLite's error.
pub fn synopsis(db: &Connection, film: i64, language: Language) -> Result<Option<String>> {
    let sql = "SELECT text FROM synopsis WHERE film = ?1 AND language IN (?2, ?3) ORDER BY language = ?2 DESC LIMIT 1";
    let english = Language::English.tag();
    let mut statement = db.prepare_cached(sql)?;
    let text = statement.query_row((film, language.tag(), english), |row| row.get(0));
    Ok(text.optional()?)
}
