//! The files of a load: their names, modes and owners, what links lead to, and who else is at the database.

use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{assert_whole, job, load, names, open, pair, rows};
use inorder_load::{Create, Job, WriterChoice};

const SOURCE: &str = "
    CREATE TABLE s AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
        SELECT hex(randomblob(16)) AS id, i AS n FROM n";

const GOAL: &str = "CREATE TABLE t(id PRIMARY KEY, n) WITHOUT ROWID; CREATE INDEX i ON t(n)";

const WRITERS: [WriterChoice; 2] = [WriterChoice::Direct, WriterChoice::Statements];

/// A load that makes its table.
fn creating(from: &Path, to: &Path, writer: WriterChoice) -> Job {
    Job {
        create: Some(Create::default()),
        ..job(from, to, writer)
    }
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, Permissions::from_mode(mode)).expect("a mode");
}

/// Every mode and owner that files beside a database have while `run` runs.
fn seen_beside(database: &Path, run: impl FnOnce()) -> Vec<(String, u32, u32)> {
    let folder = database.parent().expect("a folder");
    let own = database.file_name().expect("a name").to_owned();
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut seen = Vec::new();
            while !is_done.load(Ordering::Relaxed) {
                for entry in std::fs::read_dir(folder).expect("folder").flatten() {
                    let name = entry.file_name().to_string_lossy().into_owned();
                    let Ok(metadata) = entry.path().symlink_metadata() else {
                        continue;
                    };
                    let found = (name, metadata.mode() & 0o777, metadata.uid());
                    if entry.file_name() != own && found.0 != "from.db" && !seen.contains(&found) {
                        seen.push(found);
                    }
                }
            }
            seen
        });
        run();
        is_done.store(true, Ordering::Relaxed);
        watcher.join().expect("a watcher")
    })
}

#[test]
fn files_beside_a_private_database_are_private() {
    let is_root = rustix::process::geteuid().is_root();
    for (journal, is_copied) in [("DELETE", false), ("DELETE", true), ("WAL", true)] {
        // SQLite copies the rows of a database with a pointer map.
        let made = format!(
            "PRAGMA auto_vacuum = {}; PRAGMA journal_mode = {journal}; {GOAL}",
            u8::from(is_copied)
        );
        let (_folder, from, to) = pair(SOURCE, &made);
        set_mode(&to, 0o600);
        if is_root {
            std::os::unix::fs::chown(&to, Some(1234), None).expect("another owner");
        }
        let owner = to.metadata().expect("a database").uid();
        let small = Job {
            memory_bytes: 1 << 18,
            ..job(&from, &to, WriterChoice::Direct)
        };
        let seen = seen_beside(&to, || drop(load(&small).expect("a load")));
        let is_ours = |(name, ..): &&(String, u32, u32)| name.ends_with(".inorder-load");
        assert_eq!(
            seen.iter().any(|file| is_ours(&file)),
            is_copied,
            "{seen:?}"
        );
        for (name, mode, _) in &seen {
            // What is spilled has a name only where the file system can't do without.
            let is_named = name.starts_with("to.db");
            assert_eq!(*mode, 0o600, "{name} of {seen:?}");
            // A file is its creator's at first: root makes it private, then gives it to the owner.
            let is_given = seen.contains(&(name.clone(), *mode, owner));
            assert!(is_given || !is_named, "{name} of {seen:?}");
        }
        let after = to.metadata().expect("a database");
        assert_eq!((after.mode() & 0o777, after.uid()), (0o600, owner));
    }
}

#[test]
fn an_empty_database_keeps_its_mode_owner_and_links() {
    for writer in WRITERS {
        let (folder, from, to) = pair(SOURCE, "");
        std::fs::write(&to, b"").expect("written");
        set_mode(&to, 0o600);
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&to, Some(1234), Some(4321)).expect("another owner");
        }
        let other = folder.path().join("other name");
        std::fs::hard_link(&to, &other).expect("a link");
        let before = to.metadata().expect("metadata");
        let refused = Job {
            is_dry: true,
            ..creating(&from, &to, writer)
        };
        load(&refused).expect("a dry run");
        assert_eq!(to.metadata().expect("metadata").len(), 0);
        load(&creating(&from, &to, writer)).expect("a load");
        let after = to.metadata().expect("metadata");
        let same = |of: &std::fs::Metadata| (of.ino(), of.mode(), of.uid(), of.gid(), of.nlink());
        assert_eq!(same(&after), same(&before));
        assert_whole(&open(&other));
        assert_eq!(rows(&open(&other), "SELECT count(*) FROM t"), ["20000"]);
        drop(folder);
    }
}

#[test]
fn a_link_to_an_empty_or_missing_database_is_followed() {
    for writer in WRITERS {
        for is_there in [true, false] {
            let (folder, from, _) = pair(SOURCE, "");
            let elsewhere = folder.path().join("elsewhere");
            std::fs::create_dir(&elsewhere).expect("a folder");
            let file = elsewhere.join("real.db");
            if is_there {
                std::fs::write(&file, b"").expect("written");
            }
            // By way of another link, and relative ones.
            symlink("real.db", elsewhere.join("second")).expect("a link");
            let link = folder.path().join("link.db");
            symlink("elsewhere/second", &link).expect("a link");
            load(&creating(&from, &link, writer)).expect("a load");
            assert!(link.is_symlink(), "{writer:?}");
            assert!(!file.is_symlink() && file.is_file());
            assert_eq!(names(folder.path()), ["elsewhere", "from.db", "link.db"]);
            assert_eq!(names(&elsewhere), ["real.db", "second"]);
            assert_whole(&open(&file));
        }
    }
}

#[test]
fn what_is_no_file_is_refused() {
    let (folder, from, _) = pair(SOURCE, "");
    // A load that replaces what it finds must find nothing that is missed.
    let socket = folder.path().join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).expect("a socket");
    let looped = folder.path().join("looped");
    symlink("looped", &looped).expect("a link");
    for (path, words) in [
        (&*socket, "not a regular file"),
        (folder.path(), "not a regular file"),
        (&looped, "symbolic link to itself"),
    ] {
        let refused = load(&creating(&from, path, WriterChoice::Auto)).expect_err("no file");
        assert!(refused.to_string().contains(words), "{refused}");
    }
}

#[test]
fn a_reader_of_a_wal_keeps_what_it_sees() {
    for writer in WRITERS {
        let (_folder, from, to) = pair(SOURCE, &format!("PRAGMA journal_mode = WAL; {GOAL}"));
        let reader = open(&to);
        reader.execute_batch("BEGIN").expect("begun");
        let count = "SELECT count(*) FROM t";
        assert_eq!(rows(&reader, count), ["0"]);
        load(&job(&from, &to, writer)).expect("a load beside a reader");
        assert_eq!(rows(&reader, count), ["0"]);
        reader.execute_batch("COMMIT").expect("ended");
        assert_eq!(rows(&reader, count), ["20000"]);
        assert_whole(&reader);
    }
}

#[test]
fn a_lock_of_somebody_else_is_waited_for() {
    let (_folder, from, to) = pair(SOURCE, GOAL);
    let other = open(&to);
    other.execute_batch("BEGIN EXCLUSIVE").expect("locked");
    let release = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(300));
        other.execute_batch("COMMIT").expect("ended");
    });
    load(&job(&from, &to, WriterChoice::Direct)).expect("a load after the lock");
    release.join().expect("released");
    assert_whole(&open(&to));
}

#[test]
fn a_database_that_may_not_be_written_is_left_alone() {
    if rustix::process::geteuid().is_root() {
        eprintln!("SKIPPED: root may write everything");
        return;
    }
    for content in ["", GOAL] {
        let (folder, from, to) = pair(SOURCE, content);
        std::fs::File::options()
            .create(true)
            .append(true)
            .open(&to)
            .expect("a file");
        set_mode(&to, 0o400);
        let before = std::fs::read(&to).expect("read");
        load(&creating(&from, &to, WriterChoice::Auto)).expect_err("read-only");
        assert_eq!(std::fs::read(&to).expect("read"), before);
        assert_eq!(names(folder.path()), ["from.db", "to.db"]);
    }
}
