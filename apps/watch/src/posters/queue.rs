//! The films without a poster that somebody looked at.

use crate::db::posters::Among;
use std::{
    collections::BTreeSet,
    sync::{Mutex, MutexGuard, PoisonError},
};
use tokio::sync::Notify;

/// The maximum number of films. More are left out: they are on lists, or looked at again.
const FILMS_MAX: usize = 500;

/// The numbers of films that are shown without a poster.
#[derive(Default)]
pub struct Wanted {
    films: Mutex<BTreeSet<i64>>,
    added: Notify,
}

impl Wanted {
    /// Adds films.
    pub fn add(&self, films: impl IntoIterator<Item = i64>) {
        let mut known = self.films();
        let before = known.len();
        for film in films {
            if known.len() < FILMS_MAX {
                known.insert(film);
            }
        }
        if known.len() > before {
            self.added.notify_one();
        }
    }

    /// Waits until there are films, and returns them. They stay until they are removed.
    pub async fn next(&self) -> Vec<i64> {
        loop {
            let films: Vec<i64> = self.films().iter().copied().collect();
            if !films.is_empty() {
                return films;
            }
            self.added.notified().await;
        }
    }

    /// Removes films.
    pub fn remove(&self, among: &Among) {
        if let Among::These(films) = among {
            let mut known = self.films();
            films.iter().for_each(|film| _ = known.remove(film));
        }
    }

    fn films(&self) -> MutexGuard<'_, BTreeSet<i64>> {
        self.films.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
