//! What every engine must do, run over each in [`ENGINES`].

use inorder_engine::{
    AutoVacuum, Batch, Column, Database, ENGINES, Engine, Error, Journal, Retry, Settings,
    Synchronous, Value,
};
use inorder_key::{Encoding, KeyKind};
use std::{collections::HashMap, sync::Arc, time::Duration};
use tempfile::TempDir;

/// Runs a check on every engine, in a fresh folder each.
fn on_every_engine(check: impl Fn(&dyn Engine, &TempDir)) {
    for engine in ENGINES {
        check(*engine, &tempfile::tempdir().unwrap());
    }
}

/// The same, with a database of the default settings.
fn on_every_database(check: impl Fn(&dyn Database)) {
    on_every_engine(|engine, folder| {
        check(&*engine.create(folder.path(), &Settings::default()).unwrap());
    });
}

fn integers(values: impl IntoIterator<Item = i64>) -> Batch {
    Batch {
        columns: vec![Column::Integers(values.into_iter().collect())],
    }
}

/// Writes all rows of a batch in one transaction.
fn write(database: &dyn Database, table: &str, columns: &[&str], batch: &Batch) {
    let mut writer = database.writer(table, columns, Retry::default()).unwrap();
    writer.begin().unwrap();
    writer.insert(batch, 0..batch.rows()).unwrap();
    writer.commit().unwrap();
    writer.checkpoint_if_due().unwrap();
}

#[test]
fn the_engine_says_who_it_is() {
    on_every_engine(|engine, _| {
        let info = engine.info().unwrap();
        assert_eq!(info.name, engine.name());
        assert!(info.version.contains('.'), "{}", info.version);
        assert!(!info.compile_options.is_empty());
        assert_eq!(
            inorder_engine::engine(engine.name()).map(Engine::name),
            Some(engine.name())
        );
    });
}

#[test]
fn every_kind_of_key_has_a_type_in_its_first_encoding() {
    on_every_engine(|engine, _| {
        for &kind in KeyKind::ALL {
            assert!(engine.key_type(kind, kind.encodings()[0]).is_some());
        }
        assert_eq!(engine.key_type(KeyKind::Uuid4, Encoding::Integer), None);
    });
}

#[test]
fn a_database_is_not_created_over_another() {
    on_every_engine(|engine, folder| {
        let settings = Settings::default();
        let database = engine.create(folder.path(), &settings).unwrap();
        database.execute("CREATE TABLE t(x INTEGER)").unwrap();
        let again = engine.create(folder.path(), &settings).err().unwrap();
        assert!(matches!(again, Error::Exists { .. }), "{again}");
        assert_eq!(database.count("t").unwrap(), 0);

        let nowhere = folder.path().join("missing");
        let error = engine.create(&nowhere, &settings).err().unwrap();
        assert!(error.to_string().contains("missing"), "{error}");
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
        };
        on_every_engine(|engine, folder| {
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
fn a_setting_the_engine_does_not_take_is_an_error() {
    on_every_engine(|engine, folder| {
        for (settings, value) in [
            (
                Settings {
                    page_size_bytes: 1000,
                    ..Settings::default()
                },
                "1000",
            ),
            (
                Settings {
                    cache_kib: 1 << 40,
                    ..Settings::default()
                },
                "1099511627776",
            ),
        ] {
            let error = engine.create(folder.path(), &settings).err().unwrap();
            assert!(matches!(error, Error::Unsupported { .. }), "{error}");
            assert!(error.to_string().contains(value), "{error}");
        }
        // Nothing is left in the way of another try.
        engine.create(folder.path(), &Settings::default()).unwrap();
    });
}

/// Two rows in every variant of a column.
fn one_of_each() -> Batch {
    let fixed = |bytes: &[u8], is_text| Column::Fixed {
        width_bytes: 3,
        bytes: bytes.to_vec(),
        is_text,
    };
    let spans = |is_text| Column::Spans {
        pool: Arc::from("pool of text".as_bytes()),
        spans: vec![(8, 4), (4, 0)],
        is_text,
    };
    Batch {
        columns: vec![
            Column::Integers(vec![i64::MIN, i64::MAX]),
            Column::Reals(vec![-0.5, 1e300]),
            fixed(b"abcdef", true),
            fixed(&[0, 1, 2, 255, 0, 255], false),
            spans(true),
            spans(false),
            Column::Any(vec![Value::Null, Value::Text("ü".into())]),
            Column::Any(vec![Value::Blob(Arc::from([0u8; 0])), Value::Real(2.5)]),
        ],
    }
}

#[test]
fn every_column_variant_is_stored_and_found_again() {
    const COLUMNS: [&str; 8] = ["i", "r", "ft", "fb", "st", "sb", "a", "b"];
    on_every_database(|database| {
        database
            .execute("CREATE TABLE t(i INTEGER, r REAL, ft TEXT, fb BLOB, st TEXT, sb BLOB, a, b)")
            .unwrap();
        let batch = one_of_each();
        write(database, "t", &COLUMNS, &batch);
        assert_eq!(database.count("t").unwrap(), 2);
        let wanted: Vec<_> = COLUMNS.iter().map(|name| format!("{name} IS ?")).collect();
        let sql = format!("SELECT * FROM t WHERE {}", wanted.join(" AND "));
        let mut reader = database.reader(&sql).unwrap();
        assert_eq!(reader.query(&batch, 0).unwrap(), 1);
        assert_eq!(reader.query(&batch, 1).unwrap(), 1);
        let mut types = database
            .reader(
                "SELECT 1 FROM t WHERE typeof(ft) = 'text' AND typeof(st) = 'text'
                 AND typeof(fb) = 'blob' AND typeof(sb) = 'blob' AND typeof(r) = 'real'",
            )
            .unwrap();
        assert_eq!(types.query(&Batch::default(), 0).unwrap(), 2);
    });
}

#[test]
fn the_engine_fills_rows_without_columns() {
    on_every_database(|database| {
        database
            .execute("CREATE TABLE t(id INTEGER PRIMARY KEY, note TEXT DEFAULT 'x')")
            .unwrap();
        let mut writer = database.writer("t", &[], Retry::default()).unwrap();
        writer.begin().unwrap();
        writer.insert(&Batch::default(), 0..7).unwrap();
        writer.commit().unwrap();
        let mut reader = database
            .reader("SELECT 1 FROM t WHERE id = ? AND note = 'x'")
            .unwrap();
        assert_eq!(reader.query(&integers([7]), 0).unwrap(), 1);
    });
}

#[test]
fn a_broken_constraint_names_the_row_and_leaves_the_transaction_open() {
    on_every_database(|database| {
        database
            .execute("CREATE TABLE t(x INTEGER PRIMARY KEY)")
            .unwrap();
        let mut writer = database.writer("t", &["x"], Retry::default()).unwrap();
        writer.begin().unwrap();
        let batch = integers([10, 11, 12, 11, 13]);
        let error = writer.insert(&batch, 1..5).unwrap_err();
        let Error::Row {
            table,
            row,
            message,
        } = error
        else {
            panic!("{error}");
        };
        assert_eq!((table.as_str(), row), ("t", 3));
        assert!(message.contains("t.x"), "{message}");
        writer.insert(&batch, 4..5).unwrap();
        writer.commit().unwrap();
        assert_eq!(database.count("t").unwrap(), 3);
    });
}

#[test]
fn foreign_keys_are_enforced_when_asked_for() {
    on_every_database(|database| {
        database
            .execute(
                "CREATE TABLE parent(id INTEGER PRIMARY KEY);
                 CREATE TABLE child(parent INTEGER REFERENCES parent(id));",
            )
            .unwrap();
        let mut writer = database
            .writer("child", &["parent"], Retry::default())
            .unwrap();
        writer.begin().unwrap();
        let error = writer.insert(&integers([1]), 0..1).unwrap_err();
        assert!(matches!(error, Error::Row { row: 0, .. }), "{error}");
    });
}

#[test]
fn a_rollback_leaves_nothing() {
    on_every_database(|database| {
        database.execute("CREATE TABLE t(x INTEGER)").unwrap();
        let mut writer = database.writer("t", &["x"], Retry::default()).unwrap();
        writer.rollback().unwrap();
        writer.begin().unwrap();
        writer.insert(&integers(0..1000), 0..1000).unwrap();
        writer.rollback().unwrap();
        writer.rollback().unwrap();
        assert_eq!(database.count("t").unwrap(), 0);

        writer.begin().unwrap();
        writer.insert(&integers(0..3), 0..3).unwrap();
        drop(writer);
        assert_eq!(database.count("t").unwrap(), 0);
    });
}

#[test]
fn a_batch_that_does_not_fit_is_an_error() {
    on_every_database(|database| {
        database.execute("CREATE TABLE t(x INTEGER)").unwrap();
        let mut writer = database.writer("t", &["x"], Retry::default()).unwrap();
        writer.begin().unwrap();
        let columns = writer.insert(&Batch::default(), 0..1).unwrap_err();
        assert!(columns.to_string().contains("0 columns"), "{columns}");
        let rows = writer.insert(&integers([1]), 0..2).unwrap_err();
        assert!(rows.to_string().contains("rows up to 2"), "{rows}");
    });
}

#[test]
fn what_is_missing_or_wrong_is_named() {
    on_every_database(|database| {
        database.execute("CREATE TABLE t(x INTEGER)").unwrap();
        let missing = |result: Result<(), Error>, name: &str| {
            let message = result.unwrap_err().to_string();
            assert!(message.contains(name), "{message}");
        };
        let retry = Retry::default();
        missing(database.writer("absent", &["x"], retry).map(drop), "absent");
        missing(database.writer("t", &["absent"], retry).map(drop), "absent");
        missing(database.reader("SELECT absent FROM t").map(drop), "absent");
        missing(database.reader("  ").map(drop), "no statement");
        missing(database.count("absent").map(drop), "absent");
        missing(database.page_fill("absent").map(drop), "absent");
        missing(database.query_plan("SELECT absent").map(drop), "absent");
        missing(database.execute("DROP TABLE absent"), "absent");
        assert_eq!(database.columns("absent").unwrap(), []);
    });
}

#[test]
fn columns_tell_what_may_be_left_out() {
    on_every_database(|database| {
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
    on_every_database(|database| {
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
            let parts = tree.leaf_pages + tree.interior_pages + tree.overflow_pages;
            assert_eq!(tree.pages, parts, "{tree:?}");
            assert!((0.01..=1.0).contains(&tree.fill), "{tree:?}");
            assert!(tree.payload_bytes < tree.size_bytes, "{tree:?}");
            assert_eq!(tree.fanout.is_some(), tree.depth > 1, "{tree:?}");
            if tree.name != "sqlite_schema" {
                assert_eq!(tree.entries, rows as u64, "{tree:?}");
                assert_eq!(tree.depth, 2, "{tree:?}");
                assert_eq!(tree.fanout, Some(tree.leaf_pages as f64), "{tree:?}");
            }
            let fill = database.page_fill(&tree.name).unwrap();
            assert_eq!(fill.leaves.len() as u64, tree.leaf_pages);
        }
        assert_eq!((trees[0].overflow_pages, trees[2].overflow_pages), (0, 40));
        assert_eq!((trees[1].entries, trees[1].depth), (3, 1));
    });
}

#[test]
fn page_fill_is_in_key_order() {
    on_every_database(|database| {
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
fn vacuum_gives_free_pages_back() {
    on_every_database(|database| {
        database.execute("CREATE TABLE t(x INTEGER)").unwrap();
        write(database, "t", &["x"], &integers(0..50_000));
        database.execute("DELETE FROM t WHERE x > 10").unwrap();
        database.quiesce().unwrap();
        let before = database.size_bytes().unwrap();
        database.vacuum().unwrap();
        database.quiesce().unwrap();
        assert!(database.size_bytes().unwrap() * 10 < before);
        assert_eq!(database.count("t").unwrap(), 11);
    });
}

#[test]
fn a_checkpoint_is_due_after_so_many_pages() {
    on_every_engine(|engine, folder| {
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
            let main = database.io().main;
            writer.commit().unwrap();
            assert_eq!(database.io().main, main, "a commit runs no checkpoint");
            was_due.push(writer.checkpoint_if_due().unwrap());
            assert!(!writer.checkpoint_if_due().unwrap(), "once a commit");
        }
        assert_eq!(was_due, [false, true, false]);
    });
}

#[test]
fn quiesce_says_when_somebody_is_in_the_way() {
    on_every_database(|database| {
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
    on_every_database(|database| {
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
fn concurrent_writers_lose_no_row() {
    for journal in [Journal::Wal, Journal::Delete] {
        on_every_engine(|engine, folder| {
            let settings = Settings {
                journal,
                synchronous: Synchronous::Off,
                ..Settings::default()
            };
            let database = engine.create(folder.path(), &settings).unwrap();
            database.execute("CREATE TABLE t(x INTEGER)").unwrap();
            let batch = integers(0..10);
            std::thread::scope(|scope| {
                let write = || {
                    let mut writer = database.writer("t", &["x"], Retry::default()).unwrap();
                    for _ in 0..50 {
                        writer.begin().unwrap();
                        writer.insert(&batch, 0..10).unwrap();
                        writer.commit().unwrap();
                        writer.checkpoint_if_due().unwrap();
                    }
                };
                scope.spawn(write);
                scope.spawn(write);
                let mut reader = database.reader("SELECT count(*) FROM t").unwrap();
                for _ in 0..50 {
                    assert_eq!(reader.query(&Batch::default(), 0).unwrap(), 1);
                }
            });
            assert_eq!(database.count("t").unwrap(), 1000);
        });
    }
}

#[test]
fn a_full_database_is_a_full_disk() {
    on_every_database(|database| {
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
    on_every_database(|database| {
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
    on_every_database(|database| {
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
        let before = database.io().main.read_bytes;
        assert_eq!(reader.query(&integers([1]), 0).unwrap(), 1);
        assert_eq!(reader.query(&integers([2]), 0).unwrap(), 0);
        assert!(database.io().main.read_bytes - before > 1_000_000);
        let plan = database.query_plan(sql).unwrap();
        assert_eq!(plan.len(), 1);
        assert!(plan[0].contains("SEARCH t"), "{plan:?}");
    });
}

#[test]
fn writers_and_readers_may_outlive_the_database() {
    on_every_engine(|engine, folder| {
        let settings = Settings::default();
        let database = engine.create(folder.path(), &settings).unwrap();
        database.execute("CREATE TABLE t(x INTEGER)").unwrap();
        let mut writer = database.writer("t", &["x"], Retry::default()).unwrap();
        let mut reader = database.reader("SELECT * FROM t").unwrap();
        drop(database);
        writer.begin().unwrap();
        writer.insert(&integers([1]), 0..1).unwrap();
        writer.commit().unwrap();
        drop(writer);
        assert_eq!(reader.query(&Batch::default(), 0).unwrap(), 1);
    });
}
