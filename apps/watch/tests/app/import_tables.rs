//! Tables as a whole: what is read of them.

use inorder_watch::{
    Result,
    db::films::Kind as FilmKind,
    lists::{Answers, Kind, ListRow, Meaning, Question, Reading, read},
};

/// Reads a file of this name, whose rows are these by its name or by its sender.
fn named(name: &str, text: &[u8], rows: Option<Kind>) -> Result<Reading> {
    let answers = Answers {
        rows,
        ..Answers::default()
    };
    read(name, text, &answers)
}

fn reading(text: &[u8], kind: Kind) -> Result<Reading> {
    named("list.csv", text, Some(kind))
}

/// Reads a file whose columns become these.
fn answered(text: &[u8], columns: &[(&str, Meaning)]) -> Reading {
    let columns = columns
        .iter()
        .map(|(name, meaning)| ((*name).to_owned(), *meaning));
    let answers = Answers {
        columns: columns.collect(),
        ..Answers::default()
    };
    read("list.csv", text, &answers).unwrap()
}

fn rows(text: &[u8], kind: Kind) -> Vec<ListRow> {
    let reading = reading(text, kind).unwrap();
    assert!(reading.problems.is_empty(), "{:?}", reading.problems);
    reading.rows
}

#[test]
fn letterboxd_lists_are_read() {
    let text = "\u{feff}Date,Name,Year,Letterboxd URI,Rating\n\
        2024-01-05,Alien,1979,https://boxd.it/1,4.5\n2024-01-06,\"Good, the Bad and the Ugly, The\",1966,https://boxd.it/2,\n";
    let rows = rows(text.as_bytes(), Kind::ToWatch);
    assert_eq!(
        (rows[0].facts.title.as_str(), rows[0].facts.year),
        ("Alien", Some(1979))
    );
    assert_eq!((rows[0].said.rating, rows[0].said.watched), (Some(9), true));
    assert_eq!((rows[1].said.rating, rows[1].said.watched), (None, false));
    let diary = "Date,Name,Year,Letterboxd URI,Rating,Rewatch,Tags,Watched Date\n\
        2024-01-06,Alien,1979,https://boxd.it/1,,,,2024-01-05\n";
    let rows = self::rows(diary.as_bytes(), Kind::ToWatch);
    assert_eq!(rows[0].said.watched_on.as_deref(), Some("2024-01-05"));
}

#[test]
fn every_file_of_letterboxds_export_is_what_it_is_called() {
    let plain = "Date,Name,Year,Letterboxd URI\n2024-01-06,Alien,1979,https://boxd.it/1\n";
    let diary = "Date,Name,Year,Letterboxd URI,Rating,Rewatch,Tags,Watched Date\n2024-01-06,Alien,1979,u,4,,,2024-01-05\n";
    let reviews = "Date,Name,Year,Letterboxd URI,Rating,Rewatch,Review,Tags,Watched Date\n2024-01-06,Alien,1979,u,4,,\"Good,\n\ngood\",,2024-01-05\n";
    let list = "Letterboxd list export v7\nDate,Name,Tags,URL,Description\n2024-01-06,For a winter,,u,\n\nPosition,Name,Year,URL,Description\n1,Alien,1979,u,\n";
    for (name, text, watched, watched_on, rating, note) in [
        ("watched.csv", plain, true, None, None, None),
        ("watched (2).csv", plain, true, None, None, None),
        ("likes/films.csv", plain, true, None, None, None),
        ("C:\\likes\\films.csv", plain, true, None, None, None),
        ("watchlist.csv", plain, false, None, None, None),
        ("", plain, false, None, None, None),
        (
            "films.csv",
            "Name,Year\nAlien,1979\n",
            false,
            None,
            None,
            None,
        ),
        (
            "ratings.csv",
            "Date,Name,Year,Letterboxd URI,Rating\n2024-01-06,Alien,1979,u,4\n",
            true,
            None,
            Some(8),
            None,
        ),
        ("diary.csv", diary, true, Some("2024-01-05"), Some(8), None),
        (
            "reviews.csv",
            reviews,
            true,
            Some("2024-01-05"),
            Some(8),
            Some("Good,\n\ngood"),
        ),
        ("for-a-winter.csv", list, false, None, None, None),
    ] {
        let rows = named(name, text.as_bytes(), None).unwrap().rows;
        let state = &rows[0].said;
        assert_eq!(
            (rows.len(), rows[0].facts.title.as_str(), rows[0].facts.year),
            (1, "Alien", Some(1979)),
            "{name}"
        );
        assert_eq!(
            (state.watched, state.watched_on.as_deref(), state.rating),
            (watched, watched_on, rating),
            "{name}"
        );
        assert_eq!(state.note.as_deref(), note, "{name}");
    }
}

#[test]
fn imdb_lists_are_read_with_series_and_without_episodes() {
    let text = "Position,Const,Created,Modified,Description,Title,Original Title,URL,Title Type,IMDb Rating,\
        Runtime (mins),Year,Genres,Num Votes,Release Date,Directors,Your Rating,Date Rated\n\
        1,tt0078748,2024-01-01,2024-01-01,,Alien,Alien,https://www.imdb.com/title/tt0078748,Movie,8.5,117,1979,\
        \"Horror, Sci-Fi\",1,1979-05-25,Ridley Scott,9,2024-01-05\n\
        2,tt0903747,2024-01-01,2024-01-01,,Breaking Bad,Breaking Bad,u,TV Series,9,1,2008,Drama,1,,,,\n\
        3,tt0959621,2024-01-01,2024-01-01,,Pilot,Pilot,u,TV Episode,9,1,2008,Drama,1,,,,\n\
        4,tt7366338,2024-01-01,2024-01-01,,Chernobyl,Chernobyl,u,TV Mini Series,9,330,2019,Drama,1,,,,\n";
    let rows = rows(text.as_bytes(), Kind::ToWatch);
    let kinds: Vec<FilmKind> = rows.iter().map(|row| row.facts.kind).collect();
    assert_eq!(kinds, [FilmKind::Film, FilmKind::Series, FilmKind::Series]);
    assert_eq!(
        (rows[0].facts.imdb, rows[0].said.rating),
        (Some(78_748), Some(9))
    );
    assert_eq!(rows[0].facts.genres, ["Horror", "Sci-Fi"]);
    assert_eq!(rows[0].said.watched_on.as_deref(), Some("2024-01-05"));
}

#[test]
fn what_can_not_be_read_is_named() {
    for text in ["", "Letterboxd list export v7\nDate,Name\n1,2\n"] {
        let error = reading(text.as_bytes(), Kind::ToWatch).unwrap_err();
        assert!(error.to_string().contains("no names of columns"), "{error}");
    }
    for text in ["nonsense\n", "a,b\n1,2\n"] {
        let reading = reading(text.as_bytes(), Kind::ToWatch).unwrap();
        assert_eq!(
            (reading.questions, reading.rows.len()),
            (vec![Question::Title], 0)
        );
    }
    for (text, what) in [
        (
            "Name,Year\nAlien,soon\n",
            "list.csv, line 2: \"soon\" should be a number.",
        ),
        (
            "Name,Year\nJaws,1975\n,1979\n",
            "list.csv, line 3: A film needs a title",
        ),
        (
            "Name,Rating10\nAlien,99\n",
            "list.csv, line 2: “99” is no rating from 0 to 10.",
        ),
        (
            "Name,Watched Date,Watched Before\nJaws,2024-01-05,2023-1-5 1/5/2022\n",
            "list.csv, line 2: \"1/5/2022\" should be a day, as 2026-01-31.",
        ),
        (
            "Name,Watched\nAlien,perhaps\n",
            "list.csv, line 2: \"perhaps\" should be yes or no.",
        ),
        (
            "Name,Status\nAlien,perhaps\n",
            "list.csv, line 2: “perhaps” should say whether it was watched.",
        ),
        (
            "Name,Year\nThe Good, the Bad and the Ugly,1966\n",
            "list.csv, line 2: The line has 3 fields, and the header 2.",
        ),
        (
            "sep=;\nName;Year\nAlien;soon\n",
            "list.csv, line 3: \"soon\" should be a number.",
        ),
        (
            "Name,Watched Date\nAlien,2999-01-01\n",
            "list.csv, line 2: \"2999-01-01\" should be a day",
        ),
        (
            "Name,Watched Date\nAlien,0001-01-01\n",
            "list.csv, line 2: \"0001-01-01\" should be a day",
        ),
        (
            &format!("Name,Note\nAlien,{}\n", "a".repeat(2001)),
            "list.csv, line 2: the note has more than 2,000",
        ),
    ] {
        let problems = reading(text.as_bytes(), Kind::ToWatch).unwrap().problems;
        assert!(
            problems.len() == 1 && problems[0].plain().starts_with(what),
            "{problems:?}"
        );
    }
}

#[test]
fn spreadsheets_of_other_countries_are_read() {
    let text = b"Name;Year;Rating;Watched Date;Note\r\nDas Leben der Anderen;2006;4,5;31.1.2026;\"sch\xf6n; und lang\"\r\nLe Fabuleux Destin d'Am\xe9lie Poulain;2001;;;\r\n";
    let asked = reading(text, Kind::ToWatch).unwrap();
    assert_eq!(asked.questions, [Question::Scale("Rating".to_owned())]);
    assert_eq!(asked.rows[0].said.rating, None);
    let rows = answered(text, &[("Rating", Meaning::Rating5)]).rows;
    assert_eq!(rows[0].said.rating, Some(9));
    assert_eq!(rows[0].said.watched_on.as_deref(), Some("2026-01-31"));
    assert_eq!(rows[0].said.note.as_deref(), Some("schön; und lang"));
    assert_eq!(rows[1].facts.title, "Le Fabuleux Destin d'Amélie Poulain");
}

#[test]
fn a_film_is_one_row_and_two_films_of_a_title_are_two() {
    let text = "Date,Name,Year,Letterboxd URI\n2024-01-06,Home,2008,u/1\n2024-01-06,Home,2008,u/2\n2024-01-07,Home,2008,u/1\n";
    assert_eq!(rows(text.as_bytes(), Kind::Watched).len(), 2);
    let text = "Name,Year,Note\nHome,2008,\nHome,2008,Good\nHome,2009,\n";
    let rows = rows(text.as_bytes(), Kind::Watched);
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0].said.note.as_deref(), Some("Good"));
}

#[test]
fn the_description_of_a_list_may_have_an_empty_line() {
    let text = "Letterboxd list export v7\nDate,Name,Tags,URL,Description\n2024-01-06,For a winter,,u,\"Cold.\n\nVery cold.\"\n\n\
        Position,Name,Year,URL,Description\n1,Fargo,1996,u/1,Snow\n";
    let rows = rows(text.as_bytes(), Kind::ToWatch);
    assert_eq!((rows.len(), rows[0].facts.title.as_str()), (1, "Fargo"));
    assert_eq!(rows[0].said.note.as_deref(), Some("Snow"));
}

#[test]
fn the_scale_of_ratings_is_asked_and_never_assumed() {
    let of = |ratings: &str| {
        let text = ratings
            .split(' ')
            .fold("Film,Score\n".to_owned(), |text, rating| {
                format!("{text}A{},{rating}\n", text.len())
            });
        reading(text.as_bytes(), Kind::ToWatch).unwrap()
    };
    for (ratings, read) in [
        // A value above five proves ten, one above ten a hundred.
        ("3 6 10", Some([3, 6, 10])),
        ("1 2 5.5", Some([1, 2, 6])),
        ("3 60 100", Some([1, 6, 10])),
        ("3 4 5", None),
        ("0.5 1 1.5", None),
    ] {
        let reading = of(ratings);
        let found: Vec<Option<i64>> = reading.rows.iter().map(|row| row.said.rating).collect();
        match read {
            Some(read) => assert_eq!(
                (found, reading.questions),
                (read.map(Some).to_vec(), vec![]),
                "{ratings}"
            ),
            None => {
                assert!(found.iter().all(Option::is_none), "{ratings}");
                assert_eq!(
                    reading.questions,
                    [Question::Scale("Score".to_owned())],
                    "{ratings}"
                );
                assert!(
                    reading.rows.iter().all(|row| !row.said.watched),
                    "{ratings}"
                );
            }
        }
    }
    let text = b"Film,Score\nAlien,4\nJaws,2.5\n";
    for (meaning, ratings) in [
        (Meaning::Rating5, [Some(8), Some(5)]),
        (Meaning::Rating10, [Some(4), Some(3)]),
        (Meaning::Rating100, [Some(1), Some(1)]),
        (Meaning::Unread, [None, None]),
    ] {
        let reading = answered(text, &[("Score", meaning)]);
        let found: Vec<Option<i64>> = reading.rows.iter().map(|row| row.said.rating).collect();
        assert_eq!(
            (found, reading.questions),
            (ratings.to_vec(), vec![]),
            "{meaning:?}"
        );
    }
    // A known form with a value that its scale doesn't have is of ten.
    let text = b"Title,Year,Rating,WatchedDate\nAlien,1979,9,2024-01-05\nJaws,1975,4,\n";
    let ratings: Vec<Option<i64>> = rows(text, Kind::Watched)
        .iter()
        .map(|row| row.said.rating)
        .collect();
    assert_eq!(ratings, [Some(9), Some(4)]);
}

#[test]
fn what_is_neither_film_nor_series_is_left_out_in_every_form() {
    let text = "Title,Type\nA,movie\nB,tv\nC,episode\nD,book\nE,Game\nF,podcast\nG,tvEpisode\nH,music\nI,TV Mini Series\nJ,season\nK,\n";
    let reading = reading(text.as_bytes(), Kind::ToWatch).unwrap();
    let kinds: Vec<(&str, FilmKind)> = reading
        .rows
        .iter()
        .map(|row| (row.facts.title.as_str(), row.facts.kind))
        .collect();
    let expected = [
        ("A", FilmKind::Film),
        ("B", FilmKind::Series),
        ("I", FilmKind::Series),
        ("K", FilmKind::Film),
    ];
    assert_eq!((kinds, reading.no_films), (expected.to_vec(), 7));
    let text = "Title,Season,Episode\nA,,\nB,1,2\nC,1,\n";
    let reading = named("list.csv", text.as_bytes(), None).unwrap();
    assert_eq!((reading.rows.len(), reading.no_films), (1, 2));
}

#[test]
fn the_order_of_slashes_is_proved_or_asked() {
    let day = |text: &str| {
        let reading = reading(text.as_bytes(), Kind::Watched).unwrap();
        (reading.rows[0].said.watched_on.clone(), reading.questions)
    };
    let of = |day: &str| (Some(day.to_owned()), Vec::new());
    assert_eq!(
        day("Title,Date\nAlien,1/5/24\nJaws,12/24/22\n"),
        of("2024-01-05")
    );
    assert_eq!(
        day("Title,Date\nAlien,1/5/24\nJaws,24/12/22\n"),
        of("2024-05-01")
    );
    let asked = reading(b"Title,Date\nAlien,1/5/24\n", Kind::Watched).unwrap();
    assert_eq!(asked.questions, [Question::DayFirst("1/5/24".to_owned())]);
    let answers = Answers {
        is_day_first: Some(true),
        ..Answers::default()
    };
    let answered = read("a.csv", b"Title,Date\nAlien,1/5/24\n", &answers).unwrap();
    assert_eq!(
        answered.rows[0].said.watched_on.as_deref(),
        Some("2024-05-01")
    );
}

#[test]
fn a_stated_delimiter_is_read() {
    for text in [
        "sep=;\nName;Year;Note\nAlien;1979;a,b,c,d\n",
        "\u{feff}sep=;\r\nName;Year;Note\r\nAlien;1979;a,b,c,d\r\n",
        "\"sep=;\"\nName;Year;Note\nAlien;1979;a,b,c,d\n",
        "sep=|\nName|Year|Note\nAlien|1979|a,b,c,d\n",
        "sep=,\nName,Year,Note\nAlien,1979,\"a,b,c,d\"\n",
        "sep=\t\nName\tYear\tNote\nAlien\t1979\ta,b,c,d\n",
    ] {
        let rows = rows(text.as_bytes(), Kind::ToWatch);
        assert_eq!(
            (rows[0].facts.title.as_str(), rows[0].facts.year),
            ("Alien", Some(1979)),
            "{text}"
        );
        assert_eq!(rows[0].said.note.as_deref(), Some("a,b,c,d"), "{text}");
    }
}
