//! Finding films, as the words are typed.
//!
//! Every word is the beginning of one in the title, a name, a genre, or the year. When nothing has all of them, words that
//! are spelt nearly so are taken too.

use super::spelling;
use crate::{Result, db::films::Film};
use rusqlite::Connection;
use std::fmt::Write;

/// Films found at once.
pub const FILMS_MAX: usize = 60;

/// Words of a query; what comes after is ignored.
const WORDS_MAX: usize = 12;

/// What weighs more: a word of the title, of a name, of a genre, or the year.
const WEIGHTS: &str = "10.0, 4.0, 2.0, 1.0";

/// What to look for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// What was typed.
    pub text: String,
    /// Of this genre.
    pub genre: Option<String>,
    /// Of the ten years from this one on.
    pub decade: Option<i64>,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The best first, [`FILMS_MAX`] at most.
    pub films: Vec<Film>,
    /// Whether it is not what was typed but what is spelt nearly so.
    pub is_guess: bool,
}

/// Looks for films. Without any words, the newest.
///
/// # Errors
/// What SQLite says.
pub fn find(db: &Connection, query: &Query) -> Result<Found> {
    let words = words(&query.text);
    let within = within(query);
    if words.is_empty() {
        let films = newest(db, &within)?;
        return Ok(Found {
            films,
            is_guess: false,
        });
    }
    let mut films = beginning(db, &words, &within)?;
    if films.len() < FILMS_MAX {
        merge(&mut films, matching(db, &all_of(&words), &within)?);
    }
    if !films.is_empty() {
        return Ok(Found {
            films,
            is_guess: false,
        });
    }
    let guess = spelling::nearby(db, &words)?;
    let films = match guess {
        Some(expression) => matching(db, &expression, &within)?,
        None => Vec::new(),
    };
    Ok(Found {
        films,
        is_guess: true,
    })
}

/// The film of exactly these words in its title, whatever the accents and signs, and of this year if one is given.
///
/// # Errors
/// What SQLite says.
pub fn by_title(db: &Connection, title: &str, year: Option<i64>) -> Result<Option<Film>> {
    let words = words(title);
    if words.is_empty() {
        return by_signs(db, title, year);
    }
    let mut expression = format!("title : ^ {}", phrase(&words));
    if let Some(year) = year {
        let _ = write!(expression, " AND year : \"{year}\"");
    }
    let films = matching(db, &expression, "")?;
    let count = words.len();
    let is_it = |film: &Film| {
        film.facts
            .title
            .split(is_sign)
            .filter(|w| !w.is_empty())
            .count()
            == count
            && (year.is_some() || film.facts.year.is_none())
    };
    Ok(films.into_iter().find(is_it))
}

/// The film of a title without letters and digits.
fn by_signs(db: &Connection, title: &str, year: Option<i64>) -> Result<Option<Film>> {
    let sql = format!(
        "SELECT {} FROM film WHERE title = ?1 AND year IS ?2",
        Film::COLUMNS
    );
    let mut statement = db.prepare_cached(&sql)?;
    let mut films = statement.query_map((title.trim(), year), Film::of)?;
    Ok(films.next().transpose()?)
}

/// The words of a text, as the index has them but for accents.
pub fn words(text: &str) -> Vec<String> {
    let words = text.split(is_sign).filter(|word| !word.is_empty());
    words.take(WORDS_MAX).map(str::to_lowercase).collect()
}

fn is_sign(c: char) -> bool {
    !c.is_alphanumeric()
}

fn phrase(words: &[String]) -> String {
    format!("\"{}\"", words.join(" "))
}

fn all_of(words: &[String]) -> String {
    let parts: Vec<String> = words.iter().map(|word| beginning_of(word)).collect();
    parts.join(" AND ")
}

/// A word that may go on; a single letter is one of its own, or nearly every film would match.
pub(super) fn beginning_of(word: &str) -> String {
    let star = if word.chars().count() > 1 { "*" } else { "" };
    format!("\"{word}\"{star}")
}

/// The condition on genre and decade, to be added to another.
fn within(query: &Query) -> String {
    let mut within = Vec::new();
    let genre = query.genre.as_deref().map(words).unwrap_or_default();
    if !genre.is_empty() {
        within.push(format!("genres : {}", phrase(&genre)));
    }
    if let Some(decade) = query.decade {
        let years = decade..decade.saturating_add(10);
        let years: Vec<String> = years.map(|year| format!("\"{year}\"")).collect();
        within.push(format!("year : ({})", years.join(" OR ")));
    }
    within.join(" AND ")
}

fn both(one: &str, other: &str) -> String {
    match (one, other) {
        ("", only) | (only, "") => only.to_owned(),
        _ => format!("({one}) AND {other}"),
    }
}

/// Films whose titles begin with these words, the last of them unfinished.
fn beginning(db: &Connection, words: &[String], within: &str) -> Result<Vec<Film>> {
    let expression = format!("title : ^ {} *", phrase(words));
    let mut films = matching(db, &expression, within)?;
    // The title that is nothing but these words first.
    films.sort_by_key(|film| self::words(&film.facts.title) != words);
    Ok(films)
}

fn matching(db: &Connection, expression: &str, within: &str) -> Result<Vec<Film>> {
    let sql = format!(
        "SELECT {} FROM
           (SELECT rowid AS number, bm25(film_search, {WEIGHTS}) AS score FROM film_search
            WHERE film_search MATCH ?1 ORDER BY score LIMIT {FILMS_MAX}) found
         CROSS JOIN film USING (number) ORDER BY found.score, film.number",
        Film::COLUMNS
    );
    let mut statement = db.prepare_cached(&sql)?;
    let films = statement.query_map([both(expression, within)], Film::of)?;
    Ok(films.collect::<rusqlite::Result<_>>()?)
}

fn newest(db: &Connection, within: &str) -> Result<Vec<Film>> {
    let from = if within.is_empty() {
        "?1 = ''"
    } else {
        "number IN (SELECT rowid FROM film_search WHERE film_search MATCH ?1)"
    };
    let sql = format!(
        "SELECT {} FROM
           (SELECT number, year FROM film WHERE {from} ORDER BY year DESC, number LIMIT {FILMS_MAX}) found
         CROSS JOIN film USING (number) ORDER BY found.year DESC, film.number",
        Film::COLUMNS
    );
    let mut statement = db.prepare_cached(&sql)?;
    let films = statement.query_map([within], Film::of)?;
    Ok(films.collect::<rusqlite::Result<_>>()?)
}

/// Adds what isn't there yet, as far as there is room.
fn merge(films: &mut Vec<Film>, more: Vec<Film>) {
    for film in more {
        if films.len() < FILMS_MAX && !films.iter().any(|known| known.number == film.number) {
            films.push(film);
        }
    }
}
