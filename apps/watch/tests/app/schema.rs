//! Files of every version that was released become files of this one, with all that was in them.

use inorder_watch::{
    Error,
    db::{Database, MIGRATIONS, entries, users},
};
use rusqlite::Connection;
use std::{fs, path::Path};

fn released() -> Vec<(u32, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/schemas");
    let mut files: Vec<(u32, String)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let version = path.file_stem().unwrap().to_str().unwrap().parse().unwrap();
            (version, fs::read_to_string(path).unwrap())
        })
        .collect();
    files.sort();
    files
}

/// The schema of a file.
fn shape(path: &Path) -> Vec<String> {
    let db = Connection::open(path).unwrap();
    let sql = "SELECT type || ' ' || name || ' ' || coalesce(sql, '') FROM sqlite_schema ORDER BY type, name";
    let mut statement = db.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

#[test]
fn every_released_schema_has_its_file() {
    let versions: Vec<u32> = released().iter().map(|(version, _)| *version).collect();
    let all: Vec<u32> = (1..).take(MIGRATIONS.len()).collect();
    assert_eq!(
        versions, all,
        "add tests/schemas/N.sql for the newest schema, with a row in every table"
    );
}

#[test]
fn every_released_schema_becomes_the_newest_with_its_rows() {
    let folder = tempfile::tempdir().unwrap();
    let new = folder.path().join("new.db");
    drop(Database::open(&new).unwrap());
    for (version, dump) in released() {
        let path = folder.path().join(format!("{version}.db"));
        let old = Connection::open(&path).unwrap();
        inorder_sqlite::register(&old).unwrap();
        old.execute_batch(&dump).unwrap();
        drop(old);
        let db = Database::open(&path).unwrap();
        assert_eq!(shape(&path), shape(&new), "from schema {version}");
        db.read(|db| {
            let anna = users::by_name(db, "anna")?;
            let list = entries::all(db, anna.number)?;
            assert_eq!(list[0].film.facts.title, "Alien");
            assert_eq!(list[0].state.note.as_deref(), Some("With the lights on"));
            let tags: &[&str] = if version < 9 { &[] } else { &["Halloween"] };
            assert_eq!(list[0].state.tags, tags);
            assert_eq!(list[0].state.earlier.is_empty(), version < 9);
            for public_only in [false, true] {
                let count = |watched| {
                    let entries = list.iter().map(|entry| &entry.state);
                    let counted = |state: &&entries::State| {
                        state.watched == watched && (state.public || !public_only)
                    };
                    entries.filter(counted).count() as i64
                };
                let counts = entries::counts(db, anna.number, public_only)?;
                assert_eq!(counts, (count(false), count(true)), "from schema {version}");
            }
            let found = inorder_watch::db::find::by_title(db, "Alien", Some(1979))?;
            assert!(found.is_some(), "the index isn't there");
            Ok(())
        })
        .unwrap();
        let db = Connection::open(&path).unwrap();
        let fine: String = db
            .query_row("PRAGMA integrity_check", [], |row| row.get(0))
            .unwrap();
        assert_eq!(fine, "ok");
        // SQLite 3.40 refuses this in its integrity check.
        let sql = "SELECT count(*) FROM sqlite_schema WHERE sql LIKE '%value TEXT CHECK (json_valid(value))%'";
        let wrong: i64 = db.query_row(sql, [], |row| row.get(0)).unwrap();
        assert_eq!(wrong, 0, "from schema {version}");
        let sql = "SELECT count(*) FROM (SELECT before FROM gone UNION ALL SELECT before FROM undo UNION ALL SELECT after FROM undo)
                   WHERE json_array_length(before) <> 11";
        let short: i64 = db.query_row(sql, [], |row| row.get(0)).unwrap();
        assert_eq!(short, 0, "from schema {version}");
    }
}

#[test]
fn a_newer_file_and_a_foreign_one_are_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let newer = folder.path().join("newer.db");
    drop(Database::open(&newer).unwrap());
    let db = Connection::open(&newer).unwrap();
    db.pragma_update(None, "user_version", 99).unwrap();
    drop(db);
    let before = fs::read(&newer).unwrap();
    assert!(matches!(
        Database::open(&newer),
        Err(Error::Newer { found: 99, .. })
    ));
    assert_eq!(fs::read(&newer).unwrap(), before);

    let text = folder.path().join("notes.txt");
    fs::write(
        &text,
        "not a database, but long enough to be taken for one".repeat(100),
    )
    .unwrap();
    assert!(matches!(Database::open(&text), Err(Error::Foreign(_))));
    assert!(
        fs::read_to_string(&text)
            .unwrap()
            .starts_with("not a database")
    );
}
