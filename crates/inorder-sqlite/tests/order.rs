//! Order and uniqueness over threads, connections and processes.

use inorder_sqlite::register;
use rusqlite::Connection;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const THREADS: usize = 8;
/// Ids of one statement.
const STATEMENT: usize = 1000;
/// Ten million ids in all, or fewer where code is slow.
const STATEMENTS: usize = if cfg!(debug_assertions) { 20 } else { 1250 };

/// The ids of a statement, and when it ran: places in one order of all beginnings and ends.
struct Span {
    begin: u64,
    end: u64,
    ids: Vec<[u8; 16]>,
}

fn spans(sql: &str) -> Vec<Span> {
    let time = AtomicU64::new(0);
    let tick = || time.fetch_add(1, Ordering::SeqCst);
    std::thread::scope(|scope| {
        let work = || {
            let db = Connection::open_in_memory().unwrap();
            register(&db).unwrap();
            let mut select = db.prepare(sql).unwrap();
            let span = |_| {
                let begin = tick();
                let rows = select
                    .query_map([STATEMENT as i64], |row| row.get(0))
                    .unwrap();
                let ids = rows.map(Result::unwrap).collect();
                Span {
                    begin,
                    end: tick(),
                    ids,
                }
            };
            (0..STATEMENTS).map(span).collect::<Vec<_>>()
        };
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .collect()
    })
}

/// No id twice; ids of a statement in order; all ids of a statement after those of each that ended before it began.
fn assert_in_order_and_unique(mut spans: Vec<Span>) {
    assert!(spans.iter().all(|span| span.ids.is_sorted_by(|a, b| a < b)));
    let mut ended: Vec<_> = spans
        .iter()
        .map(|span| (span.end, *span.ids.last().unwrap()))
        .collect();
    ended.sort_unstable();
    let mut ended = ended.into_iter().peekable();
    spans.sort_unstable_by_key(|span| span.begin);
    let mut greatest = [0; 16];
    for span in &spans {
        while let Some((_, last)) = ended.next_if(|(end, _)| *end < span.begin) {
            greatest = greatest.max(last);
        }
        assert!(span.ids[0] > greatest, "an id made later is less");
    }
    let mut all: Vec<_> = spans.into_iter().flat_map(|span| span.ids).collect();
    assert_eq!(all.len(), THREADS * STATEMENTS * STATEMENT);
    all.sort_unstable();
    assert!(all.is_sorted_by(|a, b| a < b), "an id was made twice");
}

#[test]
fn ten_million_ids_of_eight_connections() {
    const COUNT: &str =
        "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < ?)";
    assert_in_order_and_unique(spans(&format!("{COUNT} SELECT ulid() FROM c")));
    assert_in_order_and_unique(spans(&format!("{COUNT} SELECT uuid7() FROM c")));
}

#[test]
fn ten_million_ids_of_eight_connections_in_batches() {
    assert_in_order_and_unique(spans("SELECT key FROM keys('ulid', ?)"));
}

/// A connection to a file, with a table whose ids are in the order of all processes.
fn shared(path: &std::path::Path) -> Connection {
    let db = Connection::open(path).unwrap();
    db.busy_timeout(Duration::from_secs(60)).unwrap();
    register(&db).unwrap();
    db
}

const SHARED: &str = "PRAGMA journal_mode = wal; PRAGMA trusted_schema = off;
    CREATE TABLE inorder_high_water(one INTEGER PRIMARY KEY CHECK (one = 1), last INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE t(n INTEGER PRIMARY KEY, id BLOB UNIQUE DEFAULT (ulid_shared()), v DEFAULT (uuid7_shared()));";

#[test]
fn shared_ids_are_in_the_order_of_the_commits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shared.db");
    shared(&path).execute_batch(SHARED).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let db = shared(&path);
                for _ in 0..25 {
                    db.execute("INSERT INTO t(n) VALUES (NULL), (NULL)", [])
                        .unwrap();
                }
            });
        }
    });
    let db = shared(&path);
    let ask = |sql: &str| db.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(ask("SELECT count(*) FROM t"), 200);
    let disorder = "SELECT count(*) FROM (SELECT id, v, lag(id) OVER o AS a, lag(v) OVER o AS b FROM t WINDOW o AS (ORDER BY n))
        WHERE a >= id OR b >= v";
    assert_eq!(ask(disorder), 0);
    assert_eq!(db.last_insert_rowid(), 0);
    db.execute("INSERT INTO t(n) VALUES (1000)", []).unwrap();
    assert_eq!(db.last_insert_rowid(), 1000);
    // Another process whose clock was an hour ahead.
    db.execute(
        "UPDATE inorder_high_water SET last = last + (3600000 << 16)",
        [],
    )
    .unwrap();
    db.execute("INSERT INTO t(n) VALUES (1001)", []).unwrap();
    assert_eq!(
        ask(
            "SELECT ulid_timestamp(b.id) - ulid_timestamp(a.id) >= 3600000 FROM t a, t b WHERE a.n = 1000 AND b.n = 1001"
        ),
        1
    );
}

#[test]
fn shared_ids_without_their_table_say_how_to_make_it() {
    let db = Connection::open_in_memory().unwrap();
    register(&db).unwrap();
    let error = db
        .query_row("SELECT ulid_shared()", [], |_| Ok(()))
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("ulid_shared(): no such table: main.inorder_high_water"),
        "{error}"
    );
    let create = error.split("database: ").nth(1).unwrap();
    db.execute_batch(create).unwrap();
    db.query_row("SELECT ulid_shared()", [], |row| row.get::<_, [u8; 16]>(0))
        .unwrap();
    db.execute(
        "UPDATE inorder_high_water SET last = 9223372036854775807",
        [],
    )
    .unwrap();
    assert!(
        db.query_row("SELECT ulid_shared()", [], |_| Ok(()))
            .is_err()
    );
}
