//! What a change gives, measured on copies. The trial judges nothing.
//!
//! Every size is that of a file after VACUUM. B-trees add up, so an index that goes saves its own pages; a table that
//! gets another layout is rebuilt with its indexes; changes that are made together are measured together.

mod extract;
mod inserts;
mod queries;

pub use inserts::{Cost, Inserts, ROWS_PER_TRANSACTION};
pub use queries::{Queries, Query, statements};

use crate::{
    Change, Error, apply,
    read::{self, Database, Table},
    rules::{Candidate, Class},
};
use inorder_engine::sqlite::structure;
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
    ) -> Result<Vec<Option<Measure>>, Error> {
        for candidate in candidates.iter_mut() {
            let is_proposed = matches!(candidate.class, Class::Safe | Class::App);
            if is_proposed
                && !candidate.changes.is_empty()
                && let Err(Error::Refused { why, .. }) = apply::check(self.base, &candidate.changes)
            {
                candidate.class = Class::Rejected;
                candidate.reason = why;
            }
        }
        let candidates = &*candidates;
        let queue = Mutex::new((0..candidates.len()).collect::<Vec<_>>());
        let measures = Mutex::new(vec![None; candidates.len()]);
        let failure = Mutex::new(None);
        thread::scope(|scope| {
            for _ in 0..self.threads {
                scope.spawn(|| {
                    while let Some(at) = queue.lock().ok().and_then(|mut queue| queue.pop()) {
                        progress(&candidates[at].object);
                        match self.one(&candidates[at], at) {
                            Ok(measure) => {
                                if let Ok(mut measures) = measures.lock() {
                                    measures[at] = measure;
                                }
                            }
                            Err(error) => {
                                if let Ok(mut failure) = failure.lock() {
                                    failure.get_or_insert(error);
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

    fn one(&self, candidate: &Candidate, number: usize) -> Result<Option<Measure>, Error> {
        let [change] = &candidate.changes[..] else {
            return Ok(None);
        };
        let page_bytes = i64::from(self.database.page_bytes);
        let of_pages = |pages: u64| Measure {
            saved_bytes: pages as i64 * page_bytes,
            method: Method::Pages,
        };
        let is_rejected = candidate.class == Class::Rejected;
        Ok(match change {
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
            | Change::Rowid { .. }
            | Change::IntegerPrimaryKey { .. }
            | Change::IdsToBlobs { .. } => Some(self.rebuilt(change, number)?),
        })
    }

    fn index_pages(&self, name: &str) -> Option<u64> {
        let mut indexes = self.database.tables.iter().flat_map(|table| &table.indexes);
        indexes
            .find(|index| index.name == name)
            .map(read::Index::pages)
    }

    fn unique_pages(&self, table: &str, columns: &[String]) -> Option<u64> {
        let table = self.database.table(table)?;
        let wanted: Option<Vec<usize>> = columns.iter().map(|name| table.column(name)).collect();
        let mut indexes = table
            .indexes
            .iter()
            .filter(|index| index.origin == read::Origin::Unique);
        indexes
            .find(|index| index.columns() == wanted)
            .map(read::Index::pages)
    }

    /// Rebuilds the tables that a change is about, with their indexes.
    fn rebuilt(&self, change: &Change, number: usize) -> Result<Measure, Error> {
        let tables: Vec<&Table> = tables_of(change)
            .iter()
            .filter_map(|name| self.database.table(name))
            .collect();
        let [source, target] =
            ["extract", "trial"].map(|name| self.folder.join(format!("{name}-{number}.db")));
        extract::tables(self.base, &source, self.database, &tables)?;
        apply(&source, &target, std::slice::from_ref(change))?;
        let after = pages_of_trees(&target)?;
        let before: u64 = tables.iter().map(|table| table.pages()).sum();
        remove(&[source, target])?;
        Ok(Measure {
            saved_bytes: (before as i64 - after as i64) * i64::from(self.database.page_bytes),
            method: Method::Rebuilt,
        })
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
        let connection = read::open(self.base)?;
        connection.pragma_update(None, "page_size", page_bytes)?;
        vacuum_into(&connection, &target)?;
        let after = length(&target)?;
        remove(&[target])?;
        Ok(Measure {
            saved_bytes: bytes as i64 - after as i64,
            method: Method::Rebuilt,
        })
    }

    /// Measures inserts into a table as it is and in a copy with changes. `None` if it is too small.
    ///
    /// # Errors
    /// Those of the copies.
    pub fn inserts(&self, changed: &Path, table: &Table) -> Result<Option<Inserts>, Error> {
        let after = Database::read(changed)?;
        let Some(changed_table) = after.table(&table.name) else {
            return Ok(None);
        };
        let paths = ["before", "after"].map(|name| self.folder.join(format!("{name}.db")));
        extract::tables(self.base, &paths[0], self.database, &[table])?;
        extract::tables(changed, &paths[1], &after, &[changed_table])?;
        let found = inserts::compare([&paths[0], &paths[1]], self.is_wal, table)?;
        remove(&paths)?;
        Ok(found)
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
        extract::tables(self.base, &path, self.database, &[table])?;
        let found = inserts::compare_ids(&path, self.is_wal, table, column)?;
        remove(&[path])?;
        Ok(found)
    }

    /// Explains and times queries, also with changes.
    ///
    /// # Errors
    /// Those of opening the copies.
    pub fn queries(&self, changed: Option<&Path>, queries: &[String]) -> Result<Queries, Error> {
        queries::compare(self.database, self.base, changed, queries)
    }

    /// Makes all changes in one copy, which stays.
    ///
    /// # Errors
    /// [`Error::Refused`] names the change that can't be made with the others.
    pub fn together(&self, changes: &[Change], name: &str) -> Result<(PathBuf, u64), Error> {
        let target = self.folder.join(name);
        _ = fs::remove_file(&target);
        apply(self.base, &target, changes)?;
        let bytes = length(&target)?;
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

/// The tables that a change rebuilds.
fn tables_of(change: &Change) -> BTreeSet<&str> {
    match change {
        Change::WithoutRowid { table }
        | Change::Rowid { table }
        | Change::DropUnique { table, .. }
        | Change::IntegerPrimaryKey { table, .. } => BTreeSet::from([table.as_str()]),
        Change::IdsToBlobs { columns } => {
            columns.iter().map(|column| column.table.as_str()).collect()
        }
        _ => BTreeSet::new(),
    }
}

/// Pages of all B-trees but the schema's.
fn pages_of_trees(path: &Path) -> Result<u64, Error> {
    let connection = read::open(path)?;
    let trees = structure(&connection)?;
    Ok(trees
        .iter()
        .filter(|tree| !tree.name.starts_with("sqlite_schema"))
        .map(|tree| tree.pages)
        .sum())
}

fn length(path: &Path) -> Result<u64, Error> {
    Ok(path.metadata().map_err(Error::io(path))?.len())
}

fn remove(paths: &[PathBuf]) -> Result<(), Error> {
    paths
        .iter()
        .try_for_each(|path| fs::remove_file(path).map_err(Error::io(path)))
}
