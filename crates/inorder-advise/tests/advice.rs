//! The advice as a whole: thresholds, and what is said of each change.

mod common;

use common::{advice, made, numbers, of, uuid};
use inorder_advise::{
    Change,
    advice::{Advice, Verdict},
    rules::{Class, Group},
};
use rusqlite::Connection;

/// Rows of which one fits a page of 4096 bytes, and three one of 8192.
fn wide_rows(rows: u32) -> String {
    format!(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, body BLOB); {} INSERT INTO t SELECT i, randomblob(2300) FROM n",
        numbers(rows)
    )
}

fn page_sizes(advice: &Advice) -> Vec<(Verdict, &[String])> {
    let items = advice
        .items
        .iter()
        .filter(|item| item.group == Group::PageSize);
    items
        .map(|item| (item.verdict, &*item.parts[0].candidate.notes))
        .collect()
}

#[test]
fn a_page_size_is_proposed_for_large_files_and_never_silently_in_wal_mode() {
    let folder = tempfile::tempdir().unwrap();
    let small = made(folder.path(), &wide_rows(2000));
    assert_eq!(page_sizes(&advice(&small).unwrap()), []);
    std::fs::remove_file(small).unwrap();
    let large = made(folder.path(), &wide_rows(3000));
    let found = advice(&large).unwrap();
    let sizes = page_sizes(&found);
    assert_eq!(sizes[0].0, Verdict::Change);
    assert!(
        !sizes[0].1.iter().any(|note| note.contains("WAL")),
        "{sizes:?}"
    );
    Connection::open(&large)
        .unwrap()
        .pragma_update(None, "journal_mode", "WAL")
        .unwrap();
    let found = advice(&large).unwrap();
    let sizes = page_sizes(&found);
    assert_eq!(sizes[0].0, Verdict::Change);
    assert!(
        sizes[0].1.iter().any(|note| note.contains("WAL mode")),
        "{sizes:?}"
    );
}

/// Every layout is tried: rows of 200 bytes are smaller by rowid, rows of 20 bytes are not.
#[test]
fn tables_without_rowid_are_measured_by_rowid() {
    let folder = tempfile::tempdir().unwrap();
    let sql = format!(
        "CREATE TABLE wide(k BLOB PRIMARY KEY, v) WITHOUT ROWID; CREATE TABLE narrow(k BLOB PRIMARY KEY, v) WITHOUT ROWID;
         {0} INSERT INTO wide SELECT randomblob(8), randomblob(1200) FROM n; {0} INSERT INTO narrow SELECT randomblob(8), i FROM n",
        numbers(3000)
    );
    let found = advice(&made(folder.path(), &sql)).unwrap();
    let layouts = found.items.iter().filter(|item| item.group == Group::Rowid);
    let verdicts: Vec<_> = layouts
        .map(|item| (&*item.parts[0].candidate.table, item.verdict))
        .collect();
    assert_eq!(
        verdicts,
        [("wide", Verdict::Change), ("narrow", Verdict::Leave)]
    );
}

/// Rows of which one fits a page of 4096 bytes and three one of 8192, with an index that inserts write to anywhere: the
/// file shrinks by a third, inserts write more, and the advice says both.
#[test]
fn a_page_size_that_saves_a_third_says_what_inserts_write() {
    let folder = tempfile::tempdir().unwrap();
    let sql = format!(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, level INTEGER, body BLOB); {} INSERT INTO t
           SELECT i, abs(random() % 100000), randomblob(2180) FROM n; CREATE INDEX t_level ON t(level);",
        numbers(6000)
    );
    let found = advice(&made(folder.path(), &sql)).unwrap();
    let mut items = found.items.iter();
    let size = items.find(|item| {
        item.group == Group::PageSize && item.parts[0].candidate.object == "page size 8192"
    });
    let size = size.unwrap();
    assert!(size.percent > Some(30.0), "{size:?}");
    assert_eq!(size.verdict, Verdict::Change, "{size:?}");
    let reason = &size.parts[0].candidate.reason;
    assert!(reason.contains("times the bytes"), "{reason}");
}

/// Rows of which two fit a page of 4096 bytes and eleven one of 16384, with indexes that inserts write to anywhere.
#[test]
fn a_page_size_that_makes_inserts_write_more_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let sql = format!(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b, c, body BLOB); {} INSERT INTO t
           SELECT i, hex(randomblob(30)), hex(randomblob(30)), hex(randomblob(30)), randomblob(1200) FROM n;
         CREATE INDEX t_a ON t(a); CREATE INDEX t_b ON t(b); CREATE INDEX t_c ON t(c);",
        numbers(10000)
    );
    let found = advice(&made(folder.path(), &sql)).unwrap();
    let sizes = found
        .items
        .iter()
        .filter(|item| item.group == Group::PageSize);
    let best = sizes.max_by_key(|item| item.saved_bytes).unwrap();
    assert!(best.percent > Some(10.0), "{best:?}");
    assert_eq!(best.verdict, Verdict::Leave);
    let reason = &best.parts[0].candidate.reason;
    assert!(reason.contains("times the bytes"), "{reason}");
    assert!(found.together.is_none(), "{:?}", found.together);
}

/// Inserts of ids in order are measured in a copy of one table, whatever that table needs besides itself.
#[test]
fn random_ids_are_measured_in_tables_of_every_key() {
    for key in [
        "k INTEGER PRIMARY KEY AUTOINCREMENT",
        "k INTEGER PRIMARY KEY",
        "k INT PRIMARY KEY",
        "k INTEGER REFERENCES u(k)",
        "k INTEGER NOT NULL, l AS (k + 1) UNIQUE",
    ] {
        for unique in ["id TEXT UNIQUE", "id TEXT PRIMARY KEY"] {
            if key.contains("PRIMARY") && unique.contains("PRIMARY") {
                continue;
            }
            let folder = tempfile::tempdir().unwrap();
            let sql = format!(
                "CREATE TABLE u(k INTEGER PRIMARY KEY); CREATE TABLE t({key}, {unique});
                 CREATE TRIGGER after_t AFTER INSERT ON t BEGIN INSERT INTO u VALUES (NULL); END;
                 {} INSERT INTO t(k, id) SELECT i, {} FROM n",
                numbers(10_000),
                uuid(4)
            );
            let found = advice(&made(folder.path(), &sql))
                .unwrap_or_else(|error| panic!("{key}, {unique}: {error}"));
            let mut items = found.items.iter();
            let item = items.find(|item| item.group == Group::RandomIds);
            let inserts = item.and_then(|item| item.parts[0].inserts.as_ref());
            let inserts = inserts.unwrap_or_else(|| panic!("{key}, {unique}: {item:?}"));
            assert!(inserts.saved_percent() > 0.0, "{key}, {unique}");
        }
    }
}

#[test]
fn a_full_text_index_that_does_not_fit_its_content_is_told() {
    const SCHEMA: &str = "CREATE TABLE page(id INTEGER PRIMARY KEY, body); INSERT INTO page VALUES (1, 'one'), (2, 'two');
        CREATE VIRTUAL TABLE \"the words\" USING fts5(body, content='page', content_rowid='id');
        INSERT INTO \"the words\"(\"the words\") VALUES ('rebuild');";
    for (spoil, count) in [("", 0), ("DELETE FROM page WHERE id = 2", 1)] {
        let folder = tempfile::tempdir().unwrap();
        let path = made(folder.path(), &format!("{SCHEMA} {spoil}"));
        let before = std::fs::read(&path).unwrap();
        let found = advice(&path).unwrap();
        let is_it = |note: &&String| note.contains("full-text index the words does not fit");
        assert_eq!(
            found.notes.iter().filter(is_it).count(),
            count,
            "{:?}",
            found.notes
        );
        assert!(std::fs::read(&path).unwrap() == before);
    }
}

#[test]
fn texts_that_are_no_utf_8_are_measured_as_others_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.db");
    let connection = Connection::open(&path).unwrap();
    connection
        .execute_batch(
            "CREATE TABLE t(id TEXT PRIMARY KEY, name TEXT, n INT);
             CREATE INDEX t_name ON t(name); CREATE INDEX t_name_n ON t(name, n);
             WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 20000)
             INSERT INTO t SELECT CAST(x'ff41' || randomblob(14) AS TEXT), CAST(x'e4' || i % 900 AS TEXT), i FROM c",
        )
        .unwrap();
    drop(connection);
    let advice = advice(&path).unwrap();
    let mut changes = advice
        .items
        .iter()
        .filter(|item| item.verdict == Verdict::Change);
    let dropped = changes.find(|item| {
        item.parts
            .iter()
            .any(|part| part.candidate.object == "t_name")
    });
    let dropped = dropped.expect("the index is redundant");
    assert!(
        dropped.parts.iter().any(|part| !part.look_ups.is_empty()) || dropped.saved_bytes > Some(0)
    );
    let inserts = advice.items.iter().flat_map(|item| &item.parts);
    assert!(
        inserts
            .filter_map(|part| part.inserts.as_ref())
            .all(|own| own.rows > 0)
    );
}

/// VACUUM leaves room in the schema's pages, because it writes each row of it twice.
#[test]
fn the_size_together_is_that_of_a_vacuum_after_the_changes() {
    for words in [3, 31, 59] {
        let folder = tempfile::tempdir().unwrap();
        let rows = numbers(300);
        let table = |n: usize| {
            let comment = "word ".repeat(words + n * 7 % 40);
            format!(
                "CREATE TABLE t{n}(a, b /* {comment} */); CREATE INDEX a{n} ON t{n}(a); CREATE INDEX ab{n} ON t{n}(a, b);
                 {rows} INSERT INTO t{n} SELECT i, i FROM n;"
            )
        };
        let tables: String = (0..30).map(table).collect();
        let path = made(folder.path(), &tables);
        let found = advice(&path).unwrap().together.unwrap();
        assert_eq!(found.plan.changes.len(), 30);
        let database = Connection::open(&path).unwrap();
        for change in found.plan.changes {
            let Change::DropIndex { index } = change else {
                panic!("{change:?}");
            };
            let drop = format!("DROP INDEX {index}");
            database.execute_batch(&drop).unwrap();
        }
        database.execute_batch("VACUUM").unwrap();
        drop(database);
        assert_eq!(path.metadata().unwrap().len(), found.bytes, "{words}");
    }
}

#[test]
fn a_rowid_that_changes_what_is_stored_is_told() {
    let found = |columns: &str, rest: &str| {
        let rows = numbers(100);
        let sql = format!(
            "CREATE TABLE t({columns}, b) WITHOUT ROWID; {rows} INSERT INTO t SELECT i, 'b' FROM n; {rest}"
        );
        let mut found = of(&sql, Group::Rowid);
        assert_eq!(found.len(), 1, "{found:?}");
        found.remove(0)
    };
    let text = found("k TEXT PRIMARY KEY", "");
    assert_eq!(text.class, Class::Safe);
    let notes = text.notes.join(" ");
    assert!(notes.contains("last_insert_rowid"), "{notes}");
    assert!(!notes.contains("next integer"), "{notes}");
    let notes = found("k INTEGER PRIMARY KEY", "").notes.join(" ");
    assert!(
        notes.contains("NULL in the key gets the next integer"),
        "{notes}"
    );
    let default = found("k INTEGER DEFAULT 7 PRIMARY KEY", "");
    assert_eq!(default.class, Class::Rejected);
    assert!(default.reason.contains("DEFAULT"), "{}", default.reason);
    let trigger = "CREATE TABLE c(p); CREATE TRIGGER g AFTER INSERT ON t BEGIN INSERT INTO c VALUES (last_insert_rowid()); END";
    let trigger = found("k TEXT PRIMARY KEY", trigger);
    assert_eq!(trigger.class, Class::Rejected);
    assert!(trigger.reason.contains("trigger g"), "{}", trigger.reason);
}
