//! Trees of a file that SQLite wrote, copied by whole pages where they are full.

use std::fs::File;
use std::path::Path;

use inorder_btree::{
    AutoVacuum, Builder, Error, IndexBuilder, KeyOrder, LeafPage, Options, Reader, SchemaEntry,
    TableBuilder, TextEncoding, Visitor,
};
use rusqlite::Connection;

enum Target {
    Table(TableBuilder),
    Index(IndexBuilder),
}

/// A copy of a tree that counts what it is made of.
struct Copy {
    target: Target,
    pages: u32,
    rows: u32,
}

impl Visitor for Copy {
    type Error = Error;

    fn page(&mut self, page: &LeafPage<'_>) -> Result<bool, Error> {
        let is_whole = match &mut self.target {
            Target::Table(tree) => tree.push_page(page, |_, _| {})?,
            Target::Index(tree) => tree.push_page(page, |_| {})?,
        };
        self.pages += u32::from(is_whole);
        Ok(is_whole)
    }

    fn row(&mut self, rowid: i64, record: &[u8]) -> Result<(), Error> {
        self.rows += 1;
        match &mut self.target {
            Target::Table(tree) => tree.push(rowid, record),
            Target::Index(tree) => tree.push(record),
        }
    }
}

const TREES: [(&str, &str, &str); 3] = [
    ("t", "table", "CREATE TABLE t(a, b)"),
    ("i", "index", "CREATE INDEX i ON t(b, a)"),
    (
        "w",
        "table",
        "CREATE TABLE w(k PRIMARY KEY, v) WITHOUT ROWID",
    ),
];

/// Copies the three trees. Returns the pages that were copied whole, and the rows that were not.
fn copy(from: &Path, to: &Path, page_bytes: u32, auto_vacuum: AutoVacuum) -> (u32, u32) {
    let database = Connection::open(from).expect("a database");
    let file = File::options()
        .read(true)
        .write(true)
        .create_new(true)
        .open(to)
        .expect("created");
    let options = Options {
        page_bytes,
        auto_vacuum,
        trees: 3,
        ..Options::default()
    };
    let mut builder = Builder::create(file, options).expect("begun");
    let mut reader = Reader::direct(File::open(from).expect("opened")).expect("a header");
    let (mut schema, mut pages, mut rows) = (Vec::new(), 0, 0);
    for (name, kind, sql) in TREES {
        let query = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
        let root = database
            .query_row(query, [name], |row| row.get(0))
            .expect("a root");
        let unordered = KeyOrder::new(Vec::new(), TextEncoding::Utf8);
        let target = match name {
            "t" => Target::Table(builder.table().expect("begun")),
            _ => Target::Index(builder.index(unordered, None).expect("begun")),
        };
        let mut copy = Copy {
            target,
            pages: 0,
            rows: 0,
        };
        reader.visit(root, name == "t", &mut copy).expect("copied");
        let root;
        (builder, root) = match copy.target {
            Target::Table(tree) => tree.finish().expect("finished"),
            Target::Index(tree) => tree.finish().expect("finished"),
        };
        pages += copy.pages;
        rows += copy.rows;
        schema.push(SchemaEntry {
            kind: kind.into(),
            name: name.into(),
            table_name: if name == "i" { "t" } else { name }.into(),
            root,
            sql: Some(sql.into()),
        });
    }
    builder.finish(&schema).expect("finished");
    (pages, rows)
}

fn content(path: &Path) -> (String, u64) {
    let database = Connection::open(path).expect("a database");
    let text = |sql: &str| -> String { database.query_row(sql, [], |row| row.get(0)).expect(sql) };
    assert_eq!(text("PRAGMA integrity_check"), "ok");
    let all = "SELECT count(*) || coalesce(group_concat(rowid || a || quote(b)), '') FROM t";
    let keyed = "SELECT count(*) || coalesce(group_concat(k || quote(v)), '') FROM w";
    let content = text(all) + &text(keyed);
    drop(database);
    (content, path.metadata().expect("a file").len())
}

#[test]
fn copies_have_the_same_rows_and_are_as_small_as_vacuum_makes_them() {
    let mut copied = [0, 0];
    for page_bytes in [512, 4096, 65536] {
        for auto_vacuum in [AutoVacuum::None, AutoVacuum::Full] {
            for rows in [0, 1, 5, 700, 2000] {
                // In the order of their keys, in no order, and with payloads in other pages.
                for (by, bytes) in [
                    (1, 40),
                    (7919, 40),
                    (1, page_bytes / 3),
                    (1, 2 * page_bytes),
                ] {
                    let rows = rows.min(1_000_000 / bytes);
                    let folder = tempfile::tempdir().expect("a folder");
                    let path = |name: &str| folder.path().join(name);
                    let made = Connection::open(path("old.db")).expect("a database");
                    let sql = format!(
                        "PRAGMA page_size = {page_bytes}; {}; {}; {};
                         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows})
                         INSERT INTO t SELECT 1000000 + i * {by} % 10007, zeroblob({bytes} - i % 7) FROM n WHERE {rows} > 0;
                         INSERT INTO w SELECT * FROM t",
                        TREES[0].2, TREES[1].2, TREES[2].2
                    );
                    made.execute_batch(&sql).expect("made");
                    drop(made);
                    let (pages, rows) =
                        copy(&path("old.db"), &path("new.db"), page_bytes, auto_vacuum);
                    copied[0] += pages;
                    copied[1] += rows;
                    let (before, _) = content(&path("old.db"));
                    let (after, after_bytes) = content(&path("new.db"));
                    let what = format!("{page_bytes} {auto_vacuum:?} {rows} {by} {bytes}");
                    assert!(before == after, "{what}");
                    let vacuum = Connection::open(path("new.db")).expect("a database");
                    vacuum.execute_batch("VACUUM").expect("vacuumed");
                    drop(vacuum);
                    let (_, vacuum_bytes) = content(&path("new.db"));
                    let limit = vacuum_bytes + vacuum_bytes / 40 + 4 * u64::from(page_bytes);
                    assert!(after_bytes <= limit, "{what}: {after_bytes} {vacuum_bytes}");
                }
            }
        }
    }
    assert!(copied.iter().all(|count| *count > 300), "{copied:?}");
}
