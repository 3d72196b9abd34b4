//! What a file says of a film, and all its films, each once.

use super::{note, progress::Progress};
use crate::{
    Error, Result,
    db::{
        entries::{DAYS_MAX, State, tags::TAGS_MAX},
        films::{Facts, Kind},
    },
    words::{Message, say},
};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Films of a file.
const ROWS_MAX: usize = 20_000;

/// Problems of a file that are kept with their words.
const PROBLEMS_MAX: usize = 100;

/// What a file says of an entry. What it does not say is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// The priority.
    pub priority: Option<i64>,
    /// Whether friends can see the entry.
    pub public: Option<bool>,
    /// Whether the film was watched.
    pub watched: bool,
    /// The last day on which it was watched.
    pub watched_on: Option<String>,
    /// Earlier days on which it was watched.
    #[serde(default)]
    pub earlier: Vec<String>,
    /// How far a series was watched, if the file says so.
    #[serde(default)]
    pub progress: Progress,
    /// The rating, of ten.
    pub rating: Option<i64>,
    /// The note.
    pub note: Option<String>,
    /// Tags, and the names of lists.
    #[serde(default)]
    pub tags: Vec<String>,
}

impl Said {
    /// The state of a new entry of a film or a series, in which nothing is missing yet.
    ///
    /// # Errors
    /// [`Error::Invalid`] as for [`State::checked`].
    pub fn state(&self, facts: &Facts) -> Result<State> {
        let usual = State::default();
        let (watched, seasons_watched) = self.how_far(facts);
        let state = State {
            priority: self.priority.unwrap_or(usual.priority),
            public: self.public.unwrap_or(usual.public),
            watched,
            // The day on which a part of a series was watched isn't one on which it was watched.
            watched_on: self.watched_on.clone().filter(|_| watched),
            earlier: self.earlier.clone(),
            seasons_watched,
            rating: self.rating,
            note: self.note.clone(),
            tags: self.tags.clone(),
        };
        state.checked(facts.series())
    }

    /// Whether it was watched, and how many seasons of a series.
    pub fn how_far(&self, facts: &Facts) -> (bool, u32) {
        match facts.series().and_then(|_| self.progress.seasons(facts)) {
            Some((is_whole, seasons)) => (is_whole, seasons),
            None => (self.watched, 0),
        }
    }

    /// Adds what a later row says of the same film. Of two ratings the one of the later day stays, and one without a
    /// day is of today. Returns whether the notes are too long for one, and were cut.
    fn add(&mut self, later: Said) -> bool {
        let is_newer = later.watched_on.is_none() || later.watched_on >= self.watched_on;
        if self.rating.is_none() || is_newer {
            self.rating = later.rating.or(self.rating);
        }
        self.watched |= later.watched;
        self.progress.add(later.progress);
        let days = self.watched_on.take().into_iter().chain(later.watched_on);
        let mut days: Vec<String> = days.chain(later.earlier).collect();
        days.append(&mut self.earlier);
        days.sort();
        days.dedup();
        self.watched_on = days.pop();
        // What one film can't have is left out, the oldest first.
        self.earlier = days.split_off(days.len().saturating_sub(DAYS_MAX - 1));
        self.priority = self.priority.or(later.priority);
        self.public = self.public.or(later.public);
        let (note, is_cut) = note::joined(self.note.take(), later.note);
        self.note = note;
        self.tags.extend(later.tags);
        // What one film can't have is left out.
        self.tags.sort();
        self.tags.dedup();
        self.tags.truncate(TAGS_MAX);
        is_cut
    }
}

/// A film of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListRow {
    /// The facts of the film.
    pub facts: Facts,
    /// What the file says of the entry.
    pub said: Said,
    /// Whether only a list of the user's own names it, which says neither that it was watched nor that it is to be.
    pub is_listed_only: bool,
}

impl ListRow {
    /// Adds a later row of the same film. Returns whether the notes were cut.
    fn add(&mut self, later: ListRow) -> bool {
        let is_cut = self.said.add(later.said);
        self.is_listed_only &= later.is_listed_only;
        let (facts, more) = (&mut self.facts, later.facts);
        facts.imdb = facts.imdb.or(more.imdb);
        facts.minutes = facts.minutes.or(more.minutes);
        facts.end_year = facts.end_year.or(more.end_year);
        facts.original = facts.original.take().or(more.original);
        if facts.genres.is_empty() {
            facts.genres = more.genres;
        }
        if facts.people.is_empty() {
            facts.people = more.people;
        }
        is_cut
    }
}

/// What was read from a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// The films, each once.
    pub rows: Vec<ListRow>,
    /// The names of the files that were read, with the number of their rows.
    pub files: Vec<(String, usize)>,
    /// The names of the files of an archive that are not read.
    pub others: Vec<String>,
    /// The number of episodes and other rows that are neither film nor series.
    pub no_films: usize,
    /// What could not be read, by file and line.
    pub problems: Vec<Message>,
    /// The number of problems beyond those.
    pub more_problems: usize,
}

/// The words of an error about a part of a file.
pub fn why(error: Error) -> Message {
    match error {
        Error::Invalid(words) => words,
        other => say::as_is(other.to_string()),
    }
}

/// Collects the rows of one file or of several.
#[derive(Default)]
pub struct Collector {
    reading: Reading,
    by_title: HashMap<(Kind, String, Option<i64>), Vec<usize>>,
    by_identity: HashMap<String, usize>,
    has_identity: Vec<bool>,
}

impl Collector {
    /// Adds a row. Rows of the same identity, or of the same title and year where one has none, are the same film. Returns whether the
    /// notes of its rows are too long for one, and were cut.
    ///
    /// # Errors
    /// [`Error::Invalid`] for too many films.
    pub fn add(&mut self, row: ListRow, identity: Option<String>) -> Result<bool> {
        let key = (row.facts.kind, row.facts.title.clone(), row.facts.year);
        let same_title = self.by_title.get(&key).map_or(&[][..], Vec::as_slice);
        let is_same = |at: &&usize| identity.is_none() || !self.has_identity[**at];
        let known = identity.as_ref().and_then(|id| self.by_identity.get(id));
        let at = known.or_else(|| same_title.iter().find(is_same)).copied();
        let (at, is_cut) = match at {
            Some(at) => (at, self.reading.rows[at].add(row)),
            None => {
                if self.is_full() {
                    return Err(Error::Invalid(say::rows_max(ROWS_MAX)));
                }
                self.reading.rows.push(row);
                self.has_identity.push(false);
                let at = self.reading.rows.len() - 1;
                self.by_title.entry(key).or_default().push(at);
                (at, false)
            }
        };
        if let Some(identity) = identity {
            self.has_identity[at] = true;
            self.by_identity.entry(identity).or_insert(at);
        }
        Ok(is_cut)
    }

    /// Whether there is no room for another film.
    pub fn is_full(&self) -> bool {
        self.reading.rows.len() >= ROWS_MAX
    }

    /// Counts a row that is neither film nor series.
    pub fn skip(&mut self) {
        self.reading.no_films += 1;
    }

    /// Adds a problem.
    pub fn problem(&mut self, words: Message) {
        match self.reading.problems.len() < PROBLEMS_MAX {
            true => self.reading.problems.push(words),
            false => self.reading.more_problems += 1,
        }
    }

    /// Adds the name of a file that was read.
    pub fn file(&mut self, name: &str, rows: usize) {
        self.reading.files.push((name.to_owned(), rows));
    }

    /// Adds the name of a file that is not read.
    pub fn other(&mut self, name: &str) {
        self.reading.others.push(name.to_owned());
    }

    /// What was read.
    pub fn end(self) -> Reading {
        self.reading
    }
}
