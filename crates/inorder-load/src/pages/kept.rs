//! The rows that a table has, read page by page to be merged with those of a load.

use std::fs::File;
use std::sync::Arc;

use inorder_btree::{KeyOrder, Reader};

use super::build::{Build, Failure, KeptEntries, NewEntries};
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
    /// The largest rowid, if rows have rowids of their own.
    largest: Option<i64>,
    /// Why rows are merged.
    why: String,
    /// Whether leaf pages of the table stay where they are.
    keeps_leaves: bool,
    /// The pages that become free, once the trees are read.
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
    pub(super) fn new(
        file: &Arc<File>,
        roots: &[u32],
        (is_by_rowid, largest): (bool, Option<i64>),
        why: &str,
    ) -> Result<Self, Failure> {
        let mut reader = Reader::mapped(Arc::clone(file))?;
        reader.note_pages();
        Ok(Kept {
            reader,
            roots: roots.to_vec(),
            is_by_rowid,
            largest,
            why: why.to_owned(),
            keeps_leaves: false,
            pages: Vec::new(),
        })
    }

    /// Whether the file can be written past the page cache while it is read.
    pub(super) fn is_mapped(&self) -> bool {
        self.reader.map().is_some()
    }

    /// Appends the rows that are there and the new ones in the order of the table. Returns how many new ones were stored.
    ///
    /// If all new rows come after those that are there, the leaf pages of these stay, but for the last one.
    pub(super) fn merge_rows(
        &mut self,
        build: &mut Build,
        new: &mut impl NewRows,
        progress: &Progress,
    ) -> Result<u64, Failure> {
        let (mut row, mut stored, mut kept) = (Vec::new(), 0, 0u64);
        let mut origin = new.next(&mut row)?;
        let mut root = self.roots[0];
        if origin.is_some() && build.is_after(&row, self.largest) {
            self.keeps_leaves = true;
            root = self
                .reader
                .leaves(root, |page, last| build.keep_leaf(page, last))?;
        }
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
        match self.is_by_rowid {
            true => self.reader.table(root, &mut keep)?,
            false => self.reader.index(root, |old| keep(0, old))?,
        }
        while let Some(at) = origin {
            stored += push(build, &row, at, new)?;
            origin = new.next(&mut row)?;
        }
        Ok(stored)
    }

    /// Ends the reading.
    pub(super) fn end(&mut self) {
        let mut pages = self.reader.take_pages();
        pages.retain(|page| !self.roots.contains(page));
        pages.sort_unstable();
        self.pages = pages;
    }

    /// The pages that become free, ascending, once the reading has ended.
    pub(super) fn pages(&self) -> &[u32] {
        &self.pages
    }

    /// What is to be said about the merge.
    pub(super) fn note(&self) -> String {
        let how = match self.keeps_leaves {
            true => "appended to the rows that were there, whose pages stay",
            false => "merged with the rows that were there",
        };
        let (why, pages) = (&self.why, self.pages.len());
        format!(
            "{how}: {why}; {pages} pages of the old trees are free now (VACUUM gives them back)"
        )
    }
}

impl KeptEntries for Kept {
    fn merge(
        &mut self,
        index: usize,
        order: &KeyOrder,
        new: &mut NewEntries<'_>,
    ) -> Result<(), Failure> {
        let mut is_there = new.advance()?;
        self.reader.index(self.roots[1 + index], |old| {
            while is_there && order.compare(new.entry(), old).is_lt() {
                new.push()?;
                is_there = new.advance()?;
            }
            new.keep(old)
        })?;
        match is_there {
            true => new.push(),
            false => Ok(()),
        }
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
