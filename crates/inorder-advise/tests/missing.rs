//! Databases whose collations and functions only the application has.

mod common;

use common::advice;
use inorder_advise::{
    advice::Verdict,
    migrate,
    rules::{Class, Group},
};
use rusqlite::{Connection, functions::FunctionFlags};
use std::path::{Path, PathBuf};

/// A table that needs a collation, one that needs a function, and one that needs neither.
fn made(folder: &Path) -> PathBuf {
    let path = folder.join("app.db");
    let connection = Connection::open(&path).unwrap();
    connection
        .create_collation("unicase", |a: &str, b: &str| {
            a.to_lowercase().cmp(&b.to_lowercase())
        })
        .unwrap();
    connection
        .create_scalar_function("mine", 1, FunctionFlags::SQLITE_DETERMINISTIC, |_| Ok(7))
        .unwrap();
    connection
        .execute_batch(
            "CREATE TABLE note(guid TEXT COLLATE unicase PRIMARY KEY, body TEXT, made INT);
             CREATE INDEX note_made ON note(made); CREATE INDEX note_made_body ON note(made, body);
             CREATE TABLE card(id INTEGER PRIMARY KEY, a INT, twice AS (mine(a)));
             CREATE INDEX card_a ON card(a); CREATE INDEX card_mine ON card(mine(a));
             CREATE TABLE tag(item TEXT NOT NULL, tag TEXT NOT NULL, n INT, PRIMARY KEY(item, tag));
             CREATE INDEX tag_item ON tag(item);
             CREATE VIEW v AS SELECT mine(n) FROM tag;
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
             INSERT INTO note SELECT iif(i % 2, 'N', 'n') || i, 'body of ' || i, i FROM n;
             INSERT INTO card(a) SELECT made FROM note;
             INSERT INTO tag SELECT guid, 'tag' || (made % 7), made FROM note;",
        )
        .unwrap();
    path
}

#[test]
fn other_tables_are_changed_where_one_needs_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let path = made(folder.path());
    let found = advice(&path).unwrap();
    let note = found.notes.iter().find(|note| note.starts_with("Missing"));
    assert_eq!(
        note.unwrap(),
        "Missing here: mine, unicase. The tables that need it are read for their sizes, and stay as they are: note, card."
    );
    let safe = |table: &str| {
        let parts = found.items.iter().flat_map(|item| &item.parts);
        let parts = parts.filter(|part| part.candidate.class == Class::Safe);
        let own = parts.filter(|part| part.candidate.table == table);
        own.map(|part| part.candidate.group).collect::<Vec<_>>()
    };
    assert_eq!(safe("note"), []);
    assert_eq!(safe("card"), []);
    let mut changes = safe("tag");
    changes.sort();
    assert_eq!(changes, [Group::RedundantIndex, Group::WithoutRowid]);
    assert!(found.items[0].verdict == Verdict::Change);
    let together = found.together.unwrap();
    assert_eq!(together.refused, [""; 0]);
    assert_eq!(together.plan.changes.len(), 2);
    assert!(together.bytes < found.vacuumed_bytes.unwrap());
    // The tables that stay are as large as before.
    let bytes = |trees: &[inorder_advise::advice::TreeSize], table: &str| {
        let own = trees.iter().filter(|tree| tree.table == table);
        own.map(|tree| tree.bytes).sum::<u64>()
    };
    assert_eq!(
        bytes(&together.trees, "note"),
        trees_of(&found.database, "note")
    );
}

fn trees_of(database: &inorder_advise::read::Database, table: &str) -> u64 {
    let table = database.table(table).unwrap();
    table.pages() * u64::from(database.page_bytes)
}

/// VACUUM with a stand-in would put each entry between others, as the real collation sorts them.
#[test]
fn sizes_are_those_of_a_vacuum_that_has_the_collation() {
    for mode in ["DELETE", "WAL"] {
        let folder = tempfile::tempdir().unwrap();
        let path = made(folder.path());
        let connection = Connection::open(&path).unwrap();
        connection
            .pragma_update(None, "journal_mode", mode)
            .unwrap();
        drop(connection);
        let found = advice(&path).unwrap();
        let connection = Connection::open(&path).unwrap();
        connection
            .create_collation("unicase", |a: &str, b: &str| {
                a.to_lowercase().cmp(&b.to_lowercase())
            })
            .unwrap();
        connection
            .create_scalar_function("mine", 1, FunctionFlags::SQLITE_DETERMINISTIC, |_| Ok(7))
            .unwrap();
        connection.execute_batch("VACUUM").unwrap();
        drop(connection);
        let vacuumed = path.metadata().unwrap().len();
        let found = found.vacuumed_bytes.unwrap();
        assert!(
            found.abs_diff(vacuumed) <= 4096,
            "{mode}: {found} {vacuumed}"
        );
    }
}

/// The migration runs in a shell that has none of the application's code, and leaves its tables as they are.
#[test]
fn a_migration_is_proven_without_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let path = made(folder.path());
    let plan = advice(&path).unwrap().together.unwrap().plan;
    let migration = migrate(&path, folder.path(), "app.db", &plan.changes, &[]).unwrap();
    let vacuum = "-- No VACUUM: note needs a collation or function of the application.\n";
    assert!(migration.script.contains(vacuum), "{}", migration.script);
    let connection = Connection::open(&path).unwrap();
    let script = migration.script.replacen("\n.bail on\n", "\n", 1);
    connection.execute_batch(&script).unwrap();
    let kept: i64 = connection
        .query_row("SELECT count(*) FROM note WHERE made > 0", (), |row| {
            row.get(0)
        })
        .unwrap();
    assert_eq!(kept, 3000);
}
