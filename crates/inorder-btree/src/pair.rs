//! A table with rowids and an index of it in the same order, built in one pass.

use crate::builder::Builder;
use crate::error::Result;
use crate::index::IndexTree;
use crate::table::TableBuilder;

/// The trees of a table with rowids and of one of its indexes, while rows come in that are in the order of
/// both. Their pages come by turns, as when rows are inserted one by one.
#[derive(Debug)]
pub struct PairBuilder {
    table: TableBuilder,
    index: IndexTree,
}

impl PairBuilder {
    pub(crate) fn new(table: TableBuilder, index: IndexTree) -> Self {
        PairBuilder { table, index }
    }

    /// Adds a row to the table.
    ///
    /// # Errors
    ///
    /// As [`TableBuilder::push`].
    #[inline]
    pub fn push(&mut self, rowid: i64, record: &[u8]) -> Result<()> {
        self.table.push(rowid, record)
    }

    /// Adds an entry to the index.
    ///
    /// # Errors
    ///
    /// As [`IndexBuilder::push`](crate::IndexBuilder::push).
    #[inline]
    pub fn push_entry(&mut self, entry: &[u8]) -> Result<()> {
        self.index.push(entry, &mut self.table.builder.output)
    }

    /// Ends both trees and returns the file's builder and the numbers of the root pages: the table's, the
    /// index's.
    ///
    /// # Errors
    ///
    /// What writing brings.
    pub fn finish(self) -> Result<(Builder, [u32; 2])> {
        let (mut builder, root) = self.table.finish()?;
        let index_root = self.index.finish(&mut builder.output)?;
        Ok((builder, [root, index_root]))
    }
}
