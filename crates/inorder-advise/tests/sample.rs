//! A sample estimates what advice on all rows measures, and never writes to the file.

mod common;

use common::{advice, made, numbers, sampled, uuid};
use inorder_advise::{
    Error,
    advice::{Advice, Verdict},
};
use rusqlite::Connection;
use std::fs;

/// Tables of each layout, whose keys have gaps.
fn schema(rows: u32) -> String {
    let n = numbers(rows);
    format!(
        "CREATE TABLE event(id INTEGER PRIMARY KEY, user INT, at INT, body TEXT);
         {n} INSERT INTO event SELECT i * i, i % 97, i, hex(randomblob(20 + i % 30)) FROM n;
         CREATE INDEX event_user ON event(user); CREATE INDEX event_user_at ON event(user, at);
         CREATE TABLE item(id TEXT PRIMARY KEY, name TEXT); {n} INSERT INTO item SELECT {}, 'name ' || i FROM n;
         CREATE TABLE link(a INT, b TEXT, weight REAL, PRIMARY KEY(a, b)) WITHOUT ROWID;
         {n} INSERT INTO link SELECT i % 211, 'b' || i, i / 3.0 FROM n; CREATE INDEX link_b ON link(b);
         CREATE TABLE falling(a INT, b INT, PRIMARY KEY(a DESC, b DESC)) WITHOUT ROWID;
         {n} INSERT INTO falling SELECT i, i % 7 FROM n;
         CREATE TABLE mixed(a INT, b INT, PRIMARY KEY(a, b DESC)) WITHOUT ROWID;
         {n} INSERT INTO mixed SELECT i, i % 7 FROM n;
         CREATE TABLE pair(a INT, b INT, PRIMARY KEY(a, b)); {n} INSERT INTO pair SELECT i % 503, i FROM n;
         CREATE TABLE small(id INTEGER PRIMARY KEY, x); INSERT INTO small VALUES (1, 'a'), (7, 'b');
         CREATE TABLE empty(x); CREATE VIEW all_pairs AS SELECT * FROM pair;
         CREATE VIRTUAL TABLE words USING fts5(body, content='event', content_rowid='id');
         INSERT INTO words(words) VALUES ('rebuild');",
        uuid(4)
    )
}

/// What each change saves, by rule and object, and whether that depends on the rows of the sample.
fn parts(advice: &Advice) -> Vec<(String, i64, bool)> {
    let parts = advice.items.iter().flat_map(|item| &item.parts);
    parts
        .filter(|part| !part.candidate.changes.is_empty())
        .filter_map(|part| {
            let saved = part.measure?.saved_bytes;
            let name = format!("{} {}", part.candidate.rule, part.candidate.object);
            Some((name, saved, part.is_of_sample))
        })
        .collect()
}

#[test]
fn estimates_are_near_to_what_is_measured_on_all_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = made(folder.path(), &schema(60_000));
    let (whole, estimate) = (advice(&path).unwrap(), sampled(&path, 2_000_000).unwrap());
    let near = |name: &str, estimated: f64, measured: f64, share: f64| {
        assert!(
            (estimated - measured).abs() <= share * measured.abs(),
            "{name}: {estimated} estimated, {measured} measured"
        );
    };
    let taken = estimate.estimate.as_ref().unwrap();
    assert!(taken.sample_bytes < 3_000_000);
    for table in &taken.tables {
        let rows = whole.database.table(&table.name).unwrap().rows as f64;
        let is_small = ["small", "empty"].contains(&table.name.as_str());
        assert_eq!(table.is_complete, is_small, "{}", table.name);
        // Of a key with mixed directions only the first rows are taken.
        let share = if table.name == "mixed" { 1.0 } else { 0.05 };
        near(&table.name, table.rows as f64, rows, share);
    }
    // The pages of the full-text index are left out.
    let shadow: u64 = whole
        .database
        .tables
        .iter()
        .filter(|table| !table.is_ordinary())
        .map(|table| table.pages() * 4096)
        .sum();
    near(
        "bytes",
        estimate.base_bytes() as f64,
        (whole.base_bytes() - shadow) as f64,
        0.1,
    );
    // What is proposed for all rows is proposed for the sample, and saves about as much.
    let (measured, estimated) = (parts(&whole), parts(&estimate));
    assert!(measured.len() >= 4, "{measured:?}");
    for (name, saved, _) in measured
        .iter()
        .filter(|(name, ..)| !name.starts_with("page-size"))
    {
        let found = estimated.iter().find(|(own, ..)| own == name);
        let Some((_, own, is_of_sample)) = found else {
            panic!("{name} is not in {estimated:?}");
        };
        // Of a key with mixed directions only the first rows are taken.
        if !name.ends_with(" mixed") {
            near(name, *own as f64, *saved as f64, 0.1);
        }
        assert_eq!(
            *is_of_sample,
            !name.starts_with("redundant-index"),
            "{name}"
        );
    }
    assert!(
        estimate
            .items
            .iter()
            .any(|item| item.verdict == Verdict::Change)
    );
}

#[test]
fn every_format_calls_figures_of_a_sample_estimates() {
    use inorder_advise::report::{FORMATS, Look};
    let folder = tempfile::tempdir().unwrap();
    let path = made(folder.path(), &schema(20_000));
    let found = sampled(&path, 1_000_000).unwrap();
    let look = Look {
        color: false,
        width: 100,
    };
    for format in FORMATS {
        let text = (format.write)(&found, look);
        let words = match format.name {
            "json" => "\"is_estimate\": true",
            _ => "ESTIMATE from a sample",
        };
        assert!(text.contains(words), "{}", format.name);
        if format.name == "text" {
            let change = text
                .lines()
                .find(|line| line.starts_with("CHANGE"))
                .unwrap();
            assert!(change.contains("about −"), "{change}");
        }
    }
}

#[test]
fn a_sampled_file_is_not_written_in_any_journal_mode() {
    // A log that another process has open is in `snapshot.rs`.
    for (mode, is_open) in [("delete", false), ("delete", true), ("wal", false)] {
        let folder = tempfile::tempdir().unwrap();
        let path = made(folder.path(), &schema(3000));
        let writer = Connection::open(&path).unwrap();
        writer.pragma_update(None, "journal_mode", mode).unwrap();
        writer
            .execute_batch("INSERT INTO small VALUES (99, 'in the log')")
            .unwrap();
        let writer = is_open.then_some(writer);
        let state = || {
            let mut files: Vec<_> = fs::read_dir(folder.path())
                .unwrap()
                .map(|file| file.unwrap().path())
                .map(|path| {
                    (
                        fs::read(&path).unwrap(),
                        path.metadata().unwrap().modified().unwrap(),
                        path,
                    )
                })
                .collect();
            files.sort();
            files
        };
        let before = state();
        assert_eq!(before.len(), 1);
        let found = sampled(&path, 500_000).unwrap();
        assert_eq!(
            found.database.table("small").unwrap().rows,
            3,
            "{mode} {is_open}"
        );
        assert!(state() == before, "{mode} {is_open}");
        drop(writer);
    }
}

#[test]
fn what_would_have_to_be_written_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let source = tempfile::tempdir().unwrap();
    let path = made(source.path(), &schema(3000));
    let writer = Connection::open(&path).unwrap();
    let copy = |ends: &[&str]| {
        for end in ends {
            let name = format!("app.db{end}");
            fs::copy(source.path().join(&name), folder.path().join(&name)).unwrap();
        }
    };
    writer
        .execute_batch("PRAGMA cache_size = 5; BEGIN; UPDATE event SET body = 'x'")
        .unwrap();
    copy(&["", "-journal"]);
    let refused = sampled(&folder.path().join("app.db"), 500_000).unwrap_err();
    assert!(refused.to_string().contains("interrupted"), "{refused}");
    fs::remove_file(folder.path().join("app.db-journal")).unwrap();
    writer.execute_batch("ROLLBACK").unwrap();
    writer.pragma_update(None, "journal_mode", "wal").unwrap();
    writer
        .execute_batch("INSERT INTO small VALUES (99, 'x')")
        .unwrap();
    copy(&["", "-wal"]);
    let refused = sampled(&folder.path().join("app.db"), 500_000).unwrap_err();
    assert!(refused.to_string().contains("write-ahead log"), "{refused}");
    // A lock is waited for and named.
    writer
        .pragma_update(None, "journal_mode", "delete")
        .unwrap();
    writer.execute_batch("BEGIN EXCLUSIVE").unwrap();
    assert!(matches!(sampled(&path, 500_000), Err(Error::Busy { .. })));
}

#[test]
fn a_database_without_tables_has_a_sample() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    fs::write(&path, b"").unwrap();
    assert!(sampled(&path, 500_000).unwrap().items.is_empty());
    let odd = made(
        folder.path(),
        "PRAGMA encoding = 'UTF-16be'; CREATE TABLE k(a TEXT PRIMARY KEY, \"rowid\", oid, _rowid_) WITHOUT ROWID;
         CREATE TABLE hidden(\"rowid\" TEXT, oid, \"_rowid_\", g AS (oid + 1) STORED);
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
         INSERT INTO k SELECT 'k' || i, 1, 2, 3 FROM n; INSERT INTO hidden SELECT a, 5, 6 FROM k;",
    );
    let found = sampled(&odd, 200_000).unwrap();
    assert_eq!(found.notes, [""; 0]);
    for name in ["k", "hidden"] {
        let table = found.database.table(name).unwrap();
        assert!(
            (2_000..200_000).contains(&table.rows),
            "{name}: {}",
            table.rows
        );
    }
}
