use super::*;
use crate::bplus::{Full, Rules};
use crate::question::Engine;

fn question(key: KeyKind, layout: Layout, payload_bytes: u64, rows: u64) -> Question {
    let mut question = Question::new(Engine::Mariadb, key, rows);
    question.layout = layout;
    question.payload_bytes = payload_bytes;
    question.page_bytes = 4096;
    question.cache_bytes = 1 << 30;
    question.checkpoint_bytes = 512 << 20;
    question
}

/// A database after its load.
fn loaded(question: &Question) -> Mariadb {
    let mut database = Mariadb::new(question);
    for row in 1..=question.rows {
        database.insert(row);
        if row % question.rows_per_transaction == 0 {
            database.commit();
        }
    }
    database
}

fn pages(question: &Question) -> f64 {
    let trees = loaded(question).sizes();
    trees.iter().map(|tree| tree.pages).sum()
}

fn full(keys: &[u64], place: usize, last: Option<u64>) -> Full<'_> {
    Full {
        keys,
        entries: keys.len(),
        place,
        is_leaf: true,
        is_last: false,
        last,
    }
}

#[test]
fn a_page_splits_where_the_last_insert_was() {
    let entry = Entry {
        leaf: 300,
        interior: 20,
    };
    let rules = Btr::new(entry, 4096, true);
    let keys: Vec<u64> = (1..=14).map(|key| key * 10).collect();
    let split = |place, last| rules.split(&full(&keys, place, last));
    // The seventh of the 13 records before and those above it move.
    assert_eq!((split(3, None), split(6, None)), (7, 7));
    assert_eq!((split(7, None), split(10, Some(10))), (6, 6));
    // Ascending: after the record above the new one, or before the new one at the end.
    assert_eq!(
        (
            split(4, Some(40)),
            split(12, Some(120)),
            split(13, Some(130))
        ),
        (6, 12, 13)
    );
    // Descending: before the record below the new one, or after the new one at the begin.
    assert_eq!(
        (split(4, Some(60)), split(1, Some(30)), split(0, Some(20))),
        (3, 2, 1)
    );
}

#[test]
fn ascending_inserts_leave_a_sixteenth_of_a_clustered_page_free() {
    let entry = Entry {
        leaf: 100,
        interior: 20,
    };
    let most = |is_clustered, is_ascending: bool| {
        let rules = Btr::new(entry, 4096, is_clustered);
        let mut keys = vec![1];
        loop {
            keys.push(keys.len() as u64 + 1);
            let last = is_ascending.then_some(keys.len() as u64 - 1);
            if !rules.has_room(&full(&keys, keys.len() - 1, last)) {
                return keys.len() - 1;
            }
        }
    };
    // 3,964 bytes of a page are for records of 100.5 bytes, and 256 of them are the sixteenth.
    assert_eq!(
        (most(true, true), most(true, false), most(false, true)),
        (36, 39, 39)
    );
}

/// MariaDB 10.11.19 with pages of 4 KiB, from `innodb_index_stats`.
#[test]
fn ascending_keys_fill_as_many_pages_as_in_mariadb() {
    let cases = [
        (
            KeyKind::IntSeq,
            Layout::WithoutRowid,
            1200,
            200_000,
            67_072.0,
        ),
        (KeyKind::Tsid, Layout::WithoutRowid, 0, 100_000, 901.0),
        (KeyKind::Tsid, Layout::WithoutRowid, 0, 200_000, 1672.0),
    ];
    for (key, layout, payload, rows, wanted) in cases {
        let question = question(key, layout, payload, rows);
        assert_eq!(pages(&question), wanted, "{key:?} {payload} {rows}");
    }
}

/// A random tree has other splits there. Allocated extents round what is left of the difference.
#[test]
fn random_keys_fill_about_as_many_pages_as_in_mariadb() {
    let mut with_index = question(KeyKind::IntRandom, Layout::WithoutRowid, 30, 100_000);
    with_index.add_random_indexes(1);
    let cases = [
        (with_index, 4122.0),
        (
            question(KeyKind::IntRandom, Layout::Rowid, 100, 200_000),
            11_201.0,
        ),
        (
            question(KeyKind::Token160, Layout::WithoutRowid, 0, 200_000),
            3489.0,
        ),
        (
            question(KeyKind::Composite, Layout::Rowid, 0, 200_000),
            4380.0,
        ),
    ];
    for (question, wanted) in cases {
        let pages = pages(&question);
        assert!((pages / wanted - 1.0).abs() < 0.01, "{pages} for {wanted}");
    }
}

/// MariaDB 10.11.19 wrote so many bytes per row to the log in a load of 10,000 rows by 1,000 with a payload of 64 bytes, by
/// `Innodb_lsn_current`.
#[test]
fn the_log_has_about_as_many_bytes_as_in_mariadb() {
    let mut with_index = question(KeyKind::IntSeq, Layout::Rowid, 64, 10_000);
    with_index.add_random_indexes(1);
    let cases = [
        (question(KeyKind::IntSeq, Layout::Rowid, 0, 10_000), 54.6),
        (question(KeyKind::IntSeq, Layout::Rowid, 64, 10_000), 121.8),
        (question(KeyKind::IntSeq, Layout::Rowid, 200, 10_000), 261.6),
        (
            question(KeyKind::Uuid4, Layout::WithoutRowid, 64, 10_000),
            225.0,
        ),
        (question(KeyKind::Uuid4, Layout::Rowid, 64, 10_000), 199.1),
        (question(KeyKind::Uuid4, Layout::NoKey, 64, 10_000), 135.1),
        (with_index, 176.7),
    ];
    for (question, wanted) in cases {
        let bytes = loaded(&question).redo.bytes() / 10_000.0;
        assert!((bytes / wanted - 1.0).abs() < 0.02, "{bytes} for {wanted}");
    }
}

/// S. B. Yao, "Approximating block accesses in database organizations", CACM 1977: records of a file that are chosen at random are
/// on so many of its pages. After all pages were written, so many are changed.
#[test]
fn rows_reach_as_many_pages_as_yao_says() {
    for rows in [100u64, 1000, 10_000] {
        let question = question(KeyKind::IntRandom, Layout::Rowid, 64, 200_000);
        let mut database = loaded(&question);
        let leaves = database.sizes()[0].leaf_pages;
        let per_page = 200_000.0 / leaves;
        database.finish();
        let before = database.pool.written();
        (1..=rows).for_each(|row| database.insert(200_000 + row));
        database.finish();
        let written = (database.pool.written().pages - before.pages) as f64;
        let missed: f64 = (0..rows)
            .map(|i| (200_000.0 - per_page - i as f64) / (200_000.0 - i as f64))
            .product();
        let expected = leaves * (1.0 - missed);
        // A split adds a page, and changes the one after it and the parent. Undo pages are written too.
        let others = 3.0 * rows as f64 / per_page + rows as f64 / 150.0;
        assert!(written > expected * 0.97 - 2.0, "{written} {expected}");
        assert!(
            written < expected * 1.03 + others + 3.0,
            "{written} {expected} {others}"
        );
    }
}

/// The doublewrite buffer gets each page but those that were never written.
#[test]
fn new_pages_are_written_once_and_others_twice() {
    let mut question = question(KeyKind::IntSeq, Layout::Rowid, 200, 100_000);
    let once = |question: &Question| {
        let mut database = loaded(question);
        database.finish();
        let written = database.pool.written();
        written.doubled as f64 / written.pages as f64
    };
    assert!(once(&question) < 0.01);
    question.key = KeyKind::IntRandom;
    question.checkpoint_bytes = 4 << 20;
    assert!(once(&question) > 0.8);
}

#[test]
fn what_is_not_simulated_is_refused() {
    let refused = |change: &dyn Fn(&mut Question)| {
        let mut question = question(KeyKind::Uuid4, Layout::WithoutRowid, 64, 1000);
        change(&mut question);
        check(&question)
            .map_err(|error| error.to_string())
            .unwrap_err()
    };
    assert!(refused(&|q| q.payload_bytes = 2000).contains("of their own"));
    assert!(refused(&|q| q.cache_bytes = 3 << 20).contains("page cleaner"));
    assert!(refused(&|q| q.page_bytes = 2048).contains("4096 to 65536"));
    assert!(check(&question(KeyKind::Uuid4, Layout::WithoutRowid, 1800, 1000)).is_ok());
}
