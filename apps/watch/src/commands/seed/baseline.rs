//! The same lists in the way of a first version, for comparison.

use super::draw::{Draw, User};
use crate::db::Database;
use anyhow::ensure;
use inorder_key::Ulid;
use rusqlite::{Connection, TransactionBehavior};
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

/// An explicit key made by the program, and one index per query.
const SCHEMA: &str = "
CREATE TABLE witches(id BLOB NOT NULL PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE watches(id BLOB NOT NULL PRIMARY KEY, title TEXT NOT NULL, year INTEGER);
CREATE TABLE witch_watch(
  id BLOB NOT NULL PRIMARY KEY,
  witch BLOB NOT NULL,
  watch BLOB NOT NULL,
  priority INTEGER NOT NULL,
  FOREIGN KEY (witch) REFERENCES witches(id) ON DELETE CASCADE ON UPDATE NO ACTION,
  FOREIGN KEY (watch) REFERENCES watches(id) ON DELETE CASCADE ON UPDATE NO ACTION);
CREATE INDEX ww_witch_dex ON witch_watch(witch);
CREATE INDEX ww_watch_dex ON witch_watch(watch);";

/// A file with users and films, and no lists yet.
pub struct Baseline {
    file: PathBuf,
    synchronous: &'static str,
    users: Vec<[u8; 16]>,
    films: HashMap<i64, [u8; 16]>,
}

impl Baseline {
    /// Makes the file with the films of the app's and so many users; none of that is measured.
    pub fn prepare(
        file: &Path,
        database: &Database,
        draw: &Draw,
        users: usize,
        synchronous: &'static str,
    ) -> anyhow::Result<Self> {
        ensure!(!file.exists(), "{} exists: name a new file", file.display());
        let mut baseline = Baseline {
            file: file.to_owned(),
            synchronous,
            users: Vec::new(),
            films: HashMap::new(),
        };
        let mut db = baseline.open()?;
        db.execute_batch(SCHEMA)?;
        let transaction = db.transaction()?;
        let facts = database.read(|db| {
            let mut statement = db.prepare("SELECT number, title, year FROM film")?;
            let rows = statement.query_map([], |row| {
                Ok((
                    row.get::<_, i64>(0)?,
                    row.get::<_, String>(1)?,
                    row.get::<_, Option<i64>>(2)?,
                ))
            })?;
            Ok(rows.collect::<rusqlite::Result<Vec<_>>>()?)
        })?;
        for (number, title, year) in facts {
            let id = Ulid::now().to_bytes();
            transaction.execute("INSERT INTO watches VALUES (?1, ?2, ?3)", (id, title, year))?;
            baseline.films.insert(number, id);
        }
        for number in 0..users {
            let id = Ulid::now().to_bytes();
            transaction.execute(
                "INSERT INTO witches VALUES (?1, ?2)",
                (id, draw.user(number).name),
            )?;
            baseline.users.push(id);
        }
        transaction.commit()?;
        Ok(baseline)
    }

    fn open(&self) -> rusqlite::Result<Connection> {
        let db = Connection::open(&self.file)?;
        db.pragma_update(None, "journal_mode", "wal")?;
        db.pragma_update(None, "synchronous", self.synchronous)?;
        db.pragma_update(None, "foreign_keys", true)?;
        db.busy_timeout(Duration::from_secs(60))?;
        Ok(db)
    }

    /// Writes the lists, each in a separate transaction, from several threads. Returns the number of films on them.
    pub fn write(&self, draw: &Draw, users: usize, writers: usize) -> anyhow::Result<usize> {
        let (next, rows) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let failed = Mutex::new(None);
        let writer = || {
            let result = self.write_some(draw, users, &next, &rows);
            if let Err(error) = result {
                *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            }
        };
        thread::scope(|scope| {
            for _ in 0..writers {
                scope.spawn(writer);
            }
        });
        match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error.into()),
            None => Ok(rows.into_inner()),
        }
    }

    fn write_some(
        &self,
        draw: &Draw,
        users: usize,
        next: &AtomicUsize,
        rows: &AtomicUsize,
    ) -> rusqlite::Result<()> {
        let mut db = self.open()?;
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= users {
                return Ok(());
            }
            let User { list, .. } = draw.user(number);
            rows.fetch_add(list.len(), Ordering::Relaxed);
            let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
            for (film, priority) in list {
                let sql = "INSERT INTO witch_watch VALUES (?1, ?2, ?3, ?4)";
                let id = Ulid::now().to_bytes();
                transaction.prepare_cached(sql)?.execute((
                    id,
                    self.users[number],
                    self.films[&film],
                    priority,
                ))?;
            }
            transaction.commit()?;
        }
    }
}
