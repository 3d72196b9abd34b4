//! A change of a film that several people have on their lists takes nothing from what the others say.

use crate::{
    client::{Client, Site},
    series::{import_basics, import_episodes, press, title},
};
use axum::http::{Method, StatusCode};
use inorder_watch::{
    api::ROUTES,
    db::{
        entries::{self, State},
        films::{self, Facts, Kind},
        users,
    },
};
use proptest::prelude::*;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// What Ben and Cleo say of a series of three seasons.
const SAID: [&str; 2] = [
    r#"{"watched": true, "watched_on": "2024-05-05", "earlier": ["2022-01-01"], "rating": 9, "note": "Ben", "tags": ["Best"]}"#,
    r#"{"seasons_watched": 2, "earlier": ["2021-01-01"], "rating": 4, "public": false}"#,
];

/// What may not be lost of an entry.
fn said(state: &Value) -> Value {
    let mut days: BTreeSet<&str> = BTreeSet::new();
    days.extend(state["watched_on"].as_str());
    days.extend(
        state["earlier"]
            .as_array()
            .unwrap()
            .iter()
            .map(|day| day.as_str().unwrap()),
    );
    json!([
        days,
        state["rating"],
        state["note"],
        state["tags"],
        state["public"],
        state["priority"]
    ])
}

/// Anna has added a series of three seasons, and Ben and Cleo have it on their lists.
async fn series() -> (Site, Vec<Client>, String) {
    let (site, mut people) = Site::with_people(&["Owner", "Anna", "Ben", "Cleo"]).await;
    for person in &mut people {
        person.make_token().await;
    }
    let new = json!({"kind": "series", "title": "Home series", "seasons": [8, 8, 8]});
    let added = people[1].api("POST", "/films", new).await;
    let film = added.json()["film"].as_str().unwrap().to_owned();
    for (person, said) in people[2..].iter_mut().zip(SAID) {
        let said = serde_json::from_str(said).unwrap();
        let put = person.api("PUT", &format!("/list/{film}"), said).await;
        assert_eq!(put.status, StatusCode::OK, "{}", put.text);
    }
    (site, people, film)
}

/// The entries of those who did not add the film.
async fn others(people: &mut [Client]) -> Vec<Value> {
    let mut all = Vec::new();
    for person in &mut people[2..] {
        let list = person.api("GET", "/export", Value::Null).await.json();
        all.push(list["list"][0].clone());
    }
    all
}

/// What a person does to the film.
enum Edit {
    Page(&'static str, Vec<(&'static str, &'static str)>),
    Api(Method, Value),
}

/// Every edit of the film by each route: as a film, with more, fewer and an unknown number of seasons, and its removal.
fn edits() -> Vec<Edit> {
    let mut edits = Vec::new();
    for (kind, seasons) in [
        ("film", 0),
        ("series", 1),
        ("series", 0),
        ("series", 2),
        ("series", 5),
    ] {
        let count = ["", "1", "2", "", "", "5"][seasons];
        let form = vec![("title", "Other"), ("kind", kind), ("seasons", count)];
        edits.push(Edit::Page("change", form));
        let facts = json!({"title": "Other", "kind": kind, "seasons": vec![3; seasons]});
        edits.push(Edit::Api(Method::PUT, facts));
    }
    edits.push(Edit::Page("remove", Vec::new()));
    edits.push(Edit::Api(Method::DELETE, Value::Null));
    edits
}

#[test]
fn the_routes_that_edit_a_film_are_known() {
    let writes = ROUTES.iter().filter(|route| route.method != Method::GET);
    let of_films: Vec<_> = writes
        .filter(|route| route.path.starts_with("/films/"))
        .map(|route| route.method.as_str())
        .collect();
    assert_eq!(of_films, ["PUT", "DELETE"], "add the new one to `edits`");
}

#[tokio::test]
async fn no_route_that_edits_a_film_takes_anything_from_the_lists_of_others() {
    for who in [0, 1] {
        for edit in edits() {
            let (_site, mut people, film) = series().await;
            let before = others(&mut people).await;
            let editor = &mut people[who];
            let done = match &edit {
                Edit::Page(what, fields) => {
                    let path = format!("/films/{film}/{what}");
                    editor.post("/account", &path, fields).await
                }
                Edit::Api(method, body) => {
                    let path = format!("/films/{film}");
                    editor.api(method.as_str(), &path, body.clone()).await
                }
            };
            assert!(
                done.status.is_success() || done.status.is_redirection(),
                "{}",
                done.text
            );
            // Their own later changes take nothing either.
            for round in 0..2 {
                let after = others(&mut people).await;
                for (before, after) in before.iter().zip(&after) {
                    let (mut before, after) = (said(before), said(after));
                    if round == 1 {
                        before[2] = "later".into();
                    }
                    assert_eq!(before, after);
                }
                for (person, entry) in people[2..].iter_mut().zip(after) {
                    let path = format!("/list/{}", entry["film"].as_str().unwrap());
                    let mut state = person.api("GET", &path, Value::Null).await.json();
                    state["note"] = "later".into();
                    let put = person.api("PUT", &path, state).await;
                    assert_eq!(put.status, StatusCode::OK, "{}", put.text);
                }
            }
        }
    }
}

#[tokio::test]
async fn a_removed_film_stays_on_the_lists_of_others_and_is_found_by_nobody() {
    let (_site, mut people, film) = series().await;
    let removed = people[1]
        .api("DELETE", &format!("/films/{film}"), Value::Null)
        .await;
    assert_eq!(removed.status, StatusCode::OK, "{}", removed.text);
    for person in &mut people {
        let gone = person
            .api("GET", &format!("/films/{film}"), Value::Null)
            .await;
        assert_eq!(gone.status, 404, "{}", gone.text);
        for address in [
            "/films?q=home+series",
            "/films?q=home",
            "/films?kind=series",
            "/films?q=hme+series",
        ] {
            let page = person.get(address).await.text;
            assert!(!page.contains("Home series"), "{address}");
        }
        let catalogue = person.get("/films").await.text;
        assert!(!catalogue.contains("Home series"), "{catalogue}");
    }
    // Ben sees, changes and takes off what he has.
    let entry = others(&mut people).await.remove(0);
    let film = entry["film"].as_str().unwrap().to_owned();
    let ben = &mut people[2];
    assert!(
        ben.get(&format!("/films/{film}"))
            .await
            .text
            .contains("Home series")
    );
    let page = press(ben, &format!("/list/{film}/remove")).await;
    assert!(page.text.contains("/undo/"), "{}", page.text);
    // The same title is added as another film.
    let new = json!({"kind": "series", "title": "Home series", "seasons": [8]});
    let added = people[1].api("POST", "/films", new).await;
    assert_ne!(added.json()["film"].as_str().unwrap(), film);
    let found = title(&mut people[1], "home+series", "series").await;
    assert_ne!(found, film);
}

#[tokio::test]
async fn imports_of_films_take_nothing_from_lists() {
    let basics = "tconst\ttitleType\tprimaryTitle\toriginalTitle\tisAdult\tstartYear\tendYear\truntimeMinutes\tgenres\n\
        tt2802850\ttvSeries\tFargo\tFargo\t0\t2014\t\\N\t53\tCrime\n";
    let episodes = |seasons: u32| {
        let lines = (1..=seasons).map(|season| format!("tt1{season:06}\ttt2802850\t{season}\t1\n"));
        "tconst\tparentTconst\tseasonNumber\tepisodeNumber\n".to_owned()
            + &lines.collect::<String>()
    };
    let (site, mut people) = Site::with_people(&["Anna"]).await;
    import_basics(&site, basics);
    import_episodes(&site, &episodes(3));
    let anna = &mut people[0];
    anna.make_token().await;
    let film = title(anna, "fargo", "series").await;
    for state in SAID {
        let path = format!("/list/{film}");
        anna.api("PUT", &path, serde_json::from_str(state).unwrap())
            .await;
        let before = anna.api("GET", &path, Value::Null).await.json();
        for seasons in [1, 5, 2, 3] {
            import_episodes(&site, &episodes(seasons));
            let after = anna.api("GET", &path, Value::Null).await.json();
            assert_eq!(said(&before), said(&after), "{seasons}");
        }
        assert_eq!(before, anna.api("GET", &path, Value::Null).await.json());
        anna.api("DELETE", &path, Value::Null).await;
    }
}

fn state_strategy() -> impl Strategy<Value = State> {
    let day = || proptest::option::of("202[0-3]-0[1-9]-01");
    (
        any::<bool>(),
        day(),
        day(),
        0u32..5,
        proptest::option::of(1i64..=10),
    )
        .prop_map(|(watched, on, earlier, seasons_watched, rating)| State {
            watched,
            watched_on: on,
            earlier: earlier.into_iter().collect(),
            seasons_watched,
            rating,
            ..State::default()
        })
}

fn facts_strategy() -> impl Strategy<Value = Facts> {
    (any::<bool>(), 0usize..5).prop_map(|(is_series, seasons)| facts(is_series, seasons))
}

fn facts(is_series: bool, seasons: usize) -> Facts {
    Facts {
        title: "Home".to_owned(),
        kind: Kind::of(is_series),
        seasons: vec![0; if is_series { seasons } else { 0 }],
        ..Facts::default()
    }
}

fn stored(db: &Connection) -> inorder_watch::Result<Value> {
    let sql = "SELECT json_object('watched', watched, 'watched_on', watched_on, 'earlier', json(earlier), 'rating', rating,
                 'seasons', seasons_watched, 'note', note, 'tags', 0, 'public', 0, 'priority', 0) FROM entry WHERE user = 2";
    let text: String = db.query_row(sql, [], |row| row.get(0))?;
    Ok(serde_json::from_str(&text).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(96) })]
    /// Whatever is made of a film by others, and however often its user saves a note meanwhile: days, rating and seasons stay, and a series
    /// whose seasons are as before is as before.
    #[test]
    fn edits_in_any_order_lose_nothing(
        first in facts_strategy(),
        state in state_strategy(),
        edits in proptest::collection::vec((facts_strategy(), any::<bool>()), 1..8),
    ) {
        let site = Site::new(Default::default());
        site.app.db().write_now(move |db| {
            let anna = users::add(db, "Anna", None)?;
            users::add(db, "Ben", None)?;
            let film = films::insert(db, &first, Some(1))?;
            let id = films::by_number(db, film)?.id;
            entries::put(db, 2, film, state)?;
            let before = stored(db)?;
            let (mut is_saved, mut was_unknown) = (false, false);
            let last = first.clone();
            for (facts, saves) in edits.into_iter().chain([(last, false)]) {
                was_unknown |= facts.seasons.is_empty();
                films::change(db, id, facts, &anna)?;
                let now = stored(db)?;
                assert_eq!(said(&before), said(&now));
                assert!(now["seasons"].as_u64() >= before["seasons"].as_u64(), "{before} {now}");
                if saves {
                    is_saved = true;
                    let state = entries::state(db, 2, film)?.unwrap();
                    entries::put(db, 2, film, state)?;
                    let saved = stored(db)?;
                    assert_eq!((said(&before), &now["seasons"]), (said(&saved), &saved["seasons"]));
                }
            }
            if !was_unknown && !is_saved {
                assert_eq!(before, stored(db)?);
            }
            Ok(())
        }).unwrap();
    }
}
