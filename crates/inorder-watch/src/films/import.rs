//! Bringing films in: in sorted batches, and never the same film twice.

use crate::{
    Error, Result,
    db::{Database, films, films::Facts},
};
use rusqlite::Connection;
use serde::Serialize;
use std::{
    collections::{HashMap, HashSet},
    hash::{DefaultHasher, Hash, Hasher},
};

/// Films of a transaction: some tens of milliseconds, which is how long others wait.
const BATCH_FILMS: usize = 2000;

/// What became of the films of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Imported {
    /// Films that are new.
    pub added: u64,
    /// Films that were there, and now have their number at IMDb.
    pub matched: u64,
    /// Films that were there.
    pub known: u64,
    /// Lines that are no film.
    pub skipped: u64,
    /// What is wrong with the first of them.
    pub first_skipped: Option<String>,
}

/// The films that are there, so that none is looked up.
#[derive(Default)]
struct Known {
    imdb: HashSet<i64>,
    /// By title and year.
    films: HashMap<u64, Vec<Candidate>>,
}

struct Candidate {
    number: i64,
    /// The first of the people, as a hash; 0 without any.
    first: u64,
    has_imdb: bool,
}

/// What to do with a film.
enum Step {
    Add(Facts),
    Match(i64, i64),
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
        let candidates = self.films.entry(key(facts)).or_default();
        candidates.push(Candidate {
            number,
            first: first(facts),
            has_imdb: facts.imdb.is_some(),
        });
    }

    /// What to do with a film; nothing if it is known.
    fn step(&mut self, facts: Facts) -> Option<Step> {
        if facts.imdb.is_some_and(|imdb| self.imdb.contains(&imdb)) {
            return None;
        }
        let first = first(&facts);
        let candidates = self.films.get_mut(&key(&facts));
        // Of the same title and year, and nothing says that they are different films. One with number 0 is of this batch.
        let same = candidates.into_iter().flatten().find(|other| {
            (other.first == first || other.first == 0 || first == 0)
                && !(other.has_imdb && facts.imdb.is_some())
        });
        match (same, facts.imdb) {
            (None, _) => {
                self.note(&facts, 0);
                Some(Step::Add(facts))
            }
            (Some(same), Some(imdb)) if same.number != 0 => {
                same.has_imdb = true;
                self.imdb.insert(imdb);
                Some(Step::Match(same.number, imdb))
            }
            _ => None,
        }
    }
}

fn key(facts: &Facts) -> u64 {
    hash((facts.title.to_lowercase(), facts.year))
}

fn first(facts: &Facts) -> u64 {
    facts.people.first().map_or(0, |name| hash(name) | 1)
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
                done.first_skipped.get_or_insert(why);
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
        Step::Match(_, imdb) => (*imdb, String::new()),
        Step::Add(facts) => (facts.imdb.unwrap_or_default(), facts.title.to_lowercase()),
    });
    let added = steps
        .iter()
        .filter(|step| matches!(step, Step::Add(_)))
        .count() as u64;
    let matched = steps.len() as u64 - added;
    database.write_now(move |db| {
        for step in &steps {
            match step {
                Step::Add(facts) => films::insert(db, facts, None).map(drop)?,
                Step::Match(number, imdb) => films::set_imdb(db, *number, *imdb)?,
            }
        }
        Ok(())
    })?;
    done.added += added;
    done.matched += matched;
    Ok(())
}
