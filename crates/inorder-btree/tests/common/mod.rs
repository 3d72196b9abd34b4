//! Functions shared by tests against SQLite: values, binding and comparison.

// Each test file uses a part of it.
#![allow(dead_code)]

use std::path::Path;

use inorder_btree::record::{TextEncoding, Value, varint};
use proptest::prelude::*;
use rusqlite::Connection;
use rusqlite::types::Value as Sql;

/// A value that owns its bytes.
#[derive(Debug, Clone, PartialEq)]
pub enum Owned {
    Null,
    Integer(i64),
    Real(f64),
    /// In the database's encoding, well formed or not.
    Text(Vec<u8>),
    Blob(Vec<u8>),
}

impl Owned {
    pub fn as_value(&self) -> Value<'_> {
        match self {
            Owned::Null => Value::Null,
            Owned::Integer(integer) => Value::Integer(*integer),
            Owned::Real(real) => Value::Real(*real),
            Owned::Text(text) => Value::Text(text),
            Owned::Blob(blob) => Value::Blob(blob),
        }
    }

    /// The SQL expression for the value: text of arbitrary bytes is bound as a blob.
    pub fn placeholder(&self) -> String {
        match self {
            Owned::Text(_) => "CAST(? AS TEXT)".into(),
            _ => "?".into(),
        }
    }
}

/// The values as they are bound to placeholders.
pub fn bind(row: &[Owned]) -> Vec<Sql> {
    let bound = row.iter().map(|value| match value {
        Owned::Null => Sql::Null,
        Owned::Integer(integer) => Sql::Integer(*integer),
        Owned::Real(real) => Sql::Real(*real),
        Owned::Text(bytes) | Owned::Blob(bytes) => Sql::Blob(bytes.clone()),
    });
    bound.collect()
}

pub fn encoding() -> impl Strategy<Value = TextEncoding> {
    prop::sample::select(TextEncoding::ALL)
}

/// Any value; values that are easily confused are more frequent.
pub fn value(encoding: TextEncoding) -> BoxedStrategy<Owned> {
    let integer = prop_oneof![
        -3..3i64,
        any::<i64>(),
        (0..64u32, any::<i64>()).prop_map(|(shift, bits)| bits >> shift),
        (0..64u32, -1..2i64).prop_map(|(shift, step)| (1i64 << shift).wrapping_add(step)),
    ]
    .boxed();
    let real = prop_oneof![
        integer.clone().prop_map(|integer| integer as f64),
        (-20..20i32).prop_map(|n| f64::from(n) / 4.0),
        any::<f64>().prop_filter("NaN is NULL", |real| !real.is_nan()),
    ];
    let bytes = prop::collection::vec(any::<u8>(), 0..12);
    prop_oneof![
        1 => Just(Owned::Null),
        3 => integer.prop_map(Owned::Integer),
        2 => real.prop_map(Owned::Real),
        4 => text(encoding).prop_map(Owned::Text),
        2 => bytes.prop_map(Owned::Blob),
    ]
    .boxed()
}

/// Text in this encoding: alike but for case and spaces, with NULs, of any characters, or not well formed.
pub fn text(encoding: TextEncoding) -> impl Strategy<Value = Vec<u8>> {
    let encode = move |text: String| {
        let mut bytes = Vec::new();
        encoding.encode(text.as_bytes(), &mut bytes);
        bytes
    };
    prop_oneof![
        4 => "[aAbB \u{0}é]{0,12}".prop_map(encode),
        1 => ".{0,10}".prop_map(encode),
        1 => "[@A-Z\\[`a-z{]{1,9} {0,9}".prop_map(encode),
        1 => prop::collection::vec(any::<u8>(), 0..8).prop_map(move |mut bytes| {
            if encoding != TextEncoding::Utf8 {
                bytes.truncate(bytes.len() & !1);
            }
            bytes
        }),
        1 => prop::collection::vec(0xd7f0..0xe010u16, 0..5).prop_map(move |units| {
            let units = units.into_iter();
            match encoding {
                TextEncoding::Utf16Be => units.flat_map(u16::to_be_bytes).collect(),
                _ => units.flat_map(u16::to_le_bytes).collect(),
            }
        }),
    ]
}

/// The record that SQLite makes of a row in columns without affinity.
pub fn record_of_sqlite(encoding: TextEncoding, row: &[Owned]) -> Vec<u8> {
    let file = tempfile::NamedTempFile::new().unwrap();
    let connection = Connection::open(file.path()).unwrap();
    let columns: Vec<String> = (0..row.len()).map(|i| format!("c{i}")).collect();
    let places: Vec<String> = row.iter().map(Owned::placeholder).collect();
    let setup = format!(
        "PRAGMA encoding = '{}'; PRAGMA page_size = 65536; PRAGMA journal_mode = OFF; \
         PRAGMA synchronous = OFF; CREATE TABLE t({})",
        encoding.name(),
        columns.join(", "),
    );
    connection.execute_batch(&setup).unwrap();
    let insert = format!("INSERT INTO t VALUES({})", places.join(", "));
    connection
        .execute(&insert, rusqlite::params_from_iter(bind(row)))
        .unwrap();
    drop(connection);
    only_record(file.path())
}

/// The record of the only row, rowid 1, of the last table of a file.
pub fn only_record(path: &Path) -> Vec<u8> {
    let connection = Connection::open(path).unwrap();
    let get = |sql| -> usize {
        let number: u32 = connection.query_row(sql, [], |row| row.get(0)).unwrap();
        number as usize
    };
    let page_bytes = get("PRAGMA page_size");
    let root = get("SELECT max(rootpage) FROM sqlite_schema");
    let file = std::fs::read(path).unwrap();
    let page = &file[(root - 1) * page_bytes..][..page_bytes];
    let cell = &page[usize::from(u16::from_be_bytes([page[8], page[9]]))..];
    let (payload_bytes, read) = varint::read(cell).unwrap();
    cell[read + 1..][..payload_bytes as usize].to_vec()
}
