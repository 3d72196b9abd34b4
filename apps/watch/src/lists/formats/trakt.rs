//! Trakt's JSON, as its API and its data export write it: <https://trakt.docs.apiary.io/>.

use super::{Context, Found, Items, Meaning::*, each, id, number, text, whole};
use crate::{
    Result,
    db::films::{Facts, Kind},
    films::source::imdb_number,
    lists::{
        progress::Progress,
        row::{Row, Said},
    },
};
use serde_json::Value;

/// The format. The items of watched films, of the history, of ratings and of lists differ by their fields.
pub const TRAKT: Items = Items {
    name: "Trakt",
    fields: &[
        ("movie.title", Title),
        ("movie.year", Year),
        ("movie.runtime", Minutes),
        ("movie.ids.imdb", Imdb),
        ("movie.ids.trakt", Number),
        ("show.title", Title),
        ("show.year", Year),
        ("show.runtime", Minutes),
        ("show.aired_episodes", LastEpisode),
        ("show.ids.imdb", Imdb),
        ("show.ids.trakt", Number),
        ("season.number", Season),
        ("episode.season", Season),
        ("episode.number", Episode),
        ("seasons[].number", Season),
        ("seasons[].episodes[].number", Episode),
        ("last_watched_at", WatchedOn),
        ("watched_at", WatchedOn),
        ("rating", Rating10),
        ("listed_at", Status),
        ("notes", Note),
    ],
    is: |item| {
        item.pointer("/movie/title")
            .or(item.pointer("/show/title"))
            .is_some()
    },
    read,
};

fn read(item: &Value, context: &Context<'_>) -> Result<Found> {
    let (kind, title) = match (item.get("movie"), item.get("show")) {
        (Some(movie), _) => (Kind::Film, movie),
        (None, Some(show)) => (Kind::Series, show),
        (None, None) => return Ok(Found::Nothing),
    };
    let at = text(item, "/last_watched_at").or(text(item, "/watched_at"));
    let mut progress = Progress::default();
    let mut said = Said::default();
    if let Some(episode) = item.get("episode") {
        // A rating of an episode.
        let (Some(season), Some(number), true) = (
            whole(episode, "/season"),
            whole(episode, "/number"),
            at.is_some(),
        ) else {
            return Ok(Found::NoFilm);
        };
        progress.add_episode(season as u32, number as u32);
    } else if item.get("season").is_some() {
        return Ok(Found::NoFilm);
    } else {
        for season in each(item, "/seasons") {
            for episode in each(season, "/episodes") {
                if let (Some(season), Some(number)) =
                    (whole(season, "/number"), whole(episode, "/number"))
                {
                    progress.add_episode(season as u32, number as u32);
                }
            }
        }
        progress.set_aired(
            whole(title, "/aired_episodes").and_then(|aired| usize::try_from(aired).ok()),
        );
        let rating = number(item, "/rating").map(|rating| rating.round() as i64);
        let is_watched = at.is_some() || rating.is_some();
        if !is_watched && text(item, "/listed_at").is_none() {
            return Ok(Found::Nothing);
        }
        said = Said {
            watched: is_watched,
            watched_on: at.map(|at| context.days.day(at)).transpose()?,
            rating: rating.filter(|rating| *rating != 0),
            ..Said::noted(text(item, "/notes"))
        };
    }
    said.progress = progress;
    let facts = Facts {
        kind,
        title: text(title, "/title").unwrap_or_default().to_owned(),
        year: whole(title, "/year"),
        minutes: whole(title, "/runtime").filter(|minutes| *minutes > 0),
        imdb: text(title, "/ids/imdb").and_then(imdb_number),
        ..Facts::default()
    };
    let numbers = whole(title, "/ids/trakt").map(|number| id("trakt", kind, number));
    let is_listed_only = context.is_list && !said.watched && said.progress == Progress::default();
    Row::of(facts, said, numbers.into_iter().collect(), is_listed_only)
}
