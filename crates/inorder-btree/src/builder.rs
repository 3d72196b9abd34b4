//! Builds a file from its first page to its last.

use std::fs::File;
use std::sync::Arc;

use crate::cells::LeafPage;
use crate::error::{Error, Result};
use crate::index::IndexTree;
use crate::options::Options;
use crate::output::{Appended, Output};
use crate::record::KeyOrder;
use crate::schema::{self, SchemaEntry};
use crate::table::TableTree;

/// Builds a database file: its trees one after another, then its schema.
///
/// The file is no database before [`finish`](Self::finish), which writes the first page last. The [crate's
/// documentation](crate) has an example.
#[derive(Debug)]
pub struct Builder {
    output: Output,
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
    /// [`Error::NotEmpty`] and [`Error::Write`].
    pub fn create(file: File, options: Options) -> Result<Self> {
        options.check()?;
        let bytes = file.metadata()?.len();
        if bytes > 0 {
            return Err(Error::NotEmpty { bytes });
        }
        let mut output = Output::new(Arc::new(file), &options);
        output.reserve()?;
        Builder::of(output, options)
    }

    /// Begins trees behind the first `pages` pages of a database, whose file is open for writing and has no pointer map.
    /// A few pages between may stay unused.
    ///
    /// Nothing refers to the new pages: the database stays as it is. [`finish_trees`](Self::finish_trees) ends them.
    ///
    /// # Errors
    ///
    /// As [`create`](Self::create).
    pub fn extend(file: Arc<File>, options: Options, pages: u32) -> Result<Self> {
        options.check()?;
        Builder::of(Output::after(file, &options, pages), options)
    }

    /// Begins trees behind the first `pages` pages of a database, as [`extend`](Self::extend) does, whose root pages are
    /// there: one number per tree, in the order of their building.
    ///
    /// [`finish_appended`](Self::finish_appended) returns the content of the root pages. The file is not closed before
    /// its other owners close it: that would give up the locks that a process has on it.
    ///
    /// # Errors
    ///
    /// As [`create`](Self::create).
    pub fn append(file: Arc<File>, options: Options, pages: u32, roots: Vec<u32>) -> Result<Self> {
        options.check()?;
        Ok(Builder {
            output: Output::after(file, &options, pages),
            options: Options {
                trees: roots.len() as u32,
                ..options
            },
            roots,
            built: 0,
        })
    }

    /// The root page of the first tree, which has the lowest number of all pages that are built.
    #[must_use]
    pub fn first_root(&self) -> Option<u32> {
        self.roots.first().copied()
    }

    fn of(mut output: Output, options: Options) -> Result<Self> {
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
    /// [`Error::Trees`] if [`Options::trees`] have been built.
    pub fn table(mut self) -> Result<TableBuilder> {
        let tree = self.table_tree()?;
        Ok(TableBuilder {
            builder: self,
            tree,
        })
    }

    /// Begins the tree of an index or of a WITHOUT ROWID table, whose records come in `order`.
    ///
    /// The order has every column that tells entries apart: that of an index on a table with rowids ends with the rowid,
    /// unique or not. In a UNIQUE index, no two records have the same first `unique_columns` (at least 1) of the order,
    /// unless one of these is NULL.
    ///
    /// An order without columns takes the entries as they come, unchecked, as for the copy of an existing index.
    ///
    /// # Errors
    ///
    /// [`Error::Trees`] if [`Options::trees`] have been built.
    pub fn index(mut self, order: KeyOrder, unique_columns: Option<usize>) -> Result<IndexBuilder> {
        let tree = self.index_tree(order, unique_columns)?;
        Ok(IndexBuilder {
            builder: self,
            tree,
        })
    }

    /// Begins a table with rowids and one of its indexes whose entries come in the order of the rows.
    ///
    /// Both trees are built in one pass. [`index`](Self::index) explains the parameters.
    ///
    /// # Errors
    ///
    /// [`Error::Trees`] if [`Options::trees`] have been built.
    pub fn table_with_index(
        mut self,
        order: KeyOrder,
        unique_columns: Option<usize>,
    ) -> Result<PairBuilder> {
        let table = self.table_tree()?;
        let index = self.index_tree(order, unique_columns)?;
        Ok(PairBuilder {
            builder: self,
            table,
            index,
        })
    }

    fn table_tree(&mut self) -> Result<TableTree> {
        Ok(TableTree::new(self.next_root()?, self.output.geometry()))
    }

    fn index_tree(&mut self, order: KeyOrder, unique_columns: Option<usize>) -> Result<IndexTree> {
        let (root, geometry) = (self.next_root()?, self.output.geometry());
        Ok(IndexTree::new(root, geometry, order, unique_columns))
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

    /// Writes the root pages of trees behind a database. Returns the file, written but not synced, and the number of its
    /// last page.
    ///
    /// # Errors
    ///
    /// [`Error::Trees`] if fewer than [`Options::trees`] were built, and [`Error::Write`].
    pub fn finish_trees(self) -> Result<(Arc<File>, u32)> {
        if self.built < self.options.trees {
            return Err(self.wrong_trees());
        }
        self.output.finish_trees()
    }

    /// Ends trees whose root pages are there. The pages are written but not synced, those of the roots are returned.
    ///
    /// # Errors
    ///
    /// As [`finish_trees`](Self::finish_trees).
    pub fn finish_appended(self) -> Result<Appended> {
        if self.built < self.options.trees {
            return Err(self.wrong_trees());
        }
        self.output.finish_apart()
    }

    /// Writes the schema, the root pages and the header. Returns the file, written but not synced.
    ///
    /// # Errors
    ///
    /// [`Error::Trees`] if fewer than [`Options::trees`] were built, [`Error::TooManyPages`] and [`Error::Write`].
    pub fn finish(mut self, schema: &[SchemaEntry]) -> Result<File> {
        if self.built < self.options.trees {
            return Err(self.wrong_trees());
        }
        schema::write(schema, self.options.encoding, &mut self.output)?;
        let last_root = self.roots.last().copied().unwrap_or(1);
        self.output.finish(&self.options, last_root).map(own)
    }
}

/// The file of a builder that was given it.
fn own(file: Arc<File>) -> File {
    Arc::into_inner(file).expect("the builder has the only reference")
}

/// Builds the tree of a table with rowids: see [`Builder::table`].
#[derive(Debug)]
pub struct TableBuilder {
    builder: Builder,
    tree: TableTree,
}

impl TableBuilder {
    /// Appends a row: its rowid, larger than the previous one, and its record.
    ///
    /// The record must be well formed, as [`encode`](crate::record::encode) makes it. The column that is the rowid's
    /// alias is NULL in it.
    ///
    /// # Errors
    ///
    /// [`Error::Duplicate`] and [`Error::OutOfOrder`] if the rowid isn't larger than the one before,
    /// [`Error::RecordTooLong`], [`Error::TooManyPages`] and [`Error::Write`].
    #[inline]
    pub fn push(&mut self, rowid: i64, record: &[u8]) -> Result<()> {
        self.tree.push(rowid, record, &mut self.builder.output)
    }

    /// Appends all rows of a leaf page of another file, if it can be copied whole: it is as full as it would be here, its
    /// rows are in order, and nothing was appended that isn't a whole page. Returns whether it was. `row` is given its
    /// rows, also where it wasn't.
    ///
    /// # Errors
    ///
    /// As [`push`](Self::push).
    pub fn push_page(&mut self, page: &LeafPage<'_>, row: impl FnMut(i64, &[u8])) -> Result<bool> {
        self.tree.push_page(page, row, &mut self.builder.output)
    }

    /// Makes a leaf page that is in the file already the next of the tree. Its rowids are larger than those before, and at
    /// most `last`. The page is not written. Rows follow the last one, and none come before.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfOrder`] if a row was appended before, or `last` is less than that of the page before;
    /// [`Error::TooManyPages`] and [`Error::Write`].
    pub fn adopt(&mut self, page: u32, last: i64) -> Result<()> {
        self.tree.adopt(page, last, &mut self.builder.output)
    }

    /// Ends the tree. Returns the file's builder and the number of the tree's root page.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyPages`] and [`Error::Write`].
    pub fn finish(mut self) -> Result<(Builder, u32)> {
        let root = self.tree.finish(&mut self.builder.output)?;
        Ok((self.builder, root))
    }
}

/// Builds the tree of an index or of a table WITHOUT ROWID: see [`Builder::index`].
#[derive(Debug)]
pub struct IndexBuilder {
    builder: Builder,
    tree: IndexTree,
}

impl IndexBuilder {
    /// Appends a record, whose key comes after that of the record before.
    ///
    /// The record must be well formed, as [`encode`](crate::record::encode) makes it.
    ///
    /// # Errors
    ///
    /// [`Error::Duplicate`] if it has the unique columns of the record before, [`Error::OutOfOrder`] if it sorts
    /// before that record, [`Error::RecordTooLong`], [`Error::TooManyPages`] and [`Error::Write`].
    #[inline]
    pub fn push(&mut self, record: &[u8]) -> Result<()> {
        self.tree.push(record, &mut self.builder.output)
    }

    /// Appends all entries of a leaf page of another file, if it can be copied whole: it is as full as it would be here,
    /// the tree takes entries as they come, and nothing was appended but whole pages and the entries between them.
    /// Returns whether it was. `entry` is given its entries, also where it wasn't.
    ///
    /// # Errors
    ///
    /// As [`push`](Self::push).
    pub fn push_page(&mut self, page: &LeafPage<'_>, entry: impl FnMut(&[u8])) -> Result<bool> {
        self.tree.push_page(page, entry, &mut self.builder.output)
    }

    /// Ends the tree. Returns the file's builder and the number of the tree's root page.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyPages`] and [`Error::Write`].
    pub fn finish(mut self) -> Result<(Builder, u32)> {
        let root = self.tree.finish(&mut self.builder.output)?;
        Ok((self.builder, root))
    }
}

/// Builds a table with rowids and one of its indexes in one pass: see [`Builder::table_with_index`].
///
/// Rows come in the order of both trees. The pages of the two trees alternate in the file, as they do when rows are
/// inserted one by one.
#[derive(Debug)]
pub struct PairBuilder {
    builder: Builder,
    table: TableTree,
    index: IndexTree,
}

impl PairBuilder {
    /// Appends a row to the table.
    ///
    /// # Errors
    ///
    /// Those of [`TableBuilder::push`].
    #[inline]
    pub fn push(&mut self, rowid: i64, record: &[u8]) -> Result<()> {
        self.table.push(rowid, record, &mut self.builder.output)
    }

    /// Appends an entry to the index.
    ///
    /// # Errors
    ///
    /// Those of [`IndexBuilder::push`].
    #[inline]
    pub fn push_entry(&mut self, entry: &[u8]) -> Result<()> {
        self.index.push(entry, &mut self.builder.output)
    }

    /// Ends both trees. Returns the file's builder and the numbers of the root pages: the table's, the index's.
    ///
    /// # Errors
    ///
    /// Those of [`TableBuilder::finish`].
    pub fn finish(mut self) -> Result<(Builder, [u32; 2])> {
        let output = &mut self.builder.output;
        let roots = [self.table.finish(output)?, self.index.finish(output)?];
        Ok((self.builder, roots))
    }
}
