//! Counters of SQLite files: AUTOINCREMENT, rowids, keys and references of declared types, at shares of their range.

use inorder_advise::{
    advice::{Advice, Observer, Options, Verdict, advise},
    counter::{Counter, Readings},
    report::{FORMATS, Look},
    rules::Group,
};
use rusqlite::Connection;
use std::collections::BTreeSet;

struct Quiet;

impl Observer for Quiet {
    fn step(&self, _: &str) {}
    fn object(&self, _: &str) {}
}

const LOOK: Look = Look {
    color: false,
    width: 10_000,
};

fn of(sql: &str, since: Option<Readings>) -> Advice {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.db");
    Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    let work = tempfile::tempdir().unwrap();
    let options = Options {
        since,
        ..Options::default()
    };
    advise(&path, work.path(), &options, &Quiet).unwrap()
}

fn counter<'a>(found: &'a Advice, object: &str) -> &'a Counter {
    let mut all = found.database.counters.iter();
    all.find(|own| own.object == object)
        .unwrap_or_else(|| panic!("no counter {object}: {:?}", found.database.counters))
}

const ROWID_MAX: i128 = i64::MAX as i128;

/// Tables of every kind of counter at shares of its range, and what must be found.
fn cases() -> (String, Vec<(String, f64, i128)>) {
    let (mut sql, mut expected) = (String::new(), Vec::new());
    for (n, share) in [0.2, 0.6, 0.9, 1.0].into_iter().enumerate() {
        let at = |last: i128| ((last as f64 * share) as i128).min(last);
        let big = at(ROWID_MAX);
        // Rows that were deleted count; hidden rowids are not renumbered first.
        sql += &format!(
            "CREATE TABLE a{n} (id INTEGER PRIMARY KEY AUTOINCREMENT, v);
             INSERT INTO a{n} VALUES ({big}, 1); DELETE FROM a{n}; INSERT INTO a{n} VALUES (5, 1);
             CREATE TABLE r{n} (id INTEGER PRIMARY KEY, v); INSERT INTO r{n} VALUES (1, 1), ({big}, 2);
             CREATE TABLE h{n} (v); INSERT INTO h{n} (rowid, v) VALUES ({big}, 2);
             CREATE TABLE o{n} (rowid, v); INSERT INTO o{n} (_rowid_, v) VALUES ({big}, 2);"
        );
        for object in ["a#.id", "r#.id", "h# (rowid)", "o# (rowid)"] {
            expected.push((object.replace('#', &n.to_string()), share, ROWID_MAX));
        }
        for (declared, bits) in [
            ("TINYINT", 7),
            ("SMALLINT", 15),
            ("MEDIUMINT", 23),
            ("INT", 31),
            ("INT(11)", 31),
            ("INT UNSIGNED", 32),
            ("BIGINT", 63),
        ] {
            let last = (1i128 << bits) - 1;
            let name = format!("k{n}_{}", expected.len());
            sql += &format!(
                "CREATE TABLE {name} (id {declared} PRIMARY KEY, v); INSERT INTO {name} VALUES ({}, 0);",
                at(last)
            );
            expected.push((format!("{name}.id"), share, last));
            // A reference whose key has come so far, with and without rows of its own.
            let (parent, child) = (format!("p{name}"), format!("c{name}"));
            sql += &format!(
                "CREATE TABLE {parent} (id INTEGER PRIMARY KEY); INSERT INTO {parent} VALUES ({});
                 CREATE TABLE {child} (id INTEGER PRIMARY KEY, of {declared} REFERENCES {parent});",
                at(last)
            );
            expected.push((format!("{child}.of"), share, last));
        }
    }
    (sql, expected)
}

#[test]
fn counters_are_read_whatever_counts() {
    let (mut sql, expected) = cases();
    // Random ids fill any range, and those that are times are no counter's.
    sql += "CREATE TABLE random (id INT PRIMARY KEY);
         INSERT INTO random SELECT DISTINCT abs(random()) % 2147483647 FROM generate_series_(2000);
         CREATE TABLE tsid (id INTEGER PRIMARY KEY);
         INSERT INTO tsid SELECT DISTINCT abs(random()) FROM generate_series_(2000);
         CREATE TABLE doubles (id INTEGER PRIMARY KEY); INSERT INTO doubles VALUES (8000000000000000);";
    let series = "(WITH RECURSIVE g(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM g WHERE n < 2000) SELECT n FROM g)";
    let found = of(&sql.replace("generate_series_(2000)", series), None);
    for (object, share, last) in &expected {
        let own = counter(&found, object);
        assert!(
            (own.used_percent - 100.0 * share).abs() < 1.5 && own.last == *last,
            "{own:?} {share} of {last}"
        );
    }
    assert_eq!(expected.len(), 4 * 18);
    let warned: BTreeSet<&str> = found
        .items
        .iter()
        .filter(|item| item.group == Group::IntegerRange)
        .inspect(|item| assert_eq!(item.verdict, Verdict::App))
        .flat_map(|item| &item.parts)
        .map(|part| part.candidate.object.as_str())
        .collect();
    for (object, share, _) in &expected {
        assert_eq!(warned.contains(&**object), *share >= 0.5, "{object}");
    }
    assert!(warned.contains("doubles.id"));
    for random in ["random.id", "tsid.id"] {
        assert!(!warned.contains(random), "{:?}", counter(&found, random));
    }
    for format in FORMATS {
        let text = (format.write)(&found, LOOK);
        let first = text.find("COUNTER NEAR ITS END").unwrap();
        let name = text
            .find("app.db")
            .map_or(usize::MAX, |at| match format.name {
                // The title of the window.
                "html" => text.find("<h1>").unwrap().max(at),
                _ => at,
            });
        assert!(first < name, "{}", format.name);
        assert!(
            text.contains("more counters are near their end"),
            "{}",
            format.name
        );
    }
}

#[test]
fn a_file_with_room_says_nothing() {
    let found = of(
        "CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, a INT UNIQUE, day INT);
         INSERT INTO t (a, day) VALUES (1, 1700000000), (2, 2000000000);",
        None,
    );
    assert!(
        found
            .items
            .iter()
            .all(|item| item.group != Group::IntegerRange)
    );
    for format in FORMATS {
        assert!(!(format.write)(&found, LOOK).contains("COUNTER"));
    }
    assert_eq!(counter(&found, "t.id").reached, 2);
}

/// The same constraint twice is told, in any spelling and order; others are not.
#[test]
fn constraints_that_repeat_others_are_told() {
    let found = of(
        "CREATE TABLE p (id INTEGER PRIMARY KEY, a, b, UNIQUE (a, b));
         CREATE TABLE c (id INTEGER PRIMARY KEY, p INT REFERENCES p, x INT CHECK (x > 0), y INT CHECK (y > 0), a, b,
             FOREIGN KEY (p) REFERENCES P (ID), FOREIGN KEY (p) REFERENCES p ON DELETE CASCADE,
             FOREIGN KEY (a, b) REFERENCES p (a, b), FOREIGN KEY (b, a) REFERENCES p (b, a), CHECK(x>0));
         CREATE TABLE d (p INT REFERENCES p DEFERRABLE, FOREIGN KEY (p) REFERENCES p);",
        None,
    );
    let told: BTreeSet<&str> = found
        .items
        .iter()
        .filter(|item| item.group == Group::DuplicateConstraint)
        .inspect(|item| assert_eq!(item.verdict, Verdict::App))
        .flat_map(|item| &item.parts)
        .map(|part| part.candidate.object.split(" of ").next().unwrap())
        .collect();
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(
        told.iter().any(|own| own.starts_with("CHECK(x")),
        "{told:?}"
    );
}

#[test]
fn days_are_told_from_an_earlier_report() {
    let sql = |seq: i64| {
        format!(
            "CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT); INSERT INTO t VALUES ({seq});"
        )
    };
    let end = i64::MAX - 3_000_000;
    let mut report: serde_json::Value =
        serde_json::from_str(&(FORMATS[1].write)(&of(&sql(end - 2_000_000), None), LOOK)).unwrap();
    report["read_at_s"] = (report["read_at_s"].as_u64().unwrap() - 2 * 86_400).into();
    let readings = Readings::parse(&report.to_string()).unwrap();
    let found = of(&sql(end), Some(readings));
    let text = (FORMATS[0].write)(&found, LOOK);
    assert!(
        text.starts_with("COUNTER NEAR ITS END: t.id has reached 9223372036851775807, 100 % of what a rowid holds; 3000000 numbers are left: about 3.0 days at ")
            || text.starts_with("COUNTER NEAR ITS END: t.id has reached 9223372036851775807, 99.9 %"),
        "{text:.300}"
    );
    assert!(text.contains("about 3.0 days"), "{text:.300}");
}
