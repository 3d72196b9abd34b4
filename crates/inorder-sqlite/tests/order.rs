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
    // Another process whose clock was 50 seconds ahead.
    db.execute(
        "UPDATE inorder_high_water SET last = last + (50000 << 16)",
        [],
    )
    .unwrap();
    db.execute("INSERT INTO t(n) VALUES (1001)", []).unwrap();
    assert_eq!(
        ask(
            "SELECT ulid_timestamp(b.id) - ulid_timestamp(a.id) >= 50000 FROM t a, t b WHERE a.n = 1000 AND b.n = 1001"
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
        error.starts_with("ulid_shared(): no table main.inorder_high_water"),
        "{error}"
    );
    let create = error.split("database: ").nth(1).unwrap();
    db.execute_batch(create).unwrap();
    db.query_row("SELECT ulid_shared()", [], |row| row.get::<_, [u8; 16]>(0))
        .unwrap();
}

/// A clock that was wrong once: no id of its time is made, the mark stays an integer, and can be reset.
#[test]
fn a_mark_far_ahead_of_the_clock_is_an_error_until_it_is_reset() {
    let db = Connection::open_in_memory().unwrap();
    register(&db).unwrap();
    db.execute_batch(SHARED).unwrap();
    let make = |function: &str| {
        let sql = format!("SELECT typeof({function}())");
        db.query_row(&sql, [], |row| row.get::<_, String>(0))
    };
    let now = "CAST(strftime('%s', 'now') AS INTEGER)";
    for (mark, is_right) in [
        (format!("({now} + 50) * 1000 << 16"), true),
        (format!("({now} + 70) * 1000 << 16"), false),
        (format!("({now} + 315360000) * 1000 << 16"), false),
        ("9223372036854775805".to_owned(), false),
        ("9223372036854775807".to_owned(), false),
    ] {
        db.execute_batch(&format!(
            "REPLACE INTO inorder_high_water VALUES (1, {mark})"
        ))
        .unwrap();
        let read = "SELECT typeof(last) || last FROM inorder_high_water";
        let read = || {
            db.query_row(read, [], |row| row.get::<_, String>(0))
                .unwrap()
        };
        let before = read();
        for function in ["ulid_shared", "uuid7_shared", "tsid_shared", "ulid_shared"] {
            match make(function) {
                Ok(_) => assert!(is_right, "{function} at {mark}"),
                Err(error) => {
                    let error = error.to_string();
                    assert!(
                        !is_right && error.contains("s ahead of the clock"),
                        "{error}"
                    );
                    assert_eq!(read(), before);
                    let reset = error.split("; ").nth(1).unwrap();
                    let reset = reset.split(" sets it").next().unwrap();
                    assert_eq!(reset, "DELETE FROM main.inorder_high_water");
                }
            }
        }
        db.execute_batch("DELETE FROM main.inorder_high_water")
            .unwrap();
        make("ulid_shared").unwrap();
        let late = format!("SELECT abs(ulid_timestamp(ulid_shared()) / 1000 - {now}) < 60");
        assert_eq!(db.query_row(&late, [], |row| row.get::<_, i64>(0)), Ok(1));
    }
}

/// 48 connections to a file, as so many processes, with TSIDs that have no node.
#[test]
fn shared_tsids_are_unique_and_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tsids.db");
    let db = shared(&path);
    db.execute_batch(SHARED).unwrap();
    db.execute_batch("CREATE TABLE s(n INTEGER PRIMARY KEY, id INTEGER DEFAULT (tsid_shared()))")
        .unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..6 {
                    let db = shared(&path);
                    db.execute("INSERT INTO s(n) SELECT NULL FROM keys('tsid', 20)", [])
                        .unwrap();
                }
            });
        }
    });
    let read = "SELECT count(*), count(DISTINCT id), sum(id > before), sum(abs(tsid_timestamp(id) / 1000 - strftime('%s', 'now')) < 600)
        FROM (SELECT id, lag(id, 1, 0) OVER (ORDER BY n) AS before FROM s)";
    let counts = db.query_row(read, [], |row| {
        Ok([row.get::<_, i64>(0)?, row.get(1)?, row.get(2)?, row.get(3)?])
    });
    assert_eq!(counts, Ok([960; 4]));
}

#[test]
fn a_node_that_is_given_is_that_of_the_tsid() {
    let db = Connection::open_in_memory().unwrap();
    register(&db).unwrap();
    let ask = |sql: &str| db.query_row(sql, [], |row| row.get::<_, i64>(0));
    for node in [0, 1, 511, 1023] {
        assert_eq!(ask(&format!("SELECT tsid({node}) >> 12 & 1023")), Ok(node));
    }
    // In order for one node, unique over all nodes of the process.
    let made = "WITH made AS MATERIALIZED (SELECT n, tsid(n % 3) AS id FROM (SELECT row_number() OVER () AS n FROM keys('tsid', 9000)))
        SELECT count(DISTINCT id) = 9000 AND min(before < id) FROM (SELECT id, lag(id, 1, 0) OVER (PARTITION BY n % 3 ORDER BY n) AS before FROM made)";
    assert_eq!(ask(made), Ok(1));
    for wrong in ["-1", "1024", "1.5", "'7'", "x'07'", "1e300"] {
        let error = ask(&format!("SELECT tsid({wrong})"))
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("tsid(): ") && error.contains("1023"),
            "{error}"
        );
    }
}

#[test]
fn a_locked_database_is_busy_not_wrong() {
    let folder = tempfile::tempdir().unwrap();
    for journal in ["wal", "delete"] {
        let path = folder.path().join(journal);
        let holder = shared(&path);
        let batch = SHARED.replace("wal", journal);
        holder.execute_batch(&batch).unwrap();
        holder.execute_batch("BEGIN IMMEDIATE").unwrap();
        let db = Connection::open(&path).unwrap();
        db.busy_timeout(Duration::ZERO).unwrap();
        register(&db).unwrap();
        for function in ["ulid_shared()", "uuid7_shared()", "ulid_shared('main')"] {
            let error = db
                .query_row(&format!("SELECT {function}"), [], |_| Ok(()))
                .unwrap_err();
            assert_eq!(
                error.sqlite_error_code(),
                Some(rusqlite::ErrorCode::DatabaseBusy),
                "{function}: {error}"
            );
            assert!(error.to_string().contains("database is locked"), "{error}");
        }
        holder.execute_batch("COMMIT").unwrap();
        db.query_row("SELECT ulid_shared()", [], |_| Ok(()))
            .unwrap();
        db.execute_batch("PRAGMA query_only = on").unwrap();
        let error = db.query_row("SELECT ulid_shared()", [], |_| Ok(()));
        let code = error.unwrap_err().sqlite_error_code();
        assert_eq!(code, Some(rusqlite::ErrorCode::ReadOnly));
    }
}

/// Each database has a mark; that of the database which receives the row counts.
#[test]
fn an_attached_database_keeps_its_own_mark() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for name in ["a", "b", "none"] {
        let db = shared(&path(name));
        db.execute_batch(SHARED).unwrap();
        if name == "none" {
            db.execute_batch("DROP TABLE inorder_high_water").unwrap();
        }
    }
    // Another process, whose clock is 30 seconds ahead, wrote b.
    let ahead = "INSERT INTO inorder_high_water SELECT 1, (CAST(strftime('%s', 'now') AS INTEGER) + 30) * 1000 << 16";
    shared(&path("b")).execute_batch(ahead).unwrap();
    let db = shared(&path("a"));
    for (name, schema) in [("b", "b"), ("none", "the \"other\"")] {
        let attach = format!("ATTACH ? AS \"{}\"", schema.replace('"', "\"\""));
        db.execute(&attach, [path(name).to_str().unwrap()]).unwrap();
    }
    let mark = |schema: &str| -> i64 {
        let sql = format!("SELECT coalesce(max(last), 0) FROM {schema}.inorder_high_water");
        db.query_row(&sql, [], |row| row.get(0)).unwrap()
    };
    let insert = |schema: &str| -> Vec<u8> {
        let sql = format!("INSERT INTO {schema}.t DEFAULT VALUES RETURNING id");
        db.query_row(&sql, [], |row| row.get(0)).unwrap()
    };
    let (a, b) = (mark("main"), mark("b"));
    let ids = [insert("b"), insert("b")];
    assert!(ids[0][..8] > b.to_be_bytes()[..] && ids[0] < ids[1]);
    assert_eq!(mark("main"), a, "a row of b does not move the mark of main");
    let b = mark("b");
    let id = insert("main");
    assert!(
        id < ids[0],
        "a row of main does not get an id of b's future"
    );
    assert_eq!(mark("b"), b);
    // A transaction that writes both raises both.
    db.execute_batch("BEGIN IMMEDIATE").unwrap();
    let ids = [insert("main"), insert("b"), insert("main")];
    db.execute_batch("COMMIT").unwrap();
    assert!(ids.is_sorted_by(|a, b| a < b) && ids[0][..8] > b.to_be_bytes()[..]);
    assert_eq!(mark("main"), mark("b"));
    // By its name.
    let last = mark("b");
    db.query_row("SELECT ulid_shared('b')", [], |_| Ok(()))
        .unwrap();
    assert_eq!(mark("b"), last + 1);
    db.query_row("SELECT ulid_shared()", [], |_| Ok(()))
        .unwrap();
    assert_eq!((mark("main"), mark("b")), (last + 1, last + 1));
    // A database without a mark uses none of another database.
    let error = db.execute("INSERT INTO \"the \"\"other\"\"\".t DEFAULT VALUES", []);
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("no table \"the \"\"other\"\"\".inorder_high_water"),
        "{error}"
    );
    db.execute_batch(error.split("database: ").nth(1).unwrap())
        .unwrap();
    db.execute("INSERT INTO \"the \"\"other\"\"\".t DEFAULT VALUES", [])
        .unwrap();
}
