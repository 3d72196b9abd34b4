//! Film search while the user types.
//!
//! The results are ordered: films with exactly this title, or this title and year; titles that begin with the text;
//! films in which every word is a prefix of a word of the title, a name, a genre, or the year. Without such a film,
//! similarly spelled words match too: those with the fewest errors, and if no film has them, others.

use super::{
    film::{Facts, Film, Kind, YEARS},
    spelling,
};
use crate::{
    Result, date,
    title::{self, Title},
};
use rusqlite::{Connection, OptionalExtension};
use std::collections::HashSet;
use unicode_normalization::UnicodeNormalization;

/// The number of results of a page.
pub const PAGE_FILMS: usize = 60;

/// The maximum number of pages.
pub const PAGES_MAX: usize = 50;

/// The maximum number of words of a query; further words are ignored.
const WORDS_MAX: usize = 12;

/// The number of films that a step of a search ranks at most, or as many as the page needs.
const CANDIDATES_MAX: usize = 1000;

/// The same for a search with a [frequent](FREQUENT) word.
const PLAIN_MAX: usize = 300;

/// The number of films from which on a word is frequent.
const FREQUENT: usize = 10_000;

/// The weights of a word of the title, of a name, of a genre, of the year, and of the original title.
const WEIGHTS: &str = "10.0, 4.0, 2.0, 1.0, 8.0";

/// The parameters of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// The text of the query.
    pub text: String,
    /// The genre.
    pub genre: Option<String>,
    /// The first year of a decade.
    pub decade: Option<i64>,
    /// Only films, or only series.
    pub kind: Option<Kind>,
    /// The page, from 0, below [`PAGES_MAX`].
    pub page: usize,
}

/// The results of a search.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The films, best first, at most [`PAGE_FILMS`].
    pub films: Vec<Film>,
    /// Whether there is a further page.
    pub has_more: bool,
    /// Whether the results match a similar spelling instead of the text.
    pub is_guess: bool,
}

/// Searches films. An empty query returns the newest.
///
/// # Errors
/// SQLite's error.
pub fn find(db: &Connection, query: &Query) -> Result<Found> {
    let page = query.page.min(PAGES_MAX - 1);
    let first = page * PAGE_FILMS;
    // One film more says whether there is a further page.
    let mut hits = Hits::new(first + PAGE_FILMS + 1);
    let is_guess = search(db, query, &mut hits)?;
    let mut films = hits.films;
    films.drain(..first.min(films.len()));
    let has_more = films.len() > PAGE_FILMS && page + 1 < PAGES_MAX;
    films.truncate(PAGE_FILMS);
    Ok(Found {
        films,
        has_more,
        is_guess,
    })
}

/// The results, each once, up to a limit.
struct Hits {
    films: Vec<Film>,
    numbers: HashSet<i64>,
    limit: usize,
}

impl Hits {
    fn new(limit: usize) -> Self {
        let (films, numbers) = (Vec::new(), HashSet::new());
        Hits {
            films,
            numbers,
            limit,
        }
    }

    /// Runs a further search for at most so many films while there is room, and appends new results.
    fn merge(&mut self, more: impl FnOnce(usize) -> Result<Vec<Film>>) -> Result<()> {
        if self.films.len() < self.limit {
            for film in more(self.limit)? {
                if self.films.len() < self.limit && self.numbers.insert(film.number) {
                    self.films.push(film);
                }
            }
        }
        Ok(())
    }
}

/// Runs the searches one after the other, the surest first. Returns whether the results are a guess.
fn search(db: &Connection, query: &Query, hits: &mut Hits) -> Result<bool> {
    let (typed, words, within) = (
        Title::of(&query.text),
        words(&query.text),
        Within::of(query),
    );
    if typed.is_empty() {
        let this_year = date::year(date::now_ms());
        for years in [
            Years::Until(this_year),
            Years::After(this_year),
            Years::Unknown,
        ] {
            hits.merge(|limit| newest(db, query, &within, years, limit))?;
        }
        return Ok(false);
    }
    hits.merge(|_| titled(db, &query.text, &within))?;
    let rank = Rank::of(db, &words, &within)?;
    if !words.is_empty() {
        let whole_words = format!("{{title original}} : ^ {}", phrase(&words));
        hits.merge(|limit| matching(db, &whole_words, &within, &rank, limit))?;
    }
    hits.merge(|limit| beginning(db, &typed, &within, limit))?;
    if typed.may_be_inside() {
        hits.merge(|limit| inside(db, &typed, &within, limit))?;
    }
    if !words.is_empty() {
        hits.merge(|limit| matching(db, &all_of(&rank), &within, &rank, limit))?;
    }
    if !hits.films.is_empty() {
        return Ok(false);
    }
    let nearby = spelling::nearby(db, &words)?;
    for text in &nearby.texts {
        hits.merge(|_| titled(db, text, &within))?;
    }
    for expression in nearby.expressions {
        if hits.films.is_empty() {
            hits.merge(|limit| matching(db, &expression, &within, &rank, limit))?;
        }
    }
    Ok(true)
}

/// Returns the films with this title, of any year, ignoring accents and punctuation, nearest first, each with its
/// [distance](Title::distance).
///
/// # Errors
/// SQLite's error.
pub fn of_title(db: &Connection, title: &str) -> Result<Vec<(usize, Film)>> {
    let typed = Title::of(title);
    let films = with_keys(db, &typed, &Within::default())?.into_iter();
    let near = |film: Film| Some((film.facts.distance(&typed)?, film));
    let mut films: Vec<_> = films.filter_map(near).collect();
    films.sort_by_key(|(distance, film)| (*distance, film.number));
    Ok(films)
}

/// Returns the film with the title, the year and the kind of these facts, ignoring accents and punctuation.
///
/// # Errors
/// SQLite's error.
pub fn same(db: &Connection, facts: &Facts) -> Result<Option<Film>> {
    let films = of_title(db, &facts.title)?
        .into_iter()
        .map(|(_, film)| film);
    let is_same = |film: &Film| film.facts.year == facts.year && film.facts.kind == facts.kind;
    Ok(films.into_iter().find(is_same))
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
fn titled(db: &Connection, text: &str, within: &Within) -> Result<Vec<Film>> {
    let mut ranked: Vec<(usize, Film)> = Vec::new();
    let typed = Title::of(text);
    for film in with_keys(db, &typed, within)? {
        let distance = film.facts.distance(&typed).unwrap_or(FIRST);
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
            let distance = film.facts.distance(&title).unwrap_or(FIRST);
            match off {
                0 => ranked.push((distance + 2, film)),
                1 => ranked.push((distance + NEXT_YEAR, film)),
                _ => {}
            }
        }
    }
    ranked.sort_by_key(|(rank, film)| (*rank, std::cmp::Reverse(film.facts.year), film.number));
    Ok(ranked.into_iter().map(|(_, film)| film).collect())
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
fn with_keys(db: &Connection, title: &Title, within: &Within) -> Result<Vec<Film>> {
    let mut keys = title.keys();
    keys.extend(title.first());
    let sql = format!(
        "SELECT {} FROM film WHERE number IN
           (SELECT film FROM film_key WHERE key IN (SELECT value FROM json_each(?1)) {})",
        Film::COLUMNS,
        within.and("film_key")
    );
    let mut statement = db.prepare_cached(&sql)?;
    let bound = (serde_json::json!(keys).to_string(), &within.expression);
    let films = statement.query_map(bound, Film::of)?;
    Ok(films.collect::<rusqlite::Result<_>>()?)
}

/// Returns films whose titles begin with the text, shortest first.
fn beginning(db: &Connection, typed: &Title, within: &Within, limit: usize) -> Result<Vec<Film>> {
    in_range(db, "film_key", "key", typed, within, limit)
}

/// Returns films whose titles have the text inside, in scripts without blanks between words; the nearest to the end first.
fn inside(db: &Connection, typed: &Title, within: &Within, limit: usize) -> Result<Vec<Film>> {
    in_range(db, "film_ending", "ending", typed, within, limit)
}

/// Returns films of an index of titles whose keys begin with the text, shortest first.
fn in_range(
    db: &Connection,
    table: &str,
    key: &str,
    typed: &Title,
    within: &Within,
    limit: usize,
) -> Result<Vec<Film>> {
    let (first, last) = (typed.whole(), format!("{}\u{10ffff}", typed.whole()));
    let longest = format!("SELECT coalesce(max(length({key})), 0) FROM {table}");
    let longest: i64 = db
        .prepare_cached(&longest)?
        .query_row([], |row| row.get(0))?;
    let sql = format!(
        "SELECT film FROM
           (SELECT film FROM {table} WHERE length({key}) = ?4 AND {key} BETWEEN ?1 AND ?3 ORDER BY {key}, film LIMIT ?5) AS {table}
         WHERE true {}",
        within.and(table)
    );
    let mut of_length = db.prepare_cached(&sql)?;
    // A film has several keys.
    let (mut films, mut left) = (Vec::new(), CANDIDATES_MAX.max(3 * limit) as i64);
    for letters in first.chars().count() as i64..=longest {
        if films.len() >= limit || left <= 0 {
            break;
        }
        let mut rows = of_length.query((first, &within.expression, &last, letters, left))?;
        while let Some(row) = rows.next()? {
            let film: i64 = row.get(0)?;
            left -= 1;
            if !films.contains(&film) {
                films.push(film);
            }
        }
    }
    films.truncate(limit);
    let sql = format!(
        "SELECT {} FROM json_each(?1) place CROSS JOIN film ON film.number = place.value ORDER BY place.key",
        Film::COLUMNS
    );
    let mut statement = db.prepare_cached(&sql)?;
    let films = statement.query_map([serde_json::json!(films).to_string()], Film::of)?;
    Ok(films.collect::<rusqlite::Result<_>>()?)
}

/// Splits a text into words as the index does.
pub fn words(text: &str) -> Vec<String> {
    let mut words = all_words(text);
    words.truncate(WORDS_MAX);
    words
}

/// Like [`words`], without a maximum.
pub fn all_words(text: &str) -> Vec<String> {
    let plain: String = text.nfd().filter(|&c| !title::is_accent(c)).nfc().collect();
    let words = plain.split(is_sign).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

fn is_sign(c: char) -> bool {
    !c.is_alphanumeric()
}

fn phrase(words: &[String]) -> String {
    format!("\"{}\"", words.join(" "))
}

fn all_of(rank: &Rank<'_>) -> String {
    let last = rank.words.len().saturating_sub(1);
    let words = rank.words.iter().zip(&rank.are_frequent).enumerate();
    // Of a frequent word, only the one that is being typed may be the beginning of another.
    let parts: Vec<String> = words
        .map(|(at, (word, is_frequent))| any_of(word, !is_frequent || at == last))
        .collect();
    parts.join(" AND ")
}

/// A query for a word, or for words that begin with it; for a number, all its spellings.
fn any_of(word: &str, is_beginning: bool) -> String {
    let number = title::number(word).into_iter().flat_map(title::numerals);
    let others = number.filter(|other| other != word);
    let word = spelling::query(word, is_beginning);
    others.fold(word, |any, other| match any.strip_prefix('(') {
        Some(rest) => format!("(\"{other}\" OR {rest}"),
        None => format!("(\"{other}\" OR {any})"),
    })
}

/// What all results have in common.
#[derive(Default)]
struct Within {
    /// The condition on genre and decade, as an expression of the index; empty if there is none.
    expression: String,
    kind: Option<Kind>,
}

impl Within {
    fn of(query: &Query) -> Self {
        let mut within = Vec::new();
        let genre = query.genre.as_deref().map(words).unwrap_or_default();
        if !genre.is_empty() {
            within.push(format!("genres : {}", phrase(&genre)));
        }
        if let Some(decade) = query.decade {
            let years = decade..=decade.saturating_add(9);
            let years: Vec<String> = years.map(|year| format!("\"{year}\"")).collect();
            within.push(format!("year : ({})", years.join(" OR ")));
        }
        Within {
            expression: within.join(" AND "),
            kind: query.kind,
        }
    }

    /// The condition on a film in a table; the expression is bound as the second parameter.
    fn and(&self, table: &str) -> String {
        let of_kind = self.of_kind(&format!("{table}.film"));
        match &*self.expression {
            "" => format!("AND ?2 = '' {of_kind}"),
            _ => format!(
                "AND EXISTS (SELECT 1 FROM film_search WHERE rowid = {table}.film AND film_search MATCH ?2) {of_kind}"
            ),
        }
    }

    /// The condition on the kind of a film with this number.
    fn of_kind(&self, number: &str) -> String {
        self.kind.map_or_else(String::new, |kind| {
            let is_series = i32::from(kind == Kind::Series);
            format!(
                "AND (SELECT own.is_series FROM film own WHERE own.number = {number}) = {is_series}"
            )
        })
    }
}

fn both(one: &str, other: &str) -> String {
    match (one, other) {
        ("", only) | (only, "") => only.to_owned(),
        _ => format!("({one}) AND {other}"),
    }
}

/// How the films of a step are ranked. BM25 counts all films that have a word, which takes long for frequent words, and says
/// little of them.
struct Rank<'a> {
    words: &'a [String],
    are_frequent: Vec<bool>,
    /// Whether BM25 would count a frequent word.
    is_plain: bool,
}

impl<'a> Rank<'a> {
    fn of(db: &Connection, words: &'a [String], within: &Within) -> Result<Self> {
        let are_frequent = words
            .iter()
            .map(|word| is_frequent(db, &spelling::query(word, false)));
        let are_frequent = are_frequent.collect::<Result<Vec<bool>>>()?;
        let is_plain = are_frequent.contains(&true)
            || (!within.expression.is_empty() && is_frequent(db, &within.expression)?);
        Ok(Rank {
            words,
            are_frequent,
            is_plain,
        })
    }

    /// The rank of a film, the best first: where it has the words, then the length of its title.
    fn plain(&self, film: &Film) -> (i64, usize, i64) {
        let titles: Vec<String> = film.facts.titles().flat_map(all_words).collect();
        let people = &film.facts.people;
        let people: Vec<String> = people.iter().flat_map(|name| all_words(name)).collect();
        let points = |word: &String| {
            let begins = |words: &[String]| words.iter().any(|other| other.starts_with(word));
            match () {
                () if titles.contains(word) => 4,
                () if begins(&titles) => 3,
                () if people.contains(word) => 2,
                () if begins(&people) => 1,
                () => 0,
            }
        };
        let points: i64 = self.words.iter().map(points).sum();
        (-points, titles.len(), film.number)
    }
}

/// Whether very many films match.
fn is_frequent(db: &Connection, expression: &str) -> Result<bool> {
    Ok(row_at(db, expression, FREQUENT)?.is_some())
}

/// Returns the film that comes after so many that match, in the order in which they were added.
fn row_at(db: &Connection, expression: &str, at: usize) -> Result<Option<i64>> {
    let sql = "SELECT rowid FROM film_search WHERE film_search MATCH ?1 LIMIT 1 OFFSET ?2";
    let mut statement = db.prepare_cached(sql)?;
    let row = statement.query_row((expression, at as i64), |row| row.get(0));
    Ok(row.optional()?)
}

/// Returns the films that match an expression, best first. Of very many it ranks those that were added first.
fn matching(
    db: &Connection,
    expression: &str,
    within: &Within,
    rank: &Rank<'_>,
    limit: usize,
) -> Result<Vec<Film>> {
    let expression = both(expression, &within.expression);
    let of_kind = within.of_kind("film_search.rowid");
    if rank.is_plain {
        let sql = format!(
            "SELECT {} FROM (SELECT rowid AS number FROM film_search WHERE film_search MATCH ?1 {of_kind} LIMIT ?2) found
             CROSS JOIN film USING (number) WHERE NOT film.is_withdrawn",
            Film::COLUMNS
        );
        let mut statement = db.prepare_cached(&sql)?;
        let bound = (expression, PLAIN_MAX.max(limit) as i64);
        let films = statement.query_map(bound, Film::of)?;
        let mut films = films.collect::<rusqlite::Result<Vec<Film>>>()?;
        films.sort_by_cached_key(|film| rank.plain(film));
        films.truncate(limit);
        return Ok(films);
    }
    let last = row_at(db, &expression, CANDIDATES_MAX.max(limit))?;
    let sql = format!(
        "SELECT {} FROM
           (SELECT rowid AS number, bm25(film_search, {WEIGHTS}) AS score FROM film_search
            WHERE film_search MATCH ?1 AND rowid <= ?3 {of_kind} ORDER BY score LIMIT ?2) found
         CROSS JOIN film USING (number) WHERE NOT film.is_withdrawn ORDER BY found.score, film.number",
        Film::COLUMNS
    );
    let mut statement = db.prepare_cached(&sql)?;
    let bound = (expression, limit as i64, last.unwrap_or(i64::MAX));
    let films = statement.query_map(bound, Film::of)?;
    Ok(films.collect::<rusqlite::Result<_>>()?)
}

/// The years of films.
#[derive(Clone, Copy)]
enum Years {
    /// This one and those before.
    Until(i64),
    /// Films that are announced.
    After(i64),
    Unknown,
}

/// Returns films of these years, the newest first, and of one year those that were added last.
fn newest(
    db: &Connection,
    query: &Query,
    within: &Within,
    years: Years,
    limit: usize,
) -> Result<Vec<Film>> {
    let (from, to) = match (years, query.decade) {
        (Years::Unknown, Some(_)) => return Ok(Vec::new()),
        (Years::Unknown, None) => (None, None),
        (Years::Until(year), None) => (Some(i64::MIN), Some(year)),
        (Years::After(year), None) => (Some(year + 1), Some(i64::MAX)),
        (Years::Until(year), Some(decade)) => {
            (Some(decade), Some(year.min(decade.saturating_add(9))))
        }
        (Years::After(year), Some(decade)) => {
            (Some(decade.max(year + 1)), Some(decade.saturating_add(9)))
        }
    };
    let genre = query.genre.as_deref().map(words).unwrap_or_default();
    // Films of a frequent genre are among the newest.
    let is_walk = genre.is_empty() || is_frequent(db, &within.expression)?;
    let of_years = match from {
        Some(_) => "year BETWEEN ?1 AND ?2",
        None => "year IS ?1 AND year IS ?2",
    };
    let of_kind = within.of_kind("film.number");
    let columns = Film::COLUMNS;
    let sql = match is_walk {
        true => format!(
            "SELECT {columns} FROM film WHERE {of_years} {of_kind} AND NOT is_withdrawn AND ?3 = ?3 AND ?4 = ?4 ORDER BY year DESC, number DESC"
        ),
        false => format!(
            "SELECT {columns} FROM
               (SELECT number, year FROM film WHERE {of_years} {of_kind} AND NOT is_withdrawn
                  AND number IN (SELECT rowid FROM film_search WHERE film_search MATCH ?3)
                ORDER BY year DESC, number DESC LIMIT ?4) found
             CROSS JOIN film USING (number) ORDER BY found.year DESC, film.number DESC"
        ),
    };
    let mut statement = db.prepare_cached(&sql)?;
    let films = statement.query_map((from, to, &within.expression, limit as i64), Film::of)?;
    let has_genre = |film: &Film| {
        let mut genres = film.facts.genres.iter().map(|name| all_words(name));
        !is_walk
            || genre.is_empty()
            || genres.any(|words| words.windows(genre.len()).any(|part| part == genre))
    };
    let found = films.filter(|film| film.as_ref().map_or(true, has_genre));
    Ok(found.take(limit).collect::<rusqlite::Result<_>>()?)
}
