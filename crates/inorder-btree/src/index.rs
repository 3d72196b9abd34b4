//! Builds trees of records by key: indexes and WITHOUT ROWID tables.

use std::cmp::Ordering;
use std::ops::Range;

use crate::cells::LeafPage;
use crate::error::{Error, Result, check_record};
use crate::geometry::{Geometry, PageKind};
use crate::output::Output;
use crate::page::Page;
use crate::payload::{self, Shape};
use crate::record::KeyOrder;
use crate::spine::Spine;

/// The least cells per leaf page, so that the last can be removed.
const CELLS_MIN: usize = 2;

/// Records with the prefix of the one before them, one after another, until prefixes are taken to be of no use: that many
/// others are then only compared.
const EQUAL_PREFIXES_MAX: u32 = 16;
const COMPARED_NEXT: u32 = 4096;

/// The tree of an index or of a table WITHOUT ROWID, while records are added.
#[derive(Debug)]
pub(crate) struct IndexTree {
    root: u32,
    order: KeyOrder,
    unique_columns: usize,
    leaf: Page,
    /// A cell that didn't fit into the leaf. It separates the leaf from the next one, once that has a record. `is_waiting`
    /// says whether there is one.
    separator: Vec<u8>,
    is_waiting: bool,
    spine: Spine,
    entries: u64,
    /// The place of the last record in its cell, if it has no overflow.
    last_in_cell: Range<usize>,
    /// The last record, if it has overflow.
    last_apart: Vec<u8>,
    /// The last record's, unless the next ones are only compared.
    last_prefix: u64,
    /// Records one after another that prefixes did not decide about.
    equal_prefixes: u32,
    /// How many of the next records are only compared with those before them.
    compared_next: u32,
    /// A whole page that comes before the separator, or what is added next.
    held: Vec<u8>,
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
            equal_prefixes: 0,
            compared_next: 0,
            held: Vec::new(),
        }
    }

    /// Those of `IndexBuilder::push`.
    #[inline]
    pub(crate) fn push(&mut self, record: &[u8], output: &mut Output) -> Result<()> {
        self.check_order(record)?;
        check_record(self.entries, record)?;
        if self.is_waiting {
            self.end_leaf(output)?;
        }
        let geometry = output.geometry();
        let shape = Shape::new(PageKind::IndexLeaf, &geometry, None, record.len());
        if self.held.is_empty() && self.leaf.takes(shape.cell_bytes(), CELLS_MIN) {
            payload::add(&mut self.leaf, &shape, record, output)?;
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

    /// As `IndexBuilder::push_page`.
    pub(crate) fn push_page(
        &mut self,
        page: &LeafPage<'_>,
        mut entry: impl FnMut(&[u8]),
        output: &mut Output,
    ) -> Result<bool> {
        let is_begun = self.leaf.used() > PageKind::IndexLeaf.header_bytes();
        // Between two pages there is a separator.
        let is_next = self.is_waiting || (!is_begun && self.held.is_empty());
        let is_checked = !self.order.columns().is_empty();
        if page.cells.kind != PageKind::IndexLeaf || !is_next || is_checked || !output.takes(page) {
            return Ok(false);
        }
        let Some(whole) = page.whole(|_, record| entry(record)) else {
            return Ok(false);
        };
        if self.is_waiting {
            self.end_leaf(output)?;
        }
        self.held.extend_from_slice(page.bytes);
        self.entries += whole.entries;
        Ok(true)
    }

    /// Returns the last record.
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

    /// Checks the order by prefixes first, unless they are of no use.
    #[inline]
    fn check_order(&mut self, record: &[u8]) -> Result<()> {
        if self.compared_next > 0 {
            self.compared_next -= 1;
            if self.compared_next == 0 {
                self.last_prefix = self.order.prefix(record);
            }
            return self.check_order_by_comparing(record);
        }
        let prefix = self.order.prefix(record);
        let is_decided = prefix > self.last_prefix || self.entries == 0;
        self.last_prefix = prefix;
        if is_decided {
            self.equal_prefixes = 0;
            return Ok(());
        }
        self.equal_prefixes += 1;
        if self.equal_prefixes == EQUAL_PREFIXES_MAX {
            self.equal_prefixes = 0;
            self.compared_next = COMPARED_NEXT;
        }
        self.check_order_by_comparing(record)
    }

    fn check_order_by_comparing(&self, record: &[u8]) -> Result<()> {
        if self.order.columns().is_empty() {
            return Ok(());
        }
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
        let number = match self.held.is_empty() {
            true => output.append(&mut self.leaf, 0)?,
            false => output.append_whole(&self.held)?,
        };
        self.held.clear();
        self.leaf.clear();
        self.is_waiting = false;
        self.spine.push(number, &self.separator, output)
    }

    /// Ends the tree and returns the number of its root page.
    pub(crate) fn finish(mut self, output: &mut Output) -> Result<u32> {
        if !self.held.is_empty() {
            // The last leaf page may be the root, and may have to give a record away.
            let held = std::mem::take(&mut self.held);
            let separator = std::mem::take(&mut self.separator);
            let is_waiting = std::mem::take(&mut self.is_waiting);
            output
                .geometry()
                .each(&held, |_, record| self.push(record, output))?;
            (self.separator, self.is_waiting) = (separator, is_waiting);
        }
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
