//! Tests text in any script: it is shown in the correct order, and survives a CSV file.

use crate::client::{Client, PASSWORD, Site, WITHOUT_FILMS, new_database};
use inorder_watch::{
    db::{Database, entries, films, users},
    lists,
};
use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization;

/// A mark that is found again, behind a character that turns the order of what follows around.
const TURNED: &str = "\u{202e}mark\u{5d0}";

/// Elements whose content has a direction of its own, by themselves or by `dir`.
fn is_isolating(tag: &str) -> bool {
    tag.starts_with("bdi") || tag.contains("dir=\"auto\"")
}

/// The position of the mark in a page without isolation.
fn loose_marks(page: &str) -> (usize, Vec<String>) {
    let (mut open, mut loose, mut count): (Vec<String>, Vec<String>, usize) = Default::default();
    let isolated = format!("\u{2068}{TURNED}");
    for part in page.split('<').skip(1) {
        let (tag, text) = part.split_once('>').unwrap_or((part, ""));
        let name = tag
            .split([' ', '/'])
            .find(|name| !name.is_empty())
            .unwrap_or_default();
        if tag.starts_with('/') {
            let at = open
                .iter()
                .rposition(|tag| tag.split(' ').next() == Some(name))
                .expect("it was opened");
            open.truncate(at);
        } else if !matches!(name, "input" | "meta" | "link" | "img" | "br" | "!DOCTYPE") {
            open.push(tag.to_owned());
        }
        // Attributes that are shown or read out; `value` is shown in the direction of its element.
        for attribute in ["aria-label=\"", "title=\"", "placeholder=\"", "alt=\""] {
            let Some((_, rest)) = tag.split_once(attribute) else {
                continue;
            };
            let value = rest.split('"').next().unwrap();
            if value.contains(TURNED) {
                count += 1;
                if !value.contains(&isolated) {
                    loose.push(format!("<{tag}>"));
                }
            }
        }
        if name == "input"
            && tag.contains(TURNED)
            && !tag.contains("aria-label")
            && !tag.contains("type=\"hidden\"")
        {
            count += 1;
            if !is_isolating(tag) && !tag.contains("type=\"checkbox\"") {
                loose.push(format!("<{tag}>"));
            }
        }
        if text.contains(TURNED) {
            count += 1;
            if !open.iter().any(|tag| is_isolating(tag)) && !text.contains(&isolated) {
                loose.push(format!("<{tag}>{text}"));
            }
        }
    }
    (count, loose)
}

#[test]
fn loose_marks_are_seen() {
    for (page, count, loose) in [
        (format!("<p><bdi>{TURNED}</bdi></p>"), 1, 0),
        (format!("<p>{TURNED}</p>"), 1, 1),
        (format!("<p><bdi>x</bdi>{TURNED}</p>"), 1, 1),
        (format!("<a aria-label=\"Edit {TURNED}\">x</a>"), 1, 1),
        (
            format!("<a aria-label=\"Edit \u{2068}{TURNED}\u{2069}\">x</a>"),
            1,
            0,
        ),
        (format!("<input name=\"q\" value=\"{TURNED}\">"), 1, 1),
        (format!("<textarea dir=\"auto\">{TURNED}</textarea>"), 1, 0),
    ] {
        let (found, marks) = loose_marks(&page);
        assert_eq!((found, marks.len()), (count, loose), "{page}");
    }
}

/// Anna's list has a film of which everything is turned around, a note, and a token that is.
async fn turned(anna: &mut Client) -> String {
    let fields = [
        ("title", TURNED),
        ("year", "2001"),
        ("people", TURNED),
        ("genres", TURNED),
    ];
    let film = anna.post("/films/new", "/films/new", &fields).await;
    let film = film.header("location").to_owned();
    let save = film.replace("/films/", "/list/") + "/save";
    anna.post(
        &film,
        &save,
        &[("note", TURNED), ("priority", "5"), ("back", "/")],
    )
    .await;
    let named = [("name", TURNED), ("confirm", PASSWORD)];
    anna.post("/account", "/account/tokens", &named).await;
    film
}

#[tokio::test]
async fn whatever_people_write_is_isolated_on_every_page() {
    let (_site, mut people) = Site::with_people(&["Anna", "Ben"]).await;
    let film = turned(&mut people[0]).await;
    let mut ben = people[1].clone();
    let add = film.replace("/films/", "/list/") + "/add";
    let added = ben.post(&film, &add, &[("back", "/films?q=mark")]).await;
    assert!(added.header("location").starts_with("/films?q=mark"));
    let words = serde_urlencoded::to_string([("q", TURNED)]).unwrap();
    let nothing = serde_urlencoded::to_string([("q", format!("{TURNED} zzzzzz"))]).unwrap();
    let title = serde_urlencoded::to_string([("title", TURNED)]).unwrap();
    let guess =
        serde_urlencoded::to_string([("q", format!("casablnca{TURNED}").as_str())]).unwrap();
    let pages = [
        (0, "/".to_owned(), 6),
        (0, "/?done=saved".to_owned(), 7),
        (0, film.clone(), 5),
        (0, format!("{film}/change"), 3),
        (0, format!("/films?{words}"), 4),
        (0, format!("/films?{nothing}"), 1),
        (0, format!("/films?{guess}"), 1),
        (0, format!("/films/new?{title}"), 1),
        (0, "/account".to_owned(), 2),
        (0, "/tonight?with=Ben&pick=1".to_owned(), 3),
        (1, "/people/Anna".to_owned(), 3),
        (1, "/?done=added".to_owned(), 6),
        (1, film, 4),
    ];
    for (who, address, least) in pages {
        let page = people[who].get(&address).await.text;
        let (count, loose) = loose_marks(&page);
        assert!(loose.is_empty(), "{address}: {loose:#?}");
        assert!(count >= least, "{address}: only {count} marks\n{page}");
    }
}

#[tokio::test]
async fn titles_without_anything_to_see_are_refused() {
    let (_site, mut people) = Site::with_people(&["Anna"]).await;
    people[0].make_token().await;
    for text in [
        "\u{200b}",
        " \u{feff}\u{2060}",
        "\u{202e}\u{202c}",
        "\u{3164}",
        "\u{2800}",
        "\u{301}",
        "\u{ad}",
    ] {
        let answer = people[0]
            .post("/films/new", "/films/new", &[("title", text)])
            .await;
        assert!(
            answer.text.contains("A film needs a title"),
            "{text:?}: {}",
            answer.text
        );
        let answer = people[0]
            .api("POST", "/films", serde_json::json!({"title": text}))
            .await;
        assert_eq!(answer.status, 422, "{text:?}");
        let answer = people[0]
            .post("/account", "/account/tokens", &[("name", text)])
            .await;
        assert!(
            answer.text.contains("Name the token"),
            "{text:?}: {}",
            answer.text
        );
        let csv = format!("Name\nAlien\n\"{text}\"\n");
        let reading = lists::read("list.csv", csv.as_bytes(), &lists::Answers::default()).unwrap();
        assert_eq!(
            (reading.rows.len(), reading.problems.len()),
            (1, 1),
            "{text:?}"
        );
        let film = people[0].add("alien", &[("note", text)]).await;
        assert!(
            !people[0].get("/").await.text.contains("class=\"note\""),
            "{film}"
        );
    }
}

/// A database with this person and no films.
fn database(folder: &tempfile::TempDir, name: &str) -> Database {
    let db = new_database(&folder.path().join(name), &WITHOUT_FILMS);
    db.write_now(|db| users::add(db, "Anna", None)).unwrap();
    db
}

/// Text of any kind, with what CSV, spreadsheets and Unicode make difficult more often than by chance.
fn text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        4 => any::<char>().prop_map(String::from),
        2 => "[a-zA-Z0-9]{1,3}",
        2 => prop::sample::select(vec![
            "=", "+", "-", "@", "'", "\"", "\"\"", ",", ";", "\t", "\n", "\r\n", "\r", " ", "\u{a0}", "\u{feff}", "\u{200b}", "e\u{301}", "é",
            "\u{301}", "Å", "A\u{30a}", "Å", "ﬁ", "ß", "ẞ", "İ", "ı", "=1+1", "'=x", "＝", "\u{202e}", "\u{2068}", "\u{0}", "\u{85}", "\u{2028}",
            "The ", ", The", " II", "2", "&", "가", "か\u{3099}", "が", "🧑\u{200d}🚀",
        ]).prop_map(str::to_owned),
    ];
    prop::collection::vec(part, 1..8).prop_map(|parts| parts.concat())
}

/// A film of a list: title, year and note.
type Row = (String, Option<i64>, String);

/// Rows, of which some are told from others of the same year by the case or the encoding of their titles alone.
fn rows() -> impl Strategy<Value = Vec<Row>> {
    let alike = |title: &str, how: usize| match how {
        1 => title.to_uppercase(),
        2 => title.to_lowercase(),
        3 => title.nfd().collect(),
        4 => title.nfc().collect(),
        5 => title
            .nfd()
            .filter(|c| !('\u{300}'..'\u{370}').contains(c))
            .collect(),
        _ => format!("The {title}"),
    };
    let row = (
        text(),
        prop::option::of(1900i64..2030),
        text(),
        prop::collection::vec(1usize..8, 0..3),
    );
    let row = row.prop_map(move |(title, year, note, others)| {
        let others = others
            .into_iter()
            .map(|how| (alike(&title, how), year, format!("{note}{how}")));
        others
            .chain([(title.clone(), year, note.clone())])
            .collect::<Vec<Row>>()
    });
    prop::collection::vec(row, 1..4).prop_map(|rows| rows.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn any_titles_and_notes_survive_their_csv(rows in rows()) {
        let folder = tempfile::tempdir().unwrap();
        let db = database(&folder, "one.db");
        let csv = db.write_now(move |db| {
            let mut named = std::collections::HashSet::new();
            for (title, year, note) in rows {
                let facts = films::Facts { title, year, ..Default::default() };
                let Ok(facts) = facts.checked() else { continue };
                // A CSV file identifies one film per title and year.
                if !named.insert((facts.title.clone(), year)) { continue }
                let number = films::insert(db, &facts, None)?;
                let state = entries::State { note: Some(note), ..Default::default() };
                entries::put(db, 1, number, state)?;
            }
            let all = entries::all(db, 1)?;
            let csv = lists::csv(&all)?;
            // To the same films of the same site,
            let ben = users::add(db, "Ben", None)?;
            let imported = import(db, &ben, &csv, false)?;
            assert_eq!((imported.missing, imported.unclear), (vec![], vec![]));
            assert_eq!(said(db, ben.number), said(db, 1));
            Ok((csv, said(db, 1)))
        });
        let (csv, before) = csv.unwrap();
        // and to one that has none of them.
        let fresh = database(&folder, "other.db");
        let after = fresh.write_now(move |db| {
            let anna = users::by_name(db, "Anna")?;
            import(db, &anna, &csv, true)?;
            Ok(said(db, 1))
        });
        prop_assert_eq!(after.unwrap(), before);
    }
}

/// Imports a list as CSV.
fn import(
    db: &rusqlite::Connection,
    user: &users::User,
    csv: &[u8],
    add_missing: bool,
) -> inorder_watch::Result<lists::Imported> {
    let reading = lists::read("list.csv", csv, &lists::Answers::default())?;
    assert!(reading.problems.is_empty(), "{:?}", reading.problems);
    let mut found = lists::Found::default();
    found.find(db, &reading.rows)?;
    let choices = lists::Choices {
        add_missing,
        ..Default::default()
    };
    Ok(lists::apply(db, user, found, &choices)?.1)
}

/// Titles, years and notes of a list.
fn said(db: &rusqlite::Connection, user: i64) -> Vec<(String, Option<i64>, Option<String>)> {
    let all = entries::all(db, user).unwrap().into_iter();
    let mut said: Vec<_> = all
        .map(|entry| {
            (
                entry.film.facts.title,
                entry.film.facts.year,
                entry.state.note,
            )
        })
        .collect();
    said.sort();
    said
}

#[tokio::test]
async fn a_name_that_looks_like_another_one_is_refused() {
    let (site, mut people) = Site::with_people(&["Anna", "Coco", "Елена"]).await;
    let sign_up = |name: &'static str| {
        let db = site.app.db();
        db.write_now(move |db| users::sign_up(db, name, None))
    };
    for name in [
        "anna",
        "ANNA",
        "\u{410}nna",
        "Ann\u{430}",
        "\u{391}nna",
        "Ａｎｎａ",
        "𝐀nna",
        "Anna\u{200b}",
        // Of one alphabet, and as the name of another user.
        "\u{421}\u{43e}\u{441}\u{43e}",
        "C0co",
        "Coc\u{39f}",
        // Of two alphabets, and as nobody's name so far.
        "Peter\u{43e}",
        "Еlenа",
    ] {
        assert!(sign_up(name).is_err(), "{name:?}");
    }
    for name in ["Анна", "Ёж", "山田", "Ben"] {
        sign_up(name).unwrap();
    }
    // Also by the page.
    let invitation = people[0].invitation().await;
    let refused = site.visitor().sign_up(&invitation, "\u{410}nna").await;
    assert!(
        refused.text.contains("letters of one alphabet"),
        "{}",
        refused.text
    );
}
