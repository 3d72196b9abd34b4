//! Values of any kind come back from the file as they went in.

use inorder_engine::{
    Batch, Column, Engine, Journal, Retry, Settings, Synchronous, Value, sqlite::Sqlite,
};
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
