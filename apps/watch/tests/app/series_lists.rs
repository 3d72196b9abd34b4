//! Lists with series as files: imports, and the export.

use crate::{
    client::{Client, Site},
    imports,
    series::{press, site, title},
};
use axum::http::StatusCode;
use serde_json::{Value, json};

/// A file of `tests/imports`, sent and confirmed, with the page before it was confirmed.
async fn imported(client: &mut Client, name: &str, file: &[u8], fields: &[(&str, &str)]) -> String {
    let sent = imports::send(client, name, file, "").await;
    assert_eq!(sent.status, StatusCode::SEE_OTHER, "{}", sent.text);
    let address = sent.header("location").to_owned();
    let preview = client.get(&address).await.text;
    let done = client.post(&address, &address, fields).await;
    assert!(done.text.contains("Imported"), "{}", done.text);
    preview
}

/// What the list says of each series: watched, the day, the seasons and the rating.
async fn series_of(client: &mut Client) -> Value {
    let mut all = serde_json::Map::new();
    if client.token.is_none() {
        client.make_token().await;
    }
    for path in ["/list?kind=series", "/list?kind=series&watched=1"] {
        let page = client.api("GET", path, Value::Null).await.json();
        for film in page["films"].as_array().unwrap() {
            let said = json!([
                film["watched"],
                film["watched_on"],
                film["seasons_watched"],
                film["rating"]
            ]);
            all.insert(film["title"].as_str().unwrap().to_owned(), said);
        }
    }
    all.into()
}

#[tokio::test]
async fn trakts_series_are_imported_with_the_seasons_that_were_watched() {
    let (_site, mut people) = site(&["Anna"]).await;
    let anna = &mut people[0];
    let file = imports::archive("trakt", "anna/");
    let preview = imported(anna, "trakt.zip", &file, &[("add_missing", "1")]).await;
    assert!(preview.contains("1 season watched"), "{preview}");
    let expected = json!({
        "Breaking Bad": [false, null, 1, null],
        "Chernobyl": [true, "2023-11-05", 1, null],
        // An episode was watched.
        "Twin Peaks": [false, null, 0, 10],
        "The Wire": [false, null, 0, null],
    });
    assert_eq!(series_of(anna).await, expected);
    // Once more it changes nothing.
    let preview = imported(anna, "trakt.zip", &file, &[]).await;
    assert!(preview.contains("Changed on your list: 0"), "{preview}");
    assert_eq!(series_of(anna).await, expected);
}

#[tokio::test]
async fn a_list_with_series_is_exported_and_imported_again() {
    let (_site, mut people) = site(&["Anna", "Ben"]).await;
    let anna = &mut people[0];
    for (words, fields) in [
        ("fargo", &[("seasons_watched", "1"), ("rating", "8")][..]),
        (
            "chernobyl",
            &[("seasons_watched", "1"), ("watched_on", "2024-01-31")],
        ),
        ("breaking+bad", &[]),
    ] {
        let film = title(anna, words, "series").await;
        anna.post(
            &format!("/films/{film}"),
            &format!("/list/{film}/save"),
            fields,
        )
        .await;
    }
    let fields = [
        ("title", "Home series"),
        ("kind", "series"),
        ("year", "2020"),
    ];
    anna.post("/films/new", "/films/new", &fields).await;
    let film = title(anna, "home+series", "series").await;
    press(anna, &format!("/list/{film}/add")).await;
    press(anna, &format!("/list/{film}/season/3")).await;
    let fields = [("title", "Whole series"), ("kind", "series")];
    anna.post("/films/new", "/films/new", &fields).await;
    let film = title(anna, "whole+series", "series").await;
    let fields = [("seasons_watched", "4"), ("watched", "on")];
    let page = format!("/films/{film}");
    anna.post(&page, &format!("/list/{film}/add"), &fields)
        .await;
    let expected = series_of(anna).await;
    assert_eq!(expected["Home series"], json!([false, null, 3, null]));
    assert_eq!(expected["Whole series"], json!([true, null, 4, null]));
    assert_eq!(expected["Fargo"], json!([false, null, 1, 8]));
    let csv = anna.api("GET", "/export.csv", Value::Null).await.text;
    assert!(csv.contains("series,2019,1,1"), "{csv}");
    imported(&mut people[1], "list.csv", csv.as_bytes(), &[]).await;
    assert_eq!(series_of(&mut people[1]).await, expected);
    // Elsewhere they are added with what the file says of them.
    let (_other, mut people) = Site::with_people(&["Cleo"]).await;
    let cleo = &mut people[0];
    imported(cleo, "list.csv", csv.as_bytes(), &[("add_missing", "1")]).await;
    assert_eq!(series_of(cleo).await, expected);
    let found = cleo
        .api("GET", "/films?q=chernobyl", Value::Null)
        .await
        .json();
    assert_eq!(
        json!([
            found["films"][0]["kind"],
            found["films"][0]["end_year"],
            found["films"][0]["seasons"]
        ]),
        json!(["series", 2019, [0]])
    );
}

#[tokio::test]
async fn a_file_that_tells_no_kinds_means_films_first() {
    let (_site, mut people) = site(&["Anna"]).await;
    let anna = &mut people[0];
    let file = "Name,Year\nFargo,2014\nChernobyl,2019\nBreaking Bad,1990\n";
    let preview = imported(anna, "list.csv", file.as_bytes(), &[]).await;
    // The film Fargo is sure. Chernobyl is only a series, which is offered.
    assert!(
        preview.contains("Unclear: 1") && preview.contains("Series, 1 season"),
        "{preview}"
    );
    let fargo = title(anna, "fargo", "film").await;
    let series = title(anna, "fargo", "series").await;
    anna.make_token().await;
    let list = anna.api("GET", "/list", Value::Null).await.text;
    assert!(list.contains(&fargo) && !list.contains(&series), "{list}");
}
