use super::*;
use crate::question::{Engine, Question};
use inorder_key::{Encoding, KeyKind};

/// A table without checkpoints during its load, and its database after so many rows.
fn loaded(key: KeyKind, encoding: Encoding, rows: u64) -> Postgres {
    let mut question = Question::new(Engine::Postgres, key, rows);
    question.encoding = encoding;
    let mut database = Postgres::new(&question);
    for row in 1..=rows {
        database.insert(row);
    }
    database
}

/// `pg_waldump` shows 137 bytes for a row of a 16-byte blob and a payload of 64, and 80 bytes for its index entry.
#[test]
fn records_have_the_sizes_that_the_server_writes() {
    let mut question = Question::new(Engine::Postgres, KeyKind::Uuid4, 1);
    question.encoding = Encoding::Blob;
    let tuples = Tuples::of(&question);
    let mut heap = Record::new(HEAP_INSERT);
    heap.block(tuples.logged(), None);
    assert_eq!(heap.bytes(), 137);
    let mut index = Record::new(INDEX_INSERT);
    index.block(tuples.key.unwrap().leaf, None);
    assert_eq!(index.bytes(), 80);
    assert_eq!(Record::new(COMMIT).bytes(), 34);
}

/// PostgreSQL 15 stores 100,000 rows with a uuid7 in a blob and 64 bytes of payload on 1,928 pages, that of the TOAST index among
/// them.
#[test]
fn ascending_keys_fill_as_many_pages_as_in_postgres() {
    let database = loaded(KeyKind::Uuid7, Encoding::Blob, 100_000);
    let pages: f64 = database.sizes().iter().map(|tree| tree.pages).sum();
    assert_eq!(pages, 1928.0);
}

/// PostgreSQL 15 stored 200,000 rows with a composite key and 30 bytes of payload on 2,688 pages. Its splits depend on which rows
/// share a heap page.
#[test]
fn buckets_fill_about_as_many_pages_as_in_postgres() {
    let mut question = Question::new(Engine::Postgres, KeyKind::Composite, 200_000);
    question.payload_bytes = 30;
    let mut database = Postgres::new(&question);
    for row in 1..=200_000 {
        database.insert(row);
    }
    let pages: f64 = database.sizes().iter().map(|tree| tree.pages).sum();
    assert!((pages / 2688.0 - 1.0).abs() < 0.01, "{pages}");
}

/// COPY of 500,000 sorted rows with a native UUID and 64 bytes of payload filled 7,143 pages, and CREATE INDEX 1,928, its meta page
/// among them.
#[test]
fn a_bulk_load_fills_as_many_pages_as_in_postgres() {
    let mut question = Question::new(Engine::Postgres, KeyKind::Uuid4, 501_000);
    question.encoding = Encoding::Native;
    question.loaded_rows = 500_000;
    let database = Postgres::new(&question);
    let pages: Vec<f64> = database.sizes().iter().map(|tree| tree.pages).collect();
    // The TOAST table has an index of one page.
    assert_eq!(pages[1], 1928.0);
    assert_eq!(pages[0].ceil(), 7144.0);
}

#[test]
fn each_page_is_written_whole_to_the_log_after_a_checkpoint() {
    let mut database = loaded(KeyKind::Uuid4, Encoding::Blob, 20_000);
    let log = |database: &mut Postgres, rows: std::ops::Range<u64>| {
        let before = database.wal.bytes();
        rows.for_each(|row| database.insert(row));
        database.wal.bytes() - before
    };
    let plain = log(&mut database, 20_001..20_101);
    database.begin_checkpoint();
    let with_images = log(&mut database, 20_101..20_201);
    // A hundred rows go to about fifty of the index's pages, which are two thirds full.
    assert!(with_images > plain + 40.0 * 4000.0, "{with_images} {plain}");
    assert!(with_images < plain + 101.0 * 8192.0);
}

/// S. B. Yao, "Approximating block accesses in database organizations", CACM 1977: records of a file that are chosen at random are
/// on so many of its pages.
fn yao(pages: f64, rows_per_page: f64, chosen: u64) -> f64 {
    let rows = pages * rows_per_page;
    let missed: f64 = (0..chosen)
        .map(|i| (rows - rows_per_page - i as f64) / (rows - i as f64))
        .product();
    pages * (1.0 - missed)
}

/// After a checkpoint, random keys change as many leaf pages for the first time as are reached, and those that splits add.
#[test]
fn rows_reach_as_many_pages_as_yao_says() {
    for rows in [100, 1000, 10_000] {
        let mut database = loaded(KeyKind::IntRandom, Encoding::Integer, 200_000);
        let size = database.sizes().swap_remove(1);
        let per_page = 200_000.0 / size.leaf_pages;
        let heap_pages = database.members[0].leaves();
        database.begin_checkpoint();
        (0..rows).for_each(|row| database.insert(200_001 + row));
        let cycle = database.cycle;
        let changed = database
            .cycles
            .iter()
            .filter(|first| **first == cycle)
            .count() as f64;
        let index_pages = changed - (database.members[0].leaves() - heap_pages) - 1.0;
        let expected = yao(size.leaf_pages, per_page, rows);
        // A split adds a page, and changes the one after it and the parent.
        let splits = 3.0 * rows as f64 / per_page;
        assert!(
            index_pages > expected * 0.97 - 2.0,
            "{index_pages} {expected}"
        );
        assert!(
            index_pages < expected * 1.03 + splits + 3.0,
            "{index_pages} {expected} {splits}"
        );
    }
}
