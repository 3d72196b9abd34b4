//! Tests the write queue: commits, rollbacks and notifications.

use inorder_serve::{QueueError, QueueLimits, WriteQueue};
use rusqlite::Connection;
use std::{
    path::Path,
    sync::{Arc, mpsc},
    thread,
};

const TABLE: &str = "CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE)";

fn start(limits: QueueLimits) -> WriteQueue {
    let db = Connection::open_in_memory().unwrap();
    db.execute_batch(TABLE).unwrap();
    WriteQueue::start(db, limits).unwrap()
}

fn add(queue: &WriteQueue, text: &str) -> Result<usize, QueueError> {
    let text = text.to_owned();
    queue.run(move |db| Ok(db.execute("INSERT INTO note(text) VALUES (?1)", [text])?))
}

fn count(queue: &WriteQueue) -> i64 {
    let count = queue.run(|db| {
        let count = db.query_row("SELECT count(*) FROM note", [], |row| row.get(0))?;
        Ok::<i64, QueueError>(count)
    });
    count.unwrap()
}

/// Holds the writing thread inside a write until the sender is dropped, so that what comes meanwhile gathers.
fn hold(queue: &WriteQueue) -> mpsc::Sender<()> {
    let (release, held) = mpsc::channel::<()>();
    let (entered, is_in) = mpsc::channel();
    let work = move |_: &Connection| {
        entered.send(()).unwrap();
        let _ = held.recv();
        Ok::<_, QueueError>(())
    };
    queue.submit(work, |_| ()).unwrap();
    is_in.recv().unwrap();
    release
}

#[test]
fn what_gathers_is_committed_together() {
    let queue = start(QueueLimits::default());
    let release = hold(&queue);
    let (told, answers) = mpsc::channel();
    for i in 0..100 {
        let told = told.clone();
        let work = move |db: &Connection| {
            Ok::<_, QueueError>(db.execute("INSERT INTO note(text) VALUES (?1)", [i])?)
        };
        let answer = move |given: Result<usize, QueueError>| told.send(given.is_ok()).unwrap();
        queue.submit(work, answer).unwrap();
    }
    drop((release, told));
    assert_eq!(answers.iter().filter(|ok| *ok).count(), 100);
    let counts = queue.counts();
    assert_eq!((counts.writes, counts.commits), (101, 1));
}

#[test]
fn a_transaction_takes_no_more_than_its_limit() {
    let queue = start(QueueLimits {
        transaction_writes_max: 10,
        ..QueueLimits::default()
    });
    let release = hold(&queue);
    let waiting: Vec<_> = (0..39)
        .map(|_| {
            let (told, answer) = mpsc::channel();
            let work = |_: &Connection| Ok::<_, QueueError>(());
            queue.submit(work, move |_| told.send(()).unwrap()).unwrap();
            answer
        })
        .collect();
    drop(release);
    waiting.iter().for_each(|answer| answer.recv().unwrap());
    assert_eq!(queue.counts().commits, 4);
}

#[test]
fn an_error_takes_back_its_own_write_and_no_other() {
    let queue = start(QueueLimits::default());
    let release = hold(&queue);
    let (told, answers) = mpsc::channel();
    for text in ["a", "b", "a", "c"] {
        let told = told.clone();
        let work = move |db: &Connection| {
            db.execute("INSERT INTO note(text) VALUES (?1 || '-before')", [text])?;
            db.execute("INSERT INTO note(text) VALUES (?1)", [text])?;
            Ok::<_, QueueError>(())
        };
        let answer = move |given: Result<(), QueueError>| told.send(given.is_ok()).unwrap();
        queue.submit(work, answer).unwrap();
    }
    drop((release, told));
    assert_eq!(
        answers.iter().collect::<Vec<_>>(),
        [true, true, false, true]
    );
    assert_eq!(count(&queue), 6);
}

#[test]
fn a_panic_takes_back_its_own_write_and_the_thread_goes_on() {
    let queue = start(QueueLimits::default());
    let panicked = queue.run(|db| {
        db.execute("INSERT INTO note(text) VALUES ('a')", [])?;
        if db.last_insert_rowid() == 1 {
            panic!("on purpose");
        }
        Ok::<_, QueueError>(())
    });
    assert!(matches!(panicked, Err(QueueError::Panicked)));
    add(&queue, "b").unwrap();
    assert_eq!(count(&queue), 1);
}

#[test]
fn an_answer_that_panics_does_not_end_the_queue() {
    let queue = start(QueueLimits::default());
    let answer = |_: Result<(), QueueError>| panic!("on purpose");
    queue.submit(|_| Ok(()), answer).unwrap();
    add(&queue, "a").unwrap();
    assert_eq!(count(&queue), 1);
}

#[test]
fn a_full_queue_refuses_and_says_so() {
    let queue = start(QueueLimits {
        waiting_writes_max: 2,
        ..QueueLimits::default()
    });
    let release = hold(&queue);
    let submit = || queue.submit(|_| Ok::<_, QueueError>(()), |_| ());
    let refused = (0..3).filter_map(|_| submit().err()).collect::<Vec<_>>();
    assert!(matches!(refused[..], [QueueError::Full]), "{refused:?}");
    drop(release);
    add(&queue, "a").unwrap();
}

#[test]
fn alone_runs_with_no_transaction_open() {
    let queue = start(QueueLimits::default());
    add(&queue, "a").unwrap();
    let vacuumed = queue.run_alone(|db| Ok::<_, QueueError>(db.execute_batch("VACUUM")?));
    vacuumed.unwrap();
    // A write that leaves its transaction open is rolled back.
    let left =
        queue.run_alone(|db| Ok::<_, QueueError>(db.execute_batch("BEGIN; DELETE FROM note")?));
    left.unwrap();
    assert_eq!(count(&queue), 1);
}

#[test]
fn a_full_disk_takes_back_the_transaction_and_the_queue_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let db = Connection::open(folder.path().join("full.db")).unwrap();
    db.execute_batch(TABLE).unwrap();
    db.execute_batch("PRAGMA max_page_count = 20").unwrap();
    let queue = WriteQueue::start(db, QueueLimits::default()).unwrap();
    add(&queue, "kept").unwrap();
    let release = hold(&queue);
    let (told, answers) = mpsc::channel();
    for bytes in [10, 1_000_000, 11] {
        let told = told.clone();
        let work = move |db: &Connection| {
            let text = "x".repeat(bytes);
            Ok::<_, QueueError>(db.execute("INSERT INTO note(text) VALUES (?1)", [text])?)
        };
        let answer = move |given: Result<usize, QueueError>| told.send((bytes, given)).unwrap();
        queue.submit(work, answer).unwrap();
    }
    drop((release, told));
    let mut answers: Vec<_> = answers.iter().collect();
    answers.sort_by_key(|(bytes, _)| *bytes);
    let kept = answers.iter().filter(|(_, given)| given.is_ok()).count() as i64;
    assert!(
        matches!(answers[2], (1_000_000, Err(QueueError::Sqlite(_)))),
        "{answers:?}"
    );
    assert_eq!(count(&queue), 1 + kept);
}

#[test]
fn dropping_writes_what_waits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("drop.db");
    let open = |path: &Path| Connection::open(path).unwrap();
    let db = open(&path);
    db.execute_batch(TABLE).unwrap();
    let queue = WriteQueue::start(db, QueueLimits::default()).unwrap();
    let release = hold(&queue);
    for i in 0..50 {
        let work = move |db: &Connection| {
            Ok::<_, QueueError>(db.execute("INSERT INTO note(text) VALUES (?1)", [i])?)
        };
        queue.submit(work, |_| ()).unwrap();
    }
    drop(release);
    drop(queue);
    let count: i64 = open(&path)
        .query_row("SELECT count(*) FROM note", [], |row| row.get(0))
        .unwrap();
    assert_eq!(count, 50);
}

#[test]
fn many_threads_write_each_their_own() {
    let queue = Arc::new(start(QueueLimits::default()));
    let threads: Vec<_> = (0..8)
        .map(|thread| {
            let queue = Arc::clone(&queue);
            thread::spawn(move || {
                for i in 0..200 {
                    add(&queue, &format!("{thread}-{i}")).unwrap();
                }
            })
        })
        .collect();
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
    assert_eq!(count(&queue), 1600);
    assert!(queue.counts().commits <= 1601);
}
