//! What a file says of a film.

use super::{note, progress::Progress};
use crate::{
    Error, Result,
    db::{
        entries::{DAYS_MAX, State, tags::TAGS_MAX},
        films::Facts,
    },
    words::{Message, say},
};

/// What a file says of an entry. What it does not say is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
    pub earlier: Vec<String>,
    /// How far a series was watched, if the file says so.
    pub progress: Progress,
    /// The rating, of ten.
    pub rating: Option<i64>,
    /// The day of the rating; `None` for one of the time of the export.
    pub rated_on: Option<String>,
    /// The note.
    pub note: Option<String>,
    /// Whether the note was too long, and is cut.
    pub is_cut: bool,
    /// Tags, and the names of lists.
    pub tags: Vec<String>,
}

impl Said {
    /// Says only a note.
    pub fn noted(note: Option<&str>) -> Self {
        let (note, is_cut) = note::cut(note.unwrap_or_default());
        Said {
            note,
            is_cut,
            ..Said::default()
        }
    }

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

    /// Adds what another row says of the same film. Of two ratings the one of the later day stays, and one without a
    /// day is of the time of the export.
    pub fn add(&mut self, other: Said) {
        let is_newer = other.rated_on.is_none()
            || self
                .rated_on
                .as_ref()
                .is_some_and(|day| other.rated_on.as_ref() >= Some(day));
        if other.rating.is_some() && (self.rating.is_none() || is_newer) {
            self.rating = other.rating;
            self.rated_on = other.rated_on;
        }
        self.watched |= other.watched;
        self.progress.add(other.progress);
        let days = self.watched_on.take().into_iter().chain(other.watched_on);
        let mut days: Vec<String> = days.chain(other.earlier).collect();
        days.append(&mut self.earlier);
        days.sort();
        days.dedup();
        self.watched_on = days.pop();
        // What one film can't have is left out, the oldest first.
        self.earlier = days.split_off(days.len().saturating_sub(DAYS_MAX - 1));
        self.priority = self.priority.or(other.priority);
        self.public = self.public.or(other.public);
        let (note, is_cut) = note::joined(self.note.take(), other.note);
        self.note = note;
        self.is_cut = is_cut || other.is_cut;
        self.tags.extend(other.tags);
        // What one film can't have is left out.
        self.tags.sort();
        self.tags.dedup();
        self.tags.truncate(TAGS_MAX);
    }
}

/// A film of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListRow {
    /// The facts of the film.
    pub facts: Facts,
    /// What the file says of the entry.
    pub said: Said,
    /// Whether only a list of the user's own names it, which says neither that it was watched nor that it is to be.
    pub is_listed_only: bool,
    /// Whether a site has a number or an address for it.
    pub has_id: bool,
    /// Whether the file has several films that it may be.
    pub is_ambiguous: bool,
}

impl ListRow {
    /// Adds another row of the same film.
    pub fn add(&mut self, other: ListRow) {
        self.said.add(other.said);
        self.is_listed_only &= other.is_listed_only;
        self.has_id |= other.has_id;
        let (facts, more) = (&mut self.facts, other.facts);
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
    }
}

/// A row with what tells its film from others of the same title and year.
#[derive(Clone, Debug)]
pub struct Row {
    /// What it says.
    pub row: ListRow,
    /// The film's numbers and addresses at other sites.
    pub ids: Vec<String>,
    /// The address of the viewing.
    pub log: Option<String>,
    /// Whether a title that differs by its case is that of another film.
    pub is_exact: bool,
}

/// What a row is.
#[derive(Clone, Debug)]
pub enum Found {
    /// A film or a series.
    Row(Box<Row>),
    /// Neither film nor series, or a part of one of which nothing is kept.
    NoFilm,
    /// Something that its user won't go on with.
    Dropped,
    /// Nothing that is looked for.
    Nothing,
}

impl Row {
    /// A checked row. The number at IMDb is one of its ids.
    ///
    /// # Errors
    /// [`Error::Invalid`] as for [`Facts::checked`] and [`State::checked`].
    pub fn of(
        facts: Facts,
        said: Said,
        mut ids: Vec<String>,
        is_listed_only: bool,
    ) -> Result<Found> {
        let facts = facts.checked()?;
        said.state(&facts)?;
        ids.extend(facts.imdb.map(|imdb| format!("imdb {imdb}")));
        let row = ListRow {
            facts,
            said,
            is_listed_only,
            has_id: !ids.is_empty(),
            is_ambiguous: false,
        };
        Ok(Found::Row(Box::new(Row {
            row,
            ids,
            log: None,
            is_exact: false,
        })))
    }
}

/// The words of an error about a part of a file.
pub fn why(error: Error) -> Message {
    match error {
        Error::Invalid(words) => words,
        other => say::as_is(other.to_string()),
    }
}
