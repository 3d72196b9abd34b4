//! What the store costs: `cargo bench -p inorder-couch --bench store`. Prints CPU time (of the whole process: the writing thread's,
//! too) and time by the clock, of a folder on the disk that `TMPDIR` names.
//!
//! The first part is the micro-benchmark of the post this store began from (1,000 documents, one fetched by its id): with an
//! index of its own beside the unique one, and without the write-ahead log.

use inorder_couch::store::{
    AllDocs, Changes, Database, Databases, Edit, GetOptions, Settings, Synchronous,
};
use rusqlite::Connection;
use std::hint::black_box;
use std::time::{Duration, Instant};

fn main() {
    // `cargo test` runs benches, too: once, small.
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let scale = if is_bench { 1 } else { 100 };
    the_post(100_000 / scale);
    let folder = tempfile::tempdir().expect("a folder");
    for (label, synchronous) in [
        ("full", Synchronous::Full),
        ("relaxed", Synchronous::Relaxed),
    ] {
        let settings = Settings {
            synchronous,
            ..Settings::default()
        };
        let path = folder.path().join(label);
        let databases = Databases::open(&path, settings).expect("a folder of databases");
        println!("\nsynchronous {label}");
        store(&databases, scale);
    }
}

/// Time by the clock and of the processor.
struct Cost {
    clock: Duration,
    cpu: Duration,
}

fn measure(work: impl FnOnce()) -> Cost {
    let (started, before) = (Instant::now(), cpu());
    work();
    Cost {
        clock: started.elapsed(),
        cpu: cpu() - before,
    }
}

/// CPU time of the process, all threads, user and system.
fn cpu() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

fn print(label: &str, count: usize, cost: &Cost) {
    let each = |time: Duration| time.as_secs_f64() * 1e6 / count as f64;
    let (cpu, clock) = (each(cost.cpu), each(cost.clock));
    println!(
        "{label:<44} {cpu:>10.2} us CPU {clock:>10.2} us {:>10.0}/s",
        1e6 / clock
    );
}

fn the_post(fetches: usize) {
    println!("1,000 documents, one fetched by its id, through SQL");
    for (label, journal, own_index) in [
        ("D1 automatic index, rollback journal", "DELETE", false),
        ("D1 an index of its own beside it", "DELETE", true),
        ("D2, D3 automatic index, write-ahead log", "WAL", false),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let db = Connection::open(folder.path().join("post.sqlite")).expect("a database");
        db.execute_batch(&format!(
            "PRAGMA journal_mode = {journal};
             CREATE TABLE documents(id TEXT NOT NULL, revision INTEGER NOT NULL, hash BLOB NOT NULL, data TEXT NOT NULL,
                                    UNIQUE(id, revision, hash));
             {}
             WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999)
             INSERT INTO documents SELECT 'bench' || i, 0, x'', '{{ \"number\": ' || i || ' }}' FROM n;",
            if own_index { "CREATE INDEX documents_id ON documents(id);" } else { "" }
        ))
        .expect("1,000 documents");
        let sql = "SELECT * FROM documents WHERE id = 'bench100'";
        let plan: String = db
            .query_row(&format!("EXPLAIN QUERY PLAN {sql}"), [], |row| row.get(3))
            .expect("a plan");
        let cost = measure(|| {
            for _ in 0..fetches {
                let mut statement = db.prepare_cached(sql).expect("a statement");
                let data: String = statement
                    .query_row([], |row| row.get(3))
                    .expect("a document");
                black_box(data);
            }
        });
        print(label, fetches, &cost);
        println!("  D4 {plan}");
    }
}

/// A document of about 250 bytes.
fn body(number: u64) -> String {
    format!(
        r#"{{"number":{number},"title":"The title of document {number}","year":{},"tags":["a","b","c"],"text":"{}"}}"#,
        1900 + number % 120,
        "lorem ipsum dolor sit amet ".repeat(5)
    )
}

/// An id of 32 hexadecimal digits in no order.
fn random_id(number: u64) -> String {
    let mixed = u128::from(number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
    format!("{:032x}", mixed.rotate_left(61) ^ mixed)
}

fn edits(from: u64, count: u64) -> Vec<Edit> {
    let edit = |number| {
        let mut edit = Edit::from_json(&body(number), &Default::default()).expect("a document");
        edit.id = Some(random_id(number));
        edit
    };
    (from..from + count).map(edit).collect()
}

fn store(databases: &Databases, scale: usize) {
    let db = databases.create("bench").expect("a database");
    let bulks = (10 / scale).max(1);
    let cost = measure(|| {
        for bulk in 0..bulks as u64 {
            let outcomes = db.bulk(edits(bulk * 1000, 1000)).wait();
            assert!(outcomes.expect("a bulk").iter().all(Result::is_ok));
        }
    });
    print("bulk of 1,000, random ids", bulks, &cost);
    let documents = bulks as u64 * 1000;
    reads(&db, documents, scale);
    let puts = 20_000 / scale;
    for threads in [1, 16] {
        let cost = measure(|| put_all(&db, documents + threads * 1_000_000, threads, puts));
        print(&format!("put, {threads} at a time"), puts, &cost);
    }
    let updates = 5_000 / scale;
    let cost = measure(|| {
        let mut revision = None;
        for _ in 0..updates {
            let mut edit = edits(7, 1).remove(0);
            edit.history = revision
                .take()
                .or_else(|| Some(winner(&db, 7)))
                .map(Into::into);
            let written = db.put(edit).wait().expect("a commit").expect("an update");
            revision = Some(written.revision);
        }
    });
    print("update of one document, one after another", updates, &cost);
}

fn winner(db: &Database, number: u64) -> inorder_couch::revision::Revision {
    db.winner(&random_id(number)).expect("a document").0
}

fn reads(db: &Database, documents: u64, scale: usize) {
    let fetches = 200_000 / scale;
    let ids: Vec<String> = (0..1000)
        .map(|number| random_id(number * documents / 1000))
        .collect();
    let cost = measure(|| {
        for id in ids.iter().cycle().take(fetches) {
            black_box(db.get(id, &GetOptions::default()).expect("a document"));
        }
    });
    print("fetch by id", fetches, &cost);
    let cost = measure(|| {
        for id in ids.iter().cycle().take(fetches) {
            black_box(
                db.get(id, &GetOptions::default())
                    .expect("a document")
                    .to_json(),
            );
        }
    });
    print("fetch by id, written as JSON", fetches, &cost);
    let lists = 5_000 / scale;
    let question = AllDocs {
        limit: Some(100),
        ..AllDocs::default()
    };
    let cost = measure(|| {
        for _ in 0..lists {
            black_box(db.all_docs(&question).expect("a page"));
        }
    });
    print("all documents, 100 rows", lists, &cost);
    let question = Changes {
        since: documents / 2,
        limit: Some(100),
        ..Changes::default()
    };
    let cost = measure(|| {
        for _ in 0..lists {
            black_box(db.changes(&question, None).expect("a page"));
        }
    });
    print("changes, 100 rows", lists, &cost);
}

fn put_all(db: &Database, from: u64, threads: u64, puts: usize) {
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let db = db.clone();
            let share = puts as u64 / threads;
            scope.spawn(move || {
                for edit in edits(from + thread * share, share) {
                    db.put(edit)
                        .wait()
                        .expect("a commit")
                        .expect("a new document");
                }
            });
        }
    });
}
