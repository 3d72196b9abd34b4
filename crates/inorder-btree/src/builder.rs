//! A file from its first page to its last.

use std::fs::File;

use crate::error::{Error, Result};
use crate::index::{IndexBuilder, IndexTree};
use crate::options::Options;
use crate::output::Output;
use crate::pair::PairBuilder;
use crate::record::{KeyOrder, TextEncoding};
use crate::schema::{self, SchemaEntry};
use crate::table::TableBuilder;

/// Builds a database file: its trees one after another, then its schema.
///
/// Nothing of the file is of use before [`finish`](Self::finish), which writes the first page last.
///
/// ```
/// use inorder_btree::{Builder, Options, SchemaEntry, Value, record};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let file = tempfile::tempfile()?;
/// let builder = Builder::create(file, Options::default())?;
/// let mut table = builder.table()?;
/// let mut record = Vec::new();
/// for (rowid, title) in [(1, "Alien"), (2, "Brazil")] {
///     record.clear();
///     record::encode(&[Value::Text(title.as_bytes())], &mut record);
///     table.push(rowid, &record)?;
/// }
/// let (builder, root) = table.finish()?;
/// let file = builder.finish(&[SchemaEntry {
///     kind: "table".into(),
///     name: "film".into(),
///     table_name: "film".into(),
///     root,
///     sql: Some("CREATE TABLE film(title TEXT)".into()),
/// }])?;
/// file.sync_all()?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Builder {
    pub(crate) output: Output,
    options: Options,
    roots: Vec<u32>,
    built: u32,
}

impl Builder {
    /// Begins a file, which must be empty and open for writing.
    ///
    /// # Errors
    ///
    /// [`Error::PageBytes`], [`Error::ReservedBytes`] and [`Error::FillPercent`] for options out of range,
    /// [`Error::NotEmpty`], and what writing brings.
    pub fn create(file: File, options: Options) -> Result<Self> {
        options.check()?;
        let bytes = file.metadata()?.len();
        if bytes > 0 {
            return Err(Error::NotEmpty { bytes });
        }
        let mut output = Output::new(file, &options);
        output.reserve()?;
        // Auto-vacuum moves every page but the roots, which have to be at the beginning.
        let roots = (0..options.trees)
            .map(|_| output.reserve())
            .collect::<Result<_>>()?;
        Ok(Builder {
            output,
            options,
            roots,
            built: 0,
        })
    }

    /// Begins the tree of a table with rowids.
    ///
    /// # Errors
    ///
    /// [`Error::Trees`] where there are no more trees than this in the options.
    pub fn table(mut self) -> Result<TableBuilder> {
        let root = self.next_root()?;
        Ok(TableBuilder::new(self, root))
    }

    /// Begins the tree of an index or of a table WITHOUT ROWID, whose records come in `order`.
    ///
    /// The order must be of all columns that tell entries apart: that of an index on a table with rowids ends
    /// with the rowid, unique or not. In a UNIQUE index no two records have the same first `unique_columns`
    /// (at least 1) of the order, unless one of these is NULL.
    ///
    /// # Errors
    ///
    /// [`Error::Trees`] where there are no more trees than this in the options.
    pub fn index(mut self, order: KeyOrder, unique_columns: Option<usize>) -> Result<IndexBuilder> {
        let tree = self.index_tree(order, unique_columns)?;
        Ok(IndexBuilder::new(self, tree))
    }

    /// Begins the trees of a table with rowids and of one of its indexes whose entries come in the order of
    /// the rows: both are built in one pass, their pages by turns. The index is as [`index`](Self::index) says.
    ///
    /// # Errors
    ///
    /// [`Error::Trees`] where there are no more trees than these in the options.
    pub fn table_with_index(
        mut self,
        order: KeyOrder,
        unique_columns: Option<usize>,
    ) -> Result<PairBuilder> {
        let root = self.next_root()?;
        let index = self.index_tree(order, unique_columns)?;
        Ok(PairBuilder::new(TableBuilder::new(self, root), index))
    }

    fn index_tree(&mut self, order: KeyOrder, unique_columns: Option<usize>) -> Result<IndexTree> {
        let (root, geometry) = (self.next_root()?, self.output.geometry());
        Ok(IndexTree::new(root, geometry, order, unique_columns))
    }

    pub(crate) fn encoding(&self) -> TextEncoding {
        self.options.encoding
    }

    fn next_root(&mut self) -> Result<u32> {
        self.built += 1;
        let root = self.roots.get(self.built as usize - 1);
        root.copied().ok_or_else(|| self.wrong_trees())
    }

    fn wrong_trees(&self) -> Error {
        Error::Trees {
            foreseen: self.options.trees,
            built: self.built,
        }
    }

    /// Writes the schema and all that was left for last, and gives the file back, written but not synced.
    ///
    /// # Errors
    ///
    /// [`Error::Trees`] where fewer trees were built than are in the options, and what writing brings.
    pub fn finish(self, schema: &[SchemaEntry]) -> Result<File> {
        if self.built < self.options.trees {
            return Err(self.wrong_trees());
        }
        let builder = schema::write(schema, self)?;
        let last_root = builder.roots.last().copied().unwrap_or(1);
        builder.output.finish(&builder.options, last_root)
    }
}
