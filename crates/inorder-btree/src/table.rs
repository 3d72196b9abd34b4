//! Builds trees of rows by rowid.

use crate::cells::LeafPage;
use crate::error::{Error, Result, check_record};
use crate::geometry::{Geometry, PageKind};
use crate::output::Output;
use crate::page::Page;
use crate::payload::{self, Shape};
use crate::record::varint;
use crate::spine::Spine;

/// The tree of a table with rowids, while rows are added.
#[derive(Debug)]
pub(crate) struct TableTree {
    root: u32,
    leaf: Page,
    spine: Spine,
    rows: u64,
    last: i64,
    /// A whole page that comes before what is added next.
    held: Vec<u8>,
}

impl TableTree {
    pub(crate) fn new(root: u32, geometry: Geometry) -> Self {
        TableTree {
            root,
            leaf: Page::new(PageKind::TableLeaf, geometry),
            spine: Spine::new(PageKind::TableInterior, geometry),
            rows: 0,
            last: 0,
            held: Vec::new(),
        }
    }

    /// Those of `TableBuilder::push`.
    #[inline]
    pub(crate) fn push(&mut self, rowid: i64, record: &[u8], output: &mut Output) -> Result<()> {
        let entry = self.rows;
        if entry > 0 && rowid <= self.last {
            return Err(match rowid == self.last {
                true => Error::Duplicate { entry },
                false => Error::OutOfOrder { entry },
            });
        }
        check_record(entry, record)?;
        let geometry = output.geometry();
        let shape = Shape::new(PageKind::TableLeaf, &geometry, Some(rowid), record.len());
        if !self.held.is_empty() {
            self.end_held(output)?;
        }
        if !self.leaf.takes(shape.cell_bytes(), 1) {
            self.end_leaf(output)?;
        }
        payload::add(&mut self.leaf, &shape, record, output)?;
        self.last = rowid;
        self.rows += 1;
        Ok(())
    }

    /// As `TableBuilder::push_page`.
    pub(crate) fn push_page(
        &mut self,
        page: &LeafPage<'_>,
        row: impl FnMut(i64, &[u8]),
        output: &mut Output,
    ) -> Result<bool> {
        let is_begun = self.leaf.used() > PageKind::TableLeaf.header_bytes();
        if page.cells.kind != PageKind::TableLeaf || is_begun || !output.takes(page) {
            return Ok(false);
        }
        let Some(whole) = page.whole(row) else {
            return Ok(false);
        };
        if self.rows > 0 && whole.first <= self.last {
            return Ok(false);
        }
        self.end_held(output)?;
        self.held.extend_from_slice(page.bytes);
        self.rows += whole.entries;
        self.last = whole.last;
        Ok(true)
    }

    /// As `TableBuilder::adopt`.
    pub(crate) fn adopt(&mut self, page: u32, last: i64, output: &mut Output) -> Result<()> {
        let entry = self.rows;
        let is_begun = self.leaf.used() > PageKind::TableLeaf.header_bytes();
        if is_begun || !self.held.is_empty() || (entry > 0 && last <= self.last) {
            return Err(Error::OutOfOrder { entry });
        }
        self.last = last;
        self.rows += 1;
        self.push_child(page, output)
    }

    fn end_held(&mut self, output: &mut Output) -> Result<()> {
        if self.held.is_empty() {
            return Ok(());
        }
        let number = output.append_whole(&self.held)?;
        self.held.clear();
        self.push_child(number, output)
    }

    fn end_leaf(&mut self, output: &mut Output) -> Result<()> {
        let number = output.append(&mut self.leaf, 0)?;
        self.leaf.clear();
        self.push_child(number, output)
    }

    fn push_child(&mut self, number: u32, output: &mut Output) -> Result<()> {
        let mut separator = [0; varint::BYTES_MAX];
        let bytes = varint::write(self.last as u64, &mut separator);
        self.spine.push(number, &separator[..bytes], output)
    }

    /// Ends the tree and returns the number of its root page.
    pub(crate) fn finish(mut self, output: &mut Output) -> Result<u32> {
        // The last leaf page may be the root.
        let held = std::mem::take(&mut self.held);
        self.rows = if held.is_empty() { self.rows } else { 0 };
        output
            .geometry()
            .each(&held, |rowid, record| self.push(rowid, record, output))?;
        self.spine.finish(self.root, &mut self.leaf, output)?;
        Ok(self.root)
    }
}
