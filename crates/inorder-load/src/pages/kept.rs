//! The rows that a table has, read page by page to be merged with those of a load.

use std::fs::File;
use std::sync::Arc;

use inorder_btree::Reader;

use super::build::{Build, Failure};
use crate::job::Progress;
use crate::order::Origin;

/// Rows between two looks at the progress.
const ROWS_A_LOOK: u64 = 1024;

/// The trees of a table whose database is locked.
pub(super) struct Kept {
    reader: Reader,
    /// The root pages: that of the table first.
    roots: Vec<u32>,
    is_by_rowid: bool,
    rows: u64,
    /// The pages of the trees but for their roots, once they are read.
    pages: Vec<u32>,
}

/// New rows in their order.
pub(super) trait NewRows {
    /// Copies the next row. Returns its origin; `None` if there is none.
    fn next(&mut self, row: &mut Vec<u8>) -> Result<Option<Origin>, Failure>;

    /// Leaves out a row that the table refuses.
    fn refuse(&mut self, what: String, origin: Origin) -> Result<(), Failure>;
}

impl Kept {
    /// The trees with these root pages. Begin before the file is written: what is read is mapped into memory.
    pub(super) fn new(file: &Arc<File>, roots: &[u32], is_by_rowid: bool) -> Result<Self, Failure> {
        Ok(Kept {
            reader: Reader::mapped(Arc::clone(file))?,
            roots: roots.to_vec(),
            is_by_rowid,
            rows: 0,
            pages: Vec::new(),
        })
    }

    /// Whether the file can be written past the page cache while it is read.
    pub(super) fn is_mapped(&self) -> bool {
        self.reader.map().is_some()
    }

    /// Appends the rows that are there and the new ones in the order of the table. Returns how many new ones were stored.
    pub(super) fn merge(
        &mut self,
        build: &mut Build,
        new: &mut impl NewRows,
        progress: &Progress,
    ) -> Result<u64, Failure> {
        let (mut row, mut stored, mut kept) = (Vec::new(), 0, 0u64);
        let mut origin = new.next(&mut row)?;
        let mut keep = |rowid: i64, old: &[u8]| -> Result<(), Failure> {
            if kept.is_multiple_of(ROWS_A_LOOK) {
                progress.check()?;
            }
            kept += 1;
            while let Some(at) = origin
                && build.is_before(&row, rowid, old)
            {
                stored += push(build, &row, at, new)?;
                origin = new.next(&mut row)?;
            }
            build.keep(rowid, old)
        };
        self.reader.note_pages();
        match self.is_by_rowid {
            true => self.reader.table(self.roots[0], &mut keep)?,
            false => self.reader.index(self.roots[0], |old| keep(0, old))?,
        }
        self.rows += kept;
        while let Some(at) = origin {
            stored += push(build, &row, at, new)?;
            origin = new.next(&mut row)?;
        }
        for &root in &self.roots[1..] {
            self.reader.index(root, |_| Ok::<_, Failure>(()))?;
        }
        let mut pages = self.reader.take_pages();
        pages.retain(|page| !self.roots.contains(page));
        pages.sort_unstable();
        self.pages = pages;
        Ok(stored)
    }

    /// The rows that were there.
    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// The pages of the trees but for their roots, ascending.
    pub(super) fn pages(&self) -> &[u32] {
        &self.pages
    }
}

/// Stores a new row. Returns how many were stored.
fn push(
    build: &mut Build,
    row: &[u8],
    origin: Origin,
    new: &mut impl NewRows,
) -> Result<u64, Failure> {
    match build.push(row, origin) {
        Ok(()) => Ok(1),
        Err(Failure::Refused { what }) => new.refuse(what, origin).map(|()| 0),
        Err(failure) => Err(failure),
    }
}
