//! What one says about films: lists with names, which nobody else sees, and the day on which a film was watched.

use crate::{
    client::{Client, Site},
    imports::send,
};
use axum::http::StatusCode;
use serde_json::{Value, json};

/// The titles of a page of the list with these tags.
async fn titles(client: &mut Client, path: &str) -> Vec<String> {
    let page = client.api("GET", path, Value::Null).await.json();
    let films = page["films"].as_array().unwrap().iter();
    let mut titles: Vec<String> = films
        .map(|film| film["title"].as_str().unwrap().to_owned())
        .collect();
    titles.sort();
    titles
}

async fn save(client: &mut Client, film: &str, fields: &[(&str, &str)]) -> String {
    let address = format!("/list/{film}/save");
    let saved = client.post("/films", &address, fields).await;
    assert_eq!(saved.status, StatusCode::SEE_OTHER, "{}", saved.text);
    saved.header("location").to_owned()
}

#[tokio::test]
async fn a_film_is_on_several_lists() {
    let (_site, mut people) = Site::with_people(&["Anna"]).await;
    let mut anna = people.remove(0);
    anna.make_token().await;
    let alien = anna.add("alien", &[]).await;
    let jaws = anna.add("jaws", &[]).await;
    let page = anna.get("/").await.text;
    assert!(!page.contains("Your lists"), "there is none yet: {page}");
    save(&mut anna, &alien, &[("tags", "Halloween, With  the kids,")]).await;
    save(
        &mut anna,
        &jaws,
        &[("tags", "Halloween"), ("note", "The shark")],
    )
    .await;
    // A form without the field leaves them as they are.
    save(&mut anna, &jaws, &[("note", "Another")]).await;
    let page = anna.get("/?tag=Halloween").await.text;
    for part in [
        "<bdi>Halloween</bdi>",
        "Rename this list",
        "/?tag=With+the+kids",
    ] {
        assert!(page.contains(part), "no {part} in {page}");
    }
    assert_eq!(
        titles(&mut anna, "/list?tag=Halloween").await,
        ["Alien", "Jaws"]
    );
    assert_eq!(
        titles(&mut anna, "/list?tag=With+the+kids").await,
        ["Alien"]
    );
    assert_eq!(
        titles(&mut anna, "/list?tag=None").await,
        Vec::<String>::new()
    );
}

#[tokio::test]
async fn a_list_is_renamed_and_ended() {
    let (_site, mut people) = Site::with_people(&["Anna"]).await;
    let mut anna = people.remove(0);
    anna.make_token().await;
    for (words, tags) in [("alien", "Halloween, With the kids"), ("jaws", "Halloween")] {
        let film = anna.add(words, &[]).await;
        save(&mut anna, &film, &[("tags", tags)]).await;
    }
    let fields = [("tag", "Halloween"), ("to", "With the kids")];
    let renamed = anna.post("/films", "/list/rename", &fields).await;
    assert!(
        renamed
            .header("location")
            .starts_with("/?tag=With+the+kids&done=renamed&change=")
    );
    assert_eq!(
        titles(&mut anna, "/list?tag=With+the+kids").await,
        ["Alien", "Jaws"]
    );
    let change = renamed
        .header("location")
        .rsplit('=')
        .next()
        .unwrap()
        .to_owned();
    let undone = anna
        .api("POST", &format!("/undo/{change}"), Value::Null)
        .await;
    assert_eq!(undone.json()["films"], 2);
    assert_eq!(
        titles(&mut anna, "/list?tag=Halloween").await,
        ["Alien", "Jaws"]
    );
    let told = anna
        .api("PUT", "/tags/Halloween", json!({"name": ""}))
        .await;
    assert_eq!(told.status, StatusCode::OK, "{}", told.text);
    let tags = anna.api("GET", "/tags", Value::Null).await.json();
    assert_eq!(
        tags,
        json!({"tags": [{"name": "With the kids", "films": 1, "shared": false}]})
    );
    for (tag, to, status) in [
        ("Halloween", "x", StatusCode::NOT_FOUND),
        ("With the kids", "a,b", StatusCode::UNPROCESSABLE_ENTITY),
    ] {
        let told = anna
            .post("/films", "/list/rename", &[("tag", tag), ("to", to)])
            .await;
        assert_eq!(told.status, status, "{}", told.text);
    }
}

#[tokio::test]
async fn nobody_else_sees_a_tag() {
    let (_site, mut people) = Site::with_people(&["Anna", "Ben"]).await;
    let film = people[0].add("alien", &[]).await;
    save(&mut people[0], &film, &[("tags", "Secretive")]).await;
    people[1].make_token().await;
    for path in [
        "/people/Anna",
        "/people/Anna?tag=Secretive",
        "/people/Anna?tag=x",
    ] {
        let page = people[1].get(path).await.text;
        assert!(page.contains("Alien"), "the filter tells of tags: {path}");
        let page = page.replace("tag=Secretive", "");
        assert!(!page.contains("Secretive"), "{path}: {page}");
        let path = format!("{}/list{}", &path[..12], &path[12..]);
        let told = people[1].api("GET", &path, Value::Null).await;
        assert_eq!(told.json()["total"], 1, "{path}");
        assert!(!told.text.contains("Secretive"), "{path}: {}", told.text);
    }
    let page = people[1].get(&format!("/films/{film}")).await.text;
    assert!(!page.contains("Secretive"), "{page}");
}

/// Anna with three films on lists, one of them private, and Ben.
async fn with_lists() -> (Site, Client, Client) {
    let (site, mut people) = Site::with_people(&["Anna", "Ben"]).await;
    let (mut ben, mut anna) = (people.remove(1), people.remove(0));
    anna.make_token().await;
    ben.make_token().await;
    for (words, tags, private) in [
        ("alien", "Halloween, Secretive", false),
        ("jaws", "Secretive", false),
        ("fargo", "Halloween", true),
    ] {
        let film = anna.add(words, &[]).await;
        let fields = [("tags", tags), ("private", "on")];
        save(&mut anna, &film, &fields[..1 + usize::from(private)]).await;
    }
    (site, anna, ben)
}

/// The lists of Anna that a friend is told of.
async fn told(client: &mut Client) -> Value {
    let told = client.api("GET", "/people/Anna/tags", Value::Null).await;
    told.json()["tags"].clone()
}

#[tokio::test]
async fn friends_see_a_list_that_is_shown_to_them() {
    let (_site, mut anna, mut ben) = with_lists().await;
    assert_eq!(told(&mut ben).await, json!([]));
    let fields = [("tag", "Halloween"), ("shared", "1")];
    let shown = anna.post("/films", "/list/share", &fields).await;
    assert_eq!(shown.header("location"), "/?tag=Halloween&done=shared");
    let page = ben.get("/people/Anna?tag=Halloween").await.text;
    let count = "<bdi>Halloween</bdi> <span class=\"count\">1<";
    assert!(page.contains(count), "{page}");
    assert!(page.contains("Alien"), "{page}");
    for hidden in ["Jaws", "Fargo", "Secretive"] {
        assert!(!page.contains(hidden), "{hidden} in {page}");
    }
    let expected = json!([{"name": "Halloween", "films": 1, "shared": true}]);
    assert_eq!(told(&mut ben).await, expected);
    let found = titles(&mut ben, "/people/Anna/list?tag=Halloween").await;
    assert_eq!(found, ["Alien"]);
    let renamed = json!({"name": "Spooky"});
    anna.api("PUT", "/tags/Halloween", renamed).await;
    assert_eq!(told(&mut ben).await[0]["name"], "Spooky");
    let fields = [("tag", "Spooky")];
    anna.post("/films", "/list/share", &fields).await;
    assert_eq!(told(&mut ben).await, json!([]));
}

#[tokio::test]
async fn a_list_that_nobody_sees_is_not_shown_by_its_name() {
    let (_site, mut anna, mut ben) = with_lists().await;
    for (tag, to) in [
        ("Secretive", "Halloween"),
        ("Secretive", " Halloween "),
        ("Halloween", "Secretive"),
    ] {
        let shared = json!({"shared": true});
        anna.api("PUT", "/tags/Halloween/shared", shared).await;
        assert_eq!(told(&mut ben).await[0]["name"], "Halloween");
        let path = format!("/tags/{tag}");
        let renamed = anna.api("PUT", &path, json!({"name": to})).await.json();
        assert_eq!(told(&mut ben).await, json!([]), "{tag} to {to}");
        let path = format!("/undo/{}", renamed["change"].as_str().unwrap());
        anna.api("POST", &path, Value::Null).await;
        assert_eq!(told(&mut ben).await, json!([]), "{tag} to {to}, undone");
    }
}

/// Shows a list to friends.
async fn show(anna: &mut Client, tag: &str) {
    let path = format!("/tags/{tag}/shared");
    let shown = anna.api("PUT", &path, json!({"shared": true})).await;
    assert_eq!(shown.status, StatusCode::OK, "{}", shown.text);
}

#[tokio::test]
async fn an_undone_name_of_a_shown_list_shows_no_later_list_with_that_name() {
    let (_site, mut anna, mut ben) = with_lists().await;
    show(&mut anna, "Halloween").await;
    let named = json!({"name": "Surprise"});
    let renamed = anna.api("PUT", "/tags/Halloween", named).await.json();
    assert_eq!(told(&mut ben).await[0]["name"], "Surprise");
    let undo = format!("/undo/{}", renamed["change"].as_str().unwrap());
    anna.api("POST", &undo, Value::Null).await;
    let halloween = json!([{"name": "Halloween", "films": 1, "shared": true}]);
    assert_eq!(told(&mut ben).await, halloween);
    let vertigo = anna.film("vertigo").await;
    save(&mut anna, &vertigo, &[("tags", "Surprise")]).await;
    assert_eq!(told(&mut ben).await, halloween);
}

#[tokio::test]
async fn a_list_is_shown_no_longer_after_its_last_film_unless_that_is_undone() {
    let (_site, mut anna, mut ben) = with_lists().await;
    let alien = anna.film("alien").await;
    for tag in ["A", "B"] {
        save(&mut anna, &alien, &[("tags", tag)]).await;
        show(&mut anna, tag).await;
        let path = format!("/list/{alien}");
        let removed = anna.api("DELETE", &path, Value::Null).await.json();
        assert_eq!(told(&mut ben).await, json!([]));
        if tag == "A" {
            let undo = format!("/undo/{}", removed["change"].as_str().unwrap());
            anna.api("POST", &undo, Value::Null).await;
            assert_eq!(told(&mut ben).await[0]["name"], "A");
        }
    }
    let vertigo = anna.film("vertigo").await;
    save(&mut anna, &vertigo, &[("tags", "B")]).await;
    assert_eq!(told(&mut ben).await, json!([]));
}

#[tokio::test]
async fn an_export_takes_tags_to_another_account() {
    let (_site, mut people) = Site::with_people(&["Anna", "Ben"]).await;
    let film = people[0].add("alien", &[]).await;
    save(
        &mut people[0],
        &film,
        &[("tags", "Halloween, =With the kids")],
    )
    .await;
    people[0].make_token().await;
    people[1].make_token().await;
    let all = people[0].api("GET", "/export", Value::Null).await.json();
    assert_eq!(
        all["list"][0]["tags"],
        json!(["=With the kids", "Halloween"])
    );
    let csv = people[0].get("/export.csv").await.text;
    let sent = send(&mut people[1], "watch.csv", csv.as_bytes(), "").await;
    let preview = sent.header("location").to_owned();
    people[1].post(&preview, &preview, &[]).await;
    let there = people[1]
        .api("GET", &format!("/list/{film}"), Value::Null)
        .await;
    assert_eq!(there.json()["tags"], json!(["=With the kids", "Halloween"]));
}

#[tokio::test]
async fn a_film_is_watched_more_than_once() {
    let (_site, mut people) = Site::with_people(&["Anna"]).await;
    let mut anna = people.remove(0);
    anna.make_token().await;
    let film = anna.add("alien", &[]).await;
    let fields = [
        ("watched_on", "2024-03-01"),
        ("rating", "9"),
        ("earlier", "2024-05-01, 2023-04-30,"),
    ];
    save(&mut anna, &film, &fields).await;
    let state = |state: &Value| json!([state["watched_on"], state["earlier"], state["rating"]]);
    let address = format!("/list/{film}");
    let there = anna.api("GET", &address, Value::Null).await.json();
    assert_eq!(
        state(&there),
        json!(["2024-05-01", ["2023-04-30", "2024-03-01"], 9])
    );
    // A form without the field changes nothing of it.
    save(
        &mut anna,
        &film,
        &[("watched_on", "2024-05-01"), ("rating", "9")],
    )
    .await;
    assert_eq!(anna.api("GET", &address, Value::Null).await.json(), there);
    let again = anna
        .post("/films", &format!("{address}/watched"), &[])
        .await;
    let page = anna.get("/?watched=1").await.text;
    assert!(page.contains(", 4 times"), "{page}");
    let csv = anna.get("/export.csv").await.text;
    assert!(csv.contains("2023-04-30 2024-03-01 2024-05-01"), "{csv}");
    let change = again
        .header("location")
        .rsplit('=')
        .next()
        .unwrap()
        .to_owned();
    anna.api("POST", &format!("/undo/{change}"), Value::Null)
        .await;
    assert_eq!(anna.api("GET", &address, Value::Null).await.json(), there);
    let wrong = anna
        .post(
            "/films",
            &format!("{address}/save"),
            &[("watched", "on"), ("earlier", "soon")],
        )
        .await;
    assert_eq!(
        wrong.status,
        StatusCode::UNPROCESSABLE_ENTITY,
        "{}",
        wrong.text
    );
}

#[tokio::test]
async fn a_film_is_watched_on_the_day_where_the_user_is() {
    let (_site, mut people) = Site::with_people(&["Anna"]).await;
    let mut anna = people.remove(0);
    anna.make_token().await;
    let day_ms = 24 * 60 * 60 * 1000;
    let now = inorder_watch::date::now_ms().unsigned_abs();
    let here = inorder_watch::date::day(now + day_ms);
    for (words, today, expected) in [
        ("alien", here.as_str(), Some(&here)),
        ("jaws", "2001-01-01", None),
    ] {
        let film = anna.add(words, &[]).await;
        let address = format!("/list/{film}/watched");
        anna.post("/films", &address, &[("today", today)]).await;
        let state = anna
            .api("GET", &format!("/list/{film}"), Value::Null)
            .await
            .json();
        let day = state["watched_on"].as_str().unwrap();
        assert!(
            expected.map_or(day != today, |expected| day == expected),
            "{state}"
        );
    }
}
