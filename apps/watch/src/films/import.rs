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
    collections::{HashMap, HashSet},
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

/// The films that are there, so that none is looked up.
#[derive(Default)]
struct Known {
    imdb: HashSet<i64>,
    /// Numbers of those without a running time, by their numbers at IMDb.
    without_minutes: HashMap<i64, i64>,
    /// Series by their numbers at IMDb.
    series: HashMap<i64, Series>,
    /// By the key that most spellings of a title share.
    films: HashMap<u64, Vec<Candidate>>,
}

/// What may change of a series that is there.
struct Series {
    number: i64,
    end_year: Option<i64>,
    seasons: Vec<u32>,
}

impl Series {
    /// What a source says of it that is new.
    fn step(&mut self, facts: Facts) -> Option<Step> {
        let end_year = facts.end_year.filter(|year| self.end_year != Some(*year));
        let seasons = films::with_episodes(facts.seasons, &self.seasons);
        let is_more = seasons.len() >= self.seasons.len() && seasons != self.seasons;
        let seasons = is_more.then_some(seasons);
        if end_year.is_none() && seasons.is_none() {
            return None;
        }
        self.end_year = end_year.or(self.end_year);
        if let Some(seasons) = &seasons {
            self.seasons.clone_from(seasons);
        }
        Some(Step::Continue(self.number, end_year, seasons))
    }
}

struct Candidate {
    /// 0 for one of this batch.
    number: i64,
    /// The title but for its article and signs.
    bare: u64,
    year: Option<i64>,
    kind: Kind,
    people: Vec<u64>,
    has_imdb: bool,
}

impl Candidate {
    fn of(facts: &Facts, title: &Title, number: i64) -> Self {
        Candidate {
            number,
            bare: hash(title.bare()),
            year: facts.year,
            kind: facts.kind,
            people: facts
                .people
                .iter()
                .map(|name| hash(Title::of(name).whole()))
                .collect(),
            has_imdb: facts.imdb.is_some(),
        }
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
    Add(Facts),
    Match(i64, i64, Option<i64>),
    Complete(i64, i64),
    /// A series with its last year, and its seasons, where they are new.
    Continue(i64, Option<i64>, Option<Vec<u32>>),
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

impl Known {
    fn read(db: &Connection) -> Result<Self> {
        let mut known = Known::default();
        let sql = format!("SELECT {} FROM film", films::Film::COLUMNS);
        let mut statement = db.prepare(&sql)?;
        for film in statement.query_map([], films::Film::of)? {
            let film = film?;
            known.note(&film.facts, film.number);
        }
        Ok(known)
    }

    fn note(&mut self, facts: &Facts, number: i64) {
        self.imdb.extend(facts.imdb);
        if let (Some(imdb), None) = (facts.imdb, facts.minutes) {
            self.without_minutes.insert(imdb, number);
        }
        if let (Some(imdb), Kind::Series) = (facts.imdb, facts.kind) {
            let series = Series {
                number,
                end_year: facts.end_year,
                seasons: facts.seasons.clone(),
            };
            self.series.insert(imdb, series);
        }
        let title = Title::of(&facts.title);
        let candidates = self.films.entry(hash(title.counted())).or_default();
        candidates.push(Candidate::of(facts, &title, number));
    }

    /// Returns the action for a film; `None` if it is known.
    fn step(&mut self, facts: Facts) -> Option<Step> {
        if let Some(imdb) = facts.imdb.filter(|imdb| self.imdb.contains(imdb)) {
            let minutes = facts.minutes;
            let series = self.series.get_mut(&imdb);
            return series.and_then(|series| series.step(facts)).or_else(|| {
                let minutes = minutes?;
                let number = self.without_minutes.remove(&imdb)?;
                Some(Step::Complete(number, minutes))
            });
        }
        let title = Title::of(&facts.title);
        let film = Candidate::of(&facts, &title, 0);
        let candidates = self.films.entry(hash(title.counted())).or_default();
        // Films of the same year first.
        let same = |is_year| {
            candidates
                .iter()
                .position(|other| (other.year == film.year) == is_year && other.is(&film))
        };
        match (same(true).or_else(|| same(false)), facts.imdb) {
            (None, imdb) => {
                self.imdb.extend(imdb);
                candidates.push(film);
                Some(Step::Add(facts))
            }
            (Some(at), Some(imdb)) if candidates[at].number != 0 => {
                candidates[at].has_imdb = true;
                self.imdb.insert(imdb);
                Some(Step::Match(candidates[at].number, imdb, facts.minutes))
            }
            _ => None,
        }
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
    let mut steps = Vec::new();
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
            write(database, std::mem::take(&mut steps), &mut done)?;
            tell(&done);
        }
    }
    write(database, steps, &mut done)?;
    if done.added > 0 {
        // Many small pieces of the index become one, which searches faster and is smaller.
        let optimize = "INSERT INTO film_search(film_search) VALUES ('optimize')";
        database.write_now(move |db| Ok(db.execute(optimize, [])?))?;
    }
    tell(&done);
    Ok(done)
}

fn write(database: &Database, mut steps: Vec<Step>, done: &mut Imported) -> Result<()> {
    // In the order of the index on IMDb's numbers, so that it grows at its end; without one, by title.
    steps.sort_by_cached_key(|step| match step {
        Step::Complete(number, _) | Step::Continue(number, ..) => (*number, String::new()),
        Step::Match(_, imdb, _) => (*imdb, String::new()),
        Step::Add(facts) => (facts.imdb.unwrap_or_default(), facts.title.to_lowercase()),
    });
    let mut counts = (0, 0, 0, 0);
    for step in &steps {
        *match step {
            Step::Add(_) => &mut counts.0,
            Step::Match(..) => &mut counts.1,
            Step::Complete(..) => &mut counts.2,
            Step::Continue(..) => &mut counts.3,
        } += 1;
    }
    database.write_now(move |db| {
        for step in &steps {
            match step {
                Step::Add(facts) => films::insert(db, facts, None).map(drop)?,
                Step::Match(number, imdb, minutes) => {
                    films::set_imdb(db, *number, *imdb)?;
                    if let Some(minutes) = minutes {
                        films::set_minutes(db, *number, *minutes)?;
                    }
                }
                Step::Complete(number, minutes) => films::set_minutes(db, *number, *minutes)?,
                Step::Continue(number, end_year, seasons) => {
                    if let Some(year) = end_year {
                        films::set_end_year(db, *number, *year)?;
                    }
                    if let Some(seasons) = seasons {
                        films::set_seasons(db, *number, seasons)?;
                    }
                }
            }
        }
        Ok(())
    })?;
    done.added += counts.0;
    done.matched += counts.1;
    done.completed += counts.2;
    done.continued += counts.3;
    Ok(())
}
