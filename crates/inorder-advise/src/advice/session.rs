//! From a file to the advice on it.

use super::{Advice, FileFacts, IdLine, Item, Part, Together, Verdict, judge::judge, tree_sizes};
use crate::{
    Change, Error, Plan,
    read::{self, Database, Ids, Table},
    rules::{self, Candidate, Class, Group},
    snapshot::{Snapshot, check_space},
    trial::{Inserts, Queries, Trial, vacuum_into},
};
use rusqlite::Connection;
use std::{
    fs,
    path::{Path, PathBuf},
    thread,
};

/// What is being done.
pub trait Observer: Sync {
    /// A step begins.
    fn step(&self, name: &str);
    /// The step goes on with a table or an index.
    fn object(&self, name: &str);
}

/// How to advise.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Threads to use; 0 for as many as the machine has, at most two.
    pub threads: usize,
    /// Statements of the application.
    pub queries: Vec<String>,
    /// Whether the minor changes are part of the plan.
    pub takes_minor: bool,
    /// Whether the copy stays as it was taken, for [`crate::migrate`].
    pub keeps_copy: bool,
}

/// Tables are read and rebuilt by so many threads at most: each has its own cache.
const THREADS_MAX: usize = 2;

/// What [`crate::migrate`] needs beside the copy: the one that the script is run on, in which old and new tables are there
/// at the same time, its journal, and the temporary file of `VACUUM`. Without rebuilt tables it is one less.
const COPIES_TO_MIGRATE: u64 = 4;

/// Copies a database into `folder`, reads the copy, tries what the rules find, and judges.
///
/// # Errors
/// Those of [`Snapshot::take`], and those of reading the schema.
pub fn advise(
    path: &Path,
    folder: &Path,
    options: &Options,
    observer: &dyn Observer,
) -> Result<Advice, Error> {
    observer.step("copying");
    let snapshot = Snapshot::take(path, folder)?;
    if options.keeps_copy {
        let bytes = snapshot.file_bytes + snapshot.wal_bytes;
        check_space(folder, COPIES_TO_MIGRATE * bytes)?;
    }
    let name = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let threads = match options.threads {
        0 => thread::available_parallelism()
            .map_or(1, usize::from)
            .min(THREADS_MAX),
        threads => threads,
    };
    let mut notes = snapshot.notes.clone();
    observer.step("vacuuming the copy");
    let (base, is_damaged) = vacuumed(&snapshot.path, folder, options.keeps_copy, &mut notes);
    observer.step("reading the schema");
    let mut database = Database::read(&base)?;
    observer.step("reading values");
    database.scan(&base, threads, &|table| observer.object(table));
    notes.append(&mut database.problems);
    if !database.missing.is_empty() {
        notes.push(format!(
            "Missing here: {}. Without it the file can't be rebuilt: sizes, and no plan.",
            database.missing.join(", ")
        ));
    }
    let vacuumed_bytes = (!is_damaged).then(|| database.bytes());
    let mut advice = Advice {
        file: FileFacts::new(name, &snapshot),
        ids: id_lines(&database),
        vacuumed_bytes,
        notes,
        is_damaged,
        database,
        copy: snapshot.path,
        lost: Vec::new(),
        items: Vec::new(),
        together: None,
        with_minor: None,
        queries: None,
    };
    let trial = Trial {
        base: &base,
        folder,
        database: &advice.database,
        is_wal: advice.file.is_wal,
        threads,
    };
    let found = try_changes(&trial, &advice, options, observer)?;
    (advice.lost, advice.items) = (found.lost, found.items);
    (advice.together, advice.with_minor, advice.queries) =
        (found.together, found.with_minor, found.queries);
    // The copy itself, if it is damaged.
    if base != advice.copy {
        _ = fs::remove_file(&base);
    }
    Ok(advice)
}

/// What the trial adds to the advice.
#[derive(Default)]
struct Found {
    lost: Vec<Candidate>,
    items: Vec<Item>,
    together: Option<Together>,
    with_minor: Option<Together>,
    queries: Option<Queries>,
}

fn try_changes(
    trial: &Trial<'_>,
    advice: &Advice,
    options: &Options,
    observer: &dyn Observer,
) -> Result<Found, Error> {
    let (lost, mut candidates): (Vec<_>, Vec<_>) = rules::find(trial.database)
        .into_iter()
        .partition(|candidate| candidate.class == Class::Lost);
    if advice.is_damaged {
        return Ok(Found {
            lost,
            ..Found::default()
        });
    }
    observer.step("trying changes");
    let measures = trial.measure(&mut candidates, &|object| observer.object(object))?;
    observer.step("inserting rows");
    let mut parts = Vec::new();
    for (candidate, measure) in candidates.into_iter().zip(measures) {
        let inserts = ids_in_order(trial, &candidate)?;
        parts.push(Part {
            candidate,
            measure,
            inserts,
        });
    }
    let items = judge(parts, advice.base_bytes(), trial.database.program);
    if !trial.database.missing.is_empty() {
        return Ok(Found {
            lost,
            items,
            ..Found::default()
        });
    }
    observer.step("trying the changes together");
    let chosen: &[Verdict] = match options.takes_minor {
        true => &[Verdict::Change, Verdict::Minor],
        false => &[Verdict::Change],
    };
    let changes = changes_of(&items, chosen);
    let all = changes_of(&items, &[Verdict::Change, Verdict::Minor]);
    let mut found = Found {
        lost,
        items,
        ..Found::default()
    };
    if all.len() > changes.len()
        && let Some((path, together)) = together(trial, all, "with-minor.db")?
    {
        _ = fs::remove_file(path);
        found.with_minor = Some(together);
    }
    let made = together(trial, changes, "together.db")?;
    if !options.queries.is_empty() {
        observer.step("running queries");
        let changed = made.as_ref().map(|(path, _)| path.as_path());
        found.queries = Some(trial.queries(changed, &options.queries)?);
    }
    if let Some((path, mut together)) = made {
        observer.step("inserting rows");
        together.inserts = inserts(trial, &path, &together.plan.changes)?;
        _ = fs::remove_file(path);
        found.together = Some(together);
    }
    Ok(found)
}

/// Vacuums the copy, which it replaces; a copy that can't be rebuilt is damaged and stays as it is.
fn vacuumed(
    copy: &Path,
    folder: &Path,
    keeps_copy: bool,
    notes: &mut Vec<String>,
) -> (PathBuf, bool) {
    let base = folder.join("base.db");
    let made = read::open(copy).and_then(|connection| {
        vacuum_into(&connection, &base)?;
        Ok(connection)
    });
    match made {
        Ok(connection) => {
            drop(connection);
            if !keeps_copy {
                _ = fs::remove_file(copy);
            }
            (base, false)
        }
        Err(error) => {
            _ = fs::remove_file(&base);
            notes.push(format!(
                "The copy can't be rebuilt: {error}. Nothing is advised on a damaged file."
            ));
            notes.extend(failed_checks(copy));
            (copy.into(), true)
        }
    }
}

/// What SQLite's own check says.
fn failed_checks(copy: &Path) -> Vec<String> {
    let check = || -> rusqlite::Result<Vec<String>> {
        let connection = Connection::open(copy)?;
        let mut statement = connection.prepare("PRAGMA integrity_check(10)")?;
        let rows = statement.query_map((), |row| row.get::<_, String>(0))?;
        rows.collect()
    };
    match check() {
        Ok(lines) => lines
            .iter()
            .flat_map(|line| line.lines())
            .filter(|line| *line != "ok")
            .map(|line| format!("integrity_check: {}", line.trim()))
            .collect(),
        Err(error) => vec![format!("integrity_check ended with: {error}")],
    }
}

/// Inserts are measured for so many tables, the largest ones.
const TABLES_MAX: usize = 8;

/// Measures inserts into the tables that changes are about.
fn inserts(trial: &Trial<'_>, changed: &Path, changes: &[Change]) -> Result<Vec<Inserts>, Error> {
    let is_changed = |table: &&Table| changes.iter().any(|change| is_about(change, table));
    let mut tables: Vec<&Table> = trial.database.tables.iter().filter(is_changed).collect();
    tables.sort_by_key(|table| std::cmp::Reverse(table.pages()));
    tables.truncate(TABLES_MAX);
    let measured = tables
        .into_iter()
        .map(|table| trial.inserts(changed, table));
    Ok(measured
        .collect::<Result<Vec<_>, _>>()?
        .into_iter()
        .flatten()
        .collect())
}

fn is_about(change: &Change, table: &Table) -> bool {
    match change {
        Change::DropIndex { index } | Change::PartialIndex { index, .. } => {
            table.indexes.iter().any(|own| own.name == *index)
        }
        Change::DropUnique { table: name, .. }
        | Change::WithoutRowid { table: name }
        | Change::Rowid { table: name }
        | Change::IntegerPrimaryKey { table: name, .. } => table.name == *name,
        Change::IdsToBlobs { .. } | Change::PageSize { .. } | Change::Vacuum => false,
    }
}

/// Measures what ids in order would save, for a candidate that proposes them.
fn ids_in_order(trial: &Trial<'_>, candidate: &Candidate) -> Result<Option<Inserts>, Error> {
    match candidate.group {
        Group::RandomIds => {
            let column = candidate
                .object
                .rsplit_once('.')
                .map_or("", |(_, column)| column);
            trial.ids_in_order(&candidate.table, column)
        }
        _ => Ok(None),
    }
}

fn changes_of(items: &[Item], verdicts: &[Verdict]) -> Vec<Change> {
    let chosen = items.iter().filter(|item| verdicts.contains(&item.verdict));
    chosen.flat_map(Item::changes).cloned().collect()
}

/// Makes all changes in one copy. A change that is refused beside the others is left out.
fn together(
    trial: &Trial<'_>,
    mut changes: Vec<Change>,
    name: &str,
) -> Result<Option<(PathBuf, Together)>, Error> {
    let mut refused = Vec::new();
    while !changes.is_empty() {
        match trial.together(&changes, name) {
            Ok((path, bytes)) => {
                let plan = Plan { changes };
                let trees = tree_sizes(&Database::read(&path)?);
                return Ok(Some((
                    path,
                    Together {
                        plan,
                        bytes,
                        refused,
                        trees,
                        inserts: Vec::new(),
                    },
                )));
            }
            Err(Error::Refused { change, why }) => {
                let before = changes.len();
                changes.retain(|own| own.to_string() != change);
                refused.push(format!("{change}: {why}"));
                if changes.len() == before {
                    changes.clear();
                }
            }
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// The columns that hold ids or are keys, in words.
fn id_lines(database: &Database) -> Vec<IdLine> {
    let tables = database
        .tables
        .iter()
        .filter(|table| table.is_ordinary() && table.rows > 0);
    tables
        .flat_map(|table| (0..table.columns.len()).filter_map(|at| id_line(table, at)))
        .collect()
}

fn id_line(table: &Table, at: usize) -> Option<IdLine> {
    let column = &table.columns[at];
    let is_key = table.key == [at];
    let is_indexed = table
        .indexes
        .iter()
        .any(|index| index.terms.iter().any(|term| term.column == Some(at)));
    let line = |kind: String, note: &str| IdLine {
        column: format!("{}.{}", table.name, column.name),
        kind,
        note: note.into(),
    };
    if let Some(ids) = Ids::of(table, column) {
        let note = match (ids.is_random(), is_indexed) {
            _ if ids.form().is_some_and(|form| form.id_form().is_some()) => "text",
            (true, true) => "random",
            (true, false) => "random, not indexed",
            _ => "good",
        };
        return Some(line(ids.in_words(column), note));
    }
    if table.rowid_alias == Some(at) {
        return Some(line("rowid alias".into(), "good"));
    }
    let kind = is_key
        .then(|| read::integer_kind(table, column))
        .flatten()?;
    Some(line(format!("{kind}, beside the rowid"), ""))
}
