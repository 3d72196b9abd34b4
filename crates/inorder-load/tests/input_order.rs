//! Tables whose outcome depends on the order of the rows: it is that of inserts in the order of the input.

mod common;

use common::{Folder, integrity, rows};
use inorder_load::{Job, OnDuplicate, Summary, WriterChoice};

/// `id` from 120 down to 1, so that the order of the key is not that of the input.
fn falling(fields: impl Fn(i64) -> String) -> String {
    (1..=120).rev().map(fields).collect()
}

struct Loaded {
    folder: Folder,
    result: Result<Summary, String>,
}

impl Loaded {
    fn new(schema: &str, csv: &str, change: impl Fn(&mut Job)) -> Self {
        let folder = Folder::new(schema);
        let path = folder.file("f.csv", csv);
        let mut job = folder.job(&path);
        change(&mut job);
        let result = folder.run(&job);
        assert_eq!(integrity(&folder.open()), "ok");
        Loaded { folder, result }
    }

    fn rows(&self) -> Vec<String> {
        rows(&self.folder.open(), "t")
    }

    #[track_caller]
    fn summary(&self) -> &Summary {
        self.result.as_ref().expect("a load")
    }

    /// Says that nothing is stored, and why.
    #[track_caller]
    fn refused(&self) -> &str {
        let said = self.result.as_ref().expect_err("a refusal");
        assert!(self.rows().is_empty(), "rows are left after {said}");
        said
    }
}

#[test]
fn a_rollback_by_a_constraint_or_a_trigger_leaves_nothing_and_names_the_row() {
    for schema in [
        "CREATE TABLE t(id INTEGER PRIMARY KEY, n UNIQUE ON CONFLICT ROLLBACK)",
        "CREATE TABLE t(id INTEGER PRIMARY KEY, n); CREATE TRIGGER g AFTER INSERT ON t \
         WHEN (SELECT count(*) FROM t WHERE n = NEW.n) > 1 BEGIN SELECT RAISE(ROLLBACK, 'twice'); END",
    ] {
        // The 100th row has what the 2nd has.
        let csv = format!(
            "id,n\n{}",
            falling(|id| format!("{id},{}\n", if id == 21 { 119 } else { id }))
        );
        for errors_max in [0, 100] {
            let loaded = Loaded::new(schema, &csv, |job| job.errors_max = errors_max);
            let said = loaded.refused();
            assert!(said.starts_with("f.csv, line 101: "), "{said}");
            assert!(
                said.ends_with("(ROLLBACK), and nothing was loaded"),
                "{said}"
            );
        }
    }
}

#[test]
fn what_raise_fail_leaves_is_taken_back_and_no_row_comes_twice() {
    let schema = "CREATE TABLE t(a INTEGER, b); CREATE TRIGGER g AFTER INSERT ON t WHEN NEW.a = 20 \
                  BEGIN SELECT RAISE(FAIL, 'no'); END";
    let csv = format!("a,b\n{}", falling(|id| format!("{id},x\n")));
    let loaded = Loaded::new(schema, &csv, |job| job.errors_max = 1);
    assert_eq!(loaded.summary().rows_written, 119);
    assert_eq!(loaded.summary().rows_refused, 1);
    assert_eq!(loaded.rows().len(), 119);
}

#[test]
fn rows_that_the_table_leaves_out_itself_are_counted_and_named() {
    let schema = "CREATE TABLE t(id INTEGER PRIMARY KEY, n UNIQUE ON CONFLICT IGNORE)";
    for count in [2, 50, 120] {
        let csv: String = (0..count)
            .map(|id| format!("{},{}\n", 200 - id, id / 2))
            .collect();
        let folder = Folder::new(schema);
        let path = folder.file("f.csv", format!("id,n\n{csv}"));
        let mut job = folder.job(&path);
        job.rejects = Some(folder.path("rejects.jsonl"));
        let summary = folder.run(&job).expect("a load");
        assert_eq!(
            (summary.rows_written, summary.rows_ignored),
            (count / 2, count / 2)
        );
        assert!(summary.why_not_sorted.is_some());
        let rejects = std::fs::read_to_string(folder.path("rejects.jsonl")).expect("rejects");
        assert_eq!(rejects.lines().count() as u64, count / 2);
        assert!(rejects.contains("\"line\":3,"), "{rejects}");
    }
}

#[test]
fn a_default_takes_the_place_of_null_where_the_constraint_says_so() {
    let schema =
        "CREATE TABLE t(id INTEGER PRIMARY KEY, n INTEGER NOT NULL ON CONFLICT REPLACE DEFAULT 7)";
    let loaded = Loaded::new(schema, "id,n\n2,\n1,4\n", |_| {});
    assert_eq!(loaded.summary().rows_written, 2);
    assert_eq!(loaded.rows(), ["integer1,integer4", "integer2,integer7"]);
}

#[test]
fn with_several_unique_keys_the_order_of_the_input_decides() {
    let schema = "CREATE TABLE t(id INTEGER PRIMARY KEY, n UNIQUE)";
    for (way, left) in [
        (OnDuplicate::Replace, "integer1,text'x'"),
        (OnDuplicate::Ignore, "integer2,text'x'"),
        (OnDuplicate::Report, "integer2,text'x'"),
    ] {
        for writer in [WriterChoice::Auto, WriterChoice::Statements] {
            let loaded = Loaded::new(schema, "id,n\n2,x\n1,x\n", |job| {
                job.on_duplicate = way;
                job.writer = writer;
            });
            assert_eq!(loaded.rows(), [left]);
            let summary = loaded.summary();
            assert_eq!((summary.rows_written, summary.rows_duplicate), (1, 1));
        }
    }
}

#[test]
fn a_row_that_a_check_refuses_is_no_duplicate() {
    let schema = "CREATE TABLE t(id INTEGER PRIMARY KEY, n INTEGER CHECK (n < 5))";
    for (way, csv) in [
        (OnDuplicate::Ignore, "id,n\n1,9\n1,2\n"),
        (OnDuplicate::Report, "id,n\n1,9\n1,2\n"),
        (OnDuplicate::Replace, "id,n\n1,2\n1,9\n"),
        (OnDuplicate::Error, "id,n\n1,9\n1,2\n"),
    ] {
        for index in ["", "; CREATE INDEX i ON t(n)"] {
            let loaded = Loaded::new(&format!("{schema}{index}"), csv, |job| {
                job.on_duplicate = way;
                job.errors_max = 1;
            });
            assert_eq!(loaded.rows(), ["integer1,integer2"], "{way:?}{index}");
            let summary = loaded.summary();
            assert_eq!(
                (
                    summary.rows_written,
                    summary.rows_refused,
                    summary.rows_duplicate
                ),
                (1, 1, 0)
            );
        }
    }
}

#[test]
fn replaced_rows_of_the_load_are_told_from_those_that_were_there() {
    let schema =
        "CREATE TABLE t(id INTEGER PRIMARY KEY, n UNIQUE); INSERT INTO t VALUES (1, 'a'), (2, 'b')";
    let loaded = Loaded::new(schema, "id,n\n9,a\n8,c\n7,c\n", |job| {
        job.on_duplicate = OnDuplicate::Replace
    });
    assert_eq!(
        loaded.rows(),
        ["integer2,text'b'", "integer7,text'c'", "integer9,text'a'"]
    );
    let summary = loaded.summary();
    assert_eq!((summary.rows_written, summary.rows_duplicate), (2, 1));
}

#[test]
fn an_ordinary_table_is_sorted_and_says_nothing_of_it() {
    let schema = "CREATE TABLE t(id INTEGER PRIMARY KEY, n); INSERT INTO t VALUES (1000, 0)";
    let csv = format!("id,n\n{}", falling(|id| format!("{id},x\n")));
    let loaded = Loaded::new(schema, &csv, |job| job.on_duplicate = OnDuplicate::Ignore);
    assert_eq!(loaded.summary().sorted_by, ["id"]);
    assert_eq!(loaded.summary().why_not_sorted, None);
}

#[test]
fn a_row_without_a_column_that_must_be_given_is_no_duplicate() {
    let schema = "CREATE TABLE t(id TEXT PRIMARY KEY, n NOT NULL)";
    let loaded = Loaded::new(schema, "id\n3\n3\n", |job| job.errors_max = u64::MAX);
    let summary = loaded.summary();
    assert_eq!((summary.rows_refused, summary.rows_duplicate), (2, 0));
}

#[test]
fn an_id_that_cant_be_larger_is_the_rows_error_and_no_full_disk() {
    let schema = "CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, n);
        CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; END";
    let csv = "id,n\n9223372036854775807,a\n,b\n";
    let loaded = Loaded::new(schema, csv, |job| job.errors_max = 1);
    let summary = loaded.summary();
    assert_eq!((summary.rows_written, summary.rows_refused), (1, 1));
}
