//! The plan of a run: cells x repetitions, shuffled in blocks from the seed. It opens
//! nothing and only asks which engines are installed.

use crate::{
    engines::Engines,
    error::Error,
    experiment::{
        Experiment, Levels, Recipe, canonical_level,
        factors::{FACTORS, Setup, factor},
        level,
    },
    generate::{Presort, Workload},
    results,
};
use inorder_engine::{Engine, TableShape};
use inorder_key::KeyKind;
use inorder_key::bulk::SplitMix64;
use std::collections::{BTreeMap, BTreeSet};

/// The factor whose default depends on the engine.
const ENCODING: &str = "encoding";

/// Most cells in one experiment: beyond it a plan is a mistake.
const CELLS_MAX: usize = 10_000;

/// The request for a plan.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The experiments as results keep them.
    pub experiments: Vec<results::Experiment>,
    /// Their cells.
    pub cells: Vec<results::Cell>,
    /// Their trials in the order they run.
    pub trials: Vec<results::Trial>,
    /// Combinations of levels that can't be: experiment, label, reason.
    pub impossible: Vec<(String, String, String)>,
}

/// Plans these experiments. Cells of a repetition run in random order, one repetition after the
/// other, so that a slow spell of the machine falls on all cells alike.
///
/// # Errors
/// If an experiment has no possible cell, its baseline isn't one, or it has too many.
pub fn plan(experiments: &[Experiment], seed: u64, engines: &Engines) -> Result<Plan, Error> {
    let mut plan = Plan::default();
    for experiment in experiments {
        plan_experiment(&mut plan, experiment, seed, engines)?;
    }
    Ok(plan)
}

impl Plan {
    /// Keeps only the cells that have one of the levels named for every factor named, and the
    /// baseline and its twin of the experiments that have such cells; the others are left out.
    ///
    /// # Errors
    /// An unknown factor, a level that no cell has, or no cell that has all of them.
    pub fn only(&mut self, wanted: &[(String, Vec<String>)]) -> Result<(), Error> {
        let mut by_factor: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (name, levels) in wanted {
            for level in levels {
                let level = self.planned_level(name, level)?;
                by_factor.entry(name).or_default().push(level);
            }
        }
        self.keep(|cell| {
            by_factor
                .iter()
                .all(|(name, levels)| levels.contains(&cell.levels[*name]))
        });
        if self.experiments.is_empty() {
            return Err(Error::Usage(
                "no cell has all the levels of --only; see the plan with --dry-run".to_owned(),
            ));
        }
        Ok(())
    }

    /// The plan of an earlier run: its trials in their order, without those that a time budget left out.
    pub fn of(run: &results::Run) -> Self {
        let is_left_out = |trial: &&results::Trial| {
            run.meta.budget_s.is_some() && trial.status == results::Status::Planned
        };
        let kept = run.trials.iter().filter(|trial| !is_left_out(trial));
        let trials: Vec<results::Trial> = kept.map(results::Trial::again).collect();
        let is_run = |cell: &&results::Cell| trials.iter().any(|trial| trial.cell == cell.id);
        let cells: Vec<results::Cell> = run.cells.iter().filter(is_run).cloned().collect();
        let has_cells = |experiment: &&results::Experiment| {
            cells.iter().any(|cell| cell.experiment == experiment.name)
        };
        Plan {
            experiments: run.experiments.iter().filter(has_cells).cloned().collect(),
            impossible: Vec::new(),
            cells,
            trials,
        }
    }

    /// Keeps these cells, the baselines they are compared with, and what belongs to them.
    fn keep(&mut self, is_wanted: impl Fn(&results::Cell) -> bool) {
        let cells = &self.cells;
        self.experiments.retain(|experiment| {
            let mut own = cells.iter().filter(|c| c.experiment == experiment.name);
            own.any(&is_wanted)
        });
        let kept = &self.experiments;
        self.cells.retain(|cell| {
            let experiment = kept.iter().find(|e| e.name == cell.experiment);
            experiment.is_some_and(|e| cell.is_twin || cell.id == e.baseline || is_wanted(cell))
        });
        self.impossible
            .retain(|(name, ..)| kept.iter().any(|e| e.name == *name));
        self.trials
            .retain(|trial| self.cells.iter().any(|cell| cell.id == trial.cell));
    }

    /// A level that some cell has, as the plan writes it.
    fn planned_level(&self, name: &str, level: &str) -> Result<String, Error> {
        let wrong = |why: String| Error::Usage(format!("--only {name}: {why}"));
        let level = canonical_level(name, level).map_err(wrong)?;
        let planned: BTreeSet<&str> = self.cells.iter().map(|c| c.levels[name].as_str()).collect();
        if planned.contains(level.as_str()) {
            return Ok(level);
        }
        let planned: Vec<&str> = planned.into_iter().collect();
        Err(wrong(format!(
            "no cell of the plan has `{level}`, only {}; --set adds levels",
            planned.join(", ")
        )))
    }
}

/// The setup of a cell.
///
/// # Errors
/// If a factor doesn't take its level (a result file from another version).
pub fn setup_of(levels: &BTreeMap<String, String>) -> Result<Setup, Error> {
    let mut setup = Setup::default();
    for (name, level) in levels {
        let factor = factor(name).map_err(Error::Usage)?;
        (factor.set)(&mut setup, level).map_err(Error::Usage)?;
    }
    Ok(setup)
}

fn plan_experiment(
    plan: &mut Plan,
    experiment: &Experiment,
    seed: u64,
    engines: &Engines,
) -> Result<(), Error> {
    let first_cell = plan.cells.len();
    let baseline_levels = baseline_levels(experiment);
    let mut baseline = None;
    for combination in combinations(experiment)? {
        let mut levels = all_levels(experiment, &combination);
        let label = label(experiment, &combination);
        let is_baseline = matches(&levels, &baseline_levels);
        resolve_encoding(&mut levels, engines)?;
        let setup = setup_of(&levels)?;
        if let Err(reason) = possible(experiment, &setup, engines) {
            plan.impossible
                .push((experiment.name.clone(), label, reason));
            continue;
        }
        let id = plan.cells.len() as u64 + 1;
        if is_baseline {
            baseline.get_or_insert(id);
        }
        plan.cells.push(results::Cell {
            id,
            experiment: experiment.name.clone(),
            label,
            levels,
            is_twin: false,
        });
    }
    // An experiment made for SQLite may have a baseline that another engine can't store: there the
    // first cell that can be is the one.
    let is_of_servers = plan.cells[first_cell..]
        .iter()
        .all(|cell| cell.levels["engine"] != "sqlite");
    let first = plan.cells.get(first_cell).map(|cell| cell.id);
    let Some(baseline) = baseline.or(first.filter(|_| is_of_servers)) else {
        return Err(no_baseline(plan, experiment));
    };
    let mut twin = plan.cells[baseline as usize - 1].clone();
    twin.id = plan.cells.len() as u64 + 1;
    twin.label = format!("{} (again)", twin.label);
    twin.is_twin = true;
    plan.cells.push(twin);
    let cells = &plan.cells[first_cell..];
    plan.experiments.push(record(experiment, baseline, cells));
    add_trials(plan, experiment, first_cell, seed);
    Ok(())
}

fn no_baseline(plan: &Plan, experiment: &Experiment) -> Error {
    let reasons: Vec<String> = plan
        .impossible
        .iter()
        .filter(|(name, ..)| *name == experiment.name)
        .map(|(_, label, reason)| format!("{label}: {reason}"))
        .collect();
    Error::Usage(format!(
        "the baseline of `{}` isn't among its possible combinations of levels{}{}",
        experiment.name,
        if reasons.is_empty() { "" } else { "; " },
        reasons.join("; ")
    ))
}

/// Blocks of one repetition each, every block shuffled.
fn add_trials(plan: &mut Plan, experiment: &Experiment, first_cell: usize, seed: u64) {
    let mut random = SplitMix64::new(seed ^ hash(experiment.name.as_bytes()));
    for repetition in 0..experiment.repetitions {
        let mut block: Vec<u64> = plan.cells[first_cell..].iter().map(|c| c.id).collect();
        random.shuffle(&mut block);
        for cell in block {
            plan.trials.push(results::Trial {
                id: plan.trials.len() as u64 + 1,
                cell,
                repetition,
                // One seed a repetition: cells of a repetition get the same rows where they can,
                // and are compared in pairs.
                seed: hash(&[seed.to_le_bytes(), u64::from(repetition).to_le_bytes()].concat())
                    >> 1,
                ..results::Trial::default()
            });
        }
    }
}

/// Replaces the default encoding by that of the engine, so that a result file says how ids were stored.
fn resolve_encoding(levels: &mut BTreeMap<String, String>, engines: &Engines) -> Result<(), Error> {
    let setup = setup_of(levels)?;
    if let (None, Some(engine)) = (setup.encoding, engines.get(&setup.engine)) {
        let encoding = engine.encoding(setup.key).name().to_owned();
        levels.insert(ENCODING.to_owned(), encoding);
    }
    Ok(())
}

/// The experiment as results keep it. Its levels are those that its cells have.
fn record(experiment: &Experiment, baseline: u64, cells: &[results::Cell]) -> results::Experiment {
    let levels = |(name, levels): &(String, Vec<String>)| {
        if name != ENCODING || !levels.iter().any(|level| level == "default") {
            return levels.clone();
        }
        let mut found: Vec<String> = Vec::new();
        for cell in cells {
            let level = &cell.levels[ENCODING];
            if !found.contains(level) {
                found.push(level.clone());
            }
        }
        found
    };
    results::Experiment {
        name: experiment.name.clone(),
        title: experiment.title.clone(),
        question: experiment.question.clone(),
        expect: experiment.expect.clone(),
        claims: experiment.claims.clone(),
        varied: experiment.varied.iter().map(|(n, _)| n.clone()).collect(),
        levels: experiment.varied.iter().map(levels).collect(),
        baseline,
        answer: experiment.answer.clone(),
        toml: experiment.text.clone(),
        data: experiment.data.clone(),
    }
}

fn baseline_levels(experiment: &Experiment) -> Levels {
    experiment
        .varied
        .iter()
        .map(|(name, levels)| {
            let named = experiment
                .baseline
                .iter()
                .find(|(n, level)| n == name && levels.contains(level));
            let level = named.map_or(&levels[0], |(_, level)| level);
            (name.clone(), level.clone())
        })
        .collect()
}

/// Every combination of varied levels that isn't skipped, the first factor slowest.
fn combinations(experiment: &Experiment) -> Result<Vec<Levels>, Error> {
    let cells: usize = experiment.varied.iter().map(|(_, l)| l.len()).product();
    if cells > CELLS_MAX {
        return Err(Error::Usage(format!(
            "`{}` has {cells} combinations of levels; at most {CELLS_MAX} can be planned",
            experiment.name
        )));
    }
    let mut all: Vec<Levels> = vec![Vec::new()];
    for (name, levels) in &experiment.varied {
        all = all
            .iter()
            .flat_map(|begun| {
                levels.iter().map(move |level| {
                    let mut longer = begun.clone();
                    longer.push((name.clone(), level.clone()));
                    longer
                })
            })
            .collect();
    }
    all.retain(|combination| {
        let levels = all_levels(experiment, combination);
        !experiment.skip.iter().any(|skip| matches(&levels, skip))
    });
    Ok(all)
}

fn matches(levels: &BTreeMap<String, String>, wanted: &Levels) -> bool {
    wanted
        .iter()
        .all(|(name, level)| levels.get(name) == Some(level))
}

fn all_levels(experiment: &Experiment, combination: &Levels) -> BTreeMap<String, String> {
    let default = Setup::default();
    let mut levels: BTreeMap<String, String> = FACTORS
        .iter()
        .map(|f| (f.name.to_owned(), (f.get)(&default)))
        .collect();
    for (name, level) in experiment.fixed.iter().chain(combination) {
        levels.insert(name.clone(), level.clone());
    }
    let engine = levels.get("engine").cloned();
    let of_engine = |(name, _): &&(String, Levels)| Some(name) == engine.as_ref();
    for (name, level) in experiment
        .fixed_in
        .iter()
        .find(of_engine)
        .into_iter()
        .flat_map(|e| &e.1)
    {
        levels.insert(name.clone(), level.clone());
    }
    levels
}

/// Formats the varied levels. A number is followed by its unit.
fn label(experiment: &Experiment, combination: &Levels) -> String {
    if combination.is_empty() {
        return experiment.title.clone();
    }
    let has_key = combination.iter().any(|(name, _)| name == "key");
    let words: Vec<String> = combination
        .iter()
        // The encoding that the kind of key says.
        .filter(|(name, level)| !(has_key && name == "encoding" && level == "default"))
        .filter_map(|(name, level)| level::words(name, level))
        .collect();
    if words.is_empty() {
        // Levels that turn their factors off are named where nothing else is.
        let named = combination.iter().map(|(name, level)| {
            let (title, ..) = level::unit_of(name);
            format!("{title} {level}")
        });
        return named.collect::<Vec<_>>().join(", ");
    }
    words.join(", ")
}

/// Keys of which writers of their own could make the same: a count, and a node of few bits.
const SHARED: &[KeyKind] = &[
    KeyKind::Serial,
    KeyKind::IntSeq,
    KeyKind::Tsid,
    KeyKind::Composite,
];

/// Whether this combination can be run at all, and if not, why.
fn possible(experiment: &Experiment, setup: &Setup, engines: &Engines) -> Result<(), String> {
    let engine = engines
        .get(&setup.engine)
        .ok_or_else(|| format!("no engine {}", setup.engine))?;
    engine.found().map_err(|missing| missing.to_string())?;
    engine.accepts(&setup.settings)?;
    differs(experiment, setup, engine)?;
    let encoding = setup.encoding();
    for kind in [Some(setup.key), setup.key_after].into_iter().flatten() {
        if !kind.encodings().contains(&encoding) {
            let known: Vec<&str> = kind.encodings().iter().map(|e| e.name()).collect();
            return Err(format!(
                "{} is stored as {}, not as {}",
                kind.name(),
                known.join(" or "),
                encoding.name()
            ));
        }
    }
    let Some(key_type) = engine.key_type(setup.key, encoding) else {
        let why = engine.why_no_key_type(setup.key, encoding);
        let none = || format!("{} has no {} type", setup.engine, encoding.name());
        return Err(why.map_or_else(none, str::to_owned));
    };
    if let Some(after) = setup.key_after {
        let special = [KeyKind::Serial, KeyKind::Composite];
        if after.width_bytes(encoding) != setup.key.width_bytes(encoding)
            || engine.key_type(after, encoding) != Some(key_type)
            || special.contains(&after)
            || special.contains(&setup.key)
            || setup.is_made_by_engine
        {
            return Err(format!(
                "a column of {} can't go on with {}",
                setup.key.name(),
                after.name()
            ));
        }
    }
    if setup.is_made_by_engine && !experiment.tables.is_empty() {
        return Err("an experiment's own table says itself what makes its keys".to_owned());
    }
    if setup.is_assigned() && setup.presort != Presort::None {
        return Err("keys that the engine assigns can't be sorted before".to_owned());
    }
    writers_problem(setup)?;
    workload_problem(experiment, setup)?;
    migration_problem(experiment, setup, engines)?;
    for table in &experiment.tables {
        if table.create.of(&setup.engine, &setup.layout).is_none() {
            return Err(format!(
                "table `{}` has no `create` for the layout `{}` in {}",
                table.name, setup.layout, setup.engine
            ));
        }
    }
    match experiment.tables.is_empty() {
        true => engine.create_table(&shape(setup, engine)?).map(|_| ()),
        false if setup.key == KeyKind::Composite => {
            Err("a composite key is two columns: only the built-in table has them".to_owned())
        }
        false => Ok(()),
    }
}

/// Why rows can't arrive as a setup says, if they can't.
fn writers_problem(setup: &Setup) -> Result<(), String> {
    if setup.arriving_rows_per_s > 0 && setup.sort_rows() > setup.rows_per_transaction {
        return Err("rows that arrive at a fixed rate can't wait to be sorted together".to_owned());
    }
    if setup.has_own_factories && SHARED.contains(&setup.key) {
        return Err(format!(
            "{}: writers of their own could make the same keys",
            setup.key.name()
        ));
    }
    Ok(())
}

/// Why the operations of a setup can't run, if they can't.
fn workload_problem(experiment: &Experiment, setup: &Setup) -> Result<(), String> {
    if setup.workload == Workload::None {
        return Ok(());
    }
    let problem = match setup.engine.as_str() {
        _ if !experiment.tables.is_empty() && !has_own_key(experiment) => {
            "needs a measured table with a column of the recipe `key`, and no `by` in [reads]"
        }
        _ if setup.layout == "no-key" => "needs a key to find rows by",
        _ if setup.is_assigned() => "needs keys that the application makes",
        _ if setup.payload_bytes == 0 && experiment.tables.is_empty() => {
            "needs a payload to change: payload_bytes above 0"
        }
        _ if setup.operations > u64::from(u32::MAX) / 2
            || setup.rows_at_end() > u64::from(u32::MAX) / 2 =>
        {
            "has at most 2,147,483,647 rows and operations"
        }
        "sqlite" | "postgres" | "mariadb" => return Ok(()),
        _ => "runs on sqlite, postgres and mariadb",
    };
    Err(format!("the workload {} {problem}", setup.workload.name()))
}

/// Whether rows of the experiment's own table are found by an id.
fn has_own_key(experiment: &Experiment) -> bool {
    let columns = experiment.measured().map(|table| &table.columns[..]);
    let mut recipes = columns.unwrap_or_default().iter();
    recipes.any(|(_, recipe)| matches!(recipe, Recipe::Key)) && experiment.reads.by.is_none()
}

/// Why the table of a setup can't move to another key, if it can't.
fn migration_problem(
    experiment: &Experiment,
    setup: &Setup,
    engines: &Engines,
) -> Result<(), String> {
    let Some(key) = setup.migrate_to else {
        return Ok(());
    };
    let engine = engines
        .get(&setup.engine)
        .ok_or_else(|| format!("no engine {}", setup.engine))?;
    let is_running = engines
        .shown()
        .iter()
        .any(|(name, _)| *name == setup.engine);
    let special = [KeyKind::Serial, KeyKind::Composite];
    let encoding = key.encoding_in(engine);
    let problem = match setup.engine.as_str() {
        "sqlite" | "postgres" | "mariadb" if is_running => "needs a private server, without --url",
        "sqlite" | "postgres" | "mariadb" => match setup.layout.as_str() {
            "no-key" => "needs a primary key",
            _ if setup.is_assigned() || special.contains(&setup.key) => {
                "needs keys of one column that the application makes"
            }
            _ if special.contains(&key.kind) => {
                "is to a key of one column that the application makes"
            }
            _ if !key.kind.encodings().contains(&encoding)
                || engine.key_type(key.kind, encoding).is_none() =>
            {
                "is to a type that the engine doesn't have"
            }
            _ if key.kind == setup.key && encoding == setup.encoding() => "is to the same key",
            _ if setup.writers > 1 || setup.rows_before > 0 => "has one writer and no rows before",
            _ if setup.presort != Presort::None || setup.key_after.is_some() => {
                "has rows in the order in which they are made"
            }
            _ if setup.workload != Workload::None => "has no workload after the load",
            _ if !experiment.tables.is_empty() && !has_own_key(experiment) => {
                "needs a measured table with a column of the recipe `key`, and no `by` in [reads]"
            }
            _ if experiment.reads.query.is_some() => "has no reads but those by the key",
            _ => return Ok(()),
        },
        _ => "runs on sqlite, postgres and mariadb",
    };
    Err(format!("the migration to {} {problem}", key.name()))
}

/// Whether a setup is another one to its engine than the same with the first level of a factor: a
/// setting that the engine doesn't have, or a layout that it stores like another, is run once.
fn differs(experiment: &Experiment, setup: &Setup, engine: &dyn Engine) -> Result<(), String> {
    for (name, levels) in &experiment.varied {
        let level = (factor(name)?.get)(setup);
        let [first, ..] = &levels[..] else {
            continue;
        };
        if engine.ignores().contains(&name.as_str()) && level != *first {
            return Err(format!("{name} means nothing to {}", setup.engine));
        }
        if name != "layout" || !experiment.tables.is_empty() {
            continue;
        }
        let table = engine.create_table(&shape(setup, engine)?);
        for earlier in levels.iter().take_while(|earlier| **earlier != level) {
            let other = Setup {
                layout: earlier.clone(),
                ..setup.clone()
            };
            if table.is_ok() && engine.create_table(&shape(&other, engine)?) == table {
                return Err(format!("{} stores it like {earlier}", setup.engine));
            }
        }
    }
    Ok(())
}

/// The built-in table of a setup, or why the engine can't make its keys.
pub fn shape<'a>(setup: &'a Setup, engine: &dyn Engine) -> Result<TableShape<'a>, String> {
    let is_made = setup.is_made_by_engine && setup.key != KeyKind::Serial;
    let made = || engine.key_made(setup.key, setup.encoding());
    Ok(TableShape {
        key_made: is_made.then(made).transpose()?,
        name: "event",
        key: setup.key,
        encoding: setup.encoding(),
        layout: &setup.layout,
        has_payload: setup.payload_bytes > 0,
        indexes: setup.indexes,
    })
}

/// A hash that is the same on every machine and in every version.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    SplitMix64::mix(bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, b| {
        (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3)
    }))
}
