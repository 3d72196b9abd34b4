//! Changes that are tried: each by itself, then those that pay together.

use super::{
    Advice, Item, Part, Together, TreeSize, Verdict,
    judge::judge,
    options::{Observer, Options},
    page_size, slower, tree_sizes,
};
use crate::{
    Change, Error, Plan,
    read::{Database, Table},
    rules::{self, Candidate, Class, Group},
    trial::{Inserts, Queries, Trial},
};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Changes of one item that look-ups are measured for, the largest.
const LOOK_UPS_MAX: usize = 3;

/// What the trial adds to the advice.
#[derive(Default)]
pub(super) struct Found {
    pub(super) lost: Vec<Candidate>,
    pub(super) items: Vec<Item>,
    pub(super) together: Option<Together>,
    pub(super) with_minor: Option<Together>,
    pub(super) with_app: Option<Together>,
    pub(super) queries: Option<Queries>,
}

pub(super) fn try_changes(
    trial: &Trial<'_>,
    advice: &Advice,
    options: &Options,
    observer: &dyn Observer,
) -> Result<Found, Error> {
    let (lost, mut candidates): (Vec<_>, Vec<_>) = rules::find(trial.database)
        .into_iter()
        .partition(|candidate| candidate.class == Class::Lost);
    let mut found = Found {
        lost,
        ..Found::default()
    };
    if advice.is_damaged {
        return Ok(found);
    }
    if advice.file.is_wal {
        note_wal(&mut candidates);
    }
    let parts = measured(trial, candidates, observer)?;
    let chosen = chosen(options);
    let mut guilty: Vec<(Change, String)> = Vec::new();
    let made = loop {
        found.items = judge(
            slower::without(&parts, &guilty),
            advice.base_bytes(),
            trial.database.program,
        );
        observer.step("trying the changes together");
        page_size::settle(trial, &mut found.items, advice.base_bytes())?;
        let made = together(trial, changes_of(&found.items, chosen), "together.db")?;
        if options.queries.is_empty() {
            break made;
        }
        observer.step("running queries");
        let changed = made.as_ref().map(|(path, _)| path.as_path());
        let queries = trial.queries(changed, &options.queries)?;
        let plan = made.as_ref().map(|(_, made)| &made.plan.changes[..]);
        let more = slower::guilty(trial, plan.unwrap_or_default(), &queries)?;
        found.queries = Some(queries);
        if more.is_empty() {
            break made;
        }
        guilty.extend(more);
    };
    let all = changes_of(&found.items, &[Verdict::Change, Verdict::Minor]);
    let plan = changes_of(&found.items, chosen);
    let has_more = all.len() > plan.len();
    if let Some((path, _)) = &made
        && !trial.scale.is_estimate()
    {
        observer.step("looking rows up");
        look_ups(trial, &mut found.items, chosen, path)?;
    }
    if let Some((path, mut together)) = made {
        observer.step("inserting rows");
        together.inserts = inserts(trial, &path, &together.plan.changes)?;
        _ = fs::remove_file(path);
        found.together = Some(together);
    }
    if has_more {
        found.with_minor = with_minor(trial, all, found.together.as_ref(), advice)?;
    }
    found.with_app = with_app(trial, &found.items, chosen)?;
    // A query that breaks is a fault of the changes.
    if found.queries.as_ref().is_some_and(Queries::is_broken) {
        (found.together, found.with_minor, found.with_app) = (None, None, None);
    }
    Ok(found)
}

/// Says that another page size takes a file out of WAL mode for a while.
fn note_wal(candidates: &mut [Candidate]) {
    let sizes = candidates
        .iter_mut()
        .filter(|candidate| candidate.group == Group::PageSize);
    for candidate in sizes {
        let note = "The file is in WAL mode and has to leave it for this: every process must close it before.";
        candidate.notes.push(note.into());
    }
}

/// Measures each candidate by itself.
fn measured(
    trial: &Trial<'_>,
    mut candidates: Vec<Candidate>,
    observer: &dyn Observer,
) -> Result<Vec<Part>, Error> {
    observer.step("trying changes");
    let measures = trial.measure(&mut candidates, &|object| observer.object(object))?;
    observer.step("inserting rows");
    let mut parts = Vec::new();
    for (candidate, measured) in candidates.into_iter().zip(measures) {
        let inserts = ids_in_order(trial, &candidate)?;
        parts.push(Part {
            is_of_sample: trial.scale.is_estimate() && needs_all_rows(&candidate),
            candidate,
            measure: measured.measure,
            inserts,
            look_ups: measured.look_ups,
        });
    }
    Ok(parts)
}

/// Whether it depends on the values of all rows that a candidate holds; the others depend on the catalog alone.
fn needs_all_rows(candidate: &Candidate) -> bool {
    match candidate.group {
        Group::RedundantIndex | Group::UniquePrefix | Group::ImpliedUnique | Group::PageSize => {
            false
        }
        Group::LostIds
        | Group::NullIndex
        | Group::OneValue
        | Group::DuplicateConstraint
        | Group::IntegerRange
        | Group::IntegerKey
        | Group::WithoutRowid
        | Group::Rowid
        | Group::IdsToBlobs
        | Group::RandomIds => true,
    }
}

/// Measures look-ups for the changes that are made together and were not rebuilt by themselves.
fn look_ups(
    trial: &Trial<'_>,
    items: &mut [Item],
    chosen: &[Verdict],
    path: &Path,
) -> Result<(), Error> {
    for item in items
        .iter_mut()
        .filter(|item| chosen.contains(&item.verdict))
    {
        let parts = item.parts.iter_mut();
        for part in parts
            .filter(|part| part.look_ups.is_empty())
            .take(LOOK_UPS_MAX)
        {
            for change in &part.candidate.changes {
                part.look_ups.extend(trial.look_ups(path, change)?);
            }
        }
    }
    Ok(())
}

/// The plan with the minor changes. Where those only drop indexes it isn't built: B-trees add up.
fn with_minor(
    trial: &Trial<'_>,
    all: Vec<Change>,
    made: Option<&Together>,
    advice: &Advice,
) -> Result<Option<Together>, Error> {
    let plan = made.map_or(&[][..], |made| &made.plan.changes);
    let more: Vec<&Change> = all.iter().filter(|change| !plan.contains(change)).collect();
    let trees = match made {
        Some(made) => made.trees.clone(),
        None => tree_sizes(trial.database),
    };
    let gone = more.iter().map(|change| dropped(trial.database, change));
    let is_whole = made.is_none_or(|made| made.refused.is_empty());
    let gone: Option<Vec<(String, String)>> = gone.collect();
    let is_drop = |tree: &TreeSize, gone: &[(String, String)]| {
        let mut gone = gone.iter();
        gone.any(|(table, index)| tree.table == *table && tree.index.as_ref() == Some(index))
    };
    match gone {
        Some(gone) if is_whole && !trial.scale.is_estimate() && trial.check(&all).is_ok() => {
            let (gone, kept): (Vec<_>, Vec<_>) =
                trees.into_iter().partition(|tree| is_drop(tree, &gone));
            let before = made.map_or(advice.base_bytes(), |made| made.bytes);
            let bytes = before - gone.iter().map(|tree| tree.bytes).sum::<u64>().min(before);
            Ok(Some(Together {
                plan: Plan { changes: all },
                bytes,
                refused: Vec::new(),
                trees: kept,
                inserts: Vec::new(),
            }))
        }
        _ => measured_together(trial, all, "with-minor.db"),
    }
}

/// The chosen changes with those that need the application. `None` if there are none of these.
fn with_app(
    trial: &Trial<'_>,
    items: &[Item],
    chosen: &[Verdict],
) -> Result<Option<Together>, Error> {
    match changes_of(items, &[Verdict::App]).is_empty() {
        true => Ok(None),
        false => {
            let changes = changes_of(items, &[chosen, &[Verdict::App]].concat());
            measured_together(trial, changes, "with-app.db")
        }
    }
}

/// Changes made in a copy that is removed.
fn measured_together(
    trial: &Trial<'_>,
    changes: Vec<Change>,
    name: &str,
) -> Result<Option<Together>, Error> {
    let made = together(trial, changes, name)?;
    Ok(made.map(|(path, together)| {
        _ = fs::remove_file(path);
        together
    }))
}

/// The table and the title of the index that a change drops. `None` for other changes.
fn dropped(database: &Database, change: &Change) -> Option<(String, String)> {
    database.tables.iter().find_map(|table| {
        let is_meant = |index: &&crate::read::Index| match change {
            Change::DropIndex { index: name } => index.name == *name,
            Change::DropUnique {
                table: own,
                columns,
            } => {
                table.name == *own
                    && index.origin == crate::read::Origin::Unique
                    && index.columns().map(|own| table.names(&own)).as_ref() == Some(columns)
            }
            _ => false,
        };
        let index = table.indexes.iter().find(is_meant)?;
        Some((table.name.clone(), rules::title(table, index)))
    })
}

/// Inserts are measured for so many tables, the largest ones.
const TABLES_MAX: usize = 8;

/// Measures inserts into the tables that changes are about.
fn inserts(trial: &Trial<'_>, changed: &Path, changes: &[Change]) -> Result<Vec<Inserts>, Error> {
    let is_changed = |table: &&Table| changes.iter().any(|change| slower::is_of(change, table));
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

/// Measures what ids in order would save, for a candidate that proposes them.
fn ids_in_order(trial: &Trial<'_>, candidate: &Candidate) -> Result<Option<Inserts>, Error> {
    match candidate.group {
        Group::RandomIds if candidate.class != Class::Rejected => {
            let column = candidate
                .object
                .rsplit_once('.')
                .map_or("", |(_, column)| column);
            trial.ids_in_order(&candidate.table, column)
        }
        _ => Ok(None),
    }
}

/// The verdicts whose changes are the plan.
fn chosen(options: &Options) -> &'static [Verdict] {
    match options.takes_minor {
        true => &[Verdict::Change, Verdict::Minor],
        false => &[Verdict::Change],
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
                let mut database = Database::read(&path)?;
                trial.scale.apply(&mut database);
                let trees = tree_sizes(&database);
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
            // Where pages can't be copied as they are, SQLite has to make every table, and lacks what it needs.
            Err(Error::Sqlite(_)) if !trial.database.missing.is_empty() => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}
