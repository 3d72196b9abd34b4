//! Trakt's JSON: arrays of items, each with a film or a series, as its API and its data export write them.
//!
//! The items of watched films, of the history, of ratings and of lists differ by their fields:
//! <https://trakt.docs.apiary.io/>.

use super::{
    note,
    progress::Progress,
    row::{Collector, ListRow, Said, why},
};
use crate::{
    Error, Result, date,
    db::{
        entries::NOTE_CHARACTERS_MAX,
        films::{Facts, Kind},
    },
    films::source::imdb_number,
    words::say,
};
use serde::{
    Deserialize,
    de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use std::fmt;

/// An item.
#[derive(Deserialize)]
struct Item {
    movie: Option<Title>,
    /// The series of an episode and of a season, or the item itself.
    show: Option<Title>,
    season: Option<IgnoredAny>,
    episode: Option<Episode>,
    /// What was watched of a series.
    #[serde(default)]
    seasons: Option<Vec<Season>>,
    #[serde(default)]
    last_watched_at: Option<String>,
    #[serde(default)]
    watched_at: Option<String>,
    #[serde(default)]
    rating: Option<f64>,
    #[serde(default)]
    listed_at: Option<String>,
    #[serde(default)]
    notes: Option<String>,
}

/// A film or a series.
#[derive(Deserialize)]
struct Title {
    title: Option<String>,
    year: Option<i64>,
    #[serde(default)]
    runtime: Option<i64>,
    /// The number of episodes of a series, in answers with all details.
    #[serde(default)]
    aired_episodes: Option<usize>,
    #[serde(default)]
    ids: Ids,
}

#[derive(Deserialize)]
struct Season {
    number: u32,
    #[serde(default)]
    episodes: Vec<Number>,
}

#[derive(Deserialize)]
struct Number {
    number: u32,
}

#[derive(Deserialize)]
struct Episode {
    season: u32,
    number: u32,
}

#[derive(Default, Deserialize)]
struct Ids {
    trakt: Option<u64>,
    imdb: Option<String>,
}

/// Reads a file into the collector. In a list other than the watchlist, `is_list`, films are neither watched nor to be.
///
/// # Errors
/// [`Error::Invalid`] if the file is no JSON of this form, or has too many films.
pub fn read(bytes: &[u8], name: &str, is_list: bool, into: &mut Collector) -> Result<usize> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut items = Items {
        name,
        is_list,
        into,
        count: 0,
        failure: None,
    };
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let walked = Walk(&mut items).deserialize(&mut json);
    let bad = |error: serde_json::Error| Error::Invalid(say::trakt_bad(name, error.to_string()));
    walked.and_then(|()| json.end()).map_err(bad)?;
    match items.failure {
        Some(error) => Err(error),
        None => Ok(items.count),
    }
}

/// The items of a file, one after the other.
struct Items<'a> {
    name: &'a str,
    is_list: bool,
    into: &'a mut Collector,
    count: usize,
    failure: Option<Error>,
}

impl Items<'_> {
    fn take(&mut self, item: Item) {
        self.count += 1;
        let (kind, title) = match (item.movie, item.show) {
            (Some(movie), _) => (Kind::Film, movie),
            (None, Some(show)) => (Kind::Series, show),
            (None, None) => return,
        };
        let mut progress = Progress::default();
        let at = item.last_watched_at.or(item.watched_at);
        if let Some(episode) = item.episode {
            if at.is_none() {
                // A rating of an episode.
                return self.into.skip();
            }
            progress.add_episode(episode.season, episode.number);
            let said = Said {
                progress,
                ..Said::default()
            };
            return self.add(kind, title, said);
        }
        if item.season.is_some() {
            return self.into.skip();
        }
        for season in item.seasons.unwrap_or_default() {
            for episode in season.episodes {
                progress.add_episode(season.number, episode.number);
            }
        }
        progress.set_aired(title.aired_episodes);
        let day = at.as_deref().and_then(|at| at.get(..10));
        let is_watched = at.is_some() || item.rating.is_some();
        if !is_watched && item.listed_at.is_none() {
            return;
        }
        let rating = item.rating.map(|rating| rating.round() as i64);
        let (note, is_cut) = note::cut(item.notes.as_deref().unwrap_or_default());
        if is_cut {
            self.note_is_cut();
        }
        let said = Said {
            watched: is_watched,
            watched_on: day.filter(|day| date::is_day(day)).map(str::to_owned),
            progress,
            rating: rating.filter(|rating| *rating != 0),
            note,
            ..Said::default()
        };
        self.add(kind, title, said);
    }

    fn note_is_cut(&mut self) {
        let why = say::note_long(NOTE_CHARACTERS_MAX);
        self.into.problem(say::item_bad(self.name, self.count, why));
    }

    fn add(&mut self, kind: Kind, title: Title, said: Said) {
        // Films and series have numbers of their own.
        let identity = title
            .ids
            .trakt
            .map(|id| format!("trakt {} {id}", kind.name()));
        let is_listed_only = self.is_list && !said.watched && said.progress == Progress::default();
        match row(kind, title, said, is_listed_only) {
            Ok(row) => match self.into.add(row, identity) {
                Ok(true) => self.note_is_cut(),
                Ok(false) => {}
                Err(error) => drop(self.failure.get_or_insert(error)),
            },
            Err(error) => {
                let words = say::item_bad(self.name, self.count, why(error));
                self.into.problem(words);
            }
        }
    }
}

fn row(kind: Kind, title: Title, said: Said, is_listed_only: bool) -> Result<ListRow> {
    let facts = Facts {
        kind,
        title: title.title.unwrap_or_default(),
        year: title.year,
        minutes: title.runtime.filter(|minutes| *minutes > 0),
        imdb: title.ids.imdb.as_deref().and_then(imdb_number),
        ..Facts::default()
    };
    let facts = facts.checked()?;
    said.state(&facts)?;
    Ok(ListRow {
        facts,
        said,
        is_listed_only,
    })
}

/// Walks through nested objects and arrays to the items, without keeping the file in memory.
struct Walk<'a, 'b>(&'a mut Items<'b>);

impl<'de> DeserializeSeed<'de> for Walk<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_, '_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list of items, each with a film")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while let Some(item) = items.next_element::<Item>()? {
            self.0.take(item);
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        while entries.next_key::<IgnoredAny>()?.is_some() {
            entries.next_value_seed(Walk(&mut *self.0))?;
        }
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}
