//! Values of any kind come back from SQLite's file as they went in, and ids from the types in which engines store them.

use inorder_engine::{
    Batch, Column, ENGINES, Engine, Journal, Retry, Settings, Synchronous, Value, sqlite::Sqlite,
};
use inorder_key::{Encoding, KeyKind};
use inorder_testing::is_installed;
use proptest::prelude::*;
use rusqlite::{Connection, types};
use std::sync::Arc;

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(Value::Integer),
        // SQLite stores NaN as NULL.
        any::<f64>()
            .prop_filter("a number", |real| !real.is_nan())
            .prop_map(Value::Real),
        // Text ends at a NUL for SQL functions, but is stored whole.
        any::<String>().prop_map(|text| Value::Text(text.into())),
        prop::collection::vec(any::<u8>(), 0..40).prop_map(|bytes| Value::Blob(bytes.into())),
        (3000..9000usize).prop_map(|length| Value::Blob(Arc::from(vec![0xab; length]))),
    ]
}

fn back(value: types::Value) -> Value {
    match value {
        types::Value::Null => Value::Null,
        types::Value::Integer(integer) => Value::Integer(integer),
        types::Value::Real(real) => Value::Real(real),
        types::Value::Text(text) => Value::Text(text.into()),
        types::Value::Blob(bytes) => Value::Blob(bytes.into()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_values_round_trip(rows in prop::collection::vec((value(), value()), 1..40), cut in 0..40usize) {
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings {
            journal: Journal::Memory,
            synchronous: Synchronous::Off,
            ..Settings::default()
        };
        let database = Sqlite.create(folder.path(), &settings).unwrap();
        database.execute("CREATE TABLE t(a, b)").unwrap();
        let mut writer = database.writer("t", &["a", "b"], Retry::default()).unwrap();
        writer.begin().unwrap();
        let cut = cut.min(rows.len());
        {
            // The batch goes before the commit: nothing may refer to it any more.
            let (a, b) = rows.iter().cloned().unzip();
            let batch = Batch { columns: vec![Column::Any(a), Column::Any(b)] };
            writer.insert(&batch, 0..cut).unwrap();
            writer.insert(&batch, cut..rows.len()).unwrap();
        }
        writer.commit().unwrap();
        drop(writer);
        drop(database);

        let connection = Connection::open(folder.path().join("inorder.db")).unwrap();
        let mut statement = connection.prepare("SELECT a, b FROM t ORDER BY rowid").unwrap();
        let found: Vec<_> = statement
            .query_map((), |row| Ok((back(row.get(0)?), back(row.get(1)?))))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        prop_assert_eq!(found, rows);
    }
}

/// MariaDB returns some ULIDs from its type UUID as other ids. If this is no longer so, `why_no_key_type` has to go.
#[test]
fn mariadb_garbles_ulids_in_the_type_uuid() {
    let engine = inorder_engine::engine("mariadb").unwrap();
    if !is_installed(engine) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let database = engine.create(folder.path(), &Settings::default()).unwrap();
    let ten = "(SELECT 0 UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL
                SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9)";
    // Each has a time in its first six bytes. Those of uuid7 have a version and a variant behind it, too.
    let garbled = |bytes: &str| {
        database
            .execute(&format!(
                "CREATE OR REPLACE TABLE t(raw BINARY(16) NOT NULL, id UUID);
                 INSERT INTO t(raw) SELECT CONCAT(UNHEX('01890A5DAC96'), {bytes}) FROM {ten} a, {ten} b, {ten} c;
                 UPDATE t SET id = CAST(raw AS UUID)"
            ))
            .unwrap();
        let sql = "SELECT count(*) FROM t WHERE CAST(id AS BINARY(16)) <> raw";
        let rows = database.select(sql).unwrap();
        rows[0][0].as_ref().unwrap().parse::<u64>().unwrap()
    };
    let ulids = garbled("RANDOM_BYTES(10)");
    assert!((150..350).contains(&ulids), "{ulids} of 1000");
    assert_eq!(
        garbled(
            "CHAR(0x70 + FLOOR(16 * RAND())), RANDOM_BYTES(1), CHAR(0x80 + FLOOR(64 * RAND())), RANDOM_BYTES(7)"
        ),
        0
    );
    assert_eq!(engine.key_type(KeyKind::Ulid, Encoding::Native), None);
    for engine in ENGINES {
        let is_of_mariadb = ["mariadb", "galera"].contains(&engine.name());
        let why = engine.why_no_key_type(KeyKind::Ulid, Encoding::Native);
        assert_eq!(why.is_some(), is_of_mariadb, "{}", engine.name());
        assert_eq!(
            engine.why_no_key_type(KeyKind::Uuid7, Encoding::Native),
            None
        );
    }
}
