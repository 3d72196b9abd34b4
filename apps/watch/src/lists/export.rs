//! A list as CSV.

use super::guard::guarded;
use crate::{
    Error, Result, date,
    db::{
        entries::Entry,
        films::{Facts, Kind},
    },
};

/// The columns. The rows have the order of the list.
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

/// A list as CSV, of which the import reads everything back.
///
/// # Errors
/// None but for a lack of memory.
pub fn csv(entries: &[Entry]) -> Result<Vec<u8>> {
    written(&HEADER, entries.iter().map(record))
}

fn written<const N: usize>(
    header: &[&str; N],
    records: impl Iterator<Item = [String; N]>,
) -> Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let bad = |error: csv::Error| Error::Io(error.into());
    writer.write_record(header).map_err(bad)?;
    for record in records {
        writer.write_record(record).map_err(bad)?;
    }
    writer
        .into_inner()
        .map_err(|error| Error::Io(error.into_error()))
}

/// The columns that Letterboxd imports: <https://letterboxd.com/about/importing-data/>.
const LETTERBOXD: [&str; 8] = [
    "imdbID",
    "Title",
    "Year",
    "Rating10",
    "WatchedDate",
    "Rewatch",
    "Tags",
    "Review",
];

/// The films of a list in the form that Letterboxd imports: those that were watched, a row per day, or those to watch. Letterboxd takes
/// all films of an import for watched, and imports a watchlist on the page of the watchlist: they are two files. Series, priorities and
/// who sees an entry have no place in it.
///
/// # Errors
/// None but for a lack of memory.
pub fn letterboxd(entries: &[Entry], is_watched: bool) -> Result<Vec<u8>> {
    let is_wanted =
        |entry: &&Entry| entry.state.watched == is_watched && entry.film.facts.kind == Kind::Film;
    let entries = entries.iter().filter(is_wanted);
    written(&LETTERBOXD, entries.flat_map(viewings))
}

/// The rows of a film, one for each day. What is said of all of them stands in the last one.
fn viewings(entry: &Entry) -> Vec<[String; 8]> {
    let (facts, state) = (&entry.film.facts, &entry.state);
    let days: Vec<&str> = state
        .earlier
        .iter()
        .chain(&state.watched_on)
        .map(String::as_str)
        .collect();
    let days = if days.is_empty() { vec![""] } else { days };
    let row = |(at, day): (usize, &&str)| {
        let is_last = at + 1 == days.len();
        let last = |text: String| if is_last { text } else { String::new() };
        [
            imdb(facts),
            guarded(&facts.title).into_owned(),
            facts.year.map_or_else(String::new, |year| year.to_string()),
            last(
                state
                    .rating
                    .map_or_else(String::new, |rating| rating.to_string()),
            ),
            (*day).to_owned(),
            if at > 0 {
                "true".to_owned()
            } else {
                String::new()
            },
            last(guarded(&state.tags.join(", ")).into_owned()),
            last(guarded(state.note.as_deref().unwrap_or_default()).into_owned()),
        ]
    };
    days.iter().enumerate().map(row).collect()
}

fn imdb(facts: &Facts) -> String {
    facts
        .imdb
        .map_or_else(String::new, |imdb| format!("tt{imdb:07}"))
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
        imdb(facts),
        // Half stars, of five.
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
