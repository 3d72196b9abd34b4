//! Generated columns, wherever they are and whatever index is on them: they are left to SQLite, and nothing else
//! goes by its numbers of columns.

use super::{assert_whole, job, load, made, open, quick_pair, rows};
use inorder_load::WriterChoice;

const SOURCE: &str = "
    CREATE TABLE s(a, b, c);
    INSERT INTO s VALUES (3, 'x', 30), (1, 'z', 10), (2, 'y', 20), (5, 'v', 50), (4, 'w', 40);";

/// The names of columns, table constraints and table options.
const TABLES: &[(&str, &str, &str)] = &[
    ("c", "", ""),
    ("c INTEGER PRIMARY KEY", "", ""),
    ("c INTEGER PRIMARY KEY AUTOINCREMENT", "", ""),
    ("c PRIMARY KEY", "", ""),
    ("c UNIQUE", "", ""),
    ("c", ", PRIMARY KEY (c, a)", " WITHOUT ROWID"),
    ("c", ", PRIMARY KEY (b DESC)", " WITHOUT ROWID"),
];

const INDEXES: &[&str] = &[
    "",
    "CREATE INDEX i ON t(a)",
    "CREATE INDEX i ON t(c)",
    "CREATE INDEX i ON t(g)",
    "CREATE UNIQUE INDEX i ON t(g)",
    "CREATE INDEX i ON t(c, g DESC); CREATE INDEX j ON t(b)",
    "CREATE UNIQUE INDEX i ON t(b, g, c)",
    "CREATE INDEX i ON t(g + 1)",
    "CREATE INDEX i ON t(c) WHERE g > 3",
];

/// Every schema with one generated column, and one with two.
fn schemas() -> Vec<String> {
    let mut schemas = Vec::new();
    for (c, constraint, options) in TABLES {
        for place in 0..=3 {
            for generated in [
                "g AS (a * 2)",
                "g INT AS (a * 2) STORED",
                "g TEXT GENERATED ALWAYS AS (b || a) VIRTUAL UNIQUE",
                "f AS (a) STORED, g AS (f + a) NOT NULL",
            ] {
                let mut columns = vec!["a", "b", c];
                columns.insert(place, generated);
                for index in INDEXES {
                    let columns = columns.join(", ");
                    schemas.push(format!(
                        "CREATE TABLE t({columns}{constraint}){options}; {index}"
                    ));
                }
            }
        }
    }
    schemas
}

#[test]
fn a_generated_column_with_an_index_on_it_or_after_it_is_no_panic() {
    let schemas = schemas();
    let (folder, from, to) = quick_pair(SOURCE, "");
    for schema in &schemas {
        _ = std::fs::remove_file(&to);
        drop(made(&to, schema));
        let refused = load(&job(&from, &to, WriterChoice::Direct)).expect_err("it can't be");
        assert!(
            refused.to_string().contains("generated columns"),
            "{refused}: {schema}"
        );
        let summary = load(&job(&from, &to, WriterChoice::Auto));
        let summary = summary.unwrap_or_else(|error| panic!("{error}: {schema}"));
        assert_eq!(summary.rows_written, 5, "{schema}");
        let expected = made(std::path::Path::new(":memory:"), schema);
        let from = from.to_string_lossy();
        expected
            .execute_batch(&format!(
                "ATTACH '{from}' AS f; INSERT INTO t(a, b, c) SELECT a, b, c FROM f.s ORDER BY rowid"
            ))
            .expect("rows");
        let database = open(&to);
        assert_whole(&database);
        let all = "SELECT * FROM t ORDER BY a";
        assert_eq!(rows(&database, all), rows(&expected, all), "{schema}");
    }
    println!("{} schemas with generated columns", schemas.len());
    drop(folder);
}
