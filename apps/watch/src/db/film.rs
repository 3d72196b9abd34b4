//! A film and its facts.

use crate::{
    Error, Result, text,
    title::Title,
    words::{Arg, say},
};
use inorder_key::Ulid;
use rusqlite::Row;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::str::FromStr;

/// The maximum number of films on one list.
pub const ENTRIES_MAX: usize = 20_000;

/// The allowed years.
pub const YEARS: std::ops::RangeInclusive<i64> = 1870..=2100;

/// The allowed running times in minutes. The longest known film takes 35 days.
pub const MINUTES: std::ops::RangeInclusive<i64> = 1..=60_000;

/// The maximum length of a title, a name or a genre in characters. The longest known title has 231.
pub const TEXT_CHARACTERS_MAX: usize = 300;

/// The maximum number of names, and of genres, per film.
pub const NAMES_MAX: usize = 50;

/// The maximum number of seasons of a series.
pub const SEASONS_MAX: usize = 200;

/// Whether a title is a film or a series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A film.
    #[default]
    #[serde(alias = "movie")]
    Film,
    /// A series, which has seasons.
    Series,
}

impl Kind {
    /// Both kinds with their names in addresses.
    pub const ALL: [(Kind, &str); 2] = [(Kind::Film, "film"), (Kind::Series, "series")];

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Film => "film",
            Kind::Series => "series",
        }
    }

    /// The kind that the database has as `is_series`.
    pub fn of(is_series: bool) -> Self {
        match is_series {
            true => Kind::Series,
            false => Kind::Film,
        }
    }
}

impl FromStr for Kind {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        let found = Kind::ALL.iter().find(|(_, own)| *own == name);
        found.map(|(kind, _)| *kind).ok_or(())
    }
}

/// The facts of a film or a series.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// Whether it is a film or a series.
    #[serde(default)]
    pub kind: Kind,
    /// The title.
    pub title: String,
    /// The title in the language of the film, where it is another one.
    #[serde(default)]
    pub original: Option<String>,
    /// The year it came out, in [`YEARS`]; the first one of a series.
    pub year: Option<i64>,
    /// The last year of a series; none if it goes on, or if that isn't known.
    #[serde(default)]
    pub end_year: Option<i64>,
    /// The numbers of episodes of the seasons, the first one first; 0 where that isn't known. Empty for a film.
    #[serde(default)]
    pub seasons: Vec<u32>,
    /// The cast and crew.
    pub people: Vec<String>,
    /// The genres.
    pub genres: Vec<String>,
    /// The running time in minutes, of an episode of a series, in [`MINUTES`].
    pub minutes: Option<i64>,
    /// The digits of its IMDb number.
    pub imdb: Option<i64>,
}

impl Facts {
    /// The title, and the original one.
    pub fn titles(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.title.as_str()).chain(self.original.as_deref())
    }

    /// The distance of the nearest of its titles to what was typed.
    pub fn distance(&self, typed: &Title) -> Option<usize> {
        let distances = self
            .titles()
            .filter_map(|title| Title::of(title).distance(typed));
        distances.min()
    }

    /// The number of seasons of a series, 0 if it isn't known; `None` for a film.
    pub fn series(&self) -> Option<usize> {
        (self.kind == Kind::Series).then_some(self.seasons.len())
    }

    /// The years as text: `1979` for a film, `2008–2013` for a series, `2019–` for one that goes on.
    pub fn years(&self) -> Option<String> {
        let first = self.year?;
        Some(match (self.kind, self.end_year) {
            (Kind::Film, _) => first.to_string(),
            (Kind::Series, Some(last)) if last == first => first.to_string(),
            (Kind::Series, Some(last)) => format!("{first}–{last}"),
            (Kind::Series, None) => format!("{first}–"),
        })
    }

    /// Validates and normalises the facts: trims blanks, and removes empty and repeated names.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a title that is too long or invisible, and for a year out of range.
    pub fn checked(mut self) -> Result<Self> {
        self.title = text::line(&self.title);
        if !text::has_visible(&self.title) {
            return Err(Error::Invalid(say::title_invisible()));
        }
        if self.title.chars().count() > TEXT_CHARACTERS_MAX {
            return Err(Error::Invalid(say::title_long(TEXT_CHARACTERS_MAX)));
        }
        let original = self.original.map(|original| text::line(&original));
        let is_kept = |original: &String| {
            let is_short = original.chars().count() <= TEXT_CHARACTERS_MAX;
            text::has_visible(original) && is_short && *original != self.title
        };
        self.original = original.filter(is_kept);
        if self.kind == Kind::Film {
            self.end_year = None;
            self.seasons.clear();
        }
        let mut years = self.year.into_iter().chain(self.end_year);
        if years.any(|year| !YEARS.contains(&year)) {
            let (first, last) = YEARS.into_inner();
            let (first, last) = (first.to_string(), last.to_string());
            return Err(Error::Invalid(say::year_wrong(
                Arg::key(first),
                Arg::key(last),
            )));
        }
        if matches!((self.year, self.end_year), (Some(first), Some(last)) if last < first) {
            return Err(Error::Invalid(say::end_year_wrong()));
        }
        if self.seasons.len() > SEASONS_MAX {
            return Err(Error::Invalid(say::seasons_max(SEASONS_MAX)));
        }
        if self
            .minutes
            .is_some_and(|minutes| !MINUTES.contains(&minutes))
        {
            let (first, last) = MINUTES.into_inner();
            return Err(Error::Invalid(say::minutes_wrong(first, last)));
        }
        self.people = names(self.people);
        self.genres = names(self.genres);
        Ok(self)
    }
}

fn names(names: Vec<String>) -> Vec<String> {
    let mut tidy: Vec<String> = Vec::new();
    for name in names.iter().map(|name| text::line(name)) {
        let is_fine = text::has_visible(&name) && name.chars().count() <= TEXT_CHARACTERS_MAX;
        if is_fine && !tidy.contains(&name) && tidy.len() < NAMES_MAX {
            tidy.push(name);
        }
    }
    tidy
}

/// A film.
#[derive(Clone, Debug)]
pub struct Film {
    /// The rowid, used by other tables and never shown.
    pub number: i64,
    /// The public id, which contains the time at which the film was added.
    pub id: Ulid,
    /// The facts.
    pub facts: Facts,
    /// The time at which its poster was fetched, if it has one.
    pub poster_ms: Option<i64>,
}

impl Film {
    /// The columns that [`Film::of`] reads, of a table `film`.
    pub const COLUMNS: &str = "film.number, film.id, film.title, film.year, film.people, film.genres, film.minutes, film.imdb, film.original, \
         film.is_series, film.end_year, film.seasons, \
         (SELECT asked_ms FROM poster WHERE poster.film = film.number AND small IS NOT NULL)";

    /// The number of columns in [`Film::COLUMNS`].
    pub const COLUMN_COUNT: usize = 13;

    /// The film in the format of the API and the export.
    pub fn as_json(&self) -> Value {
        json!({
            "film": self.id.to_string(),
            "kind": self.facts.kind,
            "title": self.facts.title,
            "original_title": self.facts.original,
            "year": self.facts.year,
            "end_year": self.facts.end_year,
            "seasons": self.facts.seasons,
            "people": self.facts.people,
            "genres": self.facts.genres,
            "minutes": self.facts.minutes,
            "imdb": self.facts.imdb.map(|imdb| format!("tt{imdb:07}")),
        })
    }

    /// Reads a film from a row that begins with [`Film::COLUMNS`].
    ///
    /// # Errors
    /// If the columns differ.
    pub fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Film {
            number: row.get(0)?,
            id: Ulid::from_bytes(row.get(1)?),
            facts: Facts {
                title: row.get(2)?,
                year: row.get(3)?,
                people: names_of(row.get_ref(4)?.as_str()?),
                genres: names_of(row.get_ref(5)?.as_str()?),
                minutes: row.get(6)?,
                imdb: row.get(7)?,
                original: row.get(8)?,
                kind: Kind::of(row.get(9)?),
                end_year: row.get(10)?,
                seasons: numbers_of(row.get_ref(11)?.as_str()?),
            },
            poster_ms: row.get(12)?,
        })
    }
}

/// The numbers of a JSON array. Films have none.
pub(super) fn numbers_of(json: &str) -> Vec<u32> {
    match json {
        "[]" => Vec::new(),
        json => serde_json::from_str(json).unwrap_or_default(),
    }
}

/// The names of a JSON array. Most have nothing to unescape, and are cut at their quotes: a page of a list has a hundred of them.
pub(super) fn names_of(json: &str) -> Vec<String> {
    match json {
        "[]" => Vec::new(),
        json => cut(json).unwrap_or_else(|| serde_json::from_str(json).unwrap_or_default()),
    }
}

/// The names of a JSON array without blanks between them, if none has to be unescaped.
fn cut(json: &str) -> Option<Vec<String>> {
    if json.contains('\\') {
        return None;
    }
    let quotes = json.bytes().filter(|b| *b == b'"').count();
    let mut names = Vec::with_capacity(quotes / 2);
    let mut parts = json.split('"');
    let mut before = parts.next()?;
    let mut expected = "[";
    while before == expected {
        names.push(parts.next()?.to_owned());
        (before, expected) = (parts.next()?, ",");
    }
    (before == "]" && !names.is_empty() && parts.next().is_none()).then_some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_json_array() {
        for json in [
            "[]",
            r#"[""]"#,
            r#"["A"]"#,
            r#"["A","B, C","Ö"]"#,
            r#"["A", "B"]"#,
            r#"["A\"B","C\\"]"#,
            r#"["A\u00e9"]"#,
            r#"[",","\",\""]"#,
            r#"["",""]"#,
            r#"[","]"#,
        ] {
            let names: Vec<String> = serde_json::from_str(json).unwrap();
            assert_eq!(names_of(json), names, "{json}");
        }
        for wrong in [
            "",
            "[",
            "[1]",
            r#"["A"#,
            r#"["A","B]"#,
            r#"["A"B"]"#,
            r#"["#,
        ] {
            assert_eq!(names_of(wrong), Vec::<String>::new(), "{wrong}");
        }
    }
}
