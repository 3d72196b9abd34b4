//! Behaviour specific to SQLite: settings, locks and pages.

mod common;

use common::{integers, write};
use inorder_engine::{
    AutoVacuum, Batch, Column, Database, Engine, Error, Journal, Retry, Settings, Synchronous,
    Value, sqlite::Sqlite,
};
use std::{collections::HashMap, sync::Arc, time::Duration};
use tempfile::TempDir;

/// Runs a check with a fresh folder.
fn with_sqlite(check: impl Fn(&dyn Engine, &TempDir)) {
    check(&Sqlite, &tempfile::tempdir().unwrap());
}

/// The same, with a database of the default settings.
fn with_database(check: impl Fn(&dyn Database)) {
    with_sqlite(|engine, folder| {
        check(&*engine.create(folder.path(), &Settings::default()).unwrap());
    });
}

#[test]
fn settings_are_read_back() {
    for (number, &journal) in Journal::ALL.iter().enumerate() {
        let settings = Settings {
            page_size_bytes: 512 << number,
            cache_kib: 100 + number as u64,
            journal,
            synchronous: Synchronous::ALL[number % Synchronous::ALL.len()],
            mmap_bytes: 65536 * number as u64,
            auto_vacuum: AutoVacuum::ALL[number % AutoVacuum::ALL.len()],
            checkpoint_pages: 10 * number as u32,
            foreign_keys: number % 2 == 0,
            ..Settings::default()
        };
        with_sqlite(|engine, folder| {
            let database = engine.create(folder.path(), &settings).unwrap();
            let read: HashMap<_, _> = database.settings().unwrap().into_iter().collect();
            for (name, wanted) in [
                ("page_size", settings.page_size_bytes.to_string()),
                ("cache_size", format!("-{}", settings.cache_kib)),
                ("journal_mode", settings.journal.name().into()),
                ("synchronous", settings.synchronous.name().into()),
                ("mmap_size", settings.mmap_bytes.to_string()),
                ("auto_vacuum", settings.auto_vacuum.name().into()),
                ("wal_autocheckpoint", settings.checkpoint_pages.to_string()),
                (
                    "foreign_keys",
                    if settings.foreign_keys { "on" } else { "off" }.into(),
                ),
            ] {
                assert_eq!(read[name], wanted, "{name}");
            }
            // Writers and readers check the same settings when they connect.
            database.execute("CREATE TABLE t(x INTEGER)").unwrap();
            write(&*database, "t", &["x"], &integers(0..10));
            let mut reader = database.reader("SELECT x FROM t").unwrap();
            assert_eq!(reader.query(&Batch::default(), 0).unwrap(), 10);
            assert_eq!(database.settings().unwrap(), database.settings().unwrap());
        });
    }
}

#[test]
fn columns_tell_what_may_be_left_out() {
    with_database(|database| {
        database
            .execute(
                "CREATE TABLE rowid(id INTEGER PRIMARY KEY NOT NULL, must TEXT NOT NULL,
                     may REAL, \"default\" INT NOT NULL DEFAULT 3,
                     twice INT NOT NULL GENERATED ALWAYS AS (may * 2));
                 CREATE TABLE own(a INTEGER NOT NULL, b TEXT NOT NULL, c, PRIMARY KEY(b, a));
                 CREATE TABLE clustered(id INTEGER PRIMARY KEY, x) WITHOUT ROWID;
                 CREATE TABLE int(id INT PRIMARY KEY NOT NULL);",
            )
            .unwrap();
        let columns = |table| -> Vec<_> {
            let columns = database.columns(table).unwrap().into_iter();
            columns
                .map(|c| (c.name, c.declared_type, c.is_optional, c.primary_key))
                .collect()
        };
        let column = |name: &str, declared: &str, is_optional, primary_key| {
            (
                name.to_owned(),
                declared.to_owned(),
                is_optional,
                primary_key,
            )
        };
        assert_eq!(
            columns("rowid"),
            [
                column("id", "INTEGER", true, 1),
                column("must", "TEXT", false, 0),
                column("may", "REAL", true, 0),
                column("default", "INT", true, 0),
                column("twice", "INT", true, 0),
            ]
        );
        assert_eq!(
            columns("own"),
            [
                column("a", "INTEGER", false, 2),
                column("b", "TEXT", false, 1),
                column("c", "", true, 0),
            ]
        );
        assert_eq!(columns("clustered")[0], column("id", "INTEGER", false, 1));
        assert_eq!(columns("int"), [column("id", "INT", false, 1)]);
    });
}

#[test]
fn structure_accounts_for_every_page() {
    with_database(|database| {
        database
            .execute(
                "CREATE TABLE t(id INTEGER PRIMARY KEY, x INTEGER UNIQUE, note BLOB);
                 CREATE TABLE w(id INTEGER PRIMARY KEY) WITHOUT ROWID;",
            )
            .unwrap();
        let rows = 20_000;
        let batch = Batch {
            columns: vec![
                Column::Integers((0..rows).collect()),
                Column::Integers((0..rows).map(|row| row * 7919 % 1_000_003).collect()),
                Column::Any(
                    (0..rows)
                        .map(|row| match row % 1000 {
                            0 => Value::Blob(Arc::from(vec![1; 10_000])),
                            _ => Value::Null,
                        })
                        .collect(),
                ),
            ],
        };
        write(database, "t", &["id", "x", "note"], &batch);
        write(database, "w", &["id"], &integers(0..rows));
        database.quiesce().unwrap();

        let trees = database.structure().unwrap();
        let total: u64 = trees.iter().map(|tree| tree.size_bytes).sum();
        assert_eq!(total, database.size_bytes().unwrap());
        let names: Vec<_> = trees
            .iter()
            .map(|tree| (tree.name.as_str(), tree.table.as_str(), tree.is_index))
            .collect();
        assert_eq!(
            names,
            [
                ("sqlite_autoindex_t_1", "t", true),
                ("sqlite_schema", "sqlite_schema", false),
                ("t", "t", false),
                ("w", "w", false),
            ]
        );
        for tree in &trees {
            let parts = [tree.leaf_pages, tree.interior_pages, tree.overflow_pages];
            let sum: u64 = parts.iter().flatten().sum();
            assert_eq!(tree.pages, sum, "{tree:?}");
            assert!((0.01..=1.0).contains(&tree.fill.unwrap()), "{tree:?}");
            assert!(tree.payload_bytes < Some(tree.size_bytes), "{tree:?}");
            assert_eq!(tree.fanout.is_some(), tree.depth > Some(1), "{tree:?}");
            if tree.name != "sqlite_schema" {
                assert_eq!(tree.entries, Some(rows as u64), "{tree:?}");
                assert_eq!(tree.depth, Some(2), "{tree:?}");
                assert_eq!(
                    tree.fanout,
                    tree.leaf_pages.map(|pages| pages as f64),
                    "{tree:?}"
                );
            }
            let fill = database.page_fill(&tree.name).unwrap();
            assert_eq!(Some(fill.leaves.len() as u64), tree.leaf_pages);
        }
        assert_eq!(
            (trees[0].overflow_pages, trees[2].overflow_pages),
            (Some(0), Some(40))
        );
        assert_eq!((trees[1].entries, trees[1].depth), (Some(3), Some(1)));
    });
}

#[test]
fn page_fill_is_in_key_order() {
    with_database(|database| {
        database
            .execute("CREATE TABLE t(x INTEGER PRIMARY KEY)")
            .unwrap();
        write(database, "t", &["x"], &integers(0..5000));
        let fill = database.page_fill("t").unwrap();
        assert_eq!(fill.name, "t");
        // Filled in key order: each leaf is full but the last, and pages were taken as they came.
        let (last, full) = fill.leaves.split_last().unwrap();
        assert!(full.iter().all(|&(_, share)| share > 0.99));
        assert!(last.1 < 0.99);
        assert!(fill.leaves.is_sorted_by_key(|&(page, _)| page));
    });
}

#[test]
fn a_checkpoint_is_due_after_so_many_pages() {
    with_sqlite(|engine, folder| {
        let settings = Settings {
            checkpoint_pages: 20,
            ..Settings::default()
        };
        let database = engine.create(folder.path(), &settings).unwrap();
        database
            .execute("CREATE TABLE t(x INTEGER PRIMARY KEY)")
            .unwrap();
        database.quiesce().unwrap();
        let mut writer = database.writer("t", &["x"], Retry::default()).unwrap();
        assert!(!writer.checkpoint_if_due().unwrap());
        let batch = integers(0..20_000);
        let mut was_due = Vec::new();
        for rows in [0..10, 10..10_000, 10_000..10_001] {
            writer.begin().unwrap();
            writer.insert(&batch, rows).unwrap();
            let main = database.io().file("main");
            writer.commit().unwrap();
            assert_eq!(
                database.io().file("main"),
                main,
                "a commit runs no checkpoint"
            );
            was_due.push(writer.checkpoint_if_due().unwrap());
            assert!(!writer.checkpoint_if_due().unwrap(), "once a commit");
        }
        assert_eq!(was_due, [false, true, false]);
    });
}

#[test]
fn quiesce_says_when_somebody_is_in_the_way() {
    with_database(|database| {
        database.execute("CREATE TABLE t(x INTEGER)").unwrap();
        let mut writer = database.writer("t", &["x"], Retry::default()).unwrap();
        writer.begin().unwrap();
        writer.insert(&integers([1]), 0..1).unwrap();
        assert!(database.quiesce().is_err());
        writer.commit().unwrap();
        database.quiesce().unwrap();
        assert_eq!(database.count("t").unwrap(), 1);
    });
}

#[test]
fn a_locked_database_is_an_error_after_the_last_retry() {
    with_database(|database| {
        database.execute("CREATE TABLE t(x INTEGER)").unwrap();
        let retry = Retry {
            retries_max: 5,
            pause: Duration::from_micros(1),
        };
        let mut first = database.writer("t", &["x"], retry).unwrap();
        let mut second = database.writer("t", &["x"], retry).unwrap();
        first.begin().unwrap();
        let error = second.begin().unwrap_err();
        assert!(matches!(error, Error::Busy { retries: 5 }), "{error}");
        assert_eq!((first.retries(), second.retries()), (0, 5));
        first.commit().unwrap();
        second.begin().unwrap();
    });
}

#[test]
fn a_full_database_is_a_full_disk() {
    with_database(|database| {
        database.execute("CREATE TABLE t(x BLOB)").unwrap();
        database.execute("PRAGMA max_page_count = 10").unwrap();
        let error = database
            .execute("INSERT INTO t VALUES(zeroblob(100000))")
            .unwrap_err();
        assert!(matches!(error, Error::DiskFull { .. }), "{error}");
        assert!(error.to_string().contains("inorder.db"), "{error}");
    });
}

#[test]
fn forgotten_pages_are_read_again() {
    with_database(|database| {
        database.execute("CREATE TABLE t(x INTEGER)").unwrap();
        write(database, "t", &["x"], &integers(0..1000));
        database.forget_cached_pages().unwrap();
        // The locks survived: another writer still waits for this one.
        let retry = Retry {
            retries_max: 0,
            ..Retry::default()
        };
        let mut first = database.writer("t", &["x"], retry).unwrap();
        first.begin().unwrap();
        database.forget_cached_pages().unwrap();
        assert!(
            database
                .writer("t", &["x"], retry)
                .unwrap()
                .begin()
                .is_err()
        );
        first.commit().unwrap();
        assert_eq!(database.count("t").unwrap(), 1000);
    });
}

#[test]
fn a_reader_reads_overflow_pages_and_the_plan_is_told() {
    with_database(|database| {
        database
            .execute("CREATE TABLE t(x INTEGER PRIMARY KEY, b BLOB)")
            .unwrap();
        let batch = Batch {
            columns: vec![
                Column::Integers(vec![1]),
                Column::Any(vec![Value::Blob(Arc::from(vec![7; 1_000_000]))]),
            ],
        };
        write(database, "t", &["x", "b"], &batch);
        database.quiesce().unwrap();
        let sql = "SELECT b FROM t WHERE x = ?";
        let mut reader = database.reader(sql).unwrap();
        let before = database.io().file("main").read_bytes.unwrap();
        assert_eq!(reader.query(&integers([1]), 0).unwrap(), 1);
        assert_eq!(reader.query(&integers([2]), 0).unwrap(), 0);
        assert!(database.io().file("main").read_bytes.unwrap() - before > 1_000_000);
        let plan = database.query_plan(sql).unwrap();
        assert_eq!(plan.len(), 1);
        assert!(plan[0].contains("SEARCH t"), "{plan:?}");
    });
}
