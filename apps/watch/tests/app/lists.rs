//! Lists: order, filters, undoing, coming and going as CSV.

use crate::{
    client::{Client, Site},
    imports::send,
};
use axum::http::StatusCode;
use inorder_watch::{
    db::{
        entries::{self, Direction, Filter, Sort, State},
        films, undo, users,
    },
    lists,
};
use proptest::prelude::*;
use rusqlite::Connection;

/// A database with Anna, whose number is 1, and the demo's films.
fn database() -> (tempfile::TempDir, inorder_watch::db::Database) {
    let site = Site::new(Default::default());
    let db = site.app.db().clone();
    db.write_now(|db| users::add(db, "Anna", None)).unwrap();
    (site.folder, db)
}

fn titles(db: &Connection, filter: &Filter) -> Vec<String> {
    let page = entries::page(db, 1, filter).unwrap();
    page.entries
        .into_iter()
        .map(|entry| entry.film.facts.title)
        .collect()
}

fn film(db: &Connection, title: &str) -> i64 {
    let film = inorder_watch::db::find::by_title(db, title, None);
    let any = |year| inorder_watch::db::find::by_title(db, title, Some(year)).unwrap();
    let film = film.unwrap().or_else(|| (1920..2030).find_map(any));
    film.unwrap_or_else(|| panic!("no {title}")).number
}

/// The state of a film added with this priority.
fn wanted(priority: i64) -> State {
    State {
        priority,
        ..State::default()
    }
}

/// What is found of a CSV file.
fn found(db: &Connection, text: &[u8]) -> lists::Found {
    let mut found = lists::Found::default();
    let reading = lists::read("list.csv", text, &lists::Answers::default()).unwrap();
    assert!(reading.problems.is_empty(), "{:?}", reading.problems);
    found.find(db, &reading.rows).unwrap();
    found
}

#[test]
fn a_list_is_filtered_and_ordered() {
    let (_folder, db) = database();
    db.write_now(|db| {
        for (title, priority, watched) in [
            ("Alien", 3, false),
            ("Jaws", 5, false),
            ("Airplane!", 3, false),
            ("Fargo", 4, true),
        ] {
            let state = State {
                priority,
                watched,
                ..State::default()
            };
            entries::put(db, 1, film(db, title), state)?;
        }
        let all = Filter::default();
        let of = |change: fn(&mut Filter)| {
            let mut filter = all.clone();
            change(&mut filter);
            titles(db, &filter)
        };
        assert_eq!(titles(db, &all), ["Jaws", "Alien", "Airplane!"]);
        assert_eq!(of(|f| f.watched = true), ["Fargo"]);
        assert_eq!(of(|f| f.sort = Sort::Title), ["Airplane!", "Alien", "Jaws"]);
        assert_eq!(of(|f| f.sort = Sort::Year), ["Airplane!", "Alien", "Jaws"]);
        assert_eq!(of(|f| f.genre = Some("Horror".to_owned())), ["Alien"]);
        assert_eq!(of(|f| f.decade = Some(1980)), ["Airplane!"]);
        assert_eq!(of(|f| f.priority = Some(3)), ["Alien", "Airplane!"]);
        assert_eq!(of(|f| f.page = 1), Vec::<String>::new());
        assert_eq!(of(|f| f.page = i64::MAX), Vec::<String>::new());
        assert_eq!(entries::counts(db, 1, false)?, (3, 1));
        Ok(())
    })
    .unwrap();
}

#[test]
fn films_move_past_their_neighbours_and_priorities() {
    let (_folder, db) = database();
    db.write_now(|db| {
        for (title, priority) in [("Alien", 3), ("Jaws", 3), ("Fargo", 3), ("Psycho", 2)] {
            entries::put(db, 1, film(db, title), wanted(priority))?;
        }
        let shift = |title: &str, direction| {
            entries::shift(db, 1, film(db, title), direction).unwrap();
            titles(db, &Filter::default())
        };
        let before = titles(db, &Filter::default());
        let last = before[2].clone();
        assert_eq!(shift(&last, Direction::Up)[1], last);
        assert_eq!(shift(&last, Direction::Up)[0], last);
        // Past the end of its priority a film gets the next one.
        assert_eq!(shift(&last, Direction::Up)[0], last);
        assert_eq!(entries::state(db, 1, film(db, &last))?.unwrap().priority, 4);
        assert_eq!(
            shift("Psycho", Direction::Up),
            [last.as_str(), &before[0], &before[1], "Psycho"]
        );
        assert_eq!(
            entries::state(db, 1, film(db, "Psycho"))?.unwrap().priority,
            3
        );
        // A film that is added later comes last.
        entries::put(db, 1, film(db, "Ran"), State::default())?;
        assert_eq!(titles(db, &Filter::default())[4], "Ran");
        assert!(entries::shift(db, 1, film(db, "Airplane!"), Direction::Up).is_err());
        Ok(())
    })
    .unwrap();
}

#[test]
fn a_film_takes_the_place_of_another() {
    let (_folder, db) = database();
    db.write_now(|db| {
        let mut numbers = std::collections::HashMap::new();
        for (title, priority) in [
            ("Alien", 5),
            ("Jaws", 3),
            ("Fargo", 3),
            ("Psycho", 3),
            ("Ran", 1),
        ] {
            numbers.insert(title, film(db, title));
            entries::put(db, 1, film(db, title), wanted(priority))?;
        }
        // Films of one priority that were added within a millisecond have no order of their own.
        let start = titles(db, &Filter::default());
        for (from, title) in start.iter().enumerate() {
            for (to, other) in start.iter().enumerate() {
                let change =
                    entries::take_place(db, 1, numbers[title.as_str()], numbers[other.as_str()])?;
                let mut expected = start.clone();
                let moved = expected.remove(from);
                expected.insert(to, moved);
                assert_eq!(
                    titles(db, &Filter::default()),
                    expected,
                    "{title} to {other}"
                );
                let of = |title: &str| entries::state(db, 1, numbers[title]).unwrap().unwrap();
                assert_eq!(of(title).priority, of(other).priority);
                undo::undo(db, 1, change)?;
            }
            let change = entries::shift(db, 1, numbers[title.as_str()], Direction::Top)?;
            assert_eq!(&titles(db, &Filter::default())[0], title);
            undo::undo(db, 1, change)?;
        }
        assert_eq!(titles(db, &Filter::default()), start);
        let absent = film(db, "Airplane!");
        assert!(entries::take_place(db, 1, absent, numbers["Ran"]).is_err());
        assert!(entries::take_place(db, 1, numbers["Ran"], absent).is_err());
        Ok(())
    })
    .unwrap();
}

/// Something done to a list.
#[derive(Clone, Debug)]
enum Step {
    Put(i64, State),
    Remove(i64),
    Shift(i64, Direction),
    TakePlace(i64, i64),
}

fn direction() -> impl Strategy<Value = Direction> {
    prop_oneof![
        Just(Direction::Up),
        Just(Direction::Down),
        Just(Direction::Top)
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let film = 1i64..8;
    let state = (
        1i64..=5,
        any::<bool>(),
        any::<bool>(),
        proptest::option::of(1i64..=10),
    )
        .prop_map(|(priority, public, watched, rating)| State {
            priority,
            public,
            watched,
            rating,
            watched_on: watched.then(|| "2024-01-31".to_owned()),
            seasons_watched: 0,
            note: rating.map(|rating| format!("\"note\" {rating}")),
            earlier: rating.map_or_else(Vec::new, |_| vec!["2023-01-31".to_owned()]),
            tags: rating.map_or_else(Vec::new, |rating| vec![format!("\"list\" {rating}")]),
        });
    prop_oneof![
        (film.clone(), state).prop_map(|(film, state)| Step::Put(film, state)),
        film.clone().prop_map(Step::Remove),
        (film.clone(), direction()).prop_map(|(film, direction)| Step::Shift(film, direction)),
        (film.clone(), film).prop_map(|(film, other)| Step::TakePlace(film, other)),
    ]
}

/// All rows of all lists, as they are stored.
fn rows(db: &Connection) -> Vec<String> {
    let sql = "SELECT json_array(user, film, priority, public, watched, added_ms, place, watched_on, rating, note, tags, earlier)
               FROM entry ORDER BY user, film";
    let mut statement = db.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    assert_eq!(miscounted(db), 0);
    rows.map(Result::unwrap).collect()
}

/// The number of users whose films are not as many as triggers counted.
fn miscounted(db: &Connection) -> i64 {
    let sql = "SELECT count(*) FROM user WHERE (films_to_watch, films_watched, public_to_watch, public_watched) IS NOT
                 (SELECT count(*) FILTER (WHERE NOT watched), count(*) FILTER (WHERE watched),
                    count(*) FILTER (WHERE public AND NOT watched), count(*) FILTER (WHERE public AND watched)
                  FROM entry WHERE entry.user = user.number)";
    db.query_row(sql, [], |row| row.get(0)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn undoing_everything_backwards_leads_through_every_state(steps in prop::collection::vec(step(), 1..19)) {
        let (_folder, db) = database();
        db.write_now(move |db| {
            let mut states = vec![rows(db)];
            let mut changes = Vec::new();
            for step in steps {
                let change = match step {
                    Step::Put(film, state) => entries::put(db, 1, film, state),
                    Step::Remove(film) => entries::remove(db, 1, film),
                    Step::Shift(film, direction) => entries::shift(db, 1, film, direction),
                    Step::TakePlace(film, other) => entries::take_place(db, 1, film, other),
                };
                let Ok(change) = change else { continue };
                if rows(db) != *states.last().unwrap() {
                    changes.push(change);
                    states.push(rows(db));
                }
            }
            while let Some(change) = changes.pop() {
                assert_eq!(rows(db), states.pop().unwrap());
                undo::undo(db, 1, change).unwrap();
                assert!(undo::undo(db, 1, change).is_err(), "it can be undone twice");
            }
            assert_eq!(rows(db), states.pop().unwrap());
            Ok(())
        })
        .unwrap();
    }

    #[test]
    fn a_list_survives_its_csv(steps in prop::collection::vec(step(), 1..12)) {
        let (_folder, db) = database();
        db.write_now(move |db| {
            for step in steps {
                if let Step::Put(film, state) = step {
                    entries::put(db, 1, film, state)?;
                }
            }
            let before: Vec<_> = entries::all(db, 1)?;
            let csv = lists::csv(&before)?;
            let ben = users::add(db, "Ben", None)?;
            let found = found(db, &csv);
            let (_, imported) = lists::apply(db, &ben, found, &lists::Choices::default())?;
            assert_eq!((imported.added, imported.missing.len()), (before.len(), 0));
            let mut after = entries::all(db, ben.number)?;
            after.sort_by_key(|entry| entry.film.number);
            let mut before = before;
            before.sort_by_key(|entry| entry.film.number);
            for (before, after) in before.iter().zip(&after) {
                assert_eq!((before.film.number, &before.state), (after.film.number, &after.state));
            }
            Ok(())
        })
        .unwrap();
    }
}

#[test]
fn changes_that_can_be_undone_are_the_last_ones() {
    let (_folder, db) = database();
    db.write_now(|db| {
        let first = entries::put(db, 1, 1, State::default())?;
        let mut last = first;
        for priority in (1..=5).cycle().take(25) {
            last = entries::put(db, 1, 1, wanted(priority))?;
        }
        assert!(undo::undo(db, 1, first).is_err());
        assert_eq!(undo::undo(db, 1, last)?.films, 1);
        let sql = "SELECT count(DISTINCT change) FROM undo";
        let kept: i64 = db.query_row(sql, [], |row| row.get(0))?;
        assert!(kept <= 20, "{kept}");
        Ok(())
    })
    .unwrap();
}

#[test]
fn an_import_is_one_change_and_all_or_nothing() {
    let (_folder, db) = database();
    db.write_now(|db| {
        let anna = users::by_name(db, "Anna")?;
        entries::put(db, 1, film(db, "Jaws"), wanted(5))?;
        let csv = b"Name,Year\nAlien,1979\nJaws,1975\nAlien,1979\nNo such film,1999\n";
        let choices = lists::Choices {
            add_missing: true,
            ..Default::default()
        };
        let (change, imported) = lists::apply(db, &anna, found(db, csv), &choices)?;
        assert_eq!((imported.added, imported.present), (2, 1));
        assert_eq!(titles(db, &Filter::default())[0], "Jaws");
        assert_eq!(undo::undo(db, 1, change)?.films, 2);
        assert_eq!(titles(db, &Filter::default()), ["Jaws"]);
        Ok(())
    })
    .unwrap();
}

#[test]
fn a_deleted_account_leaves_nothing_but_the_films_it_added() {
    let (_folder, db) = database();
    db.write_now(|db| {
        let ben = users::add(db, "Ben", None)?;
        let facts = films::Facts {
            title: "Home video".to_owned(),
            ..Default::default()
        };
        let added = films::add(db, facts, &ben)?;
        entries::put(db, ben.number, added.number, State::default())?;
        inorder_watch::db::friends::befriend(db, 1, ben.number)?;
        inorder_watch::db::friends::request(db, &ben, "Cleo")?;
        let anna = users::by_name(db, "Anna")?;
        inorder_watch::db::friends::request(db, &anna, "Dora")?;
        inorder_watch::db::tokens::add(
            db,
            ben.number,
            "test",
            inorder_watch::secret::Secret::new(),
        )?;
        inorder_watch::db::imports::keep(db, ben.number, "{}")?;
        inorder_watch::db::account::delete(db, &ben)?;
        let tables = [
            "entry",
            "undo",
            "friend",
            "session",
            "api_token",
            "invitation",
            "reset",
            "friend_request",
            "import",
        ];
        for table in tables {
            let sql = format!("SELECT count(*) FROM {table} WHERE user = {}", ben.number);
            let left: i64 = db.query_row(&sql, [], |row| row.get(0))?;
            assert_eq!(left, 0, "{table}");
        }
        let sql = "SELECT count(*) FROM film WHERE title = 'Home video' AND added_by IS NULL";
        assert_eq!(db.query_row(sql, [], |row| row.get::<_, i64>(0))?, 1);
        Ok(())
    })
    .unwrap();
}

async fn import(client: &mut Client, text: &str) -> StatusCode {
    let request = client
        .request("POST", "/api/v1/import?add_missing=1")
        .header("content-type", "text/csv")
        .body(axum::body::Body::from(text.to_owned()))
        .unwrap();
    client.send(request).await.status
}

#[tokio::test]
async fn the_api_takes_and_gives_csv() {
    let (_site, mut people) = Site::with_people(&["Anna"]).await;
    let anna = &mut people[0];
    anna.make_token().await;
    assert_eq!(
        import(anna, "Name,Year\nAlien,1979\n").await,
        StatusCode::OK
    );
    for text in ["nonsense\n", "Name,Year\nJaws,1975\nFargo,soon\n"] {
        assert_eq!(import(anna, text).await, StatusCode::UNPROCESSABLE_ENTITY);
    }
    let csv = anna
        .api("GET", "/export.csv", serde_json::Value::Null)
        .await;
    assert!(
        csv.text.lines().nth(1).unwrap().contains(",Alien,1979,"),
        "{}",
        csv.text
    );
}

#[tokio::test]
async fn what_was_watched_there_is_watched_here() {
    let plain = "Date,Name,Year,Letterboxd URI\n2024-01-06,Alien,1979,https://boxd.it/1\n";
    for (name, kind, watched) in [
        ("watched.csv", "", 1),
        ("films.csv", "", 1),
        ("watchlist.csv", "", 0),
        ("renamed.csv", "", 0),
        ("renamed.csv", "watched", 1),
        ("watched.csv", "to_watch", 0),
    ] {
        let (_site, mut people) = Site::with_people(&["Anna"]).await;
        let anna = &mut people[0];
        let answer = send(anna, name, plain.as_bytes(), kind).await;
        let address = answer.header("location").to_owned();
        let answer = anna.post(&address, &address, &[]).await;
        assert_eq!(answer.status, StatusCode::OK);
        anna.make_token().await;
        let me = anna.api("GET", "/me", serde_json::Value::Null).await.json();
        assert_eq!(
            (&me["watched"], &me["to_watch"]),
            (&watched.into(), &(1 - watched).into()),
            "{name} {kind}"
        );
    }
}

#[tokio::test]
async fn a_list_shows_at_once_what_another_program_changes_of_a_film() {
    let (site, mut people) = Site::with_people(&["Anna", "Ben"]).await;
    let [anna, ben] = &mut people[..] else {
        unreachable!()
    };
    anna.add("Alien", &[]).await;
    ben.add("Alien", &[]).await;
    let other = Connection::open(site.app.db().path()).unwrap();
    inorder_sqlite::register(&other).unwrap();
    other.pragma_update(None, "foreign_keys", true).unwrap();
    let film = "(SELECT number FROM film WHERE title IN ('Alien', 'Alien & more'))";
    for (change, shown) in [
        (
            "UPDATE film SET title = 'Alien & more' WHERE title = 'Alien'",
            "Alien &amp; more",
        ),
        (
            "UPDATE film SET minutes = 777 WHERE number = (film)",
            "777 min",
        ),
        (
            "UPDATE film SET original = 'Obcy' WHERE number = (film)",
            "Obcy",
        ),
        (
            "INSERT INTO poster VALUES ((film), 1234, x'01', x'02')",
            "small?1234",
        ),
        (
            "UPDATE poster SET asked_ms = 5678 WHERE film = (film)",
            "small?5678",
        ),
        (
            "INSERT OR REPLACE INTO poster VALUES ((film), 91011, x'01', x'02')",
            "small?91011",
        ),
    ] {
        // Both times it is kept in memory.
        for person in [&mut *anna, &mut *ben] {
            assert!(!person.get("/").await.text.contains(shown), "{change}");
        }
        other.execute(&change.replace("(film)", film), []).unwrap();
        for person in [&mut *anna, &mut *ben] {
            assert!(person.get("/").await.text.contains(shown), "{change}");
        }
    }
    let language = [("language", "de")];
    anna.post("/account", "/account/language", &language).await;
    assert!(anna.get("/").await.text.contains("777 Min"));
    assert!(ben.get("/").await.text.contains("777 min"));
    other.execute("DELETE FROM poster", []).unwrap();
    let text = ben.get("/").await.text;
    assert!(text.contains("Alien &amp; more") && !text.contains("small?"));
}
