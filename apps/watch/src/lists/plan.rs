//! What an import of a file does to a list.

use super::{
    merge::{Difference, merge},
    row::ListRow,
};
use crate::{
    Result,
    db::{
        entries::{self, State},
        films::{self, Film, Kind, Quota},
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
    /// Whether it has the number at IMDb.
    is_by_number: bool,
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
    /// The list or the catalogue has no room for it.
    NoRoom,
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
        return Ok(vec![Candidate {
            film,
            distance: 0,
            is_sure: true,
            is_by_number: true,
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
            is_by_number: false,
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
/// has both *Tar* and *Tár* of one year gets both. Of two rows with the same title and year nobody knows which one a film is.
fn matched(candidates: Vec<Candidate>, taken: &HashSet<i64>, has_rivals: bool) -> Match {
    let is_free = |candidate: &Candidate| has_rivals || !taken.contains(&candidate.film.number);
    let mut free: Vec<Candidate> = candidates.into_iter().filter(is_free).collect();
    let best = free.first().map(|first| (first.is_sure, first.distance));
    let Some((is_sure, distance)) = best else {
        return Match::Missing;
    };
    let is_alike = |candidate: &Candidate| candidate.is_sure && candidate.distance == distance;
    let is_one = free.iter().filter(|candidate| is_alike(candidate)).count() == 1;
    if is_sure && is_one && (!has_rivals || free[0].is_by_number) {
        return Match::Sure(Box::new(free.swap_remove(0).film));
    }
    free.truncate(OFFERED_MAX);
    Match::Unclear(free.into_iter().map(|candidate| candidate.film).collect())
}

/// The rows of which others have the same title and year, or that may be several films of the file.
fn rivals(rows: &[(ListRow, Vec<Candidate>)]) -> Vec<bool> {
    let key = |row: &ListRow| (row.facts.kind, row.facts.title.clone(), row.facts.year);
    let mut counts: HashMap<_, usize> = HashMap::new();
    for (row, _) in rows {
        *counts.entry(key(row)).or_default() += 1;
    }
    let has = |(row, _): &(ListRow, _)| row.is_ambiguous || counts[&key(row)] > 1;
    rows.iter().map(has).collect()
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
    let rivals = rivals(&found.rows);
    let rows = found.rows.into_iter().enumerate();
    let rows = rows.filter(|(_, (row, _))| !(row.is_listed_only && choices.without_lists));
    let (exact, other): (Vec<_>, Vec<_>) = rows.partition(is_exact);
    // The films of rows, with what the list says after them.
    let mut after: HashMap<i64, State> = HashMap::new();
    let mut taken = HashSet::new();
    let mut planned = Vec::new();
    for (at, (row, candidates)) in exact.into_iter().chain(other) {
        let (film, offered, otherwise) = match matched(candidates, &taken, rivals[at]) {
            Match::Sure(film) => (Some(*film), Vec::new(), Outcome::Missing),
            // Nobody knows which film of the file it is.
            Match::Missing if row.is_ambiguous => (None, Vec::new(), Outcome::Unclear),
            Match::Missing if choices.add_missing => (None, Vec::new(), Outcome::Added),
            Match::Missing => (None, Vec::new(), Outcome::Missing),
            Match::Unclear(films) => {
                let (film, otherwise) = chosen(&films, choices.films.get(&at), rivals[at]);
                (film, films, otherwise)
            }
        };
        let outcome = match film {
            Some(film) => {
                taken.insert(film.number);
                let number = film.number;
                let before = match after.get(&number) {
                    Some(state) => Some(state.clone()),
                    None => entries::state(db, user.number, number)?,
                };
                let outcome = outcome(film, &row, before, choices.prefer_file)?;
                if let Outcome::New(_, state) | Outcome::Present { after: state, .. } = &outcome {
                    after.insert(number, state.clone());
                }
                outcome
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
    fit(db, user, &mut planned)?;
    Ok(planned)
}

/// Leaves out the films for which the list or the catalogue has no room: those that come last in the file.
fn fit(db: &Connection, user: &User, planned: &mut [Planned]) -> Result<()> {
    let mut room = entries::room(db, user.number)?;
    let mut quota = Quota::of(db, user)?;
    for planned in planned {
        let has_room = match &planned.outcome {
            Outcome::New(..) => room > 0,
            Outcome::Added => room > 0 && quota.take(planned.row.has_id),
            _ => continue,
        };
        match has_room {
            true => room -= 1,
            false => planned.outcome = Outcome::NoRoom,
        }
    }
    Ok(())
}

/// How many of the films that are not in the catalogue can be added to it.
///
/// # Errors
/// SQLite's error.
pub fn addable(db: &Connection, user: &User, planned: &[Planned]) -> Result<usize> {
    let count = |is: fn(&Outcome) -> bool| {
        planned
            .iter()
            .filter(|planned| is(&planned.outcome))
            .count()
    };
    let new = count(|outcome| matches!(outcome, Outcome::New(..) | Outcome::Added));
    let room = entries::room(db, user.number)?.saturating_sub(new);
    let mut quota = Quota::of(db, user)?;
    let missing = planned
        .iter()
        .filter(|planned| matches!(planned.outcome, Outcome::Missing));
    let addable = missing.filter(|planned| quota.take(planned.row.has_id));
    Ok(addable.take(room).count())
}

/// The film that is taken of several, or what happens instead.
fn chosen(films: &[Film], choice: Option<&Choice>, has_rivals: bool) -> (Option<Film>, Outcome) {
    match choice {
        Some(Choice::Film(id)) => {
            let film = films.iter().find(|film| film.id == *id);
            (film.cloned(), Outcome::Unclear)
        }
        Some(Choice::New) => (None, Outcome::Added),
        Some(Choice::Nothing) => (None, Outcome::LeftOut),
        None => match films {
            [film] if !has_rivals => (Some(film.clone()), Outcome::Unclear),
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
