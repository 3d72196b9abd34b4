//! The JSON API.

use crate::client::{Client, PASSWORD, Site};
use inorder_watch::api::{PREFIX, ROUTES};
use serde_json::{Value, json};

#[tokio::test]
async fn every_route_is_described_and_there_and_wants_a_token() {
    let (_site, mut people) = Site::with_people(&["Anna"]).await;
    let anna = &mut people[0];
    let document = anna.get("/api/openapi.json").await.json();
    assert_eq!(document["servers"][0]["url"], PREFIX);
    let mut described = 0;
    for (path, operations) in document["paths"].as_object().unwrap() {
        for (verb, _) in operations.as_object().unwrap() {
            let route = ROUTES
                .iter()
                .find(|r| r.path == path && r.method.as_str().eq_ignore_ascii_case(verb));
            assert!(route.is_some(), "{verb} {path} is no route");
            described += 1;
            let path = path
                .replace("{film}", &"0".repeat(26))
                .replace("{id}", &"0".repeat(26));
            let path = path
                .replace("{change}", &"0".repeat(26))
                .replace("{name}", "nobody");
            let answer = anna.api(&verb.to_uppercase(), &path, json!({})).await;
            assert_eq!(answer.status, 401, "{verb} {path}: {}", answer.text);
            assert_eq!(answer.header("www-authenticate"), "Bearer");
            assert!(
                answer.json()["error"]
                    .as_str()
                    .unwrap()
                    .contains("send a token")
            );
        }
    }
    assert_eq!(described, ROUTES.len());
    let page = anna.get("/api").await.text;
    assert!(
        ROUTES
            .iter()
            .all(|route| page.contains(route.path) && page.contains(route.what))
    );
}

/// Two friends who have only a token.
async fn programs() -> (Site, Vec<Client>) {
    let (site, mut people) = Site::with_people(&["Anna", "Ben"]).await;
    for person in &mut people {
        person.make_token().await;
        person.cookies.clear();
    }
    (site, people)
}

#[tokio::test]
async fn a_program_keeps_a_list_as_a_person_does() {
    let (_site, mut people) = programs().await;
    let anna = &mut people[0];
    let found = anna.api("GET", "/films?q=alein", Value::Null).await.json();
    assert_eq!(
        (&found["films"][0]["title"], &found["is_guess"]),
        (&json!("Alien"), &json!(true))
    );
    let film = found["films"][0]["film"].as_str().unwrap().to_owned();
    let path = format!("/list/{film}");
    assert_eq!(anna.api("GET", &path, Value::Null).await.status, 404);
    let put = anna
        .api(
            "PUT",
            &path,
            json!({"priority": 5, "note": "With the lights on"}),
        )
        .await;
    assert_eq!(put.status, 200, "{}", put.text);
    let state = anna.api("GET", &path, Value::Null).await.json();
    assert_eq!(
        (&state["priority"], &state["public"], &state["watched_on"]),
        (&json!(5), &json!(true), &Value::Null)
    );
    let removed = anna.api("DELETE", &path, Value::Null).await.json();
    let undo = format!("/undo/{}", removed["change"].as_str().unwrap());
    assert_eq!(
        anna.api("POST", &undo, Value::Null).await.json()["films"],
        1
    );
    let page = anna
        .api("GET", "/list?genre=Horror&sort=title", Value::Null)
        .await
        .json();
    assert_eq!(
        (&page["total"], &page["films"][0]["note"]),
        (&json!(1), &json!("With the lights on"))
    );
    let own = anna
        .api(
            "POST",
            "/films",
            json!({"title": "Home video", "year": 2024}),
        )
        .await;
    assert_eq!(own.status, 201, "{}", own.text);
    assert_eq!(
        anna.api("GET", "/me", Value::Null).await.json()["to_watch"],
        1
    );
    assert_eq!(
        anna.api("GET", "/export", Value::Null).await.json()["friends"],
        json!(["Ben"])
    );
}

#[tokio::test]
async fn a_program_befriends_and_leaves_as_a_person_does() {
    let (_site, mut people) = programs().await;
    let found = people[0]
        .api("GET", "/films?q=alien", Value::Null)
        .await
        .json();
    let film = found["films"][0]["film"].as_str().unwrap().to_owned();
    let path = format!("/list/{film}");
    people[0].api("PUT", &path, json!({"priority": 5})).await;
    people[1].api("PUT", &path, json!({})).await;
    let tonight = people[0]
        .api("GET", "/tonight?with=ben", Value::Null)
        .await
        .json();
    assert_eq!(tonight["pick"].as_str(), Some(film.as_str()));
    assert_eq!(tonight["films"][0]["priorities"], json!([5, 3]));
    people[0].api("DELETE", "/friends/Ben", Value::Null).await;
    people[0]
        .api("POST", "/friends", json!({"name": "Ben"}))
        .await;
    people[1]
        .api("POST", "/requests/Anna/accept", Value::Null)
        .await;
    let friends = people[1].api("GET", "/friends", Value::Null).await.json();
    assert_eq!(
        friends,
        json!({"blocked": [], "friends": ["Anna"], "requests_received": [], "requests_sent": []})
    );

    let wrong = people[1]
        .api("DELETE", "/me", json!({"password": "wrong password"}))
        .await;
    assert_eq!(wrong.status, 422, "{}", wrong.text);
    assert_eq!(
        people[1]
            .api("DELETE", "/me", json!({"password": PASSWORD}))
            .await
            .status,
        200
    );
    assert_eq!(people[1].api("GET", "/me", Value::Null).await.status, 401);
}

#[tokio::test]
async fn bad_requests_are_told_what_is_wrong() {
    let (_site, mut people) = Site::with_people(&["Anna"]).await;
    let anna = &mut people[0];
    let film = anna.film("alien").await;
    anna.make_token().await;
    let path = format!("/list/{film}");
    for (body, words) in [
        (json!({"priority": 6}), "between 1 and 5"),
        (json!({"watched": true, "rating": 11}), "between 1 and 10"),
        (
            json!({"watched": true, "watched_on": "yesterday"}),
            "2026-01-31",
        ),
        (json!({"prioritee": 1}), "prioritee"),
        (json!({"note": "a".repeat(2001)}), "2,000 characters"),
    ] {
        let answer = anna.api("PUT", &path, body).await;
        assert_eq!(answer.status, 422, "{}", answer.text);
        assert!(
            answer.json()["error"].as_str().unwrap().contains(words),
            "{}",
            answer.text
        );
    }
    for (verb, path, body, status, words) in [
        (
            "PUT",
            "/list/01ARZ3NDEKTSV4RRFFQ69G5FAV",
            json!({}),
            404,
            "no such film",
        ),
        ("POST", "/films", json!({"title": ""}), 422, "needs a title"),
        ("GET", "/nothing", Value::Null, 404, "no such route"),
        ("PATCH", "/me", Value::Null, 405, "can't be done"),
        (
            "GET",
            "/films/alien",
            Value::Null,
            400,
            "isn't as it should be",
        ),
        (
            "GET",
            "/list?page=x",
            Value::Null,
            400,
            "isn't as it should be",
        ),
        ("PUT", path.as_str(), Value::Null, 415, "Content-Type"),
    ] {
        let answer = anna.api(verb, path, body).await;
        assert_eq!(answer.status, status, "{verb} {path}: {}", answer.text);
        assert!(
            answer.json()["error"].as_str().unwrap().contains(words),
            "{}",
            answer.text
        );
    }
}

#[tokio::test]
async fn a_revoked_token_opens_nothing() {
    let (_site, mut people) = Site::with_people(&["Anna"]).await;
    let anna = &mut people[0];
    anna.make_token().await;
    let tokens = anna.api("GET", "/tokens", Value::Null).await.json();
    let id = tokens["tokens"][0]["id"].as_str().unwrap();
    assert_eq!(
        anna.api("DELETE", &format!("/tokens/{id}"), Value::Null)
            .await
            .status,
        200
    );
    assert_eq!(anna.api("GET", "/me", Value::Null).await.status, 401);
}

/// Serde reads a struct from an array too, field by field: `[]` would be an entry with every field as for a new one.
#[tokio::test]
async fn an_array_in_place_of_an_object_is_refused_by_every_route() {
    let (_site, mut people) = Site::with_people(&["Anna"]).await;
    let anna = &mut people[0];
    anna.make_token().await;
    let film = anna.film("alien").await;
    let list = format!("/list/{film}");
    let said = json!({"note": "stays", "rating": 9, "watched": true, "tags": ["Best"]});
    anna.api("PUT", &list, said).await;
    let before = anna.api("GET", &list, Value::Null).await.json();
    let bodies = [
        json!([]),
        json!([5, true, false, null, [], 0, null, null, []]),
        json!([PASSWORD]),
        json!(["up"]),
        json!([[]]),
        json!("text"),
        json!(3),
    ];
    let mut count = 0;
    for route in ROUTES.iter().filter(|route| route.takes.is_some()) {
        let path = route.path.replace("{film}", &film).replace("{tag}", "Best");
        for body in &bodies {
            let refused = anna.api(route.method.as_str(), &path, body.clone()).await;
            assert!(
                refused.status == 422 || refused.status == 400,
                "{} {path} {body}: {} {}",
                route.method,
                refused.status,
                refused.text
            );
            count += 1;
        }
    }
    assert!(count >= 70, "{count}");
    let watched = json!([true, "2024-01-31", [], 0, 3]);
    let id = inorder_key::Ulid::from_bytes([1; 16]).to_string();
    let operation = json!({"id": id, "film": film, "set": {"watched": watched}});
    for body in [
        json!({"operations": [operation]}),
        json!({"operations": [[id, film, {"note": "lost"}, {}]]}),
    ] {
        let told = anna.api("POST", "/sync", body).await;
        let is_refused = told.status.is_client_error() || told.text.contains("refused");
        assert!(is_refused, "{}", told.text);
    }
    assert_eq!(anna.api("GET", &list, Value::Null).await.json(), before);
}
