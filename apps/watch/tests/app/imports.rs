//! Imports of lists: the form of each site, the preview, and what is merged.

use crate::client::{Answer, Client, Site};
use axum::{body::Body, http::StatusCode};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    fs,
    io::{Cursor, Write},
    path::{Path, PathBuf},
};
use zip::{ZipWriter, write::SimpleFileOptions};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/imports")
        .join(name)
}

pub fn zipped<'a>(files: impl IntoIterator<Item = (&'a str, Vec<u8>)>) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        zip.start_file(name, SimpleFileOptions::default()).unwrap();
        zip.write_all(&bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// The files of a folder as an archive, whose names begin with `root`.
pub fn archive(folder: &str, root: &str) -> Vec<u8> {
    let folder = fixture(folder);
    let mut files = Vec::new();
    let mut folders = vec![folder.clone()];
    while let Some(inner) = folders.pop() {
        for entry in fs::read_dir(inner).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(&folder).unwrap().to_str().unwrap();
                files.push((format!("{root}{name}"), fs::read(&path).unwrap()));
            }
        }
    }
    let files = files
        .iter()
        .map(|(name, bytes)| (name.as_str(), bytes.clone()));
    zipped(files)
}

/// Sends a file on the page for it.
pub async fn send(client: &mut Client, name: &str, file: &[u8], kind: &str) -> Answer {
    let fields = [("kind", kind)];
    client
        .post_file("/import", "/import", &fields, (name, file))
        .await
}

/// The preview of a file, with its address.
pub async fn preview(client: &mut Client, name: &str, file: &[u8]) -> (String, Answer) {
    let answer = send(client, name, file, "").await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.text);
    let address = answer.header("location").to_owned();
    let page = client.get(&address).await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.text);
    (address, page)
}

/// The text of a page between two marks, without its tags.
fn between(page: &str, from: &str, to: &str) -> String {
    let (_, rest) = page
        .split_once(from)
        .unwrap_or_else(|| panic!("no {from} in {page}"));
    let (part, _) = rest.split_once(to).unwrap_or((rest, ""));
    let mut text = String::new();
    for piece in part.split('<') {
        let words = piece.split_once('>').map_or(piece, |(_, words)| words);
        text += words;
        text.push(' ');
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The numbers that the preview names, by their words.
fn counts(page: &str) -> BTreeMap<String, usize> {
    let words = [
        "New on your list",
        "Changed on your list",
        "As before",
        "Unclear",
        "Not known here",
    ];
    let count = |word: &&str| {
        let (_, rest) = page.split_once(&format!("{word}: "))?;
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        Some(((*word).to_owned(), digits.parse().unwrap()))
    };
    words.iter().filter_map(count).collect()
}

/// The numbers of a preview: new, changed, as before, unclear, not known.
fn expect(page: &str, expected: [usize; 5]) {
    let counts = counts(page);
    let words = [
        "New on your list",
        "Changed on your list",
        "As before",
        "Unclear",
        "Not known here",
    ];
    let found = words.map(|word| counts.get(word).copied().unwrap_or_default());
    assert_eq!(found, expected, "{page}");
}

/// Answers what the preview asks, and shows it again.
pub async fn answer(client: &mut Client, address: &str, fields: &[(&str, &str)]) -> Answer {
    let done = client
        .post(address, &format!("{address}/columns"), fields)
        .await;
    assert_eq!(done.status, StatusCode::SEE_OTHER, "{}", done.text);
    client.get(address).await
}

/// Sends the form of a preview.
pub async fn confirm(client: &mut Client, address: &str, fields: &[(&str, &str)]) -> Answer {
    client.post(address, address, fields).await
}

/// The list, both parts of it, by title.
async fn list(client: &mut Client) -> BTreeMap<String, Value> {
    if client.token.is_none() {
        client.make_token().await;
    }
    let mut all = BTreeMap::new();
    for path in ["/list", "/list?watched=1"] {
        let page = client.api("GET", path, Value::Null).await.json();
        for film in page["films"].as_array().unwrap() {
            let kept = json!([
                film["watched"],
                film["watched_on"],
                film["rating"],
                film["note"]
            ]);
            all.insert(film["title"].as_str().unwrap().to_owned(), kept);
        }
    }
    all
}

/// The earlier days and the tags of a watched film.
async fn details(client: &mut Client, title: &str) -> Value {
    let page = client.api("GET", "/list?watched=1", Value::Null).await;
    let page = page.json();
    let films = page["films"].as_array().unwrap();
    let film = films.iter().find(|film| film["title"] == title).unwrap();
    json!([film["earlier"], film["tags"]])
}

/// A list as it should be: title, watched, day, rating and note.
fn films(expected: Value) -> BTreeMap<String, Value> {
    let expected = expected.as_array().unwrap().iter();
    let film = |film: &Value| {
        (
            film[0].as_str().unwrap().to_owned(),
            json!([film[1], film[2], film[3], film[4]]),
        )
    };
    expected.map(film).collect()
}

/// What Letterboxd's archive leaves on a list that had three of its films.
fn of_letterboxd() -> BTreeMap<String, Value> {
    films(json!([
        ["Alien", true, "2024-03-01", 7, null],
        ["Jaws", true, null, 6, null],
        ["Fargo", true, null, null, null],
        ["Amélie", true, null, null, null],
        ["The Good, the Bad and the Ugly", true, null, null, null],
        ["Chungking Express", true, null, null, null],
        ["A Film of One's Own", true, null, null, null],
        [
            "Parasite",
            true,
            "2024-01-31",
            10,
            "The stairs.\n\n<i>The stairs!</i>"
        ],
        ["Ran", false, null, null, "On a large screen"],
        ["Tokyo Story", false, null, null, null],
        ["Vertigo", true, null, null, null],
        ["The Shining", false, null, null, "The hotel"],
        ["The Thing", false, null, null, null],
    ]))
}

#[tokio::test]
async fn letterboxds_archive_is_imported_whole() {
    for root in ["", "letterboxd-anna-2024-04-01-12-00-utc/"] {
        let (_site, mut people) = Site::with_people(&["Anna"]).await;
        let anna = &mut people[0];
        anna.add("ran", &[("priority", "5"), ("note", "On a large screen")])
            .await;
        anna.add(
            "alien",
            &[("priority", "3"), ("watched", "1"), ("rating", "7")],
        )
        .await;
        anna.add("jaws", &[("priority", "4")]).await;
        let file = archive("letterboxd", root);
        let (address, page) = preview(anna, "letterboxd-anna.zip", &file).await;
        // Chungking Express is of another year here, and is meant.
        expect(&page.text, [9, 2, 1, 1, 1]);
        let changed = between(&page.text, "Changed on your list", "As before");
        assert!(
            changed.contains("Jaws 1975 Before: to watch Then: watched 6 / 10"),
            "{changed}"
        );
        let different = between(&page.text, "in the file than here", "</fieldset>");
        assert!(
            different.contains("Alien 1979 rating here: 7 in the file: 9"),
            "{different}"
        );
        assert!(
            page.text.contains("Not read: <bdi>profile.csv")
                && page.text.contains("Not read: <bdi>deleted/diary.csv")
        );
        assert!(!page.text.contains("anna@example.org"));
        // Nothing was written yet.
        assert_eq!(list(anna).await.len(), 3);
        let answer = confirm(
            anna,
            &address,
            &[("prefer", "here"), ("lists", "1"), ("add_missing", "1")],
        )
        .await;
        assert!(
            answer
                .text
                .contains("New on your list: 10. Changed: 2. As before: 1. Left out: 0."),
            "{}",
            answer.text
        );
        let after = list(anna).await;
        let expected = of_letterboxd();
        assert_eq!(after, expected);
        let (alien, fargo) = (details(anna, "Alien").await, details(anna, "Fargo").await);
        assert_eq!(alien, json!([["2023-04-30"], ["again", "cinema"]]));
        assert_eq!(fargo, json!([[], ["For a winter"]]));
        // The same archive once more changes nothing.
        let (address, page) = preview(anna, "letterboxd-anna.zip", &file).await;
        expect(&page.text, [0, 0, 13, 1, 0]);
        let answer = confirm(anna, &address, &[("prefer", "here"), ("lists", "1")]).await;
        assert!(
            answer
                .text
                .contains("New on your list: 0. Changed: 0. As before: 13."),
            "{}",
            answer.text
        );
        assert_eq!(list(anna).await, expected);
    }
}

#[tokio::test]
async fn trakts_json_is_imported_with_its_ratings() {
    let expected = films(json!([
        ["Alien", true, "2024-03-01", 9, null],
        ["The Wizard of Oz", true, "2023-05-01", null, null],
        ["Fargo", true, null, 7, null],
        ["Ran", false, null, null, null],
        ["Tokyo Story", false, null, null, "The restored one"],
    ]));
    let (_site, mut people) = Site::with_people(&["Anna"]).await;
    let anna = &mut people[0];
    let (address, page) = preview(anna, "trakt.zip", &archive("trakt", "anna/")).await;
    // The series are not known here.
    expect(&page.text, [6, 0, 0, 0, 5]);
    assert!(
        page.text.contains("neither film nor series: 2"),
        "{}",
        page.text
    );
    assert!(
        page.text.contains("1 film</legend>")
            || page
                .text
                .contains("1 film that only lists of your own name")
    );
    confirm(anna, &address, &[("lists", "0")]).await;
    assert_eq!(list(anna).await, expected);
    // Each file of it alone, as from the API of Trakt.
    let (_site, mut people) = Site::with_people(&["Anna"]).await;
    let anna = &mut people[0];
    for (name, numbers) in [
        ("watched-movies.json", [2, 0, 0, 0, 1]),
        ("watched-history-1.json", [0, 1, 0, 0, 1]),
        ("ratings-movies.json", [1, 1, 0, 0, 0]),
        ("lists-watchlist.json", [2, 0, 0, 0, 1]),
    ] {
        let file = fs::read(fixture("trakt").join(name)).unwrap();
        let (address, page) = preview(anna, name, &file).await;
        expect(&page.text, numbers);
        confirm(anna, &address, &[]).await;
    }
    assert_eq!(list(anna).await, expected);
    assert_eq!(details(anna, "Alien").await, json!([["2022-12-24"], []]));
}

#[tokio::test]
async fn imdbs_files_are_imported() {
    let (_site, mut people) = Site::with_people(&["Anna"]).await;
    let anna = &mut people[0];
    for (name, numbers) in [
        // Twin Peaks is rated; The Wire is to be watched.
        ("ratings.csv", [2, 0, 0, 0, 2]),
        ("watchlist.csv", [1, 0, 1, 0, 1]),
        ("old-list.csv", [1, 0, 1, 0, 0]),
    ] {
        let file = fs::read(fixture("imdb").join(name)).unwrap();
        let (address, page) = preview(anna, name, &file).await;
        expect(&page.text, numbers);
        let is_ratings = name == "ratings.csv";
        confirm(
            anna,
            &address,
            &[("add_missing", "1")][..usize::from(is_ratings)],
        )
        .await;
    }
    let expected = films(json!([
        ["Alien", true, "2024-03-01", 9, null],
        ["Chungking Express", true, "2023-05-05", 8, null],
        ["A Film of One's Own", true, "2023-05-06", 6, null],
        ["Ran", false, null, null, "Seen on a poster"],
        ["Amélie", true, null, 8, null],
        ["Twin Peaks", true, "2023-05-04", 10, null],
    ]));
    assert_eq!(list(anna).await, expected);
    // A film that is new here has what the file says of it.
    let found = anna
        .api("GET", "/films?q=film+of+one%27s+own", Value::Null)
        .await
        .json();
    let film = &found["films"][0];
    assert_eq!(
        (&film["minutes"], &film["people"]),
        (&json!(90), &json!(["A. Director", "B. Director"]))
    );
}

#[tokio::test]
async fn a_spreadsheet_of_latin_1_with_semicolons_is_imported() {
    let (_site, mut people) = Site::with_people(&["Anna"]).await;
    let anna = &mut people[0];
    let file = b"Title;Year;Rating;Watched Date;Note\r\nAm\xe9lie;2001;4,5;31.1.2026;\"sch\xf6n; und bunt\"\r\nMetropolis;;;;\r\nFargo;neunzehn;;;\r\n";
    let (address, page) = preview(anna, "Filme.csv", file).await;
    assert!(
        page.text
            .contains("Out of how many are the ratings in the column"),
        "{}",
        page.text
    );
    // Before that is answered, nothing is imported.
    let refused = confirm(anna, &address, &[]).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(list(anna).await.len(), 0);
    let page = answer(anna, &address, &[("column-0-2", "rating_5")]).await;
    expect(&page.text, [2, 0, 0, 1, 0]);
    assert!(
        page.text.contains("<bdi>Filme.csv</bdi>, line 4: ")
            && page.text.contains("should be a number"),
        "{}",
        page.text
    );
    confirm(anna, &address, &[]).await;
    let expected = films(json!([
        ["Amélie", true, "2026-01-31", 9, "schön; und bunt"],
        ["Metropolis", false, null, null, null],
    ]));
    assert_eq!(list(anna).await, expected);
}

#[tokio::test]
async fn days_of_a_film_on_the_list_are_joined_with_those_of_the_file() {
    let (_site, mut people) = Site::with_people(&["Anna"]).await;
    let anna = &mut people[0];
    let film = anna.film("alien").await;
    anna.make_token().await;
    let address = format!("/list/{film}");
    let said = json!({"watched": true, "watched_on": "2024-05-05"});
    anna.api("PUT", &address, said).await;
    let file = b"Name,Year,Watched Date\nAlien,1979,2023-1-1\nAlien,1979,2024-06-01T20:15:00Z\nJaws,1975,5 May 2024\n";
    let (form, page) = preview(anna, "diary.csv", file).await;
    expect(&page.text, [0, 1, 0, 0, 0]);
    assert!(
        page.text.contains("line 4: ") && page.text.contains("should be a day"),
        "{}",
        page.text
    );
    assert!(
        !page.text.contains("something else in the file"),
        "{}",
        page.text
    );
    confirm(anna, &form, &[]).await;
    let said = anna.api("GET", &address, Value::Null).await.json();
    assert_eq!(
        json!([said["watched_on"], said["earlier"]]),
        json!(["2024-06-01", ["2023-01-01", "2024-05-05"]])
    );
}

#[tokio::test]
async fn an_unclear_film_is_the_one_that_was_chosen() {
    let (_site, mut people) = Site::with_people(&["Anna"]).await;
    let anna = &mut people[0];
    for year in ["2008", "2009"] {
        anna.post(
            "/films/new",
            "/films/new",
            &[("title", "Home"), ("year", year)],
        )
        .await;
    }
    let file = b"Name,Year\nHome,\nAlien,1980\nJaws,1975\n";
    let (address, page) = preview(anna, "list.csv", file).await;
    // Alien is near enough to be taken, if the choice is left as it is.
    expect(&page.text, [2, 0, 0, 2, 0]);
    let options = between(&page.text, "name=\"film-0\"", "</select>");
    assert!(
        options.contains("Leave it out Home (2008) Home (2009) Another film"),
        "{options}"
    );
    let later = page
        .text
        .split("<option value=\"")
        .find(|option| option.contains("Home (2009)"));
    let later = later.unwrap()[..26].to_owned();
    confirm(anna, &address, &[("film-0", &later), ("film-1", "new")]).await;
    anna.make_token().await;
    let page = anna
        .api("GET", "/list?sort=title", Value::Null)
        .await
        .json();
    let found = page["films"].as_array().unwrap().iter();
    let found: Vec<Value> = found
        .map(|film| json!([film["title"], film["year"]]))
        .collect();
    assert_eq!(
        json!(found),
        json!([["Alien", 1980], ["Home", 2009], ["Jaws", 1975]])
    );
    // What nobody chose is left out, and a choice that was not offered too.
    let (address, page) = preview(anna, "list.csv", b"Name,Year\nHome,\n").await;
    let alien = anna.film("alien 1979").await;
    expect(&page.text, [0, 0, 0, 1, 0]);
    let answer = confirm(anna, &address, &[("film-0", &alien)]).await;
    assert!(
        answer
            .text
            .contains("New on your list: 0. Changed: 0. As before: 0. Left out: 1."),
        "{}",
        answer.text
    );
}

#[tokio::test]
async fn what_the_file_says_otherwise_is_taken_if_wanted() {
    let (_site, mut people) = Site::with_people(&["Anna"]).await;
    let anna = &mut people[0];
    anna.add(
        "alien",
        &[
            ("priority", "3"),
            ("watched", "1"),
            ("rating", "7"),
            ("note", "Here"),
        ],
    )
    .await;
    let file = b"Name,Year,Rating10,Note\nAlien,1979,9,There\n";
    for (prefer, rating, note) in [("here", 7, "Here"), ("file", 9, "There")] {
        let (address, page) = preview(anna, "list.csv", file).await;
        expect(&page.text, [0, 0, 1, 0, 0]);
        confirm(anna, &address, &[("prefer", prefer)]).await;
        let expected = films(json!([["Alien", true, null, rating, note]]));
        assert_eq!(list(anna).await, expected);
    }
}

#[tokio::test]
async fn an_import_is_done_once_and_only_by_its_user() {
    let (_site, mut people) = Site::with_people(&["Anna", "Ben"]).await;
    let file = b"Name,Year\nAlien,1979\n";
    let (address, _) = preview(&mut people[0], "list.csv", file).await;
    // Another user sees nothing of it.
    assert_eq!(people[1].get(&address).await.status, StatusCode::NOT_FOUND);
    let token = people[1].get("/import").await.field("token");
    let fields = [("token", token.as_str())];
    assert_eq!(
        people[1].post_as_is(&address, &fields).await.status,
        StatusCode::NOT_FOUND
    );
    // A form of another site is refused.
    let anna = &mut people[0];
    let answer = anna.post_as_is(&address, &[("token", "x")]).await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    let token = anna.get(&address).await.field("token");
    let fields = [("token", token.as_str())];
    let answer = anna.post_as_is(&address, &fields).await;
    assert!(
        answer.text.contains("New on your list: 1."),
        "{}",
        answer.text
    );
    // Undo takes all of it back.
    let (_, rest) = answer.text.split_once("/undo/").unwrap();
    anna.post_as_is(&format!("/undo/{}", &rest[..26]), &fields)
        .await;
    assert_eq!(list(anna).await.len(), 0);
    // A later file replaces an earlier one, and a cancelled one is gone.
    let (first, _) = preview(anna, "list.csv", file).await;
    let (second, _) = preview(anna, "list.csv", file).await;
    assert_eq!(anna.get(&first).await.status, StatusCode::NOT_FOUND);
    let answer = anna.post(&second, &format!("{second}/cancel"), &[]).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    assert_eq!(anna.get(&second).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn an_import_that_is_confirmed_again_changes_nothing_and_keeps_its_undo() {
    let (_site, mut people) = Site::with_people(&["Anna"]).await;
    let anna = &mut people[0];
    let file = b"Name,Year\nAlien,1979\nJaws,1975\n";
    let (address, page) = preview(anna, "list.csv", file).await;
    let token = page.field("token");
    let fields = [("token", token.as_str())];
    // A double click.
    let mut other = anna.clone();
    let (one, two) = tokio::join!(
        anna.post_as_is(&address, &fields),
        other.post_as_is(&address, &fields)
    );
    let undo = |answer: &Answer| {
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
        let counts = "New on your list: 2. Changed: 0. As before: 0. Left out: 0.";
        assert!(answer.text.contains(counts), "{}", answer.text);
        let (_, rest) = answer.text.split_once("/undo/").unwrap();
        rest[..26].to_owned()
    };
    let change = undo(&one);
    assert_eq!(undo(&two), change);
    // What was done since then stays.
    let alien = anna.film("alien").await;
    anna.post("/", &format!("/list/{alien}/remove"), &[]).await;
    let again = anna.post_as_is(&address, &fields).await;
    assert_eq!(undo(&again), change);
    assert_eq!(undo(&anna.get(&address).await), change);
    assert_eq!(list(anna).await.len(), 1);
    let cancelled = anna.post_as_is(&format!("{address}/cancel"), &fields).await;
    assert_eq!(cancelled.status, StatusCode::NOT_FOUND);
    anna.post_as_is(&format!("/undo/{change}"), &fields).await;
    assert_eq!(list(anna).await.len(), 0);
    // It offers no undo a second time, and imports nothing.
    let again = anna.post_as_is(&address, &fields).await;
    assert!(
        again.status == StatusCode::OK && !again.text.contains("/undo/"),
        "{}",
        again.text
    );
    assert_eq!(list(anna).await.len(), 0);
    let waits = anna.api("GET", "/export", Value::Null).await.json();
    assert_eq!(waits["import_waits"], json!(false), "{waits}");
}

#[tokio::test]
async fn all_reviews_of_a_film_are_in_its_note() {
    let head = "Date,Name,Year,Letterboxd URI,Rating,Rewatch,Review,Tags,Watched Date\n";
    let first =
        "2023-05-01,Alien,1979,https://boxd.it/l101,4,,\"Slow.\r\n\r\nGood.\",,2023-04-30\n";
    let second = "2024-03-02,Alien,1979,https://boxd.it/l102,5,Yes,Better.,,2024-03-01\n";
    let third = "2024-06-02,Alien,1979,https://boxd.it/l103,5,Yes,Better.,,2024-06-01\n";
    let all = "Slow.\n\nGood.\n\nBetter.";
    let expected = films(json!([["Alien", true, "2024-06-01", 10, all]]));
    let file = |rows: &[&str]| zipped([("reviews.csv", (head.to_owned() + &rows.concat()).into())]);
    for earlier in [&[first][..], &[second], &[]] {
        let (_site, mut people) = Site::with_people(&["Anna"]).await;
        let anna = &mut people[0];
        // An earlier export had some of the reviews.
        if !earlier.is_empty() {
            let (address, _) = preview(anna, "letterboxd.zip", &file(earlier)).await;
            confirm(anna, &address, &[]).await;
        }
        for round in 0..2 {
            let zip = file(&[first, second, third]);
            let (address, page) = preview(anna, "letterboxd.zip", &zip).await;
            assert!(
                !page.text.contains("note here"),
                "round {round}: {}",
                page.text
            );
            let fields = [("prefer", ["file", "here"][round])];
            confirm(anna, &address, &fields).await;
            assert_eq!(list(anna).await, expected, "round {round}");
        }
    }
    // What does not fit into a note is named.
    let (_site, mut people) = Site::with_people(&["Anna"]).await;
    let anna = &mut people[0];
    let long = second.replace("Better.", &"b".repeat(1995));
    let zip = file(&[first, &long]);
    let (address, page) = preview(anna, "letterboxd.zip", &zip).await;
    assert!(
        page.text.contains("reviews.csv</bdi>, line 5") && page.text.contains("2,000"),
        "{}",
        page.text
    );
    confirm(anna, &address, &[]).await;
    let note = list(anna).await["Alien"][3].as_str().unwrap().to_owned();
    assert!(note.starts_with("Slow.\n\nGood.\n\nbbb") && note.len() == 2000);
}

#[tokio::test]
async fn archives_that_are_too_large_are_refused() {
    let (_site, mut people) = Site::with_people(&["Anna"]).await;
    let anna = &mut people[0];
    let film = |text: &[u8]| ("watched.csv", [&b"Name,Year\n"[..], text].concat());
    let blanks = vec![b' '; 33 << 20];
    let bomb = zipped([film(&blanks)]);
    assert!(bomb.len() < 100_000, "{}", bomb.len());
    let names: Vec<String> = (0..5001).map(|at| format!("lists/{at}.csv")).collect();
    let many = zipped(names.iter().map(|name| (name.as_str(), Vec::new())));
    let mut cut = zipped([film(b"Alien,1979\n")]);
    cut.truncate(40);
    let rows: String = (0..20_001).map(|at| format!("A{at},1979\n")).collect();
    for (file, what) in [
        (bomb, "more than 32 MB"),
        (many, "more than 5,000 files"),
        (cut, "be unpacked"),
        (
            zipped([("notes.txt", b"nothing".to_vec())]),
            "no list as Letterboxd",
        ),
        (zipped([film(rows.as_bytes())]), "more than 20,000 films"),
        (b"[1, 2]".to_vec(), "not JSON with a list of films"),
        (b"{\"a\": [".to_vec(), "not JSON with a list of films"),
    ] {
        let answer = send(anna, "export.zip", &file, "").await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{what}");
        assert!(answer.text.contains(what), "{what}: {}", answer.text);
    }
}

#[tokio::test]
async fn the_api_previews_and_merges() {
    let (_site, mut people) = Site::with_people(&["Anna"]).await;
    let anna = &mut people[0];
    anna.add("alien", &[("priority", "3")]).await;
    anna.make_token().await;
    let file = archive("letterboxd", "");
    for (query, is_preview) in [("?preview=1", true), ("?preview=0&watched=false", false)] {
        let request = anna
            .request("POST", &format!("/api/v1/import{query}"))
            .header("content-type", "application/zip")
            .body(Body::from(file.clone()))
            .unwrap();
        let told = anna.send(request).await.json();
        assert_eq!(told["change"].is_null(), is_preview, "{told}");
        assert_eq!(
            (&told["added"], &told["changed"], &told["present"]),
            (&json!(11), &json!(1), &json!(0)),
            "{told}"
        );
        assert_eq!(told["missing"], json!(["A Film of One's Own (2011)"]));
        let count = if is_preview { 1 } else { 12 };
        assert_eq!(list(anna).await.len(), count);
    }
}
