//! How long the trials of a plan are expected to take, what they write, and what they need on the disk.

use crate::{
    budget::Guess,
    error::Error,
    experiment::{Experiment, Recipe, Table, TableRows, factors::Setup},
    format,
    generate::Fill,
    plan::{Plan, setup_of},
    results::{Cell, Run, Status},
};
use inorder_key::{Encoding, KeyKind};
use inorder_predict::{Engine, Layout, Order, Question, SecondaryIndex, Values, Volume};
use std::{
    collections::BTreeMap,
    panic::resume_unwind,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

/// Bytes of a private server without tables.
const SERVER_BYTES: f64 = 200e6;
/// Smallest buffer pool of MariaDB that is simulated.
const POOL_BYTES_MIN: u64 = 32 << 20;
/// Bytes of a row in a data file, and how much smaller a compressed file is.
const FILE_ROW_BYTES: u64 = 60;
const COMPRESSION: u64 = 4;
/// Bytes of a value of a data file, of a title and of a name, and of an id in no known kind.
const TEXT_BYTES: u64 = 20;
/// Bytes of a row or an index entry beside its values.
const ROW_BYTES: u64 = 40;
/// A checkpoint that is never due.
const NEVER: u64 = 1 << 50;
/// Share of the size that the simulation of few rows may miss.
const RESERVE: f64 = 1.1;

/// What the trials of a plan take.
#[derive(Clone, Debug, Default)]
pub struct Footprint {
    /// Number of trials.
    pub trials: usize,
    /// Seconds of all trials.
    pub seconds: f64,
    /// Trials of earlier runs on which the seconds rest; 0: they are a guess.
    pub calibrated_by: usize,
    /// Bytes that all trials write.
    pub written_bytes: f64,
    /// The trial that needs most room on the disk: the bytes, and the label of its cell. Trials run one after the other, and each
    /// removes its database.
    pub largest: Option<(f64, String)>,
}

/// Estimates the trials of a plan. Runs that were made here before say how fast this machine is. Trials on servers that run
/// already, whose names are `remote`, need no room here.
///
/// # Errors
/// If a factor doesn't take a level of the plan.
pub fn footprint(
    experiments: &[Experiment],
    plan: &Plan,
    remote: &[String],
    earlier: &[Run],
) -> Result<Footprint, Error> {
    let rates = Rates::of(earlier)?;
    let mut found = Footprint {
        trials: plan.trials.len(),
        calibrated_by: rates.trials,
        ..Footprint::default()
    };
    let mut asked = Vec::new();
    for cell in &plan.cells {
        if let Some(experiment) = experiments.iter().find(|e| e.name == cell.experiment) {
            let setup = setup_of(&cell.levels)?;
            asked.push((cell, experiment, questions(experiment, &setup), setup));
        }
    }
    let simulations = Simulations::of(asked.iter().flat_map(|(_, _, questions, _)| questions));
    for (cell, experiment, questions, setup) in &asked {
        let trials = plan.trials.iter().filter(|trial| trial.cell == cell.id);
        let trials = trials.count() as f64;
        let guess = Guess::of(setup, &experiment.reads);
        found.seconds += trials * (guess.load_s * rates.rate(&setup.engine) + guess.other_s);
        let volume = sum(questions, |question| simulations.volume(question));
        found.written_bytes += trials * volume.written_bytes;
        if !remote.contains(&setup.engine) && trials > 0.0 {
            found.add_disk(disk_bytes(setup, volume.size_bytes), cell);
        }
    }
    Ok(found)
}

/// The volumes of tables that differ, each simulated once.
struct Simulations<'q>(Vec<(&'q Question, Volume)>);

impl<'q> Simulations<'q> {
    /// Simulates on all cores. The largest tables take longest, and come first.
    fn of(questions: impl Iterator<Item = &'q Question>) -> Self {
        let mut different: Vec<&Question> = Vec::new();
        for question in questions {
            if !different.contains(&question) {
                different.push(question);
            }
        }
        different.sort_by_key(|question| std::cmp::Reverse(question.rows));
        let next = AtomicUsize::new(0);
        let simulate = || {
            let numbers = std::iter::repeat_with(|| next.fetch_add(1, Relaxed));
            let questions = numbers.map_while(|number| different.get(number).copied());
            let volumes = questions.map(|question| (question, simulated(question)));
            volumes.collect::<Vec<_>>()
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let volumes = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..threads).map(|_| scope.spawn(simulate)).collect();
            let joined = threads.into_iter().map(|thread| thread.join());
            joined
                .flat_map(|volumes| volumes.unwrap_or_else(|panic| resume_unwind(panic)))
                .collect()
        });
        Simulations(volumes)
    }

    fn volume(&self, question: &Question) -> Volume {
        let found = self.0.iter().find(|(simulated, _)| *simulated == question);
        found.map_or_else(|| guessed(question), |(_, volume)| *volume)
    }
}

/// Checks that a folder has room for the largest trial of a plan. Only a plan that might not fit is simulated.
///
/// # Errors
/// If it has not, and those of [`footprint`].
pub fn check_room(
    experiments: &[Experiment],
    plan: &Plan,
    remote: &[String],
    folder: &Path,
) -> Result<(), Error> {
    let mut bound = Footprint::default();
    for cell in &plan.cells {
        let setup = setup_of(&cell.levels)?;
        let experiment = experiments.iter().find(|e| e.name == cell.experiment);
        if let Some(experiment) = experiment.filter(|_| !remote.contains(&setup.engine)) {
            let size = sum(&questions(experiment, &setup), guessed).size_bytes;
            bound.add_disk(disk_bytes(&setup, size), cell);
        }
    }
    match bound.fits(folder) {
        Ok(()) => Ok(()),
        Err(_) => footprint(experiments, plan, remote, &[])?.fits(folder),
    }
}

impl Footprint {
    fn add_disk(&mut self, bytes: f64, cell: &Cell) {
        if self.largest.as_ref().is_none_or(|(most, _)| bytes > *most) {
            self.largest = Some((bytes, cell.label.clone()));
        }
    }

    /// The estimate in a sentence.
    pub fn in_words(&self) -> String {
        let basis = match self.calibrated_by {
            0 => "a guess: no run here yet".to_owned(),
            trials => format!(
                "at the speed of {} of earlier runs",
                format::count(trials, "trial")
            ),
        };
        let mut words = format!(
            "expected: {}, {} ({basis}), {} written",
            format::count(self.trials, "trial"),
            format::duration(self.seconds.ceil() as u64),
            format::quantity(self.written_bytes, "bytes"),
        );
        if let Some((bytes, label)) = &self.largest {
            let bytes = format::quantity(*bytes, "bytes");
            words += &format!("; at most {bytes} on the disk at a time ({label})");
        }
        words
    }

    /// Checks that a folder has room for the largest trial. A folder whose disk can't be asked has.
    ///
    /// # Errors
    /// If it has not, with both numbers.
    pub fn fits(&self, folder: &Path) -> Result<(), Error> {
        let (Some((needed, label)), Some(free)) = (&self.largest, free_bytes(folder)) else {
            return Ok(());
        };
        if *needed <= free {
            return Ok(());
        }
        Err(Error::Usage(format!(
            "the disk of {} has {} free, and the trial `{label}` needs about {}: choose another folder with --dir or fewer rows, or \
             run it anyway with --force",
            folder.display(),
            format::quantity(free, "bytes"),
            format::quantity(*needed, "bytes"),
        )))
    }
}

/// Free bytes of the disk of a folder that exists, or of the nearest one above it.
fn free_bytes(folder: &Path) -> Option<f64> {
    let folder = std::path::absolute(folder).ok()?;
    let there = folder.ancestors().find(|path| path.exists())?;
    let found = rustix::fs::statvfs(there).ok().filter(|_| there.is_dir())?;
    Some(found.f_bavail as f64 * found.f_frsize as f64)
}

/// How much longer a load takes here than guessed, by engine.
struct Rates {
    by_engine: BTreeMap<String, (f64, f64)>,
    trials: usize,
}

impl Rates {
    fn of(runs: &[Run]) -> Result<Self, Error> {
        let mut rates = Rates {
            by_engine: BTreeMap::new(),
            trials: 0,
        };
        for run in runs {
            for experiment in &run.experiments {
                let asked = run.meta.parsed(experiment)?;
                for cell in run.cells_of(&experiment.name) {
                    let setup = setup_of(&cell.levels)?;
                    let guess = Guess::of(&setup, &asked.reads).load_s;
                    let trials = run.trials.iter().filter(|trial| trial.cell == cell.id);
                    let done = trials.filter(|trial| trial.status == Status::Done);
                    for seconds in done.filter_map(|trial| trial.last("wall_s", "")) {
                        let entry = rates.by_engine.entry(setup.engine.clone()).or_default();
                        *entry = (entry.0 + seconds, entry.1 + guess);
                        rates.trials += 1;
                    }
                }
            }
        }
        Ok(rates)
    }

    fn rate(&self, engine: &str) -> f64 {
        match self.by_engine.get(engine) {
            Some((measured, guessed)) if *guessed > 0.0 => measured / guessed,
            _ => 1.0,
        }
    }
}

/// Bytes on the disk while a trial runs. Its first repetition has each table twice while it is rewritten without free space,
/// SQLite a third time in the WAL.
fn disk_bytes(setup: &Setup, size: f64) -> f64 {
    let size = size * RESERVE;
    let log =
        f64::from(setup.settings.checkpoint_pages) * f64::from(setup.settings.page_size_bytes);
    match setup.engine.as_str() {
        "sqlite" => 3.0 * size + log,
        "galera" => 3.0 * (2.0 * size + SERVER_BYTES + log),
        "postgres-sharded" => {
            2.0 * size + (1.0 + f64::from(setup.settings.shards)) * (SERVER_BYTES + log)
        }
        _ => 2.0 * size + SERVER_BYTES + log,
    }
}

/// The questions about the tables of a trial.
fn questions(experiment: &Experiment, setup: &Setup) -> Vec<Question> {
    if experiment.tables.is_empty() {
        let mut question = question(setup, setup.rows_at_end());
        question.payload_bytes = setup.payload_bytes;
        question.add_random_indexes(setup.indexes);
        return vec![question];
    }
    let of_table = |table: &Table| {
        let rows = match (table.is_measured, &table.belongs_to, table.rows) {
            (true, Some((_, per_row)), _) => setup.rows_at_end() * per_row,
            (true, None, _) | (_, _, TableRows::Factor) => setup.rows_at_end(),
            (false, _, TableRows::Fixed(rows)) => rows,
            (false, _, TableRows::File) => file_rows(experiment),
        };
        let mut question = question_of_table(table, setup, rows);
        if !table.is_measured {
            question.rows_per_transaction = rows.max(1);
        }
        question
    };
    experiment.tables.iter().map(of_table).collect()
}

/// What a trial writes, and the size of its tables, each by `of`.
fn sum(questions: &[Question], of: impl Fn(&Question) -> Volume) -> Volume {
    let mut sum = Volume {
        written_bytes: 0.0,
        size_bytes: 0.0,
    };
    for volume in questions.iter().map(of) {
        sum.written_bytes += volume.written_bytes;
        sum.size_bytes += volume.size_bytes;
    }
    sum
}

/// About the rows of the data file of an experiment.
fn file_rows(experiment: &Experiment) -> u64 {
    let file = experiment.data.as_deref().unwrap_or_default();
    let bytes = std::fs::metadata(file).map_or(0, |found| found.len());
    let is_compressed = file.ends_with(".gz");
    bytes * if is_compressed { COMPRESSION } else { 1 } / FILE_ROW_BYTES
}

/// The simulated volume of a table, or the guessed one if it is not simulated.
fn simulated(question: &Question) -> Volume {
    inorder_predict::predict_volume(question).unwrap_or_else(|_| guessed(question))
}

/// The volume of a table whose pages are half full, written twice: more than its size.
fn guessed(question: &Question) -> Volume {
    let columns = question.columns.iter().map(|values| values.bytes() + 1);
    let row = question.key_bytes() + question.payload_bytes + columns.sum::<u64>() + ROW_BYTES;
    let entry = question.key_bytes() + ROW_BYTES;
    let entries = (question.indexes.len() as u64 + 1) * entry;
    let size_bytes = question.rows as f64 * (row + entries) as f64 * 2.0;
    Volume {
        written_bytes: 2.0 * size_bytes,
        size_bytes,
    }
}

/// The question about a table of so many rows with the setup's key, without further columns.
fn question(setup: &Setup, rows: u64) -> Question {
    let engine = match setup.engine.as_str() {
        "sqlite" => Engine::Sqlite,
        "mariadb" | "galera" => Engine::Mariadb,
        _ => Engine::Postgres,
    };
    let mut question = Question::new(engine, setup.key, rows.max(1));
    question.encoding = setup.encoding();
    let layouts = Layout::ALL.iter();
    if let Some(layout) = layouts
        .copied()
        .find(|layout| layout.name() == setup.layout)
    {
        question.layout = layout;
    }
    question.payload_bytes = 0;
    question.rows_per_transaction = setup.rows_per_transaction.max(1);
    question.cache_bytes = setup.settings.cache_kib << 10;
    if engine != Engine::Postgres {
        question.page_bytes = setup.settings.page_size_bytes;
    }
    if engine == Engine::Mariadb {
        question.cache_bytes = question.cache_bytes.max(POOL_BYTES_MIN);
    }
    question.checkpoint_bytes = match setup.settings.checkpoint_pages {
        0 => NEVER,
        pages => u64::from(pages) * u64::from(setup.settings.page_size_bytes),
    };
    question
}

/// The question about a table of the experiment's own. Its indexes are counted in its DDL.
fn question_of_table(table: &Table, setup: &Setup, rows: u64) -> Question {
    let mut question = question(setup, rows);
    let has_key = table
        .columns
        .iter()
        .any(|(_, recipe)| matches!(recipe, Recipe::Key));
    if !has_key {
        (question.key, question.encoding) = (KeyKind::IntSeq, Encoding::Integer);
    }
    let others = table.columns.iter();
    let others = others.filter(|(_, recipe)| !matches!(recipe, Recipe::Key));
    question.columns = others.map(|(_, recipe)| values(recipe, setup)).collect();
    let sql = table
        .create
        .of(&setup.engine, &setup.layout)
        .unwrap_or_default();
    let words = sql.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let is_index = |word: &&str| word.eq_ignore_ascii_case("INDEX");
    for n in 1..=words.filter(is_index).count() {
        let name = format!("index {n}");
        let index = SecondaryIndex::new(name, vec![Values::Integer], Order::Random);
        question.indexes.push(index);
    }
    question
}

/// About what a recipe makes.
fn values(recipe: &Recipe, setup: &Setup) -> Values {
    let key = |kind: KeyKind, encoding: Encoding| match kind.width_bytes(encoding) {
        Some(bytes) => Values::Fixed(bytes as u64),
        None => Values::Integer,
    };
    match recipe {
        Recipe::Key => key(setup.key, setup.encoding()),
        Recipe::KeyOf { kind, encoding } => key(*kind, encoding.unwrap_or(kind.encodings()[0])),
        Recipe::Nullable { share, recipe } => match values(recipe, setup) {
            Values::Integer => Values::Fixed((8.0 * (1.0 - share)) as u64),
            Values::Fixed(bytes) => Values::Fixed((bytes as f64 * (1.0 - share)) as u64),
            Values::Bytes(bytes) => Values::Bytes((bytes as f64 * (1.0 - share)) as u64),
        },
        Recipe::Payload { .. } => Values::Bytes(setup.payload_bytes),
        Recipe::Made(fill) => made(fill),
        Recipe::File { .. } => Values::Bytes(TEXT_BYTES),
        // The key of another table, as often as not.
        Recipe::Pick { .. } | Recipe::Each { .. } => key(setup.key, setup.encoding()),
    }
}

fn made(fill: &Fill) -> Values {
    match fill {
        Fill::Sequence { .. } | Fill::RandomInt { .. } | Fill::RandomReal { .. } => Values::Integer,
        Fill::RandomText {
            length_min,
            length_max,
        }
        | Fill::RandomBlob {
            length_min,
            length_max,
        } => Values::Bytes((length_min + length_max) as u64 / 2),
        Fill::Constant(inorder_engine::Value::Text(text)) => Values::Bytes(text.len() as u64),
        Fill::Constant(inorder_engine::Value::Blob(bytes)) => Values::Bytes(bytes.len() as u64),
        Fill::Constant(_) => Values::Integer,
        _ => Values::Bytes(TEXT_BYTES),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        engines::Engines,
        experiment::{Overrides, Scale},
        experiments,
        plan::plan,
        trial::{self, TrialSpec},
    };

    fn keys(set: &[(&str, &str)]) -> Experiment {
        let set = set.iter();
        let overrides = Overrides {
            set: set
                .map(|(name, level)| ((*name).to_owned(), vec![(*level).to_owned()]))
                .collect(),
            repetitions: Some(1),
            ..Overrides::default()
        };
        let names = ["keys".to_owned()];
        experiments::built_in(&names, Scale::Quick, &overrides)
            .unwrap()
            .remove(0)
    }

    fn guessed_size(experiment: &Experiment, setup: &Setup) -> f64 {
        sum(&questions(experiment, setup), guessed).size_bytes
    }

    #[test]
    fn a_trial_has_about_the_footprint_that_was_expected() {
        for key in ["uuid4", "uuid7"] {
            let set = [
                ("key", key),
                ("layout", "rowid"),
                ("rows", "20000"),
                ("indexes", "1"),
            ];
            let experiment = keys(&set);
            let planned = plan(std::slice::from_ref(&experiment), 1, &Engines::default()).unwrap();
            let setup = setup_of(&planned.cells[0].levels).unwrap();
            let expected = sum(&questions(&experiment, &setup), simulated);
            assert!(guessed_size(&experiment, &setup) > expected.size_bytes);
            let folder = tempfile::tempdir().unwrap();
            let spec = TrialSpec {
                file: "keys.toml".to_owned(),
                text: experiment.text.clone(),
                scale: Scale::Quick,
                overrides: Overrides::default(),
                levels: planned.cells[0].levels.clone(),
                repetition: 1,
                seed: 1,
                folder: folder.path().to_owned(),
                is_rehearsal: true,
            };
            let outcome = trial::run(&spec, &Engines::default(), &mut |_| {}).unwrap();
            let last = |probe: &str| {
                let mut samples = outcome.samples.iter().rev();
                let found = samples.find(|sample| sample.probe == probe && sample.part.is_empty());
                found.and_then(|sample| sample.value).unwrap()
            };
            let size = expected.size_bytes / last("size_bytes");
            let written = expected.written_bytes / last("engine_written_bytes");
            assert!((size - 1.0).abs() < 0.05, "{key}: size {size}");
            assert!((written - 1.0).abs() < 0.10, "{key}: bytes {written}");
            // The file is a third of the room that the rewriting takes.
            let file = std::fs::read_dir(folder.path()).unwrap().flatten();
            let largest = file
                .map(|entry| entry.metadata().unwrap().len())
                .max()
                .unwrap();
            assert!(disk_bytes(&setup, expected.size_bytes) > 2.5 * largest as f64);
        }
    }

    #[test]
    fn a_disk_that_cannot_hold_a_trial_is_told() {
        let experiment = keys(&[
            ("key", "uuid7"),
            ("layout", "rowid"),
            ("rows", "1000000000"),
            ("payload_bytes", "10000"),
        ]);
        let planned = plan(std::slice::from_ref(&experiment), 1, &Engines::default()).unwrap();
        let found = footprint(std::slice::from_ref(&experiment), &planned, &[], &[]).unwrap();
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let error = found.fits(here).unwrap_err().to_string();
        assert!(
            error.contains("free") && error.contains("--force"),
            "{error}"
        );
        assert!(found.fits(Path::new("/dev/null/results")).is_ok());
        let room = check_room(std::slice::from_ref(&experiment), &planned, &[], here);
        let room = room.unwrap_err().to_string();
        assert!(room.contains("--force"), "{room}");
        assert!(found.in_words().contains("a guess"));
        let experiment = keys(&[("key", "uuid7"), ("layout", "rowid"), ("rows", "1000")]);
        let planned = plan(std::slice::from_ref(&experiment), 1, &Engines::default()).unwrap();
        let found = footprint(std::slice::from_ref(&experiment), &planned, &[], &[]).unwrap();
        assert!(found.fits(here).is_ok());
        assert!(check_room(std::slice::from_ref(&experiment), &planned, &[], here).is_ok());
        assert_eq!(found.trials, planned.trials.len());
        let none = footprint(&[experiment], &planned, &["sqlite".to_owned()], &[]).unwrap();
        assert_eq!(none.largest, None);
    }
}
