//! Behaviour required of every engine, tested with each installed one of [`inorder_engine::ENGINES`].

mod common;

use common::{Subject, integers, is_postgres, on_every_database, on_every_engine, typed, write};
use inorder_engine::{
    Batch, Column, Database, Engine, Error, Journal, Retry, Settings, Synchronous, Value, Write,
};
use inorder_key::{Encoding, KeyKind};
use std::sync::Arc;

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
        let ddl = typed(engine.name(), "CREATE TABLE t(x {int})");
        database.execute(&ddl).unwrap();
        let again = engine.create(folder.path(), &settings).err().unwrap();
        assert!(matches!(again, Error::Exists { .. }), "{again}");
        assert_eq!(database.count("t").unwrap(), 0);

        let nowhere = folder.path().join("missing");
        let error = engine.create(&nowhere, &settings).err().unwrap();
        assert!(error.to_string().contains("missing"), "{error}");
    });
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
                    cache_kib: 1 << 50,
                    ..Settings::default()
                },
                "1125899906842624",
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
            Column::Any(vec![Value::Blob(Arc::from([0u8; 0])), Value::Null]),
        ],
    }
}

#[test]
fn every_column_variant_is_stored_and_found_again() {
    const COLUMNS: [&str; 8] = ["i", "r", "ft", "fb", "st", "sb", "a", "b"];
    on_every_database(|database| {
        database.create(
            "CREATE TABLE t(i {int}, r {real}, ft {text}, fb {blob}, st {text}, sb {blob},
                 a {text}, b {blob})",
        );
        let batch = one_of_each();
        write(&**database, "t", &COLUMNS, &batch);
        assert_eq!(database.count("t").unwrap(), 2);
        let same = match database.engine {
            "sqlite" => "IS",
            name if is_postgres(name) => "IS NOT DISTINCT FROM",
            _ => "<=>",
        };
        let wanted: Vec<_> = COLUMNS
            .iter()
            .map(|name| format!("{name} {same} ?"))
            .collect();
        let sql = format!("SELECT * FROM t WHERE {}", wanted.join(" AND "));
        let mut reader = database.reader(&sql).unwrap();
        assert_eq!(reader.query(&batch, 0).unwrap(), 1, "{}", database.engine);
        assert_eq!(reader.query(&batch, 1).unwrap(), 1, "{}", database.engine);
    });
}

#[test]
fn a_transaction_writes_to_tables_that_were_added() {
    on_every_database(|database| {
        database.create("CREATE TABLE t(x {int} PRIMARY KEY)");
        database.create("CREATE TABLE u(y {int} NOT NULL)");
        let mut writer = database.writer("t", &["x"], Retry::default()).unwrap();
        if let Err(error) = writer.add_table("u", &["y"]) {
            assert!(error.to_string().contains("one table only"), "{error}");
            return;
        }
        writer.begin().unwrap();
        writer.insert_into(0, &integers([1, 2]), 0..2).unwrap();
        writer
            .insert_into(1, &integers([10, 20, 30]), 1..3)
            .unwrap();
        writer.rollback().unwrap();
        writer.begin().unwrap();
        writer.insert(&integers([1]), 0..1).unwrap();
        writer
            .insert_into(1, &integers([10, 20, 30]), 1..3)
            .unwrap();
        writer.commit().unwrap();
        let counts = ["t", "u"].map(|table| database.count(table).unwrap());
        assert_eq!(counts, [1, 2], "{}", database.engine);
        writer.begin().unwrap();
        let again = writer.insert_into(0, &integers([1]), 0..1).unwrap_err();
        assert!(
            matches!(&again, Error::Row { table, row: 0, .. } if table == "t"),
            "{again}"
        );
        writer.rollback().unwrap();
        assert!(writer.add_table("u", &["missing"]).is_err());
    });
}

#[test]
fn the_engine_fills_rows_without_columns() {
    on_every_database(|database| {
        database.create("CREATE TABLE t(id {serial}, note {text} DEFAULT 'x')");
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
fn a_broken_constraint_names_the_row() {
    on_every_database(|database| {
        database.create("CREATE TABLE t(x {int} PRIMARY KEY)");
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
        let tells = match database.engine {
            "sqlite" => "t.x",
            _ => "11",
        };
        assert!(message.contains(tells), "{message}");
        if is_postgres(database.engine) {
            // Nothing but a rollback is left to its transaction.
            writer.rollback().unwrap();
            writer.begin().unwrap();
            writer.insert(&batch, 1..3).unwrap();
        }
        writer.insert(&batch, 4..5).unwrap();
        writer.commit().unwrap();
        assert_eq!(database.count("t").unwrap(), 3);
    });
}

#[test]
fn foreign_keys_are_enforced_when_asked_for() {
    on_every_database(|database| {
        database.create(
            "CREATE TABLE parent(id {int} PRIMARY KEY);
             CREATE TABLE child(parent {int} REFERENCES parent(id));",
        );
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
        database.create("CREATE TABLE t(x {int})");
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
        database.create("CREATE TABLE t(x {int})");
        let mut writer = database.writer("t", &["x"], Retry::default()).unwrap();
        writer.begin().unwrap();
        let columns = writer.insert(&Batch::default(), 0..1).unwrap_err();
        assert!(columns.to_string().contains("0 columns"), "{columns}");
        let rows = writer.insert(&integers([1]), 0..2).unwrap_err();
        assert!(rows.to_string().contains("2 were requested"), "{rows}");
    });
}

#[test]
fn what_is_missing_or_wrong_is_named() {
    on_every_database(|database| {
        database.create("CREATE TABLE t(x {int})");
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
fn vacuum_gives_free_pages_back() {
    const ROWS: i64 = 50_000;
    on_every_engine(|engine, folder| {
        // In the fewest statements: a server takes a round trip per row otherwise.
        let by = [Write::Bulk, Write::Insert].map(|write| Settings {
            write,
            ..Settings::default()
        });
        let settings = by.iter().find(|settings| engine.accepts(settings).is_ok());
        let database = &Subject {
            engine: engine.name(),
            database: engine.create(folder.path(), settings.unwrap()).unwrap(),
        };
        database.create("CREATE TABLE t(x {int} PRIMARY KEY)");
        write(&**database, "t", &["x"], &integers(0..ROWS));
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
fn concurrent_writers_lose_no_row() {
    for journal in [Journal::Wal, Journal::Delete] {
        on_every_engine(|engine, folder| {
            let settings = Settings {
                journal,
                synchronous: Synchronous::Off,
                ..Settings::default()
            };
            let database = engine.create(folder.path(), &settings).unwrap();
            let ddl = typed(engine.name(), "CREATE TABLE t(x {int})");
            database.execute(&ddl).unwrap();
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
fn writers_and_readers_may_outlive_the_database() {
    on_every_engine(|engine, folder| {
        let settings = Settings::default();
        let database = engine.create(folder.path(), &settings).unwrap();
        let ddl = typed(engine.name(), "CREATE TABLE t(x {int})");
        database.execute(&ddl).unwrap();
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

/// The number of rows of `t` that equal one of the batch, whose values are the parameters of `is_equal`. One query looks
/// for all rows, because a sharded database plans a query per shard.
fn found(database: &dyn Database, is_equal: &str, batch: &Batch) -> u64 {
    let rows = 0..batch.rows();
    let alternatives: Vec<_> = rows.clone().map(|_| format!("({is_equal})")).collect();
    let sql = format!("SELECT 1 FROM t WHERE {}", alternatives.join(" OR "));
    let values = rows.flat_map(|row| batch.columns.iter().map(move |column| column.value(row)));
    let wanted = Batch {
        columns: values.map(|value| Column::Any(vec![value])).collect(),
    };
    let mut reader = database.reader(&sql).unwrap();
    reader.query(&wanted, 0).unwrap()
}

#[test]
fn many_rows_at_once_are_the_same_rows() {
    on_every_engine(|engine, folder| {
        for &write_by in Write::ALL {
            let settings = Settings {
                write: write_by,
                ..Settings::default()
            };
            if engine.accepts(&settings).is_err() {
                let is_right = match engine.name() {
                    "sqlite" => write_by != Write::Insert,
                    "postgres-sharded" => false,
                    _ => write_by == Write::Routed,
                };
                assert!(is_right, "{} {write_by:?}", engine.name());
                continue;
            }
            let folder = folder.path().join(write_by.name());
            std::fs::create_dir(&folder).unwrap();
            let database = engine.create(&folder, &settings).unwrap();
            let ddl = "CREATE TABLE t(x {int} PRIMARY KEY, b {blob}, a {text})";
            database.execute(&typed(engine.name(), ddl)).unwrap();
            let rows = 257;
            let batch = Batch {
                columns: vec![
                    Column::Integers((0..rows).collect()),
                    Column::Fixed {
                        width_bytes: 2,
                        bytes: (0..rows).flat_map(|row| [row as u8, b'\\']).collect(),
                        is_text: false,
                    },
                    Column::Any(
                        (0..rows)
                            .map(|row| match row % 3 {
                                0 => Value::Null,
                                1 => Value::Text("a\tb\nc\\d".into()),
                                _ => Value::Text("".into()),
                            })
                            .collect(),
                    ),
                ],
            };
            write(&*database, "t", &["x", "b", "a"], &batch);
            assert_eq!(database.count("t").unwrap(), rows as u64);
            let same = match engine.name() {
                "sqlite" => "IS",
                name if is_postgres(name) => "IS NOT DISTINCT FROM",
                _ => "<=>",
            };
            let found = found(
                &*database,
                &format!("x = ? AND b = ? AND a {same} ?"),
                &batch,
            );
            assert_eq!(found, rows as u64, "{} {write_by:?}", engine.name());
            // A violated constraint is an error with every write method.
            let mut writer = database.writer("t", &["x"], Retry::default()).unwrap();
            writer.begin().unwrap();
            assert!(writer.insert(&integers(200..400), 0..200).is_err());
        }
    });
}
