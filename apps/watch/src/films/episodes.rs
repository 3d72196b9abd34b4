//! The seasons of series, from IMDb's `title.episode.tsv`, plain or gzipped.

use super::{lines::Lines, source::imdb_number};
use crate::{
    Error, Result,
    db::{
        Database,
        films::{self, SEASONS_MAX},
    },
    words::say,
};
use serde::Serialize;
use std::{
    collections::HashMap,
    path::Path,
    sync::{Arc, atomic::AtomicU64},
};

/// Series of a transaction.
const BATCH_SERIES: usize = 2000;

/// The result of reading episodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counted {
    /// Series with another number of seasons or episodes than before.
    pub changed: u64,
    /// Series of the file that have the same as before.
    pub known: u64,
    /// Episodes of series of the catalogue.
    pub episodes: u64,
    /// Lines that are no episode.
    pub skipped: u64,
    /// The error of the first of them.
    pub first_skipped: Option<String>,
}

/// A file of episodes.
pub struct Episodes(Lines);

impl Episodes {
    /// Opens a file.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Invalid`] when it begins otherwise.
    pub fn open(path: &Path) -> Result<Self> {
        let mut lines = Lines::open(path)?;
        if !lines.start()?.starts_with(b"tconst\tparentTconst\t") {
            return Err(Error::Invalid(say::as_is(format!(
                "{}: not IMDb's title.episode.tsv",
                path.display()
            ))));
        }
        lines.read(&mut String::new())?;
        Ok(Episodes(lines))
    }

    /// Bytes of the file.
    pub fn bytes(&self) -> u64 {
        self.0.bytes
    }

    /// Bytes of the file read so far, which many threads may ask.
    pub fn bytes_read(&self) -> Arc<AtomicU64> {
        self.0.bytes_read()
    }

    /// Sets the seasons of the series of the catalogue, and tells now and then that it goes on. Seasons that were stated by hand stay,
    /// if the file has fewer. Memory is taken for these series only.
    ///
    /// # Errors
    /// The file's, or SQLite's error.
    pub fn import(mut self, database: &Database, mut tell: impl FnMut()) -> Result<Counted> {
        let series = database.read(films::series_of_imdb)?;
        let mut done = Counted::default();
        let mut counts: HashMap<i64, Seasons> = HashMap::new();
        let mut line = String::new();
        for at in 0_u64.. {
            let episode = match self.0.read(&mut line) {
                Ok(true) => self.episode(&line),
                Ok(false) => break,
                Err(error) => Err(error),
            };
            match episode {
                Ok((parent, season)) if series.contains_key(&parent) => {
                    done.episodes += 1;
                    counts.entry(parent).or_default().add(season);
                }
                Ok(_) => {}
                Err(Error::Invalid(why)) => {
                    done.skipped += 1;
                    done.first_skipped.get_or_insert_with(|| why.plain());
                }
                Err(error) => return Err(error),
            }
            if at % 100_000 == 0 {
                tell();
            }
        }
        let mut changes = Vec::new();
        for (imdb, counted) in counts {
            let (number, before) = &series[&imdb];
            let seasons = counted.beside(before);
            if seasons == *before {
                done.known += 1;
            } else {
                changes.push((*number, seasons));
            }
        }
        changes.sort_unstable();
        done.changed = changes.len() as u64;
        for batch in changes.chunks(BATCH_SERIES) {
            let batch = batch.to_vec();
            database.write_now(move |db| {
                let mut batch = batch.iter();
                batch.try_for_each(|(number, seasons)| films::set_seasons(db, *number, seasons))
            })?;
            tell();
        }
        Ok(done)
    }

    /// The series and the season of an episode; the season is none where IMDb doesn't know it.
    fn episode(&self, line: &str) -> Result<(i64, Option<u32>)> {
        let fields: Vec<&str> = line.trim_end_matches(['\r', '\n']).split('\t').collect();
        let [_, parent, season, _] = fields[..] else {
            return Err(self.0.bad("it hasn't the four fields of title.episode.tsv"));
        };
        let bad = || self.0.bad("its second field isn't tt and digits");
        Ok((imdb_number(parent).ok_or_else(bad)?, season.parse().ok()))
    }
}

/// The numbers of episodes of a series, by the number of the season.
#[derive(Default)]
struct Seasons(Vec<(u32, u32)>);

impl Seasons {
    /// Counts an episode. Those without a season, and specials, which have season 0, count for none.
    fn add(&mut self, season: Option<u32>) {
        let Some(season) = season.filter(|season| *season > 0) else {
            return;
        };
        match self.0.iter_mut().find(|(number, _)| *number == season) {
            Some((_, episodes)) => *episodes += 1,
            None => self.0.push((season, 1)),
        }
    }

    /// The numbers of episodes, the first season first, given those that were known. Some series have years for seasons: these are
    /// counted from the first.
    fn beside(mut self, before: &[u32]) -> Vec<u32> {
        self.0.sort_unstable();
        let last = self.0.last().map_or(0, |(number, _)| *number as usize);
        let mut seasons: Vec<u32> = if last <= SEASONS_MAX {
            let mut seasons = vec![0; last];
            for (number, episodes) in self.0 {
                seasons[number as usize - 1] = episodes;
            }
            seasons
        } else {
            let episodes = self.0.into_iter().map(|(_, episodes)| episodes);
            episodes.take(SEASONS_MAX).collect()
        };
        let further = before.get(seasons.len()..).unwrap_or_default();
        let by_hand = further.iter().take_while(|episodes| **episodes == 0);
        seasons.extend(by_hand);
        seasons
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seasons(of: &[Option<u32>], before: &[u32]) -> Vec<u32> {
        let mut seasons = Seasons::default();
        for season in of {
            seasons.add(*season);
        }
        seasons.beside(before)
    }

    #[test]
    fn episodes_are_counted_by_season() {
        let of = [Some(2), Some(1), Some(2), None, Some(0), Some(4)];
        assert_eq!(seasons(&of, &[]), [1, 2, 0, 1]);
        assert!(seasons(&[None], &[]).is_empty());
        // Seasons that somebody stated stay. Those that an older file had do not.
        assert_eq!(seasons(&[Some(1)], &[0, 0, 0]), [1, 0, 0]);
        assert_eq!(seasons(&[Some(1)], &[1, 9]), [1]);
        // Years.
        let years = [Some(2019), Some(2021), Some(2019), Some(2020)];
        assert_eq!(seasons(&years, &[]), [2, 1, 1]);
        let many: Vec<Option<u32>> = (1000..1300).map(Some).collect();
        assert_eq!(seasons(&many, &[]).len(), SEASONS_MAX);
    }
}
