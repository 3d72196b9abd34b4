//! Film search while the user types.
//!
//! The results are ordered: films with exactly this title, or this title and year; titles that begin with the text;
//! films in which every word is a prefix of a word of the title, a name, a genre, or the year. Without such a film,
//! similarly spelled words match too.

use super::{
    film::{Film, YEARS},
    spelling::{self, beginning_of},
};
use crate::{
    Result,
    title::{self, Title},
};
use rusqlite::Connection;
use unicode_normalization::UnicodeNormalization;

/// The maximum number of results.
pub const FILMS_MAX: usize = 60;

/// The maximum number of words of a query; further words are ignored.
const WORDS_MAX: usize = 12;

/// The weights of a word of the title, of a name, of a genre, and of the year.
const WEIGHTS: &str = "10.0, 4.0, 2.0, 1.0";

/// The parameters of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// The text of the query.
    pub text: String,
    /// The genre.
    pub genre: Option<String>,
    /// The first year of a decade.
    pub decade: Option<i64>,
}

/// The results of a search.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The films, best first, at most [`FILMS_MAX`].
    pub films: Vec<Film>,
    /// Whether the results match a similar spelling instead of the text.
    pub is_guess: bool,
}

/// Searches films. An empty query returns the newest.
///
/// # Errors
/// SQLite's error.
pub fn find(db: &Connection, query: &Query) -> Result<Found> {
    let (typed, words, within) = (Title::of(&query.text), words(&query.text), within(query));
    let sure = |films| Found {
        films,
        is_guess: false,
    };
    if typed.is_empty() {
        return newest(db, &within).map(sure);
    }
    let mut films = titled(db, &query.text, &within)?;
    if !words.is_empty() {
        let whole_words = format!("title : ^ {}", phrase(&words));
        merge(&mut films, || matching(db, &whole_words, &within))?;
    }
    merge(&mut films, || beginning(db, &typed, &within))?;
    if !words.is_empty() {
        merge(&mut films, || matching(db, &all_of(&words), &within))?;
    }
    if !films.is_empty() {
        return Ok(sure(films));
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

/// Returns the films with this title, of any year, ignoring accents and punctuation, nearest first, each with its
/// [distance](Title::distance).
///
/// # Errors
/// SQLite's error.
pub fn of_title(db: &Connection, title: &str) -> Result<Vec<(usize, Film)>> {
    let typed = Title::of(title);
    let films = with_keys(db, &typed, "")?.into_iter();
    let near = |film: Film| Some((Title::of(&film.facts.title).distance(&typed)?, film));
    let mut films: Vec<_> = films.filter_map(near).collect();
    films.sort_by_key(|(distance, film)| (*distance, film.number));
    Ok(films)
}

/// Returns the film with this title and year, ignoring accents and punctuation.
///
/// # Errors
/// SQLite's error.
pub fn by_title(db: &Connection, title: &str, year: Option<i64>) -> Result<Option<Film>> {
    let films = of_title(db, title)?.into_iter().map(|(_, film)| film);
    Ok(films.into_iter().find(|film| film.facts.year == year))
}

/// The additional distance of a title that lacks the number at the end of the query.
const FIRST: usize = 20;

/// The additional distance of a film released one year earlier or later: countries and catalogues differ about the
/// year.
const NEXT_YEAR: usize = 2 * FIRST;

/// Returns the films with exactly this title, or this title and year, nearest first.
fn titled(db: &Connection, text: &str, within: &str) -> Result<Vec<Film>> {
    let mut ranked: Vec<(usize, Film)> = Vec::new();
    let typed = Title::of(text);
    for film in with_keys(db, &typed, within)? {
        let distance = Title::of(&film.facts.title)
            .distance(&typed)
            .unwrap_or(FIRST);
        // Only a title that contains the year precedes a title and year.
        ranked.push((
            if distance < 2 {
                distance
            } else {
                distance + 10
            },
            film,
        ));
    }
    for (title, year) in with_year(text) {
        let title = Title::of(&title);
        let films = with_keys(db, &title, within)?.into_iter();
        for film in films {
            let off = film
                .facts
                .year
                .map_or(u64::MAX, |other| other.abs_diff(year));
            let distance = Title::of(&film.facts.title)
                .distance(&title)
                .unwrap_or(FIRST);
            match off {
                0 => ranked.push((distance + 2, film)),
                1 => ranked.push((distance + NEXT_YEAR, film)),
                _ => {}
            }
        }
    }
    ranked.sort_by_key(|(rank, film)| (*rank, std::cmp::Reverse(film.facts.year), film.number));
    let mut films = Vec::new();
    merge(&mut films, || {
        Ok(ranked.into_iter().map(|(_, film)| film).collect())
    })?;
    Ok(films)
}

/// Returns each year in a text with the rest of the text.
fn with_year(text: &str) -> Vec<(String, i64)> {
    let words: Vec<&str> = text.split_whitespace().take(WORDS_MAX * 2).collect();
    let year = |word: &str| {
        let digits = word.trim_matches(|c: char| c.is_ascii_punctuation());
        let year = digits.parse().ok().filter(|year| YEARS.contains(year));
        year.filter(|_| digits.len() == 4)
    };
    let rest = |at: usize| [&words[..at], &words[at + 1..]].concat().join(" ");
    let years = words
        .iter()
        .enumerate()
        .filter_map(|(at, word)| Some((rest(at), year(word)?)));
    years.collect()
}

/// Returns the films that share a search key with a title.
fn with_keys(db: &Connection, title: &Title, within: &str) -> Result<Vec<Film>> {
    let mut keys = title.keys();
    keys.extend(title.first());
    let sql = format!(
        "SELECT {} FROM film WHERE number IN
           (SELECT film FROM film_key WHERE key IN (SELECT value FROM json_each(?1)) {})",
        Film::COLUMNS,
        and_within(within)
    );
    let mut statement = db.prepare_cached(&sql)?;
    let films = statement.query_map((serde_json::json!(keys).to_string(), within), Film::of)?;
    Ok(films.collect::<rusqlite::Result<_>>()?)
}

/// Returns films whose titles begin with the text, shortest first.
fn beginning(db: &Connection, typed: &Title, within: &str) -> Result<Vec<Film>> {
    let (first, last) = (typed.whole(), format!("{}\u{10ffff}", typed.whole()));
    // A film has at most three keys.
    let sql = format!(
        "SELECT {} FROM
           (SELECT film AS number, length(key) AS letters FROM film_key
            WHERE key BETWEEN ?1 AND ?3 {} ORDER BY letters, film LIMIT 3 * {FILMS_MAX}) found
         CROSS JOIN film USING (number) ORDER BY found.letters, film.number",
        Film::COLUMNS,
        and_within(within)
    );
    let mut statement = db.prepare_cached(&sql)?;
    let films = statement.query_map((first, within, last), Film::of)?;
    Ok(films.collect::<rusqlite::Result<_>>()?)
}

/// The condition on genre and decade of a film in `film_key`; the expression is bound as the second parameter.
fn and_within(within: &str) -> &'static str {
    match within {
        "" => "AND ?2 = ''",
        _ => {
            "AND EXISTS (SELECT 1 FROM film_search WHERE rowid = film_key.film AND film_search MATCH ?2)"
        }
    }
}

/// Splits a text into words as the index does.
pub fn words(text: &str) -> Vec<String> {
    let plain: String = text.nfd().filter(|&c| !title::is_accent(c)).nfc().collect();
    let words = plain.split(is_sign).filter(|word| !word.is_empty());
    words.take(WORDS_MAX).map(str::to_lowercase).collect()
}

fn is_sign(c: char) -> bool {
    !c.is_alphanumeric()
}

fn phrase(words: &[String]) -> String {
    format!("\"{}\"", words.join(" "))
}

fn all_of(words: &[String]) -> String {
    let parts: Vec<String> = words.iter().map(|word| any_of(word)).collect();
    parts.join(" AND ")
}

/// A prefix query for a word, or for a number, all its spellings.
fn any_of(word: &str) -> String {
    let number = title::number(word).into_iter().flat_map(title::numerals);
    let others = number.filter(|other| other != word);
    others.fold(beginning_of(word), |any, other| {
        match any.strip_prefix('(') {
            Some(rest) => format!("(\"{other}\" OR {rest}"),
            None => format!("(\"{other}\" OR {any})"),
        }
    })
}

/// The condition on genre and decade, to be appended to another.
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

/// Runs a further search while there is room, and appends new results.
fn merge(films: &mut Vec<Film>, more: impl FnOnce() -> Result<Vec<Film>>) -> Result<()> {
    if films.len() < FILMS_MAX {
        for film in more()? {
            if films.len() < FILMS_MAX && !films.iter().any(|known| known.number == film.number) {
                films.push(film);
            }
        }
    }
    Ok(())
}
