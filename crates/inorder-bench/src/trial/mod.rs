//! A trial: one cell of an experiment, run once, in its own process.

mod after;
mod arrivals;
mod before;
mod found;
mod group;
mod insert;
mod migrate;
mod order;
mod reads;
mod reference;
mod rows;
mod sampler;
mod subject;
mod work;

use crate::{
    engines::Engines,
    error::{Error, nearest},
    experiment::{
        Experiment, Overrides, Recipe, Scale, Table, TableRows,
        factors::{FACTORS, Setup},
        filled,
    },
    experiments,
    generate::Workload,
    noise_meter::NoiseMeter,
    plan,
    results::{Noise, Sample},
};
use group::Group;
use inorder_engine::{Batch, Database, Engine, Retry};
use order::Order;
use reference::Reference;
use rows::{Inputs, Kept, Parents, RowMaker};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};
use subject::{Lookup, Subject};

/// Rows of the measured table whose keys are kept to be read back and looked up.
const KEYS_KEPT: u64 = 4096;
/// Rows of a parent table that are made and inserted together.
const PARENT_ROWS_TOGETHER: u64 = 100_000;

/// The specification of a trial, as its process receives it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TrialSpec {
    /// Name of the experiment's file, for error messages.
    pub file: String,
    /// The experiment's text.
    pub text: String,
    /// The scale.
    pub scale: Scale,
    /// The command line's changes.
    pub overrides: Overrides,
    /// The cell.
    pub levels: BTreeMap<String, String>,
    /// Which repetition: some probes are taken in the first only.
    pub repetition: u32,
    /// Seed of keys and rows.
    pub seed: u64,
    /// An empty folder for the database.
    pub folder: PathBuf,
    /// Reads once what is to be read many times: nothing is measured, only tried.
    pub is_rehearsal: bool,
}

impl TrialSpec {
    /// Its experiment, parsed.
    ///
    /// # Errors
    /// If the text isn't an experiment.
    pub fn experiment(&self) -> Result<Experiment, Error> {
        let mut experiment =
            Experiment::parse(&self.file, &self.text, self.scale, &self.overrides)?;
        if self.is_rehearsal {
            experiment.reads = experiment.reads.once();
        }
        Ok(experiment)
    }
}

/// A message of a trial's process: one line of JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Event {
    /// Rows committed so far.
    Rows(u64),
    /// The end, with everything that was measured.
    Done(Box<Outcome>),
    /// The end, with the reason.
    Failed(String),
}

/// The results of a trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The load of the machine.
    pub noise: Noise,
    /// The engine's settings as read back.
    pub settings: Vec<(String, String)>,
    /// Texts, such as query plans.
    pub texts: Vec<(String, String)>,
    /// Everything measured.
    pub samples: Vec<Sample>,
}

/// Runs a trial. `on_progress` receives the number of committed rows.
///
/// # Errors
/// If the database, a recipe or a constraint fails, or stored rows are missing.
pub fn run(
    spec: &TrialSpec,
    engines: &Engines,
    on_progress: &mut (dyn FnMut(u64) + Send),
) -> Result<Outcome, Error> {
    let experiment = spec.experiment()?;
    let setup = confined_setup(spec, &experiment)?;
    let engine = engines
        .get(&setup.engine)
        .ok_or_else(|| Error::Usage(format!("no engine `{}`", setup.engine)))?;
    run_on(engine, spec, &experiment, &setup, on_progress)
}

/// Runs a trial on this engine.
fn run_on(
    engine: &dyn Engine,
    spec: &TrialSpec,
    experiment: &Experiment,
    setup: &Setup,
    on_progress: &mut (dyn FnMut(u64) + Send),
) -> Result<Outcome, Error> {
    let data = read_data(experiment)?;
    let owned = engine.create(&spec.folder, &setup.settings)?;
    let database = owned.as_ref();
    on_progress(0);
    let meter = NoiseMeter::start(setup.writers, &database.processes());

    let opened = (engine, database);
    let parents = create_tables(experiment, setup, spec, data.as_ref(), opened, on_progress)?;
    let (table, mut makers) = measured(experiment, setup, spec, &parents, data.as_ref(), opened)?;
    before::fill(database, &table, setup, &mut makers, on_progress)?;
    let maker = makers[0].root();
    let (by, lookup) = found_by(database, &table, experiment, maker)?;
    let at: Vec<usize> = by
        .iter()
        .filter_map(|name| maker.names().iter().position(|n| n == name))
        .collect();
    let kept = Kept::new(&at, setup.rows, keys_kept(setup));
    let order = Order::new(maker.key_columns()).filter(|_| experiment.reads.order);
    let watched = insert::Watched { kept, order };
    let reference = Reference::of(setup, database);
    let sampler = sampler::Sampler::new(setup.rows, reference, &mut *on_progress);
    let (kept, mut samples, makers) =
        insert::insert_rows(database, &table, setup, makers, watched, sampler)?;
    let noise = meter.finish();
    let meter = NoiseMeter::start(setup.writers, &database.processes());
    let kept = match kept.columns.is_empty() && !setup.is_made_by_engine {
        true => assigned(database, &table, &by, setup.rows_at_end(), &mut samples)?,
        false => kept,
    };

    let loaded = Loaded::new(by, lookup, kept);
    let (place, levels) = ((engine, database, &table[..]), (setup, spec.seed));
    let loaded = operate(place, levels, makers, loaded, &mut samples, on_progress)?;

    let subject = Subject {
        rows_added: loaded.rows_added,
        database,
        setup,
        experiment,
        table: &table,
        members: group::members(experiment),
        kept: loaded.kept,
        table_sql: database.quoted(&table),
        by_sql: quoted(database, &loaded.by),
        by: loaded.by,
        lookup: loaded.lookup,
    };
    let texts = after::look(&subject, spec.repetition == 0, &mut samples)
        .map_err(|error| explain_query(error, &subject))?;
    Ok(Outcome {
        noise: meter.finish_after(noise),
        settings: database.settings()?,
        texts,
        samples,
    })
}

/// The measured table after its load.
struct Loaded {
    by: Vec<String>,
    lookup: Lookup,
    kept: Batch,
    rows_added: i64,
}

impl Loaded {
    fn new(by: Vec<String>, lookup: Lookup, kept: Batch) -> Self {
        Loaded {
            by,
            lookup,
            kept,
            rows_added: 0,
        }
    }
}

/// Runs the operations of the setup, and the migration.
fn operate(
    (engine, database, table): (&dyn Engine, &dyn Database, &str),
    (setup, seed): (&Setup, u64),
    mut makers: Vec<Group>,
    loaded: Loaded,
    samples: &mut Vec<Sample>,
    on_progress: &mut (dyn FnMut(u64) + Send),
) -> Result<Loaded, Error> {
    let found = work::Table {
        database,
        name: table,
        by: &loaded.by,
        setup,
        seed,
    };
    let worked = work::run(&found, &mut makers[0], loaded.kept, samples, on_progress)?;
    let loaded = Loaded {
        kept: worked.keys,
        rows_added: worked.rows_added,
        ..loaded
    };
    if setup.migrate_to.is_none() {
        return Ok(loaded);
    }
    let place = migrate::Place {
        engine,
        database,
        table,
        by: &loaded.by,
        setup,
    };
    let migrated = migrate::run(place, makers.swap_remove(0), &loaded.kept, samples)?;
    Ok(Loaded {
        lookup: Lookup {
            is_indexed: database.finds_by_index(table, &migrated.by)?,
            ..loaded.lookup
        },
        by: migrated.by,
        kept: migrated.keys,
        rows_added: loaded.rows_added + migrated.rows_added,
    })
}

/// Rows whose keys are kept: operations choose among all.
fn keys_kept(setup: &Setup) -> u64 {
    match (setup.workload, setup.migrate_to) {
        (Workload::None, None) => KEYS_KEPT,
        _ => setup.rows,
    }
}

/// Creates the experiment's own tables, and fills the unmeasured ones.
fn create_tables(
    experiment: &Experiment,
    setup: &Setup,
    spec: &TrialSpec,
    data: Option<&inorder_load::Table>,
    (engine, database): (&dyn Engine, &dyn Database),
    on_progress: &mut (dyn FnMut(u64) + Send),
) -> Result<Parents, Error> {
    let mut parents = Parents::new();
    for table in &experiment.tables {
        on_progress(0);
        create(database, engine, table, setup)?;
        if !table.is_measured {
            let inputs = inputs(setup, spec, &parents, data, &table.name);
            let wanted = wanted_columns(experiment, &table.name);
            let filled = fill_parent(database, table, &inputs, &wanted, on_progress)?;
            parents.extend(filled);
        }
    }
    Ok(parents)
}

/// The setup of the cell. SQL that isn't this program's own is confined.
fn confined_setup(spec: &TrialSpec, experiment: &Experiment) -> Result<Setup, Error> {
    let mut setup = plan::setup_of(&spec.levels)?;
    setup.settings.is_confined = experiment.has_own_sql() && !experiments::is_built_in(&spec.text);
    Ok(setup)
}

/// Reads a sample of the keys that the engine assigned, and samples their mean distance.
fn assigned(
    database: &dyn Database,
    table: &str,
    by: &[String],
    rows: u64,
    samples: &mut Vec<Sample>,
) -> Result<Batch, Error> {
    let key = by.first().map(String::as_str);
    let keys = reads::assigned_keys(database, table, key, rows, KEYS_KEPT)?;
    samples.push(Sample {
        probe: "assigned_key_step".to_owned(),
        rows,
        value: reads::key_step(&keys, rows),
        ..Sample::default()
    });
    Ok(Batch {
        columns: vec![keys],
    })
}

/// Reads the columns of the data file that recipes name; `None` where no recipe reads the file.
fn read_data(experiment: &Experiment) -> Result<Option<inorder_load::Table>, Error> {
    let Some(path) = &experiment.data else {
        return Ok(None);
    };
    let mut columns: Vec<String> = experiment
        .tables
        .iter()
        .flat_map(|table| &table.columns)
        .filter_map(|(_, recipe)| match recipe {
            Recipe::File { column, .. } => Some(column.clone()),
            _ => None,
        })
        .collect();
    columns.sort();
    columns.dedup();
    let is_counted = |table: &Table| table.rows == TableRows::File;
    let columns = match columns.is_empty() {
        false => Some(&columns[..]),
        // Only its number of rows is wanted.
        true if experiment.tables.iter().any(is_counted) => None,
        true => return Ok(None),
    };
    Ok(Some(inorder_load::source::read(Path::new(path), columns)?))
}

fn inputs<'a>(
    setup: &'a Setup,
    spec: &TrialSpec,
    parents: &'a Parents,
    data: Option<&'a inorder_load::Table>,
    table: &str,
) -> Inputs<'a> {
    Inputs {
        setup,
        seed: spec.seed ^ plan::hash(table.as_bytes()),
        parents,
        data,
        together: &[],
        distinct_within: setup.rows_per_transaction,
    }
}

/// Creates a table of the experiment's own.
fn create(
    database: &dyn Database,
    engine: &dyn Engine,
    table: &Table,
    setup: &Setup,
) -> Result<(), Error> {
    let sql = table
        .create
        .of(&setup.engine, &setup.layout)
        .ok_or_else(|| {
            Error::Usage(format!(
                "table `{}` has no `create` for the layout `{}`",
                table.name, setup.layout
            ))
        })?;
    database
        .execute(&with_levels(sql, setup, engine)?)
        .map_err(|error| match error {
            inorder_engine::Error::Database { doing, message } => Error::Usage(format!(
                "`create` of table `{}` for {}, layout `{}`: {message} in:\n{doing}",
                table.name, setup.engine, setup.layout
            )),
            other => other.into(),
        })
}

/// Checks the experiment's own query.
fn explain_query(error: Error, subject: &Subject<'_>) -> Error {
    match error {
        Error::Engine(inorder_engine::Error::Database { doing, message })
            if subject.experiment.reads.query.as_ref() == Some(&doing) =>
        {
            let by = subject.by.join(", ");
            Error::Usage(format!(
                "`query` of [reads], which takes as many parameters as a row is found by ({by}): \
                 {message} in:\n{doing}"
            ))
        }
        other => other,
    }
}

/// DDL with `{key}`, `{blob}`, `{text}` and `{factor}` replaced.
fn with_levels(sql: &str, setup: &Setup, engine: &dyn Engine) -> Result<String, Error> {
    let value = |name: &str| {
        let blob = engine.blob_type();
        match name {
            "key" => {
                let key_type = engine.key_type(setup.key, setup.encoding());
                Some(key_type.unwrap_or(blob).to_owned())
            }
            "blob" => Some(blob.to_owned()),
            "text" => Some(engine.text_type().to_owned()),
            _ => {
                let factor = FACTORS.iter().find(|factor| factor.name == name)?;
                Some((factor.get)(setup).to_string())
            }
        }
    };
    filled(sql, value).map_err(|name| {
        let known = FACTORS.iter().map(|factor| factor.name);
        Error::Usage(format!(
            "unknown `{{{name}}}` in `create`: {} (`{{{{` is a brace)",
            nearest(name, known)
        ))
    })
}

/// Columns of a table that later tables draw from.
fn wanted_columns(experiment: &Experiment, parent: &str) -> Vec<String> {
    let mut wanted: Vec<String> = experiment
        .tables
        .iter()
        .flat_map(|table| &table.columns)
        .filter_map(|(_, recipe)| match recipe {
            Recipe::Nullable { recipe, .. } => drawn(recipe, parent),
            recipe => drawn(recipe, parent),
        })
        .collect();
    wanted.sort();
    wanted.dedup();
    wanted
}

/// The column of a table that a recipe draws from.
fn drawn(recipe: &Recipe, parent: &str) -> Option<String> {
    match recipe {
        Recipe::Pick { table, column, .. } | Recipe::Each { table, column, .. }
            if table == parent =>
        {
            Some(column.clone())
        }
        _ => None,
    }
}

/// Fills a table that isn't measured, in one transaction, and keeps the columns drawn from.
fn fill_parent(
    database: &dyn Database,
    table: &Table,
    inputs: &Inputs<'_>,
    wanted: &[String],
    on_progress: &mut (dyn FnMut(u64) + Send),
) -> Result<Parents, Error> {
    let rows = rows::rows_of(table, inputs.setup, inputs.data)?;
    let mut maker = RowMaker::of_table(table, &database.columns(&table.name)?, inputs)?;
    let names: Vec<String> = maker.names().iter().map(|&n| n.to_owned()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let at: Vec<Option<usize>> = wanted
        .iter()
        .map(|name| names.iter().position(|n| n == name))
        .collect();
    let mut kept = Kept::new(
        &at.iter().flatten().copied().collect::<Vec<_>>(),
        rows,
        rows,
    );
    let mut writer = database.writer(&table.name, &names, Retry::default())?;
    writer.begin()?;
    let mut made = 0;
    while made < rows {
        let batch = maker.make((rows - made).min(PARENT_ROWS_TOGETHER) as usize, &[]);
        kept.look(&batch);
        writer
            .insert(&batch, 0..batch.rows())
            .map_err(|error| insert::explain(error.into(), &names, &batch, made))?;
        made += batch.rows() as u64;
        on_progress(0);
    }
    writer.commit()?;
    drop(writer);
    database.quiesce()?;
    let mut columns = kept.into_batch().columns.into_iter();
    let mut parents = Parents::new();
    for (name, at) in wanted.iter().zip(at) {
        // A column without values of ours is the key that the engine assigned.
        let column = match at.and_then(|_| columns.next()) {
            Some(column) => column,
            None => reads::assigned_keys(database, &table.name, Some(name), rows, rows)?,
        };
        parents.insert((table.name.clone(), name.clone()), Arc::new(column));
    }
    Ok(parents)
}

/// The measured table's name and the makers of its rows, one for all writers or one for each; the
/// built-in table is created here.
fn measured(
    experiment: &Experiment,
    setup: &Setup,
    spec: &TrialSpec,
    parents: &Parents,
    data: Option<&inorder_load::Table>,
    (engine, database): (&dyn Engine, &dyn Database),
) -> Result<(String, Vec<Group>), Error> {
    let factories = if setup.has_own_factories {
        setup.writers
    } else {
        1
    };
    let each = |inputs: Inputs<'_>, maker: &dyn Fn(&Inputs<'_>) -> Result<Group, Error>| {
        let own_seed = |factory: u64| inputs.seed ^ factory.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let own = |factory| Inputs {
            seed: own_seed(factory),
            ..inputs
        };
        (0..factories)
            .map(|factory| maker(&own(factory)))
            .collect::<Result<Vec<_>, _>>()
    };
    let Some(table) = experiment.measured() else {
        let shape = plan::shape(setup, engine).map_err(Error::Usage)?;
        let sql = engine.create_table(&shape).map_err(Error::Usage)?;
        database.execute(&sql)?;
        let inputs = inputs(setup, spec, parents, None, shape.name);
        return Ok((
            shape.name.to_owned(),
            each(inputs, &|inputs| {
                RowMaker::built_in(inputs).map(Group::alone)
            })?,
        ));
    };
    let inputs = inputs(setup, spec, parents, data, &table.name);
    let columns = database.columns(&table.name)?;
    if columns.is_empty() {
        return Err(Error::Usage(format!(
            "`create` of table `{0}` doesn't create a table of the name `{0}`",
            table.name
        )));
    }
    let makers = each(inputs, &|inputs| {
        Group::of_tables(experiment, (table, &columns), inputs, database)
    })?;
    Ok((table.name.clone(), makers))
}

/// Columns that a row is found by, and how: what `[reads] by` says, else the primary key, else the first column that
/// is filled.
fn found_by(
    database: &dyn Database,
    table: &str,
    experiment: &Experiment,
    maker: &RowMaker,
) -> Result<(Vec<String>, Lookup), Error> {
    let mut primary: Vec<_> = database
        .columns(table)?
        .into_iter()
        .filter(|column| column.primary_key > 0)
        .collect();
    primary.sort_by_key(|column| column.primary_key);
    let primary: Vec<String> = primary.into_iter().map(|column| column.name).collect();
    let names = maker.names();
    let by = match &experiment.reads.by {
        Some(name) => vec![name.clone()],
        None if !primary.is_empty() => primary.clone(),
        // A composite key that is not the primary one has two columns.
        None if experiment.measured().is_none() && !maker.key_columns().is_empty() => {
            let key = maker.key_columns().iter();
            key.map(|&at| names[at].to_owned()).collect()
        }
        None => names
            .first()
            .map(|&name| vec![name.to_owned()])
            .unwrap_or_default(),
    };
    // The values of a lone primary key without a recipe are known too: the engine counts.
    let is_assigned = by.len() == 1 && by == primary;
    if let Some(missing) = by.iter().find(|name| !names.contains(&name.as_str()))
        && !is_assigned
    {
        return Err(Error::Usage(format!(
            "rows of table `{table}` are to be found by `{missing}`, which no recipe fills: {}",
            nearest(missing, names)
        )));
    }
    let lookup = Lookup {
        is_indexed: database.finds_by_index(table, &by)?,
        is_unique: by == primary,
    };
    Ok((by, lookup))
}

fn quoted(database: &dyn Database, names: &[String]) -> Vec<String> {
    names.iter().map(|name| database.quoted(name)).collect()
}

#[cfg(test)]
mod tests;
