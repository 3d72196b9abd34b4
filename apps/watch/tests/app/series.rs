//! Series: how they come into the catalogue, and how far somebody has watched them.

use crate::{
    client::{Answer, Client, Site},
    common,
};
use axum::http::StatusCode;
use inorder_watch::{
    db::{
        films::{self, Kind},
        find::{self, Query},
    },
    films::{episodes::Episodes, import, source::Source},
};
use serde_json::{Value, json};
use std::{fs, io::Write, path::Path};

/// IMDb's `title.basics.tsv`: <https://developer.imdb.com/non-commercial-datasets/>.
const BASICS: &str = "tconst\ttitleType\tprimaryTitle\toriginalTitle\tisAdult\tstartYear\tendYear\truntimeMinutes\tgenres\n\
    tt0111161\tmovie\tFargo\tFargo\t0\t2014\t\\N\t98\tDrama\n\
    tt0903747\ttvSeries\tBreaking Bad\tBreaking Bad\t0\t2008\t2013\t45\tCrime,Drama\n\
    tt0959621\ttvEpisode\tPilot\tPilot\t0\t2008\t\\N\t58\tCrime,Drama\n\
    tt2802850\ttvSeries\tFargo\tFargo\t0\t2014\t\\N\t53\tCrime\n\
    tt7366338\ttvMiniSeries\tChernobyl\tChernobyl\t0\t2019\t2019\t330\tDrama,History\n";

/// IMDb's `title.episode.tsv`, with an episode of a series that isn't there, one without a season, and a special.
fn episodes(of_fargo: &[u32]) -> String {
    let mut text = "tconst\tparentTconst\tseasonNumber\tepisodeNumber\n\
        tt0000001\ttt9999999\t1\t1\n\
        tt0000002\ttt0903747\t\\N\t\\N\n\
        tt0000003\ttt0903747\t0\t1\n"
        .to_owned();
    let mut add = |parent: &str, seasons: &[u32]| {
        for (season, count) in seasons.iter().zip(1..) {
            for episode in 1..=*season {
                text += &format!("tt1{episode:06}\t{parent}\t{count}\t{episode}\n");
            }
        }
    };
    add("tt0903747", &[7, 13, 13, 13, 16]);
    add("tt2802850", of_fargo);
    add("tt7366338", &[5]);
    text
}

fn gzipped(text: &str) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(text.as_bytes()).unwrap();
    packed.finish().unwrap()
}

pub fn import_basics(site: &Site, text: &str) -> import::Imported {
    let path = site.folder.path().join("title.basics.tsv");
    fs::write(&path, text).unwrap();
    import::import(site.app.db(), Source::open(&path).unwrap(), |_| ()).unwrap()
}

pub fn import_episodes(site: &Site, text: &str) -> inorder_watch::films::episodes::Counted {
    let path = site.folder.path().join("title.episode.tsv.gz");
    fs::write(&path, gzipped(text)).unwrap();
    let episodes = Episodes::open(&path).unwrap();
    episodes.import(site.app.db(), || ()).unwrap()
}

/// A site with people and IMDb's series, of which *Fargo* has two seasons.
pub async fn site(names: &[&str]) -> (Site, Vec<Client>) {
    let (site, people) = Site::with_people(names).await;
    import_basics(&site, BASICS);
    import_episodes(&site, &episodes(&[10, 10]));
    (site, people)
}

/// The best title of a kind for these words.
pub async fn title(client: &mut Client, words: &str, kind: &str) -> String {
    let page = client.get(&format!("/films?q={words}&kind={kind}")).await;
    let (_, rest) = page
        .text
        .split_once("<li class=\"film\" id=\"f")
        .unwrap_or_else(|| panic!("no {words}: {}", page.text));
    rest[..26].to_owned()
}

async fn state(client: &mut Client, film: &str) -> Value {
    if client.token.is_none() {
        client.make_token().await;
    }
    let path = format!("/list/{film}");
    client.api("GET", &path, Value::Null).await.json()
}

/// Presses a button of the list, and gives the page that follows.
pub async fn press(client: &mut Client, path: &str) -> Answer {
    let answer = client.post("/account", path, &[("back", "/")]).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.text);
    let next = answer.header("location").to_owned();
    client.get(&next).await
}

#[test]
fn imdbs_series_have_their_years_and_seasons_and_are_not_films() {
    let site = Site::new(Default::default());
    let done = import_basics(&site, BASICS);
    assert_eq!((done.added, done.known), (4, 0));
    let counted = import_episodes(&site, &episodes(&[10, 10]));
    assert_eq!((counted.changed, counted.known), (3, 0));
    assert_eq!((counted.episodes, counted.skipped), (89, 0));
    let counted = import_episodes(&site, &episodes(&[10, 10]));
    assert_eq!((counted.changed, counted.known), (0, 3));
    assert_eq!(import_basics(&site, BASICS).known, 4);
    let find = |text: &str, kind| {
        let query = Query {
            text: text.to_owned(),
            kind,
            ..Query::default()
        };
        let found = site.app.db().read(|db| find::find(db, &query)).unwrap();
        let films = found.films.into_iter();
        films
            .map(|film| (film.facts.kind, film.facts.years(), film.facts.seasons))
            .collect::<Vec<_>>()
    };
    let fargo = |kind| find("fargo", kind);
    let (film, series) = (Kind::Film, Kind::Series);
    let of_series = (series, Some("2014–".to_owned()), vec![10, 10]);
    assert_eq!(fargo(Some(series)), std::slice::from_ref(&of_series));
    // One is of 1996.
    assert_eq!(fargo(Some(film)).len(), 2);
    assert!(fargo(None).len() == 3 && fargo(None).contains(&of_series));
    let years = |text: &str| find(text, Some(series))[0].1.clone();
    assert_eq!(years("breaking bad").as_deref(), Some("2008–2013"));
    // Words, similar spellings, beginnings, and nothing at all are of the kind too.
    assert_eq!(years("chernobyl").as_deref(), Some("2019"));
    assert_eq!(years("chernobil").as_deref(), Some("2019"));
    assert_eq!(years("brea").as_deref(), Some("2008–2013"));
    assert_eq!(years("crime 2008").as_deref(), Some("2008–2013"));
    assert_eq!(find("", Some(series)).len(), 23);
    assert_eq!(find("casablanca", Some(series)), []);
}

#[test]
fn json_lines_and_files_that_are_none() {
    let site = Site::new(Default::default());
    let path = site.folder.path().join("series.jsonl");
    let lines = r#"{"kind":"series","title":"Darker","year":2017,"end_year":2020,"seasons":[10,8,8]}
        {"kind":"series","title":"Severed","year":2022,"seasons":2,"imdb":"tt11280740"}
        {"kind":"series","title":"Backwards","year":2022,"end_year":2020}
        {"kind":"play","title":"Hamlet"}
        {"title":"A film","year":2020,"seasons":3}"#;
    fs::write(&path, lines).unwrap();
    let source = Source::open(&path).unwrap();
    let done = import::import(site.app.db(), source, |_| ()).unwrap();
    assert_eq!((done.added, done.skipped), (3, 2), "{done:?}");
    let seasons = |title: &str| {
        let found = site
            .app
            .db()
            .read(|db| Ok(find::of_title(db, title)?.remove(0).1.facts.seasons));
        found.unwrap()
    };
    assert_eq!(seasons("Darker"), [10, 8, 8]);
    assert_eq!(seasons("Severed"), [0, 0]);
    assert!(seasons("A film").is_empty());
    // A later file has more of them, and the last year. One that knows less takes nothing away.
    let later = r#"{"kind":"series","title":"Severed","year":2022,"seasons":3,"imdb":"tt11280740","end_year":2027}"#;
    fs::write(&path, later).unwrap();
    for (continued, known) in [(1, 0), (0, 1)] {
        let source = Source::open(&path).unwrap();
        let done = import::import(site.app.db(), source, |_| ()).unwrap();
        assert_eq!((done.continued, done.known), (continued, known));
    }
    fs::write(&path, lines).unwrap();
    let source = Source::open(&path).unwrap().only(Some(Kind::Series));
    let done = import::import(site.app.db(), source, |_| ()).unwrap();
    assert_eq!((done.added, done.known, done.continued), (0, 2, 0));
    assert_eq!(seasons("Severed"), [0, 0, 0]);
    let error = |text: &str| {
        fs::write(&path, text).unwrap();
        let episodes = Episodes::open(&path).map(|_| ()).unwrap_err();
        let source = Source::open(&path).map(|_| ()).unwrap_err();
        (episodes.to_string(), source.to_string())
    };
    let (episodes, _) = error("tconst,parent\n");
    assert!(episodes.contains("not IMDb's title.episode.tsv"));
    fs::write(&path, self::episodes(&[])).unwrap();
    let source = Source::open(&path).map(|_| ()).unwrap_err().to_string();
    assert!(source.contains("--episodes"), "{source}");
    let bad = "tconst\tparentTconst\tseasonNumber\tepisodeNumber\ntt1\ttt2\n\ntt1\tx\t1\t1\ntt1\ttt11280740\t4\t1\n";
    let counted = import_episodes(&site, bad);
    assert_eq!((counted.skipped, counted.changed), (3, 1));
    assert!(counted.first_skipped.unwrap().contains("line 2: "));
    assert_eq!(seasons("Severed"), [0, 0, 0, 1]);
}

#[test]
fn the_command_imports_both_files() {
    let (folder, db) = common::new_file();
    let (basics, episodes) = (
        folder.path().join("title.basics.tsv"),
        folder.path().join("title.episode.tsv"),
    );
    fs::write(&basics, BASICS).unwrap();
    fs::write(&episodes, self::episodes(&[10])).unwrap();
    let name = |path: &Path| path.to_str().unwrap().to_owned();
    let arguments = |more: &[&str]| {
        let mut all = vec!["import-films".to_owned()];
        all.extend(more.iter().map(|&argument| argument.to_owned()));
        all
    };
    let run = |more: &[&str]| {
        let all = arguments(more);
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        common::run(&db, &all, "")
    };
    let (worked, _, err) = run(&[
        &name(&basics),
        "--episodes",
        &name(&episodes),
        "--only",
        "series",
    ]);
    assert!(worked, "{err}");
    assert!(err.contains("3 films and series added"), "{err}");
    assert!(err.contains("3 series got their seasons"), "{err}");
    let (worked, out, _) = run(&["--episodes", &name(&episodes), "--json"]);
    let told: Value = serde_json::from_str(&out).unwrap();
    assert!(worked && told["seasons"]["known"] == 3, "{out}");
    let sql = "SELECT seasons FROM film WHERE title = 'Fargo' AND is_series";
    assert_eq!(common::query(&db, sql), "[10]");
    let (worked, _, err) = run(&[]);
    assert!(!worked && err.contains("FILE"), "{err}");
    let (worked, _, err) = run(&[&name(&episodes)]);
    assert!(!worked && err.contains("--episodes"), "{err}");
}

#[tokio::test]
async fn a_series_is_watched_season_by_season_with_a_button() {
    let (_site, mut people) = site(&["Anna"]).await;
    let anna = &mut people[0];
    let found = anna.get("/films?q=breaking+bad").await.text;
    assert!(
        found.contains("2008–2013") && found.contains("Series, 5 seasons"),
        "{found}"
    );
    let film = title(anna, "breaking+bad", "series").await;
    press(anna, &format!("/list/{film}/add")).await;
    for season in 1..=4 {
        let list = anna.get("/").await.text;
        let button = format!("/list/{film}/season/{season}");
        assert!(list.contains(&button), "{list}");
        let label = format!("Mark season {season} of Breaking Bad as watched");
        assert!(list.contains(&label), "{list}");
        let after = press(anna, &button).await.text;
        assert!(after.contains("Marked a season of “"), "{after}");
        let words = format!("{season} of 5 seasons watched");
        assert!(after.contains(&words), "{after}");
    }
    assert_eq!(
        state(anna, &film).await,
        json!({
            "priority": 3, "public": true, "watched": false, "watched_on": null, "earlier": [], "seasons_watched": 4,
            "rating": null, "note": null, "tags": [],
        })
    );
    // With the last one it is watched today, and undo names it.
    let after = press(anna, &format!("/list/{film}/season/5")).await.text;
    assert!(
        after.contains("Undo: Marked Breaking Bad as watched."),
        "{after}"
    );
    let whole = state(anna, &film).await;
    assert_eq!(
        (&whole["watched"], &whole["seasons_watched"]),
        (&json!(true), &json!(5))
    );
    assert!(whole["watched_on"].is_string());
    let (_, undo) = after.split_once("/undo/").unwrap();
    press(anna, &format!("/undo/{}", &undo[..26])).await;
    let undone = state(anna, &film).await;
    assert_eq!(
        (&undone["watched"], &undone["seasons_watched"]),
        (&json!(false), &json!(4))
    );
    // A film has no seasons, and what isn't on the list neither.
    let alien = anna.add("alien", &[]).await;
    for path in [
        format!("/list/{alien}/season/1"),
        format!(
            "/list/{}/season/1",
            title(anna, "chernobyl", "series").await
        ),
    ] {
        assert_eq!(
            anna.post("/account", &path, &[]).await.status,
            StatusCode::NOT_FOUND
        );
    }
    let many = format!("/list/{film}/season/4000000000");
    press(anna, &many).await;
    assert_eq!(state(anna, &film).await["seasons_watched"], 5);
}

#[tokio::test]
async fn the_form_of_a_series_says_how_far_it_was_watched() {
    let (_site, mut people) = site(&["Anna"]).await;
    let anna = &mut people[0];
    let film = title(anna, "fargo", "series").await;
    let page = format!("/films/{film}");
    let text = anna.get(&page).await.text;
    for words in [
        "Series, 2 seasons",
        "Season 2: 10 episodes",
        "up to season 1",
        "all 2",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let save = format!("/list/{film}/save");
    let day = ("watched_on", "2024-01-31");
    let rating = ("rating", "9");
    // Whether it was watched then, how many seasons, the rating, and on how many days.
    for (fields, expected) in [
        // A rating doesn't say that all was watched.
        (
            &[("seasons_watched", "1"), rating][..],
            json!([false, 1, 9, 0]),
        ),
        (
            &[("seasons_watched", "2"), rating, day],
            json!([true, 2, 9, 1]),
        ),
        // Whoever takes a season back has watched it before.
        (
            &[("seasons_watched", "1"), rating, day],
            json!([false, 1, 9, 1]),
        ),
        (&[("seasons_watched", "0"), rating], json!([false, 0, 9, 1])),
        // Other forms change none.
        (&[("priority", "5")], json!([false, 0, null, 1])),
        (&[("watched", "on")], json!([true, 2, null, 1])),
    ] {
        let saved = anna.post(&page, &save, fields).await;
        assert_eq!(saved.status, StatusCode::SEE_OTHER, "{}", saved.text);
        let state = state(anna, &film).await;
        let all = state["earlier"].as_array().unwrap().len()
            + usize::from(state["watched_on"].is_string());
        let (watched, seasons) = (&state["watched"], &state["seasons_watched"]);
        let found = json!([watched, seasons, state["rating"], all]);
        assert_eq!(found, expected, "{fields:?}");
    }
}

#[tokio::test]
async fn of_a_series_with_an_unknown_number_of_seasons_a_box_says_that_it_was_watched() {
    let (_site, mut people) = site(&["Anna"]).await;
    let anna = &mut people[0];
    let fields = [
        ("title", "Home series"),
        ("kind", "series"),
        ("year", "2024"),
    ];
    anna.post("/films/new", "/films/new", &fields).await;
    let film = title(anna, "home+series", "series").await;
    let (page, save) = (format!("/films/{film}"), format!("/list/{film}/save"));
    anna.post(&page, &save, &[("seasons_watched", "3")]).await;
    let list = anna.get("/").await.text;
    assert!(
        list.contains("3 seasons watched") && list.contains("/season/4"),
        "{list}"
    );
    assert!(list.contains("2024–"), "{list}");
    anna.post(&page, &save, &[("seasons_watched", "3"), ("watched", "on")])
        .await;
    assert_eq!(state(anna, &film).await["watched"], true);
}

#[tokio::test]
async fn a_new_season_puts_a_watched_series_back_to_watch() {
    let (site, mut people) = site(&["Anna", "Ben"]).await;
    let film = title(&mut people[0], "fargo", "series").await;
    for person in &mut people {
        let save = format!("/list/{film}/save");
        let fields = [
            ("seasons_watched", "2"),
            ("watched_on", "2024-01-31"),
            ("rating", "9"),
        ];
        person.post(&format!("/films/{film}"), &save, &fields).await;
    }
    let before = people[0].get("/sync").await.json()["films"][0]["versions"]["watched"].clone();
    import_episodes(&site, &episodes(&[10, 10, 1]));
    let anna = &mut people[0];
    let list = anna.get("/").await.text;
    assert!(
        list.contains("2 of 3 seasons watched") && list.contains("New season"),
        "{list}"
    );
    assert_eq!(
        state(anna, &film).await,
        json!({
            "priority": 3, "public": true, "watched": false, "watched_on": null, "earlier": ["2024-01-31"], "seasons_watched": 2,
            "rating": 9, "note": null, "tags": [],
        })
    );
    // Devices learn of it.
    let after = anna.get("/sync").await.json()["films"][0]["versions"]["watched"].clone();
    assert_ne!(before, after);
    // Friends see it as they see what is watched, and nothing of a private entry.
    let friends = anna.get(&format!("/films/{film}")).await.text;
    assert!(friends.contains("has watched 2 seasons of it"), "{friends}");
    let list = anna.get("/people/Ben").await.text;
    assert!(list.contains("2 of 3 seasons watched"), "{list}");
    let ben = &mut people[1];
    let save = format!("/list/{film}/save");
    let fields = [("seasons_watched", "1"), ("private", "on")];
    ben.post(&format!("/films/{film}"), &save, &fields).await;
    let anna = &mut people[0];
    let friends = anna.get(&format!("/films/{film}")).await.text;
    assert!(
        !friends.contains("of it")
            && !anna
                .get("/people/Ben")
                .await
                .text
                .contains("seasons watched")
    );
    // More episodes of the same seasons change nothing, and fewer seasons take none to watch.
    press(anna, &format!("/list/{film}/season/3")).await;
    import_episodes(&site, &episodes(&[10, 10, 9]));
    assert_eq!(state(anna, &film).await["watched"], true);
    import_episodes(&site, &episodes(&[10, 10]));
    let state = state(anna, &film).await;
    assert_eq!(
        (&state["watched"], &state["seasons_watched"]),
        (&json!(true), &json!(2))
    );
}

#[tokio::test]
async fn the_seasons_that_somebody_states_are_those_of_the_series() {
    let (_site, mut people) = Site::with_people(&["Anna"]).await;
    let anna = &mut people[0];
    let add = |seasons: &'static str, end: &'static str| {
        [
            ("title", "Home series"),
            ("kind", "series"),
            ("year", "2020"),
            ("end_year", end),
            ("seasons", seasons),
        ]
    };
    for (seasons, end, words) in [
        ("201", "", "at most 200 seasons"),
        ("2", "2019", "before it begins"),
        ("2", "3000", "between 1870 and 2100"),
    ] {
        let refused = anna
            .post("/films/new", "/films/new", &add(seasons, end))
            .await;
        assert!(refused.text.contains(words), "{}", refused.text);
        // What was typed stays in the form.
        assert!(
            refused.text.contains("<option value=\"series\" selected"),
            "{}",
            refused.text
        );
    }
    anna.post("/films/new", "/films/new", &add("2", "2021"))
        .await;
    let film = title(anna, "home+series", "series").await;
    anna.post(
        "/films/new",
        "/films/new",
        &[("title", "Home series"), ("year", "2020")],
    )
    .await;
    assert_ne!(
        title(anna, "home+series", "film").await,
        film,
        "a film of the same name is another"
    );
    press(anna, &format!("/list/{film}/add")).await;
    press(anna, &format!("/list/{film}/watched")).await;
    assert_eq!(state(anna, &film).await["seasons_watched"], 2);
    let change = format!("/films/{film}/change");
    let form = anna.get(&change).await.text;
    assert!(form.contains("name=\"seasons\" value=\"2\""), "{form}");
    anna.post(&change, &change, &add("3", "")).await;
    let list = anna.get("/").await.text;
    assert!(
        list.contains("2 of 3 seasons watched") && list.contains("2020–<"),
        "{list}"
    );
    let told = anna
        .api("GET", &format!("/films/{film}"), Value::Null)
        .await
        .json();
    assert_eq!(
        json!([
            told["kind"],
            told["year"],
            told["end_year"],
            told["seasons"]
        ]),
        json!(["series", 2020, null, [0, 0, 0]])
    );
}

#[tokio::test]
async fn entries_agree_with_a_series_that_is_corrected() {
    let (_site, mut people) = Site::with_people(&["Anna", "Ben", "Cleo"]).await;
    let form = |kind: &'static str, seasons: &'static str| {
        [
            ("title", "Home series"),
            ("kind", kind),
            ("seasons", seasons),
        ]
    };
    let anna = &mut people[0];
    anna.post("/films/new", "/films/new", &form("series", "5"))
        .await;
    let film = title(anna, "home+series", "series").await;
    let change = format!("/films/{film}/change");
    // Anna is at the third of five seasons, with a day of an earlier time; Ben has watched it; Cleo is at the first.
    let said = [
        json!({"seasons_watched": 3, "earlier": ["2023-02-01", "2024-03-01"], "rating": 7}),
        json!({"watched": true, "watched_on": "2024-05-05", "earlier": ["2022-01-01"], "rating": 9}),
        json!({"seasons_watched": 1, "earlier": ["2021-01-01"], "rating": 5}),
    ];
    for (person, said) in people.iter_mut().zip(said) {
        person.make_token().await;
        let put = person.api("PUT", &format!("/list/{film}"), said).await;
        assert_eq!(put.status, StatusCode::OK, "{}", put.text);
    }
    let steps = [
        // Fewer seasons: Anna has watched them all.
        (
            form("series", "2"),
            json!([
                [true, "2024-03-01", ["2023-02-01"], 2, 7],
                [true, "2024-05-05", ["2022-01-01"], 2, 9],
                [false, null, ["2021-01-01"], 1, 5],
            ]),
        ),
        // A film has no seasons, and what was said of them stays.
        (
            form("film", ""),
            json!([
                [true, "2024-03-01", ["2023-02-01"], 0, 7],
                [true, "2024-05-05", ["2022-01-01"], 0, 9],
                [false, null, ["2021-01-01"], 0, 5],
            ]),
        ),
        // As it was at first.
        (
            form("series", "5"),
            json!([
                [false, null, ["2023-02-01", "2024-03-01"], 3, 7],
                [true, "2024-05-05", ["2022-01-01"], 5, 9],
                [false, null, ["2021-01-01"], 1, 5],
            ]),
        ),
    ];
    for (form, expected) in steps {
        people[0].post(&change, &change, &form).await;
        let mut found = Vec::new();
        for person in &mut people {
            let (said, days) = (state(person, &film).await, ["watched_on", "earlier"]);
            let [last, earlier] = days.map(|field| &said[field]);
            let (seasons, rating) = (&said["seasons_watched"], &said["rating"]);
            found.push(json!([said["watched"], last, earlier, seasons, rating]));
        }
        assert_eq!(json!(found), expected, "{form:?}");
    }
}

#[tokio::test]
async fn a_number_of_seasons_that_becomes_known_says_who_has_watched_them_all() {
    let (_site, mut people) = Site::with_people(&["Anna"]).await;
    let anna = &mut people[0];
    let form = [("title", "Home series"), ("kind", "series")];
    anna.post("/films/new", "/films/new", &form).await;
    let film = title(anna, "home+series", "series").await;
    press(anna, &format!("/list/{film}/add")).await;
    press(anna, &format!("/list/{film}/season/3")).await;
    let change = format!("/films/{film}/change");
    let form = [form[0], form[1], ("seasons", "3")];
    anna.post(&change, &change, &form).await;
    let said = state(anna, &film).await;
    assert_eq!(
        json!([said["watched"], said["seasons_watched"]]),
        json!([true, 3])
    );
}

#[tokio::test]
async fn the_api_adds_series_and_says_how_far_they_were_watched() {
    let (site, mut people) = Site::with_people(&["Anna"]).await;
    let anna = &mut people[0];
    anna.make_token().await;
    let new = json!({"kind": "series", "title": "Darker", "year": 2017, "end_year": 2020, "seasons": [10, 8, 8]});
    let dark = anna.api("POST", "/films", new).await.json();
    assert_eq!(dark["seasons"], json!([10, 8, 8]));
    let dark = dark["film"].as_str().unwrap().to_owned();
    let put = json!({"seasons_watched": 3, "rating": 10});
    anna.api("PUT", &format!("/list/{dark}"), put).await;
    assert_eq!(state(anna, &dark).await["watched"], true);
    // The numbers of episodes stay when the number of seasons is changed.
    let number = site.app.db().read(|db| {
        let id = inorder_key::Ulid::parse(&dark).unwrap();
        films::number(db, id)
    });
    let change = format!("/films/{dark}/change");
    let fields = [
        ("title", "Darker"),
        ("kind", "series"),
        ("year", "2017"),
        ("seasons", "4"),
    ];
    anna.post(&change, &change, &fields).await;
    let seasons = site
        .app
        .db()
        .read(|db| films::by_number(db, number.unwrap()));
    assert_eq!(seasons.unwrap().facts.seasons, [10, 8, 8, 0]);
}

#[tokio::test]
async fn lists_and_tonight_have_films_or_series_only() {
    let (_site, mut people) = site(&["Anna", "Ben"]).await;
    let series = title(&mut people[0], "fargo", "series").await;
    let film = title(&mut people[0], "fargo", "film").await;
    for person in &mut people {
        for title in [&series, &film] {
            person
                .post("/films", &format!("/list/{title}/add"), &[])
                .await;
        }
        person.make_token().await;
    }
    let anna = &mut people[0];
    for path in ["/list", "/people/Ben/list", "/tonight"] {
        for (query, expected) in [
            ("&kind=series", vec!["series"]),
            ("&kind=film", vec!["film"]),
            ("&kind=", vec!["film", "series"]),
        ] {
            let path = format!("{path}?with=Ben{query}");
            let told = anna.api("GET", &path, Value::Null).await.json();
            let films = told["films"].as_array().unwrap().iter();
            let mut kinds: Vec<&str> = films.map(|film| film["kind"].as_str().unwrap()).collect();
            kinds.sort_unstable();
            assert_eq!(kinds, expected, "{path}");
        }
    }
    let list = anna.get("/?kind=series").await.text;
    assert!(list.contains("2014–") && !list.contains(&film), "{list}");
    let tonight = anna.get("/tonight?with=Ben&kind=series&pick=1").await.text;
    assert!(
        tonight.contains("name=\"kind\" value=\"series\""),
        "{tonight}"
    );
    assert!(!tonight.contains(&film));
    for path in ["/?kind=play", "/tonight?kind=play", "/films?kind=play"] {
        let status = anna.get(path).await.status;
        assert!(status.is_client_error(), "{path}: {status}");
    }
}
