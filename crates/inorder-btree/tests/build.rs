//! Files against SQLite itself: what it makes of the same rows, and what it does with the file afterwards.

mod common;

use std::fs::File;
use std::path::Path;

use common::{Owned, bind, encoding, value};
use inorder_btree::record::{self, Collation, KeyColumn, KeyOrder, Value};
use inorder_btree::{AutoVacuum, Builder, Error, Options, SchemaEntry};
use proptest::prelude::*;
use rusqlite::Connection;

const TABLE: &str = "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b, c)";
const INDEX: &str = "CREATE INDEX i ON t(c COLLATE NOCASE DESC, a)";
const KEYED: &str = "CREATE TABLE w(a, b, c COLLATE RTRIM, PRIMARY KEY(c DESC, a)) WITHOUT ROWID";
const EMPTY: &str = "CREATE TABLE e(x)";

/// The content of a file to build.
#[derive(Debug, Clone)]
struct Case {
    options: Options,
    /// Values of the columns a, b and c.
    rows: Vec<Vec<Owned>>,
    /// The distance between rowids.
    stride: i64,
    /// Tables before the others, to fill the schema.
    fillers: usize,
}

fn case() -> impl Strategy<Value = Case> {
    let auto_vacuum = prop_oneof![
        Just(AutoVacuum::None),
        Just(AutoVacuum::Full),
        Just(AutoVacuum::Incremental)
    ];
    let page_bytes = prop_oneof![
        4 => Just(512u32),
        3 => (9..=12u32).prop_map(|log| 1 << log),
        3 => (13..=16u32).prop_map(|log| 1 << log),
    ];
    let reserved = prop_oneof![3 => Just(0u8), 1 => 0..=32u8, 1 => Just(255u8)];
    let fill = prop_oneof![2 => Just(100u8), 1 => 10..=100u8];
    let options = (
        page_bytes,
        reserved,
        fill,
        encoding(),
        auto_vacuum,
        any::<(bool, i32, u32)>(),
    );
    let options = options.prop_map(
        |(page_bytes, reserved, fill, encoding, auto_vacuum, (is_wal, version, cookie))| Options {
            page_bytes,
            reserved_bytes: if page_bytes - u32::from(reserved) < 480 {
                32
            } else {
                reserved
            },
            fill_percent: fill,
            encoding,
            auto_vacuum,
            is_wal,
            user_version: version,
            application_id: version.wrapping_mul(3),
            schema_cookie: cookie,
            trees: 4,
            bypasses_page_cache: version % 2 == 0,
            writes_behind: version % 3 == 0,
        },
    );
    (options, 0..3usize).prop_flat_map(|(options, size)| {
        let page_bytes = options.page_bytes as usize;
        let (rows_max, long_max) = [(4, 5 * page_bytes), (80, 2 * page_bytes), (600, 100)][size];
        let long = prop::collection::vec(any::<u8>(), 0..=long_max.min(100_000));
        let encoding = options.encoding;
        let cell = prop_oneof![5 => value(encoding), 1 => long.prop_map(Owned::Blob)];
        let row = prop::collection::vec(cell, 3);
        let stride = prop_oneof![Just(1i64), 1..1_000_000_000_000_000i64];
        (
            prop::collection::vec(row, 0..rows_max),
            stride,
            prop_oneof![Just(0), 1..30usize],
        )
            .prop_map(move |(rows, stride, fillers)| Case {
                options: options.clone(),
                rows,
                stride,
                fillers,
            })
    })
}

fn column(index: usize, collation: Collation, is_descending: bool) -> KeyColumn {
    KeyColumn {
        index,
        collation,
        is_descending,
    }
}

impl Case {
    fn rowids(&self) -> impl Iterator<Item = i64> {
        let first = -(self.rows.len() as i64 / 2);
        (first..).map(|n| n * self.stride)
    }

    /// The order of the index, whose records are c, a and the rowid.
    fn index_order(&self) -> KeyOrder {
        let columns = vec![
            column(0, Collation::NoCase, true),
            KeyColumn::ascending(1),
            KeyColumn::ascending(2),
        ];
        KeyOrder::new(columns, self.options.encoding)
    }

    /// The order of the table WITHOUT ROWID, whose records are c, a and b.
    fn keyed_order(&self) -> KeyOrder {
        let columns = vec![column(0, Collation::RTrim, true), KeyColumn::ascending(1)];
        KeyOrder::new(columns, self.options.encoding)
    }

    fn index_records(&self) -> Vec<Vec<u8>> {
        let rows = self.rows.iter().zip(self.rowids());
        let rows = rows.map(|(row, rowid)| {
            encoded(&[row[2].as_value(), row[0].as_value(), Value::Integer(rowid)])
        });
        sorted(rows.collect(), &self.index_order())
    }

    /// Records of the table WITHOUT ROWID: of rows with the same key the first, of NULL in a key none.
    fn keyed_records(&self) -> Vec<Vec<u8>> {
        let order = self.keyed_order();
        let rows = self.rows.iter();
        let rows =
            rows.map(|row| encoded(&[row[2].as_value(), row[0].as_value(), row[1].as_value()]));
        let mut rows = sorted(rows.collect(), &order);
        rows.retain(|row| !order.has_null(row));
        rows.dedup_by(|a, b| order.compare(a, b).is_eq());
        rows
    }

    fn build(&self, path: &Path) -> Result<(), Error> {
        let builder = Builder::create(File::create_new(path)?, self.options.clone())?;
        let mut table = builder.table()?;
        for (row, rowid) in self.rows.iter().zip(self.rowids()) {
            let [a, b, c] = [0, 1, 2].map(|i| row[i].as_value());
            table.push(rowid, &encoded(&[Value::Null, a, b, c]))?;
        }
        let (builder, table) = table.finish()?;
        let mut index = builder.index(self.index_order(), None)?;
        self.index_records()
            .iter()
            .try_for_each(|record| index.push(record))?;
        let (builder, index) = index.finish()?;
        let mut keyed = builder.index(self.keyed_order(), Some(2))?;
        self.keyed_records()
            .iter()
            .try_for_each(|record| keyed.push(record))?;
        let (builder, keyed) = keyed.finish()?;
        let (builder, empty) = builder.table()?.finish()?;
        let mut schema = vec![
            entry("table", "t", "t", table, TABLE),
            entry("index", "i", "t", index, INDEX),
            entry("table", "w", "w", keyed, KEYED),
            entry("table", "e", "e", empty, EMPTY),
        ];
        schema.extend((0..self.fillers).map(|i| {
            let columns = ", y".repeat(i * 7);
            entry(
                "view",
                &format!("v{i}"),
                &format!("v{i}"),
                0,
                &format!("CREATE VIEW v{i} AS SELECT 1{columns} FROM (SELECT 1 AS y)"),
            )
        }));
        builder.finish(&schema).map(drop)
    }

    /// The same tables with the same rows, made by SQLite.
    fn insert(&self) -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        let name = self.options.encoding.name();
        let setup =
            format!("PRAGMA encoding = '{name}'; {TABLE}; {INDEX}; {KEYED}; {EMPTY}; BEGIN");
        connection.execute_batch(&setup).unwrap();
        for (row, rowid) in self.rows.iter().zip(self.rowids()) {
            insert_row(
                &connection,
                "INSERT INTO t VALUES",
                &[Owned::Integer(rowid)],
                row,
            );
        }
        for record in self.keyed_records() {
            let values: Vec<Owned> = record_values(&record);
            let row = [1, 2, 0].map(|i| values[i].clone());
            insert_row(&connection, "INSERT INTO w VALUES", &[], &row);
        }
        connection.execute_batch("COMMIT").unwrap();
        connection
    }
}

fn entry(kind: &str, name: &str, table: &str, root: u32, sql: &str) -> SchemaEntry {
    SchemaEntry {
        kind: kind.into(),
        name: name.into(),
        table_name: table.into(),
        root,
        sql: Some(sql.into()),
    }
}

fn encoded(values: &[Value]) -> Vec<u8> {
    let mut bytes = Vec::new();
    record::encode(values, &mut bytes);
    bytes
}

fn sorted(mut records: Vec<Vec<u8>>, order: &KeyOrder) -> Vec<Vec<u8>> {
    records.sort_by(|a, b| order.compare(a, b));
    records
}

fn record_values(bytes: &[u8]) -> Vec<Owned> {
    let values = record::Record::parse(bytes).unwrap().values();
    values
        .map(|value| match value {
            Value::Null => Owned::Null,
            Value::Integer(integer) => Owned::Integer(integer),
            Value::Real(real) => Owned::Real(real),
            Value::Text(text) => Owned::Text(text.to_vec()),
            Value::Blob(blob) => Owned::Blob(blob.to_vec()),
        })
        .collect()
}

fn insert_row(connection: &Connection, insert: &str, before: &[Owned], row: &[Owned]) {
    let row = [before, row].concat();
    let places: Vec<String> = row.iter().map(Owned::placeholder).collect();
    let sql = format!("{insert}({})", places.join(", "));
    let mut statement = connection.prepare_cached(&sql).unwrap();
    statement
        .execute(rusqlite::params_from_iter(bind(&row)))
        .unwrap();
}

/// Everything a query gives, each value with its type, as text.
fn rows(connection: &Connection, sql: &str) -> Vec<String> {
    let mut statement = connection.prepare(sql).unwrap();
    let columns = statement.column_count();
    let mut rows = statement.query([]).unwrap();
    let mut found = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        let values: Vec<_> = (0..columns).map(|i| row.get_ref(i).unwrap()).collect();
        found.push(format!("{values:?}"));
    }
    found
}

fn open(path: &Path) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection
        .execute_batch("PRAGMA synchronous = OFF")
        .unwrap();
    connection
}

fn assert_whole(connection: &Connection) {
    let check = "PRAGMA integrity_check";
    let found: String = connection.query_row(check, [], |row| row.get(0)).unwrap();
    assert_eq!(found, "ok");
}

const QUERIES: &[&str] = &[
    "SELECT * FROM t ORDER BY id",
    "SELECT c, a, id FROM t INDEXED BY i WHERE c IS NOT NULL OR c IS NULL ORDER BY c COLLATE NOCASE DESC, a",
    "SELECT * FROM w ORDER BY c DESC, a",
    "SELECT * FROM e",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_file_holds_what_sqlite_would_have_inserted(case in case()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("built.db");
        case.build(&path).unwrap();
        let built = open(&path);
        assert_whole(&built);
        let inserted = case.insert();
        for query in QUERIES {
            prop_assert_eq!(rows(&built, query), rows(&inserted, query));
        }
        let number = |pragma: &str| -> i64 {
            built.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get(0)).unwrap()
        };
        let options = &case.options;
        prop_assert_eq!(number("page_size"), i64::from(options.page_bytes));
        prop_assert_eq!(number("user_version"), i64::from(options.user_version));
        prop_assert_eq!(number("application_id"), i64::from(options.application_id));
        prop_assert_eq!(number("schema_version"), i64::from(options.schema_cookie as i32));
        prop_assert_eq!(number("auto_vacuum"), options.auto_vacuum as i64);
        prop_assert_eq!(number("freelist_count"), 0);
        let bytes = std::fs::metadata(&path).unwrap().len() as i64;
        prop_assert_eq!(number("page_count") * number("page_size"), bytes);
    }

    #[test]
    fn sqlite_goes_on_working_with_a_file(case in case(), picks in 2..5i64) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("built.db");
        case.build(&path).unwrap();
        let built = open(&path);
        let inserted = case.insert();
        let changes = [
            format!("DELETE FROM t WHERE id % {picks} = 0"),
            "UPDATE t SET b = zeroblob(3000), c = 'x' || id WHERE id % 5 = 1".into(),
            "INSERT INTO t(a, b, c) SELECT a, c, b FROM w LIMIT 100".into(),
            format!("DELETE FROM w WHERE length(a) % {picks} = 0"),
            "INSERT OR REPLACE INTO w(a, b, c) SELECT 'new' || id, b, c FROM t WHERE c IS NOT NULL".into(),
            "INSERT INTO e SELECT b FROM t".into(),
        ];
        for change in &changes {
            built.execute_batch(change).unwrap();
            inserted.execute_batch(change).unwrap();
            assert_whole(&built);
        }
        let copy = folder.path().join("copy.db");
        built.execute("VACUUM INTO ?", [copy.to_str().unwrap()]).unwrap();
        built.execute_batch("PRAGMA incremental_vacuum").unwrap();
        assert_whole(&built);
        built.execute_batch("DELETE FROM t WHERE id % 3 = 0; DROP INDEX i; VACUUM").unwrap();
        assert_whole(&built);
        let copy = open(&copy);
        assert_whole(&copy);
        copy.execute_batch("CREATE INDEX IF NOT EXISTS i ON t(c COLLATE NOCASE DESC, a)").unwrap();
        for query in QUERIES {
            prop_assert_eq!(rows(&copy, query), rows(&inserted, query));
        }
    }
}

/// Every number of rows up to a tree five levels high: each way a page can end at the right edge.
#[test]
fn no_number_of_rows_leaves_a_page_without_cells_or_children() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("built.db");
    let options = Options {
        page_bytes: 512,
        trees: 2,
        auto_vacuum: AutoVacuum::Full,
        ..Options::default()
    };
    let (mut depth_max, mut record) = (0, Vec::new());
    for rows in (0..=320).chain(1400..1440) {
        let _ = std::fs::remove_file(&path);
        let builder = Builder::create(File::create_new(&path).unwrap(), options.clone()).unwrap();
        let order = KeyOrder::new(vec![KeyColumn::ascending(0)], options.encoding);
        let mut index = builder.index(order, None).unwrap();
        for key in 0..rows {
            let key = format!("{key:090}");
            record.clear();
            record::encode(&[Value::Text(key.as_bytes())], &mut record);
            index.push(&record).unwrap();
        }
        let (builder, index) = index.finish().unwrap();
        let mut table = builder.table().unwrap();
        for rowid in 0..rows {
            let key = [b'x'; 400];
            record.clear();
            record::encode(&[Value::Blob(&key)], &mut record);
            table.push((rowid << 40) + 1, &record).unwrap();
        }
        let (builder, table) = table.finish().unwrap();
        let schema = [
            entry(
                "table",
                "k",
                "k",
                index,
                "CREATE TABLE k(x PRIMARY KEY) WITHOUT ROWID",
            ),
            entry("table", "t", "t", table, "CREATE TABLE t(x)"),
        ];
        builder.finish(&schema).unwrap();
        assert_whole(&open(&path));
        let bytes = std::fs::read(&path).unwrap();
        depth_max = depth_max.max(depth(&bytes, index, 512));
    }
    assert!(depth_max >= 5, "{depth_max}");
}

/// The pages from a root to a leaf.
fn depth(file: &[u8], root: u32, page_bytes: usize) -> usize {
    let page = &file[(root as usize - 1) * page_bytes..][..page_bytes];
    match page[0] {
        2 | 5 => {
            1 + depth(
                file,
                u32::from_be_bytes(*page[8..].first_chunk().unwrap()),
                page_bytes,
            )
        }
        _ => 1,
    }
}

/// A builder of one tree, whose file is gone once it is closed.
fn builder(options: Options) -> Result<Builder, Error> {
    Builder::create(tempfile::tempfile().unwrap(), options)
}

#[test]
fn rowids_ascend() {
    let record = encoded(&[Value::Null]);
    let builder = builder(Options::default()).unwrap();
    let mut table = builder.table().unwrap();
    table.push(i64::MIN, &record).unwrap();
    table.push(7, &record).unwrap();
    assert!(matches!(
        table.push(7, &record),
        Err(Error::Duplicate { entry: 2 })
    ));
    assert!(matches!(
        table.push(6, &record),
        Err(Error::OutOfOrder { entry: 2 })
    ));
}

#[test]
fn keys_ascend_and_are_unique_unless_null() {
    let key = |a: Value, rowid| encoded(&[a, Value::Integer(rowid)]);
    let order = KeyOrder::new(
        vec![column(0, Collation::NoCase, false), KeyColumn::ascending(1)],
        Options::default().encoding,
    );
    let push = |unique_columns, records: &[Vec<u8>]| {
        let builder = builder(Options::default()).unwrap();
        let mut index = builder.index(order.clone(), unique_columns).unwrap();
        records.iter().try_for_each(|record| index.push(record))
    };
    let same = [key(Value::Text(b"a"), 1), key(Value::Text(b"A"), 2)];
    assert!(push(None, &same).is_ok());
    assert!(matches!(
        push(Some(1), &same),
        Err(Error::Duplicate { entry: 1 })
    ));
    let nulls = [key(Value::Null, 1), key(Value::Null, 2)];
    assert!(push(Some(1), &nulls).is_ok());
    let twice = [nulls[0].clone(), nulls[0].clone()];
    assert!(matches!(
        push(Some(1), &twice),
        Err(Error::Duplicate { entry: 1 })
    ));
    let reversed = [key(Value::Text(b"b"), 1), key(Value::Text(b"A"), 2)];
    assert!(matches!(
        push(None, &reversed),
        Err(Error::OutOfOrder { entry: 1 })
    ));
    let reversed = [key(Value::Text(b"a"), 2), key(Value::Text(b"A"), 1)];
    assert!(matches!(
        push(None, &reversed),
        Err(Error::OutOfOrder { entry: 1 })
    ));
}

#[test]
fn an_entry_out_of_order_is_found_after_any_number_of_equal_prefixes() {
    let order = KeyOrder::new(
        (0..2).map(KeyColumn::ascending).collect(),
        Options::default().encoding,
    );
    // Entries with one prefix, then as many with prefixes that differ, and in the end one that is not the last.
    for equal in [1, 15, 16, 17, 18, 4_112, 4_113, 4_114, 9_000] {
        let records = |places: i64| {
            let of_group = |at: i64| [Value::Integer((at - equal).max(0)), Value::Integer(at)];
            (0..places).map(move |at| encoded(&of_group(at)))
        };
        for places in [equal, equal + 1, equal + 20] {
            let builder = builder(Options::default()).unwrap();
            let mut index = builder.index(order.clone(), None).unwrap();
            for record in records(places) {
                index.push(&record).unwrap();
            }
            let last = records(places).next_back().unwrap();
            let entry = places as u64;
            let twice = index.push(&last);
            assert!(
                matches!(twice, Err(Error::Duplicate { entry: at }) if at == entry),
                "{equal}, {places}: {twice:?}"
            );
            let before = encoded(&[Value::Integer(0), Value::Integer(-1)]);
            let back = index.push(&before);
            assert!(
                matches!(back, Err(Error::OutOfOrder { entry: at }) if at == entry),
                "{equal}, {places}: {back:?}"
            );
        }
    }
}

#[test]
fn a_file_with_something_in_it_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    std::fs::write(&path, "mine").unwrap();
    let file = File::options().write(true).open(&path).unwrap();
    let error = Builder::create(file, Options::default()).unwrap_err();
    assert!(matches!(error, Error::NotEmpty { bytes: 4 }));
    assert_eq!(std::fs::read(&path).unwrap(), b"mine");
}

#[test]
fn options_out_of_range_are_refused() {
    let with = |change: fn(&mut Options)| {
        let mut options = Options::default();
        change(&mut options);
        builder(options).unwrap_err()
    };
    assert!(matches!(
        with(|options| options.page_bytes = 256),
        Error::PageBytes(256)
    ));
    assert!(matches!(
        with(|options| options.page_bytes = 1000),
        Error::PageBytes(1000)
    ));
    assert!(matches!(
        with(|options| options.fill_percent = 9),
        Error::FillPercent(9)
    ));
    let error = with(|options| (options.page_bytes, options.reserved_bytes) = (512, 33));
    assert!(matches!(
        error,
        Error::ReservedBytes {
            page_bytes: 512,
            reserved_bytes: 33
        }
    ));
}

#[test]
fn as_many_trees_are_built_as_were_foreseen() {
    let one = builder(Options::default()).unwrap();
    let (one, _) = one.table().unwrap().finish().unwrap();
    assert!(matches!(
        one.table(),
        Err(Error::Trees {
            foreseen: 1,
            built: 2
        })
    ));
    let none = builder(Options::default()).unwrap();
    assert!(matches!(
        none.finish(&[]),
        Err(Error::Trees {
            foreseen: 1,
            built: 0
        })
    ));
}

/// The page with the byte at 1 GiB, and under auto-vacuum a page of the pointer map near it.
#[test]
#[ignore = "writes two files of 1 GiB"]
fn a_file_of_more_than_1_gib_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    for auto_vacuum in [AutoVacuum::None, AutoVacuum::Full] {
        let path = folder.path().join("built.db");
        let options = Options {
            auto_vacuum,
            bypasses_page_cache: true,
            ..Options::default()
        };
        let builder = Builder::create(File::create_new(&path).unwrap(), options).unwrap();
        let mut table = builder.table().unwrap();
        let blob = vec![b'x'; 3_000_000];
        let record = encoded(&[Value::Blob(&blob)]);
        (0..360)
            .try_for_each(|rowid| table.push(rowid, &record))
            .unwrap();
        let (builder, table) = table.finish().unwrap();
        let schema = [entry("table", "t", "t", table, "CREATE TABLE t(x)")];
        builder.finish(&schema).unwrap();
        assert!(std::fs::metadata(&path).unwrap().len() > 1 << 30);
        let built = open(&path);
        assert_whole(&built);
        built
            .execute_batch("DELETE FROM t WHERE rowid % 2")
            .unwrap();
        assert_whole(&built);
        drop(built);
        std::fs::remove_file(&path).unwrap();
    }
}
