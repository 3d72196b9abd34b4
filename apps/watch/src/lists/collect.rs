//! The films of a file or of several, each once.

use super::row::{Found, ListRow, Row};
use crate::{
    Error, Result,
    db::films::Kind,
    text,
    words::{Message, say},
};
use std::collections::HashMap;

/// Films of a file.
const ROWS_MAX: usize = 20_000;

/// Rows without a number or an address of their film, which wait for the other files.
const LOOSE_MAX: usize = 200_000;

/// Problems of a file that are kept with their words.
const PROBLEMS_MAX: usize = 100;

/// What titles are compared by.
type Key = (Kind, String, Option<i64>);

fn key(row: &Row) -> Key {
    let facts = &row.row.facts;
    let title = match row.is_exact {
        true => facts.title.clone(),
        false => text::fold(&facts.title),
    };
    (facts.kind, title, facts.year)
}

/// A row of which only title and year tell the film.
struct Loose {
    row: Row,
    at: usize,
    cut: Message,
}

/// Collects the rows of one file or of several.
///
/// Rows of the same number or address are one film. A row without one is that of the film of its title and year. If there are several of
/// these, it is the one that has its rating; if that doesn't tell either, it is a film of its own that is ambiguous.
#[derive(Default)]
pub struct Collector {
    /// What can't be read.
    pub problems: Vec<Message>,
    /// The number of problems beyond those.
    pub more_problems: usize,
    /// The number of rows that are neither film nor series.
    pub no_films: usize,
    /// The number of rows on what its user won't go on with.
    pub dropped: usize,
    films: Vec<(usize, ListRow)>,
    by_id: HashMap<String, usize>,
    by_title: HashMap<Key, Vec<usize>>,
    loose: HashMap<Key, Vec<Loose>>,
    count: usize,
    loose_count: usize,
}

impl Collector {
    /// Adds what was found in a row. `cut` is what is said if the notes of its film are too long for one.
    ///
    /// # Errors
    /// [`Error::Invalid`] for too many films.
    pub fn add(&mut self, found: Found, cut: impl FnOnce() -> Message) -> Result<()> {
        match found {
            Found::Row(row) => self.add_row(*row, cut),
            Found::NoFilm => {
                self.no_films += 1;
                Ok(())
            }
            Found::Dropped => {
                self.dropped += 1;
                Ok(())
            }
            Found::Nothing => Ok(()),
        }
    }

    fn add_row(&mut self, row: Row, cut: impl FnOnce() -> Message) -> Result<()> {
        let at = self.count;
        self.count += 1;
        let key = key(&row);
        if row.ids.is_empty() {
            if (!self.loose.contains_key(&key) && self.is_full()) || self.loose_count >= LOOSE_MAX {
                return Err(Error::Invalid(say::rows_max(ROWS_MAX)));
            }
            self.loose_count += 1;
            let loose = Loose {
                row,
                at,
                cut: cut(),
            };
            self.loose.entry(key).or_default().push(loose);
            return Ok(());
        }
        let known = row.ids.iter().find_map(|id| self.by_id.get(id)).copied();
        let film = match known {
            Some(film) => {
                self.films[film].1.add(row.row);
                film
            }
            None => {
                if self.is_full() {
                    return Err(Error::Invalid(say::rows_max(ROWS_MAX)));
                }
                self.films.push((at, row.row));
                let film = self.films.len() - 1;
                self.by_title.entry(key).or_default().push(film);
                film
            }
        };
        if self.films[film].1.said.is_cut {
            self.problem(cut());
            self.films[film].1.said.is_cut = false;
        }
        for id in row.ids {
            self.by_id.entry(id).or_insert(film);
        }
        Ok(())
    }

    /// Whether there is no room for another film.
    pub fn is_full(&self) -> bool {
        self.films.len() + self.loose.len() >= ROWS_MAX
    }

    /// Adds a problem.
    pub fn problem(&mut self, words: Message) {
        match self.problems.len() < PROBLEMS_MAX {
            true => self.problems.push(words),
            false => self.more_problems += 1,
        }
    }

    /// The films, in the order of the files.
    pub fn films(&mut self) -> Vec<ListRow> {
        let mut loose: Vec<(Key, Vec<Loose>)> =
            std::mem::take(&mut self.loose).into_iter().collect();
        loose.sort_by_key(|(_, rows)| rows[0].at);
        for (key, rows) in loose {
            match self.by_title.get(&key).cloned().unwrap_or_default()[..] {
                [] => self.one(rows, false),
                [film] => self.join(film, rows),
                ref films => self.divide(films, rows),
            }
        }
        let mut films = std::mem::take(&mut self.films);
        films.sort_by_key(|(at, _)| *at);
        films.into_iter().map(|(_, row)| row).collect()
    }

    /// Makes rows a film of its own.
    fn one(&mut self, rows: Vec<Loose>, is_ambiguous: bool) {
        let mut rows = rows.into_iter();
        let Some(first) = rows.next() else { return };
        let mut row = first.row.row;
        row.is_ambiguous = is_ambiguous;
        let is_cut = std::mem::take(&mut row.said.is_cut);
        self.films.push((first.at, row));
        if is_cut {
            self.problem(first.cut);
        }
        self.join(self.films.len() - 1, rows);
    }

    /// Adds rows to a film.
    fn join(&mut self, film: usize, rows: impl IntoIterator<Item = Loose>) {
        for Loose { row, cut, .. } in rows {
            let said = &mut self.films[film].1;
            said.add(row.row);
            if std::mem::take(&mut said.said.is_cut) {
                self.problem(cut);
            }
        }
    }

    /// Adds rows to those of several films that they are of: rows of one viewing belong together, and a film is known by its rating.
    fn divide(&mut self, films: &[usize], rows: Vec<Loose>) {
        let mut viewings: Vec<(Option<String>, Vec<Loose>)> = Vec::new();
        for row in rows {
            let log = row.row.log.clone();
            let known = viewings
                .iter_mut()
                .find(|(other, _)| log.is_some() && *other == log);
            match known {
                Some((_, rows)) => rows.push(row),
                None => viewings.push((log, vec![row])),
            }
        }
        // Before anything is added: what is added has ratings too.
        let ratings: Vec<Option<i64>> = films
            .iter()
            .map(|film| self.films[*film].1.said.rating)
            .collect();
        for (_, rows) in viewings {
            let rating = rows.iter().find_map(|row| row.row.row.said.rating);
            let same = films.iter().zip(&ratings);
            let mut same = same.filter(|(_, other)| rating.is_some() && **other == rating);
            match (same.next(), same.next()) {
                (Some((film, _)), None) => self.join(*film, rows),
                _ => self.one(rows, true),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{db::films::Facts, lists::row::Said};

    fn row(title: &str, ids: &[&str], log: &str, rating: Option<i64>, day: &str) -> Found {
        let facts = Facts {
            title: title.to_owned(),
            year: Some(1996),
            ..Facts::default()
        };
        let said = Said {
            watched: true,
            watched_on: Some(day.to_owned()).filter(|day| !day.is_empty()),
            rating,
            ..Said::default()
        };
        let ids = ids.iter().map(|id| (*id).to_owned()).collect();
        match Row::of(facts, said, ids, false).unwrap() {
            Found::Row(mut row) => {
                row.log = Some(log.to_owned()).filter(|log| !log.is_empty());
                Found::Row(row)
            }
            other => other,
        }
    }

    /// The films of rows: title, rating, days, and whether it is ambiguous.
    fn films(rows: Vec<Found>) -> Vec<(String, Option<i64>, usize, bool)> {
        let mut collector = Collector::default();
        for row in rows {
            collector.add(row, say::the_file).unwrap();
        }
        let films = collector.films().into_iter().map(|row| {
            let said = row.said;
            let days = said.earlier.len() + usize::from(said.watched_on.is_some());
            (row.facts.title, said.rating, days, row.is_ambiguous)
        });
        films.collect()
    }

    #[test]
    fn a_film_is_one_whatever_its_case_and_two_of_a_title_are_two() {
        let one = |title: &str| row(title, &[], "", None, "");
        assert_eq!(
            films(vec![one("ALIEN"), one("Alien"), one(" alien ")]).len(),
            1
        );
        assert_eq!(films(vec![one("Tar"), one("Tár")]).len(), 2);
        let two = vec![
            row("Emma", &["a"], "", None, ""),
            row("Emma", &["b"], "", None, ""),
        ];
        assert_eq!(films(two).len(), 2);
        let same = vec![
            row("Emma", &["a", "c"], "", None, ""),
            row("EMMA!", &["c"], "", None, ""),
        ];
        assert_eq!(films(same).len(), 1);
    }

    #[test]
    fn days_go_to_the_film_that_ids_links_and_ratings_tell_and_else_to_none() {
        let two = || {
            vec![
                row("Emma", &["a"], "", Some(9), ""),
                row("Emma", &["b"], "", Some(6), ""),
            ]
        };
        let emma =
            |rating, days, is_ambiguous| ("Emma".to_owned(), Some(rating), days, is_ambiguous);
        // By the rating, and a review by the viewing that has it.
        let mut rows = two();
        rows.push(row("Emma", &[], "l1", Some(6), "2024-01-01"));
        rows.push(row("emma", &[], "l1", None, "2024-01-02"));
        assert_eq!(films(rows), [emma(9, 0, false), emma(6, 2, false)]);
        // Neither rating.
        let mut rows = two();
        rows.push(row("Emma", &[], "l1", Some(7), "2024-01-01"));
        assert_eq!(
            films(rows),
            [emma(9, 0, false), emma(6, 0, false), emma(7, 1, true)]
        );
        // No rating, and two viewings.
        let mut rows = two();
        rows.push(row("Emma", &[], "l1", None, "2024-01-01"));
        rows.push(row("Emma", &[], "l2", None, "2024-01-02"));
        assert_eq!(films(rows).iter().filter(|film| film.3).count(), 2);
        // The order of the files is no matter.
        let mut rows = two();
        rows.insert(0, row("Emma", &[], "l1", Some(6), "2024-01-01"));
        assert_eq!(films(rows), [emma(9, 0, false), emma(6, 1, false)]);
        // Of one film all are.
        let rows = vec![
            row("Emma", &[], "l1", Some(7), "2024-01-01"),
            row("Emma", &["a"], "", Some(9), ""),
            row("Emma", &[], "l2", None, "2024-01-02"),
        ];
        assert_eq!(films(rows).len(), 1);
    }
}
