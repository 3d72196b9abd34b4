//! Devices that change a list without a connection, and come back.

use crate::client::{Client, PASSWORD, Site};
use axum::{body::Body, http::header};
use inorder_key::{TimeId, Ulid};
use proptest::{prelude::*, test_runner::TestRunner};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A device with a copy of the list, as `sync.js` keeps it.
#[derive(Clone, Default)]
struct Device {
    /// The fields and versions of each film that it knows.
    films: BTreeMap<String, (Value, Value)>,
    waiting: Vec<Value>,
    /// Milliseconds since 1970.
    clock: u64,
    parity: u128,
}

impl Device {
    async fn pull(&mut self, client: &mut Client) {
        let told = client.api("GET", "/sync", Value::Null).await.json();
        self.films.clear();
        for film in told["films"].as_array().unwrap() {
            let id = film["film"].as_str().unwrap().to_owned();
            let known = (film["fields"].clone(), film["versions"].clone());
            self.films.insert(id, known);
        }
    }

    /// Changes a field, and keeps the operation until there is a connection.
    fn write(&mut self, film: &str, set: Value) {
        let nothing = || (json!({}), json!({}));
        let (fields, versions) = self.films.entry(film.to_owned()).or_insert_with(nothing);
        let known = versions
            .as_object()
            .unwrap()
            .values()
            .flat_map(|ids| ids.as_array().unwrap());
        let newest = known
            .map(|id| Ulid::parse(id.as_str().unwrap()).unwrap().ms())
            .max();
        self.clock = self.clock.max(newest.unwrap_or_default() + 1);
        let id = Ulid::from_parts(self.clock, self.parity)
            .unwrap()
            .to_string();
        let mut set = set;
        if set.get("place").is_none() && set.get("listed").is_none() {
            set["listed"] = true.into();
        }
        let mut base = json!({});
        for (field, value) in set.as_object().unwrap() {
            if let Some(known) = versions.get(field) {
                base[field] = known.clone();
            }
            versions[field] = json!([id]);
            fields[field] = value.clone();
        }
        self.waiting
            .push(json!({"id": id, "film": film, "set": set, "base": base}));
    }

    /// Sends what waits. An answer that is lost is asked for again.
    async fn send(&mut self, client: &mut Client, batch: usize, lost: bool) {
        for operations in self.waiting.chunks(batch) {
            for _ in 0..if lost { 2 } else { 1 } {
                let sent = json!({"operations": operations});
                let told = client.api("POST", "/sync", sent).await;
                assert_eq!(told.status, 200, "{}", told.text);
                for result in told.json()["results"].as_array().unwrap() {
                    assert_eq!(result["refused"], Value::Null, "{}", told.text);
                }
            }
        }
        if lost {
            // Even much later.
            let sent = json!({"operations": self.waiting});
            client.api("POST", "/sync", sent).await;
        }
        self.waiting.clear();
    }
}

/// A change of a film on a device: which device, which film, the new values, and the milliseconds since the last change.
type Change = (usize, usize, Value, u64);

#[derive(Clone, Debug)]
struct Case {
    changes: Vec<Change>,
    /// Changes of a priority on a page, before the devices come back.
    online: Vec<(usize, i64)>,
    /// Operations per transmission of each device.
    batches: [usize; 2],
    /// Whether answers to a device are lost.
    lost: [bool; 2],
    /// Whether the devices' clocks are behind the page's.
    is_behind: bool,
}

fn change() -> impl Strategy<Value = Change> {
    let set = prop_oneof![
        (1..=5i64).prop_map(|priority| json!({"priority": priority, "place": null})),
        "[ab]{0,1}".prop_map(|note| json!({"note": Some(note).filter(|note| !note.is_empty())})),
        any::<bool>().prop_map(|public| json!({"public": public})),
        (1..=3i64).prop_map(|rating| json!({"watched": {"watched": true, "watched_on": "2024-02-01", "rating": rating, "earlier": ["2023-02-01"], "seasons_watched": 0}})),
        proptest::sample::subsequence(vec!["a", "b"], 0..=2).prop_map(|tags| json!({"tags": tags})),
        Just(json!({"listed": false})),
        Just(json!({"listed": true})),
        (0..100i64).prop_map(|place| json!({"place": place as f64 / 4.0})),
    ];
    let of_series = (1..=SEASONS, proptest::option::of(1..=3i64)).prop_map(progress);
    let of_series = prop_oneof![2 => of_series, 1 => set.clone()];
    let film = (0..FILMS).prop_flat_map(move |film| match film {
        SERIES => (Just(film), of_series.clone().boxed()),
        film => (Just(film), set.clone().boxed()),
    });
    (0..2usize, film, 0..5000u64).prop_map(|(device, (film, mut set), later)| {
        // A series that was watched has all of its seasons watched.
        if film == SERIES && set["watched"]["watched"] == true {
            set["watched"]["seasons_watched"] = SEASONS.into();
        }
        (device, film, set, later)
    })
}

/// So many seasons of the series, as the server keeps them: it is watched with the last one.
fn progress((seasons, rating): (i64, Option<i64>)) -> Value {
    let is_whole = seasons == SEASONS;
    json!({"watched": {
        "watched": is_whole, "watched_on": is_whole.then_some("2024-02-01"), "rating": rating, "earlier": ["2023-02-01"],
        "seasons_watched": seasons,
    }})
}

fn case() -> impl Strategy<Value = Case> {
    let changes = proptest::collection::vec(change(), 1..14);
    let online = proptest::collection::vec((0..FILMS, 1..=5i64), 0..2);
    (
        changes,
        online,
        [1..6usize, 1..6usize],
        any::<[bool; 2]>(),
        any::<bool>(),
    )
        .prop_map(|(changes, online, batches, lost, is_behind)| Case {
            changes,
            online,
            batches,
            lost,
            is_behind,
        })
}

const FILMS: usize = 3;

/// Which of them is a series, and how many seasons it has.
const SERIES: usize = 1;
const SEASONS: i64 = 3;
const HOUR: u64 = 3_600_000;

/// What a user sees, and what they are asked. The versions of a page differ each time.
fn seen(snapshot: &Value) -> BTreeMap<String, Value> {
    let films = snapshot["films"].as_array().unwrap().iter();
    let film = |film: &Value| {
        let conflicts = film["conflicts"].as_array().unwrap().iter();
        let mut conflicts: Vec<Value> =
            conflicts.map(|c| json!([c["field"], c["value"]])).collect();
        conflicts.sort_by_key(Value::to_string);
        let id = film["film"].as_str().unwrap().to_owned();
        (
            id,
            json!({"fields": film["fields"], "conflicts": conflicts}),
        )
    };
    films.map(film).collect()
}

/// Two films are on the list and one is not; both devices have a copy, change it, and come back in this order.
async fn come_back(
    client: &mut Client,
    films: &[String],
    case: &Case,
    now: u64,
    order: [usize; 2],
) -> BTreeMap<String, Value> {
    let mut first = Device {
        clock: now - 48 * HOUR,
        parity: 3,
        ..Device::default()
    };
    first.write(&films[0], json!({"priority": 3, "note": "old"}));
    first.write(&films[1], json!({"priority": 3}));
    first.send(client, 2, false).await;
    let mut devices = [1, 2].map(|parity| Device {
        clock: if case.is_behind {
            now - 24 * HOUR
        } else {
            now + HOUR
        },
        parity,
        ..Device::default()
    });
    for device in &mut devices {
        device.pull(client).await;
    }
    let mut last: BTreeMap<(usize, usize, String), Value> = BTreeMap::new();
    for (at, film, set, later) in &case.changes {
        devices[*at].clock += later;
        devices[*at].write(&films[*film], set.clone());
        let sent = devices[*at].waiting.last().unwrap()["set"].clone();
        for (field, value) in sent.as_object().unwrap() {
            last.insert((*at, *film, field.clone()), value.clone());
        }
    }
    for (film, priority) in &case.online {
        let path = format!("/list/{}", films[*film]);
        let put = client
            .api("PUT", &path, json!({"priority": priority, "note": "page"}))
            .await;
        assert_eq!(put.status, 200, "{}", put.text);
    }
    for at in order {
        devices[at]
            .send(client, case.batches[at], case.lost[at])
            .await;
    }
    let seen = seen(&client.api("GET", "/sync", Value::Null).await.json());
    for ((at, film, field), value) in &last {
        let film_seen = &seen[&films[*film]];
        let is_listed = film_seen["fields"]["listed"] == true;
        let conflicts = film_seen["conflicts"].as_array().unwrap();
        let is_there =
            film_seen["fields"][field] == *value || conflicts.contains(&json!([field, value]));
        if is_listed && field != "place" {
            assert!(
                is_there,
                "{field} {value} of device {at} is lost: {film_seen}"
            );
        } else if field == "listed" {
            assert!(!is_listed, "{film_seen}");
            assert_eq!(*value, false, "device {at} put it on the list: {film_seen}");
        }
    }
    seen
}

pub async fn clear(site: &Site) {
    let clear = |db: &rusqlite::Connection| {
        db.execute_batch("DELETE FROM entry; DELETE FROM version; DELETE FROM gone; DELETE FROM operation; DELETE FROM undo;")?;
        Ok(())
    };
    site.app.db().write(clear).await.unwrap();
}

#[test]
fn devices_that_come_back_in_either_order_end_with_the_same_list() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (site, mut people, films) = runtime.block_on(async {
        let (site, mut people) = Site::with_people(&["Anna", "Ben"]).await;
        let mut films = Vec::new();
        let series = [("title", "A series"), ("kind", "series"), ("seasons", "3")];
        let added = people[0].post("/films/new", "/films/new", &series).await;
        assert_eq!(added.status, 303, "{}", added.text);
        for title in ["Alien", "A series", "Ghostbusters"] {
            films.push(people[0].film(title).await);
        }
        for person in &mut people {
            person.make_token().await;
        }
        (site, people, films)
    });
    let config = proptest::test_runner::Config {
        cases: 48,
        failure_persistence: None,
        ..Default::default()
    };
    let mut conflicts = 0;
    let case = std::cell::RefCell::new((&mut people, &mut conflicts));
    TestRunner::new(config)
        .run(&self::case(), |one| {
            let (people, conflicts) = &mut *case.borrow_mut();
            let now = Ulid::now().ms();
            let (forth, back) = runtime.block_on(async {
                clear(&site).await;
                let forth = come_back(&mut people[0], &films, &one, now, [0, 1]).await;
                let back = come_back(&mut people[1], &films, &one, now, [1, 0]).await;
                (forth, back)
            });
            **conflicts += forth
                .values()
                .filter(|film| film["conflicts"] != json!([]))
                .count();
            prop_assert_eq!(forth, back);
            Ok(())
        })
        .unwrap();
    assert!(
        conflicts > 10,
        "the cases have too few conflicts: {conflicts}"
    );
}

/// An id that a device makes so many milliseconds from now.
fn id(after_ms: i64) -> String {
    let ms = Ulid::now().ms().saturating_add_signed(after_ms);
    Ulid::from_parts(ms, 7).unwrap().to_string()
}

async fn send(client: &mut Client, operations: Value) -> Value {
    let told = client
        .api("POST", "/sync", json!({"operations": operations}))
        .await;
    assert_eq!(told.status, 200, "{}", told.text);
    told.json()
}

#[tokio::test]
async fn what_devices_sent_is_undone_at_once() {
    let (_site, mut people) = Site::with_people(&["Anna"]).await;
    let anna = &mut people[0];
    let (alien, casablanca) = (anna.film("Alien").await, anna.film("Casablanca").await);
    anna.make_token().await;
    anna.api("PUT", &format!("/list/{alien}"), json!({"note": "before"}))
        .await;
    let base = anna.api("GET", "/sync", Value::Null).await.json()["films"][0]["versions"].clone();
    let operations = json!([
        {"id": id(1), "film": alien, "set": {"note": "after", "public": false}, "base": base},
        {"id": id(2), "film": casablanca, "set": {"listed": true}},
    ]);
    let told = send(anna, operations.clone()).await;
    let state = anna
        .api("GET", &format!("/list/{alien}"), Value::Null)
        .await
        .json();
    assert_eq!(
        (&state["note"], &state["public"]),
        (&json!("after"), &json!(false))
    );
    let change = told["change"].as_str().unwrap();
    let undone = anna
        .api("POST", &format!("/undo/{change}"), Value::Null)
        .await;
    assert_eq!(undone.json()["films"], 2);
    let list = anna.api("GET", "/list", Value::Null).await.json();
    assert_eq!(
        (&list["total"], &list["films"][0]["note"]),
        (&json!(1), &json!("before"))
    );
    // Sent once more, they are not done again.
    assert_eq!(send(anna, operations).await["change"], Value::Null);
    let list = anna.api("GET", "/list", Value::Null).await.json();
    assert_eq!(
        (&list["total"], &list["films"][0]["note"]),
        (&json!(1), &json!("before"))
    );
}

#[tokio::test]
async fn what_can_not_be_merged_is_refused_with_the_reason_and_the_rest_is_merged() {
    let (_site, mut people) = Site::with_people(&["Anna"]).await;
    let anna = &mut people[0];
    let alien = anna.film("Alien").await;
    anna.make_token().await;
    let told = send(
        anna,
        json!([
            {"id": id(1), "film": id(0), "set": {"listed": true}},
            {"id": id(2), "film": alien, "set": {"priority": 6}},
            {"id": id(3), "film": alien, "set": {"watched": {"watched": true, "watched_on": "2024-02-30"}}},
            {"id": id(4), "film": alien, "set": {"listed": false, "note": "x"}},
            {"id": id(5), "film": alien, "set": {"place": 1e14}},
            {"id": id(6), "film": alien, "set": {"note": 5}},
            {"id": id(7), "film": alien, "set": {}},
            {"id": id(8), "film": alien, "set": {"note": " a note "}},
        ]),
    )
    .await;
    let refused: Vec<bool> = told["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| !r["refused"].is_null())
        .collect();
    assert_eq!(refused, [true, true, true, true, true, true, true, false]);
    assert_eq!(told["results"][0]["refused"], "there is no such film");
    let state = anna
        .api("GET", &format!("/list/{alien}"), Value::Null)
        .await
        .json();
    assert_eq!(state["note"], "a note");
    let many: Vec<Value> = (0..201)
        .map(|i| json!({"id": id(i), "film": alien, "set": {"listed": true}}))
        .collect();
    assert_eq!(
        anna.api("POST", "/sync", json!({"operations": many}))
            .await
            .status,
        422
    );
}

/// Moves of a device that was without a connection, and of a page meanwhile, in either order.
#[tokio::test]
async fn moves_of_a_device_and_of_a_page_are_both_kept_in_either_order() {
    let (_site, mut people) = Site::with_people(&["Anna", "Ben"]).await;
    let mut orders = Vec::new();
    for (person, is_device_first) in people.iter_mut().zip([false, true]) {
        let mut films = Vec::new();
        for title in ["alien", "jaws", "fargo", "vertigo", "metropolis"] {
            films.push(person.add(title, &[]).await);
        }
        person.make_token().await;
        let snapshot = person.api("GET", "/sync", Value::Null).await.json();
        let of = |film: &str| {
            let all = snapshot["films"].as_array().unwrap().iter();
            all.clone().find(|known| known["film"] == film).unwrap()
        };
        // As device.js moves a film to the top: just before the place of the first one.
        let (first, last) = (of(&films[0]), of(&films[4]));
        let place = first["fields"]["place"].as_f64();
        let place = place.unwrap_or_else(|| first["added_ms"].as_f64().unwrap()) - 1.0;
        let to_top = json!([{
            "id": id(1), "film": films[4], "set": {"priority": 3, "place": place},
            "base": {"priority": last["versions"]["priority"], "place": last["versions"]["place"]},
        }]);
        if is_device_first {
            send(person, to_top.clone()).await;
        }
        let up = json!({"direction": "up"});
        let moved = person
            .api("POST", &format!("/list/{}/move", films[2]), up)
            .await;
        assert_eq!(moved.status, 200, "{}", moved.text);
        if !is_device_first {
            send(person, to_top).await;
        }
        let list = person.api("GET", "/list", Value::Null).await.json();
        let titles = list["films"].as_array().unwrap().iter();
        orders.push(titles.map(|film| film["title"].clone()).collect::<Vec<_>>());
    }
    let expected = ["Metropolis", "Alien", "Fargo", "Jaws", "Vertigo"];
    assert_eq!(orders, [expected, expected]);
}

#[tokio::test]
async fn a_film_was_added_at_the_same_time_in_either_order_of_a_place_and_an_addition() {
    let (_site, mut people) = Site::with_people(&["Anna", "Ben"]).await;
    let film = people[0].film("Alien").await;
    let place = json!({"id": id(-9000), "film": film, "set": {"place": 1.5}});
    let add = json!({"id": id(-5000), "film": film, "set": {"listed": true}});
    let mut added = Vec::new();
    for (person, operations) in people.iter_mut().zip([[&place, &add], [&add, &place]]) {
        person.make_token().await;
        for operation in operations {
            let told = send(person, json!([operation])).await;
            assert_eq!(told["results"][0]["refused"], Value::Null, "{told}");
        }
        let snapshot = person.api("GET", "/sync", Value::Null).await.json();
        let film = &snapshot["films"][0];
        assert_eq!(film["fields"]["place"], 1.5);
        added.push(film["added_ms"].as_u64().unwrap());
    }
    let expected = Ulid::parse(add["id"].as_str().unwrap()).unwrap().ms();
    assert_eq!(added, [expected, expected]);
}

#[tokio::test]
async fn only_their_user_sends_what_waits_on_a_device_and_only_from_this_site() {
    let (_site, mut people) = Site::with_people(&["Anna", "Ben"]).await;
    let alien = people[0].film("Alien").await;
    let copy = people[0].get("/sync").await.json();
    let operations = json!([{"id": id(1), "film": alien, "set": {"listed": true}}]);
    let sent = json!({"token": copy["token"], "user": copy["user"], "operations": operations});
    async fn post(client: &mut Client, sent: &Value, site: &str) -> crate::client::Answer {
        let request = client
            .request("POST", "/sync")
            .header(header::CONTENT_TYPE, "application/json");
        let request = request.header("sec-fetch-site", site);
        client
            .send(request.body(Body::from(sent.to_string())).unwrap())
            .await
    }
    let own = "same-origin";
    // With another's session, and with the token of that session too.
    assert_eq!(post(&mut people[1], &sent, own).await.status, 422);
    let mut of_ben = sent.clone();
    of_ben["token"] = people[1].get("/sync").await.json()["token"].clone();
    let answer = post(&mut people[1], &of_ben, own).await;
    assert!(
        answer.status == 422 && answer.text.contains("another user's"),
        "{}",
        answer.text
    );
    assert_eq!(post(&mut people[0], &sent, "cross-site").await.status, 422);
    assert_eq!(
        post(&mut people[0].clone_signed_out(), &sent, own)
            .await
            .status,
        303
    );
    assert_eq!(post(&mut people[0], &sent, own).await.status, 200);
    // Nothing of it is seen by others before they are friends, and private films never.
    let films = |answer: crate::client::Answer| answer.json()["films"].as_array().unwrap().len();
    assert_eq!(films(people[0].get("/sync").await), 1);
    assert_eq!(films(people[1].get("/sync").await), 0);
}

#[tokio::test]
async fn a_deleted_account_and_a_deleted_film_leave_no_versions() {
    let (site, mut people) = Site::with_people(&["Anna", "Ben"]).await;
    let ben = &mut people[1];
    let film = ben.add("Alien", &[("note", "one")]).await;
    ben.add("Alien", &[("note", "two")]).await;
    ben.add("Casablanca", &[]).await;
    ben.post("/", &format!("/list/{film}/remove"), &[]).await;
    let count = |sql: &'static str| {
        site.app
            .db()
            .read(move |db| Ok(db.query_row(sql, [], |row| row.get::<_, i64>(0))?))
            .unwrap()
    };
    assert!(count("SELECT count(*) FROM version") >= 6 && count("SELECT count(*) FROM gone") == 1);
    ben.post("/account", "/account/delete", &[("confirm", PASSWORD)])
        .await;
    assert_eq!(
        count("SELECT count(*) FROM user"),
        1,
        "the account is there"
    );
    assert_eq!(
        count("SELECT (SELECT count(*) FROM version) + (SELECT count(*) FROM gone)"),
        0
    );
    let anna = &mut people[0];
    anna.add("Alien", &[("note", "one")]).await;
    anna.add("Alien", &[("note", "two")]).await;
    site.app
        .db()
        .write(|db| Ok(db.execute("DELETE FROM film", [])?))
        .await
        .unwrap();
    assert_eq!(
        count(
            "SELECT (SELECT count(*) FROM version) + (SELECT count(*) FROM gone) + (SELECT count(*) FROM entry)"
        ),
        0
    );
}

#[tokio::test]
async fn a_conflict_is_shown_and_the_user_chooses() {
    let (_site, mut people) = Site::with_people(&["Anna"]).await;
    let anna = &mut people[0];
    let alien = anna.add("Alien", &[("note", "old")]).await;
    anna.make_token().await;
    let base = anna.get("/sync").await.json()["films"][0]["versions"].clone();
    let note = |after, note: &str| json!([{"id": id(after), "film": alien, "set": {"note": note}, "base": base}]);
    send(anna, note(1000, "of the phone")).await;
    send(anna, note(2000, "of the tablet")).await;
    let off = json!([{"id": id(3000), "film": alien, "set": {"listed": false}, "base": base}]);
    send(anna, off).await;
    let list = anna.get("/").await.text;
    assert!(list.contains("Two devices changed the same"), "{list}");
    let export = anna.get("/export.json").await.text;
    assert!(export.contains("of the phone"), "{export}");
    let page = format!("/films/{alien}");
    let choose = format!("/list/{alien}/choose");
    let shown = anna.get(&page).await;
    assert!(
        shown.text.contains("of the phone") && shown.text.contains("taken off the list"),
        "{}",
        shown.text
    );
    let of = |field: &str, shown: &str| {
        let (_, rest) = shown
            .split_once(&format!("name=\"field\" value=\"{field}\""))
            .unwrap();
        let (_, rest) = rest.split_once("name=\"version\" value=\"").unwrap();
        rest[..26].to_owned()
    };
    let version = of("listed", &shown.text);
    let kept = anna
        .post(
            &page,
            &choose,
            &[("field", "listed"), ("version", &version)],
        )
        .await;
    assert_eq!(kept.status, 303, "{}", kept.text);
    let again = anna
        .post(
            &page,
            &choose,
            &[("field", "listed"), ("version", &version)],
        )
        .await;
    assert_eq!(again.status, 404, "it was chosen");
    let version = of("note", &shown.text);
    let fields = [
        ("field", "note"),
        ("version", version.as_str()),
        ("other", "1"),
    ];
    anna.post(&page, &choose, &fields).await;
    let state = anna
        .api("GET", &format!("/list/{alien}"), Value::Null)
        .await
        .json();
    assert_eq!(state["note"], "of the phone");
    let list = anna.get("/").await.text;
    assert!(!list.contains("Two devices changed the same"), "{list}");
}
