//! A table's trees from its rows: that of the rows as they come, those of its indexes after.

use std::fs::File;
use std::path::Path;

use inorder_btree::record::Fields;
use inorder_btree::{
    Builder, Error as TreeError, IndexBuilder, Options, PairBuilder, SchemaEntry, TableBuilder,
    TextEncoding, Value, record,
};

use super::checks::Checks;
use super::layout::{IndexLayout, Layout, SEQUENCE, SchemaRow, TableLayout};
use super::space;
use crate::order::{Limits, Origin, Sorted, Sorter};

/// Why a table can't be built.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// Two rows have the same unique key.
    #[error("two rows have the same key in {tree}")]
    Clash {
        /// The table, or its index.
        tree: String,
        /// Where the one that came first came from.
        first: Origin,
        /// And the other.
        second: Origin,
    },
    /// A row breaks a CHECK constraint. What comes after it may be built all the same.
    #[error("{what}")]
    Refused {
        /// What it breaks.
        what: String,
    },
    /// SQLite can't look at CHECK constraints.
    #[error("looking at CHECK constraints: {0}")]
    Check(#[from] rusqlite::Error),
    /// The file can't be written, or a row not into it.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// Rows that wait for their turn can't be written down or read back.
    #[error(transparent)]
    Spill(#[from] std::io::Error),
    /// Something else.
    #[error(transparent)]
    Load(#[from] crate::Error),
}

/// A table that is being built.
pub(super) struct Build {
    layout: Layout,
    encoding: TextEncoding,
    tree: Tree,
    /// The entries of each index, and their bytes.
    entries: Vec<(Sorter, u64)>,
    checks: Option<Checks>,
    last_rowid: Option<i64>,
    last_origin: Origin,
    fields: Fields,
    stored: Vec<u8>,
    rows: u64,
}

enum Tree {
    Table(TableBuilder),
    Pair(PairBuilder),
    Index(IndexBuilder),
}

impl Build {
    /// Begins a file with a table; each index's entries are sorted within these limits.
    pub(super) fn begin(
        file: File,
        options: Options,
        layout: Layout,
        checks: Option<Checks>,
        limits: &Limits,
    ) -> Result<Self, Failure> {
        let encoding = options.encoding;
        let builder = Builder::create(
            file,
            Options {
                trees: layout.trees(),
                ..options
            },
        )?;
        let tree = match (&layout.table, &layout.beside) {
            (TableLayout::WithoutRowid(order), _) => {
                Tree::Index(builder.index(order.clone(), None)?)
            }
            (TableLayout::Rowid { .. }, None) => Tree::Table(builder.table()?),
            (TableLayout::Rowid { .. }, Some(index)) => {
                Tree::Pair(builder.table_with_index(index.order.clone(), index.unique_columns)?)
            }
        };
        let sorter =
            |index: &IndexLayout| (Sorter::new(Some(index.order.clone()), limits.clone()), 0);
        Ok(Build {
            entries: layout.indexes.iter().map(sorter).collect(),
            checks,
            layout,
            encoding,
            tree,
            last_rowid: None,
            last_origin: 0,
            fields: Fields::default(),
            stored: Vec::new(),
            rows: 0,
        })
    }

    /// Adds a row, which comes after the one before in the order of the table's key.
    #[inline]
    pub(super) fn push(&mut self, row: &[u8], origin: Origin) -> Result<(), Failure> {
        if self.layout.is_taken_apart() {
            self.fields.read(row);
        }
        let rowid = match self.layout.table {
            TableLayout::WithoutRowid(_) => 0,
            TableLayout::Rowid { alias: None, .. } => self.rows as i64 + 1,
            TableLayout::Rowid {
                alias: Some(alias), ..
            } => match self.fields.value(row, alias) {
                Some(Value::Integer(rowid)) => rowid,
                _ => unreachable!("the encoder gives each row its rowid"),
            },
        };
        self.store(rowid, row, origin)
    }

    /// Adds a row whose fields were read. The rowid means nothing to a table without any.
    #[inline]
    fn store(&mut self, rowid: i64, row: &[u8], origin: Origin) -> Result<(), Failure> {
        if let Some(checks) = &self.checks
            && let Some(what) = checks.refusal(Some(rowid), row)?
        {
            return Err(Failure::Refused { what });
        }
        self.rows += 1;
        let result = match (&mut self.tree, self.layout.picks()) {
            (Tree::Index(tree), _) => tree.push(row),
            (Tree::Pair(tree), _) => tree.push(rowid, row),
            (Tree::Table(tree), None) => tree.push(rowid, row),
            (Tree::Table(tree), Some(picks)) => {
                self.stored.clear();
                self.fields.write(row, picks, &mut self.stored);
                tree.push(rowid, &self.stored)
            }
        };
        result.map_err(|error| clash(error, &self.layout.name, self.last_origin, origin))?;
        if let (Tree::Pair(tree), Some(index)) = (&mut self.tree, &self.layout.beside) {
            self.stored.clear();
            self.fields.write(row, index.picks(rowid), &mut self.stored);
            tree.push_entry(&self.stored)
                .map_err(|error| clash(error, &index.name, self.last_origin, origin))?;
        }
        self.last_rowid = Some(rowid);
        self.last_origin = origin;
        for (index, (entries, bytes)) in self.layout.indexes.iter().zip(&mut self.entries) {
            self.stored.clear();
            self.fields.write(row, index.picks(rowid), &mut self.stored);
            *bytes += self.stored.len() as u64;
            entries.push(&self.stored, origin)?;
        }
        Ok(())
    }

    /// Builds what is left and returns the file, written but not synced, and how many bytes of indexes were
    /// spilled. `look` is called now and then.
    pub(super) fn finish(
        mut self,
        folder: &Path,
        mut look: impl FnMut() -> Result<(), crate::Error>,
    ) -> Result<(File, u64), Failure> {
        let mut spilled_bytes = 0;
        let mut roots = Vec::new();
        let (mut builder, root) = match self.tree {
            Tree::Table(tree) => tree.finish()?,
            Tree::Index(tree) => tree.finish()?,
            Tree::Pair(tree) => {
                let (builder, [root, index_root]) = tree.finish()?;
                let index = self.layout.beside.as_ref();
                roots.extend(index.map(|index| (index.name.clone(), index_root)));
                (builder, root)
            }
        };
        roots.push((self.layout.name.clone(), root));
        for (index, (entries, bytes)) in self.layout.indexes.iter().zip(self.entries) {
            space::check(folder, space::tree_bytes(entries.rows(), bytes))?;
            let tree = builder.index(index.order.clone(), index.unique_columns)?;
            let entries = entries.finish()?;
            spilled_bytes += entries.spilled_bytes();
            let root;
            (builder, root) = build_index(tree, &index.name, entries, &mut look)?;
            roots.push((index.name.clone(), root));
        }
        if self.layout.is_counted() {
            let mut sequence = builder.table()?;
            if let Some(last) = self.last_rowid {
                let largest = self
                    .layout
                    .counted()
                    .map_or(last, |before| before.max(last));
                let mut name = Vec::new();
                self.encoding.encode(self.layout.name.as_bytes(), &mut name);
                self.stored.clear();
                record::encode(
                    &[Value::Text(&name), Value::Integer(largest)],
                    &mut self.stored,
                );
                sequence.push(1, &self.stored)?;
            }
            let root;
            (builder, root) = sequence.finish()?;
            roots.push((SEQUENCE.to_owned(), root));
        }
        let entry = |row: &SchemaRow| SchemaEntry {
            kind: row.kind.clone(),
            name: row.name.clone(),
            table_name: row.table_name.clone(),
            root: roots
                .iter()
                .find(|(name, _)| *name == row.name)
                .map_or(0, |(_, root)| *root),
            sql: row.sql.clone(),
        };
        let schema: Vec<SchemaEntry> = self.layout.schema.iter().map(entry).collect();
        Ok((builder.finish(&schema)?, spilled_bytes))
    }
}

/// Entries between two looks at whether somebody wants it to stop.
const ENTRIES_A_LOOK: u64 = 1024;

fn build_index(
    mut tree: IndexBuilder,
    name: &str,
    mut entries: Sorted,
    look: &mut impl FnMut() -> Result<(), crate::Error>,
) -> Result<(Builder, u32), Failure> {
    let (mut count, mut last_origin) = (0u64, 0);
    while let Some((entry, origin)) = entries.next()? {
        if count.is_multiple_of(ENTRIES_A_LOOK) {
            look()?;
        }
        count += 1;
        tree.push(entry)
            .map_err(|error| clash(error, name, last_origin, origin))?;
        last_origin = origin;
    }
    Ok(tree.finish()?)
}

/// A tree's error, with the rows that it is about.
#[cold]
fn clash(error: TreeError, tree: &str, before: Origin, origin: Origin) -> Failure {
    match error {
        TreeError::Duplicate { .. } => Failure::Clash {
            tree: tree.to_owned(),
            first: before.min(origin),
            second: before.max(origin),
        },
        error => Failure::Tree(error),
    }
}
