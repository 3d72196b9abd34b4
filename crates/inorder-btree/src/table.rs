//! Trees of rows by rowid.

use crate::builder::Builder;
use crate::cell::{self, Shape};
use crate::error::{Error, Result, check_record};
use crate::geometry::PageKind;
use crate::page::Page;
use crate::record::varint;
use crate::spine::Spine;

/// The tree of a table with rowids, while its rows come in.
#[derive(Debug)]
pub struct TableBuilder {
    pub(crate) builder: Builder,
    root: u32,
    leaf: Page,
    spine: Spine,
    rows: u64,
    last: i64,
}

impl TableBuilder {
    pub(crate) fn new(builder: Builder, root: u32) -> Self {
        let geometry = builder.output.geometry();
        TableBuilder {
            builder,
            root,
            leaf: Page::new(PageKind::TableLeaf, geometry),
            spine: Spine::new(PageKind::TableInterior, geometry),
            rows: 0,
            last: 0,
        }
    }

    /// Adds a row: its rowid, larger than the one before, and its record, which must be well formed (what
    /// [`encode`](crate::record::encode) makes is). A column that is the rowid's alias is NULL in the record.
    ///
    /// # Errors
    ///
    /// [`Error::Duplicate`] and [`Error::OutOfOrder`] where the rowid isn't larger than the one before,
    /// [`Error::RecordTooLong`], and what writing brings.
    #[inline]
    pub fn push(&mut self, rowid: i64, record: &[u8]) -> Result<()> {
        let entry = self.rows;
        if entry > 0 && rowid <= self.last {
            return Err(match rowid == self.last {
                true => Error::Duplicate { entry },
                false => Error::OutOfOrder { entry },
            });
        }
        check_record(entry, record)?;
        let geometry = self.builder.output.geometry();
        let shape = Shape::new(PageKind::TableLeaf, &geometry, Some(rowid), record.len());
        if !self.leaf.takes(shape.cell_bytes(), 1) {
            self.end_leaf()?;
        }
        cell::add(&mut self.leaf, &shape, record, &mut self.builder.output)?;
        self.last = rowid;
        self.rows += 1;
        Ok(())
    }

    fn end_leaf(&mut self) -> Result<()> {
        let number = self.builder.output.append(&mut self.leaf, 0)?;
        self.leaf.clear();
        let mut separator = [0; varint::BYTES_MAX];
        let bytes = varint::write(self.last as u64, &mut separator);
        let output = &mut self.builder.output;
        self.spine.push(number, &separator[..bytes], output)
    }

    /// Ends the tree and returns the file's builder and the number of the tree's root page.
    ///
    /// # Errors
    ///
    /// What writing brings.
    pub fn finish(mut self) -> Result<(Builder, u32)> {
        let output = &mut self.builder.output;
        self.spine.finish(self.root, &mut self.leaf, output)?;
        Ok((self.builder, self.root))
    }
}
