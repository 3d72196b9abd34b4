//! Simkl's backup as JSON, which is what its API answers: films, series and anime under keys of their own.

use super::{Context, Found, Items, Meaning::*, each, id, number, text, whole};
use crate::{
    Result,
    db::films::{Facts, Kind},
    films::source::imdb_number,
    lists::{
        progress::Progress,
        row::{Row, Said},
        status,
    },
};
use serde_json::Value;

/// The format.
pub const SIMKL: Items = Items {
    name: "Simkl",
    fields: &[
        ("status", Status),
        ("user_rating", Rating10),
        ("last_watched_at", WatchedOn),
        ("anime_type", Kind),
        ("memo.text", Note),
        ("movie.title", Title),
        ("movie.year", Year),
        ("movie.ids.imdb", Imdb),
        ("movie.ids.tmdb", Tmdb),
        ("movie.ids.simkl", Number),
        ("show.title", Title),
        ("show.year", Year),
        ("show.ids.imdb", Imdb),
        ("show.ids.tmdb", Tmdb),
        ("show.ids.simkl", Number),
        ("seasons[].number", Season),
        ("seasons[].episodes[].number", Episode),
    ],
    is: |item| {
        let title = item.pointer("/movie/title").or(item.pointer("/show/title"));
        item.get("status").is_some_and(Value::is_string) && title.is_some()
    },
    read,
};

fn read(item: &Value, context: &Context<'_>) -> Result<Found> {
    let is_film = item.get("movie").is_some() || text(item, "/anime_type") == Some("movie");
    let kind = Kind::of(!is_film);
    let title = item
        .get("movie")
        .or(item.get("show"))
        .unwrap_or(&Value::Null);
    let rating = number(item, "/user_rating").map(|rating| rating.round() as i64);
    let rating = rating.filter(|rating| *rating != 0);
    let at = text(item, "/last_watched_at");
    let status = text(item, "/status").map(status::of).transpose()?;
    let mut progress = Progress::default();
    for season in each(item, "/seasons") {
        for episode in each(season, "/episodes") {
            if let (Some(season), Some(number)) =
                (whole(season, "/number"), whole(episode, "/number"))
            {
                progress.add_episode(season as u32, number as u32);
            }
        }
    }
    if status.is_some_and(status::Status::is_over)
        && rating.is_none()
        && progress == Progress::default()
    {
        return Ok(Found::Dropped);
    }
    let is_watched = status == Some(status::Status::Watched);
    progress.set_whole(is_watched && !is_film);
    let said = Said {
        watched: is_watched || (is_film && rating.is_some()),
        watched_on: at
            .filter(|_| is_watched)
            .map(|at| context.days.day(at))
            .transpose()?,
        progress,
        rating,
        ..Said::noted(text(item, "/memo/text"))
    };
    let facts = Facts {
        kind,
        title: text(title, "/title").unwrap_or_default().to_owned(),
        year: whole(title, "/year"),
        imdb: text(title, "/ids/imdb").and_then(imdb_number),
        ..Facts::default()
    };
    let numbers = ["tmdb", "simkl"].into_iter();
    let numbers =
        numbers.filter_map(|site| Some(id(site, kind, whole(title, &format!("/ids/{site}"))?)));
    Row::of(facts, said, numbers.collect(), false)
}
