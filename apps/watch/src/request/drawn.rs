//! What rows of lists say of their films, kept in memory.

use crate::words::Language;
use std::{
    collections::HashMap,
    mem,
    sync::{Arc, PoisonError, RwLock},
};

/// The bytes of the newer half of the films that are kept. The older half has no more.
const HALF_BYTES_MAX: usize = 6 << 20;

/// The bytes that a film takes beside its texts: the two entries, and the headers of the allocations.
const OWN_BYTES: usize = size_of::<DrawnFilm>() + 100;

/// What a row of a list says of a film, as markup in a language. It depends on the facts of the film and on its poster only.
#[derive(Debug)]
pub struct DrawnFilm {
    /// The id of the film.
    pub id: String,
    /// The title, for attributes.
    pub title: String,
    /// The poster.
    pub poster: String,
    /// The title and the facts.
    pub facts: String,
    /// The number of seasons of a series, as in [`Facts::series`](crate::db::films::Facts::series).
    pub series: Option<usize>,
}

impl DrawnFilm {
    fn bytes(&self) -> usize {
        let texts = [&self.id, &self.title, &self.poster, &self.facts];
        OWN_BYTES + texts.iter().map(|text| text.len()).sum::<usize>()
    }
}

/// The films that were drawn last, by number and language. All are of one [stamp](crate::db::films::stamp).
#[derive(Default)]
pub struct DrawnFilms(RwLock<Kept>);

type Films = HashMap<(i64, Language), Arc<DrawnFilm>>;

#[derive(Default)]
struct Kept {
    stamp: i64,
    newer: Films,
    newer_bytes: usize,
    older: Films,
}

impl DrawnFilms {
    /// Returns the films with these numbers, as far as they are known by this stamp, in the order of the numbers.
    pub fn find(
        &self,
        stamp: i64,
        language: Language,
        numbers: impl Iterator<Item = i64>,
    ) -> Vec<Option<Arc<DrawnFilm>>> {
        let kept = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let find = |number: i64| {
            let key = (number, language);
            let found = kept.newer.get(&key).or_else(|| kept.older.get(&key));
            found.filter(|_| kept.stamp == stamp).cloned()
        };
        numbers.map(find).collect()
    }

    /// Keeps films that were read and drawn in a transaction in which this was the stamp. Those of other stamps are forgotten, and
    /// the older half where there are too many.
    pub fn keep(
        &self,
        stamp: i64,
        language: Language,
        films: impl Iterator<Item = (i64, Arc<DrawnFilm>)>,
    ) {
        let mut kept = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if kept.stamp != stamp {
            *kept = Kept {
                stamp,
                ..Kept::default()
            };
        }
        for (number, film) in films {
            let bytes = film.bytes();
            if kept.newer_bytes + bytes > HALF_BYTES_MAX {
                kept.older = mem::take(&mut kept.newer);
                kept.newer_bytes = 0;
            }
            if kept.newer.insert((number, language), film).is_none() {
                kept.newer_bytes += bytes;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn film(title: &str) -> Arc<DrawnFilm> {
        Arc::new(DrawnFilm {
            id: String::new(),
            title: title.to_owned(),
            poster: String::new(),
            facts: String::new(),
            series: None,
        })
    }

    fn titles(films: &DrawnFilms, stamp: i64, language: Language) -> Vec<Option<String>> {
        let found = films.find(stamp, language, [2, 1].into_iter());
        let title = |film: Option<Arc<DrawnFilm>>| Some(film?.title.clone());
        found.into_iter().map(title).collect()
    }

    #[test]
    fn films_of_another_stamp_or_language_are_not_known() {
        let films = DrawnFilms::default();
        films.keep(7, Language::English, [(1, film("A"))].into_iter());
        let known = vec![None, Some("A".to_owned())];
        assert_eq!(titles(&films, 7, Language::English), known);
        assert_eq!(titles(&films, 7, Language::German), [None, None]);
        assert_eq!(titles(&films, 8, Language::English), [None, None]);
        films.keep(8, Language::English, [(2, film("B"))].into_iter());
        let known = vec![Some("B".to_owned()), None];
        assert_eq!(titles(&films, 8, Language::English), known);
        assert_eq!(titles(&films, 7, Language::English), [None, None]);
    }

    #[test]
    fn the_older_half_is_forgotten() {
        let films = DrawnFilms::default();
        let long = film(&"x".repeat(HALF_BYTES_MAX / 4));
        for number in 0..100 {
            films.keep(7, Language::English, [(number, long.clone())].into_iter());
        }
        let found = films.find(7, Language::English, 0..100);
        let known: Vec<usize> = (0..100).filter(|at| found[*at].is_some()).collect();
        assert!((3..=6).contains(&known.len()), "{known:?}");
        assert_eq!(known.last(), Some(&99));
    }
}
