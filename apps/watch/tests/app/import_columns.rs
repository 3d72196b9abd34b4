//! Imports: what becomes of columns, days, films of the same title, and what fits.

use crate::{
    client::{Client, Site},
    imports::{answer, archive, confirm, preview, send, zipped},
};
use axum::{body::Body, http::StatusCode};
use serde_json::{Value, json};
use std::{collections::BTreeMap, fs, path::Path};

pub fn fixture(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/imports");
    fs::read(folder.join(name)).unwrap()
}

/// Imports a file by the API.
pub async fn import(client: &mut Client, query: &[(&str, &str)], file: Vec<u8>) -> Value {
    if client.token.is_none() {
        client.make_token().await;
    }
    let query = serde_urlencoded::to_string(query).unwrap();
    let request = client
        .request("POST", &format!("/api/v1/import?{query}"))
        .body(Body::from(file))
        .unwrap();
    client.send(request).await.json()
}

/// The whole list by title: watched, day, earlier days, rating, seasons watched, note, kind and tags.
pub async fn list(client: &mut Client) -> BTreeMap<String, Value> {
    if client.token.is_none() {
        client.make_token().await;
    }
    let all = client.api("GET", "/export", Value::Null).await.json();
    let entries = all["list"].as_array().unwrap().iter();
    let said = |film: &Value| {
        json!([
            film["kind"],
            film["year"],
            film["watched"],
            film["watched_on"],
            film["earlier"],
            film["rating"],
            film["seasons_watched"],
            film["note"],
            film["tags"]
        ])
    };
    entries
        .map(|film| (film["title"].as_str().unwrap().to_owned(), said(film)))
        .collect()
}

/// What the answer says that columns become, without those that are not read.
pub fn read(told: &Value) -> BTreeMap<&str, &str> {
    let tables = told["tables"].as_array().unwrap().iter();
    let columns = tables.flat_map(|table| table["columns"].as_array().unwrap());
    let pairs = columns.map(|column| {
        (
            column["name"].as_str().unwrap(),
            column["becomes"].as_str().unwrap(),
        )
    });
    pairs.filter(|(_, becomes)| *becomes != "unread").collect()
}

#[tokio::test]
async fn the_page_shows_each_column_with_three_rows_and_what_is_not_read() {
    let (_site, mut people) = Site::with_people(&["Anna"]).await;
    let anna = &mut people[0];
    let (address, page) = preview(anna, "ratings.csv", &fixture("tmdb/ratings.csv")).await;
    let text = &page.text;
    for what in [
        "In the form of",
        "TMDB",
        "Not read:</strong> <bdi lang=\"\">Rating</bdi>",
        "<option value=\"rating_10\" selected>your rating, out of 10</option>",
        "<bdi lang=\"\">8.164</bdi>",
        "<bdi lang=\"\">7.664</bdi>",
        "<bdi lang=\"\">8.3</bdi>",
    ] {
        assert!(text.contains(what), "{what}: {text}");
    }
    assert!(!text.contains("6.976"), "the fourth row is no sample");
    // What the user maps otherwise is read otherwise.
    let page = answer(anna, &address, &[("column-0-8", "unread")]).await;
    assert!(
        page.text.contains("<bdi lang=\"\">Your Rating</bdi></p>"),
        "{}",
        page.text
    );
    confirm(anna, &address, &[]).await;
    let found = list(anna).await;
    assert_eq!(
        (&found["Alien"][2], &found["Alien"][5]),
        (&json!(false), &Value::Null)
    );
}

#[tokio::test]
async fn an_archive_of_movary_is_one_list() {
    let (_site, mut people) = Site::without_films(&["Anna"]).await;
    let anna = &mut people[0];
    let told = import(anna, &[("add_missing", "1")], archive("movary", "")).await;
    assert_eq!(told["added"], json!(5), "{told}");
    let found = list(anna).await;
    let alien = json!([
        "film",
        1979,
        true,
        "2024-03-01",
        ["2023-04-30"],
        4,
        0,
        "In the dark",
        []
    ]);
    assert_eq!(found["Alien"], alien);
}

#[tokio::test]
async fn an_unknown_form_is_mapped_by_its_sender() {
    let (_site, mut people) = Site::with_people(&["Anna"]).await;
    let anna = &mut people[0];
    let file = b"Werk;Jahr;Punkte;Durchschnitt;Wann\nAlien;1979;4;8.2;3/1/2024\nJaws;1975;2;7.9;4/2/2024\n";
    let (address, page) = preview(anna, "Filme.csv", file).await;
    assert!(
        page.text.contains("Which column has the titles?"),
        "{}",
        page.text
    );
    assert!(
        !page.text.contains("name=\"prefer\"")
            && page.text.contains("A form that is not known here")
    );
    let fields = [
        ("column-0-0", "title"),
        ("column-0-1", "year"),
        ("column-0-2", "rating_5"),
        ("column-0-4", "watched_on"),
    ];
    let page = answer(anna, &address, &fields).await;
    assert!(page.text.contains("the day or the month?"), "{}", page.text);
    let page = answer(
        anna,
        &address,
        &[&fields[..], &[("day_first", "1")]].concat(),
    )
    .await;
    assert!(
        page.text
            .contains("Not read:</strong> <bdi lang=\"\">Durchschnitt</bdi>"),
        "{}",
        page.text
    );
    confirm(anna, &address, &[]).await;
    let found = list(anna).await;
    assert_eq!(
        (&found["Alien"][5], &found["Alien"][3]),
        (&json!(8), &json!("2024-01-03"))
    );
    // By the API too.
    let columns = json!({"Werk": "title", "Punkte": "rating_10"}).to_string();
    let told = import(
        anna,
        &[("preview", "1"), ("columns", columns.as_str())],
        file.to_vec(),
    )
    .await;
    assert_eq!(
        read(&told),
        BTreeMap::from([("Jahr", "year"), ("Werk", "title"), ("Punkte", "rating_10")])
    );
    let told = import(anna, &[], b"Film,Score\nAlien,4\n".to_vec()).await;
    assert!(
        told["error"].as_str().unwrap().contains("Out of how many"),
        "{told}"
    );
    // JSON of an unknown form is a table of its fields.
    let json =
        br#"[{"film": {"name": "Vertigo", "out": 1958}, "mine": 7, "all": 8.3, "tags": ["a"]}]"#;
    let columns =
        json!({"film.name": "title", "film.out": "year", "mine": "rating_10"}).to_string();
    let told = import(anna, &[("columns", columns.as_str())], json.to_vec()).await;
    assert_eq!(told["added"], json!(1), "{told}");
    assert_eq!(list(anna).await["Vertigo"][5], json!(7));
}

#[tokio::test]
async fn times_of_trakt_are_days_in_the_users_zone() {
    let item = |at: &str| {
        format!(
            r#"[{{"watched_at": "{at}", "movie": {{"title": "Alien", "year": 1979, "ids": {{"trakt": 1}}}}}}]"#
        )
    };
    for (zone, at, day) in [
        (
            "America/Los_Angeles",
            "2024-03-02T04:30:00.000Z",
            "2024-03-01",
        ),
        ("Asia/Tokyo", "2024-03-01T16:00:00.000Z", "2024-03-02"),
        ("Europe/Berlin", "2024-07-01T22:30:00.000Z", "2024-07-02"),
        ("Europe/Berlin", "2024-01-01T22:30:00.000Z", "2024-01-01"),
        ("", "2024-03-02T04:30:00.000Z", "2024-03-02"),
    ] {
        let (_site, mut people) = Site::with_people(&["Anna"]).await;
        let anna = &mut people[0];
        let fields = [("zone", zone)];
        let sent = anna
            .post_file(
                "/import",
                "/import",
                &fields,
                ("history.json", item(at).as_bytes()),
            )
            .await;
        let address = sent.header("location").to_owned();
        let page = anna.get(&address).await;
        let shown = if zone.is_empty() { "UTC" } else { zone };
        assert!(
            page.text
                .contains(&format!("name=\"zone\" value=\"{shown}\"")),
            "{}",
            page.text
        );
        confirm(anna, &address, &[]).await;
        assert_eq!(list(anna).await["Alien"][3], day, "{zone}");
    }
    // A day on which nobody watched a film is named, and not stored.
    let (_site, mut people) = Site::with_people(&["Anna"]).await;
    for at in ["2999-01-01T00:00:00.000Z", "0001-01-01T00:00:00.000Z"] {
        let told = import(&mut people[0], &[("preview", "1")], item(at).into_bytes()).await;
        assert_eq!(
            (&told["added"], told["problems"].as_array().unwrap().len()),
            (&json!(0), 1),
            "{told}"
        );
    }
    let film = people[0].film("alien").await;
    for day in ["2999-01-01", "0001-01-01"] {
        let said = json!({"watched": true, "watched_on": day});
        let answer = people[0].api("PUT", &format!("/list/{film}"), said).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{day}");
    }
}

#[tokio::test]
async fn two_films_of_a_title_and_year_are_told_or_unclear() {
    let head = "Date,Name,Year,Letterboxd URI";
    let files = |diary: &str| {
        zipped([
            ("watched.csv", format!("{head}\n2024-01-01,Emma,1996,https://boxd.it/a\n2024-01-01,Emma,1996,https://boxd.it/b\n").into()),
            ("ratings.csv", format!("{head},Rating\n2024-01-01,Emma,1996,https://boxd.it/a,4.5\n2024-01-01,Emma,1996,https://boxd.it/b,3\n").into()),
            ("diary.csv", format!("{head},Rating,Rewatch,Tags,Watched Date\n{diary}").into()),
        ])
    };
    let told = files("2024-01-01,Emma,1996,https://boxd.it/l,3,,,2024-01-01\n");
    let untold = files("2024-01-01,Emma,1996,https://boxd.it/l,,,,2024-01-01\n");
    // The catalogue has one: which of the two it is, nobody knows.
    let (_site, mut people) = Site::with_people(&["Anna"]).await;
    let anna = &mut people[0];
    anna.post(
        "/films/new",
        "/films/new",
        &[("title", "Emma"), ("year", "1996")],
    )
    .await;
    for file in [&told, &untold] {
        let found = import(anna, &[], file.clone()).await;
        assert_eq!(
            (
                &found["added"],
                found["unclear"].as_array().unwrap().len() > 1
            ),
            (&json!(0), true),
            "{found}"
        );
    }
    let (address, page) = preview(anna, "letterboxd.zip", &told).await;
    let film = page
        .text
        .split("<option value=\"")
        .find(|option| option.contains("Emma (1996)"))
        .unwrap();
    let film = film[..26].to_owned();
    // The film with the three stars has the day.
    confirm(anna, &address, &[("film-1", &film)]).await;
    let said = list(anna).await["Emma"].clone();
    assert_eq!((&said[3], &said[5]), (&json!("2024-01-01"), &json!(6)));
    // A catalogue without any gets both, and the day that nobody can tell goes to none of them.
    let (_site, mut people) = Site::without_films(&["Anna"]).await;
    let found = import(&mut people[0], &[("add_missing", "1")], untold).await;
    assert_eq!(
        (&found["added"], &found["unclear"]),
        (&json!(2), &json!(["Emma (1996)"])),
        "{found}"
    );
    let export = people[0].api("GET", "/export", Value::Null).await.json();
    assert!(
        export["list"]
            .as_array()
            .unwrap()
            .iter()
            .all(|film| film["watched_on"].is_null())
    );
}

#[tokio::test]
async fn one_film_in_two_cases_is_one() {
    let (_site, mut people) = Site::with_people(&["Anna"]).await;
    let anna = &mut people[0];
    let told = import(
        anna,
        &[("add_missing", "1")],
        b"sep=;\nName;Year;Note\nALIEN;1979;a\nAlien;1979;b\n".to_vec(),
    )
    .await;
    assert_eq!(
        (&told["added"], &told["missing"]),
        (&json!(1), &json!([])),
        "{told}"
    );
    assert_eq!(list(anna).await["Alien"][7], json!("a\n\nb"));
}

#[tokio::test]
async fn the_own_order_survives_export_and_import() {
    let (_site, mut people) = Site::with_people(&["Anna", "Ben"]).await;
    let mut films = Vec::new();
    for (title, priority) in [
        ("alien", "3"),
        ("jaws", "3"),
        ("ran", "5"),
        ("vertigo", "3"),
        ("fargo", "1"),
        ("metropolis", "3"),
    ] {
        films.push(people[0].add(title, &[("priority", priority)]).await);
    }
    people[0].make_token().await;
    people[1].make_token().await;
    for (film, direction) in [(5, "up"), (5, "up"), (0, "down"), (3, "top")] {
        let address = format!("/list/{}/move", films[film]);
        people[0]
            .api("POST", &address, json!({"direction": direction}))
            .await;
    }
    let mut orders = Vec::new();
    let csv = people[0].api("GET", "/export.csv", Value::Null).await.text;
    let told = import(
        &mut people[1],
        &[("name", "watch-list.csv")],
        csv.clone().into_bytes(),
    )
    .await;
    assert_eq!(told["added"], json!(6), "{told}");
    for client in &mut people[..2] {
        let page = client.api("GET", "/list", Value::Null).await.json();
        let titles = page["films"]
            .as_array()
            .unwrap()
            .iter()
            .map(|film| film["title"].clone());
        orders.push(titles.collect::<Vec<Value>>());
    }
    assert_eq!(orders[0], orders[1]);
    assert_eq!(
        people[1].api("GET", "/export.csv", Value::Null).await.text,
        csv
    );
}

#[tokio::test]
async fn the_export_for_letterboxd_has_its_columns_and_comes_back() {
    let (_site, mut people) = Site::with_people(&["Anna", "Ben"]).await;
    let film = people[0].film("alien").await;
    people[0].make_token().await;
    let said = json!({"watched": true, "watched_on": "2024-03-01", "earlier": ["2023-04-30"], "rating": 9, "note": "Slow, \"good\"", "tags": ["cinema"]});
    people[0].api("PUT", &format!("/list/{film}"), said).await;
    people[0].add("ran", &[]).await;
    let watched = people[0].get("/export/letterboxd.csv").await.text;
    assert_eq!(
        watched,
        "imdbID,Title,Year,Rating10,WatchedDate,Rewatch,Tags,Review\n,Alien,1979,,2023-04-30,,,\n\
         ,Alien,1979,9,2024-03-01,true,cinema,\"Slow, \"\"good\"\"\"\n"
    );
    let list_of_ran = people[0]
        .api("GET", "/export/letterboxd-watchlist.csv", Value::Null)
        .await
        .text;
    assert!(
        list_of_ran.ends_with(",Ran,1985,,,,,\n") && list_of_ran.lines().count() == 2,
        "{list_of_ran}"
    );
    let told = import(
        &mut people[1],
        &[("name", "letterboxd.csv")],
        watched.into_bytes(),
    )
    .await;
    assert_eq!(told["tables"][0]["format"], "Letterboxd (import)");
    let said = list(&mut people[1]).await["Alien"].clone();
    let expected = json!([
        "film",
        1979,
        true,
        "2024-03-01",
        ["2023-04-30"],
        9,
        0,
        "Slow, \"good\"",
        ["cinema"]
    ]);
    assert_eq!(said, expected);
}

#[tokio::test]
async fn a_large_archive_is_imported_as_far_as_it_fits() {
    let head = "Date,Name,Year,Letterboxd URI\n".to_owned();
    let rows = |from: usize, to: usize| {
        (from..to).fold(head.clone(), |text, n| {
            text + &format!("2024-01-01,Film {n},1999,https://boxd.it/{n}\n")
        })
    };
    let (_site, mut people) = Site::without_films(&["Anna", "Ben"]).await;
    // Films with an address at Letterboxd are not films that somebody made up: for the owner and for others.
    for (client, from) in [(0, 0), (1, 2000)] {
        let file = zipped([("watched.csv", rows(from, from + 1500).into())]);
        let told = import(&mut people[client], &[("add_missing", "1")], file).await;
        assert_eq!(
            (&told["added"], &told["no_room"]),
            (&json!(1500), &json!([])),
            "{told}"
        );
    }
    // Of films that nothing else knows, as many as one may add by hand.
    let ben = &mut people[1];
    let file = (0..1100).fold("Name,Year\n".to_owned(), |text, n| {
        text + &format!("Mine {n},1999\n")
    });
    let (address, page) = preview(ben, "mine.csv", file.as_bytes()).await;
    assert!(
        page.text.contains("There is no room for 100 films") && page.text.contains("import-films"),
        "{}",
        page.text
    );
    let done = confirm(ben, &address, &[("add_missing", "1")]).await;
    assert!(
        done.text.contains("New on your list: 1,000.")
            && done.text.contains("There is no room for 100 films"),
        "{}",
        done.text
    );
    // The same file again takes no more, and loses nothing.
    let told = import(ben, &[("add_missing", "1")], file.into_bytes()).await;
    assert_eq!(
        (&told["present"], told["no_room"].as_array().unwrap().len()),
        (&json!(1000), 100)
    );
    let page = ben
        .post(
            "/films/new",
            "/films/new",
            &[("title", "One more"), ("year", "1999")],
        )
        .await;
    assert_eq!(page.status, StatusCode::UNPROCESSABLE_ENTITY);
}

#[tokio::test]
async fn another_persons_profile_is_not_read() {
    let (_site, mut people) = Site::with_people(&["Anna"]).await;
    let anna = &mut people[0];
    let sent = send(
        anna,
        "ViewingActivity.csv",
        &fixture("netflix/ViewingActivity.csv"),
        "",
    )
    .await;
    let address = sent.header("location").to_owned();
    let page = anna.get(&address).await;
    assert!(
        page.text.contains("Whose films are meant?") && page.text.contains(">Ben</option>"),
        "{}",
        page.text
    );
    let refused = confirm(anna, &address, &[]).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    answer(anna, &address, &[("profile", "Ben")]).await;
    confirm(anna, &address, &[]).await;
    let titles: Vec<String> = list(anna).await.into_keys().collect();
    assert_eq!(titles, ["Fargo"]);
}
