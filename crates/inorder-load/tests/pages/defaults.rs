//! Columns that the input doesn't give: every form of a DEFAULT clause, against SQLite's own INSERT.

use super::{assert_whole, job, load, made, open, quick_pair, rows};
use inorder_load::WriterChoice;

/// Clauses that are the same in each row.
const CONSTANT: &[&str] = &[
    "NULL",
    "0",
    "1",
    "+7",
    "-7",
    "- 7",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "1_000",
    "0x1F",
    "-0x10",
    "1.10",
    "-1.5e3",
    ".5",
    "5.",
    "1e400",
    "'text'",
    "'it''s'",
    "''",
    "'12'",
    "-'12'",
    "'1.10'",
    "x'00ff'",
    "X''",
    "true",
    "FALSE",
    "given",
    "Given",
    "value",
    "rowid",
    "id",
    "d",
    "abort",
    "é",
    "\"given\"",
    "\"two words\"",
    "\"it's\"",
    "\"a \"\"quoted\"\" word\"",
    "\"true\"",
    "\"NULL\"",
    "\"12\"",
    "\"\"",
    "\"-- no comment\"",
    "`given`",
    "`a``b`",
    "[given]",
    "[two words]",
    "[12]",
    "(NULL)",
    "(1)",
    "((1 + 1))",
    "(-5)",
    "(1 -- one\n)",
    "(1 /* one */)",
    "('a' || 'b')",
    "('given')",
    "(5 NOT NULL)",
    "(5 IS NULL)",
    "('a' COLLATE NOCASE)",
    "(true)",
    "(x'00')",
    "(abs(-3))",
    "(upper('a'))",
    "(CAST('12abc' AS INTEGER))",
    "(CASE WHEN 1 THEN 'y' ELSE 'n' END)",
    "(1 IN (1, 2))",
    "(date('2024-01-05'))",
    "(json_array(1, 2))",
];

/// Clauses that may be another value in each row.
const VARYING: &[&str] = &[
    "CURRENT_TIME",
    "current_date",
    "CURRENT_TIMESTAMP",
    "(CURRENT_TIMESTAMP)",
    "(random())",
    "(hex(randomblob(4)))",
    "(datetime('now'))",
    "(unixepoch())",
    "(ulid())",
];

const TYPES: &[&str] = &["", "TEXT", "INTEGER", "REAL", "NUMERIC", "BLOB"];

const SOURCE: &str = "CREATE TABLE s(id); INSERT INTO s VALUES (2), (1), (3)";

fn schema(declared_type: &str, clause: &str) -> String {
    format!(
        "CREATE TABLE t(id PRIMARY KEY, d {declared_type} DEFAULT {clause}, value, given) WITHOUT ROWID"
    )
}

#[test]
fn a_default_is_what_sqlite_inserts_whatever_its_form() {
    let (_folder, from, to) = quick_pair(SOURCE, "");
    let mut count = 0;
    for declared_type in TYPES {
        for clause in CONSTANT {
            let schema = schema(declared_type, clause);
            let expected = made(std::path::Path::new(":memory:"), &schema);
            expected
                .execute_batch("INSERT INTO t(id) VALUES (2), (1), (3)")
                .unwrap_or_else(|error| panic!("{error}: {schema}"));
            _ = std::fs::remove_file(&to);
            drop(made(&to, &schema));
            let summary = load(&job(&from, &to, WriterChoice::Direct));
            summary.unwrap_or_else(|error| panic!("{error}: {schema}"));
            let database = open(&to);
            assert_whole(&database);
            let all = "SELECT *, typeof(d) FROM t ORDER BY id";
            assert_eq!(rows(&database, all), rows(&expected, all), "{schema}");
            count += 1;
        }
    }
    println!("{count} defaults");
}

#[test]
fn a_default_that_is_worked_out_is_left_to_sqlite() {
    for clause in VARYING {
        let (_folder, from, to) = quick_pair(SOURCE, &schema("", clause));
        let summary = load(&job(&from, &to, WriterChoice::Auto)).expect("a load");
        let why = summary.why_not_direct.unwrap_or_default();
        assert!(why.contains("default of d"), "{clause}: {why}");
        let nulls = "SELECT count(*) FROM t WHERE d IS NULL";
        assert_eq!(rows(&open(&to), nulls), ["0"], "{clause}");
    }
}

#[test]
fn a_rowid_that_is_not_given_is_made_whatever_its_default() {
    for key in [
        "INTEGER PRIMARY KEY DEFAULT 0",
        "INTEGER PRIMARY KEY AUTOINCREMENT DEFAULT 7",
        "INTEGER NOT NULL DEFAULT (random()) PRIMARY KEY",
    ] {
        let schema = format!("CREATE TABLE t(a, id {key}, b DEFAULT 'x')");
        for writer in [WriterChoice::Direct, WriterChoice::Statements] {
            let source = "CREATE TABLE s(a); INSERT INTO s VALUES ('p'), ('q'), ('r')";
            let (_folder, from, to) = quick_pair(source, &schema);
            load(&job(&from, &to, writer)).unwrap_or_else(|error| panic!("{error}: {schema}"));
            let database = open(&to);
            assert_whole(&database);
            let found = rows(&database, "SELECT id FROM t ORDER BY id");
            assert_eq!(found, ["1", "2", "3"], "{schema}");
        }
    }
}
