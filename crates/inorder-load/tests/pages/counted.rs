//! AUTOINCREMENT: a rowid that was there once is never given again.

use super::{assert_whole, job, load, made, open, quick_pair, rows};
use inorder_load::{Error, WriterChoice};

const TABLE: &str = "CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, n)";

/// Ids of a load whose rows have these, and what is written down after it, by each writer.
fn loaded(before: &str, ids: &[&str], writer: WriterChoice) -> Result<Vec<String>, Error> {
    let values: Vec<String> = ids.iter().map(|id| format!("({id}, 'x')")).collect();
    let source = format!(
        "CREATE TABLE s(id, n); INSERT INTO s VALUES {}",
        values.join(", ")
    );
    let (_folder, from, to) = quick_pair(&source, &format!("{TABLE}; {before}"));
    load(&job(&from, &to, writer))?;
    let database = open(&to);
    assert_whole(&database);
    let mut found = rows(&database, "SELECT id FROM t ORDER BY id");
    found.extend(rows(&database, "SELECT * FROM sqlite_sequence"));
    Ok(found)
}

#[test]
fn autoincrement_goes_on_after_rows_that_were_deleted() {
    for before in [
        "",
        "INSERT INTO t VALUES (41, 'a'); DELETE FROM t",
        "INSERT INTO t VALUES (-5, 'a'); DELETE FROM t",
        "INSERT INTO t VALUES (9, 'a'); DELETE FROM t; DELETE FROM sqlite_sequence",
        "INSERT INTO sqlite_sequence VALUES ('t', '17'), ('t', 99), ('T', 98)",
        "INSERT INTO sqlite_sequence VALUES ('t', NULL)",
        "INSERT INTO sqlite_sequence VALUES ('t', -20)",
        "INSERT INTO sqlite_sequence VALUES ('t', 'many')",
        "INSERT INTO sqlite_sequence VALUES ('t', 9223372036854775807)",
    ] {
        // Rows without a number come last, as in the loader.
        for ids in [
            &["NULL", "NULL"][..],
            &["7", "NULL"],
            &["-3", "NULL", "NULL"],
            &["7", "100"],
            &["-3"],
            &["9223372036854775807"],
            &["9223372036854775807", "NULL"],
        ] {
            let expected = made(
                std::path::Path::new(":memory:"),
                &format!("{TABLE}; {before}"),
            );
            let inserted = ids.iter().try_for_each(|id| {
                expected.execute_batch(&format!("INSERT INTO t VALUES ({id}, 'x')"))
            });
            for writer in [WriterChoice::Direct, WriterChoice::Statements] {
                let found = loaded(before, ids, writer);
                assert_eq!(
                    found.is_ok(),
                    inserted.is_ok(),
                    "{before}; {ids:?}: {found:?}"
                );
                if let Ok(found) = found {
                    let mut all = rows(&expected, "SELECT id FROM t ORDER BY id");
                    all.extend(rows(&expected, "SELECT * FROM sqlite_sequence"));
                    assert_eq!(found, all, "{writer:?} of {before}; {ids:?}");
                }
            }
        }
    }
}
