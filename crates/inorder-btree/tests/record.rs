//! Records and their order against SQLite itself.

mod common;

use std::cmp::Ordering;

use common::{Owned, bind, encoding, value};
use inorder_btree::record::{
    self, Collation, Fields, KeyColumn, KeyOrder, Pick, Record, TextEncoding, Value,
};
use proptest::prelude::*;
use rusqlite::Connection;

/// A database in memory with this encoding.
fn database(encoding: TextEncoding) -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    let pragma = format!("PRAGMA encoding = '{}'", encoding.name());
    connection.execute_batch(&pragma).unwrap();
    connection
}

fn encoded(row: &[Owned]) -> Vec<u8> {
    let values: Vec<Value> = row.iter().map(Owned::as_value).collect();
    let mut bytes = Vec::new();
    record::encode(&values, &mut bytes);
    bytes
}

/// SQLite's order of rows with three columns, as the rows' numbers.
fn sqlite_order(rows: &[Vec<Owned>], key: &KeyOrder) -> Vec<usize> {
    let connection = database(key.encoding());
    connection
        .execute_batch("CREATE TABLE t(n INTEGER PRIMARY KEY, c0, c1, c2)")
        .unwrap();
    for (n, row) in rows.iter().enumerate() {
        let places: Vec<String> = row.iter().map(Owned::placeholder).collect();
        let sql = format!("INSERT INTO t VALUES({n}, {})", places.join(", "));
        let mut statement = connection.prepare_cached(&sql).unwrap();
        statement
            .execute(rusqlite::params_from_iter(bind(row)))
            .unwrap();
    }
    let terms = key.columns().iter().map(|column| {
        let direction = if column.is_descending { "DESC" } else { "ASC" };
        format!(
            "c{} COLLATE {} {direction}",
            column.index,
            column.collation.name()
        )
    });
    let terms: Vec<String> = terms.chain(["n".into()]).collect();
    let sql = format!("SELECT n FROM t ORDER BY {}", terms.join(", "));
    let mut statement = connection.prepare(&sql).unwrap();
    let rows = statement.query_map([], |row| row.get::<_, u32>(0)).unwrap();
    rows.map(|n| n.unwrap() as usize).collect()
}

fn column() -> impl Strategy<Value = KeyColumn> {
    (
        0..3usize,
        prop::sample::select(Collation::ALL),
        any::<bool>(),
    )
        .prop_map(|(index, collation, is_descending)| KeyColumn {
            index,
            collation,
            is_descending,
        })
}

/// A value whose serial type takes one byte, two or three.
fn long_value() -> impl Strategy<Value = Owned> {
    prop_oneof![
        4 => value(TextEncoding::Utf8),
        1 => prop::sample::select(vec![56, 57, 58, 8184, 8185]).prop_map(|bytes| Owned::Blob(vec![b'x'; bytes])),
        1 => prop::sample::select(vec![57, 58, 8185]).prop_map(|bytes| Owned::Text(vec![b'x'; bytes])),
    ]
}

fn pick() -> impl Strategy<Value = Pick> {
    prop_oneof![
        4 => (0..160usize).prop_map(Pick::Value),
        1 => Just(Pick::Null),
        1 => any::<i64>().prop_map(Pick::Integer),
    ]
}

/// Rows of three values and a key over them.
fn keyed_rows() -> impl Strategy<Value = (Vec<Vec<Owned>>, KeyOrder)> {
    encoding().prop_flat_map(|encoding| {
        let row = prop::collection::vec(value(encoding), 3);
        (
            prop::collection::vec(row, 1..40),
            prop::collection::vec(column(), 1..4)
                .prop_map(move |columns| KeyOrder::new(columns, encoding)),
        )
    })
}

/// Texts and blobs of few different bytes, zeros among them, and numbers that are close to each other.
fn late_value() -> impl Strategy<Value = Owned> {
    let bytes = || {
        let byte = prop::sample::select(vec![0u8, 0, 1, b'a', b'B', b'b', b' ', 0xff]);
        (0..12usize, prop::collection::vec(byte, 0..5))
            .prop_map(|(same, rest)| [vec![b'a'; same], rest].concat())
    };
    let ascii = bytes().prop_map(|bytes| bytes.iter().map(|byte| byte & 0x7f).collect());
    let near = prop::sample::select(vec![
        0,
        1 << 53,
        -(1 << 53),
        i64::MAX - 3,
        i64::MIN + 3,
        1 << 62,
    ]);
    prop_oneof![
        1 => Just(Owned::Null),
        4 => (near, -3..=3i64).prop_map(|(near, by)| Owned::Integer(near + by)),
        2 => (-3..=3i64).prop_map(|by| Owned::Real((1i64 << 53) as f64 + by as f64 / 2.0)),
        4 => ascii.prop_map(Owned::Text),
        4 => bytes().prop_map(Owned::Blob),
    ]
}

/// Words decide as comparing does where they differ.
fn check_words(records: &[Vec<u8>], key: &KeyOrder) {
    for a in records {
        for b in records {
            let by_words = key.words(a).cmp(&key.words(b));
            if key.prefix(a) == key.prefix(b) && by_words != Ordering::Equal {
                assert_eq!(by_words, key.compare(a, b), "{a:?} {b:?} {key:?}");
            }
        }
    }
}

fn short_bytes() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..20)
}

proptest! {
    #[test]
    fn records_sort_as_sqlite_sorts_rows((rows, key) in keyed_rows()) {
        let records: Vec<Vec<u8>> = rows.iter().map(|row| encoded(row)).collect();
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by(|&a, &b| key.compare(&records[a], &records[b]).then(a.cmp(&b)));
        prop_assert_eq!(order, sqlite_order(&rows, &key));
    }

    #[test]
    fn prefixes_agree_with_comparing((rows, key) in keyed_rows()) {
        let records: Vec<Vec<u8>> = rows.iter().map(|row| encoded(row)).collect();
        for a in &records {
            for b in &records {
                let by_prefix = key.prefix(a).cmp(&key.prefix(b));
                if by_prefix != Ordering::Equal {
                    prop_assert_eq!(by_prefix, key.compare(a, b));
                }
                prop_assert_eq!(key.compare(a, b), key.compare(b, a).reverse());
                for columns in 0..=key.columns().len() {
                    let is_tied = key.compare_columns(a, b).1 >= columns;
                    prop_assert_eq!(key.is_tied(a, b, columns), is_tied);
                }
            }
        }
        check_words(&records, &key);
    }

    /// Values that differ late, if at all.
    #[test]
    fn words_agree_with_comparing(
        values in prop::collection::vec((late_value(), late_value()), 2..30),
        columns in prop::collection::vec(column(), 1..3),
        encoding in encoding(),
    ) {
        let row = |(a, b): &(Owned, Owned)| encoded(&[a.clone(), b.clone(), a.clone()]);
        let records: Vec<Vec<u8>> = values.iter().map(row).collect();
        check_words(&records, &KeyOrder::new(columns, encoding));
    }

    #[test]
    fn records_are_read_back(row in prop::collection::vec(value(TextEncoding::Utf8), 0..200)) {
        let bytes = encoded(&row);
        let record = Record::parse(&bytes).unwrap();
        let values: Vec<Value> = row.iter().map(Owned::as_value).collect();
        prop_assert_eq!(record.values().collect::<Vec<_>>(), values.clone());
        for (i, expected) in values.iter().enumerate() {
            prop_assert_eq!(record.value(i), Some(*expected));
        }
        prop_assert_eq!(record.value(row.len()), None);
    }

    /// One writer writes all of them, behind each other; some are given up.
    #[test]
    fn records_written_value_by_value_are_those_that_are_encoded(
        rows in prop::collection::vec((prop::collection::vec(long_value(), 0..150), any::<bool>()), 0..8),
    ) {
        let (mut writer, mut written, mut expected) = (record::Writer::default(), vec![9], vec![9]);
        for (row, is_given_up) in &rows {
            let start = written.len();
            writer.begin(&mut written);
            for value in row {
                writer.push(&value.as_value(), &mut written);
            }
            if *is_given_up {
                written.truncate(start);
                continue;
            }
            writer.end(&mut written);
            expected.extend(encoded(row));
        }
        prop_assert_eq!(written, expected);
    }

    #[test]
    fn picked_values_are_encoded_as_they_would_be_by_themselves(
        row in prop::collection::vec(value(TextEncoding::Utf8), 0..150),
        picks in prop::collection::vec(pick(), 0..150),
    ) {
        let bytes = encoded(&row);
        let mut fields = Fields::default();
        fields.read(&encoded(&[Owned::Null]));
        fields.read(&bytes);
        for (i, value) in row.iter().enumerate() {
            prop_assert_eq!(fields.value(&bytes, i), Some(value.as_value()));
        }
        prop_assert_eq!(fields.value(&bytes, row.len()), None);
        let mut picked = Vec::new();
        fields.write(&bytes, picks.iter().copied(), &mut picked);
        let expected = picks.iter().map(|pick| match *pick {
            Pick::Value(index) => row.get(index).cloned().unwrap_or(Owned::Null),
            Pick::Null => Owned::Null,
            Pick::Integer(integer) => Owned::Integer(integer),
        });
        prop_assert_eq!(picked, encoded(&expected.collect::<Vec<_>>()));
    }

    #[test]
    fn the_first_values_are_read_and_joined_as_if_there_were_no_others(
        row in prop::collection::vec(value(TextEncoding::Utf8), 0..150),
        other in prop::collection::vec(value(TextEncoding::Utf8), 0..20),
        count in 0..160usize,
    ) {
        let (bytes, after) = (encoded(&row), encoded(&other));
        let (mut fields, mut others) = (Fields::default(), Fields::default());
        fields.read_first(&bytes, count);
        others.read(&after);
        for (i, value) in row.iter().enumerate() {
            prop_assert_eq!(fields.value(&bytes, i), (i < count).then(|| value.as_value()));
        }
        let first = fields.first(&bytes, count);
        prop_assert_eq!(first.is_some(), count <= row.len());
        if let Some((types, body)) = first {
            let mut joined = Vec::new();
            let picks = (0..other.len()).map(Pick::Value);
            let (parts, types, body) = ([types, body].concat(), types.len(), body.len());
            let terms = [0..types, types..types + body];
            others.write_after(&parts, terms, &after, picks, &mut joined);
            let expected = [&row[..count], &other].concat();
            prop_assert_eq!(joined, encoded(&expected));
        }
    }

    #[test]
    fn a_value_becomes_null_as_if_the_values_were_picked(
        row in prop::collection::vec(value(TextEncoding::Utf8), 0..20),
        index in 0..20usize,
    ) {
        let bytes = encoded(&row);
        let (mut fields, mut written) = (Fields::default(), vec![9]);
        fields.read_first(&bytes, index + 1);
        let is_short = bytes.iter().skip(1).take(index + 1).all(|byte| *byte < 0x80);
        let is_written = fields.write_with_null(&bytes, index, &mut written);
        prop_assert_eq!(is_written, index < row.len() && is_short);
        let mut expected = row;
        if is_written {
            expected[index] = Owned::Null;
            prop_assert_eq!(&written[1..], &encoded(&expected)[..]);
        } else {
            prop_assert_eq!(written, vec![9]);
        }
    }

    /// Values of each length around that of a machine word, which differ in any place.
    #[test]
    fn short_blobs_are_compared_as_long_ones(a in short_bytes(), b in short_bytes(), same in 0..20usize) {
        let mut b = b;
        let count = same.min(a.len()).min(b.len());
        b[..count].copy_from_slice(&a[..count]);
        let key = KeyOrder::new(vec![KeyColumn::ascending(0)], TextEncoding::Utf8);
        let record = |bytes: &[u8]| encoded(&[Owned::Blob(bytes.to_vec())]);
        prop_assert_eq!(key.compare(&record(&a), &record(&b)), a.cmp(&b));
    }

    #[test]
    fn bytes_that_are_no_record_never_panic(a: Vec<u8>, b: Vec<u8>, key in keyed_rows()) {
        let _ = Record::parse(&a).map(|record| record.values().count());
        let _ = key.1.compare(&a, &b);
        let _ = key.1.prefix(&a);
        let mut fields = Fields::default();
        fields.read(&a);
        prop_assert!(fields.end() <= a.len());
        for index in 0..4 {
            let _ = fields.write_with_null(&a, index, &mut Vec::new());
        }
        let _ = key.1.has_null_before(2, &b);
    }

    #[test]
    fn records_are_byte_for_byte_those_of_sqlite(
        (encoding, row) in encoding().prop_flat_map(|encoding| {
            (Just(encoding), prop::collection::vec(value(encoding), 1..140))
        })
    ) {
        prop_assert_eq!(encoded(&row), common::record_of_sqlite(encoding, &row));
    }
}

#[test]
fn a_whole_number_in_a_real_column_is_stored_as_sqlite_stores_it() {
    let file = tempfile::NamedTempFile::new().unwrap();
    for real in [
        0.0,
        -0.0,
        1.0,
        2.5,
        -128.0,
        140_737_488_355_327.0,
        140_737_488_355_328.0,
        -140_737_488_355_328.0,
        -140_737_488_355_329.0,
        1e18,
        9.3e18,
        -9_223_372_036_854_775_808.0,
        f64::INFINITY,
        f64::MIN_POSITIVE,
    ] {
        let connection = Connection::open(file.path()).unwrap();
        connection
            .execute_batch("DROP TABLE IF EXISTS t; CREATE TABLE t(a REAL)")
            .unwrap();
        connection
            .execute("INSERT INTO t VALUES(?)", [real])
            .unwrap();
        drop(connection);
        let mut bytes = Vec::new();
        record::encode(&[Value::in_real_column(real)], &mut bytes);
        assert_eq!(bytes, common::only_record(file.path()), "{real}");
    }
}

#[test]
fn malformed_records_are_named() {
    use record::Malformed;
    let parse = |bytes: &[u8]| Record::parse(bytes).unwrap_err();
    assert_eq!(parse(&[]), Malformed::Header);
    assert_eq!(parse(&[0]), Malformed::Header);
    assert_eq!(parse(&[3, 1]), Malformed::Header);
    assert_eq!(parse(&[2, 10]), Malformed::SerialType(10));
    let body = |needed, present| Malformed::Body { needed, present };
    assert_eq!(parse(&[2, 2, 0]), body(2, 1));
    assert_eq!(parse(&[2, 8, 0]), body(0, 1));
}
