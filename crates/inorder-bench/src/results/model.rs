//! A run as data: its description, experiments, cells, trials and samples.

use crate::experiment::Overrides;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One run of `inorder bench`: everything a report, a comparison or a rerun needs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The origin of the run.
    pub meta: Meta,
    /// The experiments, in the order they were planned.
    pub experiments: Vec<Experiment>,
    /// The cells of all experiments.
    pub cells: Vec<Cell>,
    /// The trials of all cells, in the order they were planned to run.
    pub trials: Vec<Trial>,
}

/// The origin of a run: author, time and machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Meta {
    /// Version of inorder.
    pub inorder_version: String,
    /// Revision of the source it was built from, or "unknown".
    pub revision: String,
    /// Seed of the whole run.
    pub seed: u64,
    /// `quick` or `full`.
    pub scale: String,
    /// The command line's changes to the experiments.
    pub overrides: Overrides,
    /// The command line, without the program's name.
    pub command: Vec<String>,
    /// The start: seconds since 1970, UTC.
    pub started_unix_s: u64,
    /// When the last trial ended; `None` while trials are missing that no budget left out.
    pub finished_unix_s: Option<u64>,
    /// Seconds of the time budget that ended the run before its last trial; `None` where it ended otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_s: Option<u64>,
    /// The machine: name and value in reading order (CPU, cores, memory, kernel, filesystem, fsync
    /// latency, …).
    pub host: Vec<(String, String)>,
    /// The engines: name, version, compile options.
    pub engines: Vec<EngineRecord>,
    /// Engines that ran already: name and URL, without passwords.
    #[serde(default)]
    pub urls: Vec<(String, String)>,
}

/// An engine that took part.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EngineRecord {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The compiler and its options.
    pub compile_options: Vec<String>,
}

/// An experiment as it was planned.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// Its name: the file's, without `.toml`.
    pub name: String,
    /// A short title.
    pub title: String,
    /// The question in one sentence.
    pub question: String,
    /// The expectation before the first run.
    pub expect: String,
    /// Ids of the claims it answers.
    pub claims: Vec<String>,
    /// Names of the factors that vary, in file order.
    pub varied: Vec<String>,
    /// The levels of each varied factor, in file order.
    pub levels: Vec<Vec<String>>,
    /// The cell that ratios are taken against: its `id`.
    pub baseline: u64,
    /// The sentence that answers the question, with `{…}` where its numbers go; empty for the
    /// default sentence.
    pub answer: String,
    /// The text of the file; scale and overrides are the run's.
    pub toml: String,
    /// The data file its recipes read.
    pub data: Option<String>,
}

/// One combination of levels.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Unique in the run.
    pub id: u64,
    /// Name of the experiment.
    pub experiment: String,
    /// The varied levels, such as `uuid4, without-rowid`.
    pub label: String,
    /// Every factor's level, varied or fixed.
    pub levels: BTreeMap<String, String>,
    /// The baseline run a second time under another name: the difference is the noise floor.
    pub is_twin: bool,
}

/// The end of a trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Not run yet.
    #[default]
    Planned,
    /// Ran to its end and its rows were all there.
    Done,
    /// Failed: see `error`.
    Failed,
}

impl Status {
    /// The name that result files keep.
    pub const fn name(self) -> &'static str {
        match self {
            Status::Planned => "planned",
            Status::Done => "done",
            Status::Failed => "failed",
        }
    }

    /// The status with this name, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        [Status::Planned, Status::Done, Status::Failed]
            .into_iter()
            .find(|status| status.name() == name)
    }
}

/// One cell, run once, in its own process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Unique in the run; trials run in this order.
    pub id: u64,
    /// Its cell.
    pub cell: u64,
    /// Which repetition, from 0. Trials of one repetition share a seed and are compared in pairs.
    pub repetition: u32,
    /// Seed of keys and rows.
    pub seed: u64,
    /// The end.
    pub status: Status,
    /// Why it failed.
    pub error: Option<String>,
    /// The load of the machine during the trial.
    pub noise: Noise,
    /// The engine's settings as read back: name and value.
    pub settings: Vec<(String, String)>,
    /// Texts a trial found, such as a query plan: name and lines.
    pub texts: Vec<(String, String)>,
    /// Everything measured.
    pub samples: Vec<Sample>,
}

impl Trial {
    /// The same trial, not run yet.
    pub fn again(&self) -> Self {
        Trial {
            id: self.id,
            cell: self.cell,
            repetition: self.repetition,
            seed: self.seed,
            ..Trial::default()
        }
    }
}

/// The load of the machine during a trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// Share of the time in which some task waited for a CPU (pressure stall information), 0 to 1.
    pub cpu_pressure: Option<f64>,
    /// Share of CPU time taken by the hypervisor, 0 to 1.
    pub steal: Option<f64>,
    /// One-minute load average at the start, less this trial's own work, per core. Versions before 0.2 noted it.
    pub load_per_core: Option<f64>,
    /// Time runnable but not running, per time running (the scheduler's own count), 0 and up.
    pub wait_share: Option<f64>,
    /// Share of the CPU time that processes beside the trial and its servers took while it ran, 0 to 1.
    pub others_share: Option<f64>,
    /// Share of half seconds in which they took more than a quarter of the CPU time, 0 to 1.
    pub bursts_share: Option<f64>,
}

/// One measured quantity. Unobservable is `None`, never 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Id of the probe, such as `engine_written_bytes`; its unit ends the name.
    pub probe: String,
    /// Which part of it, such as `wal`, `insert`, `table:event`; empty for the whole.
    pub part: String,
    /// Rows of the measured table when it was taken.
    pub rows: u64,
    /// The value, in the probe's unit.
    pub value: Option<f64>,
}
