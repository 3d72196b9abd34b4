//! Trees of records by their key: indexes, and tables WITHOUT ROWID.

use std::cmp::Ordering;

use crate::builder::Builder;
use crate::cell::{self, Shape};
use crate::error::{Error, Result, check_record};
use crate::geometry::PageKind;
use crate::page::Page;
use crate::record::KeyOrder;
use crate::spine::Spine;

/// Leaves have this many cells at least, so that the last can be taken out.
const CELLS_MIN: usize = 2;

/// The tree of an index or of a table WITHOUT ROWID, while its records come in.
#[derive(Debug)]
pub struct IndexBuilder {
    builder: Builder,
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
    last: Vec<u8>,
    last_prefix: u64,
}

impl IndexBuilder {
    pub(crate) fn new(
        builder: Builder,
        root: u32,
        order: KeyOrder,
        unique_columns: Option<usize>,
    ) -> Self {
        let geometry = builder.output.geometry();
        IndexBuilder {
            builder,
            root,
            unique_columns: unique_columns.unwrap_or(order.columns().len()),
            order,
            leaf: Page::new(PageKind::IndexLeaf, geometry),
            separator: Vec::new(),
            is_waiting: false,
            spine: Spine::new(PageKind::IndexInterior, geometry),
            entries: 0,
            last: Vec::new(),
            last_prefix: 0,
        }
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
        self.check_order(record)?;
        check_record(self.entries, record)?;
        if self.is_waiting {
            self.end_leaf()?;
        }
        let output = &mut self.builder.output;
        let geometry = output.geometry();
        let shape = Shape::new(PageKind::IndexLeaf, &geometry, None, record.len());
        if self.leaf.takes(shape.cell_bytes(), CELLS_MIN) {
            cell::add(&mut self.leaf, &shape, record, output)?;
        } else {
            self.separator.resize(shape.cell_bytes(), 0);
            shape.write(record, &mut self.separator, output)?;
            self.is_waiting = true;
        }
        self.last.clear();
        self.last.extend_from_slice(record);
        self.entries += 1;
        Ok(())
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
        let (order, equal_columns) = self.order.compare_columns(&self.last, record);
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

    fn end_leaf(&mut self) -> Result<()> {
        let output = &mut self.builder.output;
        let number = output.append(&mut self.leaf, 0)?;
        self.leaf.clear();
        self.is_waiting = false;
        self.spine.push(number, &self.separator, output)
    }

    /// Ends the tree and returns the file's builder and the number of the tree's root page.
    ///
    /// # Errors
    ///
    /// What writing brings.
    pub fn finish(mut self) -> Result<(Builder, u32)> {
        if self.is_waiting {
            // The separator has no record to its right: it becomes one, and the leaf's last takes its part.
            let after = std::mem::take(&mut self.separator);
            self.separator.extend_from_slice(self.leaf.remove_last());
            self.end_leaf()?;
            self.leaf.add(after.len()).copy_from_slice(&after);
        }
        let output = &mut self.builder.output;
        self.spine.finish(self.root, &mut self.leaf, output)?;
        Ok((self.builder, self.root))
    }
}
