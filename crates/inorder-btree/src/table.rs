//! Builds trees of rows by rowid.

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
}

impl TableTree {
    pub(crate) fn new(root: u32, geometry: Geometry) -> Self {
        TableTree {
            root,
            leaf: Page::new(PageKind::TableLeaf, geometry),
            spine: Spine::new(PageKind::TableInterior, geometry),
            rows: 0,
            last: 0,
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
        if !self.leaf.takes(shape.cell_bytes(), 1) {
            self.end_leaf(output)?;
        }
        payload::add(&mut self.leaf, &shape, record, output)?;
        self.last = rowid;
        self.rows += 1;
        Ok(())
    }

    fn end_leaf(&mut self, output: &mut Output) -> Result<()> {
        let number = output.append(&mut self.leaf, 0)?;
        self.leaf.clear();
        let mut separator = [0; varint::BYTES_MAX];
        let bytes = varint::write(self.last as u64, &mut separator);
        self.spine.push(number, &separator[..bytes], output)
    }

    /// Ends the tree and returns the number of its root page.
    pub(crate) fn finish(mut self, output: &mut Output) -> Result<u32> {
        self.spine.finish(self.root, &mut self.leaf, output)?;
        Ok(self.root)
    }
}
