//! What a change gives, measured on copies. The trial judges nothing.
//!
//! Every size is that of a file after VACUUM. B-trees add up, so an index that goes saves its own pages; a table that
//! gets another layout is rebuilt with its indexes; changes that are made together are measured together.

mod inserts;
mod look_ups;
mod pairs;
mod parameters;
mod queries;
mod room;
mod scale;
mod schema;
mod value;

pub use inserts::{Cost, Inserts, ROWS_PER_TRANSACTION};
pub use look_ups::LookUps;
pub use pairs::Pairs;
pub use queries::{Queries, Query, statements};
pub use scale::Scale;

use crate::{
    Change, Error, apply,
    read::{self, Database, Table},
    rules::{Candidate, Class},
};
use inorder_engine::sqlite::structure;
use room::Room;
use rusqlite::Connection;
use serde::Serialize;
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    sync::Mutex,
    thread,
};

/// Files above this are rebuilt with another page size only if their pages have this share unused.
const LARGE_BYTES: u64 = 200_000_000;
const UNUSED_MIN: f64 = 0.03;

/// How a size was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// The pages of the B-trees that go.
    Pages,
    /// The tables were rebuilt.
    Rebuilt,
    /// It can't be more than the bytes that are unused.
    Bound,
}

/// Look-ups are measured where a change saves this share of the file.
const LOOK_UPS_MIN: f64 = 0.001;
/// Keys and indexes of one change that look-ups are measured by.
const WAYS_MAX: usize = 3;

/// What a candidate gave: its size, and look-ups where it rebuilds tables.
#[derive(Debug, Clone, Default)]
pub struct Measured {
    /// What it saves, if that was measured.
    pub measure: Option<Measure>,
    /// Look-ups before and after.
    pub look_ups: Vec<LookUps>,
    /// Why the change can't be made.
    pub refused: Option<String>,
}

/// What a change saves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Measure {
    /// Bytes less after VACUUM; negative for more.
    pub saved_bytes: i64,
    /// How it was found.
    pub method: Method,
}

/// Measures changes on copies of one database.
pub struct Trial<'d> {
    /// The vacuumed copy.
    pub base: &'d Path,
    /// Where copies are made.
    pub folder: &'d Path,
    /// What was read of the vacuumed copy.
    pub database: &'d Database,
    /// Whether the database is in WAL mode, as the copies are while rows are inserted.
    pub is_wal: bool,
    /// Threads that rebuild.
    pub threads: usize,
    /// How many times larger the original's tables are, if the copy is a sample. Times of a sample are not taken.
    pub scale: &'d Scale,
}

impl Trial<'_> {
    /// Measures each candidate by itself, those that would be refused become rejected ones.
    ///
    /// # Errors
    /// Those of the copies.
    pub fn measure(
        &self,
        candidates: &mut [Candidate],
        progress: &(dyn Fn(&str) + Sync),
    ) -> Result<Vec<Measured>, Error> {
        for candidate in candidates.iter_mut() {
            let is_proposed = matches!(candidate.class, Class::Safe | Class::App);
            // A rebuild checks the change itself.
            let is_rebuilt = candidate.changes.iter().any(is_rebuild);
            if is_proposed
                && !is_rebuilt
                && !candidate.changes.is_empty()
                && let Err(Error::Refused { why, .. }) = apply::check(self.base, &candidate.changes)
            {
                candidate.class = Class::Rejected;
                candidate.reason = why;
            }
        }
        let measures = self.measure_each(candidates, progress)?;
        for (candidate, measured) in candidates.iter_mut().zip(&measures) {
            if let Some(why) = &measured.refused {
                candidate.class = Class::Rejected;
                candidate.reason.clone_from(why);
            }
        }
        Ok(measures)
    }

    fn measure_each(
        &self,
        candidates: &[Candidate],
        progress: &(dyn Fn(&str) + Sync),
    ) -> Result<Vec<Measured>, Error> {
        let room = Room::new(self.database.bytes());
        let queue = Mutex::new((0..candidates.len()).collect::<Vec<_>>());
        let measures = Mutex::new(vec![Measured::default(); candidates.len()]);
        let failure = Mutex::new(None);
        thread::scope(|scope| {
            for _ in 0..self.threads {
                scope.spawn(|| {
                    while let Some(at) = queue.lock().ok().and_then(|mut queue| queue.pop()) {
                        let _stay = room.enter(self.rebuilt_bytes(&candidates[at]));
                        progress(&candidates[at].object);
                        let measured = match self.one(&candidates[at], at) {
                            Err(Error::Refused { why, .. }) => Ok(Measured {
                                refused: Some(why),
                                ..Measured::default()
                            }),
                            measured => measured,
                        };
                        match measured {
                            Ok(measured) => {
                                if let Ok(mut measures) = measures.lock() {
                                    measures[at] = measured;
                                }
                            }
                            Err(error) => {
                                if let Ok(mut failure) = failure.lock() {
                                    failure.get_or_insert(error);
                                }
                                // The others end with what they are at.
                                if let Ok(mut queue) = queue.lock() {
                                    queue.clear();
                                }
                            }
                        }
                    }
                });
            }
        });
        match failure.into_inner().ok().flatten() {
            Some(error) => Err(error),
            None => Ok(measures.into_inner().unwrap_or_default()),
        }
    }

    /// Bytes that the copy for a candidate takes, about.
    fn rebuilt_bytes(&self, candidate: &Candidate) -> u64 {
        let page_bytes = u64::from(self.database.page_bytes);
        let bytes = |change: &Change| match change {
            Change::PageSize { .. } => self.database.bytes(),
            _ => {
                let tables = tables_of(change);
                let tables = tables.iter().filter_map(|name| self.database.table(name));
                tables.map(Table::pages).sum::<u64>() * page_bytes
            }
        };
        candidate.changes.iter().map(bytes).sum()
    }

    fn one(&self, candidate: &Candidate, number: usize) -> Result<Measured, Error> {
        let [change] = &candidate.changes[..] else {
            return Ok(Measured::default());
        };
        let page_bytes = i64::from(self.database.page_bytes);
        let of_pages = |pages: u64| Measure {
            saved_bytes: pages as i64 * page_bytes,
            method: Method::Pages,
        };
        let is_rejected = candidate.class == Class::Rejected;
        let measure = match change {
            Change::DropIndex { index } => self.index_pages(index).map(of_pages),
            Change::PartialIndex { index, .. } => self
                .index_pages(index)
                .map(|pages| of_pages(pages.saturating_sub(1))),
            Change::DropUnique { table, columns } => {
                self.unique_pages(table, columns).map(of_pages)
            }
            Change::Vacuum => None,
            _ if is_rejected => None,
            Change::PageSize { bytes } => Some(self.with_page_size(*bytes, number)?),
            Change::WithoutRowid { .. }
            | Change::WithoutRowidByUnique { .. }
            | Change::Rowid { .. }
            | Change::IntegerPrimaryKey { .. }
            | Change::IdsToBlobs { .. } => return self.rebuilt(change, number),
        };
        Ok(Measured {
            measure,
            ..Measured::default()
        })
    }

    fn index_pages(&self, name: &str) -> Option<u64> {
        self.database.tables.iter().find_map(|table| {
            let mut indexes = table.indexes.iter();
            let index = indexes.find(|index| index.name == name)?;
            Some(self.scale.index_pages(&table.name, index))
        })
    }

    fn unique_pages(&self, table: &str, columns: &[String]) -> Option<u64> {
        let table = self.database.table(table)?;
        let wanted: Option<Vec<usize>> = columns.iter().map(|name| table.column(name)).collect();
        let mut indexes = table
            .indexes
            .iter()
            .filter(|index| index.origin == read::Origin::Unique);
        let index = indexes.find(|index| index.columns() == wanted)?;
        Some(self.scale.index_pages(&table.name, index))
    }

    /// Pages of all B-trees of a copy but the schema's.
    fn pages_of_trees(&self, path: &Path) -> Result<u64, Error> {
        let connection = read::open(path)?;
        let trees = structure(&connection)?;
        Ok(trees
            .iter()
            .filter(|tree| !tree.name.starts_with("sqlite_schema"))
            .map(|tree| self.scale.pages(&tree.table, tree))
            .sum())
    }

    /// Pages of a table and its indexes.
    fn pages_of(&self, table: &Table) -> u64 {
        let trees = table.indexes.iter().filter_map(|index| index.tree.as_ref());
        let trees = trees.chain(&table.tree);
        trees.map(|tree| self.scale.pages(&table.name, tree)).sum()
    }

    /// Bytes of a copy; of a sample those that the original would have.
    fn bytes_of(&self, path: &Path) -> Result<u64, Error> {
        if !self.scale.is_estimate() {
            return schema::bytes_after_vacuum(path);
        }
        let database = Database::read(path)?;
        let pages = self.pages_of_trees(path)? + database.schema_tree.pages;
        Ok(pages * u64::from(database.page_bytes))
    }

    /// Rebuilds the tables that a change is about, with their indexes.
    fn rebuilt(&self, change: &Change, number: usize) -> Result<Measured, Error> {
        let tables: Vec<&Table> = tables_of(change)
            .iter()
            .filter_map(|name| self.database.table(name))
            .collect();
        let names: Vec<&str> = tables.iter().map(|table| &*table.name).collect();
        let target = self.folder.join(format!("trial-{number}.db"));
        apply::apply_to_tables(self.base, &target, std::slice::from_ref(change), &names)?;
        let after = self.pages_of_trees(&target)?;
        let before: u64 = tables.iter().map(|table| self.pages_of(table)).sum();
        let saved_bytes = (before as i64 - after as i64) * i64::from(self.database.page_bytes);
        let is_worth_it = saved_bytes as f64 >= LOOK_UPS_MIN * self.database.bytes() as f64;
        let look_ups = match is_worth_it && !self.scale.is_estimate() {
            true => self.look_ups(&target, change)?,
            false => Vec::new(),
        };
        remove(&[target])?;
        Ok(Measured {
            measure: Some(Measure {
                saved_bytes,
                method: Method::Rebuilt,
            }),
            look_ups,
            refused: None,
        })
    }

    /// Measures look-ups by the keys and indexes that a change is about, in the vacuumed copy and in one with the change.
    ///
    /// # Errors
    /// Those of reading the copies.
    pub fn look_ups(&self, changed: &Path, change: &Change) -> Result<Vec<LookUps>, Error> {
        let connections = [look_ups::open(self.base)?, look_ups::open(changed)?];
        let mut found = Vec::new();
        for (table, columns) in self.ways(change) {
            let converted = match change {
                Change::IdsToBlobs { columns } => columns
                    .iter()
                    .filter(|own| own.table == table.name)
                    .map(|own| (own.column.clone(), own.form))
                    .collect(),
                _ => Vec::new(),
            };
            let columns = table.names(&columns);
            let [before, after] = &connections;
            found.extend(look_ups::measure(
                [before, after],
                table,
                &columns,
                &converted,
            )?);
        }
        Ok(found)
    }

    /// The columns by which rows are found that a change is about: those of the index that goes, or of the key and the
    /// largest index of a table.
    fn ways(&self, change: &Change) -> Vec<(&Table, Vec<usize>)> {
        let whole = |index: &&read::Index| index.condition.is_none() && index.columns().is_some();
        let of_index = |wanted: &dyn Fn(&Table, &read::Index) -> bool| {
            let tables = self.database.tables.iter();
            let mut found = tables.filter_map(|table| {
                let mut indexes = table.indexes.iter().filter(whole);
                let index = indexes.find(|index| wanted(table, index))?;
                Some((table, index.columns()?))
            });
            found.next().into_iter().collect::<Vec<_>>()
        };
        match change {
            Change::DropIndex { index } => of_index(&|_, own| own.name == *index),
            Change::DropUnique { table, columns } => of_index(&|own_table, own| {
                let names = own.columns().map(|own| own_table.names(&own));
                own_table.name == *table && names.as_ref() == Some(columns)
            }),
            // Its column holds no value that could be looked up.
            Change::PartialIndex { .. } | Change::PageSize { .. } | Change::Vacuum => Vec::new(),
            Change::WithoutRowid { .. }
            | Change::WithoutRowidByUnique { .. }
            | Change::Rowid { .. }
            | Change::IntegerPrimaryKey { .. }
            | Change::IdsToBlobs { .. } => {
                let mut found = Vec::new();
                for name in tables_of(change) {
                    let Some(table) = self.database.table(name) else {
                        continue;
                    };
                    let key = key_of(change, table);
                    if !key.is_empty() {
                        found.push((table, key));
                    }
                    let others = table.indexes.iter().filter(whole);
                    let others = others.filter(|index| index.origin != read::Origin::Key);
                    let largest = others.max_by_key(|index| index.pages());
                    found.extend(largest.and_then(|index| Some((table, index.columns()?))));
                }
                found.truncate(WAYS_MAX);
                found
            }
        }
    }

    fn with_page_size(&self, page_bytes: u32, number: usize) -> Result<Measure, Error> {
        let trees = self.database.tables.iter().flat_map(|table| {
            table
                .tree
                .iter()
                .chain(table.indexes.iter().filter_map(|index| index.tree.as_ref()))
        });
        let unused: f64 = trees
            .map(|tree| tree.size_bytes as f64 * (1.0 - tree.fill.unwrap_or(1.0)))
            .sum();
        let bytes = self.database.bytes();
        if bytes > LARGE_BYTES && unused < UNUSED_MIN * bytes as f64 {
            return Ok(Measure {
                saved_bytes: unused as i64,
                method: Method::Bound,
            });
        }
        let target = self.folder.join(format!("trial-{number}.db"));
        apply(
            self.base,
            &target,
            &[Change::PageSize { bytes: page_bytes }],
        )?;
        let after = self.bytes_of(&target)?;
        let before = self.bytes_of(self.base)?;
        remove(&[target])?;
        Ok(Measure {
            saved_bytes: before as i64 - after as i64,
            method: Method::Rebuilt,
        })
    }

    /// Measures inserts into a table as it is and in a copy with changes. `None` if it is too small. Both copies lose the
    /// rows and get them back, so that sizes and times are measured before.
    ///
    /// # Errors
    /// Those of the copies.
    pub fn inserts(&self, changed: &Path, table: &Table) -> Result<Option<Inserts>, Error> {
        inserts::compare([self.base, changed], self.is_wal, table)
    }

    /// Measures inserts with the ids of a column and with ids in order.
    ///
    /// # Errors
    /// Those of the copies.
    pub fn ids_in_order(&self, table: &str, column: &str) -> Result<Option<Inserts>, Error> {
        let Some(table) = self.database.table(table) else {
            return Ok(None);
        };
        let path = self.folder.join("ids.db");
        let mut names = vec![&*table.name];
        // Without it, SQLite refuses inserts as those into a damaged file.
        if table.is_autoincrement {
            names.push("sqlite_sequence");
        }
        apply::apply_to_tables(self.base, &path, &[], &names)?;
        let found = inserts::compare_ids(&path, self.is_wal, table, column)?;
        remove(&[path])?;
        Ok(found)
    }

    /// Explains and times queries, also with changes.
    ///
    /// # Errors
    /// Those of opening the copies.
    pub fn queries(&self, changed: Option<&Path>, queries: &[String]) -> Result<Queries, Error> {
        let takes_times = !self.scale.is_estimate();
        queries::compare(self.database, self.base, changed, queries, takes_times)
    }

    /// Checks that changes can be made together, without making them.
    ///
    /// # Errors
    /// [`Error::Refused`] names the change that can't be made with the others.
    pub fn check(&self, changes: &[Change]) -> Result<(), Error> {
        apply::check(self.base, changes)
    }

    /// Makes all changes in one copy, which stays.
    ///
    /// # Errors
    /// [`Error::Refused`] names the change that can't be made with the others.
    pub fn together(&self, changes: &[Change], name: &str) -> Result<(PathBuf, u64), Error> {
        let target = self.folder.join(name);
        _ = fs::remove_file(&target);
        apply(self.base, &target, changes)?;
        let bytes = self.bytes_of(&target)?;
        Ok((target, bytes))
    }
}

/// Makes a vacuumed copy.
///
/// # Errors
/// Those of SQLite.
pub(crate) fn vacuum_into(connection: &Connection, target: &Path) -> Result<(), Error> {
    connection.execute("VACUUM INTO ?1", [target.to_string_lossy()])?;
    Ok(())
}

/// The columns by which a change finds the rows of a table: its key, or the unique one that becomes the key.
fn key_of(change: &Change, table: &Table) -> Vec<usize> {
    let names = match change {
        Change::WithoutRowidByUnique { columns, .. } => columns.as_slice(),
        Change::IntegerPrimaryKey { column, .. } => std::slice::from_ref(column),
        _ => return table.key.clone(),
    };
    names.iter().filter_map(|name| table.column(name)).collect()
}

fn is_rebuild(change: &Change) -> bool {
    matches!(
        change,
        Change::WithoutRowid { .. }
            | Change::WithoutRowidByUnique { .. }
            | Change::Rowid { .. }
            | Change::IntegerPrimaryKey { .. }
            | Change::IdsToBlobs { .. }
    )
}

/// The tables that a change rebuilds.
fn tables_of(change: &Change) -> BTreeSet<&str> {
    match change {
        Change::WithoutRowid { table }
        | Change::WithoutRowidByUnique { table, .. }
        | Change::Rowid { table }
        | Change::DropUnique { table, .. }
        | Change::IntegerPrimaryKey { table, .. } => BTreeSet::from([table.as_str()]),
        Change::IdsToBlobs { columns } => {
            columns.iter().map(|column| column.table.as_str()).collect()
        }
        _ => BTreeSet::new(),
    }
}

fn length(path: &Path) -> Result<u64, Error> {
    Ok(path.metadata().map_err(Error::io(path))?.len())
}

fn remove(paths: &[PathBuf]) -> Result<(), Error> {
    paths
        .iter()
        .try_for_each(|path| fs::remove_file(path).map_err(Error::io(path)))
}
