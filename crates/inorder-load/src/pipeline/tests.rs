//! Databases that change between the first look and the first write.

use std::path::Path;

use rusqlite::Connection;

use super::*;
use crate::destination::Create;
use crate::job::WriterChoice;
use crate::source::Location;

/// A load of a CSV file with one column `n` into the table `t`.
fn job(folder: &Path, writer: WriterChoice) -> Job {
    let csv = folder.join("rows.csv");
    std::fs::write(&csv, "n\n3\n1\n2\n").expect("a small file");
    let input = Location {
        path: csv,
        table: None,
    };
    let to = folder.join("to.db").display().to_string();
    Job {
        writer,
        memory_bytes: 1 << 20,
        ..Job::new(vec![input], to, "t".to_owned())
    }
}

/// Loads, with a change made after the table is described and before it is written.
fn run_with_change(job: &Job, change: impl FnOnce(&Connection)) -> Result<Summary, Error> {
    run_through(job, &Progress::default(), |wanted| {
        let sink = sink::open_sink(wanted)?;
        change(&Connection::open(&job.to).expect("a database"));
        Ok(sink)
    })
}

#[test]
fn a_database_created_meanwhile_is_left_alone() {
    for writer in [WriterChoice::Direct, WriterChoice::Statements] {
        let folder = tempfile::tempdir().expect("a folder");
        let job = Job {
            create: Some(Create::default()),
            ..job(folder.path(), writer)
        };
        let refused = run_with_change(&job, |db| {
            let sql = "CREATE TABLE precious(a); INSERT INTO precious VALUES (7)";
            db.execute_batch(sql).expect("a table");
        });
        let refused = refused.expect_err("it is there").to_string();
        assert!(refused.contains("another process created it"), "{refused}");
        let db = Connection::open(&job.to).expect("a database");
        let kept: i64 = db
            .query_row("SELECT a FROM precious", [], |row| row.get(0))
            .expect("the row");
        assert_eq!(kept, 7);
        let files = std::fs::read_dir(folder.path()).expect("the folder");
        assert_eq!(files.count(), 2, "the rows and the database");
    }
}

#[test]
fn a_schema_changed_meanwhile_is_refused() {
    for writer in [WriterChoice::Direct, WriterChoice::Statements] {
        let folder = tempfile::tempdir().expect("a folder");
        let job = job(folder.path(), writer);
        let db = Connection::open(&job.to).expect("a database");
        db.execute_batch("CREATE TABLE t(n)").expect("a table");
        let refused = run_with_change(&job, |db| {
            db.execute_batch("CREATE INDEX i ON t(n)")
                .expect("an index");
        });
        let refused = refused.expect_err("it changed").to_string();
        assert!(refused.contains("the schema changed"), "{refused}");
    }
}

#[test]
fn rowids_taken_meanwhile_are_not_given_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let job = job(folder.path(), WriterChoice::Direct);
    let db = Connection::open(&job.to).expect("a database");
    db.execute_batch("CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, n)")
        .expect("a table");
    run_with_change(&job, |db| {
        db.execute_batch("INSERT INTO t VALUES (30, 'y'); DELETE FROM t")
            .expect("a row that takes a rowid");
    })
    .expect("a load");
    let ids: String = db
        .query_row("SELECT group_concat(id) FROM t", [], |row| row.get(0))
        .expect("the rows");
    assert_eq!(ids, "31,32,33");
}
