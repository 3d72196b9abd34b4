//! Decimals stay numbers wherever they are loaded: values, ways to write them and destinations, compared with what SQL says of
//! the same values in a table that a person made.

mod common;

use common::{Folder, told};
use inorder_load::{Create, Existing, Job, NoteKind, Summary};
use inorder_testing::PrivateServer;

/// Columns of numbers, as files have them.
const NUMBERS: &[&[&str]] = &[
    &["10.50", "9.75", "100.00", "0.99", "1234.10"],
    &["5", "19.99", "100"],
    &["7.00", "8.0", "-3.000"],
    &["1.50", "", "2.50"],
    &["-0.50", "-12.00", "3.25"],
    &["-0.00", "1.25"],
    &[".5", "-.25", "60.75"],
    &["5.", "2.5"],
    &["0.00001234", "0.50000000"],
    &["99999999999.99", "1.10"],
    &["123456789012.345", "0.1"],
    &["0.10", "0.20", "0.30"],
    &["7", "-12", "30"],
];

/// Columns of one that is no number, or of numbers that say more than their value.
const TEXTS: &[&[&str]] = &[
    &["007.50", "1.25"],
    &["+1.50", "2.50"],
    &["1.5e3", "2.50"],
    &["0.1234567890123456", "2.50"],
    &["$10.50", "2.50"],
    &["1,234.50", "2.50"],
    &["N/A", "2.50", "3.50"],
    &["1.", "2."],
    &[" 1.50", "2.50"],
];

/// A way to write a column `a` beside a column of words, and how it is read.
struct Way {
    name: &'static str,
    set: fn(&mut Job),
    write: fn(&[&str]) -> String,
}

fn lines(values: &[&str], delimiter: &str, field: impl Fn(&str) -> String) -> String {
    let rows = values
        .iter()
        .map(|value| format!("x{delimiter}{}\n", field(value)));
    format!("w{delimiter}a\n{}", rows.collect::<String>())
}

fn number_of_json(value: &str) -> String {
    let sign = if value.starts_with('-') { "-" } else { "" };
    let digits = value.trim_start_matches('-');
    match (digits.strip_prefix('.'), digits.strip_suffix('.')) {
        _ if digits.is_empty() => "null".to_owned(),
        (Some(fraction), _) => format!("{sign}0.{fraction}"),
        (_, Some(whole)) => format!("{sign}{whole}"),
        _ => value.to_owned(),
    }
}

const WAYS: &[Way] = &[
    Way {
        name: "t.csv",
        set: |job| job.threads = 1,
        write: |values| {
            lines(values, ",", |value| {
                format!("\"{value}\"").replace("\"\"", "")
            })
        },
    },
    Way {
        name: "t.tsv",
        set: |job| job.threads = 3,
        write: |values| lines(values, "\t", str::to_owned),
    },
    Way {
        name: "t.txt",
        set: |job| job.read_options.has_decimal_comma = Some(true),
        write: |values| {
            lines(values, ";", |value| match value {
                // A point alone separates thousands.
                _ if value.starts_with('.') || value.starts_with("-.") => value.replace('.', "0,"),
                _ => value.strip_suffix('.').unwrap_or(value).replace('.', ","),
            })
        },
    },
    Way {
        name: "t.jsonl",
        set: |_| {},
        write: |values| {
            let object =
                |value: &&str| format!("{{\"w\":\"x\",\"a\":{}}}\n", number_of_json(value));
            values.iter().map(object).collect()
        },
    },
    Way {
        name: "t.json",
        set: |_| {},
        write: |values| {
            let object =
                |value: &&str| format!("{{\"w\":\"x\",\n\"a\":{}}}", number_of_json(value));
            let objects: Vec<String> = values.iter().map(object).collect();
            format!("[{}]", objects.join(","))
        },
    },
    Way {
        name: "late.csv",
        set: |_| {},
        // More words than the first rows that decide types.
        write: |values| {
            let words = "x,\n".repeat(10_001);
            lines(values, ",", str::to_owned).replacen('\n', &format!("\n{words}"), 1)
        },
    },
];

fn job(folder: &Folder, way: &Way, values: &[&str]) -> Job {
    let path = folder.file(way.name, (way.write)(values));
    let mut job = Job {
        create: Some(Create::default()),
        existing: Existing::Replace,
        ..folder.job(&path)
    };
    (way.set)(&mut job);
    job
}

/// The exact value in units of 10^-20.
fn exact(value: &str) -> i128 {
    let (whole, fraction) = value.split_once('.').unwrap_or((value, ""));
    let digits = format!("{whole}{fraction:0<20}");
    digits.parse().expect("digits")
}

fn given<'a>(values: &[&'a str]) -> Vec<&'a str> {
    values
        .iter()
        .copied()
        .filter(|value| !value.is_empty())
        .collect()
}

#[test]
fn sql_of_sqlite_computes_with_decimals() {
    for values in NUMBERS {
        for way in WAYS {
            let folder = Folder::new("");
            let case = format!("{values:?} in {}", way.name);
            let summary = folder.run(&job(&folder, way, values));
            let summary = summary.unwrap_or_else(|error| panic!("{case}: {error}"));
            let db = folder.open();
            let ask = |sql: &str| -> String { db.query_row(sql, [], |row| row.get(0)).expect(sql) };
            let declared = ask("SELECT type FROM pragma_table_info('t') WHERE name = 'a'");
            assert!(
                ["INTEGER", "REAL", "NUMERIC"].contains(&&*declared),
                "{case}: {declared}"
            );
            assert_eq!(
                ask("SELECT group_concat(DISTINCT typeof(a) = 'text') FROM t WHERE a IS NOT NULL"),
                "0"
            );
            let numbers: Vec<f64> = given(values)
                .iter()
                .map(|value| value.parse().expect("a number"))
                .collect();
            let max = numbers.iter().copied().fold(f64::MIN, f64::max);
            assert_eq!(
                ask("SELECT CAST(max(a) * 1.0 AS TEXT) FROM t").parse(),
                Ok(max),
                "{case}"
            );
            let sum: f64 = ask("SELECT CAST(sum(a) AS TEXT) FROM t")
                .parse()
                .expect("a number");
            let expected =
                given(values).iter().map(|value| exact(value)).sum::<i128>() as f64 / 1e20;
            assert!(
                (sum - expected).abs() <= expected.abs() * 1e-12,
                "{case}: {sum}"
            );
            let above = numbers.iter().filter(|number| **number > 50.0).count();
            assert_eq!(
                ask("SELECT CAST(count(*) AS TEXT) FROM t WHERE a > 50"),
                above.to_string(),
                "{case}"
            );
            assert!(!is_kept_as_text(&summary), "{case}: {}", told(&summary));
        }
    }
}

fn is_kept_as_text(summary: &Summary) -> bool {
    summary
        .notes
        .iter()
        .any(|note| note.kind == NoteKind::KeptAsText)
}

#[test]
fn numbers_that_say_more_stay_text_and_are_told() {
    for values in TEXTS {
        for way in [&WAYS[0], &WAYS[5]] {
            if way.name == "late.csv" && values[0].contains(',') {
                continue;
            }
            let folder = Folder::new("");
            let summary = folder.run(&job(&folder, way, values)).expect("a load");
            let note = summary
                .notes
                .iter()
                .find(|note| note.kind == NoteKind::KeptAsText);
            let note = note.unwrap_or_else(|| panic!("{values:?} in {}: {summary:?}", way.name));
            assert_eq!(note.column.as_deref(), Some("a"));
            assert!(
                note.text.contains(&format!("`{}`", values[0])),
                "{}",
                note.text
            );
            let line = if way.name == "t.csv" { 2 } else { 10_003 };
            assert_eq!(note.line, Some(line), "{}", note.text);
            let db = folder.open();
            let stored = db.prepare("SELECT a FROM t WHERE a IS NOT NULL ORDER BY rowid");
            let mut stored = stored.expect("a query");
            let stored = stored.query_map([], |row| row.get(0)).expect("rows");
            let stored: Vec<String> = stored.collect::<Result<_, _>>().expect("texts");
            assert_eq!(stored, *values);
        }
    }
    // Words among which are some numbers are words.
    let folder = Folder::new("");
    let way = &WAYS[0];
    for values in [
        &["Alien", "1984", "Brazil"][..],
        &["10.0.0.1", "1.2.3.4"],
        &["2024-01-02"],
    ] {
        let summary = folder.run(&job(&folder, way, values)).expect("a load");
        assert!(!is_kept_as_text(&summary), "{values:?}: {}", told(&summary));
    }
}

#[test]
fn a_zero_without_its_sign_is_told() {
    let folder = Folder::new("");
    let summary = folder
        .run(&job(&folder, &WAYS[0], &["1.5", "-0.00", "-0.0"]))
        .expect("a load");
    let note = summary
        .notes
        .iter()
        .find(|note| note.kind == NoteKind::SignDropped);
    let note = note.expect("a note");
    assert_eq!((note.count, note.line), (Some(2), Some(3)), "{}", note.text);
    let folder = Folder::new("CREATE TABLE t(w, a REAL)");
    let summary = folder.load("t.csv", "w,a\nx,-0.0\n").expect("a load");
    assert_eq!(told(&summary), "");
}

#[test]
fn several_files_decide_a_type_together() {
    let folder = Folder::new("");
    let mut both = job(&folder, &WAYS[0], &["10.50", "9.75"]);
    let second = folder.file("second.csv", "w,a\nx,7\ny,8.00\n");
    both.inputs.push(inorder_load::source::Location {
        path: second,
        table: None,
    });
    folder.run(&both).expect("a load");
    let db = folder.open();
    let sql =
        "SELECT type || ' ' || (SELECT sum(a) FROM t) FROM pragma_table_info('t') WHERE name = 'a'";
    let found: String = db.query_row(sql, [], |row| row.get(0)).expect("a sum");
    assert_eq!(found, "NUMERIC 35.25");
}

/// Every server, and the type that a person gives a column of decimals there.
fn servers() -> Vec<(PrivateServer, &'static str)> {
    let start = |(name, ty): (&str, &'static str)| {
        Some((PrivateServer::start(name, env!("CARGO_TARGET_TMPDIR"))?, ty))
    };
    let all = [("postgres", "numeric"), ("mariadb", "decimal(60,20)")];
    all.into_iter().filter_map(start).collect()
}

#[test]
fn sql_of_servers_computes_with_decimals() {
    for (server, ty) in servers() {
        for values in NUMBERS {
            server.run("DROP TABLE IF EXISTS person");
            server.run(&format!("CREATE TABLE person(a {ty})"));
            for value in given(values) {
                server.run(&format!("INSERT INTO person VALUES ('{value}')"));
            }
            // Many words take a while.
            let is_quick = |way: &&Way| way.name != "late.csv" || values.len() == 5;
            for way in WAYS.iter().filter(is_quick) {
                let folder = Folder::new("");
                let case = format!("{values:?} in {}", way.name);
                let job = Job {
                    to: server.url(),
                    ..job(&folder, way, values)
                };
                let summary = folder.run(&job);
                let summary = summary.unwrap_or_else(|error| panic!("{case}: {error}"));
                assert!(!is_kept_as_text(&summary), "{case}: {}", told(&summary));
                let same = "SELECT (SELECT count(a) FROM t) = (SELECT count(*) FROM person),
                    (SELECT sum(a) FROM t) = (SELECT sum(a) FROM person), (SELECT max(a) FROM t) = (SELECT max(a) FROM person),
                    (SELECT min(a) FROM t) = (SELECT min(a) FROM person),
                    (SELECT count(*) FROM t WHERE a > 50) = (SELECT count(*) FROM person WHERE a > 50),
                    (SELECT count(*) FROM person WHERE a NOT IN (SELECT a FROM t WHERE a IS NOT NULL)) = 0";
                let expected = match server.is_postgres() {
                    true => "t|t|t|t|t|t",
                    false => "1|1|1|1|1|1",
                };
                assert_eq!(server.rows(same), [expected], "{case}");
                // Zeros at the end of a fraction are kept where the file has them.
                if server.is_postgres() && way.name == "t.tsv" {
                    let digits = |table: &str| {
                        server.rows(&format!(
                            "SELECT a::text FROM {table} WHERE a IS NOT NULL ORDER BY a"
                        ))
                    };
                    assert_eq!(digits("t"), digits("person"), "{case}");
                }
            }
        }
        for values in TEXTS {
            let folder = Folder::new("");
            let job = Job {
                to: server.url(),
                ..job(&folder, &WAYS[0], values)
            };
            let summary = folder.run(&job).expect("a load");
            assert!(is_kept_as_text(&summary), "{values:?}: {}", told(&summary));
        }
    }
}

/// More digits after the point than the first rows have: MariaDB would round them.
#[test]
fn a_later_value_is_not_rounded() {
    for (server, _) in servers() {
        let folder = Folder::new("");
        let many = "x,1.50\n".repeat(10_000);
        for (later, digits) in [
            ("1.255", "1.255"),
            ("12345678901234.5", "12345678901234.5"),
            ("7", "7"),
        ] {
            let path = folder.file("t.csv", format!("w,a\n{many}y,{later}\n"));
            let job = Job {
                to: server.url(),
                create: Some(Create::default()),
                existing: Existing::Replace,
                ..folder.job(&path)
            };
            folder
                .run(&job)
                .unwrap_or_else(|error| panic!("{later}: {error}"));
            let found = server.rows(&format!(
                "SELECT count(*) FROM t WHERE w = 'y' AND a = {digits}"
            ));
            assert_eq!(found, ["1"], "{later}");
        }
    }
}
