//! Tests the search: every title is found by its own text.

use crate::client::Site;
use inorder_watch::{
    Result, date,
    db::{
        Database,
        films::Film,
        find::{self, Query},
    },
    films::{import, source::Source},
};
use rusqlite::Connection;
use unicode_normalization::UnicodeNormalization;

/// Titles with all that titles have: with their years, and what people type for them.
const FILMS: &[(&str, i64, &[&str])] = &[
    ("M", 1931, &["m 1931"]),
    ("Z", 1969, &["z"]),
    ("It", 2017, &["it (2017)"]),
    ("It", 1990, &["1990 it", "it 1990"]),
    ("Up", 2009, &[]),
    ("Her", 2013, &["her"]),
    ("TÁR", 2022, &["tar", "Tár", "TAR"]),
    ("$", 1971, &["$"]),
    ("???", 1999, &["???"]),
    ("…", 2001, &["..."]),
    ("!Women Art Revolution", 2010, &["women art revolution"]),
    ("A", 1998, &["a"]),
    ("The", 2001, &["the 2001"]),
    (
        "Alien",
        1979,
        &["alien 1979", "alien (1979)", "1979 alien", "ALIEN, 1979"],
    ),
    ("Aliens", 1986, &["aliens"]),
    ("Alien 3", 1992, &["alien iii", "alien three"]),
    (
        "Spider-Man",
        2002,
        &["spiderman", "spider man", "spider‐man 2002"],
    ),
    ("Spider-Man 2", 2004, &["spiderman 2", "spiderman ii"]),
    (
        "Spider-Man: Into the Spider-Verse",
        2018,
        &["spiderman into the spiderverse", "spiderman into"],
    ),
    ("WALL·E", 2008, &["walle", "wall-e", "wall e", "WALL•E"]),
    (
        "The Godfather",
        1972,
        &[
            "godfather",
            "the godfather",
            "godfather 1",
            "godfather part one",
        ],
    ),
    (
        "The Godfather Part II",
        1974,
        &[
            "godfather part 2",
            "the godfather 2",
            "godfather ii",
            "godfather part two",
            "Godfather: Part II",
        ],
    ),
    ("The Godfather Part III", 1990, &["godfather 3"]),
    (
        "Kill Bill: Vol. 2",
        2004,
        &["kill bill 2", "kill bill volume 2"],
    ),
    (
        "Harry Potter and the Deathly Hallows – Part 2",
        2011,
        &["harry potter and the deathly hallows part ii"],
    ),
    ("Rocky IV", 1985, &["rocky 4"]),
    ("Malcolm X", 1992, &["malcolm x", "malcolm 10"]),
    ("X-Men", 2000, &["xmen", "x men"]),
    ("I, Robot", 2004, &["i robot"]),
    ("Se7en", 1995, &["se7en"]),
    ("Seven", 1979, &["seven", "7"]),
    (
        "Ocean's Eleven",
        2001,
        &["oceans eleven", "oceans 11", "ocean’s 11"],
    ),
    ("'71", 2014, &["71"]),
    ("Fast & Furious", 2009, &["fast & furious 2009"]),
    ("Fast and Furious", 1954, &["fast and furious 1954"]),
    ("Amélie", 2001, &["amelie", "AMELIE"]),
    ("Ame\u{301}lie", 2011, &["amelie 2011"]),
    ("Crème brûlée", 2003, &["creme brulee"]),
    ("Smørrebrød & Øl", 2007, &["smorrebrod and ol"]),
    (
        "Straße der Sehnsucht",
        1955,
        &["strasse der sehnsucht", "STRASSE DER SEHNSUCHT"],
    ),
    ("Łódź", 1960, &["lodz"]),
    ("İstanbul", 2011, &["istanbul"]),
    ("ΟΔΟΣ", 1970, &["οδος", "οδός"]),
    ("Ирония судьбы", 1976, &["ирония судьбы", "ИРОНИЯ"]),
    ("千と千尋の神隠し", 2001, &["千と千尋"]),
    ("バトル・ロワイアル", 2000, &["バトルロワイアル"]),
    ("기생충", 2019, &["기생"]),
    ("वीर-ज़ारा", 2004, &["वीर ज़ारा"]),
    ("ไททานิค", 1997, &[]),
    ("كفرناحوم", 2018, &["كفر"]),
    ("כנפיים שבורות", 2002, &[]),
    (
        "2001: A Space Odyssey",
        1968,
        &["2001 a space odyssey", "2001: a space odyssey 1968"],
    ),
    ("1917", 2019, &["1917", "1917 2019"]),
    ("1984", 1984, &["1984", "1984 1984"]),
    (
        "Blade Runner 2049",
        2017,
        &[
            "blade runner 2049",
            "bladerunner 2049",
            "blade runner 2049 2017",
        ],
    ),
    (
        "Blade Runner",
        1982,
        &["blade runner", "bladerunner", "blade runner 1982"],
    ),
    ("8½", 1963, &["8 1/2"]),
    ("S.W.A.T.", 2003, &["swat"]),
    (
        "Good, the Bad and the Ugly, The",
        1966,
        &["the good the bad and the ugly"],
    ),
    (
        "E.T. the Extra-Terrestrial",
        1982,
        &["et the extra terrestrial"],
    ),
    ("Dr. Strangelove", 1964, &["dr strangelove"]),
    (
        "Mission: Impossible – Fallout",
        2018,
        &["mission impossible fallout"],
    ),
    (
        "Borat: Cultural Learnings of America for Make Benefit Glorious Nation of Kazakhstan, and One More Part of Words",
        2006,
        &["borat"],
    ),
    ("\u{202e}Reversed\u{202c}", 2020, &["reversed"]),
    ("Zero\u{200b}Width", 2021, &["zerowidth"]),
    ("❤\u{fe0f}", 2015, &["❤"]),
];

/// These films among others that begin with the same words, or have them somewhere.
fn films() -> (tempfile::TempDir, Database) {
    let folder = tempfile::tempdir().unwrap();
    let db = Database::open(&folder.path().join("watch.db")).unwrap();
    let mut lines = String::new();
    let mut add = |title: &str, year: i64| {
        lines += &serde_json::json!({"title": title, "year": year}).to_string();
        lines.push('\n');
    };
    // More than are shown at once, all shorter and older than what is looked for.
    for i in 0..80 {
        for (title, _, _) in FILMS {
            let word = title.split(' ').next_back().unwrap_or(title);
            add(&format!("{title} {word} {i}x"), 1900 + i);
            add(&format!("Of {title} {i}x"), 1900 + i);
        }
    }
    for (title, year, _) in FILMS {
        add(title, *year);
    }
    let lines: &'static str = lines.leak();
    import::import(&db, Source::of_text(lines).unwrap(), |_| ()).unwrap();
    (folder, db)
}

fn first(db: &Connection, text: &str) -> Result<Option<Film>> {
    let query = Query {
        text: text.to_owned(),
        ..Query::default()
    };
    Ok(find::find(db, &query)?.films.into_iter().next())
}

/// Whether two titles are the same but for their case and for how accents are encoded.
fn same(one: &str, other: &str) -> bool {
    let fold = |text: &str| text.nfd().flat_map(char::to_lowercase).collect::<String>();
    fold(one) == fold(other)
}

#[test]
fn every_film_is_the_first_for_its_title_and_for_its_title_and_year() {
    let (_folder, db) = films();
    let mut wrong = Vec::new();
    let mut look = |db: &Connection, text: &str, title: &str, year: Option<i64>| {
        let found = first(db, text)?.map(|film| (film.facts.title, film.facts.year));
        // A film of the same title is as good where the year isn't said.
        let is_it = found.as_ref().is_some_and(|found| {
            same(&found.0, title) && year.is_none_or(|year| found.1 == Some(year))
        });
        if !is_it {
            wrong.push(format!("{text:?} for {title:?}, {year:?}: {found:?}"));
        }
        Ok::<_, inorder_watch::Error>(())
    };
    db.read(|db| {
        for (title, year, typed) in FILMS {
            for text in [
                (*title).to_owned(),
                title.to_uppercase(),
                title.to_lowercase(),
                format!("  {title} "),
            ] {
                look(db, &text, title, None)?;
            }
            for text in [
                format!("{title} {year}"),
                format!("{title} ({year})"),
                format!("{} {year}", title.to_lowercase()),
            ] {
                look(db, &text, title, Some(*year))?;
            }
            for text in *typed {
                let is_dated =
                    text.contains(&year.to_string()) && !title.contains(&year.to_string());
                look(db, text, title, is_dated.then_some(*year))?;
            }
        }
        Ok(())
    })
    .unwrap();
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn a_title_is_found_within_its_genre_and_decade_only() {
    let site = Site::new(Default::default());
    let find = |text: &str, genre: Option<&str>, decade: Option<i64>| {
        let query = Query {
            text: text.to_owned(),
            genre: genre.map(str::to_owned),
            decade,
            kind: None,
            page: 0,
        };
        let found = site.app.db().read(|db| find::find(db, &query)).unwrap();
        let films = if found.is_guess {
            Vec::new()
        } else {
            found.films
        };
        films
            .into_iter()
            .map(|film| film.facts.title)
            .collect::<Vec<_>>()
    };
    assert_eq!(find("alien", Some("Horror"), Some(1970)), ["Alien"]);
    assert_eq!(find("alien", Some("Comedy"), None), Vec::<String>::new());
    assert_eq!(find("alien", None, Some(1980)), Vec::<String>::new());
    assert_eq!(find("ali", Some("Horror"), None), ["Alien"]);
}

/// Films of a frequent genre are read in another way than those of a rare one.
#[test]
fn films_of_a_genre_come_newest_first_however_many_there_are() {
    let site = Site::new(Default::default());
    let rows = (0..10_400u32).map(|film| {
        let (year, rare) = (1900 + film * 37 % 120, film % 100 == 7);
        let genres = if rare {
            r#""Silent Film""#
        } else {
            r#""Space Opera","Drama""#
        };
        format!("{{\"title\":\"Number {film}\",\"year\":{year},\"genres\":[{genres}]}}\n")
    });
    let rows: String = rows.collect();
    import::import(site.app.db(), Source::of_text(rows.leak()).unwrap(), |_| ()).unwrap();
    let all = |db: &Connection| -> Result<Vec<(String, Option<i64>, String)>> {
        let sql = "SELECT title, year, genres FROM film ORDER BY year DESC, number DESC";
        let mut statement = db.prepare(sql)?;
        let films = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        Ok(films.collect::<rusqlite::Result<_>>()?)
    };
    let films = site.app.db().read(all).unwrap();
    for (genre, stored) in [
        ("Space Opera", "Space Opera"),
        ("opera", "Space Opera"),
        ("silent film", "Silent Film"),
    ] {
        for decade in [None, Some(1990)] {
            let is_within = |year: Option<i64>| {
                decade.is_none_or(|decade| year.is_some_and(|year| year / 10 * 10 == decade))
            };
            let expected: Vec<&str> = films
                .iter()
                .filter(|(_, year, genres)| genres.contains(stored) && is_within(*year))
                .map(|(title, ..)| title.as_str())
                .collect();
            assert!(expected.len() > 5);
            for page in 0..3 {
                let query = Query {
                    genre: Some(genre.to_owned()),
                    decade,
                    page,
                    ..Query::default()
                };
                let found = site.app.db().read(|db| find::find(db, &query)).unwrap();
                let titles: Vec<&str> = found.films.iter().map(|film| &*film.facts.title).collect();
                let rest = expected.get(60 * page..).unwrap_or_default();
                let what = format!("{genre} {decade:?} {page}");
                assert_eq!(titles, rest[..rest.len().min(60)], "{what}");
                assert_eq!(found.has_more, rest.len() > 60, "{what}");
            }
        }
    }
}

#[test]
fn a_year_that_is_one_off_finds_the_film_after_those_of_that_year() {
    let site = Site::new(Default::default());
    let find = |text: &str| {
        site.app
            .db()
            .read(|db| first(db, text))
            .unwrap()
            .map(|film| (film.facts.title, film.facts.year))
    };
    let alien = Some(("Alien".to_owned(), Some(1979)));
    assert_eq!(
        [find("alien 1978"), find("Alien (1980)")],
        [alien.clone(), alien.clone()]
    );
    assert_ne!(find("alien 1985"), alien);
    let remake = "{\"title\":\"Alien\",\"year\":1980}\n";
    import::import(site.app.db(), Source::of_text(remake).unwrap(), |_| ()).unwrap();
    assert_eq!(find("alien 1979"), alien);
    assert_eq!(find("alien 1980").unwrap().1, Some(1980));
}

#[test]
fn a_corrected_title_is_found_and_the_old_one_is_not() {
    let site = Site::new(Default::default());
    site.app
        .db()
        .write_now(|db| {
            use inorder_watch::db::{films, users};
            let anna = users::add(db, "Anna", None)?;
            let facts = |title: &str| films::Facts {
                title: title.to_owned(),
                ..Default::default()
            };
            let film = films::add(db, facts("Qwertz"), &anna)?;
            films::change(db, film.id, facts("Qwerty II"), &anna)?;
            assert_eq!(
                first(db, "qwerty 2")?.map(|film| film.number),
                Some(film.number)
            );
            assert!(find::by_title(db, "Qwertz", None)?.is_none());
            films::remove(db, film.id, &anna)?;
            assert!(find::by_title(db, "Qwerty II", None)?.is_none());
            let left: i64 = db.query_row(
                "SELECT count(*) FROM film_key WHERE film = ?1",
                [film.number],
                |row| row.get(0),
            )?;
            assert_eq!(left, 0);
            Ok(())
        })
        .unwrap();
}

/// The titles of a page of results.
fn page(db: &Connection, text: &str, page: usize) -> Result<(Vec<String>, bool)> {
    let query = Query {
        text: text.to_owned(),
        page,
        ..Query::default()
    };
    let found = find::find(db, &query)?;
    let titles = found.films.into_iter().map(|film| film.facts.title);
    Ok((titles.collect(), found.has_more && !found.is_guess))
}

/// A database with the films of these lines.
fn with(lines: String) -> (tempfile::TempDir, Database) {
    let folder = tempfile::tempdir().unwrap();
    let db = Database::open(&folder.path().join("watch.db")).unwrap();
    import::import(&db, Source::of_text(lines.leak()).unwrap(), |_| ()).unwrap();
    (folder, db)
}

#[test]
fn a_film_is_found_by_its_original_title_and_its_director() {
    let lines = r#"{"title": "Spirited Away", "original_title": "千と千尋の神隠し", "year": 2001, "directors": ["Hayao Miyazaki"]}
{"title": "The Lives of Others", "original_title": "Das Leben der Anderen", "year": 2006, "directors": ["Florian Henckel"], "cast": ["Ulrich Mühe"]}
{"title": "Das Leben", "year": 2006}
"#;
    let (_folder, db) = with(lines.to_owned());
    db.read(|db| {
        for (text, title) in [
            ("das leben der anderen", "The Lives of Others"),
            ("Leben der Anderen 2006", "The Lives of Others"),
            ("anderen", "The Lives of Others"),
            ("das leben der andern", "The Lives of Others"),
            ("das leben", "Das Leben"),
            ("henckel", "The Lives of Others"),
            ("miyazaki 2001", "Spirited Away"),
            ("千と千尋の神隠し", "Spirited Away"),
        ] {
            let found = first(db, text)?.map(|film| film.facts.title);
            assert_eq!(found.as_deref(), Some(title), "{text}");
        }
        let film = first(db, "lives of others")?.unwrap();
        assert_eq!(
            film.facts.original.as_deref(),
            Some("Das Leben der Anderen")
        );
        assert_eq!(film.facts.people, ["Florian Henckel", "Ulrich Mühe"]);
        Ok(())
    })
    .unwrap();
}

#[test]
fn a_part_of_a_title_without_blanks_is_found() {
    let lines = r#"{"title": "千と千尋の神隠し", "year": 2001}
{"title": "Parasite", "original_title": "기생충", "year": 2019}
{"title": "ไททานิค", "year": 1997}
{"title": "バトル・ロワイアル", "year": 2000}
{"title": "神々の深き欲望", "year": 1968}
{"title": "Alien", "year": 1979}
"#;
    let (_folder, db) = with(lines.to_owned());
    db.read(|db| {
        for (text, titles) in [
            ("神隠し", &["千と千尋の神隠し"][..]),
            ("千尋", &["千と千尋の神隠し"]),
            ("し", &["千と千尋の神隠し"]),
            // What begins with it comes first.
            ("神", &["神々の深き欲望", "千と千尋の神隠し"]),
            ("ロワ", &["バトル・ロワイアル"]),
            ("ルロワ", &["バトル・ロワイアル"]),
            ("생충", &["Parasite"]),
            ("ทานิค", &["ไททานิค"]),
            ("隠神", &[]),
            ("lien", &[]),
        ] {
            let (found, _) = page(db, text, 0)?;
            let is_guess = text == "lien";
            assert!(is_guess || found == titles, "{text}: {found:?}");
        }
        // The filters hold for it too.
        let query = Query {
            text: "神".to_owned(),
            decade: Some(2000),
            ..Query::default()
        };
        assert_eq!(find::find(db, &query)?.films.len(), 1);
        Ok(())
    })
    .unwrap();
}

#[test]
fn the_newest_films_come_first_and_announced_ones_after_them() {
    let this_year: i64 = date::day(date::now_ms().unsigned_abs())[..4]
        .parse()
        .unwrap();
    let mut lines = String::new();
    for (title, year) in [
        ("Old", Some(1950)),
        ("Announced", Some(this_year + 2)),
        ("New", Some(this_year)),
        ("Newer", Some(this_year)),
        ("Some day", None),
        ("Last", Some(this_year - 1)),
    ] {
        lines += &format!("{}\n", serde_json::json!({"title": title, "year": year}));
    }
    let (_folder, db) = with(lines);
    // Of one year the film comes first that was added last.
    db.write_now(move |db| {
        let facts = |title: &str| inorder_watch::db::films::Facts {
            title: title.to_owned(),
            year: Some(this_year),
            ..Default::default()
        };
        inorder_watch::db::films::insert(db, &facts("Newest"), None)?;
        let (found, _) = page(db, "", 0)?;
        assert_eq!(found[0], "Newest");
        let mut same_year = found[1..3].to_vec();
        same_year.sort();
        assert_eq!(same_year, ["New", "Newer"]);
        assert_eq!(found[3..], ["Last", "Old", "Announced", "Some day"]);
        Ok(())
    })
    .unwrap();
}

#[test]
fn every_film_is_on_one_page() {
    let mut lines = String::new();
    for i in 0..150 {
        let (title, year) = (format!("Star {i}"), 1900 + i % 100);
        let people = ["Ann Star"];
        let film = serde_json::json!({"title": title, "year": year, "people": people, "genres": ["Drama"]});
        lines += &format!("{film}\n");
    }
    let (_folder, db) = with(lines);
    db.read(|db| {
        for text in ["star", "", "ann", "drama star", "st"] {
            let mut all = std::collections::HashSet::new();
            for (at, count, more) in [(0, 60, true), (1, 60, true), (2, 30, false), (3, 0, false)] {
                let (found, has_more) = page(db, text, at)?;
                assert_eq!(
                    (found.len(), has_more),
                    (count, more),
                    "{text:?}, page {at}"
                );
                all.extend(found);
            }
            assert_eq!(all.len(), 150, "{text:?}");
        }
        Ok(())
    })
    .unwrap();
}

#[tokio::test]
async fn pages_lead_to_each_other() {
    let (site, mut people) = Site::with_people(&["Anna"]).await;
    let anna = &mut people[0];
    let mut lines = String::new();
    for i in 0..70 {
        lines += &format!("{{\"title\": \"Star {i}\", \"year\": 1990, \"genres\": [\"Stars\"]}}\n");
    }
    import::import(
        site.app.db(),
        Source::of_text(lines.leak()).unwrap(),
        |_| (),
    )
    .unwrap();
    let first = anna.get("/films?q=star&genre=Stars").await.text;
    assert!(first.contains("Results 1 to 60, the best first"), "{first}");
    assert!(
        first.contains("href=\"/films?q=star&amp;genre=Stars&amp;page=2\" rel=\"next\""),
        "{first}"
    );
    assert!(!first.contains("rel=\"prev\""));
    let second = anna.get("/films?q=star&genre=Stars&page=2").await.text;
    assert!(
        second.contains("Results 61 to 70, the best first"),
        "{second}"
    );
    assert!(second.contains("page=1\" rel=\"prev\"") && !second.contains("rel=\"next\""));
    for page in ["0", "99", "18446744073709551615"] {
        let answer = anna.get(&format!("/films?q=star&page={page}")).await;
        assert_eq!(answer.status, 200, "{page}");
    }
}

#[test]
fn a_word_of_very_many_films_finds_those_that_have_the_other_words_too() {
    let folder = tempfile::tempdir().unwrap();
    let db = Database::open(&folder.path().join("watch.db")).unwrap();
    let titles = |db: &Connection, text: &str| {
        let query = Query {
            text: text.to_owned(),
            ..Query::default()
        };
        let found = find::find(db, &query)?;
        let titles = found.films.iter().map(|film| film.facts.title.clone());
        Ok::<_, inorder_watch::Error>((titles.collect::<Vec<_>>(), found.has_more, found.is_guess))
    };
    db.write_now(move |db| {
        use inorder_watch::db::films;
        let facts = |title: String, person: &str| films::Facts {
            title,
            people: vec![person.to_owned()],
            ..films::Facts::default()
        };
        for number in 0..10_050 {
            films::insert(db, &facts(format!("Love {number}"), "Nobody"), None)?;
        }
        films::insert(
            db,
            &facts("A Glove in Manhattan".to_owned(), "Ingrid Love"),
            None,
        )?;
        films::insert(
            db,
            &facts("Lovely Love in Manhattan".to_owned(), "Nobody"),
            None,
        )?;
        let both = ["Lovely Love in Manhattan", "A Glove in Manhattan"];
        assert_eq!(titles(db, "love manhat")?.0, both);
        assert_eq!(titles(db, "manhattan love")?.0, both);
        let (many, has_more, is_guess) = titles(db, "love")?;
        assert_eq!((many.len(), has_more, is_guess), (60, true, false));
        assert!(
            many.iter().all(|title| title.starts_with("Love ")),
            "{many:?}"
        );
        // Words of films that were added since are known to the spelling.
        let (found, _, is_guess) = titles(db, "love manhatten")?;
        assert_eq!((found, is_guess), (both.map(str::to_owned).to_vec(), true));
        Ok(())
    })
    .unwrap();
}

/// Films whose titles are remembered with an error and with another spelling of their number.
#[test]
fn a_misspelled_title_with_a_number_finds_its_film() {
    use inorder_watch::db::films::{self, Facts};
    let site = Site::new(Default::default());
    let titles = [
        "The Godfather",
        "The Godfather Part II",
        "The Godfather Part III",
        "Star Trek: The Motion Picture",
        "Star Trek II: The Wrath of Khan",
        "Star Trek III: The Search for Spock",
        "Rocky",
        "Rocky II",
        "Rocky III",
        "Rocky IV",
        "Rocky V",
        "Terminator 2: Judgment Day",
        "Alien 3",
        "Toy Story 2",
        "Twelve Monkeys",
        // Words near to the misspelled ones.
        "Trees of Rock",
        "Rock the Trec",
        "Story of a Toyshop",
    ];
    site.app
        .db()
        .write_now(move |db| {
            for title in titles {
                let facts = Facts {
                    title: title.to_owned(),
                    ..Facts::default()
                };
                films::insert(db, &facts, None)?;
            }
            Ok(())
        })
        .unwrap();
    for (typed, title) in [
        ("godfater 2", "The Godfather Part II"),
        ("godfather 2", "The Godfather Part II"),
        ("godfahter two", "The Godfather Part II"),
        ("the godfater part 3", "The Godfather Part III"),
        ("star trec 2", "Star Trek II: The Wrath of Khan"),
        ("star trak ii", "Star Trek II: The Wrath of Khan"),
        ("rockey 4", "Rocky IV"),
        ("roky iv", "Rocky IV"),
        ("rokcy four", "Rocky IV"),
        ("terminatr two", "Terminator 2: Judgment Day"),
        ("alein iii", "Alien 3"),
        ("toy stroy ii", "Toy Story 2"),
        ("12 monkys", "Twelve Monkeys"),
    ] {
        let query = Query {
            text: typed.to_owned(),
            ..Query::default()
        };
        let found = site.app.db().read(|db| find::find(db, &query)).unwrap();
        let first = found.films.first().map(|film| film.facts.title.as_str());
        assert_eq!(first, Some(title), "{typed}");
    }
}
