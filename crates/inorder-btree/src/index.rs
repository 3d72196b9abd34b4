//! Trees of records by their key: indexes, and tables WITHOUT ROWID.

use std::cmp::Ordering;
use std::ops::Range;

use crate::builder::Builder;
use crate::cell::{self, Shape};
use crate::error::{Error, Result, check_record};
use crate::geometry::{Geometry, PageKind};
use crate::output::Output;
use crate::page::Page;
use crate::record::KeyOrder;
use crate::spine::Spine;

/// Leaves have this many cells at least, so that the last can be taken out.
const CELLS_MIN: usize = 2;

/// The tree of an index or of a table WITHOUT ROWID, while its records come in.
#[derive(Debug)]
pub struct IndexBuilder {
    builder: Builder,
    tree: IndexTree,
}

impl IndexBuilder {
    pub(crate) fn new(builder: Builder, tree: IndexTree) -> Self {
        IndexBuilder { builder, tree }
    }

    /// Adds a record, whose key comes after that of the one before. It must be well formed (what
    /// [`encode`](crate::record::encode) makes is).
    ///
    /// # Errors
    ///
    /// [`Error::Duplicate`] where it has the unique columns of the one before, [`Error::OutOfOrder`] where it
    /// comes before it, [`Error::RecordTooLong`], and what writing brings.
    #[inline]
    pub fn push(&mut self, record: &[u8]) -> Result<()> {
        self.tree.push(record, &mut self.builder.output)
    }

    /// Ends the tree and returns the file's builder and the number of the tree's root page.
    ///
    /// # Errors
    ///
    /// What writing brings.
    pub fn finish(mut self) -> Result<(Builder, u32)> {
        let root = self.tree.finish(&mut self.builder.output)?;
        Ok((self.builder, root))
    }
}

/// The tree of such a builder, whose pages go to an output that may be others' too.
#[derive(Debug)]
pub(crate) struct IndexTree {
    root: u32,
    order: KeyOrder,
    unique_columns: usize,
    leaf: Page,
    /// A cell that didn't fit into the leaf any more: it separates the leaf from the next one, once there is
    /// a record for that; `is_waiting` says whether it's there.
    separator: Vec<u8>,
    is_waiting: bool,
    spine: Spine,
    entries: u64,
    /// Where the last record is in its cell, if it's whole there.
    last_in_cell: Range<usize>,
    /// The last record, if it isn't whole in its cell.
    last_apart: Vec<u8>,
    last_prefix: u64,
}

impl IndexTree {
    pub(crate) fn new(
        root: u32,
        geometry: Geometry,
        order: KeyOrder,
        unique_columns: Option<usize>,
    ) -> Self {
        IndexTree {
            root,
            unique_columns: unique_columns.unwrap_or(order.columns().len()),
            order,
            leaf: Page::new(PageKind::IndexLeaf, geometry),
            separator: Vec::new(),
            is_waiting: false,
            spine: Spine::new(PageKind::IndexInterior, geometry),
            entries: 0,
            last_in_cell: 0..0,
            last_apart: Vec::new(),
            last_prefix: 0,
        }
    }

    /// As [`IndexBuilder::push`].
    #[inline]
    pub(crate) fn push(&mut self, record: &[u8], output: &mut Output) -> Result<()> {
        self.check_order(record)?;
        check_record(self.entries, record)?;
        if self.is_waiting {
            self.end_leaf(output)?;
        }
        let geometry = output.geometry();
        let shape = Shape::new(PageKind::IndexLeaf, &geometry, None, record.len());
        if self.leaf.takes(shape.cell_bytes(), CELLS_MIN) {
            cell::add(&mut self.leaf, &shape, record, output)?;
        } else {
            self.separator.resize(shape.cell_bytes(), 0);
            shape.write(record, &mut self.separator, output)?;
            self.is_waiting = true;
        }
        self.last_in_cell = shape.local();
        if self.last_in_cell.len() < record.len() {
            self.last_apart.clear();
            self.last_apart.extend_from_slice(record);
        }
        self.entries += 1;
        Ok(())
    }

    /// The record that was added last.
    fn last(&self) -> &[u8] {
        let cell = match self.is_waiting {
            true => &self.separator,
            false => self.leaf.last(),
        };
        match cell.len() == self.last_in_cell.end {
            true => &cell[self.last_in_cell.clone()],
            false => &self.last_apart,
        }
    }

    /// Prefixes that differ decide nearly always, and one is known.
    #[inline]
    fn check_order(&mut self, record: &[u8]) -> Result<()> {
        let prefix = self.order.prefix(record);
        if prefix <= self.last_prefix && self.entries > 0 {
            self.check_order_by_comparing(record)?;
        }
        self.last_prefix = prefix;
        Ok(())
    }

    fn check_order_by_comparing(&self, record: &[u8]) -> Result<()> {
        let entry = self.entries;
        let (order, equal_columns) = self.order.compare_columns(self.last(), record);
        if order == Ordering::Greater {
            return Err(Error::OutOfOrder { entry });
        }
        let is_duplicate = equal_columns >= self.unique_columns
            && !self.order.has_null_before(self.unique_columns, record);
        if order == Ordering::Equal || is_duplicate {
            return Err(Error::Duplicate { entry });
        }
        Ok(())
    }

    fn end_leaf(&mut self, output: &mut Output) -> Result<()> {
        let number = output.append(&mut self.leaf, 0)?;
        self.leaf.clear();
        self.is_waiting = false;
        self.spine.push(number, &self.separator, output)
    }

    /// Ends the tree and returns the number of its root page.
    pub(crate) fn finish(mut self, output: &mut Output) -> Result<u32> {
        if self.is_waiting {
            // The separator has no record to its right: it becomes one, and the leaf's last takes its part.
            let after = std::mem::take(&mut self.separator);
            self.separator.extend_from_slice(self.leaf.remove_last());
            self.end_leaf(output)?;
            self.leaf.add(after.len()).copy_from_slice(&after);
        }
        self.spine.finish(self.root, &mut self.leaf, output)?;
        Ok(self.root)
    }
}
