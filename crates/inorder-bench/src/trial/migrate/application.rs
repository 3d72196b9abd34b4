//! The application that goes on while its table moves: a writer that inserts rows at a fixed rate, and a reader that reads as
//! many, both from when they are due.

use crate::{
    error::Error,
    trial::group::{Group, Keyed, Stage, Together},
};
use inorder_engine::{Batch, Column, Database, Reader, Value, Writer};
use inorder_key::bulk::SplitMix64;
use std::{
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering},
    },
    thread::sleep,
    time::{Duration, Instant},
};

/// How long an operation is tried again after errors: statements that were prepared before a change may fail after it.
const PATIENCE: Duration = Duration::from_secs(10);
/// Pause before a try.
const PAUSE: Duration = Duration::from_millis(1);
/// How long the writer and the reader may take to notice what they are told: an operation that is tried again, and the engine's own
/// wait for a lock.
const NOTICE_MAX: Duration = Duration::from_secs(60);

/// The rows of the tables, made one after the other, and both keys of all of them.
pub struct Rows {
    group: Group,
    old: Vec<Value>,
    new: Vec<Value>,
}

/// The application.
pub struct Application<'a> {
    database: &'a dyn Database,
    /// The tables that have the key.
    pub keyed: Vec<Keyed>,
    rows: Mutex<Rows>,
    stage: AtomicU8,
    /// The stage of the writer between two transactions.
    seen: AtomicU8,
    stop: AtomicBool,
    /// Whether the writer and the reader are to wait, and how many do.
    is_held: AtomicBool,
    waiting: AtomicU8,
    has_failed: AtomicBool,
    inserted: AtomicU64,
}

/// The writer and the reader.
const PROBES: u8 = 2;

/// Sets a flag when it is dropped, also by a panic: threads that wait for the flag end then.
pub struct SetOnDrop<'a>(pub &'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// From when an operation was due until it was done.
pub type Wait = (Instant, Instant);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Rows {
    /// Makes rows. Returns them with their new keys.
    fn make(&mut self, rows: usize, keyed: &[Keyed]) -> Result<(Together, Column), Error> {
        let mut made = self.group.make(rows);
        self.group.make_members(&mut made);
        let next = self.group.next_keys(rows).ok_or_else(no_keys)?;
        let old = made.keys(keyed);
        self.old.extend((0..rows).map(|row| old.value(row)));
        self.new.extend((0..rows).map(|row| next.value(row)));
        Ok((made, next))
    }
}

fn no_keys() -> Error {
    Error::Usage("the measured table has no column with the recipe `key`".to_owned())
}

impl<'a> Application<'a> {
    /// The application of tables whose rows have these keys.
    ///
    /// # Errors
    /// If the measured table has no key.
    pub fn new(
        database: &'a dyn Database,
        table: &str,
        mut group: Group,
        old: &Batch,
    ) -> Result<Self, Error> {
        let rows = old.rows();
        let next = group.next_keys(rows).ok_or_else(no_keys)?;
        let keyed = group.keyed(table);
        Ok(Application {
            database,
            keyed,
            rows: Mutex::new(Rows {
                group,
                old: (0..rows).map(|row| old.columns[0].value(row)).collect(),
                new: (0..rows).map(|row| next.value(row)).collect(),
            }),
            stage: AtomicU8::new(Stage::Old as u8),
            seen: AtomicU8::new(Stage::Old as u8),
            stop: AtomicBool::new(false),
            is_held: AtomicBool::new(false),
            waiting: AtomicU8::new(0),
            has_failed: AtomicBool::new(false),
            inserted: AtomicU64::new(0),
        })
    }

    /// Rows of the table.
    pub fn count(&self) -> usize {
        lock(&self.rows).old.len()
    }

    /// Both keys of a row.
    pub fn keys(&self, row: usize) -> (Value, Value) {
        let rows = lock(&self.rows);
        (rows.old[row].clone(), rows.new[row].clone())
    }

    /// Rows that the writer has inserted.
    pub fn inserted(&self) -> u64 {
        self.inserted.load(Ordering::Relaxed)
    }

    fn stage(&self) -> Stage {
        match self.stage.load(Ordering::Acquire) {
            0 => Stage::Old,
            1 => Stage::Both,
            _ => Stage::New,
        }
    }

    /// Changes what the application writes, and waits until no transaction is open that writes otherwise.
    ///
    /// # Errors
    /// If the writer does not notice.
    pub fn go_to(&self, stage: Stage, is_running: bool) -> Result<(), Error> {
        self.stage.store(stage as u8, Ordering::Release);
        self.wait_until(|| !is_running || self.seen.load(Ordering::Acquire) == stage as u8)
    }

    /// Lets the writer and the reader wait between two operations: some engines write all pages only while nobody writes. Their
    /// wait is not counted.
    ///
    /// # Errors
    /// If they go on for longer than an operation takes.
    pub fn hold(&self) -> Result<(), Error> {
        self.is_held.store(true, Ordering::Release);
        self.wait_until(|| self.waiting.load(Ordering::Acquire) == PROBES)
    }

    /// Waits for the writer and the reader. If one of them failed, its error is told when both have ended.
    fn wait_until(&self, is_so: impl Fn() -> bool) -> Result<(), Error> {
        let began = Instant::now();
        while !is_so() && !self.has_failed.load(Ordering::Relaxed) {
            if began.elapsed() > NOTICE_MAX {
                let seconds = NOTICE_MAX.as_secs();
                return Err(Error::Trial(format!(
                    "the application of a migration did not notice a change within {seconds} s"
                )));
            }
            sleep(PAUSE);
        }
        Ok(())
    }

    /// Lets the writer and the reader go on.
    pub fn release(&self) {
        self.is_held.store(false, Ordering::Release);
    }

    /// Ends the writer and the reader when the result is dropped.
    pub fn end_with_this(&self) -> SetOnDrop<'_> {
        SetOnDrop(&self.stop)
    }

    /// Inserts so many rows at once, in transactions of so many. Returns the seconds.
    ///
    /// # Errors
    /// If the engine fails.
    pub fn insert(&self, rows: usize, rows_per_transaction: usize) -> Result<f64, Error> {
        let stage = self.stage();
        let mut guard = lock(&self.rows);
        let mut writer = guard.group.writer_at(self.database, &self.keyed, stage)?;
        let (mut done, mut seconds) = (0, 0.0);
        while done < rows {
            let count = rows_per_transaction.min(rows - done);
            let (made, next) = guard.make(count, &self.keyed)?;
            let made = made.at(&self.keyed, &next, stage);
            let began = Instant::now();
            writer.begin()?;
            made.insert(writer.as_mut(), 0..count)?;
            writer.commit()?;
            writer.checkpoint_if_due()?;
            seconds += began.elapsed().as_secs_f64();
            done += count;
        }
        Ok(seconds)
    }

    /// Inserts rows one by one, so many per second, until the application is stopped.
    ///
    /// # Errors
    /// If the engine refuses a row for longer than changes of the table explain.
    pub fn write(&self, per_s: u64) -> Result<Vec<Wait>, Error> {
        let mut stage = self.stage();
        let mut writer: Option<Box<dyn Writer>> = None;
        let waits = self.each_due(per_s, |due| {
            let now = self.stage();
            if now != stage {
                (stage, writer) = (now, None);
            }
            self.seen.store(stage as u8, Ordering::Release);
            let (made, next) = lock(&self.rows).make(1, &self.keyed)?;
            self.patiently(due, || {
                stage = self.stage();
                let row = made.at(&self.keyed, &next, stage);
                let inserted = self.insert_row(&mut writer, &row, stage);
                if inserted.is_err() {
                    // Its statements may be of the table before the change.
                    writer = None;
                }
                inserted
            })?;
            self.inserted.fetch_add(1, Ordering::Relaxed);
            Ok(())
        });
        self.note(waits)
    }

    fn insert_row(
        &self,
        writer: &mut Option<Box<dyn Writer>>,
        row: &Together,
        stage: Stage,
    ) -> Result<(), Error> {
        let writer = match writer {
            Some(writer) => writer,
            None => {
                let rows = lock(&self.rows);
                let opened = rows.group.writer_at(self.database, &self.keyed, stage)?;
                writer.insert(opened)
            }
        };
        writer.begin()?;
        row.insert(writer.as_mut(), 0..1)?;
        writer.commit()?;
        writer.checkpoint_if_due()?;
        Ok(())
    }

    /// Reads rows by their key, so many per second, until the application is stopped.
    ///
    /// # Errors
    /// If a row is not found, or the engine fails for longer than changes of the table explain.
    pub fn read(&self, per_s: u64) -> Result<Vec<Wait>, Error> {
        let rows = self.count();
        let mut random = SplitMix64::new(rows as u64);
        let mut reader: Option<(Stage, Box<dyn Reader>)> = None;
        let waits = self.each_due(per_s, |due| {
            let row = random.below(rows as u64) as usize;
            self.patiently(due, || {
                let found = self.read_row(&mut reader, row);
                if found.is_err() {
                    reader = None;
                }
                found
            })
        });
        self.note(waits)
    }

    fn read_row(
        &self,
        reader: &mut Option<(Stage, Box<dyn Reader>)>,
        row: usize,
    ) -> Result<(), Error> {
        let stage = self.stage();
        if reader.as_ref().is_none_or(|(of, _)| *of != stage) {
            *reader = Some((stage, self.database.reader(&self.query(stage))?));
        }
        let (old, new) = self.keys(row);
        let key = if stage == Stage::New { new } else { old };
        let batch = Batch {
            columns: vec![Column::Any(vec![key])],
        };
        let found = match reader {
            Some((_, reader)) => reader.query(&batch, 0)?,
            None => 0,
        };
        match found {
            1 => Ok(()),
            _ => Err(Error::Trial(format!(
                "a key that is in the table was found {found} times while the table moves"
            ))),
        }
    }

    /// The query of a row by the key of a stage. It names the columns that stay.
    fn query(&self, stage: Stage) -> String {
        let root = &self.keyed[0];
        let quoted = |name: &str| self.database.quoted(name);
        let others = root.columns.iter().filter(|name| **name != root.column);
        let others: Vec<String> = others.map(|name| quoted(name)).collect();
        let list = match others.is_empty() {
            true => "1".to_owned(),
            false => others.join(", "),
        };
        let by = match stage {
            Stage::Old | Stage::Both => quoted(&root.column),
            Stage::New => quoted(&root.next()),
        };
        format!("SELECT {list} FROM {} WHERE {by} = ?", quoted(&root.table))
    }

    /// Calls a function when it is due, so many times per second. A late call follows at once.
    fn each_due(
        &self,
        per_s: u64,
        mut work: impl FnMut(Instant) -> Result<(), Error>,
    ) -> Result<Vec<Wait>, Error> {
        let is_over =
            || self.stop.load(Ordering::Relaxed) || self.has_failed.load(Ordering::Relaxed);
        let (mut started, mut calls) = (Instant::now(), 0_u64);
        let mut waits = Vec::new();
        while !is_over() {
            if self.is_held.load(Ordering::Acquire) {
                self.waiting.fetch_add(1, Ordering::AcqRel);
                while self.is_held.load(Ordering::Acquire) && !is_over() {
                    sleep(PAUSE);
                }
                self.waiting.fetch_sub(1, Ordering::AcqRel);
                (started, calls) = (Instant::now(), 0);
                continue;
            }
            let due = started + Duration::from_secs_f64(calls as f64 / per_s as f64);
            sleep(due.saturating_duration_since(Instant::now()));
            work(due)?;
            waits.push((due, Instant::now()));
            calls += 1;
        }
        Ok(waits)
    }

    /// Tries again after an error.
    fn patiently(
        &self,
        due: Instant,
        mut work: impl FnMut() -> Result<(), Error>,
    ) -> Result<(), Error> {
        let until = Instant::now().max(due) + PATIENCE;
        loop {
            match work() {
                Err(_) if Instant::now() < until => sleep(PAUSE),
                done => return done,
            }
        }
    }

    fn note(&self, waits: Result<Vec<Wait>, Error>) -> Result<Vec<Wait>, Error> {
        if waits.is_err() {
            self.has_failed.store(true, Ordering::Relaxed);
        }
        waits
    }
}
