//! Undo of a change that others have followed: it restores what the change gave, and leaves what was changed since.

use crate::client::{Client, Site};
use inorder_key::Ulid;
use inorder_watch::db::{
    entries::{self, State},
    films::{self, Facts},
    undo, users,
};
use proptest::{prelude::*, sample::Index};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Changes the entry of a film by the API, as another device does, and returns the change.
async fn put(client: &mut Client, film: &str, fields: Value) -> String {
    let path = format!("/list/{film}");
    let mut state = match client.api("GET", &path, Value::Null).await {
        answer if answer.status == 200 => answer.json(),
        _ => json!({}),
    };
    for (name, value) in fields.as_object().unwrap() {
        state[name] = value.clone();
    }
    let told = client.api("PUT", &path, state).await;
    assert_eq!(told.status, 200, "{}", told.text);
    told.json()["change"].as_str().unwrap().to_owned()
}

async fn state(client: &mut Client, film: &str) -> Value {
    let path = format!("/list/{film}");
    client.api("GET", &path, Value::Null).await.json()
}

/// Presses *Undo*, and returns the page that follows.
async fn press(client: &mut Client, change: &str) -> String {
    let pressed = client.post("/", &format!("/undo/{change}"), &[]).await;
    assert_eq!(pressed.status, 303, "{}", pressed.text);
    client.get(pressed.header("location")).await.text
}

async fn anna_with_a_film() -> (Site, Client, String) {
    let (site, mut people) = Site::with_people(&["Anna"]).await;
    let mut anna = people.remove(0);
    let alien = anna.add("alien", &[]).await;
    anna.make_token().await;
    (site, anna, alien)
}

#[tokio::test]
async fn undo_leaves_fields_that_another_device_changed() {
    let (_site, mut anna, alien) = anna_with_a_film().await;
    let change = put(&mut anna, &alien, json!({"note": "one", "public": false})).await;
    put(
        &mut anna,
        &alien,
        json!({"priority": 5, "tags": ["Halloween"]}),
    )
    .await;
    let page = press(&mut anna, &change).await;
    assert!(page.contains("Undone."), "{page}");
    let after = state(&mut anna, &alien).await;
    assert_eq!(
        (&after["note"], &after["public"]),
        (&json!(null), &json!(true))
    );
    assert_eq!(
        (&after["priority"], &after["tags"]),
        (&json!(5), &json!(["Halloween"]))
    );
}

#[tokio::test]
async fn undo_says_what_it_left() {
    for (language, part, nothing) in [
        (
            "en",
            "Undone, except what was changed again since then.",
            "Nothing is undone: it was changed again since then.",
        ),
        (
            "de",
            "Rückgängig gemacht, außer was seitdem noch einmal geändert wurde.",
            "Nichts ist rückgängig gemacht: Es wurde seitdem noch einmal geändert.",
        ),
    ] {
        let (_site, mut anna, alien) = anna_with_a_film().await;
        anna.language = Some(language.to_owned());
        let first = put(&mut anna, &alien, json!({"note": "one", "public": false})).await;
        let second = put(&mut anna, &alien, json!({"note": "two"})).await;
        let third = put(&mut anna, &alien, json!({"note": "three"})).await;
        let page = press(&mut anna, &first).await;
        assert!(page.contains(part), "{page}");
        let page = press(&mut anna, &second).await;
        assert!(page.contains(nothing), "{page}");
        let after = state(&mut anna, &alien).await;
        assert_eq!(
            (&after["note"], &after["public"]),
            (&json!("three"), &json!(true))
        );
        let told = anna
            .api("POST", &format!("/undo/{third}"), Value::Null)
            .await;
        assert_eq!(told.json(), json!({"done": true, "films": 1, "left": 0}));
        assert_eq!(state(&mut anna, &alien).await["note"], "two");
    }
}

#[tokio::test]
async fn undo_of_an_addition_keeps_a_film_that_was_changed_since() {
    let (_site, mut anna, _) = anna_with_a_film().await;
    let jaws = anna.film("jaws").await;
    let added = put(&mut anna, &jaws, json!({"priority": 4})).await;
    let noted = put(&mut anna, &jaws, json!({"note": "The shark"})).await;
    let told = anna
        .api("POST", &format!("/undo/{added}"), Value::Null)
        .await;
    assert_eq!(told.json(), json!({"done": true, "films": 0, "left": 1}));
    assert_eq!(state(&mut anna, &jaws).await["note"], "The shark");
    // A film that was only moved since is taken off.
    let fargo = anna.film("fargo").await;
    let added = put(&mut anna, &fargo, json!({})).await;
    let up = json!({"direction": "up"});
    anna.api("POST", &format!("/list/{fargo}/move"), up).await;
    anna.api("POST", &format!("/undo/{added}"), Value::Null)
        .await;
    let path = format!("/list/{fargo}");
    assert_eq!(anna.api("GET", &path, Value::Null).await.status, 404);
    // The other order leads back through all of it.
    anna.api("POST", &format!("/undo/{noted}"), Value::Null)
        .await;
    assert_eq!(state(&mut anna, &jaws).await["note"], json!(null));
}

#[tokio::test]
async fn undo_leaves_a_film_on_or_off_the_list_as_it_was_put_since() {
    let (_site, mut anna, alien) = anna_with_a_film().await;
    put(&mut anna, &alien, json!({"note": "old"})).await;
    let path = format!("/list/{alien}");
    let removed = anna.api("DELETE", &path, Value::Null).await.json();
    let added = put(&mut anna, &alien, json!({"note": "new"})).await;
    let removed = removed["change"].as_str().unwrap();
    let told = anna
        .api("POST", &format!("/undo/{removed}"), Value::Null)
        .await;
    assert_eq!(told.json()["left"], 1);
    assert_eq!(state(&mut anna, &alien).await["note"], "new");
    let noted = put(&mut anna, &alien, json!({"note": "newer"})).await;
    anna.api("DELETE", &path, Value::Null).await;
    for (change, films) in [(noted, 0), (added, 1)] {
        let told = anna
            .api("POST", &format!("/undo/{change}"), Value::Null)
            .await;
        assert_eq!(told.json()["films"], films);
        assert_eq!(anna.api("GET", &path, Value::Null).await.status, 404);
    }
}

/// The history of a database of the schema before the state after a change was kept.
#[test]
fn changes_of_an_older_database_are_undone_without_loss() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("watch.db");
    let old = Connection::open(&path).unwrap();
    inorder_sqlite::register(&old).unwrap();
    old.execute_batch(include_str!("../schemas/17.sql"))
        .unwrap();
    old.execute_batch(
        "DELETE FROM undo;
         UPDATE entry SET priority = 5, note = 'now' WHERE user = 1 AND film = 1;
         INSERT INTO undo SELECT 1, 1, 1, ulid_at(1700000000000), json_array(3, 0, 1, 1, 1.0, '2024-01-31', 9, 'was', '[]', '[]', 0);
         INSERT INTO undo SELECT 1, 2, 1, ulid_at(1700000000001), json_array(3, 0, 1, 1, 1.0, '2024-01-31', 9, 'now', '[]', '[]', 0);",
    )
    .unwrap();
    drop(old);
    let db = inorder_watch::db::Database::open(&path).unwrap();
    db.write_now(|db| {
        let change = |sequence: i64| -> [u8; 16] {
            let sql = "SELECT change FROM undo WHERE sequence = ?1";
            db.query_row(sql, [sequence], |row| row.get(0)).unwrap()
        };
        let note_and_priority = || {
            let state = entries::state(db, 1, 1).unwrap().unwrap();
            (state.note.unwrap(), state.priority)
        };
        undo::undo(db, 1, Ulid::from_bytes(change(1)))?;
        assert_eq!(note_and_priority(), ("was".to_owned(), 5));
        let state = entries::state(db, 1, 1)?.unwrap();
        entries::put(
            db,
            1,
            1,
            State {
                rating: Some(2),
                ..state
            },
        )?;
        undo::undo(db, 1, Ulid::from_bytes(change(2)))?;
        assert_eq!(note_and_priority(), ("was".to_owned(), 3));
        assert_eq!(entries::state(db, 1, 1)?.unwrap().rating, Some(2));
        Ok(())
    })
    .unwrap();
}

/// A list with so many new films, and the change that put them there.
fn with_films(db: &Connection, user: i64, count: usize) -> inorder_watch::Result<Ulid> {
    let change = undo::Change::begin(db, user)?;
    for number in 0..count {
        let facts = Facts {
            title: format!("Film {number}"),
            ..Facts::default()
        };
        let film = films::insert(db, &facts, None)?;
        entries::put_in(db, change, user, film, State::default(), 1)?;
    }
    Ok(change.id)
}

fn count(db: &Connection, user: i64) -> inorder_watch::Result<i64> {
    let sql = "SELECT count(*) FROM entry WHERE user = ?1";
    Ok(db.query_row(sql, [user], |row| row.get(0))?)
}

#[tokio::test]
async fn others_write_while_a_change_of_many_films_is_undone() {
    let (site, mut people) = Site::with_people(&["Anna"]).await;
    let mut anna = people.remove(0);
    anna.make_token().await;
    let db = site.app.db().clone();
    let change = db.write(|db| with_films(db, 1, 1001)).await.unwrap();
    let path = format!("/undo/{change}");
    let undo = tokio::spawn(async move { anna.api("POST", &path, Value::Null).await });
    let mut counts = Vec::new();
    while counts.last() != Some(&0) && !undo.is_finished() {
        counts.push(db.write(|db| count(db, 1)).await.unwrap());
        tokio::task::yield_now().await;
    }
    assert!(
        counts.iter().any(|count| (1..1001).contains(count)),
        "{counts:?}"
    );
    let told = undo.await.unwrap().json();
    assert_eq!(told, json!({"done": true, "films": 1001, "left": 0}));
}

#[tokio::test]
async fn the_rest_of_a_change_can_be_undone_when_the_server_ended_before() {
    let (site, _) = Site::with_people(&["Anna"]).await;
    for films in [499, 500, 501, 1000] {
        let left = site.app.db().write(move |db| {
            let change = with_films(db, 1, films)?;
            let film = "SELECT max(film) FROM entry WHERE user = 1";
            let film: i64 = db.query_row(film, [], |row| row.get(0))?;
            // Later changes of a film that is undone last.
            for note in ["a", "b"] {
                let mut state = entries::state(db, 1, film)?.unwrap();
                state.note = Some(note.to_owned());
                entries::put(db, 1, film, state)?;
            }
            let (some, is_all) = undo::undo_some(db, 1, change)?;
            assert_eq!(
                (some.films + some.left, is_all),
                (films.min(500), films <= 500)
            );
            if !is_all {
                let rest = undo::undo(db, 1, change)?;
                assert_eq!((rest.films, rest.left), (films - 501, 1));
            }
            assert!(undo::undo(db, 1, change).is_err());
            let left = count(db, 1)?;
            entries::remove(db, 1, film)?;
            Ok(left)
        });
        assert_eq!(left.await.unwrap(), 1, "{films}");
    }
}

/// What two devices do to the list, one after the other.
#[derive(Clone, Debug)]
enum Step {
    /// Sets these fields of a film.
    Set(i64, Vec<(usize, i64)>),
    /// Undoes one of the changes that were not undone.
    Undo(Index),
}

const FIELDS: usize = 5;

fn step() -> impl Strategy<Value = Step> {
    let set = (
        1..=2i64,
        proptest::collection::vec((0..FIELDS, 0..3i64), 1..=2),
    );
    prop_oneof![
        3 => set.prop_map(|(film, fields)| Step::Set(film, fields)),
        1 => any::<Index>().prop_map(Step::Undo),
    ]
}

/// Sets a field of a state to one of three values.
fn set(state: &mut State, field: usize, value: i64) {
    let text = ["", "a", "b"][value as usize];
    match field {
        0 => state.priority = value + 1,
        1 => state.public = value > 0,
        2 => state.note = Some(text.to_owned()).filter(|text| !text.is_empty()),
        3 => state.tags = entries::tags::split(text),
        _ => (state.watched, state.rating) = (value > 0, Some(value).filter(|rating| *rating > 0)),
    }
}

fn value(state: &State, field: usize) -> Value {
    match field {
        0 => json!(state.priority),
        1 => json!(state.public),
        2 => json!(state.note),
        3 => json!(state.tags),
        _ => json!([state.watched, state.rating]),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(96) })]
    /// A field has the last value that was set and not undone: each is a stack, of which undo takes the top if its change set it.
    #[test]
    fn undo_in_any_order_loses_no_later_value(steps in proptest::collection::vec(step(), 1..19)) {
        let site = Site::new(Default::default());
        site.app.db().write_now(move |db| {
            users::add(db, "Anna", None)?;
            let mut fields: BTreeMap<(i64, usize), Vec<(Value, usize)>> = BTreeMap::new();
            let mut changes = Vec::new();
            for film in 1..=2 {
                entries::put(db, 1, film, State::default())?;
                for field in 0..FIELDS {
                    fields.insert((film, field), vec![(value(&State::default(), field), usize::MAX)]);
                }
            }
            for (number, step) in steps.into_iter().enumerate() {
                match step {
                    Step::Set(film, set_fields) => {
                        let mut state = entries::state(db, 1, film)?.unwrap();
                        for (field, value) in set_fields {
                            set(&mut state, field, value);
                        }
                        changes.push((entries::put(db, 1, film, state.clone())?, number));
                        for field in 0..FIELDS {
                            let stack = fields.get_mut(&(film, field)).unwrap();
                            let value = value(&state, field);
                            if stack.last().unwrap().0 != value {
                                stack.push((value, number));
                            }
                        }
                    }
                    Step::Undo(index) if !changes.is_empty() => {
                        let (change, number) = changes.remove(index.index(changes.len()));
                        undo::undo(db, 1, change)?;
                        for stack in fields.values_mut() {
                            stack.pop_if(|(_, of)| *of == number);
                        }
                    }
                    Step::Undo(_) => {}
                }
                for ((film, field), stack) in &fields {
                    let state = entries::state(db, 1, *film)?.unwrap();
                    assert_eq!(value(&state, *field), stack.last().unwrap().0, "field {field} of film {film}");
                }
            }
            Ok(())
        }).unwrap();
    }
}
