//! PostgreSQL on several servers: where rows go, by whatever way they are written.

mod common;

use common::{engines, integers, write};
use inorder_engine::{
    Batch, Column, Database, Engine, Error, Partition, Retry, Settings, Value, Write,
};
use inorder_key::KeyKind;
use inorder_key::bulk::{KeyBuffer, KeyStream};
use std::sync::Arc;
use tempfile::TempDir;

const ENGINE: &str = "postgres-sharded";

/// The engine, where it is there.
fn sharded() -> Option<&'static dyn Engine> {
    engines().into_iter().find(|engine| engine.name() == ENGINE)
}

fn create(folder: &TempDir, settings: &Settings) -> Option<Box<dyn Database>> {
    Some(sharded()?.create(folder.path(), settings).unwrap())
}

fn rows(database: &dyn Database, table: &str) -> Vec<u64> {
    let shards = database.shards(table).unwrap();
    shards.iter().map(|shard| shard.rows).collect()
}

/// Values of every type that rows can be distributed by, in no pleasant order.
fn values() -> Vec<(&'static str, Column)> {
    let numbers = || (0..400u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15).cast_signed());
    let edges = [0, -1, 1, i64::MIN, i64::MAX, 1 << 32, -(1 << 32)];
    let texts = (0..100usize).map(|length| Value::Text("aé\u{1f600}z".repeat(length).into()));
    let blobs = (0..100usize).map(|length| Value::Blob(vec![0x9d; length].into()));
    let uuids = KeyStream::seeded(KeyKind::Uuid4, KeyKind::Uuid4.encodings()[0], 1);
    let KeyBuffer::Bytes { bytes, .. } = uuids.unwrap().fill(400) else {
        panic!("uuids are bytes");
    };
    let uuid = Column::Fixed {
        width_bytes: 16,
        bytes,
        is_text: false,
    };
    vec![
        ("BIGINT", Column::Integers(numbers().chain(edges).collect())),
        (
            "INTEGER",
            Column::Integers(numbers().map(|n| i64::from(n as i32)).collect()),
        ),
        (
            "SMALLINT",
            Column::Integers((i64::from(i16::MIN)..300).step_by(7).collect()),
        ),
        ("UUID", uuid),
        ("TEXT", Column::Any(texts.clone().collect())),
        ("VARCHAR(1000)", Column::Any(texts.take(90).collect())),
        ("BYTEA", Column::Any(blobs.collect())),
        ("BIGINT", Column::Any(vec![Value::Null, Value::Integer(5)])),
    ]
}

#[test]
fn rows_are_routed_to_where_the_coordinator_would_send_them() {
    for (partition, shards) in [
        (Partition::Hash, 3),
        (Partition::Hash, 2),
        (Partition::Range, 3),
    ] {
        let folder = common::folder();
        let settings = Settings {
            write: Write::Routed,
            partition,
            shards,
            ..Settings::default()
        };
        let Some(database) = create(&folder, &settings) else {
            return;
        };
        for (at, (kind, column)) in values().into_iter().enumerate() {
            let has_null = matches!(&column, Column::Any(values) if values.contains(&Value::Null));
            if has_null && partition == Partition::Range {
                continue;
            }
            let table = format!("t{at}");
            let ddl = format!("CREATE TABLE {table}(x {kind}, n BIGINT)");
            database.execute(&ddl).unwrap();
            let numbers = Column::Integers((0..column.len() as i64).collect());
            let batch = Batch {
                columns: vec![column, numbers],
            };
            write(&*database, &table, &["x", "n"], &batch);
            assert_eq!(database.count(&table).unwrap(), batch.rows() as u64);
            match partition {
                Partition::Hash => {
                    // The server's own function, of each row where it lies.
                    let sql = format!(
                        "SELECT 1 FROM {table} WHERE satisfies_hash_partition('{table}'::regclass,
                         {shards}, substring(tableoid::regclass::text, '(\\d+)$')::int - 1, x)"
                    );
                    let right = database.reader(&sql).unwrap().query(&Batch::default(), 0);
                    assert_eq!(right.unwrap(), batch.rows() as u64, "{kind} over {shards}");
                }
                Partition::Range => {
                    // The coordinator looks for a row in one partition alone.
                    let sql = format!("SELECT 1 FROM {table} WHERE x = ? AND n = ?");
                    let mut reader = database.reader(&sql).unwrap();
                    for row in (0..batch.rows()).step_by(9) {
                        assert_eq!(reader.query(&batch, row).unwrap(), 1, "{kind}, row {row}");
                    }
                }
            }
        }
    }
}

#[test]
fn each_way_to_write_sends_the_same_rows_to_the_same_shards() {
    let mut spread = Vec::new();
    for write_by in [Write::Multi, Write::Bulk, Write::Routed] {
        let folder = common::folder();
        let settings = Settings {
            write: write_by,
            ..Settings::default()
        };
        let Some(database) = create(&folder, &settings) else {
            return;
        };
        database
            .execute("CREATE TABLE t(x BIGINT PRIMARY KEY)")
            .unwrap();
        write(&*database, "t", &["x"], &integers(0..3000));
        spread.push(rows(&*database, "t"));
    }
    assert!(spread.iter().all(|rows| *rows == spread[0]), "{spread:?}");
    assert_eq!(spread[0].iter().sum::<u64>(), 3000);
    assert!(
        spread[0].iter().all(|rows| (800..1200).contains(rows)),
        "{spread:?}"
    );
}

#[test]
fn a_range_takes_ordered_keys_to_one_shard_and_buckets_to_all() {
    let folder = common::folder();
    let settings = Settings {
        partition: Partition::Range,
        write: Write::Routed,
        ..Settings::default()
    };
    let Some(database) = create(&folder, &settings) else {
        return;
    };
    database
        .execute(
            "CREATE TABLE ordered(x BIGINT PRIMARY KEY);
             CREATE TABLE bucketed(bucket BIGINT, x BIGINT, PRIMARY KEY (bucket, x));
             SELECT create_distributed_table('bucketed', 'bucket', domain => '{0,64}');",
        )
        .unwrap();
    write(&*database, "ordered", &["x"], &integers(1..=640));
    assert_eq!(rows(&*database, "ordered"), [640, 0, 0]);
    let batch = Batch {
        columns: vec![
            Column::Integers((0..640).map(|n| n % 64).collect()),
            Column::Integers((0..640).collect()),
        ],
    };
    write(&*database, "bucketed", &["bucket", "x"], &batch);
    assert_eq!(rows(&*database, "bucketed"), [210, 210, 220]);
    let settings = database.settings().unwrap();
    let told = |name: &str| settings.iter().find(|(n, _)| n == name).unwrap().1.clone();
    assert_eq!(
        told("distribution of bucketed"),
        "range(bucket) from 21, 42"
    );
    assert_eq!(told("shards"), "3");
}

#[test]
fn what_no_shard_can_keep_by_itself_is_refused_by_name() {
    let folder = common::folder();
    let Some(database) = create(&folder, &Settings::default()) else {
        return;
    };
    for (ddl, named) in [
        (
            "CREATE TABLE t(x BIGINT PRIMARY KEY, y BIGINT UNIQUE)",
            "UNIQUE (y)",
        ),
        ("CREATE TABLE t(x DOUBLE PRECISION)", "double precision"),
        (
            "CREATE TABLE p(x BIGINT PRIMARY KEY);
             CREATE TABLE t(x BIGINT PRIMARY KEY, y BIGINT REFERENCES p(x))",
            "FOREIGN KEY (y) REFERENCES p(x)",
        ),
        (
            "CREATE TABLE t(x BIGINT); SELECT create_distributed_table('t', 'z')",
            "`z`",
        ),
        (
            "CREATE TABLE t(x BIGINT); SELECT create_distributed_table('t', 'x', 'append')",
            "`append`",
        ),
    ] {
        let error = database.execute(ddl).unwrap_err();
        assert!(matches!(error, Error::Unsupported { .. }), "{ddl}: {error}");
        assert!(error.to_string().contains(named), "{ddl}: {error}");
        // Nothing is left of it.
        assert_eq!(database.columns("t").unwrap(), []);
    }
    database
        .execute("CREATE TABLE t(x BIGINT, y BIGINT)")
        .unwrap();
    let routed = Settings {
        write: Write::Routed,
        ..Settings::default()
    };
    let other = common::folder();
    let database = sharded().unwrap().create(other.path(), &routed).unwrap();
    database
        .execute("CREATE TABLE t(x BIGINT, y BIGINT)")
        .unwrap();
    let error = database
        .writer("t", &["y"], Retry::default())
        .err()
        .unwrap();
    assert!(error.to_string().contains("`x`"), "{error}");
}

#[test]
fn rows_that_were_there_before_are_spread_too() {
    let folder = common::folder();
    let Some(database) = create(&folder, &Settings::default()) else {
        return;
    };
    database
        .execute(
            "CREATE TABLE \"it's\"(x BIGINT PRIMARY KEY, y TEXT DEFAULT 'd''oh');
             INSERT INTO \"it's\" SELECT n FROM generate_series(1, 300) AS n;
             CREATE INDEX ON \"it's\"(y)",
        )
        .unwrap();
    assert_eq!(rows(&*database, "it's").iter().sum::<u64>(), 300);
    assert!(rows(&*database, "it's").iter().all(|rows| *rows > 50));
    assert!(database.finds_by_index("it's", &["x".to_owned()]).unwrap());
    assert!(database.finds_by_index("it's", &["y".to_owned()]).unwrap());
    let columns = database.columns("it's").unwrap();
    assert_eq!(columns[0].primary_key, 1);
    assert!(columns[1].is_optional && !columns[0].is_optional);
    // A dropped and recreated table is distributed again.
    database
        .execute("DROP TABLE \"it's\"; CREATE TABLE \"it's\"(x UUID)")
        .unwrap();
    assert_eq!(database.count("it's").unwrap(), 0);
}

#[test]
fn a_shard_that_is_held_back_goes_on_afterwards() {
    let folder = common::folder();
    let settings = Settings {
        first_shard_cpu_percent: 1,
        write: Write::Routed,
        ..Settings::default()
    };
    let Some(engine) = sharded().filter(|engine| engine.accepts(&settings).is_ok()) else {
        return;
    };
    let database = engine.create(folder.path(), &settings).unwrap();
    database
        .execute("CREATE TABLE t(x BIGINT PRIMARY KEY)")
        .unwrap();
    let is_stopped = |pid: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit(')')
            .next()
            .unwrap_or("")
            .trim_start()
            .starts_with('T')
    };
    let stopped = || {
        database
            .processes()
            .iter()
            .filter(|pid| is_stopped(pid))
            .count()
    };
    let mut writer = database.writer("t", &["x"], Retry::default()).unwrap();
    let batch = Arc::new(integers(0..30_000));
    let load = Arc::clone(&batch);
    let thread = std::thread::spawn(move || {
        writer.begin().unwrap();
        writer.insert(&load, 0..load.rows()).unwrap();
        writer.commit().unwrap();
    });
    let mut seen = 0;
    while !thread.is_finished() {
        seen = seen.max(stopped());
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    thread.join().unwrap();
    assert!(seen > 0, "a shard is stopped now and then");
    assert_eq!(stopped(), 0);
    assert_eq!(database.count("t").unwrap(), 30_000);
}
