//! Files that SQLite wrote, read without it.

use std::fs::File;
use std::path::Path;

use inorder_btree::{Error, Reader, Value, record::Record};
use rusqlite::Connection;

/// Text, or the length of a blob, of a record's values.
fn shown(record: &[u8]) -> Vec<String> {
    let show = |value| match value {
        Value::Null => "null".to_owned(),
        Value::Integer(integer) => integer.to_string(),
        Value::Real(real) => format!("{real:?}"),
        Value::Text(text) => String::from_utf8_lossy(text).into_owned(),
        Value::Blob(blob) => format!("{} bytes", blob.len()),
    };
    let record = Record::parse(record).expect("a record");
    record.values().map(show).collect()
}

fn root(database: &Connection, name: &str) -> u32 {
    let root = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
    database
        .query_row(root, [name], |row| row.get(0))
        .expect("a root")
}

fn opened(path: &Path, is_mapped: bool) -> Reader {
    let file = File::open(path).expect("opened");
    let reader = match is_mapped {
        true => Reader::mapped(file),
        false => Reader::new(file),
    };
    let reader = reader.expect("a header");
    assert_eq!(reader.map().is_some(), is_mapped);
    reader
}

#[test]
fn every_entry_comes_in_order() {
    for (page_bytes, blob_bytes, is_mapped) in [
        (512, 3000, false),
        (4096, 300, false),
        (4096, 300, true),
        (65536, 70_000, true),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.db");
        let database = Connection::open(&path).expect("a database");
        database
            .execute_batch(&format!(
                "PRAGMA page_size = {page_bytes};
                 CREATE TABLE t(a, b); CREATE TABLE w(k PRIMARY KEY, v) WITHOUT ROWID; CREATE INDEX i ON t(b, a DESC);
                 WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
                 INSERT INTO t(rowid, a, b) SELECT i * 7919 % 1009 - 500, 'row ' || i,
                   CASE i % 3 WHEN 0 THEN zeroblob({blob_bytes} + i) WHEN 1 THEN i / 4.0 END FROM n;
                 INSERT INTO w SELECT a, b FROM t; DELETE FROM t WHERE rowid % 5 = 0;"
            ))
            .expect("made");
        let mut reader = opened(&path, is_mapped);
        let show = "CASE typeof({}) WHEN 'blob' THEN length({}) || ' bytes' WHEN 'null' THEN 'null' ELSE {} || '' END";
        let show = |column: &str| show.replace("{}", column);
        let expected = |query: String| -> Vec<String> {
            let mut statement = database.prepare(&query).expect("prepared");
            let rows = statement.query_map([], |row| row.get(0)).expect("run");
            rows.map(|row| row.expect("a row")).collect()
        };
        let mut rows = Vec::new();
        reader
            .table(root(&database, "t"), |rowid, record| {
                rows.push(format!("{rowid} {}", shown(record).join(" ")));
                Ok::<_, Error>(())
            })
            .expect("read");
        let query = format!(
            "SELECT rowid || ' ' || a || ' ' || {} FROM t ORDER BY rowid",
            show("b")
        );
        assert_eq!(rows, expected(query));
        for (name, query) in [
            (
                "i",
                format!(
                    "SELECT {} || ' ' || a || ' ' || rowid FROM t ORDER BY b, a DESC",
                    show("b")
                ),
            ),
            (
                "w",
                format!("SELECT k || ' ' || {} FROM w ORDER BY k", show("v")),
            ),
        ] {
            let root = match name {
                "w" => root(&database, "w"),
                name => root(&database, name),
            };
            let mut entries = Vec::new();
            reader
                .index(root, |record| {
                    entries.push(shown(record).join(" "));
                    Ok::<_, Error>(())
                })
                .expect("read");
            assert_eq!(entries, expected(query), "{name} {page_bytes}");
        }
    }
}

#[test]
fn leaves_have_the_rows_and_their_bounds() {
    for (page_bytes, rows) in [(512, 3), (512, 3000), (4096, 20_000)] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.db");
        let database = Connection::open(&path).expect("a database");
        database
            .execute_batch(&format!(
                "PRAGMA page_size = {page_bytes}; CREATE TABLE t(a);
                 WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows})
                 INSERT INTO t(rowid, a) SELECT i * 7919 % 1000003 - 500000, zeroblob(i % 1200) FROM n;
                 DELETE FROM t WHERE rowid % 7 = 0"
            ))
            .expect("made");
        let root = root(&database, "t");
        let mut reader = opened(&path, false);
        reader.note_pages();
        let mut leaves = Vec::new();
        let last = reader.leaves(root, |page, bound| {
            leaves.push((page, bound));
            Ok::<_, Error>(())
        });
        leaves.push((last.expect("read"), i64::MAX));
        let interior = reader.take_pages();
        let (mut before, mut found) = (i64::MIN, 0);
        for &(page, bound) in &leaves {
            let mut of_leaf = Vec::new();
            let row = |rowid: i64, _: &[u8]| {
                of_leaf.push(rowid);
                Ok::<_, Error>(())
            };
            reader.table(page, row).expect("read");
            assert!(
                of_leaf
                    .iter()
                    .all(|rowid| before < *rowid && *rowid <= bound)
            );
            before = bound;
            found += of_leaf.len();
        }
        let count = "SELECT count(*) FROM t";
        let count: i64 = database
            .query_row(count, [], |row| row.get(0))
            .expect("a count");
        assert_eq!(found as i64, count);
        let mut pages: Vec<u32> = leaves
            .iter()
            .map(|(page, _)| *page)
            .chain(interior)
            .collect();
        pages.sort_unstable();
        let whole = pages.len();
        pages.dedup();
        assert_eq!(pages.len(), whole, "no page comes twice");
        assert!(pages.contains(&root));
    }
}

#[test]
fn damage_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.db");
    let database = Connection::open(&path).expect("a database");
    database
        .execute_batch(
            "CREATE TABLE t(a); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
             INSERT INTO t SELECT zeroblob(i) FROM n",
        )
        .expect("made");
    let root = root(&database, "t");
    drop(database);
    let whole = std::fs::read(&path).expect("read");
    let mut failures = 0;
    for at in (0..whole.len()).step_by(1499) {
        let mut damaged = whole.clone();
        for byte in damaged.iter_mut().skip(at).take(16) {
            *byte = byte.wrapping_mul(31).wrapping_add(0x5b);
        }
        std::fs::write(&path, &damaged).expect("written");
        let read = [Reader::new, Reader::mapped].map(|open| {
            let reader = open(File::open(&path).expect("opened"));
            reader.and_then(|mut reader| reader.table(root, |_, _| Ok(())))
        });
        assert_eq!(read[0].is_err(), read[1].is_err());
        failures += u32::from(read[0].is_err());
    }
    assert!(failures > 3, "{failures}");
}
