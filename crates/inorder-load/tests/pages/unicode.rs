//! Text in databases of each encoding: every code point, against SQLite's own INSERT.

use std::path::{Path, PathBuf};

use inorder_load::source::Location;
use inorder_load::{Job, WriterChoice};
use rusqlite::types::{ToSqlOutput, ValueRef};

use super::{assert_whole, load, made, open, quick_pair, rows};

const ENCODINGS: [&str; 3] = ["UTF-8", "UTF-16le", "UTF-16be"];

/// The number of code points per row.
const TOGETHER: usize = 256;

fn schema(encoding: &str) -> String {
    format!(
        "PRAGMA encoding = '{encoding}'; CREATE TABLE t(n INTEGER PRIMARY KEY, a TEXT, c NUMERIC); \
         CREATE INDEX i ON t(lower(a)); CREATE INDEX j ON t(a COLLATE NOCASE)"
    )
}

/// Every character, some of them together, then some alone. Bytes that are none are refused when they are read.
fn texts() -> Vec<Vec<u8>> {
    let all: Vec<char> = (0..=0x10_ffff).filter_map(char::from_u32).collect();
    let mut texts: Vec<Vec<u8>> = all
        .chunks(TOGETHER)
        .map(|chars| chars.iter().collect::<String>().into_bytes())
        .collect();
    let alone = [
        '\0',
        '\u{feff}',
        '\u{fffd}',
        '\u{fffe}',
        '\u{ffff}',
        '\u{1fffe}',
        '\u{10ffff}',
    ];
    texts.extend(alone.iter().map(|alone| alone.to_string().into_bytes()));
    texts
}

/// A CSV of the texts, each also after a digit.
fn csv(texts: &[Vec<u8>]) -> Vec<u8> {
    let mut csv = b"n,a,c\n".to_vec();
    for (n, text) in texts.iter().enumerate() {
        let quoted: Vec<u8> = text
            .iter()
            .flat_map(|byte| std::iter::repeat_n(*byte, if *byte == b'"' { 2 } else { 1 }))
            .collect();
        csv.extend(format!("{n}").bytes());
        for before in ["", "7"] {
            csv.extend(b",\"");
            csv.extend(before.bytes());
            csv.extend(&quoted);
            csv.push(b'"');
        }
        csv.push(b'\n');
    }
    csv
}

fn inserted(encoding: &str, texts: &[Vec<u8>]) -> Vec<String> {
    let database = made(Path::new(":memory:"), &schema(encoding));
    database.execute_batch("BEGIN").expect("begun");
    let insert = "INSERT INTO t VALUES (?1, ?2, ?3)";
    let mut insert = database.prepare(insert).expect("a statement");
    for (n, text) in texts.iter().enumerate() {
        let digit = [b"7", &text[..]].concat();
        let bound = |text| ToSqlOutput::Borrowed(ValueRef::Text(text));
        insert
            .execute((n as i64, bound(text), bound(&digit)))
            .expect("a row");
    }
    drop(insert);
    assert_whole(&database);
    content(&database)
}

fn content(database: &rusqlite::Connection) -> Vec<String> {
    let bytes = "SELECT n, CAST(a AS BLOB), CAST(c AS BLOB), typeof(c) FROM t ORDER BY n";
    rows(database, bytes)
}

fn job(from: PathBuf, to: &Path, writer: WriterChoice) -> Job {
    let source = Location {
        path: from,
        table: None,
    };
    Job {
        memory_bytes: 1 << 20,
        writer,
        ..Job::new(vec![source], to.display().to_string(), "t".to_owned())
    }
}

#[test]
fn text_is_stored_as_sqlite_stores_it_in_every_encoding() {
    let texts = texts();
    for encoding in ENCODINGS {
        let expected = inserted(encoding, &texts);
        // Statements get what the direct writer stores.
        let both = [WriterChoice::Direct, WriterChoice::Statements];
        for &writer in &both[..if encoding == "UTF-16le" { 2 } else { 1 }] {
            let (folder, _, to) = quick_pair("CREATE TABLE s(a)", &schema(encoding));
            let from = folder.path().join("t.csv");
            std::fs::write(&from, csv(&texts)).expect("written");
            load(&job(from, &to, writer)).expect("a load");
            let database = open(&to);
            assert_whole(&database);
            let found = content(&database);
            assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(&expected) {
                assert_eq!(found, expected, "{encoding}, {writer:?}");
            }
        }
    }
    println!("{} texts in {} encodings", texts.len(), ENCODINGS.len());
}

#[test]
fn a_lone_surrogate_of_json_is_an_error_with_its_line() {
    for encoding in ENCODINGS {
        for (escape, stored) in [
            (r"\ud800", None),
            (r"\udc00", None),
            (r"\ud800x", None),
            (r"\udc00\ud800", None),
            (r"\ud83d\ude00", Some("\u{1f600}")),
            (r"a\u0000b", Some("a\0b")),
            (
                r"\ufffe",
                Some(if encoding == "UTF-8" {
                    "\u{fffe}"
                } else {
                    "\u{fffd}"
                }),
            ),
        ] {
            let (folder, _, to) = quick_pair("CREATE TABLE s(a)", &schema(encoding));
            let from = folder.path().join("t.jsonl");
            std::fs::write(
                &from,
                format!("{{\"n\":1}}\n{{\"n\":2,\"a\":\"{escape}\"}}\n"),
            )
            .expect("written");
            let result = load(&job(from, &to, WriterChoice::Direct));
            let read = "SELECT a FROM t WHERE n = 2";
            match (result, stored) {
                (Ok(_), Some(stored)) => {
                    let found: String = open(&to)
                        .query_row(read, [], |row| row.get(0))
                        .expect("a text");
                    assert_eq!(found, stored, "{escape} in {encoding}");
                }
                (Err(refused), None) => {
                    assert!(refused.to_string().contains("t.jsonl, line 2"), "{refused}");
                }
                (result, _) => panic!("{escape} in {encoding}: {result:?}"),
            }
        }
    }
}
