//! Moves the loaded tables to another key, as their application goes on: a second column, a backfill, indexes, and the switch.

mod application;
mod mariadb;
mod postgres;
mod sqlite;
mod steps;

use super::{
    found::observable,
    group::{Group, Stage},
};
use crate::{clock::Clock, error::Error, experiment::factors::Setup, host, results::Sample};
use application::{Application, SetOnDrop, Wait};
use inorder_engine::{Batch, Column, Database, Engine, Retry, Value, Writer};
use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread::{self, sleep},
    time::{Duration, Instant},
};
use steps::{Particulars, Phase, Step, Way};

/// The engines whose tables can move.
const ENGINES: &[&Particulars] = &[
    &sqlite::PARTICULARS,
    &postgres::PARTICULARS,
    &mariadb::PARTICULARS,
];

/// Rows that are inserted before and after, per row of the table.
const INSERTED_SHARE: usize = 10;
/// Rows whose keys are looked up after the backfill.
const ROWS_CHECKED: usize = 200;
/// Pause between two looks at the size.
const SIZE_PAUSE: Duration = Duration::from_millis(50);

/// The tables after the migration.
pub struct Migrated {
    /// The keys of their rows.
    pub keys: Batch,
    /// The column of the key.
    pub by: Vec<String>,
    /// Rows that the first table has more.
    pub rows_added: i64,
}

/// What a migration takes place in.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// The engine.
    pub engine: &'a dyn Engine,
    /// The database.
    pub database: &'a dyn Database,
    /// The first table.
    pub table: &'a str,
    /// The columns of its primary key.
    pub by: &'a [String],
    /// The levels in force.
    pub setup: &'a Setup,
}

/// Moves the tables to the key of the setup, and samples each phase. `keys` are those of all rows in the order of insertion.
///
/// # Errors
/// If the engine fails, or a row has not both keys after the backfill.
pub fn run(
    place: Place<'_>,
    group: Group,
    keys: &Batch,
    samples: &mut Vec<Sample>,
) -> Result<Migrated, Error> {
    let Place {
        database, setup, ..
    } = place;
    let loaded = keys.rows();
    let application = Application::new(database, place.table, group, keys)?;
    let root = &application.keyed[0];
    if place.by != [root.column.clone()] {
        return Err(Error::Usage(format!(
            "a migration moves the primary key: that of `{}` is not the column `{}` alone",
            root.table, root.column
        )));
    }
    let mut course = Course {
        place,
        application: &application,
        way: Way::read(database, &application.keyed, types(place)?)?,
        particulars: particulars(&setup.engine)?,
        samples,
        is_running: setup.probes_per_s > 0,
        phases: Vec::new(),
        peak: AtomicU64::new(0),
    };
    course.insert("before")?;
    let size = course.size()?;
    course.push("migration_size_bytes", "before", size);
    course.push("migration_rows", "", Some(application.count() as f64));
    course.move_beside_the_application()?;
    let size = course.size()?;
    course.push("migration_size_bytes", "after", size);
    let peak = course.peak.load(Ordering::Relaxed) as f64;
    course.push("migration_size_bytes", "peak", size.map(|_| peak));
    course.insert("after")?;
    let all = application.count();
    let new = (0..all).map(|row| application.keys(row).1);
    Ok(Migrated {
        keys: Batch {
            columns: vec![Column::Any(new.collect())],
        },
        by: vec![application.keyed[0].next()],
        rows_added: (all - loaded) as i64,
    })
}

fn particulars(engine: &str) -> Result<&'static Particulars, Error> {
    let found = ENGINES.iter().find(|of| of.engine == engine);
    found.copied().ok_or_else(|| {
        let known: Vec<&str> = ENGINES.iter().map(|of| of.engine).collect();
        let known = known.join(", ");
        Error::Usage(format!(
            "a migration is of tables of {known}, not of {engine}"
        ))
    })
}

/// The types of both keys.
fn types(place: Place<'_>) -> Result<(&'static str, &'static str), Error> {
    let (engine, setup) = (place.engine, place.setup);
    let missing = || Error::Usage("a migration is between types that the engine has".to_owned());
    let old = engine.key_type(setup.key, setup.encoding());
    let new = setup
        .migrate_to
        .and_then(|key| engine.key_type(key.kind, key.encoding_in(engine)));
    Ok((old.ok_or_else(missing)?, new.ok_or_else(missing)?))
}

/// A migration on its way.
struct Course<'a, 's> {
    place: Place<'a>,
    application: &'a Application<'a>,
    particulars: &'static Particulars,
    way: Way<'a>,
    samples: &'s mut Vec<Sample>,
    /// Whether the application goes on meanwhile.
    is_running: bool,
    /// When each phase began and ended.
    phases: Vec<(&'static str, Wait)>,
    /// The largest size of the database.
    peak: AtomicU64,
}

/// What is counted when a phase begins.
struct Begin {
    clock: Clock,
    at: Instant,
    server_cpu_s: Option<f64>,
    io: inorder_engine::Io,
}

impl Course<'_, '_> {
    fn push(&mut self, probe: &str, part: &str, value: Option<f64>) {
        self.samples.push(Sample {
            probe: probe.to_owned(),
            part: part.to_owned(),
            rows: self.place.setup.rows,
            value,
        });
    }

    fn size(&self) -> Result<Option<f64>, Error> {
        let bytes = observable(self.place.database.size_bytes())?;
        if let Some(bytes) = bytes {
            self.peak.fetch_max(bytes, Ordering::Relaxed);
        }
        Ok(bytes.map(|bytes| bytes as f64))
    }

    /// Inserts rows with the key of the stage.
    fn insert(&mut self, part: &str) -> Result<(), Error> {
        let Place {
            database, setup, ..
        } = self.place;
        let rows = (setup.rows as usize / INSERTED_SHARE).max(1);
        let before = database.io();
        let together = setup.rows_per_transaction as usize;
        let seconds = self.application.insert(rows, together)?;
        database.quiesce()?;
        let written = (database.io() - before).total().written_bytes;
        let per_row = written.map(|bytes| bytes as f64 / rows as f64);
        self.push("migration_insert_bytes", part, per_row);
        self.push(
            "migration_insert_us",
            part,
            Some(seconds * 1e6 / rows as f64),
        );
        Ok(())
    }

    /// Runs the phases, and beside them the application and the looks at the size.
    fn move_beside_the_application(&mut self) -> Result<(), Error> {
        let per_s = self.place.setup.probes_per_s;
        let (application, is_running) = (self.application, self.is_running);
        let (writes, reads) = thread::scope(|scope| {
            let writer = is_running.then(|| scope.spawn(|| application.write(per_s)));
            let reader = is_running.then(|| scope.spawn(|| application.read(per_s)));
            let end = application.end_with_this();
            let moved = self.phases();
            drop(end);
            let waits = |thread: Option<thread::ScopedJoinHandle<'_, Result<Vec<Wait>, Error>>>| {
                let joined = thread.map(thread::ScopedJoinHandle::join);
                let panicked = |_| Error::Trial("a probe panicked".to_owned());
                joined.map_or(Ok(Ok(Vec::new())), |joined| joined.map_err(panicked))?
            };
            // An error of the application explains one of the migration.
            let (writes, reads) = (waits(writer)?, waits(reader)?);
            moved.map(|()| (writes, reads))
        })?;
        for (name, phase) in self.phases.clone() {
            for (who, waits) in [("writer", &writes), ("reader", &reads)] {
                let longest = self.is_running.then(|| longest(waits, phase));
                let part = format!("{name}.{who}");
                self.push("migration_wait_ms", &part, longest);
            }
        }
        let inserted = self.application.inserted() as f64;
        self.push("migration_rows", "inserted meanwhile", Some(inserted));
        Ok(())
    }

    fn phases(&mut self) -> Result<(), Error> {
        for phase in &(self.particulars.phases)(&self.way)? {
            self.phase(phase)?;
            if phase.name == "backfill" {
                self.check_keys()?;
            }
        }
        Ok(())
    }

    fn phase(&mut self, phase: &Phase) -> Result<(), Error> {
        let database = self.place.database;
        let begin = Begin {
            io: database.io(),
            server_cpu_s: host::cpu_s(&database.processes()),
            clock: Clock::start(),
            at: Instant::now(),
        };
        self.application.release();
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    // A table that is locked has its size a moment later.
                    let _ = self.size();
                    sleep(SIZE_PAUSE);
                }
            });
            let _over = SetOnDrop(&is_over);
            phase.steps.iter().try_for_each(|step| self.step(step))
        })?;
        self.end(phase.name, begin)
    }

    /// Samples a phase. What it left in the log and in the cache is written before its bytes are counted, and takes no time of it.
    fn end(&mut self, name: &'static str, mut begin: Begin) -> Result<(), Error> {
        let database = self.place.database;
        let spent = begin.clock.lap();
        let server_cpu_s = host::cpu_s(&database.processes());
        self.phases.push((name, (begin.at, Instant::now())));
        if self.is_running {
            self.application.hold()?;
        }
        self.size()?;
        database.quiesce()?;
        let io = database.io() - begin.io;
        self.push("migration_wall_s", name, Some(spent.wall_s));
        let cpu_s = match database.processes().is_empty() {
            true => Some(spent.cpu_s),
            false => server_cpu_s
                .zip(begin.server_cpu_s)
                .map(|(now, before)| now - before + spent.cpu_s),
        };
        self.push("migration_cpu_s", name, cpu_s);
        let bytes = |written: Option<u64>| written.map(|bytes| bytes as f64);
        let total = bytes(io.total().written_bytes);
        self.push("migration_written_bytes", name, total);
        for (file, io) in &io.files {
            let part = format!("{name}.{file}");
            self.push("migration_written_bytes", &part, bytes(io.written_bytes));
        }
        Ok(())
    }

    fn step(&self, step: &Step) -> Result<(), Error> {
        let open = || {
            let first = self.application.keyed.first();
            let table = first.map_or(self.place.table, |keyed| &keyed.table);
            let mut writer = self.place.database.writer(table, &[], Retry::default())?;
            if let Some(sql) = self.particulars.lock_wait {
                run_once(writer.as_mut(), sql)?;
            }
            Ok::<_, Error>(writer)
        };
        match step {
            Step::Each(statements) => {
                let mut writer = open()?;
                for sql in statements {
                    self.alone(writer.as_mut(), sql)?;
                }
                Ok(())
            }
            Step::Together(statements) => {
                let mut writer = open()?;
                writer.begin()?;
                for sql in statements {
                    run_once(writer.as_mut(), sql)?;
                }
                writer.commit()?;
                self.size()?;
                writer.checkpoint_if_due()?;
                Ok(())
            }
            Step::Backfill => self.backfill(),
            Step::WriteBoth => self.application.go_to(Stage::Both, self.is_running),
            Step::WriteNew => self.application.go_to(Stage::New, self.is_running),
        }
    }

    /// Runs a statement in a transaction of its own.
    fn alone(&self, writer: &mut dyn Writer, sql: &str) -> Result<(), Error> {
        if !self.particulars.begins_each {
            return run_once(writer, sql);
        }
        writer.begin()?;
        run_once(writer, sql)?;
        writer.commit()?;
        writer.checkpoint_if_due()?;
        Ok(())
    }

    /// Gives the rows that were inserted without it their new key, in transactions of some rows, in the order in which the table
    /// stores them.
    fn backfill(&self) -> Result<(), Error> {
        let Place {
            database, setup, ..
        } = self.place;
        let root = self.way.root();
        let mut writer = database.writer(&root.table.name, &[], Retry::default())?;
        let mut statements = Vec::new();
        let mut rest = Vec::new();
        for moved in &self.way.moved {
            let quoted = |name: &str| database.quoted(name);
            let (table, old, next) = (
                quoted(&moved.table.name),
                quoted(&moved.old),
                quoted(&moved.next),
            );
            let is_found = moved.table.name == root.table.name
                || database.finds_by_index(&moved.table.name, std::slice::from_ref(&moved.old))?;
            if is_found {
                let sql = format!("UPDATE {table} SET {next} = ? WHERE {old} = ?");
                statements.push(writer.prepare(&sql)?);
                continue;
            }
            // Without an index each row of the parent would read the whole child.
            let (parent, parent_old, parent_next) = (
                quoted(&root.table.name),
                quoted(&root.old),
                quoted(&root.next),
            );
            rest.push(format!(
                "UPDATE {table} SET {next} = (SELECT {parent_next} FROM {parent} WHERE {parent}.{parent_old} = {table}.{old}) \
                 WHERE {next} IS NULL"
            ));
        }
        let order = self.stored_order();
        for rows in order.chunks(setup.rows_per_transaction as usize) {
            writer.begin()?;
            for &row in rows {
                let (old, new) = self.application.keys(row);
                let batch = Batch {
                    columns: vec![Column::Any(vec![new]), Column::Any(vec![old])],
                };
                for &statement in &statements {
                    writer.run(statement, &batch, 0)?;
                }
            }
            writer.commit()?;
            writer.checkpoint_if_due()?;
        }
        for sql in rest {
            self.alone(writer.as_mut(), &sql)?;
        }
        Ok(())
    }

    /// The rows in the order in which the table stores them.
    fn stored_order(&self) -> Vec<usize> {
        let mut rows: Vec<usize> = (0..self.application.count()).collect();
        if self.particulars.is_stored_by_key || self.way.root().table.is_without_rowid {
            rows.sort_by_cached_key(|&row| match self.application.keys(row).0 {
                Value::Integer(key) => (key as u64 ^ 1 << 63).to_be_bytes().to_vec(),
                Value::Text(key) => key.as_bytes().to_vec(),
                Value::Blob(key) => key.to_vec(),
                Value::Null | Value::Real(_) => Vec::new(),
            });
        }
        rows
    }

    /// Looks up rows by both keys, and for rows without the new one.
    fn check_keys(&self) -> Result<(), Error> {
        let database = self.place.database;
        let quoted = |name: &str| database.quoted(name);
        let none = Batch {
            columns: Vec::new(),
        };
        for moved in &self.way.moved {
            let (table, next) = (quoted(&moved.table.name), quoted(&moved.next));
            let sql = format!("SELECT 1 FROM {table} WHERE {next} IS NULL");
            let missing = database.reader(&sql)?.query(&none, 0)?;
            if missing > 0 && moved.is_not_null() {
                return Err(Error::Trial(format!(
                    "{missing} rows of `{}` have no new key after the backfill",
                    moved.table.name
                )));
            }
        }
        let root = self.way.root();
        let (table, old, next) = (
            quoted(&root.table.name),
            quoted(&root.old),
            quoted(&root.next),
        );
        let sql = format!("SELECT 1 FROM {table} WHERE {old} = ? AND {next} = ?");
        let mut reader = database.reader(&sql)?;
        let rows = self.place.setup.rows as usize;
        for row in (0..rows).step_by(rows.div_ceil(ROWS_CHECKED)) {
            let (old, new) = self.application.keys(row);
            let batch = Batch {
                columns: vec![Column::Any(vec![old]), Column::Any(vec![new])],
            };
            if reader.query(&batch, 0)? != 1 {
                return Err(Error::Trial(format!(
                    "row {row} has another new key than the one that it was given"
                )));
            }
        }
        Ok(())
    }
}

/// Prepares a statement and runs it.
fn run_once(writer: &mut dyn Writer, sql: &str) -> Result<(), Error> {
    let statement = writer.prepare(sql)?;
    let none = Batch {
        columns: Vec::new(),
    };
    writer.run(statement, &none, 0)?;
    Ok(())
}

/// The longest wait within a phase, in milliseconds.
fn longest(waits: &[Wait], (began, ended): Wait) -> f64 {
    let within = waits.iter().map(|(due, done)| {
        let (from, until) = ((*due).max(began), (*done).min(ended));
        until.saturating_duration_since(from)
    });
    within.max().unwrap_or_default().as_secs_f64() * 1e3
}
