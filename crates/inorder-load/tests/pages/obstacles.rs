//! The obstacles of the direct writer, and its error when it is requested.

use super::{job, load, open, pair, rows};
use inorder_load::{Job, OnDuplicate, RowOrder, WriterChoice};

/// Two rows.
const SOURCE: &str = "CREATE TABLE s(a, b); INSERT INTO s VALUES (3, 'x'), (2, 'y')";

/// Why a table made by these statements is not written directly; its rows are written all the same.
fn why_not(schema: &str, change: impl Fn(&mut Job)) -> Option<String> {
    let (_folder, from, to) = pair(SOURCE, schema);
    let mut job = job(&from, &to, WriterChoice::Auto);
    change(&mut job);
    let before = rows(&open(&to), "SELECT count(*) FROM t");
    let forced = load(&Job {
        writer: WriterChoice::Direct,
        is_dry: true,
        ..job.clone()
    });
    assert_eq!(
        rows(&open(&to), "SELECT count(*) FROM t"),
        before,
        "{schema}"
    );
    let summary = load(&job).unwrap_or_else(|error| panic!("{error}: {schema}"));
    assert_eq!(summary.rows_written, 2, "{schema}");
    if before == ["0"] {
        let lost = "SELECT count(*) FROM t WHERE a IS NULL OR b IS NULL";
        assert_eq!(rows(&open(&to), lost), ["0"], "{schema}");
    }
    assert_eq!(
        summary.writer == "direct",
        summary.why_not_direct.is_none(),
        "{schema}"
    );
    match (&summary.why_not_direct, forced) {
        (Some(why), Err(refused)) => assert!(refused.to_string().ends_with(why), "{refused}"),
        (None, Ok(_)) => {}
        (why, forced) => panic!("{why:?} but {forced:?}: {schema}"),
    }
    summary.why_not_direct
}

#[test]
fn each_obstacle_is_named() {
    let plain = |_: &mut Job| {};
    for (schema, word) in [
        ("CREATE VIRTUAL TABLE t USING fts5(a, b)", "virtual"),
        (
            "CREATE TABLE t(a, b); INSERT INTO t VALUES (1, 1)",
            "has rows",
        ),
        (
            "CREATE TABLE t(a, b); CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT 1; END",
            "triggers (g)",
        ),
        (
            "CREATE TABLE t(a, b, c AS (a + 1) STORED)",
            "generated columns (c)",
        ),
        (
            "CREATE TABLE t(a, b, c AS (a + 1))",
            "generated columns (c)",
        ),
        // Such a row has three values.
        (
            "CREATE TABLE t(a, b, PRIMARY KEY (b, b COLLATE NOCASE)) WITHOUT ROWID",
            "a column twice",
        ),
        (
            "CREATE TABLE t(a UNIQUE ON CONFLICT REPLACE, b)",
            "ON CONFLICT",
        ),
        (
            "CREATE TABLE t(a NOT NULL ON CONFLICT IGNORE, b)",
            "ON CONFLICT",
        ),
        (
            "CREATE TABLE t(a INTEGER PRIMARY KEY ON CONFLICT IGNORE, b)",
            "ON CONFLICT",
        ),
        (
            "CREATE TABLE t(a PRIMARY KEY ON CONFLICT ROLLBACK, b) WITHOUT ROWID",
            "ON CONFLICT",
        ),
        (
            "CREATE TABLE t(a, b); CREATE UNIQUE INDEX i ON t(a + 1)",
            "unique index i",
        ),
        (
            "CREATE TABLE t(a, b); CREATE UNIQUE INDEX i ON t(a) WHERE b > 1",
            "unique index i",
        ),
        ("CREATE TABLE t(a, b, c DEFAULT (random()))", "default of c"),
        (
            "CREATE TABLE t(a, b, c DEFAULT CURRENT_TIMESTAMP)",
            "default of c",
        ),
        (
            "CREATE TABLE t(a, b, c DEFAULT (datetime('now')))",
            "default of c",
        ),
    ] {
        let why = why_not(schema, plain).unwrap_or_else(|| panic!("written directly: {schema}"));
        assert!(why.contains(word), "{why}: {schema}");
    }
}

#[test]
fn what_can_be_written_directly_is() {
    let plain = |_: &mut Job| {};
    for schema in [
        "CREATE TABLE t(a, b)",
        "CREATE TABLE t(a INTEGER PRIMARY KEY AUTOINCREMENT, b NOT NULL UNIQUE)",
        "CREATE TABLE t(a PRIMARY KEY NOT NULL, b, c DEFAULT (1 + 1), d DEFAULT x'00') WITHOUT ROWID",
        "CREATE TABLE t(a, b); CREATE INDEX i ON t(a + 1); CREATE INDEX j ON t(b) WHERE a > 1",
        "CREATE TABLE t(a PRIMARY KEY CHECK (a > 1), b, CHECK (b <> a)); CREATE INDEX i ON t(b)",
        "CREATE TABLE t(a, b, PRIMARY KEY (b, b)) WITHOUT ROWID; CREATE INDEX i ON t(a, b COLLATE NOCASE, b)",
        "CREATE TABLE t(a INTEGER, b TEXT) STRICT; CREATE VIEW v AS SELECT * FROM t",
        "CREATE TABLE p(x PRIMARY KEY); INSERT INTO p VALUES (3), (2); CREATE TABLE t(a REFERENCES p, b)",
    ] {
        assert_eq!(why_not(schema, plain), None, "{schema}");
    }
}

#[test]
fn checks_without_an_index_are_left_to_inserts_unless_the_way_is_asked_for() {
    let schema = "CREATE TABLE t(a CHECK (a > 1), b)";
    for (writer, expected) in [
        (WriterChoice::Auto, "statements"),
        (WriterChoice::Direct, "direct"),
    ] {
        let (_folder, from, to) = pair(SOURCE, schema);
        let summary = load(&job(&from, &to, writer)).expect("a load");
        assert_eq!(summary.writer, expected);
        assert_eq!(summary.why_not_direct.is_some(), expected == "statements");
    }
}

#[test]
fn an_order_or_duplicates_may_stand_in_the_way() {
    let by_input = |job: &mut Job| job.order = RowOrder::Input;
    let by_batches = |job: &mut Job| {
        job.order = RowOrder::Batch {
            rows: 10,
            is_by_prefix: false,
        }
    };
    let ignoring = |job: &mut Job| job.on_duplicate = OnDuplicate::Ignore;
    let keyed = "CREATE TABLE t(a PRIMARY KEY, b) WITHOUT ROWID";
    assert!(why_not(keyed, by_input).is_some());
    assert!(why_not(keyed, by_batches).is_some());
    assert_eq!(why_not("CREATE TABLE t(a, b)", by_input), None);
    assert_eq!(why_not(keyed, ignoring), None);
    assert!(why_not("CREATE TABLE t(a PRIMARY KEY, b UNIQUE)", ignoring).is_some());
}

#[test]
fn a_foreign_key_that_leads_nowhere_leaves_the_database_as_it_was() {
    let (_folder, from, to) = pair(
        SOURCE,
        "CREATE TABLE p(x PRIMARY KEY); INSERT INTO p VALUES (3); CREATE TABLE t(a REFERENCES p, b)",
    );
    let orphan = load(&job(&from, &to, WriterChoice::Direct)).expect_err("no parent");
    assert!(
        orphan.to_string().contains("has no parent in p"),
        "{orphan}"
    );
    assert!(rows(&open(&to), "SELECT * FROM t").is_empty());
}
