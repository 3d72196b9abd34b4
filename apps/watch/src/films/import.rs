//! Bringing films in: in sorted batches, and never the same film twice.

use crate::{
    Error, Result,
    db::{
        Database, films,
        films::{Facts, Kind},
    },
    title::Title,
};
use rusqlite::Connection;
use serde::Serialize;
use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
};

/// Films of a transaction: some tens of milliseconds, which is how long others wait.
const BATCH_FILMS: usize = 2000;

/// The result of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Imported {
    /// Films that are new.
    pub added: u64,
    /// Films that were there, and now have their number at IMDb.
    pub matched: u64,
    /// Films that were there, and now have their running time.
    pub completed: u64,
    /// Series that were there, and now have further seasons or their last year.
    pub continued: u64,
    /// Films that were there.
    pub known: u64,
    /// Lines that are no film.
    pub skipped: u64,
    /// The error of the first of them.
    pub first_skipped: Option<String>,
}

/// People two films of the same title have in common, at least, if they are one whose years differ by one: it was shown in
/// one year and came to other countries in the next.
const SHARED_PEOPLE_MIN: usize = 2;

/// The films that are there, and those that this import adds, so that none is looked up.
#[derive(Default)]
struct Known {
    all: Vec<Candidate>,
    /// The number of films that this import adds.
    added: usize,
    /// Places in `all` by their numbers at IMDb.
    imdb: HashMap<i64, usize>,
    /// Series that are there, by their numbers at IMDb.
    series: HashMap<i64, Series>,
    /// Places in `all` by the key that most spellings of a title share.
    titles: HashMap<u64, Vec<usize>>,
}

/// Where a film is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// In the catalogue, with this number.
    There(i64),
    /// Among those that this import adds: how many come before it.
    Added(usize),
}

/// What may change of a series that is there.
struct Series {
    end_year: Option<i64>,
    seasons: Vec<u32>,
}

impl Series {
    /// What a source says of it that is new: the last year, and the seasons.
    fn news(&mut self, facts: Facts) -> (Option<i64>, Option<Vec<u32>>) {
        let end_year = facts.end_year.filter(|year| self.end_year != Some(*year));
        let seasons = films::with_episodes(facts.seasons, &self.seasons);
        let is_more = seasons.len() >= self.seasons.len() && seasons != self.seasons;
        self.end_year = end_year.or(self.end_year);
        if is_more {
            self.seasons.clone_from(&seasons);
        }
        (end_year, is_more.then_some(seasons))
    }
}

struct Candidate {
    place: Place,
    /// The title but for its article and signs.
    bare: u64,
    year: Option<i64>,
    kind: Kind,
    people: Vec<u64>,
    has_imdb: bool,
    has_minutes: bool,
}

impl Candidate {
    fn of(facts: &Facts, title: &Title, place: Place) -> Self {
        Candidate {
            place,
            bare: hash(title.bare()),
            year: facts.year,
            kind: facts.kind,
            people: facts
                .people
                .iter()
                .map(|name| hash(Title::of(name).whole()))
                .collect(),
            has_imdb: facts.imdb.is_some(),
            has_minutes: facts.minutes.is_some(),
        }
    }

    /// Takes a running time, if it has none. Returns the one that it takes.
    fn take(&mut self, minutes: Option<i64>) -> Option<i64> {
        let taken = minutes.filter(|_| !self.has_minutes);
        self.has_minutes |= taken.is_some();
        taken
    }

    /// Whether it is the same film as another of nearly the same title. Two numbers at IMDb are two films. Who plays in it
    /// is told in any order and spelling, so one name in common is enough.
    fn is(&self, other: &Candidate) -> bool {
        let shared = self
            .people
            .iter()
            .filter(|name| other.people.contains(name))
            .count();
        let is_known_by_title = self.people.is_empty() || other.people.is_empty();
        let is_next_year =
            matches!((self.year, other.year), (Some(a), Some(b)) if a.abs_diff(b) == 1);
        let is_one = if self.year != other.year {
            is_next_year && shared >= SHARED_PEOPLE_MIN
        } else if is_known_by_title {
            self.bare == other.bare
        } else {
            shared > 0
        };
        is_one && self.kind == other.kind && !(self.has_imdb && other.has_imdb)
    }
}

/// The action for a film.
enum Step {
    /// The place is that among the films that the import adds.
    Add(usize, Facts),
    Change(Change),
}

/// What a film gets that it lacks.
struct Change {
    place: Place,
    imdb: Option<i64>,
    minutes: Option<i64>,
    /// The last year of a series, and its seasons.
    end_year: Option<i64>,
    seasons: Option<Vec<u32>>,
}

impl Change {
    /// A step, unless nothing is new.
    fn step(self) -> Option<Step> {
        let is_new = self.imdb.or(self.minutes).or(self.end_year).is_some();
        (is_new || self.seasons.is_some()).then_some(Step::Change(self))
    }

    /// The count that has it: one of them.
    fn count<'a>(&self, done: &'a mut Imported) -> &'a mut u64 {
        if self.imdb.is_some() {
            &mut done.matched
        } else if self.end_year.is_some() || self.seasons.is_some() {
            &mut done.continued
        } else {
            &mut done.completed
        }
    }

    fn write(&self, db: &Connection, number: i64) -> Result<()> {
        if let Some(imdb) = self.imdb {
            films::set_imdb(db, number, imdb)?;
        }
        if let Some(minutes) = self.minutes {
            films::set_minutes(db, number, minutes)?;
        }
        if let Some(year) = self.end_year {
            films::set_end_year(db, number, year)?;
        }
        match &self.seasons {
            Some(seasons) => films::set_seasons(db, number, seasons),
            None => Ok(()),
        }
    }
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

impl Known {
    fn read(db: &Connection) -> Result<Self> {
        let mut known = Known::default();
        let sql = format!(
            "SELECT {} FROM film WHERE NOT is_withdrawn",
            films::Film::COLUMNS
        );
        let mut statement = db.prepare(&sql)?;
        for film in statement.query_map([], films::Film::of)? {
            let film = film?;
            known.note(&film.facts, film.number);
        }
        Ok(known)
    }

    /// Notes a film that is there.
    fn note(&mut self, facts: &Facts, number: i64) {
        if let (Some(imdb), Kind::Series) = (facts.imdb, facts.kind) {
            let series = Series {
                end_year: facts.end_year,
                seasons: facts.seasons.clone(),
            };
            self.series.insert(imdb, series);
        }
        let title = Title::of(&facts.title);
        let film = Candidate::of(facts, &title, Place::There(number));
        self.push(film, &title, facts.imdb);
    }

    fn push(&mut self, film: Candidate, title: &Title, imdb: Option<i64>) {
        let at = self.all.len();
        self.imdb.extend(imdb.map(|imdb| (imdb, at)));
        let key = hash(title.counted());
        self.titles.entry(key).or_default().push(at);
        self.all.push(film);
    }

    /// Returns the action for a film; `None` if it is known.
    fn step(&mut self, facts: Facts) -> Option<Step> {
        if let Some(imdb) = facts.imdb
            && let Some(at) = self.imdb.get(&imdb)
        {
            let film = &mut self.all[*at];
            let (place, minutes) = (film.place, film.take(facts.minutes));
            let series = self.series.get_mut(&imdb);
            let (end_year, seasons) = series.map_or((None, None), |series| series.news(facts));
            let change = Change {
                place,
                imdb: None,
                minutes,
                end_year,
                seasons,
            };
            return change.step();
        }
        let title = Title::of(&facts.title);
        let film = Candidate::of(&facts, &title, Place::Added(self.added));
        let candidates = self.titles.get(&hash(title.counted()));
        let candidates = candidates.map_or(&[][..], Vec::as_slice);
        // Films of the same year first.
        let same = |is_year| {
            let is_same =
                |other: &Candidate| (other.year == film.year) == is_year && other.is(&film);
            candidates
                .iter()
                .find(|at| is_same(&self.all[**at]))
                .copied()
        };
        let Some(at) = same(true).or_else(|| same(false)) else {
            self.push(film, &title, facts.imdb);
            self.added += 1;
            return Some(Step::Add(self.added - 1, facts));
        };
        self.imdb.extend(facts.imdb.map(|imdb| (imdb, at)));
        let other = &mut self.all[at];
        other.has_imdb |= facts.imdb.is_some();
        let change = Change {
            place: other.place,
            imdb: facts.imdb,
            minutes: other.take(facts.minutes),
            end_year: None,
            seasons: None,
        };
        change.step()
    }
}

/// Adds the films that aren't there yet, and tells after each batch how it stands. What a batch brought in stays when a
/// later one fails; the same source again adds only what is missing.
///
/// # Errors
/// The source's, or what SQLite says.
pub fn import(
    database: &Database,
    source: impl Iterator<Item = Result<Facts>>,
    mut tell: impl FnMut(&Imported),
) -> Result<Imported> {
    let mut known = database.read(Known::read)?;
    let mut done = Imported::default();
    let (mut steps, mut added) = (Vec::new(), Vec::new());
    for facts in source {
        match facts.map(|facts| known.step(facts)) {
            Ok(Some(step)) => steps.push(step),
            Ok(None) => done.known += 1,
            Err(Error::Invalid(why)) => {
                done.skipped += 1;
                done.first_skipped.get_or_insert_with(|| why.plain());
            }
            Err(error) => return Err(error),
        }
        if steps.len() >= BATCH_FILMS {
            write(database, std::mem::take(&mut steps), &mut added, &mut done)?;
            tell(&done);
        }
    }
    write(database, steps, &mut added, &mut done)?;
    if done.added > 0 {
        // Many small pieces of the index become one, which searches faster and is smaller.
        let optimize = "INSERT INTO film_search(film_search) VALUES ('optimize')";
        database.write_now(move |db| Ok(db.execute(optimize, [])?))?;
    }
    tell(&done);
    Ok(done)
}

/// Does these steps in one transaction. `added` has the numbers of the films that the import has added, in the order of the steps.
fn write(
    database: &Database,
    steps: Vec<Step>,
    added: &mut Vec<i64>,
    done: &mut Imported,
) -> Result<()> {
    let (mut films, mut changes) = (Vec::new(), Vec::new());
    let first = added.len();
    for step in steps {
        match step {
            Step::Add(at, facts) => films.push((at - first, facts)),
            Step::Change(mut change) => {
                if let Place::Added(at) = change.place {
                    let number = added.get(at).copied();
                    change.place = number.map_or(Place::Added(at - first), Place::There);
                }
                changes.push(change);
            }
        }
    }
    done.added += films.len() as u64;
    for change in &changes {
        *change.count(done) += 1;
    }
    // In the order of the index on IMDb's numbers, so that it grows at its end; without one, by title.
    films.sort_by_cached_key(|(_, facts)| {
        (facts.imdb.unwrap_or_default(), facts.title.to_lowercase())
    });
    changes.sort_by_key(|change| change.place);
    let numbers = database.write_now(move |db| {
        let mut numbers = vec![0; films.len()];
        for (at, facts) in &films {
            numbers[*at] = films::insert(db, facts, None)?;
        }
        for change in &changes {
            let number = match change.place {
                Place::There(number) => number,
                Place::Added(at) => numbers[at],
            };
            change.write(db, number)?;
        }
        Ok(numbers)
    })?;
    added.extend(numbers);
    Ok(())
}
