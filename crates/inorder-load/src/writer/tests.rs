use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::*;

fn queue(schema: &str) -> Arc<WriteQueue> {
    let db = Connection::open_in_memory().expect("SQLite");
    db.execute_batch(schema).expect("a schema");
    Arc::new(WriteQueue::start(db, queue::Limits::default()).expect("a thread"))
}

fn count(queue: &WriteQueue) -> i64 {
    let counted = queue.run(|db| {
        let count = db.query_row("SELECT count(*) FROM t", [], |row| row.get(0));
        count.map_err(queue::Error::from)
    });
    counted.expect("a count")
}

#[test]
fn rows_of_many_threads_are_all_there_when_they_are_told() {
    let queue = queue("CREATE TABLE t(id BLOB PRIMARY KEY, n INT) WITHOUT ROWID");
    let writer = Writer::new(Arc::clone(&queue), "t", &["id", "n"], Limits::default());
    let writer = writer.expect("a table");
    std::thread::scope(|scope| {
        for thread in 0..8i64 {
            let (writer, queue) = (&writer, &queue);
            scope.spawn(move || {
                for n in 0..20 {
                    let mut id = [0; 20];
                    inorder_key::fill_random(&mut id);
                    let row = [Value::Blob(&id), Value::Integer(thread * 100 + n)];
                    writer.insert(&row).expect("a new row");
                    let find = "SELECT 1 FROM t WHERE id = ?1";
                    let found = queue.run(move |db| {
                        let found = db.query_row(find, [&id[..]], |_| Ok(()));
                        found.map_err(queue::Error::from)
                    });
                    found.expect("the row is there");
                }
            });
        }
    });
    assert_eq!(count(&queue), 160);
}

#[test]
fn a_bad_row_is_nobody_elses_error() {
    let queue = queue("CREATE TABLE t(id INTEGER PRIMARY KEY, n INT CHECK (n < 10))");
    let limits = Limits {
        linger: Duration::from_millis(50),
        ..Limits::default()
    };
    let writer = Writer::new(Arc::clone(&queue), "t", &["id", "n"], limits).expect("a table");
    let rows = [(1, 1), (2, 99), (1, 2), (3, 3)];
    let (told, given) = mpsc::channel();
    for (place, (id, n)) in rows.into_iter().enumerate() {
        let told = told.clone();
        let row = [Value::Integer(id), Value::Integer(n)];
        let submitted = writer.submit(&row, move |inserted| {
            _ = told.send((place, inserted.is_ok()));
        });
        submitted.expect("two values");
    }
    drop(told);
    let mut all: Vec<(usize, bool)> = given.iter().collect();
    all.sort_unstable();
    assert_eq!(all, [(0, true), (1, false), (2, false), (3, true)]);
    assert_eq!(count(&queue), 2);
}

#[test]
fn waiting_rows_are_bounded_and_batched_in_order() {
    let queue = queue(
        "CREATE TABLE t(id INTEGER PRIMARY KEY) STRICT; CREATE TABLE log(id);
         CREATE TRIGGER x AFTER INSERT ON t BEGIN INSERT INTO log VALUES (new.id); END",
    );
    let limits = Limits {
        batch_rows_max: 10,
        linger: Duration::from_secs(60),
        ..Limits::default()
    };
    let writer = Writer::new(Arc::clone(&queue), "t", &["id"], limits).expect("a table");
    let answered = Arc::new(AtomicUsize::new(0));
    for id in (0..100).rev() {
        let answered = Arc::clone(&answered);
        let submitted = writer.submit(&[Value::Integer(id)], move |inserted| {
            inserted.expect("a new row");
            answered.fetch_add(1, Ordering::SeqCst);
        });
        submitted.expect("one value");
    }
    // The last ten are due by their number, not by the time.
    drop(writer);
    assert_eq!(answered.load(Ordering::SeqCst), 100);
    let order = queue.run(|db| {
        let mut statement = db.prepare("SELECT id FROM log ORDER BY rowid")?;
        let ids = statement.query_map([], |row| row.get(0))?;
        ids.collect::<rusqlite::Result<Vec<i64>>>()
            .map_err(queue::Error::from)
    });
    let expected: Vec<i64> = (0..10)
        .rev()
        .flat_map(|ten| ten * 10..ten * 10 + 10)
        .collect();
    assert_eq!(order.expect("a log"), expected);
    assert_eq!(
        queue.done().commits,
        10 + 2,
        "ten batches, the columns, the question"
    );
}

#[test]
fn wrong_tables_columns_and_values_are_told() {
    let queue = queue("CREATE TABLE t(id, n)");
    let new = |table: &str, columns: &[&str]| {
        Writer::new(Arc::clone(&queue), table, columns, Limits::default())
    };
    assert!(matches!(new("u", &["id"]), Err(Error::Table(_))));
    let told = new("t", &["idd"]).err().map(|error| error.to_string());
    assert!(told.is_some_and(|told| told.contains("did you mean `id`?")));
    let writer = new("t", &["id", "n"]).expect("a table");
    let told = writer.insert(&[Value::Null]);
    assert!(matches!(
        told,
        Err(Error::Values {
            expected: 2,
            found: 1
        })
    ));
}
