//! Ryot's export as JSON. Ratings are of a hundred.

use super::{Context, Found, Items, Meaning::*, each, id, number, text, whole};
use crate::{
    Result,
    db::films::{Facts, Kind},
    lists::{
        progress::Progress,
        row::{Row, Said},
    },
};
use serde_json::Value;

/// The format. Its films have no year.
pub const RYOT: Items = Items {
    name: "Ryot",
    fields: &[
        ("lot", Kind),
        ("source", NumberOf),
        ("identifier", Number),
        ("source_id", Title),
        ("title", Title),
        ("collections[].collection_name", Status),
        ("collections[].collectionName", Status),
        ("collections[]", Status),
        ("reviews[].rating", Rating100),
        ("reviews[].review.text", Note),
        ("reviews[].show_season_number", Season),
        ("reviews[].show_episode_number", Episode),
        ("seen_history[].ended_on", WatchedOn),
        ("seen_history[].progress", Watched),
        ("seen_history[].show_season_number", Season),
        ("seen_history[].show_episode_number", Episode),
    ],
    is: |item| item.get("lot").is_some_and(Value::is_string) && item.get("seen_history").is_some(),
    read,
};

/// The names of the collections.
fn collections(item: &Value) -> Vec<&str> {
    each(item, "/collections")
        .filter_map(|value| {
            value
                .as_str()
                .or_else(|| text(value, "/collection_name"))
                .or_else(|| text(value, "/collectionName"))
        })
        .collect()
}

fn read(item: &Value, context: &Context<'_>) -> Result<Found> {
    let kind = match text(item, "/lot").unwrap_or_default() {
        "movie" => Kind::Film,
        "show" | "anime" => Kind::Series,
        _ => return Ok(Found::NoFilm),
    };
    let (mut days, mut progress, mut is_seen) = (Vec::new(), Progress::default(), false);
    for seen in each(item, "/seen_history") {
        // Without a progress it is done.
        if number(seen, "/progress").is_some_and(|percent| percent < 100.0) {
            continue;
        }
        match (
            whole(seen, "/show_season_number"),
            whole(seen, "/show_episode_number"),
        ) {
            (Some(season), Some(number)) => progress.add_episode(season as u32, number as u32),
            _ => is_seen = true,
        }
        if let (Kind::Film, Some(at)) = (kind, text(seen, "/ended_on")) {
            days.push(context.days.day(at)?);
        }
    }
    days.sort();
    let of_whole = |review: &&Value| whole(review, "/show_season_number").is_none();
    let reviews: Vec<&Value> = each(item, "/reviews").filter(of_whole).collect();
    let rating = reviews.iter().find_map(|review| number(review, "/rating"));
    let rating = rating
        .map(|rating| (rating / 10.0).round() as i64)
        .filter(|rating| *rating != 0);
    let note: Vec<&str> = reviews
        .iter()
        .filter_map(|review| text(review, "/review/text"))
        .collect();
    let names = collections(item);
    let is_whole = names.contains(&"Completed");
    let is_wanted = names.contains(&"Watchlist") || names.contains(&"In Progress");
    let is_film = kind == Kind::Film;
    if !is_seen && !is_whole && !is_wanted && rating.is_none() && progress == Progress::default() {
        return Ok(Found::Nothing);
    }
    progress.set_whole(is_whole && !is_film);
    let said = Said {
        watched: is_whole || (is_film && (is_seen || rating.is_some())),
        watched_on: days.pop(),
        earlier: days,
        progress,
        rating,
        ..Said::noted(Some(note.join("\n\n").as_str()).filter(|note| !note.is_empty()))
    };
    let title = text(item, "/source_id").or(text(item, "/title"));
    let facts = Facts {
        kind,
        title: title.unwrap_or_default().to_owned(),
        ..Facts::default()
    };
    let site = text(item, "/source").unwrap_or("ryot");
    let numbers = text(item, "/identifier").map(|number| id(site, kind, number));
    Row::of(facts, said, numbers.into_iter().collect(), false)
}
