//! Builds the trees of a table: that of the rows as they come, those of its indexes afterwards.

use std::fs::File;
use std::path::Path;

use inorder_btree::record::Fields;
use inorder_btree::{
    Appended, Builder, Error as TreeError, IndexBuilder, KeyOrder, PairBuilder, SchemaEntry,
    TableBuilder, TextEncoding, Value, record,
};

use super::layout::{IndexLayout, Layout, SEQUENCE, SchemaRow, TableLayout};
use crate::disk_space;
use crate::order::{Origin, SortLimits, Sorted, Sorter};
use crate::schema::Checks;

/// The error of a table that is built.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// Two rows have the same unique key.
    #[error("two rows have the same key in {tree}")]
    Clash {
        /// The table or index.
        tree: String,
        /// The origin of the first row.
        first: Origin,
        /// The origin of the other row.
        second: Origin,
    },
    /// A row violates a CHECK constraint. The build can continue without it.
    #[error("{what}")]
    Refused {
        /// The violated constraint.
        what: String,
    },
    /// SQLite can't evaluate CHECK constraints.
    #[error("evaluating CHECK constraints: {0}")]
    Check(#[from] rusqlite::Error),
    /// The file can't be written, or a record is too long.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// Rows can't be spilled or read back.
    #[error(transparent)]
    Spill(#[from] std::io::Error),
    /// Any other error of a load.
    #[error(transparent)]
    Load(#[from] crate::Error),
}

/// The origin of a row that the table had before. No line of an input has the number 0.
pub(super) const KEPT: Origin = 0;

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
    /// How many of them are read of each row.
    fields_used: usize,
    stored: Vec<u8>,
    rows: u64,
}

enum Tree {
    Table(TableBuilder),
    Pair(PairBuilder),
    Index(IndexBuilder),
}

impl Build {
    /// Begins the trees of a table. The entries of each index are sorted within these limits.
    pub(super) fn begin(
        builder: Builder,
        encoding: TextEncoding,
        layout: Layout,
        checks: Option<Checks>,
        limits: &SortLimits,
    ) -> Result<Self, Failure> {
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
        let fields_used = layout.fields_used();
        Ok(Build {
            entries: layout.indexes.iter().map(sorter).collect(),
            checks,
            layout,
            encoding,
            tree,
            last_rowid: None,
            last_origin: 0,
            fields: Fields::default(),
            fields_used,
            stored: Vec::new(),
            rows: 0,
        })
    }

    /// Appends a row, which follows the last one in the order of the table's key.
    #[inline]
    pub(super) fn push(&mut self, row: &[u8], origin: Origin) -> Result<(), Failure> {
        if self.fields_used > 0 {
            self.fields.read_first(row, self.fields_used);
        }
        let rowid = match self.layout.table {
            TableLayout::WithoutRowid(_) => 0,
            TableLayout::Rowid { alias: None, .. } => match self.last_rowid {
                None => 1,
                Some(last) => last.checked_add(1).ok_or_else(rowids_spent)?,
            },
            TableLayout::Rowid {
                alias: Some(alias), ..
            } => match self.fields.value(row, alias) {
                Some(Value::Integer(rowid)) => rowid,
                _ => unreachable!("the encoder gives each row its rowid"),
            },
        };
        self.store(rowid, row, origin)
    }

    /// Whether a new row comes before one that the table has.
    #[inline]
    pub(super) fn is_before(&mut self, row: &[u8], rowid: i64, kept: &[u8]) -> bool {
        match &self.layout.table {
            TableLayout::WithoutRowid(order) => order.compare(row, kept).is_lt(),
            // The new rows get the rowids after those that are there.
            TableLayout::Rowid { alias: None, .. } => false,
            TableLayout::Rowid {
                alias: Some(alias), ..
            } => {
                self.fields.read(row);
                matches!(self.fields.value(row, *alias), Some(Value::Integer(new)) if new < rowid)
            }
        }
    }

    /// Appends a row that the table has, as it is stored there. A WITHOUT ROWID table ignores the rowid.
    #[inline]
    pub(super) fn keep(&mut self, rowid: i64, record: &[u8]) -> Result<(), Failure> {
        let result = match &mut self.tree {
            Tree::Index(tree) => tree.push(record),
            Tree::Table(tree) => tree.push(rowid, record),
            Tree::Pair(tree) => tree.push(rowid, record),
        };
        result.map_err(|error| clash(error, &self.layout.name, self.last_origin, KEPT))?;
        self.last_rowid = Some(rowid);
        self.last_origin = KEPT;
        Ok(())
    }

    /// Keeps a leaf page of the table where it is. The page with its largest rowids is not one of these.
    pub(super) fn keep_leaf(&mut self, page: u32, last: i64) -> Result<(), Failure> {
        match &mut self.tree {
            Tree::Table(tree) => Ok(tree.adopt(page, last)?),
            Tree::Pair(_) | Tree::Index(_) => unreachable!("a table with rowids that is merged"),
        }
    }

    /// Whether a new row, and so all that follow, has a larger rowid than this, the largest of the table.
    pub(super) fn is_after(&mut self, row: &[u8], largest: Option<i64>) -> bool {
        match self.layout.table {
            TableLayout::WithoutRowid(_) => false,
            TableLayout::Rowid { alias: None, .. } => true,
            TableLayout::Rowid {
                alias: Some(alias), ..
            } => {
                self.fields.read(row);
                let rowid = self.fields.value(row, alias);
                matches!((rowid, largest), (Some(Value::Integer(new)), Some(old)) if new > old)
            }
        }
    }

    /// Adds the entries of a row, whose fields were read, to the indexes that are sorted.
    #[inline]
    fn add_entries(&mut self, rowid: i64, row: &[u8], origin: Origin) -> Result<(), Failure> {
        for (index, (entries, bytes)) in self.layout.indexes.iter().zip(&mut self.entries) {
            self.stored.clear();
            index.write(&self.fields, row, rowid, &mut self.stored);
            *bytes += self.stored.len() as u64;
            entries.push(&self.stored, origin)?;
        }
        Ok(())
    }

    /// Appends a row whose fields were read. A WITHOUT ROWID table ignores the rowid.
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
            index.write(&self.fields, row, rowid, &mut self.stored);
            tree.push_entry(&self.stored)
                .map_err(|error| clash(error, &index.name, self.last_origin, origin))?;
        }
        self.last_rowid = Some(rowid);
        self.last_origin = origin;
        self.add_entries(rowid, row, origin)
    }

    /// Builds the indexes.
    ///
    /// The entries of `kept` rows are merged with the new ones. `look` is called regularly and can stop the build.
    pub(super) fn finish(
        mut self,
        folder: &Path,
        mut kept: Option<&mut dyn KeptEntries>,
        mut look: impl FnMut() -> Result<(), crate::Error>,
    ) -> Result<Trees, Failure> {
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
        let entries = std::mem::take(&mut self.entries);
        for (at, (index, (entries, bytes))) in self.layout.indexes.iter().zip(entries).enumerate() {
            disk_space::check(folder, disk_space::tree_bytes(entries.rows(), bytes))?;
            let tree = builder.index(index.order.clone(), index.unique_columns)?;
            let entries = entries.finish()?;
            spilled_bytes += entries.spilled_bytes();
            let mut entries = NewEntries {
                tree,
                name: &index.name,
                entries,
                count: 0,
                last_origin: KEPT,
                look: &mut look,
            };
            if let Some(kept) = &mut kept {
                kept.merge(at, &index.order, &mut entries)?;
            }
            let root;
            (builder, root) = entries.finish()?;
            roots.push((index.name.clone(), root));
        }
        Ok(Trees {
            builder,
            roots,
            layout: self.layout,
            encoding: self.encoding,
            last_rowid: self.last_rowid,
            rows: self.rows,
            spilled_bytes,
        })
    }
}

#[cold]
fn rowids_spent() -> Failure {
    Failure::Refused {
        what: format!(
            "no rowid is left above {}; --writer statements takes free ones",
            i64::MAX
        ),
    }
}

/// The finished trees of a table.
pub(super) struct Trees {
    builder: Builder,
    roots: Vec<(String, u32)>,
    layout: Layout,
    encoding: TextEncoding,
    last_rowid: Option<i64>,
    rows: u64,
    spilled_bytes: u64,
}

impl Trees {
    /// The rows of the table.
    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// The bytes that sorting spilled.
    pub(super) fn spilled_bytes(&self) -> u64 {
        self.spilled_bytes
    }

    /// The largest rowid ever of an AUTOINCREMENT table.
    pub(super) fn largest_rowid(&self) -> Option<i64> {
        let last = self.last_rowid?;
        Some(self.layout.counted()?.max(last))
    }

    /// Ends trees whose root pages are there.
    pub(super) fn into_appended(self) -> Result<Appended, Failure> {
        Ok(self.builder.finish_appended()?)
    }

    /// Writes the schema of a new file. Returns the file, written but not synced.
    pub(super) fn into_file(mut self) -> Result<File, Failure> {
        let largest = self.largest_rowid();
        if self.layout.is_counted() {
            let mut sequence = self.builder.table()?;
            if let Some(largest) = largest {
                let (mut name, mut row) = (Vec::new(), Vec::new());
                self.encoding.encode(self.layout.name.as_bytes(), &mut name);
                record::encode(&[Value::Text(&name), Value::Integer(largest)], &mut row);
                sequence.push(1, &row)?;
            }
            let root;
            (self.builder, root) = sequence.finish()?;
            self.roots.push((SEQUENCE.to_owned(), root));
        }
        let entry = |row: &SchemaRow| SchemaEntry {
            kind: row.kind.clone(),
            name: row.name.clone(),
            table_name: row.table_name.clone(),
            root: self
                .roots
                .iter()
                .find(|(name, _)| *name == row.name)
                .map_or(0, |(_, root)| *root),
            sql: row.sql.clone(),
        };
        let schema: Vec<SchemaEntry> = self.layout.schema.iter().map(entry).collect();
        Ok(self.builder.finish(&schema)?)
    }
}

/// Entries between two calls of `look`.
const ENTRIES_A_LOOK: u64 = 1024;

/// The entries that the indexes of a table have.
pub(super) trait KeptEntries {
    /// Appends the entries of an index, by its place, and the new ones in their order.
    fn merge(
        &mut self,
        index: usize,
        order: &KeyOrder,
        new: &mut NewEntries<'_>,
    ) -> Result<(), Failure>;
}

/// Stops a build.
type Look<'a> = &'a mut dyn FnMut() -> Result<(), crate::Error>;

/// The new entries of an index, and its tree.
pub(super) struct NewEntries<'a> {
    tree: IndexBuilder,
    name: &'a str,
    entries: Sorted,
    count: u64,
    last_origin: Origin,
    look: Look<'a>,
}

impl NewEntries<'_> {
    /// Advances to the next entry. Returns false if there is none.
    #[inline]
    pub(super) fn advance(&mut self) -> Result<bool, Failure> {
        if self.count.is_multiple_of(ENTRIES_A_LOOK) {
            (self.look)()?;
        }
        self.count += 1;
        Ok(self.entries.advance()?)
    }

    /// The entry that was advanced to.
    #[inline]
    pub(super) fn entry(&self) -> &[u8] {
        self.entries.row().0
    }

    /// Appends the entry that was advanced to.
    #[inline]
    pub(super) fn push(&mut self) -> Result<(), Failure> {
        let (entry, origin) = self.entries.row();
        let pushed = self.tree.push(entry);
        pushed.map_err(|error| clash(error, self.name, self.last_origin, origin))?;
        self.last_origin = origin;
        Ok(())
    }

    /// Appends an entry that the index has.
    #[inline]
    pub(super) fn keep(&mut self, entry: &[u8]) -> Result<(), Failure> {
        let pushed = self.tree.push(entry);
        pushed.map_err(|error| clash(error, self.name, self.last_origin, KEPT))?;
        self.last_origin = KEPT;
        Ok(())
    }

    /// Appends the entries that are left, and ends the tree.
    fn finish(mut self) -> Result<(Builder, u32), Failure> {
        while self.advance()? {
            self.push()?;
        }
        Ok(self.tree.finish()?)
    }
}

/// The error of a tree, with the origins of the two rows if it is about a duplicate.
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
