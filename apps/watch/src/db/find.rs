//! Finding films, as the words are typed.
//!
//! First come the films of just this title, and those of this title and year; then titles that begin with it; then films in
//! which every word is the beginning of one in the title, a name, a genre, or the year. When there is nothing of all that,
//! words that are spelt nearly so are taken too.

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

/// Looks for films. Where nothing was typed, the newest.
///
/// # Errors
/// What SQLite says.
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

/// The films of this title and year, whatever the accents and signs, the nearest first, each with its
/// [distance](Title::distance).
///
/// # Errors
/// What SQLite says.
pub fn same(db: &Connection, title: &str, year: Option<i64>) -> Result<Vec<(usize, Film)>> {
    let typed = Title::of(title);
    let films = with_keys(db, &typed, "")?.into_iter();
    let near = |film: Film| Some((Title::of(&film.facts.title).distance(&typed)?, film));
    let mut films: Vec<_> = films
        .filter(|film| film.facts.year == year)
        .filter_map(near)
        .collect();
    films.sort_by_key(|(distance, film)| (*distance, film.number));
    Ok(films)
}

/// The film of this title and year, whatever the accents and signs.
///
/// # Errors
/// What SQLite says.
pub fn by_title(db: &Connection, title: &str, year: Option<i64>) -> Result<Option<Film>> {
    Ok(same(db, title, year)?
        .into_iter()
        .next()
        .map(|(_, film)| film))
}

/// How much further than a title that is nearly the one is a title without the number that was typed behind it.
const FIRST: usize = 20;

/// How much further than all of these is the film of a year before or after the one that was typed: countries and catalogues
/// differ in it.
const NEXT_YEAR: usize = 2 * FIRST;

/// The films of just this title, or of the title and the year that were typed, the nearest first.
fn titled(db: &Connection, text: &str, within: &str) -> Result<Vec<Film>> {
    let mut ranked: Vec<(usize, Film)> = Vec::new();
    let typed = Title::of(text);
    for film in with_keys(db, &typed, within)? {
        let distance = Title::of(&film.facts.title)
            .distance(&typed)
            .unwrap_or(FIRST);
        // Before a title and year comes only a title that has the year in itself.
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

/// Each year in a text, with the rest of it.
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

/// The films that have a key in common with a title.
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

/// Films whose titles begin with what was typed, the shortest first.
fn beginning(db: &Connection, typed: &Title, within: &str) -> Result<Vec<Film>> {
    let (first, last) = (typed.whole(), format!("{}\u{10ffff}", typed.whole()));
    // A film has three keys at most.
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

/// The condition on genre and decade of a film in `film_key`; the expression is bound as the second.
fn and_within(within: &str) -> &'static str {
    match within {
        "" => "AND ?2 = ''",
        _ => {
            "AND EXISTS (SELECT 1 FROM film_search WHERE rowid = film_key.film AND film_search MATCH ?2)"
        }
    }
}

/// The words of a text, as the index has them.
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

/// A word that may go on, or if it is a number, any way to write that.
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

/// Looks for more where there is room, and adds what isn't there yet.
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
