//! Finding films, and bringing them in.

use crate::client::Site;
use inorder_watch::{
    db::{
        films,
        find::{self, Query},
    },
    films::{import, source::Source},
};
use serde_json::json;
use std::io::Write;

fn find(site: &Site, text: &str, genre: Option<&str>, decade: Option<i64>) -> (Vec<String>, bool) {
    let query = Query {
        text: text.to_owned(),
        genre: genre.map(str::to_owned),
        decade,
        kind: None,
        page: 0,
    };
    let found = site.app.db().read(|db| find::find(db, &query)).unwrap();
    (
        found
            .films
            .into_iter()
            .map(|film| film.facts.title)
            .collect(),
        found.is_guess,
    )
}

#[test]
fn films_are_found_by_what_is_typed() {
    let site = Site::new(Default::default());
    for (text, first) in [
        ("ali", "Alien"),
        ("alien", "Alien"),
        ("the godf", "The Godfather"),
        ("m", "M"),
        ("amelie", "Amélie"),
        ("1979 horror", "Alien"),
        ("weaver ghost", "Ghostbusters"),
        ("dr strangelove", "Dr. Strangelove"),
        ("2001 space", "2001: A Space Odyssey"),
        ("psycho", "Psycho"),
        ("casablnca", "Casablanca"),
        ("gladys casablanka", ""),
        ("hitchhiker zzz", ""),
        ("shindler list", "Schindler's List"),
        ("princess monnoke", "Princess Mononoke"),
        ("humphry bogart casab", "Casablanca"),
    ] {
        let (titles, _) = find(&site, text, None, None);
        assert_eq!(
            titles.first().map_or("", |title| title),
            first,
            "{text}: {titles:?}"
        );
    }
    assert!(find(&site, "casablnca", None, None).1 && !find(&site, "casablanca", None, None).1);
}

#[test]
fn films_are_found_within_a_genre_and_a_decade() {
    let site = Site::new(Default::default());
    let (titles, _) = find(&site, "", Some("Science Fiction"), Some(1980));
    assert_eq!(titles.len(), 4, "{titles:?}");
    assert_eq!(
        find(&site, "ford", Some("science fiction"), Some(1980)).0,
        ["Blade Runner"]
    );
    assert_eq!(find(&site, "", None, None).0[0], "Severance");
    assert_eq!(find(&site, "", None, Some(1600)).0, Vec::<String>::new());
}

#[test]
fn a_decade_at_either_end_of_all_numbers_has_no_films() {
    let site = Site::new(Default::default());
    for decade in [i64::MIN, i64::MAX - 5, i64::MAX] {
        for (text, genre) in [("", None), ("alien", None), ("", Some("Horror"))] {
            let (titles, _) = find(&site, text, genre, Some(decade));
            assert!(titles.is_empty(), "{decade} {text} {genre:?}: {titles:?}");
        }
    }
}

#[test]
fn a_title_is_found_whatever_its_signs() {
    let site = Site::new(Default::default());
    site.app
        .db()
        .read(|db| {
            for (title, year, is_there) in [
                ("amelie", Some(2001), true),
                ("when harry met sally", Some(1989), true),
                ("Airplane", Some(1980), true),
                ("Alien", Some(1980), false),
                ("Alien", None, false),
                ("Ali", Some(1979), false),
                ("???", None, false),
                ("The Lord of the Rings", Some(2001), false),
            ] {
                let found = find::by_title(db, title, year)?;
                assert_eq!(found.is_some(), is_there, "{title} {year:?}");
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn the_same_file_again_adds_nothing_and_imdb_numbers_find_their_films() {
    let site = Site::new(Default::default());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("films");
    let import = |text: &str| {
        std::fs::File::create(&path)
            .unwrap()
            .write_all(text.as_bytes())
            .unwrap();
        import::import(site.app.db(), Source::open(&path).unwrap(), |_| ()).unwrap()
    };
    let lines = "{\"title\":\"Alien\",\"year\":1979,\"cast\":[\"Sigourney Weaver\"]}\n\
        {\"title\":\"Alien\",\"year\":1979,\"cast\":[\"Somebody Else\"]}\nnonsense\n{\"title\":\"Dune\",\"year\":2021}\n{\"title\":\"Dune\",\"year\":2021}\n";
    let done = import(lines);
    assert_eq!(
        (done.added, done.known, done.skipped),
        (2, 2, 1),
        "{done:?}"
    );
    assert!(done.first_skipped.unwrap().contains("line 3"));
    let again = import(lines);
    assert_eq!((again.added, again.known), (0, 4));
    let header = "tconst\ttitleType\tprimaryTitle\toriginalTitle\tisAdult\tstartYear\tendYear\truntimeMinutes\tgenres\n";
    let tsv = format!(
        "{header}tt1160419\tmovie\tDune\tDune\t0\t2021\t\\N\t155\tAdventure\ntt0087182\tmovie\tDune\tDune\t0\t1984\t\\N\t137\tAdventure\n"
    );
    let done = import(&tsv);
    assert_eq!(
        (done.added, done.matched, done.known),
        (1, 1, 0),
        "{done:?}"
    );
    assert_eq!(import(&tsv).known, 2);
    let dune = site
        .app
        .db()
        .read(|db| films::by_imdb(db, 1_160_419))
        .unwrap();
    assert_eq!(dune.unwrap().facts.year, Some(2021));
}

/// The running times of the films whose titles begin so, with the number of films that an import completed.
fn times(site: &Site, start: &'static str, done: &import::Imported) -> Vec<String> {
    let read = |db: &rusqlite::Connection| {
        let sql = "SELECT title || ' ' || coalesce(minutes, '-') FROM film WHERE title LIKE ?1 || '%' ORDER BY title";
        let mut statement = db.prepare(sql)?;
        let films = statement.query_map([start], |row| row.get(0))?;
        Ok(films.collect::<rusqlite::Result<Vec<String>>>()?)
    };
    let mut all = site.app.db().read(read).unwrap();
    all.push(format!("{} completed", done.completed));
    all
}

/// Imports these lines.
fn import_lines(site: &Site, lines: &str) -> import::Imported {
    let source = Source::of_text(lines.to_owned().leak()).unwrap();
    import::import(site.app.db(), source, |_| ()).unwrap()
}

/// A line with a film of 1979.
fn line(title: &str, more: &str) -> String {
    format!("{{\"title\":\"{title}\",\"year\":1979{more}}}\n")
}

#[test]
fn running_times_are_imported_wherever_a_source_has_them() {
    let site = Site::new(Default::default());
    // In each of the ways in which collections write them.
    let mut all = String::new();
    for (at, minutes) in [
        "\"minutes\":101",
        "\"runtime\":\"102 min\"",
        "\"Runtime\":\"103\"",
        "\"runtimeMinutes\":104",
        "\"runtime_minutes\":105.0",
        "\"runtime\":\"1h 46m\"",
        // These are none.
        "\"minutes\":0",
        "\"minutes\":null",
        "\"runtime\":\"N/A\"",
        "\"runtime\":99999999",
        "\"runtime\":\"\"",
    ]
    .iter()
    .enumerate()
    {
        all += &line(&format!("Way {at:02}"), &format!(",{minutes}"));
    }
    let done = import_lines(&site, &all);
    assert_eq!((done.added, done.skipped), (11, 0), "{done:?}");
    let (some, none) = ((0..6).map(|at| format!("Way {at:02} {}", 101 + at)), 6..11);
    let mut expected: Vec<String> = some.collect();
    expected.extend(none.map(|at| format!("Way {at:02} -")));
    expected.push("0 completed".to_owned());
    assert_eq!(times(&site, "Way", &done), expected);
}

#[test]
fn known_films_get_the_running_times_that_they_lack() {
    let site = Site::new(Default::default());
    let import = |lines: &str| import_lines(&site, lines);
    // A known film without one gets it, whether it is known by its number or by its title, and keeps what it has.
    import(
        &(line("Known A", "")
            + &line("Known B", ",\"imdb\":\"tt0000011\"")
            + &line("Known C", ",\"minutes\":90")),
    );
    let done = import(
        &(line("Known A", ",\"minutes\":81")
            + &line("Known B", ",\"minutes\":82,\"imdb\":\"tt0000011\"")
            + &line("Known C", ",\"minutes\":91")),
    );
    assert_eq!(
        times(&site, "Known", &done),
        ["Known A 81", "Known B 82", "Known C 90", "2 completed"]
    );
    // Also where the same file has named it before without one.
    let done = import(
        &(line("Twice A", "")
            + &line("Twice A", ",\"minutes\":71")
            + &line("Twice B", ",\"imdb\":\"tt0000012\"")
            + &line("Twice B", ",\"minutes\":72,\"imdb\":\"tt0000012\"")
            + &line("Twice C", "")
            + &line("Twice C", ",\"minutes\":73,\"imdb\":\"tt0000013\"")),
    );
    assert_eq!(
        times(&site, "Twice", &done)[..3],
        ["Twice A 71", "Twice B 72", "Twice C 73"]
    );
    // A series that goes on.
    let series = |more: &str| {
        line(
            "Series",
            &format!(",\"kind\":\"series\",\"imdb\":\"tt0000014\"{more}"),
        )
    };
    import(&series(""));
    let done = import(&series(",\"minutes\":45,\"seasons\":2"));
    assert_eq!(times(&site, "Series", &done)[..1], ["Series 45"]);
    assert_eq!(done.continued, 1, "{done:?}");
    let again = import(&series(",\"minutes\":45,\"seasons\":2"));
    assert_eq!((again.known, again.completed), (1, 0), "{again:?}");
}

#[tokio::test]
async fn a_missing_film_is_added_and_corrected_by_who_added_it() {
    let (_site, mut people) = Site::with_people(&["Anna", "Ben", "Cleo"]).await;
    let fields = [
        ("title", "Home video"),
        ("year", "2024"),
        ("people", "Anna, Ben"),
        ("genres", "Family"),
    ];
    let answer = people[1].post("/films/new", "/films/new", &fields).await;
    let film = answer.header("location").to_owned();
    assert!(people[2].get(&film).await.text.contains("Home video"));
    let change = format!("{film}/change");
    assert_eq!(people[2].get(&change).await.status, 404);
    people[1]
        .post(&change, &change, &[("title", "Home movie"), ("year", "")])
        .await;
    assert!(
        people[2]
            .get("/films?q=home+movie")
            .await
            .text
            .contains("Home movie")
    );
    assert!(
        people[0].get(&change).await.text.contains("Home movie"),
        "the owner may too"
    );
    let bad = people[1]
        .post("/films/new", "/films/new", &[("title", " "), ("year", "1")])
        .await;
    assert!(
        bad.status == 422 && bad.text.contains("A film needs a title"),
        "{}",
        bad.text
    );
}

#[tokio::test]
async fn a_film_is_removed_by_who_added_it_within_an_hour_or_by_the_owner() {
    let (site, mut people) = Site::with_people(&["Anna", "Ben", "Cleo"]).await;
    let mut films = Vec::new();
    for title in ["Home video", "Another", "A third"] {
        let fields = [("title", title), ("genres", "Homemade")];
        let answer = people[1].post("/films/new", "/films/new", &fields).await;
        films.push(answer.header("location").to_owned());
    }
    let [first, second, third] = [&films[0], &films[1], &films[2]];
    let save = first.replace("/films/", "/list/") + "/save";
    people[2].post(first, &save, &[]).await;
    let remove = |film: &str| format!("{film}/remove");

    let not_hers = people[2].post(first, &remove(first), &[]).await;
    assert_eq!(not_hers.status, 404);
    let change = format!("{first}/change");
    assert!(
        people[1]
            .get(&change)
            .await
            .text
            .contains("Remove the film")
    );
    let removed = people[1].post(first, &remove(first), &[]).await;
    assert_eq!(removed.header("location"), "/films?done=gone");
    assert_eq!(people[1].get(first).await.status, 404);
    assert!(people[2].get("/").await.text.contains("Home video"));

    // An id holds its time: these were added more than an hour ago.
    let age = "UPDATE film SET id = ulid_at(?1) WHERE added_by = 2";
    let then = inorder_watch::date::now_ms() - 3_601_000;
    for (film, title) in [(second, "Another"), (third, "A third")] {
        let sql = format!("{age} AND title = '{title}' RETURNING ulid_text(id)");
        let id = site.app.db().write(move |db| {
            let id: String = db.query_row(&sql, [then], |row| row.get(0))?;
            Ok(id)
        });
        let film = film.replace(film.rsplit('/').next().unwrap(), &id.await.unwrap());
        assert!(
            !people[1]
                .get(&format!("{film}/change"))
                .await
                .text
                .contains("Remove")
        );
        let late = people[1].post(&film, &remove(&film), &[]).await;
        assert!(late.text.contains("within an hour"), "{}", late.text);
        let owner = people[0].post(&film, &remove(&film), &[]).await;
        assert_eq!(owner.status, 303, "{}", owner.text);
    }
    assert!(!people[0].get("/films").await.text.contains("Homemade"));
}

#[tokio::test]
async fn a_program_corrects_and_removes_its_film() {
    let (_site, mut people) = Site::with_people(&["Anna"]).await;
    people[0].make_token().await;
    let added = people[0]
        .api("POST", "/films", json!({"title": "Home video"}))
        .await;
    let film = format!("/films/{}", added.json()["film"].as_str().unwrap());
    let changed = people[0]
        .api("PUT", &film, json!({"title": "Home movie", "year": 2024}))
        .await;
    assert_eq!(changed.json()["year"], 2024, "{}", changed.text);
    assert_eq!(
        people[0].api("DELETE", &film, json!(null)).await.status,
        200
    );
    assert_eq!(people[0].api("GET", &film, json!(null)).await.status, 404);
}

/// A film as another source describes it.
type Retelling<'a> = dyn Fn(usize, &mut serde_json::Value) + 'a;

/// The films there are at the start, as another source may have them.
fn retold(how: impl Fn(usize, &mut serde_json::Value)) -> &'static str {
    let films = include_str!("../../src/films/demo.jsonl")
        .lines()
        .enumerate();
    let retold = films.map(|(at, line)| {
        let mut film = serde_json::from_str(line).unwrap();
        how(at, &mut film);
        film.to_string() + "\n"
    });
    retold.collect::<String>().leak()
}

#[test]
fn films_that_are_there_are_not_added_again_however_they_are_told() {
    let site = Site::new(Default::default());
    let import = |how: &Retelling<'_>| {
        let source = Source::of_text(retold(how)).unwrap();
        import::import(site.app.db(), source, |_| ()).unwrap()
    };
    let title = |film: &serde_json::Value| film["title"].as_str().unwrap().to_owned();
    let reversed = |film: &mut serde_json::Value| film["people"].as_array_mut().unwrap().reverse();
    let ways: [(&str, &Retelling<'_>); 8] = [
        ("the same", &|_, _| ()),
        ("the cast in another order", &|_, film| reversed(film)),
        ("with others first", &|_, film| {
            film["people"]
                .as_array_mut()
                .unwrap()
                .insert(0, "Somebody Else".into())
        }),
        ("in capitals", &|_, film| {
            film["title"] = title(film).to_uppercase().into()
        }),
        ("without signs", &|_, film| {
            film["title"] = title(film).replace([':', ',', '.', '\'', '-'], "").into()
        }),
        ("the article behind", &|_, film| {
            if let Some(rest) = title(film).strip_prefix("The ") {
                film["title"] = format!("{rest}, The").into();
            }
        }),
        ("without people", &|_, film| film["people"] = json!([])),
        ("a year later", &|_, film| {
            if film["people"].as_array().unwrap().len() > 1 {
                for year in ["year", "end_year"] {
                    if let Some(number) = film[year].as_i64() {
                        film[year] = (number + 1).into();
                    }
                }
            }
        }),
    ];
    for (way, how) in ways {
        let done = import(how);
        assert_eq!((done.added, done.known), (0, 120), "{way}: {done:?}");
    }
    let others = import(&|at, film| {
        film["people"] = json!([format!("Somebody Else {at}"), "Another"]);
    });
    assert_eq!(
        others.added, 120,
        "films of the same title with nobody in common"
    );
    let numbered = import(&|at, film| {
        reversed(film);
        film["imdb"] = format!("tt{:07}", at + 1).into();
    });
    assert_eq!((numbered.added, numbered.matched), (0, 120));
    let renamed = import(&|at, film| {
        *film = json!({"title": format!("Another name {at}"), "imdb": format!("tt{:07}", at + 1)});
    });
    assert_eq!(
        (renamed.added, renamed.known),
        (0, 120),
        "the number says which film it is"
    );
}
