//! Watcharr's export as JSON: films, series and games.

use super::{Context, Found, Items, Meaning::*, each, id, number, text, whole};
use crate::{
    Result,
    db::films::{Facts, Kind},
    lists::{
        progress::Progress,
        row::{Row, Said},
        status,
    },
};
use serde_json::Value;

/// The format. Of the activities those count that say on which day a film was watched.
pub const WATCHARR: Items = Items {
    name: "Watcharr",
    fields: &[
        ("status", Status),
        ("rating", Rating10),
        ("thoughts", Note),
        ("content.title", Title),
        ("content.type", Kind),
        ("content.release_date", Released),
        ("content.first_air_date", Released),
        ("content.tmdbId", Tmdb),
        ("game.name", Kind),
        ("activity[].type", Status),
        ("activity[].customDate", WatchedOn),
        ("watchedSeasons[].seasonNumber", Season),
        ("watchedSeasons[].status", Status),
        ("watchedEpisodes[].seasonNumber", Season),
        ("watchedEpisodes[].episodeNumber", Episode),
        ("watchedEpisodes[].status", Status),
    ],
    is: |item| {
        let has_status = item.get("status").is_some_and(Value::is_string);
        has_status
            && (item.pointer("/content/title").is_some() || item.pointer("/game/name").is_some())
    },
    read,
};

/// The year of a date.
fn year(content: &Value) -> Option<i64> {
    let date = text(content, "/release_date").or(text(content, "/first_air_date"))?;
    let year = date.get(..4)?.parse().ok();
    year.filter(|year| crate::db::films::YEARS.contains(year))
}

fn read(item: &Value, context: &Context<'_>) -> Result<Found> {
    let content = item.get("content").unwrap_or(&Value::Null);
    let kind = match text(content, "/type").unwrap_or_default() {
        "movie" => Kind::Film,
        "tv" => Kind::Series,
        _ => return Ok(Found::NoFilm),
    };
    let is_finished = |item: &Value| text(item, "/status") == Some("FINISHED");
    let mut progress = Progress::default();
    for episode in each(item, "/watchedEpisodes").filter(|episode| is_finished(episode)) {
        if let (Some(season), Some(number)) = (
            whole(episode, "/seasonNumber"),
            whole(episode, "/episodeNumber"),
        ) {
            progress.add_episode(season as u32, number as u32);
        }
    }
    let seasons = each(item, "/watchedSeasons").filter(|season| is_finished(season));
    let seasons: Vec<i64> = seasons
        .filter_map(|season| whole(season, "/seasonNumber"))
        .collect();
    // The first ones without a gap.
    let first = (1..).take_while(|season| seasons.contains(season)).count();
    if first > 0 {
        progress.add(Progress::of_seasons(first as u32));
    }
    let mut days = Vec::new();
    for activity in each(item, "/activity") {
        let is_watch = text(activity, "/type").is_some_and(|kind| kind.contains("ADDED_WATCHED"));
        let at = text(activity, "/customDate").filter(|at| is_watch && !at.starts_with("0001-"));
        days.extend(at.map(|at| context.days.day(at)).transpose()?);
    }
    days.sort();
    days.dedup();
    let rating = number(item, "/rating").map(|rating| rating.round() as i64);
    let rating = rating.filter(|rating| *rating != 0);
    let status = text(item, "/status").map(status::of).transpose()?;
    let is_watched = status == Some(status::Status::Watched);
    let is_film = kind == Kind::Film;
    let has_said = rating.is_some() || !days.is_empty() || progress != Progress::default();
    if status.is_some_and(status::Status::is_over) && !has_said {
        return Ok(Found::Dropped);
    }
    progress.set_whole(is_watched && !is_film);
    let said = Said {
        watched: is_watched || (is_film && (rating.is_some() || !days.is_empty())),
        watched_on: days.pop(),
        earlier: days,
        progress,
        rating,
        ..Said::noted(text(item, "/thoughts"))
    };
    let facts = Facts {
        kind,
        title: text(content, "/title").unwrap_or_default().to_owned(),
        year: year(content),
        ..Facts::default()
    };
    let numbers = whole(content, "/tmdbId").map(|number| id("tmdb", kind, number));
    Row::of(facts, said, numbers.into_iter().collect(), false)
}
