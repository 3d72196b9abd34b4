//! Inserts the rows of the measured table: they are generated, sorted, inserted and committed, each phase timed apart.

use super::{
    arrivals::{Latencies, Schedule},
    group::{Group, Together},
    order::{self, Order, Stretch},
    rows::Kept,
    sampler::Sampler,
};
use crate::{
    clock::{Clock, Phase, Phases},
    error::Error,
    experiment::factors::Setup,
    generate::Presort,
    results::Sample,
};
use inorder_engine::{Batch, Database, Value, Writer};
use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, Ordering},
};
use std::time::Instant;

/// Rows made at once where transactions are small: enough that one clock read per batch costs next to nothing.
const ROWS_MADE_TOGETHER: u64 = 8192;
/// Transactions smaller than this share clock reads: one in so many is split into phases.
const ROWS_TO_TIME_EACH: u64 = 256;

/// The state shared by the writers.
struct Shared<'a> {
    /// One for all writers, or one for each.
    makers: Vec<Group>,
    kept: Kept,
    order: Option<Order>,
    rows_made: u64,
    sampler: Sampler<'a>,
    /// If rows arrive at a fixed rate.
    latencies: Option<Latencies>,
}

/// The rows that are kept for later checks.
pub struct Watched {
    /// A sample of their keys.
    pub kept: Kept,
    /// The order of the keys, if requested.
    pub order: Option<Order>,
}

/// Inserts the rows of the measured table with the setup's writers. Returns a sample of its keys, the samples of the
/// growth probes, and the makers.
///
/// # Errors
/// The first writer's error; the others stop.
pub fn insert_rows(
    database: &dyn Database,
    table: &str,
    setup: &Setup,
    makers: Vec<Group>,
    watched: Watched,
    sampler: Sampler<'_>,
) -> Result<(Batch, Vec<Sample>, Vec<Group>), Error> {
    let mut writers = Vec::new();
    for _ in 0..setup.writers {
        writers.push(makers[0].writer(database, table)?);
    }
    let shared = Mutex::new(Shared {
        makers,
        kept: watched.kept,
        order: watched.order,
        rows_made: 0,
        sampler,
        latencies: None,
    });
    let stop = AtomicBool::new(false);
    lock(&shared).sampler.start(database);
    let schedule = Schedule::start(setup);
    lock(&shared).latencies = schedule.map(Latencies::new).transpose()?;
    write_all(&mut writers, database, setup, &shared, &stop)?;
    drop(writers);
    let shared = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut samples = shared.sampler.finish(database)?;
    let latencies = shared.latencies.iter();
    samples.extend(latencies.flat_map(|latencies| latencies.samples(setup.rows)));
    let inversions = shared.order.iter().flat_map(Order::inversions);
    samples.extend(inversions.map(|(part, count)| Sample {
        probe: "inversions".to_owned(),
        part: part.to_owned(),
        rows: setup.rows,
        value: count.map(|count| count as f64),
    }));
    Ok((shared.kept.into_batch(), samples, shared.makers))
}

/// Runs the writers, each but a lone one in a thread of its own, until no rows are left.
fn write_all(
    writers: &mut [Box<dyn Writer>],
    database: &dyn Database,
    setup: &Setup,
    shared: &Mutex<Shared<'_>>,
    stop: &AtomicBool,
) -> Result<(), Error> {
    if let [writer] = writers {
        return work(0, writer.as_mut(), database, setup, shared, stop);
    }
    std::thread::scope(|scope| {
        let threads: Vec<_> = writers
            .iter_mut()
            .enumerate()
            .map(|(number, writer)| {
                scope.spawn(move || {
                    let done = work(number, writer.as_mut(), database, setup, shared, stop);
                    if done.is_err() {
                        stop.store(true, Ordering::Relaxed);
                    }
                    done
                })
            })
            .collect();
        let results: Vec<Result<(), Error>> = threads
            .into_iter()
            .map(|t| {
                t.join()
                    .unwrap_or_else(|_| Err(Error::Trial("a writer panicked".to_owned())))
            })
            .collect();
        results.into_iter().collect()
    })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Rows made (and sorted) together. Transactions may reach over a batch's edges, but where rows of
/// one parent are to share a transaction, several writers must get whole transactions.
fn rows_together(setup: &Setup) -> u64 {
    let unit = setup.rows_per_transaction;
    if setup.arriving_rows_per_s > 0 {
        return unit;
    }
    match (setup.presort, setup.writers) {
        (Presort::None, 1) if unit < ROWS_MADE_TOGETHER => ROWS_MADE_TOGETHER / unit * unit,
        (Presort::None, _) => unit,
        (_, _) => setup.sort_rows(),
    }
}

/// One writer: takes rows until none are left.
fn work(
    number: usize,
    writer: &mut dyn Writer,
    database: &dyn Database,
    setup: &Setup,
    shared: &Mutex<Shared<'_>>,
    stop: &AtomicBool,
) -> Result<(), Error> {
    let mut transactions = Transactions::new(writer, database, setup, shared);
    let schedule = lock(shared).latencies.as_ref().map(Latencies::schedule);
    while !stop.load(Ordering::Relaxed) {
        let Some((batch, first_row)) = next_batch(number, setup, shared) else {
            return transactions.end();
        };
        let due = schedule.map(|schedule| schedule.wait(first_row));
        transactions
            .write(&batch)
            .map_err(|error| explain_together(error, &lock(shared).makers[0], &batch, first_row))?;
        if let Some(due) = due {
            transactions.end()?;
            let committed = Instant::now();
            if let Some(latencies) = &mut lock(shared).latencies {
                latencies.record(due, committed);
            }
        }
    }
    Ok(())
}

/// [`explain`] for the table that the error is about.
pub(super) fn explain_together(
    error: Error,
    group: &Group,
    rows: &Together,
    first_row: u64,
) -> Error {
    let Error::Engine(inorder_engine::Error::Row { table, .. }) = &error else {
        return error;
    };
    let (names, batch) = group.part(table, rows);
    // Rows of a further table are counted from the begin of these.
    let first_row = if group.is_member(table) { 0 } else { first_row };
    explain(error, &names, batch, first_row)
}

/// Adds the row's number and values to the error of a constraint: the engine names no column where a foreign key or a
/// type is violated.
pub(super) fn explain(error: Error, names: &[&str], batch: &Batch, first_row: u64) -> Error {
    match error {
        Error::Engine(inorder_engine::Error::Row {
            table,
            row,
            message,
        }) => {
            let columns = names.iter().zip(&batch.columns);
            let values: Vec<String> = columns
                .map(|(name, column)| format!("{name} = {}", shown(&column.value(row))))
                .collect();
            Error::Trial(format!(
                "row {} of table `{table}` violates a constraint: {message} ({}); \
                 change the column's recipe or the constraint",
                first_row + row as u64 + 1,
                values.join(", ")
            ))
        }
        other => other,
    }
}

/// Characters or bytes of a value that an error message shows.
const SHOWN_MAX: usize = 20;

/// A value as an error message shows it.
fn shown(value: &Value) -> String {
    let more = |length: usize| if length > SHOWN_MAX { "…" } else { "" };
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Integer(integer) => integer.to_string(),
        Value::Real(real) => real.to_string(),
        Value::Text(text) => {
            let begin: String = text.chars().take(SHOWN_MAX).collect();
            format!("'{begin}{}'", more(text.chars().count()))
        }
        Value::Blob(blob) => {
            let begin = blob.iter().take(SHOWN_MAX);
            let digits: String = begin.map(|byte| format!("{byte:02x}")).collect();
            format!("x'{digits}{}'", more(blob.len()))
        }
    }
}

/// Makes and sorts the next rows, both timed. Returns them with the number of the first.
fn next_batch(writer: usize, setup: &Setup, shared: &Mutex<Shared<'_>>) -> Option<(Together, u64)> {
    let mut guard = lock(shared);
    let shared = &mut *guard;
    let rows = rows_together(setup).min(setup.rows - shared.rows_made);
    if rows == 0 {
        return None;
    }
    let first_row = shared.rows_made;
    shared.rows_made += rows;
    let mut clock = Clock::start();
    let own = writer % shared.makers.len();
    let maker = &mut shared.makers[own];
    let mut batch = maker.make(rows as usize);
    shared.sampler.phases.add(Phase::Generate, clock.lap());
    if let Some(order) = &mut shared.order {
        order.made(batch.root());
        clock.lap();
    }
    if setup.presort != Presort::None {
        maker.sort(&mut batch, setup.presort);
        shared.sampler.phases.add(Phase::Sort, clock.lap());
    }
    maker.make_members(&mut batch);
    shared.sampler.phases.add(Phase::Generate, clock.lap());
    shared.kept.look(batch.root());
    for batch in batch.batches() {
        shared.sampler.count_user_bytes(batch);
    }
    Some((batch, first_row))
}

/// Cuts batches into transactions, which may reach over their edges.
struct Transactions<'a, 's> {
    writer: &'a mut dyn Writer,
    database: &'a dyn Database,
    shared: &'a Mutex<Shared<'s>>,
    rows_max: u64,
    /// One transaction in this many is split into phases.
    stride: u64,
    begun: u64,
    rows_open: u64,
    /// The columns of keys, if their order is checked, and the open keys.
    key_columns: Option<Vec<usize>>,
    open: Option<Stretch>,
    retries_told: u64,
    /// Time since phases were last passed to the sampler.
    since: Clock,
    /// The time of the transactions that were split since then.
    split: Phases,
}

impl<'a, 's> Transactions<'a, 's> {
    fn new(
        writer: &'a mut dyn Writer,
        database: &'a dyn Database,
        setup: &Setup,
        shared: &'a Mutex<Shared<'s>>,
    ) -> Self {
        Transactions {
            writer,
            database,
            shared,
            rows_max: setup.rows_per_transaction,
            stride: (ROWS_TO_TIME_EACH / setup.rows_per_transaction).max(1),
            begun: 0,
            rows_open: 0,
            key_columns: lock(shared).order.as_ref().map(Order::key_columns),
            open: None,
            retries_told: 0,
            since: Clock::start(),
            split: Phases::default(),
        }
    }

    /// Writes a batch; transactions that fill up are committed.
    fn write(&mut self, together: &Together) -> Result<(), Error> {
        self.since = Clock::start();
        let batch = together.root();
        let mut row = 0;
        while row < together.rows() {
            let until = together
                .rows()
                .min(row + (self.rows_max - self.rows_open) as usize);
            let mut clock = self.begun.is_multiple_of(self.stride).then(Clock::start);
            if self.rows_open == 0 {
                self.writer.begin()?;
            }
            together.insert(self.writer, row..until)?;
            self.split.lap(Phase::Insert, clock.as_mut());
            if let Some(key_columns) = &self.key_columns {
                order::append(&mut self.open, Stretch::of(batch, key_columns, row..until));
            }
            self.rows_open += (until - row) as u64;
            row = until;
            if self.rows_open == self.rows_max {
                self.commit(clock)?;
            }
        }
        self.tell();
        Ok(())
    }

    /// Commits what is open, and lets the sampler look where one is due.
    fn commit(&mut self, mut clock: Option<Clock>) -> Result<(), Error> {
        self.writer.commit()?;
        self.split.lap(Phase::Commit, clock.as_mut());
        self.writer.checkpoint_if_due()?;
        self.split.lap(Phase::Checkpoint, clock.as_mut());
        self.begun += 1;
        let rows = std::mem::take(&mut self.rows_open);
        let open = self.open.take();
        let is_due = {
            let mut shared = lock(self.shared);
            if let Some(order) = &mut shared.order {
                order.committed(open);
            }
            shared.sampler.committed(rows)
        };
        if is_due {
            self.tell();
            let mut shared = lock(self.shared);
            match shared.latencies {
                // Rows go on to be due while a sample is taken.
                Some(_) => shared.sampler.report(),
                None => shared.sampler.sample(self.database),
            }
            drop(shared);
            self.since = Clock::start();
        }
        Ok(())
    }

    /// Reports to the sampler the time since the last report, in the proportions of the split.
    fn tell(&mut self) {
        let spent = self.since.lap();
        let split = std::mem::take(&mut self.split);
        let retries = self.writer.retries();
        let mut shared = lock(self.shared);
        shared.sampler.phases.add_split(&split, spent);
        shared.sampler.retries += retries - self.retries_told;
        self.retries_told = retries;
    }

    /// Commits the last, smaller transaction.
    fn end(&mut self) -> Result<(), Error> {
        if self.rows_open > 0 {
            self.since = Clock::start();
            self.commit(Some(Clock::start()))?;
            self.tell();
        }
        Ok(())
    }
}
