//! Samples the growth probes while the table grows.

use super::reference::Reference;
use crate::{
    clock::{Phase, Phases, Stopwatch},
    error::Error,
    host,
    results::Sample,
};
use inorder_engine::{Batch, Column, Database, Io, Value};
use std::time::Instant;

/// Samples taken while the table grows, at even steps of rows (at the commits nearest to them).
pub const SAMPLES_MAX: u64 = 40;

/// Counts committed rows, and takes a sample each time the table has grown by one step.
pub struct Sampler<'a> {
    /// Time spent by all writers.
    pub phases: Phases,
    /// Times a writer had to try again.
    pub retries: u64,
    on_progress: &'a mut (dyn FnMut(u64) + Send),
    step: u64,
    next: u64,
    rows: u64,
    user_bytes: u64,
    io_before: Io,
    process_before: host::ProcessIo,
    server_cpu_before_s: Option<f64>,
    watch: Stopwatch,
    reference: Option<Reference>,
    samples: Vec<Sample>,
}

impl<'a> Sampler<'a> {
    /// A sampler of a load of `rows` rows. `on_progress` receives the number of committed rows.
    pub fn new(
        rows: u64,
        reference: Option<Reference>,
        on_progress: &'a mut (dyn FnMut(u64) + Send),
    ) -> Self {
        let step = rows.div_ceil(SAMPLES_MAX);
        Sampler {
            phases: Phases::default(),
            retries: 0,
            on_progress,
            step,
            next: step,
            rows: 0,
            user_bytes: 0,
            io_before: Io::default(),
            process_before: host::ProcessIo::default(),
            server_cpu_before_s: None,
            watch: Stopwatch::start(Instant::now()),
            reference,
            samples: Vec::new(),
        }
    }

    /// Starts the clock and notes the counters.
    pub fn start(&mut self, database: &dyn Database) {
        self.refer();
        self.io_before = database.io();
        let processes = self.processes(database);
        self.process_before = host::process_io(&processes);
        self.server_cpu_before_s = host::cpu_s(&processes[1..]);
        self.watch = Stopwatch::start(Instant::now());
    }

    /// This process and those of a server.
    fn processes(&self, database: &dyn Database) -> Vec<u32> {
        let own = std::process::id();
        std::iter::once(own).chain(database.processes()).collect()
    }

    /// Counts the bytes of the values to be stored.
    pub fn count_user_bytes(&mut self, batch: &Batch) {
        self.user_bytes += batch.columns.iter().map(value_bytes).sum::<u64>();
    }

    /// Counts the rows of a commit. Returns whether a sample is due.
    pub fn committed(&mut self, rows: u64) -> bool {
        self.rows += rows;
        let is_due = self.rows >= self.next;
        if is_due {
            self.next = (self.rows / self.step + 1) * self.step;
        }
        is_due
    }

    /// Reports the number of committed rows.
    pub fn report(&mut self) {
        (self.on_progress)(self.rows);
    }

    /// Takes a sample. Sampling time is excluded from the measurement.
    pub fn sample(&mut self, database: &dyn Database) {
        let began = Instant::now();
        self.push("wall_s", "", Some(self.watch.seconds(began)));
        let own_s = self.phases.total().cpu_s;
        let servers = database.processes();
        if servers.is_empty() {
            self.push("cpu_s", "", Some(own_s).filter(|_| database.is_in_sight()));
        } else {
            let since_s = |now: Option<f64>| Some(now? - self.server_cpu_before_s?);
            let server_s = since_s(host::cpu_s(&servers));
            self.push("cpu_s", "", server_s.map(|server_s| server_s + own_s));
            self.push("cpu_s", "server", server_s);
        }
        for &phase in Phase::ALL {
            let spent = self.phases.of(phase);
            self.push("wall_s", phase.name(), Some(spent.wall_s));
            self.push("cpu_s", phase.name(), Some(spent.cpu_s));
        }
        self.sample_io(database);
        self.report();
        if self.reference.as_ref().is_some_and(Reference::is_due) {
            self.refer();
        }
        self.watch.pause(began, Instant::now());
    }

    /// Does the reference work, if the trial has it.
    fn refer(&mut self) {
        if let Some(reference) = &mut self.reference {
            let cpu_s = reference.cpu_s();
            self.push("reference_cpu_s", "load", cpu_s);
        }
    }

    /// The counters of bytes and calls.
    fn sample_io(&mut self, database: &dyn Database) {
        let io = database.io() - self.io_before.clone();
        let whole = [("", io.total())];
        for (part, file) in io.files.iter().chain(&whole) {
            self.push(
                "engine_written_bytes",
                part,
                file.written_bytes.map(|n| n as f64),
            );
            self.push("engine_read_bytes", part, file.read_bytes.map(|n| n as f64));
            self.push("engine_writes_calls", part, file.writes.map(|n| n as f64));
            self.push("engine_reads_calls", part, file.reads.map(|n| n as f64));
            self.push("engine_syncs_calls", part, file.syncs.map(|n| n as f64));
        }
        for (cause, count) in &io.causes {
            self.push_count("engine_causes", cause, *count);
        }
        let process = host::process_io(&self.processes(database));
        let is_in_sight = database.is_in_sight();
        let since = |now: Option<u64>, before: Option<u64>| {
            Some((now? - before?) as f64).filter(|_| is_in_sight)
        };
        let before = self.process_before;
        let written = since(process.written_bytes, before.written_bytes);
        self.push("process_written_bytes", "", written);
        let block = since(process.block_written_bytes, before.block_written_bytes);
        self.push("block_written_bytes", "", block);
        self.push_count("busy_retries", "", self.retries);
        self.push_count("user_bytes", "", self.user_bytes);
    }

    fn push_count(&mut self, probe: &str, part: &str, value: u64) {
        self.push(probe, part, Some(value as f64));
    }

    fn push(&mut self, probe: &str, part: &str, value: Option<f64>) {
        self.samples.push(Sample {
            probe: probe.to_owned(),
            part: part.to_owned(),
            rows: self.rows,
            value,
        });
    }

    /// Ends the load: writes the log into the database (a checkpoint) and counts its bytes. Its time isn't counted,
    /// because no transaction waits for it. Returns the samples.
    ///
    /// # Errors
    /// If the database can't be quiesced.
    pub fn finish(mut self, database: &dyn Database) -> Result<Vec<Sample>, Error> {
        if self.samples.last().is_none_or(|last| last.rows < self.rows) {
            self.sample(database);
        }
        self.refer();
        database.quiesce()?;
        self.sample_io(database);
        Ok(self.samples)
    }
}

/// Bytes of a column's values: 8 a number, the length of a text or blob, none for NULL.
fn value_bytes(column: &Column) -> u64 {
    match column {
        Column::Integers(values) => 8 * values.len() as u64,
        Column::Reals(values) => 8 * values.len() as u64,
        Column::Fixed { bytes, .. } => bytes.len() as u64,
        Column::Spans { spans, .. } => spans.iter().map(|(_, length)| u64::from(*length)).sum(),
        Column::Any(values) => values
            .iter()
            .map(|value| match value {
                Value::Null => 0,
                Value::Integer(_) | Value::Real(_) => 8,
                Value::Text(text) => text.len() as u64,
                Value::Blob(bytes) => bytes.len() as u64,
            })
            .sum(),
    }
}
