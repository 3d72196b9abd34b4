//! Rekeys of a database that other connections read and write meanwhile, of this process and of others.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use inorder_advise::{Change, Error, Progress, Rekey};
use rusqlite::{Connection, ErrorCode, TransactionBehavior, params};

const SCHEMA: &str = "
    CREATE TABLE item(id INT PRIMARY KEY, name TEXT NOT NULL, size INTEGER NOT NULL);
    CREATE TABLE doc(slug TEXT PRIMARY KEY, body TEXT NOT NULL);
    CREATE TABLE total(rows INTEGER NOT NULL);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
      INSERT INTO item SELECT -i, 'name ' || i, i % 9 FROM n;
    INSERT INTO doc SELECT 'slug ' || (id * 7919 % 10007), hex(randomblob(40)) FROM item;
    INSERT INTO total SELECT count(*) FROM item;";

/// What a rekey undoes: each round makes it again.
const REDUNDANT: &str = "CREATE INDEX IF NOT EXISTS item_name ON item(name);
    CREATE INDEX IF NOT EXISTS item_name_size ON item(name, size)";

/// Every snapshot has this property, whatever is written and whatever form the tables have.
const IS_WHOLE: &str = "SELECT (SELECT count(*) FROM item) = (SELECT rows FROM total)
    AND (SELECT count(*) FROM item) = (SELECT count(*) FROM item WHERE name >= '')
    AND (SELECT count(*) FROM doc) = 3000";

/// The ids that a writer has to itself.
const IDS_PER_WRITER: i64 = 1_000_000;

/// Numbers by a seed (xorshift64).
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }

    fn pause(&mut self) {
        std::thread::sleep(Duration::from_micros(self.below(2000)));
    }
}

/// Nothing but a lock may stand in the way of a connection.
fn committed(result: rusqlite::Result<()>) -> bool {
    match result {
        Ok(()) => true,
        Err(error) => {
            let code = error.sqlite_error_code();
            let is_locked = matches!(code, Some(ErrorCode::DatabaseBusy));
            assert!(is_locked, "another connection got: {error}");
            false
        }
    }
}

fn open(path: &Path) -> Connection {
    let database = Connection::open(path).expect("opened");
    database
        .busy_timeout(Duration::from_millis(20))
        .expect("set");
    database
}

/// Reads in transactions until it is stopped: two readings of one snapshot are the same.
fn read(path: &Path, seed: u64, is_stopped: &dyn Fn() -> bool) {
    let (mut database, mut dice) = (open(path), Dice::new(seed));
    while !is_stopped() {
        if dice.below(10) == 0 {
            database = open(path);
        }
        let mut look = || {
            let snapshot = database.transaction()?;
            let look = || {
                let sum = "SELECT total(id) || total(size) || max(name) FROM item";
                let sum: String = snapshot.query_row(sum, [], |row| row.get(0))?;
                let is_whole: bool = snapshot.query_row(IS_WHOLE, [], |row| row.get(0))?;
                Ok::<_, rusqlite::Error>((sum, is_whole))
            };
            let first = look()?;
            dice.pause();
            assert_eq!(first, look()?, "a snapshot changed");
            assert!(first.1, "a snapshot that nobody wrote");
            snapshot.commit()
        };
        committed(look());
        dice.pause();
    }
}

/// Writes until it is stopped. Returns its rows.
fn write(path: &Path, seed: u64, is_stopped: &dyn Fn() -> bool) -> BTreeMap<i64, String> {
    let (mut database, mut dice) = (open(path), Dice::new(seed));
    let mut rows = BTreeMap::new();
    let first = seed.cast_signed() * IDS_PER_WRITER;
    while !is_stopped() {
        let mut later = rows.clone();
        let behavior = match dice.below(2) {
            0 => TransactionBehavior::Immediate,
            _ => TransactionBehavior::Deferred,
        };
        let mut change = || {
            let transaction = database.transaction_with_behavior(behavior)?;
            for _ in 0..=dice.below(20) {
                let id = first + dice.below(2000).cast_signed();
                let name = format!("name {}", dice.below(1 << 40));
                if dice.below(3) == 0 {
                    transaction.execute("DELETE FROM item WHERE id = ?1", [id])?;
                    later.remove(&id);
                } else {
                    let insert = "INSERT INTO item VALUES (?1, ?2, 1) ON CONFLICT(id) DO UPDATE SET name = excluded.name";
                    transaction.execute(insert, params![id, name])?;
                    later.insert(id, name);
                }
            }
            let total = "UPDATE total SET rows = (SELECT count(*) FROM item)";
            transaction.execute(total, [])?;
            if dice.below(4) == 0 {
                dice.pause();
            }
            transaction.commit()
        };
        if committed(change()) {
            rows = later;
        }
        dice.pause();
    }
    rows
}

const FOLDER: &str = "INORDER_TEST_CROWD";
const ROLE: &str = "INORDER_TEST_CROWD_ROLE";

/// A process that reads or writes. Without its variables it has nothing to do.
#[test]
fn member() {
    let (Some(folder), Ok(role)) = (std::env::var_os(FOLDER), std::env::var(ROLE)) else {
        return;
    };
    let folder = Path::new(&folder);
    let (path, seed) = (folder.join("app.db"), role[1..].parse().expect("a seed"));
    let is_stopped = || folder.join("stop").exists();
    if role.starts_with('r') {
        return read(&path, seed, &is_stopped);
    }
    let rows = write(&path, seed, &is_stopped);
    let lines: String = rows
        .iter()
        .map(|(id, name)| format!("{id}\t{name}\n"))
        .collect();
    std::fs::write(folder.join(role), lines).expect("written");
}

fn process(folder: &Path, role: &str) -> Child {
    let child = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "member", "--nocapture"])
        .env(FOLDER, folder)
        .env(ROLE, role)
        .stdout(Stdio::null())
        .spawn();
    child.expect("a process")
}

/// Rekeys while others work, until each kind of change was made or the time is over. Returns how many were made.
fn rekeys(path: &Path, dice: &mut Dice) -> (u32, u32) {
    // Each of these can be made once.
    let mut waiting = vec![
        vec![Change::WithoutRowid {
            table: "doc".into(),
        }],
        vec![Change::IntegerPrimaryKey {
            table: "item".into(),
            column: "id".into(),
        }],
    ];
    let (mut made, mut busy) = (0, 0);
    let deadline = Instant::now() + Duration::from_secs(20);
    while Instant::now() < deadline && (made < 6 || !waiting.is_empty()) {
        let changes = match waiting.last() {
            Some(changes) if dice.below(2) == 0 => changes.clone(),
            _ if committed(open(path).execute_batch(REDUNDANT)) => vec![Change::DropIndex {
                index: "item_name".into(),
            }],
            _ => continue,
        };
        let rekey = Rekey {
            path: path.to_owned(),
            changes: changes.clone(),
            memory_bytes: 1 << 20,
            wait: Duration::from_millis(200),
            rebuilds_all: dice.below(3) == 0,
        };
        match rekey.run(&Progress::default()) {
            Ok(_) => {
                made += 1;
                waiting.retain(|other| *other != changes);
            }
            Err(Error::Busy { .. }) => busy += 1,
            Err(error) => panic!("{changes:?}: {error}"),
        }
    }
    (made, busy)
}

/// The rows of a writer, as the database has them.
fn stored(database: &Connection, seed: i64) -> BTreeMap<i64, String> {
    let ids = [seed * IDS_PER_WRITER, (seed + 1) * IDS_PER_WRITER - 1];
    let query = "SELECT id, name FROM item WHERE id BETWEEN ?1 AND ?2";
    let mut statement = database.prepare(query).expect("prepared");
    let rows = statement.query_map(ids, |row| Ok((row.get(0)?, row.get(1)?)));
    rows.expect("read").map(|row| row.expect("a row")).collect()
}

fn told(folder: &Path, role: &str) -> BTreeMap<i64, String> {
    let text = std::fs::read_to_string(folder.join(role)).expect("rows");
    let rows = text.lines().map(|line| {
        let (id, name) = line.split_once('\t').expect("two fields");
        (id.parse().expect("a number"), name.to_owned())
    });
    rows.collect()
}

fn made(folder: &Path, mode: &str) -> PathBuf {
    let path = folder.join("app.db");
    let database = open(&path);
    let before = format!("PRAGMA journal_mode = {mode}; PRAGMA synchronous = OFF; BEGIN");
    database.execute_batch(&before).expect("made");
    database.execute_batch(SCHEMA).expect("made");
    database.execute_batch("COMMIT").expect("made");
    path
}

/// One round: two readers and two writers, of which one each is another process.
fn round(mode: &str, seed: u64) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = made(folder.path(), mode);
    let mut dice = Dice::new(seed);
    let others = ["r11", "w12"].map(|role| (role, process(folder.path(), role)));
    let is_over = AtomicBool::new(false);
    let is_stopped = || is_over.load(Ordering::Relaxed);
    let (counts, rows) = std::thread::scope(|scope| {
        let reader = scope.spawn(|| read(&path, seed + 1, &is_stopped));
        let writer = scope.spawn(|| write(&path, 13, &is_stopped));
        // A failed rekey must end the others as well.
        let counts =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| rekeys(&path, &mut dice)));
        is_over.store(true, Ordering::Relaxed);
        std::fs::write(folder.path().join("stop"), "").expect("written");
        reader.join().expect("the reader of this process");
        (counts, writer.join().expect("the writer of this process"))
    });
    for (role, mut process) in others {
        let status = process.wait().expect("ended");
        assert!(status.success(), "{mode}, seed {seed}: the process {role}");
    }
    let (made, busy) = counts.expect("rekeyed");
    let database = open(&path);
    let damage: String = database
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .expect("checked");
    assert_eq!(damage, "ok", "{mode}, seed {seed}");
    assert!(
        stored(&database, 13) == rows,
        "{mode}, seed {seed}: rows of this process"
    );
    let theirs = told(folder.path(), "w12");
    assert!(
        stored(&database, 12) == theirs,
        "{mode}, seed {seed}: rows of the other process"
    );
    eprintln!(
        "{mode}, seed {seed}: {made} rekeys made, {busy} found it locked; {} and {} rows written meanwhile",
        rows.len(),
        theirs.len()
    );
    assert!(
        made > 0 && !rows.is_empty() && !theirs.is_empty(),
        "{mode}, seed {seed}"
    );
}

/// How many seeds are tried in each journal mode.
const ROUNDS: &str = "INORDER_CROWD_ROUNDS";

#[test]
fn no_row_and_no_snapshot_is_lost_while_others_read_and_write() {
    let rounds = std::env::var(ROUNDS).map_or(1, |rounds| rounds.parse().expect("a number"));
    for seed in 1..=rounds {
        for mode in ["DELETE", "PERSIST", "TRUNCATE", "WAL"] {
            round(mode, seed);
        }
    }
}
