//! The rows of tables, read as their columns are mapped.

use super::{
    answers::{Answers, Kind},
    collect::Collector,
    day::Days,
    formats::{self, Episodes},
    group::Group,
    meaning::Meaning,
    progress::Progress,
    row::{Found, Row, Said, why},
    sheet::{Sheet, field},
    status::{self, Status},
    tags_of,
};
use crate::{
    Error, Result,
    db::{
        entries::NOTE_CHARACTERS_MAX,
        films::{Facts, Kind as FilmKind, MINUTES, YEARS},
    },
    films::source::imdb_number,
    words::say,
};
use csv::StringRecord;

/// Reads the rows of a file into the collector. A line that can't be read is a problem.
///
/// # Errors
/// [`Error::Invalid`] if it is no CSV, or has too many films.
pub fn read(
    sheet: &Sheet,
    group: &Group,
    days: &Days,
    answers: &Answers,
    into: &mut Collector,
) -> Result<usize> {
    sheet.rows(|line, record| {
        let fields = Fields {
            record,
            places: &group.places(record),
            group,
            days,
            kind: group.mapped.rows,
            is_list: sheet.is_list,
        };
        match fields.row(answers) {
            Ok(mut found) => {
                if let Found::Row(row) = &mut found {
                    row.row.said.tags.extend(sheet.list.iter().cloned());
                }
                into.add(found, || {
                    say::line_note_cut(sheet.name.as_str(), line, NOTE_CHARACTERS_MAX)
                })
            }
            Err(error) => {
                into.problem(say::line_bad(sheet.name.as_str(), line, why(error)));
                Ok(())
            }
        }
    })
}

/// What IMDb and other sites call films, series and what is neither; `None` for the last. IMDb's older exports have names of two words.
fn kind_of(word: &str) -> Option<FilmKind> {
    let name = word.to_lowercase().replace([' ', '-', '_'], "");
    match name.as_str() {
        "film" | "movie" | "movies" | "featurefilm" | "documentary" | "tvmovie" | "short"
        | "shortfilm" | "video" | "tvspecial" | "tvshort" => Some(FilmKind::Film),
        "series" | "tv" | "show" | "shows" | "tvshow" | "tvseries" | "tvminiseries"
        | "miniseries" | "anime" => Some(FilmKind::Series),
        _ => None,
    }
}

/// The fields of a row.
#[derive(Clone, Copy)]
struct Fields<'a> {
    record: &'a StringRecord,
    places: &'a [Option<usize>],
    group: &'a Group,
    days: &'a Days,
    kind: Kind,
    is_list: bool,
}

impl<'a> Fields<'a> {
    /// A field that is not empty.
    fn text(self, meaning: Meaning) -> Option<&'a str> {
        let columns = self.group.mapped.columns.iter().zip(self.places);
        let mut own = columns.filter(|(column, _)| column.meaning == meaning);
        let (_, place) = own.next()?;
        Some(field(self.record, (*place)?)).filter(|text| !text.is_empty())
    }

    /// A field with a number.
    fn number<T: std::str::FromStr>(self, meaning: Meaning) -> Result<Option<T>> {
        self.text(meaning).map(number).transpose()
    }

    /// A field with *yes* or *no*.
    fn yes(self, meaning: Meaning) -> Result<Option<bool>> {
        self.text(meaning).map(yes).transpose()
    }

    /// Names with commas between them.
    fn names(self, meaning: Meaning) -> Vec<String> {
        let names = self.text(meaning).unwrap_or_default().split(',');
        names.map(str::to_owned).collect()
    }

    fn day(self, meaning: Meaning) -> Result<Option<String>> {
        self.text(meaning)
            .map(|text| self.days.day(text))
            .transpose()
    }

    /// Parses the row.
    fn row(self, answers: &Answers) -> Result<Found> {
        let more = self.record.iter().skip(self.places.len());
        if more.into_iter().any(|field| !field.trim().is_empty()) {
            return Err(Error::Invalid(say::csv_more_fields(
                self.record.len(),
                self.places.len(),
            )));
        }
        let is_of_other = |name: &str| {
            answers
                .profile
                .as_ref()
                .is_some_and(|wanted| wanted != name)
        };
        if self.text(Meaning::Profile).is_some_and(is_of_other)
            || self.text(Meaning::Aside).is_some()
        {
            return Ok(Found::NoFilm);
        }
        let is_episode_title = |title: &str| {
            let has_titles = self
                .group
                .format
                .is_some_and(|(table, _)| table.has_episode_titles);
            has_titles && formats::is_episode(title, &self.group.shows)
        };
        if self.text(Meaning::Title).is_some_and(is_episode_title) {
            return Ok(Found::NoFilm);
        }
        if self.text(Meaning::Season).is_some() || self.text(Meaning::Episode).is_some() {
            return self.episode();
        }
        let film_kind = match self.text(Meaning::Kind).map(kind_of) {
            Some(None) => return Ok(Found::NoFilm),
            Some(Some(kind)) => kind,
            None => FilmKind::Film,
        };
        let Some(said) = self.said(film_kind)? else {
            return Ok(Found::Dropped);
        };
        let is_listed_only = self.is_list && !said.watched;
        let mut found = Row::of(
            self.facts(film_kind)?,
            said,
            self.ids(film_kind),
            is_listed_only,
        )?;
        if let Found::Row(row) = &mut found {
            row.log = self.text(Meaning::Log).map(str::to_owned);
            row.is_exact = self.group.format.is_some_and(|(table, _)| table.is_exact);
        }
        Ok(found)
    }

    /// A row on an episode of a series, or on a season.
    fn episode(self) -> Result<Found> {
        let are_watched = self
            .group
            .format
            .is_some_and(|(table, _)| table.episodes == Episodes::Watched);
        let season: Option<u32> = self.number(Meaning::Season)?;
        let (Some(season), Some(episode), true) =
            (season, self.number(Meaning::Episode)?, are_watched)
        else {
            return Ok(Found::NoFilm);
        };
        let mut said = Said::default();
        said.progress.add_episode(season, episode);
        let kind = FilmKind::Series;
        Row::of(self.facts(kind)?, said, self.ids(kind), false)
    }

    /// The film's numbers and addresses at other sites.
    fn ids(self, kind: FilmKind) -> Vec<String> {
        let kind = kind.name();
        let site = self
            .text(Meaning::NumberOf)
            .or(self.group.mapped.format)
            .unwrap_or_default();
        let tmdb = self
            .text(Meaning::Tmdb)
            .map(|number| format!("tmdb {kind} {number}"));
        let number = self
            .text(Meaning::Number)
            .map(|number| format!("{} {kind} {number}", site.to_lowercase()));
        let link = self.text(Meaning::Link).map(str::to_owned);
        tmdb.into_iter().chain(number).chain(link).collect()
    }

    fn year(self) -> Result<Option<i64>> {
        let of_date = self.text(Meaning::Released).and_then(|date| {
            let year = |part: &str| part.parse().ok().filter(|year| YEARS.contains(year));
            date.split(|c: char| !c.is_ascii_digit()).find_map(year)
        });
        Ok(self.number(Meaning::Year)?.or(of_date))
    }

    fn facts(self, kind: FilmKind) -> Result<Facts> {
        let minutes = self.text(Meaning::Minutes);
        let minutes = minutes.and_then(|minutes| minutes.parse().ok());
        let seasons: Option<u16> = self.number(Meaning::Seasons)?;
        let facts = Facts {
            kind,
            title: self.text(Meaning::Title).unwrap_or_default().to_owned(),
            original: self.text(Meaning::Original).map(str::to_owned),
            year: self.year()?,
            end_year: self.number(Meaning::LastYear)?,
            seasons: vec![0; seasons.unwrap_or_default().into()],
            people: self.names(Meaning::Directors),
            genres: self.names(Meaning::Genres),
            minutes: minutes.filter(|minutes| MINUTES.contains(minutes)),
            imdb: self.text(Meaning::Imdb).and_then(imdb_number),
        };
        facts.checked()
    }

    /// The rating, of ten: that of the first column that has one.
    fn rating(self) -> Result<Option<i64>> {
        for (meaning, max) in Meaning::RATINGS {
            let Some(rating) = self.number::<f64>(meaning)? else {
                continue;
            };
            if !(0.0..=max).contains(&rating) {
                return Err(Error::Invalid(say::csv_no_rating(
                    self.text(meaning).unwrap_or_default(),
                    max as i64,
                )));
            }
            if rating > 0.0 {
                return Ok(Some(((rating * 10.0 / max).round() as i64).max(1)));
            }
        }
        Ok(None)
    }

    fn progress(self, watched: Option<bool>) -> Result<Progress> {
        if let Some(text) = self.text(Meaning::LastEpisode) {
            let mut progress = last_episode(text)?;
            progress.set_whole(watched == Some(true));
            return Ok(progress);
        }
        let seasons: Option<u32> = self.number(Meaning::SeasonsWatched)?;
        Ok(match (seasons, watched) {
            // Where it isn't known how many there are, the file says how many were watched.
            (Some(seasons), Some(true)) => Progress::of_all_seasons(seasons),
            (Some(seasons), _) => Progress::of_seasons(seasons),
            (None, _) => Progress::default(),
        })
    }

    /// What the row says of the entry; `None` if its user won't go on with it.
    fn said(self, film_kind: FilmKind) -> Result<Option<Said>> {
        let rating = self.rating()?;
        let status = self.text(Meaning::Status).map(status::of).transpose()?;
        let of_status = status.map(|status| status == Status::Watched);
        let watched = self.yes(Meaning::Watched)?.or(of_status);
        let day = self.day(Meaning::WatchedOn)?;
        // In a watchlist it is the day on which the film was added.
        let rated_on = self.text(Meaning::RatedOn).filter(|_| rating.is_some());
        let rated_on = rated_on.map(|text| self.days.day(text)).transpose()?;
        let has_said = rating.is_some() || day.is_some();
        if status.is_some_and(Status::is_over) && !has_said {
            return Ok(None);
        }
        let earlier = self.text(Meaning::WatchedBefore).unwrap_or_default();
        let earlier = earlier.split_whitespace().map(|day| self.days.day(day));
        let tags = tags_of(self.text(Meaning::Tags).unwrap_or_default());
        Ok(Some(Said {
            priority: self.number(Meaning::Priority)?,
            public: self.yes(Meaning::Public)?,
            watched: match (watched, film_kind) {
                // A part of a series may have been watched and rated.
                (Some(watched), FilmKind::Series) => watched,
                (Some(watched), FilmKind::Film) => watched || has_said,
                (None, _) => self.kind == Kind::Watched || has_said,
            },
            rated_on: day.clone(),
            watched_on: day.or(rated_on),
            earlier: earlier.collect::<Result<_>>()?,
            progress: self.progress(watched)?,
            rating,
            tags,
            ..Said::noted(self.text(Meaning::Note))
        }))
    }
}

/// The last episode that was watched: `s3e7`, or `7` of the first season.
fn last_episode(text: &str) -> Result<Progress> {
    let bad = || Error::Invalid(say::csv_no_number(text));
    let text = text.trim().to_lowercase();
    let (season, episode) = match text.strip_prefix('s') {
        Some(rest) => rest.split_once(['e', 'x']).ok_or_else(bad)?,
        None => text.split_once('x').unwrap_or(("1", &text)),
    };
    let (season, episode) = (season.trim().parse(), episode.trim().parse());
    let (Ok(season), Ok(episode)) = (season, episode) else {
        return Err(bad());
    };
    Ok(Progress::until(season, episode))
}

/// A number. Spreadsheets of some countries write a comma before the fraction.
fn number<T: std::str::FromStr>(text: &str) -> Result<T> {
    let bad = |_| Error::Invalid(say::csv_no_number(text));
    text.replace(',', ".").parse().map_err(bad)
}

fn yes(text: &str) -> Result<bool> {
    match text.to_lowercase().as_str() {
        "yes" | "true" | "1" => Ok(true),
        "no" | "false" | "0" => Ok(false),
        _ => Err(Error::Invalid(say::csv_no_yes(text))),
    }
}
