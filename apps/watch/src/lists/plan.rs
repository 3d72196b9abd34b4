//! What an import of a file does to a list.

use super::{
    merge::{Difference, merge},
    row::ListRow,
};
use crate::{
    Result,
    db::{
        entries::{self, State},
        films::{self, Film, Kind},
        find,
        users::User,
    },
};
use inorder_key::Ulid;
use rusqlite::Connection;
use std::collections::{HashMap, HashSet};

/// Films that are offered for a row.
const OFFERED_MAX: usize = 8;

/// The rows of a file, and which films they may be.
#[derive(Default)]
pub struct Found {
    rows: Vec<(ListRow, Vec<Candidate>)>,
}

/// A film that a row may mean.
struct Candidate {
    film: Film,
    /// The distance of the titles, 0 for the same. It is 0 for the same number at IMDb too.
    distance: usize,
    /// Whether the year is the same, or the number at IMDb.
    is_sure: bool,
}

/// The film that the user chose for a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// One of those that were offered.
    Film(Ulid),
    /// A new one.
    New,
    /// None.
    Nothing,
}

/// What the user chose for an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choices {
    /// Whether films missing from the catalogue are added to it.
    pub add_missing: bool,
    /// Whether the file's value replaces a different one of the list.
    pub prefer_file: bool,
    /// Whether films are left out that only lists of the user's own name.
    pub without_lists: bool,
    /// For unclear rows, by their place in the file.
    pub films: HashMap<usize, Choice>,
}

/// What happens to a film of the file.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// It is new on the list.
    New(Film, State),
    /// It is on the list.
    Present {
        /// The film.
        film: Film,
        /// The state before.
        before: State,
        /// The state afterwards.
        after: State,
        /// What the file and the list say differently.
        differences: Vec<Difference>,
    },
    /// It is not in the catalogue, and is added to it.
    Added,
    /// It is not in the catalogue.
    Missing,
    /// Several films of the catalogue may be it, and none is taken.
    Unclear,
    /// The user left it out.
    LeftOut,
}

/// A film of the file.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The place of the row in the file.
    pub at: usize,
    /// The row.
    pub row: ListRow,
    /// What happens to it.
    pub outcome: Outcome,
    /// The films that it may be, where that is unclear.
    pub offered: Vec<Film>,
}

impl Planned {
    /// The film that is taken for the row.
    pub fn film(&self) -> Option<&Film> {
        match &self.outcome {
            Outcome::New(film, _) | Outcome::Present { film, .. } => Some(film),
            _ => None,
        }
    }
}

impl Found {
    /// Finds the films of these rows too: all the work that depends on no list.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn find(&mut self, db: &Connection, rows: &[ListRow]) -> Result<()> {
        for row in rows {
            self.rows.push((row.clone(), candidates(db, row)?));
        }
        Ok(())
    }
}

/// The films that a row may mean, the nearest first.
fn candidates(db: &Connection, row: &ListRow) -> Result<Vec<Candidate>> {
    let ListRow { facts, .. } = row;
    if let Some(imdb) = facts.imdb
        && let Some(film) = films::by_imdb(db, imdb)?
    {
        let (distance, is_sure) = (0, true);
        return Ok(vec![Candidate {
            film,
            distance,
            is_sure,
        }]);
    }
    let mut of_title = find::of_title(db, &facts.title)?;
    if let Some(original) = facts.original.as_deref().filter(|_| of_title.is_empty()) {
        of_title = find::of_title(db, original)?;
    }
    // Two numbers at IMDb are two films.
    let same = of_title
        .into_iter()
        .filter(|(_, film)| film.facts.imdb.is_none() || facts.imdb.is_none());
    let candidate = |(distance, film): (usize, Film)| {
        let (here, there) = (film.facts.year, facts.year);
        // Countries and catalogues differ about the year.
        let is_near = match (here, there) {
            (Some(here), Some(there)) => here.abs_diff(there) <= 1,
            _ => true,
        };
        // Not every file tells series from films.
        let is_kind = film.facts.kind == facts.kind;
        let is_sure = here == there && is_kind;
        (is_near && (is_kind || facts.kind == Kind::Film)).then_some(Candidate {
            film,
            distance,
            is_sure,
        })
    };
    let mut candidates: Vec<Candidate> = same.filter_map(candidate).collect();
    let is_film = |candidate: &Candidate| candidate.film.facts.kind == Kind::Film;
    if candidates.iter().any(is_film) {
        candidates.retain(is_film);
    }
    candidates.sort_by_key(|candidate| (!candidate.is_sure, candidate.distance));
    Ok(candidates)
}

/// What is known of a row's film before the user chooses.
enum Match {
    Sure(Box<Film>),
    /// Any of these; the first is likely where it is the only one.
    Unclear(Vec<Film>),
    Missing,
}

/// The film of a row among those that no other row has: rows are different films, however alike they are spelt. A list that
/// has both *Tar* and *Tár* of one year gets both.
fn matched(candidates: Vec<Candidate>, taken: &HashSet<i64>) -> Match {
    let is_free = |candidate: &Candidate| !taken.contains(&candidate.film.number);
    let mut free: Vec<Candidate> = candidates.into_iter().filter(is_free).collect();
    let best = free.first().map(|first| (first.is_sure, first.distance));
    let Some((is_sure, distance)) = best else {
        return Match::Missing;
    };
    let is_alike = |candidate: &Candidate| candidate.is_sure && candidate.distance == distance;
    if is_sure && free.iter().filter(|candidate| is_alike(candidate)).count() == 1 {
        return Match::Sure(Box::new(free.swap_remove(0).film));
    }
    free.truncate(OFFERED_MAX);
    Match::Unclear(free.into_iter().map(|candidate| candidate.film).collect())
}

/// Decides what happens to each row, in the order of the file.
///
/// # Errors
/// SQLite's error.
pub fn plan(db: &Connection, user: &User, found: Found, choices: &Choices) -> Result<Vec<Planned>> {
    let is_exact = |(_, (_, films)): &(usize, (ListRow, Vec<Candidate>))| {
        films
            .first()
            .is_some_and(|film| film.distance == 0 && film.is_sure)
    };
    let rows = found.rows.into_iter().enumerate();
    let rows = rows.filter(|(_, (row, _))| !(row.is_listed_only && choices.without_lists));
    let (exact, other): (Vec<_>, Vec<_>) = rows.partition(is_exact);
    let mut taken = HashSet::new();
    let mut planned = Vec::new();
    for (at, (row, candidates)) in exact.into_iter().chain(other) {
        let (film, offered, otherwise) = match matched(candidates, &taken) {
            Match::Sure(film) => (Some(*film), Vec::new(), Outcome::Missing),
            Match::Missing if choices.add_missing => (None, Vec::new(), Outcome::Added),
            Match::Missing => (None, Vec::new(), Outcome::Missing),
            Match::Unclear(films) => {
                let (film, otherwise) = chosen(&films, choices.films.get(&at));
                (film, films, otherwise)
            }
        };
        let outcome = match film {
            Some(film) => {
                taken.insert(film.number);
                let before = entries::state(db, user.number, film.number)?;
                outcome(film, &row, before, choices.prefer_file)?
            }
            None => otherwise,
        };
        planned.push(Planned {
            at,
            row,
            outcome,
            offered,
        });
    }
    planned.sort_by_key(|planned| planned.at);
    Ok(planned)
}

/// The film that is taken of several, or what happens instead.
fn chosen(films: &[Film], choice: Option<&Choice>) -> (Option<Film>, Outcome) {
    match choice {
        Some(Choice::Film(id)) => {
            let film = films.iter().find(|film| film.id == *id);
            (film.cloned(), Outcome::Unclear)
        }
        Some(Choice::New) => (None, Outcome::Added),
        Some(Choice::Nothing) => (None, Outcome::LeftOut),
        None => match films {
            [film] => (Some(film.clone()), Outcome::Unclear),
            _ => (None, Outcome::Unclear),
        },
    }
}

fn outcome(film: Film, row: &ListRow, before: Option<State>, prefer_file: bool) -> Result<Outcome> {
    let Some(before) = before else {
        let state = row.said.state(&film.facts)?;
        return Ok(Outcome::New(film, state));
    };
    let (after, differences) = merge(&before, &row.said, &film.facts, prefer_file);
    let after = after.checked(film.facts.series())?;
    Ok(Outcome::Present {
        film,
        before,
        after,
        differences,
    })
}
