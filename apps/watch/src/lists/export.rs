//! A list as CSV.

use super::guard::guarded;
use crate::{Error, Result, date, db::entries::Entry};

/// The columns: those of Letterboxd, so that others can read it, then what only we know.
const HEADER: [&str; 17] = [
    "Date",
    "Name",
    "Year",
    "imdbID",
    "Rating",
    "Watched",
    "Watched Date",
    "Priority",
    "Public",
    "Note",
    "Genres",
    "Tags",
    "Watched Before",
    "Kind",
    "Last Year",
    "Seasons",
    "Seasons Watched",
];

/// A list as CSV, which the import and Letterboxd read.
///
/// # Errors
/// None but for a lack of memory.
pub fn csv(entries: &[Entry]) -> Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let bad = |error: csv::Error| Error::Io(error.into());
    writer.write_record(HEADER).map_err(bad)?;
    for entry in entries {
        writer.write_record(record(entry)).map_err(bad)?;
    }
    writer
        .into_inner()
        .map_err(|error| Error::Io(error.into_error()))
}

fn record(entry: &Entry) -> [String; 17] {
    let (facts, state) = (&entry.film.facts, &entry.state);
    let seasons = |count: usize| {
        facts
            .series()
            .map_or_else(String::new, |_| count.to_string())
    };
    let yes = |is: bool| if is { "yes" } else { "no" }.to_owned();
    [
        date::day(entry.added_ms),
        guarded(&facts.title).into_owned(),
        facts.year.map_or_else(String::new, |year| year.to_string()),
        facts
            .imdb
            .map_or_else(String::new, |imdb| format!("tt{imdb:07}")),
        // Letterboxd counts half stars, of five.
        state
            .rating
            .map_or_else(String::new, |rating| format!("{:.1}", rating as f64 / 2.0)),
        yes(state.watched),
        state.watched_on.clone().unwrap_or_default(),
        state.priority.to_string(),
        yes(state.public),
        guarded(state.note.as_deref().unwrap_or_default()).into_owned(),
        guarded(&facts.genres.join(", ")).into_owned(),
        guarded(&state.tags.join(", ")).into_owned(),
        state.earlier.join(" "),
        facts.kind.name().to_owned(),
        facts
            .end_year
            .map_or_else(String::new, |year| year.to_string()),
        seasons(facts.seasons.len()),
        seasons(state.seasons_watched as usize),
    ]
}
