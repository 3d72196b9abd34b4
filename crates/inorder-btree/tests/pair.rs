//! A table and its index built in one pass are what SQLite takes for a table and its index.

use std::collections::BTreeSet;
use std::fs::File;

use inorder_btree::{
    AutoVacuum, Builder, Error, KeyColumn, KeyOrder, Options, SchemaEntry, Value, record,
};
use proptest::prelude::*;
use rusqlite::Connection;

/// The order of entries: the key, the rowid.
fn order(options: &Options) -> KeyOrder {
    let columns = vec![KeyColumn::ascending(0), KeyColumn::ascending(1)];
    KeyOrder::new(columns, options.encoding)
}

fn entry(kind: &str, name: &str, root: u32, sql: Option<&str>) -> SchemaEntry {
    SchemaEntry {
        kind: kind.into(),
        name: name.into(),
        table_name: "t".into(),
        root,
        sql: sql.map(str::to_owned),
    }
}

fn build(file: File, options: &Options, keys: &BTreeSet<String>, tail: &[u8]) -> File {
    let builder = Builder::create(file, options.clone()).unwrap();
    let mut pair = builder.table_with_index(order(options), Some(1)).unwrap();
    let mut encoded = Vec::new();
    for (rowid, key) in (1..).zip(keys) {
        let key = Value::Text(key.as_bytes());
        encoded.clear();
        record::encode(&[key, Value::Blob(tail)], &mut encoded);
        pair.push(rowid, &encoded).unwrap();
        encoded.clear();
        record::encode(&[key, Value::Integer(rowid)], &mut encoded);
        pair.push_entry(&encoded).unwrap();
    }
    let (builder, [root, index_root]) = pair.finish().unwrap();
    let sql = "CREATE TABLE t(k TEXT PRIMARY KEY, b BLOB)";
    let index = entry("index", "sqlite_autoindex_t_1", index_root, None);
    let schema = [entry("table", "t", root, Some(sql)), index];
    builder.finish(&schema).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn sqlite_finds_every_row_by_either(
        keys in prop::collection::btree_set("[a-c]{0,40}(é{300})?[a-z]{0,9}", 0..300),
        tail_bytes in prop_oneof![0usize..60, 400..3000usize],
        page_bytes in prop::sample::select(&[512u32, 1024, 4096, 65536][..]),
        auto_vacuum in prop::sample::select(&[AutoVacuum::None, AutoVacuum::Full][..]),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pair.db");
        let options = Options { page_bytes, auto_vacuum, trees: 2, ..Options::default() };
        build(File::create_new(&path).unwrap(), &options, &keys, &vec![7; tail_bytes]);
        let connection = Connection::open(&path).unwrap();
        let health: String =
            connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        prop_assert_eq!(health, "ok");
        for order in ["k", "rowid"] {
            let query = format!("SELECT k FROM t WHERE length(b) = ?1 ORDER BY {order}");
            let mut statement = connection.prepare(&query).unwrap();
            let found: Vec<String> = statement
                .query_map([tail_bytes as i64], |row| row.get(0))
                .unwrap()
                .collect::<Result<_, _>>()
                .unwrap();
            prop_assert!(found.iter().eq(&keys));
        }
    }
}

/// An entry is compared with the previous one wherever that is stored: in a leaf, in an interior page, or in overflow
/// pages.
#[test]
fn an_entry_that_comes_twice_is_found_anywhere_in_a_page() {
    let options = Options {
        page_bytes: 512,
        trees: 2,
        ..Options::default()
    };
    for key_bytes in [20, 90, 2000] {
        let entry = |number: usize| {
            let key = format!("{number:0key_bytes$}");
            let mut encoded = Vec::new();
            record::encode(
                &[Value::Text(key.as_bytes()), Value::Integer(number as i64)],
                &mut encoded,
            );
            encoded
        };
        for count in 1..60 {
            let builder = Builder::create(tempfile::tempfile().unwrap(), options.clone()).unwrap();
            let mut pair = builder.table_with_index(order(&options), None).unwrap();
            (1..=count).for_each(|number| pair.push_entry(&entry(number)).unwrap());
            assert!(matches!(
                pair.push_entry(&entry(count)),
                Err(Error::Duplicate { .. })
            ));
            assert!(matches!(
                pair.push_entry(&entry(count - 1)),
                Err(Error::OutOfOrder { .. })
            ));
        }
    }
}
