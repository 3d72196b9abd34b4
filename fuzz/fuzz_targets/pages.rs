//! Whatever the rows, sizes and options: SQLite finds the file that is built whole, and all rows in it.
#![no_main]

use inorder_btree::{
    AutoVacuum, Builder, Collation, KeyColumn, KeyOrder, Options, Record, SchemaEntry,
    TextEncoding, Value, record,
};
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use rusqlite::Connection;

/// Longer than several small pages.
static LONG: [u8; 20_000] = [7; 20_000];

const TABLE: &str = "CREATE TABLE t(a, b)";
const KEYED: &str = "CREATE TABLE w(a COLLATE NOCASE, b, PRIMARY KEY(a DESC, b)) WITHOUT ROWID";

fn options(input: &mut Unstructured) -> Result<Options> {
    let page_bytes = 512 << input.int_in_range(0..=7)?;
    let reserved_bytes: u8 = input.arbitrary()?;
    Ok(Options {
        page_bytes,
        reserved_bytes: reserved_bytes.min((page_bytes - 480).min(255) as u8),
        fill_percent: input.int_in_range(10..=100)?,
        encoding: *input.choose(TextEncoding::ALL)?,
        auto_vacuum: *input.choose(&[
            AutoVacuum::None,
            AutoVacuum::Full,
            AutoVacuum::Incremental,
        ])?,
        is_wal: input.arbitrary()?,
        trees: 2,
        ..Options::default()
    })
}

fn value<'a>(input: &mut Unstructured<'a>) -> Result<Value<'a>> {
    Ok(match input.int_in_range(0..=5)? {
        0 => Value::Null,
        1 => Value::Integer(input.arbitrary()?),
        2 => Value::Real(input.arbitrary()?),
        // A whole number of UTF-16's units.
        3 => {
            let bytes: &'a [u8] = input.arbitrary()?;
            Value::Text(&bytes[..bytes.len() & !1])
        }
        4 => Value::Blob(input.arbitrary()?),
        _ => Value::Blob(&LONG[..input.int_in_range(0..=LONG.len())?]),
    })
}

fn records(input: &mut Unstructured) -> Result<Vec<Vec<u8>>> {
    let mut records = Vec::new();
    while !input.is_empty() {
        // The same row several times over fills pages with few bytes of input.
        let (copies, a, b) = (input.int_in_range(1..=20)?, value(input)?, value(input)?);
        let mut record = Vec::new();
        record::encode(&[a, b], &mut record);
        records.extend(std::iter::repeat_n(record, copies));
    }
    Ok(records)
}

fn entry(name: &str, root: u32, sql: &str) -> SchemaEntry {
    SchemaEntry {
        kind: "table".into(),
        name: name.into(),
        table_name: name.into(),
        root,
        sql: Some(sql.into()),
    }
}

fn check(data: &[u8]) -> Result<()> {
    let mut input = Unstructured::new(data);
    let options = options(&mut input)?;
    let records = records(&mut input)?;
    let first = KeyColumn {
        index: 0,
        collation: Collation::NoCase,
        is_descending: true,
    };
    let order = KeyOrder::new(vec![first, KeyColumn::ascending(1)], options.encoding);
    let mut keyed = records.clone();
    keyed.retain(|record| !order.has_null(record));
    keyed.sort_by(|a, b| order.compare(a, b));
    keyed.dedup_by(|a, b| order.compare(a, b).is_eq());

    let file = tempfile::NamedTempFile::new().expect("temporary file");
    let builder = Builder::create(file.reopen().expect("file"), options).expect("builder");
    let mut table = builder.table().expect("tree");
    for (record, rowid) in records.iter().zip(1..) {
        assert!(Record::parse(record).is_ok());
        table.push(rowid, record).expect("row");
    }
    let (builder, table) = table.finish().expect("tree");
    let mut index = builder.index(order, None).expect("tree");
    keyed
        .iter()
        .try_for_each(|record| index.push(record))
        .expect("record");
    let (builder, index) = index.finish().expect("tree");
    let schema = [entry("t", table, TABLE), entry("w", index, KEYED)];
    builder.finish(&schema).expect("file");

    let built = Connection::open(file.path()).expect("database");
    let text = |sql| {
        built
            .query_row(sql, [], |row| row.get::<_, String>(0))
            .expect("answer")
    };
    assert_eq!(text("PRAGMA integrity_check"), "ok");
    let counts = format!("{} {}", records.len(), keyed.len());
    assert_eq!(
        text("SELECT (SELECT count(*) FROM t) || ' ' || (SELECT count(*) FROM w)"),
        counts
    );
    Ok(())
}

fuzz_target!(|data: &[u8]| {
    // Too little input is no case.
    let _ = check(data);
});
