//! The course of a copy.

use std::collections::BTreeMap;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use crate::destination::{self, Destination, SOURCE, STATE};
use crate::error::Error;
use crate::incoming::Incoming;
use crate::meaning::{self, Compared};
use crate::model::{Column, ForeignKey, Index, Schema, Table, with_ddl, without_ddl};
use crate::plan::{self, Plan};
use crate::rules::Action;
use crate::settle::settle;
use crate::source::{self, Source};
use crate::stop::Stop;
use crate::value::{Content, Fault, Row, Target};

/// Bytes of rows that are handed over at a time.
const BLOCK_BYTES: usize = 1 << 18;

/// Blocks that may wait for the destination, which limits the memory.
const WAITING_MAX: usize = 4;

/// What is copied, and where to.
#[derive(Clone, Debug)]
pub struct Job {
    /// The URL of a server, or the path of an SQLite file.
    pub from: String,
    /// The URL of a PostgreSQL database, or the path of an SQLite file.
    pub to: String,
    /// The schema of a PostgreSQL source.
    pub schema: String,
    /// The tables to copy; empty for all.
    pub tables: Vec<String>,
    /// The tables to leave out.
    pub excluded: Vec<String>,
    /// Whether tables that the destination has are dropped first.
    pub replaces: bool,
    /// The text of a plan.
    pub plan: Option<String>,
    /// Whether to print the statements and copy nothing.
    pub is_dry: bool,
}

/// What is told about a copy while it runs.
pub trait Observer: Sync {
    /// A table begins, of an estimated number of rows.
    fn table(&self, name: &str, rows_estimated: u64);
    /// So many more rows of it were read.
    fn rows(&self, rows: u64);
    /// What ends the copy.
    fn stop(&self) -> &Stop;
}

/// The result of a copy.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// The tables, in the order of their names.
    pub tables: Vec<TableSummary>,
    /// What is not copied, or not as it was.
    pub notes: Vec<String>,
    /// The statements of a dry run.
    pub statements: Vec<String>,
    /// Statements for what is not copied, each after a comment that says why. They are to be edited.
    pub script: Vec<String>,
}

/// One table of a copy.
#[derive(Clone, Debug)]
pub struct TableSummary {
    /// Its name.
    pub name: String,
    /// Its rows.
    pub rows: u64,
    /// The number of rows and the hash of their contents, which source and copy have in common.
    pub content: String,
    /// Whether an earlier run copied it.
    pub was_finished: bool,
    /// The rules of the plan that touched values.
    pub touched: Vec<Touched>,
    /// What both databases say of its columns.
    pub compared: Vec<Compared>,
}

/// A rule of a plan, and the values that it changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touched {
    /// The column.
    pub column: String,
    /// The rule, such as `zero-date`.
    pub rule: &'static str,
    /// What it does, such as `null`.
    pub action: &'static str,
    /// The number of values.
    pub values: u64,
}

/// Returns the plan of a copy, which can be edited. Reads all rows of the source, and writes nothing.
///
/// # Errors
/// If the source fails, or a table can't be copied at all.
pub fn plan(job: &Job) -> Result<String, Error> {
    let mut source = source::open(&job.from, &job.schema)?;
    let schema = source.schema()?;
    let mut schema = chosen(job, schema, &[])?;
    let target = destination::open(&job.to, true)?.target();
    settle(&mut *source, &mut schema, target)?;
    plan::written(&mut *source, &schema, target)
}

/// Copies a database.
///
/// # Errors
/// If the source or the destination fails, the destination has one of the tables, or a value has no equivalent. Finished
/// tables are kept, and the same job continues with the others.
pub fn run(job: &Job, observer: &dyn Observer) -> Result<Summary, Error> {
    let mut source = source::open(&job.from, &job.schema)?;
    let mut schema = source.schema()?;
    schema.name_indexes();
    for table in &mut schema.tables {
        table.dialect = Some(source.dialect());
    }
    let plan = job
        .plan
        .as_deref()
        .map(Plan::parse)
        .transpose()?
        .unwrap_or_default();
    let left_out: Vec<&String> = plan.left_out().collect();
    let mut schema = chosen(job, schema, &left_out)?;
    if !job.is_dry {
        // Both are open before the first row is read.
        let mut destination = destination::open(&job.to, false)?;
        settle(&mut *source, &mut schema, destination.target())?;
        plan.apply(&mut schema, destination.dialect())?;
        if let Some(cancel) = destination.cancel() {
            observer.stop().cancels(cancel);
        }
        let copied = copy(job, &mut *source, &mut *destination, schema, observer);
        // A statement that was ended fails with an error of the server.
        return copied.map_err(|error| observer.stop().look().err().unwrap_or(error));
    }
    let destination = destination::open(&job.to, true)?;
    settle(&mut *source, &mut schema, destination.target())?;
    plan.apply(&mut schema, destination.dialect())?;
    let mut summary = Summary {
        notes: notes(&schema, &*destination)?,
        ..Summary::default()
    };
    for table in &schema.tables {
        summary.statements.extend(destination.statements(table));
        summary.tables.push(TableSummary {
            name: table.name.clone(),
            rows: table.rows_estimated,
            content: String::new(),
            was_finished: false,
            touched: Vec::new(),
            compared: Vec::new(),
        });
    }
    Ok(summary.told())
}

/// The notes of a schema and its tables, and what the destination can't have of them.
///
/// # Errors
/// If the destination can't have one of the tables.
fn notes(schema: &Schema, destination: &dyn Destination) -> Result<Vec<String>, Error> {
    let mut notes = schema.notes.clone();
    let left = schema.left.iter();
    notes.extend(left.map(|left| with_ddl(&left.note, &left.ddl)));
    for table in &schema.tables {
        if let Some(obstacle) = destination.obstacle(table) {
            return Err(refused(table, obstacle));
        }
        let left_out = destination.left_out(table);
        let left = table.left.iter();
        let left: Vec<String> = left.map(|left| with_ddl(&left.note, &left.ddl)).collect();
        let of_table = table.notes.iter().chain(&left).chain(&left_out);
        notes.extend(of_table.map(|note| format!("table {}: {note}", table.name)));
        for column in &table.columns {
            let decisions = column.decisions.iter();
            notes.extend(decisions.map(|decision| {
                format!("table {}: column `{}`: {decision}", table.name, column.name)
            }));
        }
    }
    Ok(notes)
}

/// The tables that the job copies.
fn chosen(job: &Job, mut schema: Schema, left_out: &[&String]) -> Result<Schema, Error> {
    for name in job
        .tables
        .iter()
        .chain(&job.excluded)
        .chain(left_out.iter().copied())
    {
        if !schema.tables.iter().any(|table| table.name == *name) {
            let names: Vec<&str> = schema.tables.iter().map(|table| &*table.name).collect();
            let nearest = inorder_engine::nearest(name, names);
            return Err(Error::Refused(format!(
                "{} has no table {name}: {nearest}",
                job.source_shown()
            )));
        }
    }
    schema.tables.retain(|table| {
        let is_chosen = job.tables.is_empty() || job.tables.contains(&table.name);
        is_chosen && !job.excluded.contains(&table.name) && !left_out.contains(&&table.name)
    });
    for table in &schema.tables {
        if let Some(obstacle) = table.obstacles.first().cloned().or_else(|| keyless(table)) {
            return Err(refused(table, &obstacle));
        }
    }
    let parents = schema.tables.clone();
    for table in &mut schema.tables {
        for key in std::mem::take(&mut table.foreign_keys) {
            match obstacle(&key, &parents) {
                None => table.foreign_keys.push(key),
                Some(why_not) => {
                    let note = format!(
                        "not copied: the foreign key {} to {}, {why_not}",
                        key.name, key.parent
                    );
                    table.leave(note, "");
                }
            }
        }
    }
    match schema.tables.is_empty() {
        true => Err(Error::Refused(format!(
            "{} has no tables to copy",
            job.source_shown()
        ))),
        false => Ok(schema),
    }
}

/// Why a table with rows without a key can't be copied.
fn keyless(table: &Table) -> Option<String> {
    let rows = match table.keyless_rows {
        0 => return None,
        1 => "1 row has".to_owned(),
        rows => format!("{rows} rows have"),
    };
    Some(format!(
        "{rows} NULL in the primary key (`{}`), which only SQLite allows: give them a key or delete them",
        table.key.join("`, `")
    ))
}

/// The error for a table that can't be copied.
fn refused(table: &Table, obstacle: &str) -> Error {
    Error::Refused(format!(
        "table {}: {obstacle}; leave the table out (--exclude), or change its columns",
        table.name
    ))
}

/// Returns why a foreign key can't be created. SQLite accepts keys that it can't follow.
fn obstacle(key: &ForeignKey, parents: &[Table]) -> Option<&'static str> {
    let Some(parent) = parents.iter().find(|parent| parent.name == key.parent) else {
        return Some("which is not copied");
    };
    if key.columns.len() != key.parent_columns.len() {
        return Some("which has another number of columns in its key");
    }
    let sorted = |names: &[String]| {
        let mut names = names.to_vec();
        names.sort();
        names
    };
    let wanted = sorted(&key.parent_columns);
    let is_whole = |index: &&Index| index.is_unique && !index.has_prefix;
    let mut unique = parent.indexes.iter().filter(is_whole);
    let is_unique =
        sorted(&parent.key) == wanted || unique.any(|index| sorted(&index.columns) == wanted);
    (!is_unique).then_some("whose columns are not unique there")
}

impl Job {
    /// The source without a password.
    fn source_shown(&self) -> String {
        match inorder_engine::remote::ServerUrl::parse(&self.from) {
            Ok(url) => url.to_string(),
            Err(_) => self.from.clone(),
        }
    }
}

fn copy(
    job: &Job,
    source: &mut dyn Source,
    destination: &mut dyn Destination,
    schema: Schema,
    observer: &dyn Observer,
) -> Result<Summary, Error> {
    if source.has(&destination.mark()?)? {
        let name = job.source_shown();
        return Err(Error::Refused(format!(
            "{name} is source and destination: choose another destination"
        )));
    }
    let mut summary = Summary {
        notes: notes(&schema, destination)?,
        ..Summary::default()
    };
    let finished = prepare(job, &source.name(), destination, &schema)?;
    for table in &schema.tables {
        observer.stop().look()?;
        observer.table(&table.name, table.rows_estimated);
        let known = finished.get(&table.name);
        if let Some(known) = known {
            // The source may have changed since.
            let content = read(source, table, destination.target(), observer, None)?;
            let (known, notes) = destination::recorded(known);
            if content.text() == known {
                summary.add(table, &content, notes, true);
                continue;
            }
            destination.forget(&table.name)?;
        }
        let (content, notes) = one(source, destination, table, observer)?;
        let compared = meaning::compare(source, destination, table, &|at| is_changed(table, at));
        if matches!(compared, Err(Error::Means { .. })) {
            destination.forget(&table.name)?;
        }
        summary.add(table, &content, notes, false);
        if let Some(last) = summary.tables.last_mut() {
            last.compared = compared?;
        }
    }
    let notes = destination.finish(&schema.tables, observer.stop())?;
    summary.notes.extend(notes);
    Ok(summary.told())
}

impl Summary {
    /// Moves the statements of notes to the script.
    fn told(mut self) -> Self {
        for note in &mut self.notes {
            let (text, ddl) = without_ddl(note);
            if let Some(ddl) = ddl.filter(|ddl| !ddl.is_empty()) {
                let end = if ddl.starts_with("--") { "" } else { ";" };
                let comment = text.replace('\n', " ");
                self.script.push(format!("-- {comment}\n{ddl}{end}\n"));
            }
            *note = text.to_owned();
        }
        self
    }

    /// Adds a table that is finished, and its notes.
    fn add(&mut self, table: &Table, content: &Content, notes: Vec<String>, was_finished: bool) {
        let notes = notes.into_iter();
        self.notes
            .extend(notes.map(|note| format!("table {}: {note}", table.name)));
        self.tables.push(TableSummary {
            name: table.name.clone(),
            rows: content.rows,
            content: content.text(),
            was_finished,
            touched: touched(table),
            compared: Vec::new(),
        });
        for Touched {
            column,
            rule,
            action,
            values,
        } in touched(table)
        {
            let table = &table.name;
            self.notes.push(format!(
                "table {table}: column `{column}`: {rule} = \"{action}\" changed {values} values"
            ));
        }
    }
}

/// The rules that touched values of a table.
fn touched(table: &Table) -> Vec<Touched> {
    let of_column = |column: &Column| {
        let rules = column.rules.as_ref().map(|rules| rules.touched());
        let name = column.name.clone();
        let touched = rules.unwrap_or_default().into_iter();
        touched.map(move |(fault, action, values)| Touched {
            column: name.clone(),
            rule: fault.name(),
            action: action.name(),
            values,
        })
    };
    table.columns.iter().flat_map(of_column).collect()
}

/// Whether a rule changed values of a column, or left out rows.
fn is_changed(table: &Table, at: usize) -> bool {
    let touched = touched(table);
    let is_row = |one: &Touched| one.action == Action::LeaveOut.name();
    let is_own = |one: &Touched| one.column == table.columns[at].name;
    touched.iter().any(|one| is_row(one) || is_own(one))
}

/// Checks the destination, and begins a copy or continues one. Returns the finished tables.
fn prepare(
    job: &Job,
    source: &str,
    destination: &mut dyn Destination,
    schema: &Schema,
) -> Result<BTreeMap<String, String>, Error> {
    let mut state = destination.state()?;
    match state.remove(SOURCE) {
        Some(other) if other != source => {
            return Err(Error::Refused(format!(
                "the destination has an unfinished copy of {other}; finish that, or drop its tables and {STATE}"
            )));
        }
        Some(_) => {
            let is_left_out =
                |name: &&String| !schema.tables.iter().any(|table| table.name == **name);
            let others: Vec<&str> = state
                .keys()
                .filter(is_left_out)
                .map(|name| &**name)
                .collect();
            // The end of the copy would forget them, without their foreign keys and counters.
            if !others.is_empty() {
                return Err(Error::Refused(format!(
                    "the destination has an unfinished copy with {}; copy these tables too (--table, --exclude), or drop them and {STATE}",
                    others.join(", ")
                )));
            }
        }
        None => {
            let there = destination.tables()?;
            let names = schema.tables.iter().map(|table| &table.name);
            let existing: Vec<&str> = names
                .filter(|name| there.contains(&destination_name(destination, name)))
                .map(|name| &**name)
                .collect();
            if !existing.is_empty() && !job.replaces {
                return Err(Error::Refused(format!(
                    "the destination has {} already; choose other tables (--table, --exclude), or drop them with --replace-tables",
                    existing.join(", ")
                )));
            }
            destination.begin(source, &existing)?;
        }
    }
    Ok(state)
}

/// The name of a table in the destination.
fn destination_name(destination: &dyn Destination, name: &str) -> String {
    let table = Table {
        name: name.to_owned(),
        ..Table::default()
    };
    destination.named(&table).name
}

/// Copies one table. It is kept if its rows are those that were read.
fn one(
    source: &mut dyn Source,
    destination: &mut dyn Destination,
    table: &Table,
    observer: &dyn Observer,
) -> Result<(Content, Vec<String>), Error> {
    let target = destination.target();
    let (sender, receiver) = sync_channel::<Vec<u8>>(WAITING_MAX);
    thread::scope(|scope| {
        let reader = scope.spawn(|| read(source, table, target, observer, Some(sender)));
        let mut incoming = Incoming::new(table, observer.stop(), receiver, reader);
        let written = destination.write(table, &mut incoming);
        incoming.end(written)
    })
}

/// Why the destination can't have a value, and what happens to it.
fn fault(column: &Column, value: &[u8], target: Target) -> Option<(Fault, Action)> {
    let rules = column.rules.as_deref();
    let fault = column.kind.fault(value, target);
    let is_invalid = || rules.is_some_and(|rules| rules.is_invalid(value));
    let fault = fault.or_else(|| is_invalid().then_some(Fault::Invalid))?;
    Some((
        fault,
        rules.map_or(Action::Refuse, |rules| rules.touch(fault)),
    ))
}

/// Appends a value to a row, or what its rule makes of it. Returns false if the row is left out.
fn push(
    row: &mut Row,
    column: &Column,
    value: Option<&[u8]>,
    target: Target,
) -> Result<bool, String> {
    let Some((fault, action)) = value.and_then(|value| fault(column, value, target)) else {
        return row.push(column.kind, value, target).map(|()| true);
    };
    match action {
        Action::Refuse => return Err(fault.told().to_owned()),
        Action::Null => row.push(column.kind, None, target)?,
        Action::Strip => {
            let kept = value.iter().flat_map(|value| value.iter());
            let kept: Vec<u8> = kept.filter(|byte| **byte != 0).copied().collect();
            row.push(column.kind, Some(&kept), target)?;
        }
        Action::LeaveOut => return Ok(false),
    }
    Ok(true)
}

/// Reads the rows of a table, and sends them in canonical form if there is a receiver.
fn read(
    source: &mut dyn Source,
    table: &Table,
    target: Target,
    observer: &dyn Observer,
    sender: Option<SyncSender<Vec<u8>>>,
) -> Result<Content, Error> {
    let mut content = Content::default();
    let mut row = Row::default();
    for rules in table
        .columns
        .iter()
        .filter_map(|column| column.rules.as_ref())
    {
        rules.begin();
    }
    let (mut block, mut told) = (Vec::with_capacity(BLOCK_BYTES), 0);
    let mut wrong = None;
    source.rows(table, None, &mut |values| {
        row.begin();
        for (value, column) in values.iter().zip(&table.columns) {
            let pushed = push(&mut row, column, *value, target);
            if let Ok(false) = pushed {
                return true;
            }
            if let Err(what) = pushed {
                wrong = Some(Error::Value {
                    table: table.name.clone(),
                    row: content.rows + 1,
                    column: column.name.clone(),
                    what,
                });
                return false;
            }
        }
        content.add(&row);
        block.extend_from_slice(row.framed());
        if block.len() < BLOCK_BYTES {
            return true;
        }
        observer.rows(content.rows - told);
        told = content.rows;
        if let Err(stopped) = observer.stop().look() {
            wrong = Some(stopped);
            return false;
        }
        let full = std::mem::replace(&mut block, Vec::with_capacity(BLOCK_BYTES));
        // The destination's error is told if it takes no more.
        sender
            .as_ref()
            .is_none_or(|sender| sender.send(full).is_ok())
    })?;
    if let Some(wrong) = wrong {
        return Err(wrong);
    }
    observer.rows(content.rows - told);
    if let Some(sender) = sender
        && !block.is_empty()
    {
        _ = sender.send(block);
    }
    Ok(content)
}
