use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::*;

/// A database whose transactions are counted.
struct Counted {
    db: Mutex<Connection>,
    commits: AtomicUsize,
}

impl Counted {
    fn new(schema: &str) -> Arc<Self> {
        let db = Connection::open_in_memory().expect("SQLite");
        db.execute_batch(schema).expect("a schema");
        Arc::new(Counted {
            db: Mutex::new(db),
            commits: AtomicUsize::new(0),
        })
    }

    fn commit(self: &Arc<Self>) -> impl FnMut(Work) -> rusqlite::Result<()> + Send + 'static {
        let own = Arc::clone(self);
        move |work| {
            let mut db = own.db.lock().expect("no panic");
            let transaction = db.transaction()?;
            work(&transaction)?;
            own.commits.fetch_add(1, Ordering::SeqCst);
            transaction.commit()
        }
    }

    fn read<T>(&self, read: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> T {
        read(&self.db.lock().expect("no panic")).expect("it is read")
    }

    fn count(&self) -> i64 {
        self.read(|db| db.query_row("SELECT count(*) FROM t", [], |row| row.get(0)))
    }
}

#[test]
fn rows_of_many_threads_are_all_there_when_they_are_told() {
    let db = Counted::new("CREATE TABLE t(id BLOB PRIMARY KEY, n INT) WITHOUT ROWID");
    let writer = GroupWriter::new(db.commit(), "t", &["id", "n"], GroupLimits::default());
    let writer = writer.expect("a table");
    std::thread::scope(|scope| {
        for thread in 0..8i64 {
            let (writer, db) = (&writer, &db);
            scope.spawn(move || {
                for n in 0..20 {
                    let mut id = [0; 20];
                    inorder_key::fill_random(&mut id);
                    let row = [Value::Blob(&id), Value::Integer(thread * 100 + n)];
                    writer.insert(&row).expect("a new row");
                    let find = "SELECT 1 FROM t WHERE id = ?1";
                    db.read(|db| db.query_row(find, [&id[..]], |_| Ok(())));
                }
            });
        }
    });
    assert_eq!(db.count(), 160);
}

#[test]
fn a_bad_row_is_nobody_elses_error() {
    let db = Counted::new("CREATE TABLE t(id INTEGER PRIMARY KEY, n INT CHECK (n < 10))");
    let limits = GroupLimits {
        linger: Duration::from_millis(50),
        ..GroupLimits::default()
    };
    let writer = GroupWriter::new(db.commit(), "t", &["id", "n"], limits).expect("a table");
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
    assert_eq!(db.count(), 2);
}

#[test]
fn waiting_rows_are_bounded_and_batched_in_order() {
    let db = Counted::new(
        "CREATE TABLE t(id INTEGER PRIMARY KEY) STRICT; CREATE TABLE log(id);
         CREATE TRIGGER x AFTER INSERT ON t BEGIN INSERT INTO log VALUES (new.id); END",
    );
    let limits = GroupLimits {
        batch_rows_max: 10,
        linger: Duration::from_secs(60),
        ..GroupLimits::default()
    };
    let writer = GroupWriter::new(db.commit(), "t", &["id"], limits).expect("a table");
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
    let order = db.read(|db| {
        let mut statement = db.prepare("SELECT id FROM log ORDER BY rowid")?;
        let ids = statement.query_map([], |row| row.get(0))?;
        ids.collect::<rusqlite::Result<Vec<i64>>>()
    });
    let expected: Vec<i64> = (0..10)
        .rev()
        .flat_map(|ten| ten * 10..ten * 10 + 10)
        .collect();
    assert_eq!(order, expected);
    let commits = db.commits.load(Ordering::SeqCst);
    assert_eq!(commits, 10 + 1, "ten batches and the columns");
}

#[test]
fn wrong_tables_columns_and_values_are_told() {
    let db = Counted::new("CREATE TABLE t(id, n)");
    let new = |table: &str, columns: &[&str]| {
        GroupWriter::new(db.commit(), table, columns, GroupLimits::default())
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
