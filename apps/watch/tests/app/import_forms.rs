//! Imports of files in each known form: what the preview says of each column is what is stored.

use crate::{
    client::Site,
    import_columns::{fixture, import, list, read},
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A file of a form, the columns that it reads, and the list afterwards.
struct Case {
    format: &'static str,
    name: &'static str,
    query: &'static [(&'static str, &'static str)],
    reads: &'static str,
    stored: Value,
}

fn film(title: &str, year: Option<i64>, said: Value) -> (String, Value) {
    entry("film", title, year, said)
}

fn entry(kind: &str, title: &str, year: Option<i64>, said: Value) -> (String, Value) {
    let [watched, day, earlier, rating, seasons, note, tags] = &said.as_array().unwrap()[..] else {
        panic!("{said}")
    };
    let said = json!([
        kind, year, watched, day, earlier, rating, seasons, note, tags
    ]);
    (title.to_owned(), said)
}

fn to_watch(title: &str, year: i64) -> (String, Value) {
    film(
        title,
        Some(year),
        json!([false, null, [], null, 0, null, []]),
    )
}

fn stored(films: impl IntoIterator<Item = (String, Value)>) -> Value {
    films.into_iter().collect::<serde_json::Map<_, _>>().into()
}

fn alien(said: Value) -> (String, Value) {
    film("Alien", Some(1979), said)
}

fn twin_peaks(said: Value) -> (String, Value) {
    entry("series", "Twin Peaks", Some(1990), said)
}

fn cases() -> Vec<Case> {
    let parts = [first, second, third, fourth, fifth];
    parts
        .into_iter()
        .flat_map(|part: fn() -> Vec<Case>| part())
        .collect()
}

fn first() -> Vec<Case> {
    vec![
        Case {
            format: "TMDB",
            name: "tmdb/ratings.csv",
            query: &[("zone", "Europe/Berlin")],
            reads: "Date Rated=rated_on Episode Number=episode IMDb ID=imdb Name=title Release Date=release_date Season Number=season \
                    TMDb ID=tmdb Type=kind Your Rating=rating_10",
            stored: stored([
                // Not 8.164, which all users gave it.
                alien(json!([true, "2023-05-03", [], 1, 0, null, []])),
                film(
                    "Jaws",
                    Some(1975),
                    json!([true, "2023-05-02", [], 9, 0, null, []]),
                ),
                twin_peaks(json!([true, "2023-05-02", [], 10, 1, null, []])),
            ]),
        },
        Case {
            format: "TMDB",
            name: "tmdb/watchlist.csv",
            query: &[],
            reads: "Date Rated=rated_on Episode Number=episode IMDb ID=imdb Name=title Release Date=release_date Season Number=season \
                    TMDb ID=tmdb Type=kind Your Rating=rating_10",
            stored: stored([
                to_watch("Fargo", 1996),
                entry(
                    "series",
                    "The Wire",
                    Some(2002),
                    json!([false, null, [], null, 0, null, []]),
                ),
            ]),
        },
        Case {
            format: "Letterboxd (import)",
            name: "letterboxd-import/films.csv",
            query: &[],
            reads: "Rating10=rating_10 Review=note Tags=tags Title=title WatchedDate=watched_on Year=year imdbID=imdb tmdbID=tmdb",
            stored: stored([
                alien(json!([
                    true,
                    "2024-03-01",
                    ["2023-04-30"],
                    9,
                    0,
                    "Better.\n\nStill.",
                    ["cinema"]
                ])),
                film("Jaws", Some(1975), json!([true, null, [], 3, 0, null, []])),
                film(
                    "Fargo",
                    Some(1996),
                    json!([true, null, [], null, 0, null, []]),
                ),
            ]),
        },
    ]
}

fn second() -> Vec<Case> {
    vec![
        Case {
            format: "Movary",
            name: "movary/history.csv",
            query: &[],
            reads: "comment=note imdbId=imdb title=title tmdbId=tmdb watchedAt=watched_on year=year",
            stored: stored([
                alien(json!([
                    true,
                    "2024-03-01",
                    ["2023-04-30"],
                    null,
                    0,
                    "In the dark",
                    []
                ])),
                film(
                    "Jaws",
                    Some(1975),
                    json!([true, null, [], null, 0, null, []]),
                ),
            ]),
        },
        Case {
            format: "Movary",
            name: "movary/ratings.csv",
            query: &[],
            reads: "imdbId=imdb title=title tmdbId=tmdb userRating=rating_10 year=year",
            stored: stored([
                // Not doubled.
                alien(json!([true, null, [], 4, 0, null, []])),
                film(
                    "Vertigo",
                    Some(1958),
                    json!([true, null, [], 10, 0, null, []]),
                ),
            ]),
        },
        Case {
            format: "Movary",
            name: "movary/watchlist.csv",
            query: &[],
            reads: "imdbId=imdb title=title tmdbId=tmdb year=year",
            // The first row lacks the year that the header has.
            stored: stored([
                film("Fargo", None, json!([false, null, [], null, 0, null, []])),
                to_watch("Ran", 1985),
            ]),
        },
    ]
}

fn third() -> Vec<Case> {
    vec![
        Case {
            format: "Yamtrack",
            name: "yamtrack/yamtrack.csv",
            query: &[],
            reads: "end_date=watched_on episode_number=episode media_id=number media_type=kind notes=note score=rating_10 \
                    season_number=season source=number_of status=status title=title",
            stored: stored([
                film(
                    "Alien",
                    None,
                    json!([true, "2024-02-09", [], 4, 0, "In the dark", []]),
                ),
                film("Fargo", None, json!([false, null, [], null, 0, null, []])),
                entry(
                    "series",
                    "Twin Peaks",
                    None,
                    json!([false, null, [], null, 1, null, []]),
                ),
            ]),
        },
        Case {
            format: "Simkl",
            name: "simkl/SimklBackup.csv",
            query: &[],
            reads: "IMDB=imdb LastEpWatched=last_episode Memo=note Rating=rating_10 SIMKL_ID=number TMDB=tmdb Title=title Type=kind \
                    WatchedDate=watched_on Watchlist=status Year=year",
            stored: stored([
                alien(json!([true, "2024-03-01", [], 4, 0, "In the dark", []])),
                to_watch("Fargo", 1996),
                twin_peaks(json!([false, null, [], 9, 1, null, []])),
            ]),
        },
        Case {
            format: "Simkl",
            name: "simkl/SimklBackup.json",
            query: &[("zone", "Europe/Berlin")],
            reads: "last_watched_at=watched_on movie.ids.imdb=imdb movie.ids.simkl=number movie.ids.tmdb=tmdb movie.title=title \
                    movie.year=year seasons[].episodes[].number=episode seasons[].number=season show.ids.imdb=imdb \
                    show.ids.simkl=number show.title=title show.year=year status=status user_rating=rating_10",
            stored: stored([
                alien(json!([true, "2024-03-02", [], 4, 0, null, []])),
                to_watch("Fargo", 1996),
                twin_peaks(json!([false, null, [], 9, 1, null, []])),
            ]),
        },
    ]
}

fn fourth() -> Vec<Case> {
    vec![
        Case {
            format: "Netflix",
            name: "netflix/NetflixViewingHistory.csv",
            query: &[],
            reads: "Date=watched_on Title=title",
            stored: stored([
                film(
                    "Alien",
                    None,
                    json!([true, "2024-03-01", ["2022-12-24"], null, 0, null, []]),
                ),
                film(
                    "Jaws",
                    None,
                    json!([true, "2023-09-09", [], null, 0, null, []]),
                ),
            ]),
        },
        Case {
            format: "Netflix",
            name: "netflix/ViewingActivity.csv",
            query: &[("zone", "Europe/Berlin"), ("profile", "Anna")],
            reads: "Profile Name=profile Start Time=watched_on Supplemental Video Type=aside Title=title",
            stored: stored([film(
                "Alien",
                None,
                json!([true, "2024-03-02", [], null, 0, null, []]),
            )]),
        },
        Case {
            format: "Ryot",
            name: "ryot/export.json",
            query: &[],
            reads: "collections[].collection_name=status identifier=number lot=kind reviews[].rating=rating_100 \
                    reviews[].review.text=note reviews[].show_episode_number=episode reviews[].show_season_number=season \
                    seen_history[].ended_on=watched_on seen_history[].progress=watched seen_history[].show_episode_number=episode \
                    seen_history[].show_season_number=season source=number_of source_id=title",
            stored: stored([
                film(
                    "Alien",
                    None,
                    json!([true, "2024-03-01", [], 5, 0, "In the dark", []]),
                ),
                film("Fargo", None, json!([false, null, [], null, 0, null, []])),
                entry(
                    "series",
                    "Twin Peaks",
                    None,
                    json!([false, null, [], null, 1, null, []]),
                ),
            ]),
        },
    ]
}

fn fifth() -> Vec<Case> {
    vec![Case {
        format: "Watcharr",
        name: "watcharr/export.json",
        query: &[("zone", "Europe/Berlin")],
        reads: "activity[].customDate=watched_on activity[].type=status content.first_air_date=release_date \
                    content.release_date=release_date content.title=title content.tmdbId=tmdb content.type=kind game.name=kind \
                    rating=rating_10 status=status thoughts=note watchedEpisodes[].episodeNumber=episode \
                    watchedEpisodes[].seasonNumber=season watchedEpisodes[].status=status watchedSeasons[].seasonNumber=season \
                    watchedSeasons[].status=status",
        stored: stored([
            alien(json!([true, "2024-03-02", [], 4, 0, "In the dark", []])),
            to_watch("Fargo", 1996),
            twin_peaks(json!([false, null, [], 9, 1, null, []])),
        ]),
    }]
}

#[tokio::test]
async fn each_form_stores_what_its_preview_says() {
    for Case {
        format,
        name,
        query,
        reads,
        stored,
    } in cases()
    {
        let (_site, mut people) = Site::without_films(&["Anna"]).await;
        let anna = &mut people[0];
        let file = name.rsplit('/').next().unwrap();
        let with = |more: &[(&'static str, &'static str)]| {
            [&[("name", file), ("add_missing", "1")][..], query, more].concat()
        };
        let told = import(anna, &with(&[("preview", "1")]), fixture(name)).await;
        assert_eq!(told["tables"][0]["format"], format, "{name}: {told}");
        assert_eq!(
            (&told["questions"], &told["problems"]),
            (&json!([]), &json!([])),
            "{name}"
        );
        let columns: Vec<String> = read(&told)
            .iter()
            .map(|(name, becomes)| format!("{name}={becomes}"))
            .collect();
        assert_eq!(columns.join(" "), reads, "{name}");
        assert_eq!(
            list(anna).await,
            BTreeMap::new(),
            "{name}: a preview writes nothing"
        );
        import(anna, &with(&[]), fixture(name)).await;
        let found = json!(list(anna).await);
        assert_eq!(found, stored, "{name}");
        println!("{format} | {name} | {} | {found}", columns.join(", "));
        // Once more it changes nothing.
        import(anna, &with(&[]), fixture(name)).await;
        assert_eq!(json!(list(anna).await), stored, "{name}");
    }
}
