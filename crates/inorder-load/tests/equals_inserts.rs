//! A load stores the same rows as INSERT statements of the same values, over random schemas and data.

mod common;

use common::{Folder, integrity, rows};
use inorder_load::{OnDuplicate, RowOrder, WriterChoice};
use proptest::prelude::*;
use rusqlite::Connection;

/// A column of a made-up table.
#[derive(Clone, Debug)]
struct Column {
    declared_type: &'static str,
    collation: &'static str,
    is_descending: bool,
    is_not_null: bool,
}

#[derive(Clone, Debug)]
struct Schema {
    columns: Vec<Column>,
    /// The columns of the key; none for a table without one.
    key: Vec<usize>,
    has_rowid: bool,
    is_strict: bool,
    page_bytes: u32,
    encoding: &'static str,
}

impl Schema {
    /// The column that is another name of the rowid.
    fn alias(&self) -> Option<usize> {
        let &[only] = &self.key[..] else {
            return None;
        };
        let column = &self.columns[only];
        let is_alias = self.has_rowid && column.declared_type == "INTEGER";
        is_alias.then_some(only)
    }

    fn sql(&self) -> String {
        let name = |i: usize| format!("c{}", i + 1);
        let mut parts: Vec<String> = self
            .columns
            .iter()
            .enumerate()
            .map(|(i, column)| {
                let declared_type = match (self.is_strict, column.declared_type) {
                    (true, "NUMERIC" | "") => "ANY",
                    (true, "VARCHAR(9)") => "TEXT",
                    (_, declared_type) => declared_type,
                };
                let not_null = if column.is_not_null { " NOT NULL" } else { "" };
                format!(
                    "{} {declared_type} COLLATE {}{not_null}",
                    name(i),
                    column.collation
                )
            })
            .collect();
        let key: Vec<String> = self
            .key
            .iter()
            .map(|&i| {
                format!(
                    "{}{}",
                    name(i),
                    if self.columns[i].is_descending {
                        " DESC"
                    } else {
                        ""
                    }
                )
            })
            .collect();
        if !key.is_empty() {
            parts.push(format!("PRIMARY KEY ({})", key.join(", ")));
        }
        let mut options = Vec::new();
        if !self.has_rowid && !key.is_empty() {
            options.push("WITHOUT ROWID");
        }
        if self.is_strict {
            options.push("STRICT");
        }
        format!(
            "PRAGMA page_size = {}; PRAGMA encoding = '{}';
             CREATE TABLE beside(a PRIMARY KEY, b); INSERT INTO beside VALUES (1, 'x'), (2, zeroblob(9000));
             CREATE TABLE t({}) {};",
            self.page_bytes,
            self.encoding,
            parts.join(", "),
            options.join(", ")
        )
    }
}

fn column() -> impl Strategy<Value = Column> {
    const TYPES: &[&str] = &[
        "INTEGER",
        "TEXT",
        "REAL",
        "BLOB",
        "NUMERIC",
        "",
        "VARCHAR(9)",
        "INT",
    ];
    (
        prop::sample::select(TYPES),
        prop::sample::select(&["BINARY", "NOCASE", "RTRIM"][..]),
        any::<bool>(),
        prop::bool::weighted(0.2),
    )
        .prop_map(
            |(declared_type, collation, is_descending, is_not_null)| Column {
                declared_type,
                collation,
                is_descending,
                is_not_null,
            },
        )
}

fn schema() -> impl Strategy<Value = Schema> {
    (
        proptest::collection::vec(column(), 1..5),
        proptest::sample::subsequence(vec![0usize, 1, 2, 3], 0..3),
        any::<bool>(),
        prop::bool::weighted(0.2),
        prop::sample::select(&[512u32, 1024, 4096, 65536][..]),
        prop::sample::select(&["UTF-8", "UTF-16le", "UTF-16be"][..]),
    )
        .prop_map(
            |(columns, mut key, has_rowid, is_strict, page_bytes, encoding)| {
                key.retain(|&i| i < columns.len());
                Schema {
                    columns,
                    key,
                    has_rowid,
                    is_strict,
                    page_bytes,
                    encoding,
                }
            },
        )
}

/// A field as it stands in a CSV; `None` for NULL.
fn field() -> impl Strategy<Value = Option<String>> {
    prop_oneof![
        2 => Just(None),
        4 => (-3i64..9).prop_map(|n| Some(n.to_string())),
        1 => any::<i64>().prop_map(|n| Some(n.to_string())),
        1 => any::<f64>().prop_map(|n| Some(format!("{n:e}"))),
        2 => prop::sample::select(&["", " ", "1.0", "-0", "007", "1e3", "a", "A", "a ", "é", "\u{1f600}"][..])
            .prop_map(|text| Some(text.to_owned())),
        2 => "[ -~]{0,20}".prop_map(Some),
        1 => ("[ab\u{e9}]", 1usize..3000).prop_map(|(c, n)| Some(c.repeat(n))),
    ]
}

fn quoted(field: &Option<String>) -> String {
    match field {
        None => String::new(),
        Some(text) => format!("\"{}\"", text.replace('"', "\"\"")),
    }
}

/// Inserts rows one at a time and omits refused ones; returns the numbers of refused and duplicate rows.
fn insert(db: &Connection, columns: usize, rows: &[Vec<Option<String>>]) -> (u64, u64) {
    let places = vec!["?"; columns].join(",");
    let sql = format!("INSERT INTO t VALUES ({places}) ON CONFLICT DO NOTHING");
    let mut statement = db.prepare(&sql).expect("a statement");
    let (mut refused, mut duplicates) = (0, 0);
    for row in rows {
        match statement.execute(rusqlite::params_from_iter(row)) {
            Ok(1) => {}
            Ok(_) => duplicates += 1,
            Err(_) => refused += 1,
        }
    }
    (refused, duplicates)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_table_is_loaded_as_inserts_would(
        schema in schema(),
        fields in proptest::collection::vec(proptest::collection::vec(field(), 4), 0..60),
        writer in prop::sample::select(&[WriterChoice::Auto, WriterChoice::Statements][..]),
        order in prop::sample::select(&[RowOrder::Full, RowOrder::Input, RowOrder::Batch { rows: 7, is_by_prefix: false }, RowOrder::Batch { rows: 7, is_by_prefix: true }][..]),
        memory_bytes in prop::sample::select(&[1usize << 26, 2000][..]),
    ) {
        let columns = schema.columns.len();
        let table: Vec<Vec<Option<String>>> = fields.iter().map(|row| row[..columns].to_vec()).collect();
        // A rowid that is made depends on which rows came before.
        let is_made = |row: &Vec<Option<String>>| schema.alias().is_some_and(|alias| row[alias].is_none());
        let table: Vec<_> = table.into_iter().filter(|row| !is_made(row)).collect();
        let names: Vec<String> = (1..=columns).map(|i| format!("c{i}")).collect();
        let mut csv = names.join(",") + "\n";
        for row in &table {
            let row: Vec<String> = row.iter().map(quoted).collect();
            csv += &(row.join(",") + "\n");
        }

        let reference = Folder::new(&schema.sql());
        let db = reference.open();
        let (refused, duplicates) = insert(&db, columns, &table);

        let folder = Folder::new(&schema.sql());
        let path = folder.file("f.csv", csv);
        let mut job = folder.job(&path);
        job.writer = writer;
        job.order = order;
        job.memory_bytes = memory_bytes;
        job.on_duplicate = OnDuplicate::Ignore;
        job.errors_max = u64::MAX;
        // Text for a BLOB column stays what it is, as in the INSERT.
        job.decode = names.iter().map(|name| (name.clone(), None)).collect();
        let summary = folder.run(&job);
        prop_assert!(summary.is_ok(), "{:?} in {}", summary, schema.sql());
        let summary = summary.expect("it is");
        let loaded = folder.open();
        prop_assert_eq!(rows(&loaded, "t"), rows(&db, "t"), "{}", schema.sql());
        prop_assert_eq!(integrity(&loaded), "ok");
        prop_assert_eq!(rows(&loaded, "beside"), rows(&db, "beside"));
        prop_assert_eq!(summary.rows_read, table.len() as u64);
        // A row that is both wrong and a duplicate may be reported as either.
        let left_out = summary.rows_refused + summary.rows_duplicate;
        prop_assert_eq!(left_out, refused + duplicates, "{}", schema.sql());
    }
}
