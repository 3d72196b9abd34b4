//! A process that writes is killed, again and again: what it acknowledged is there, and nobody who reads changes sees a
//! sequence twice or misses one.
//!
//! Five times by default; fifty with `INORDER_KILLS=50 cargo test -p inorder-couch --test kill`.

mod common;

use common::*;
use inorder_couch::revision::Revision;
use inorder_couch::store::{Changes, Database, Databases, Edit, Error, GetOptions, Settings};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// Tells the child where to write.
const FOLDER: &str = "INORDER_KILL_FOLDER";

const THREADS: u64 = 6;

/// The child's reports: acknowledged writes (document, revision, whether it deletes) and changes that were read.
#[derive(Default)]
struct Told {
    written: BTreeMap<String, (Revision, bool)>,
    seen: BTreeMap<u64, (String, String)>,
}

impl Told {
    fn take(&mut self, line: &str) {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["wrote", id, revision] => self.wrote(id, revision, false),
            ["deleted", id, revision] => self.wrote(id, revision, true),
            ["saw", seq, id, revision] => {
                let seen = (id.to_owned(), revision.to_owned());
                let before = self.seen.insert(seq.parse().unwrap(), seen.clone());
                assert!(
                    before.is_none_or(|before| before == seen),
                    "sequence {seq} was given twice"
                );
            }
            // Output of the test harness.
            _ => {}
        }
    }

    fn wrote(&mut self, id: &str, revision: &str, deleted: bool) {
        self.written
            .insert(id.to_owned(), (common::revision(revision), deleted));
    }
}

#[test]
fn what_was_acknowledged_survives_a_kill() {
    let kills = std::env::var("INORDER_KILLS").map_or(5, |kills| kills.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    Databases::open(folder.path(), Settings::default())
        .unwrap()
        .create("db")
        .unwrap();
    let mut told = Told::default();
    for kill in 0..kills {
        run_and_kill(folder.path(), 40 + kill * 97 % 150, &mut told);
        check(folder.path(), &told);
    }
}

/// Runs a child until it has reported a number of events, then kills it.
fn run_and_kill(folder: &Path, lines: u64, told: &mut Told) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "child_writes_until_it_is_killed",
            "--ignored",
            "--nocapture",
        ])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    for line in output.by_ref().take(lines as usize) {
        told.take(&line.unwrap());
    }
    child.kill().unwrap();
    // What it had told before it died counts as well. So short a line is written whole, or not at all.
    let rest: Vec<String> = output.map_while(Result::ok).collect();
    rest.iter().for_each(|line| told.take(line));
    child.wait().unwrap();
}

fn check(folder: &Path, told: &Told) {
    let databases = Databases::open(folder, Settings::default()).unwrap();
    let db = databases.get("db").unwrap();
    for (id, (revision, deleted)) in &told.written {
        let (winner, is_deleted) = db
            .winner(id)
            .unwrap_or_else(|error| panic!("{id}: {error}"));
        // A later write may have been committed without an acknowledgement.
        assert!(winner >= *revision, "{id}: {winner} is before {revision}");
        assert!(winner > *revision || is_deleted == *deleted);
        let options = GetOptions {
            revision: Some(revision.clone()),
            ..GetOptions::default()
        };
        assert!(db.get(id, &options).is_ok(), "{id} {revision} has no body");
    }
    let changes = all_changes(&db);
    let last_seen = told.seen.keys().next_back().copied().unwrap_or_default();
    for (seq, id, revision) in changes.iter().filter(|change| change.0 <= last_seen) {
        let seen = told.seen.get(seq);
        assert_eq!(
            seen,
            Some(&(id.clone(), revision.clone())),
            "{seq} was skipped"
        );
    }
    assert!(
        db.info().unwrap().update_seq >= last_seen,
        "sequences went back"
    );
    let info = db.info().unwrap();
    assert_eq!(info.doc_count + info.deleted_count, changes.len() as u64);
    drop((db, databases));
    let file = rusqlite::Connection::open(folder.join("db.sqlite")).unwrap();
    let verdict: String = file
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(verdict, "ok");
}

#[test]
#[ignore = "run by the test that kills it"]
fn child_writes_until_it_is_killed() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let databases = Databases::open(folder, Settings::default()).unwrap();
    let db = databases.get("db").unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| read_changes(&db));
        for thread in 0..THREADS {
            let db = &db;
            scope.spawn(move || write_forever(db, thread));
        }
    });
}

/// One line, at once.
fn tell(line: String) {
    let mut out = std::io::stdout().lock();
    // The parent may have stopped reading.
    let _ = out.write_all((line + "\n").as_bytes());
    let _ = out.flush();
}

fn read_changes(db: &Database) {
    let mut question = Changes::default();
    loop {
        let page = db.changes(&question, None).unwrap();
        for change in page.changes {
            tell(format!(
                "saw {} {} {}",
                change.seq, change.id, change.revisions[0]
            ));
        }
        question.since = page.last_seq;
    }
}

/// Creates, updates and deletes, alone and in bulk; some bodies are larger than a page.
fn write_forever(db: &Database, thread: u64) {
    for round in 0.. {
        let name = |part: &str| format!("{thread}-{part}-{}", inorder_couch::store::new_id());
        let padding = "x".repeat(if round % 7 == 0 { 9000 } else { 100 });
        let body = format!(r#"{{"n":{round},"padding":"{padding}"}}"#);
        let new = |id: String| {
            let mut edit = edit(&body);
            edit.id = Some(id);
            edit
        };
        let written = db.put(new(name("one"))).wait().unwrap().unwrap();
        tell(format!("wrote {} {}", written.id, written.revision));
        let mut update = edit(r#"{"updated":true}"#);
        (update.id, update.history) = (Some(written.id), Some(written.revision.into()));
        let updated = db.put(update).wait().unwrap().unwrap();
        tell(format!("wrote {} {}", updated.id, updated.revision));
        if round % 2 == 0 {
            let deletion = Edit::deletion(updated.id, updated.revision);
            let deleted = db.put(deletion).wait().unwrap().unwrap();
            tell(format!("deleted {} {}", deleted.id, deleted.revision));
        }
        let bulk = (0..10).map(|_| new(name("bulk"))).collect();
        for outcome in db.bulk(bulk).wait().unwrap() {
            let written = outcome.unwrap();
            tell(format!("wrote {} {}", written.id, written.revision));
        }
    }
}

#[test]
fn a_full_disk_refuses_and_keeps_what_was_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings {
        file_bytes_max: Some(400_000),
        ..Settings::default()
    };
    let databases = Databases::open(folder.path(), settings).unwrap();
    let db = databases.create("db").unwrap();
    let padding = "x".repeat(3000);
    let document =
        |number: usize| edit(&format!(r#"{{"_id":"{number:04}","padding":"{padding}"}}"#));
    let mut pending: Vec<_> = (0..400)
        .map(|number| (number, db.put(document(number))))
        .collect();
    let mut kept = Vec::new();
    let mut refused = 0;
    for (number, pending) in pending.drain(..) {
        match pending.wait() {
            Ok(outcome) => kept.push((number, outcome.unwrap().revision)),
            Err(Error::Full) => refused += 1,
            Err(other) => panic!("{other:?}"),
        }
    }
    assert!(
        refused > 0 && kept.len() > 20,
        "{refused} refused, {} kept",
        kept.len()
    );
    let bulk = db.bulk((1000..1100).map(document).collect()).wait();
    assert!(matches!(bulk, Err(Error::Full)), "{bulk:?}");
    for (number, revision) in &kept {
        assert_eq!(db.winner(&format!("{number:04}")).unwrap().0, *revision);
    }
    let changes = all_changes(&db);
    assert_eq!(changes.len(), kept.len());
    assert_eq!(db.info().unwrap().doc_count, kept.len() as u64);
    assert_eq!(*db.watch().borrow(), changes.last().unwrap().0);
    // After space is freed, writes continue with new sequences.
    drop((db, databases));
    let db = Databases::open(folder.path(), Settings::default())
        .unwrap()
        .get("db")
        .unwrap();
    db.put(document(5000)).wait().unwrap().unwrap();
    assert!(all_changes(&db).last().unwrap().0 > changes.last().unwrap().0);
}
