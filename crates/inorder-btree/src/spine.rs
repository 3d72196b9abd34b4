//! The open interior pages of a tree: one per level, on the right edge.

use crate::cell::NUMBER_BYTES;
use crate::error::Result;
use crate::geometry::{Geometry, PageKind};
use crate::output::Output;
use crate::page::Page;

/// The open interior pages, from the one above the leaves up to the root.
#[derive(Debug)]
pub(crate) struct Spine {
    kind: PageKind,
    geometry: Geometry,
    levels: Vec<Level>,
}

/// An interior page and the child that waits for the next one.
#[derive(Debug)]
struct Level {
    page: Page,
    /// A child that didn't fit, and its separator. A page needs a child to the right of its last separator, so this child
    /// waits until the next page has one too.
    waiting: Option<u32>,
    separator: Vec<u8>,
}

/// The least cells per interior page, so that the last can be removed.
const CELLS_MIN: usize = 2;

impl Spine {
    pub(crate) fn new(kind: PageKind, geometry: Geometry) -> Self {
        Spine {
            kind,
            geometry,
            levels: Vec::new(),
        }
    }

    /// Adds a full page, and the separator between it and the next page.
    pub(crate) fn push(&mut self, child: u32, separator: &[u8], output: &mut Output) -> Result<()> {
        self.push_at(0, child, separator, output)
    }

    fn push_at(
        &mut self,
        height: usize,
        child: u32,
        separator: &[u8],
        output: &mut Output,
    ) -> Result<()> {
        if height == self.levels.len() {
            self.levels.push(Level {
                page: Page::new(self.kind, self.geometry),
                waiting: None,
                separator: Vec::new(),
            });
        }
        let level = &mut self.levels[height];
        if let Some(right_child) = level.waiting.take() {
            let number = output.append(&mut level.page, right_child)?;
            level.page.clear();
            let promoted = std::mem::take(&mut level.separator);
            self.push_at(height + 1, number, &promoted, output)?;
            self.levels[height].separator = promoted;
        }
        let level = &mut self.levels[height];
        if level.page.takes(NUMBER_BYTES + separator.len(), CELLS_MIN) {
            level.add(child, separator);
        } else {
            level.waiting = Some(child);
            level.separator.clear();
            level.separator.extend_from_slice(separator);
        }
        Ok(())
    }

    /// Ends the tree with its last leaf, and writes its root.
    pub(crate) fn finish(mut self, root: u32, leaf: &mut Page, output: &mut Output) -> Result<()> {
        if self.levels.is_empty() {
            return output.put_root(root, leaf, 0);
        }
        let mut right_child = output.append(leaf, 0)?;
        let mut height = 0;
        loop {
            self.settle(height, output)?;
            let is_top = height + 1 == self.levels.len();
            let page = &mut self.levels[height].page;
            if is_top {
                return output.put_root(root, page, right_child);
            }
            right_child = output.append(page, right_child)?;
            height += 1;
        }
    }

    /// Writes the page of a level that has a waiting child, without its last cell, and begins a page with that child.
    fn settle(&mut self, height: usize, output: &mut Output) -> Result<()> {
        let level = &mut self.levels[height];
        let Some(child) = level.waiting.take() else {
            return Ok(());
        };
        let (last_child, promoted) = level
            .page
            .remove_last()
            .split_first_chunk()
            .expect("a cell begins with its child");
        let (last_child, promoted) = (u32::from_be_bytes(*last_child), promoted.to_vec());
        let number = output.append(&mut level.page, last_child)?;
        level.page.clear();
        let separator = std::mem::take(&mut level.separator);
        level.add(child, &separator);
        self.push_at(height + 1, number, &promoted, output)
    }
}

impl Level {
    fn add(&mut self, child: u32, separator: &[u8]) {
        let cell = self.page.add(NUMBER_BYTES + separator.len());
        let (number, rest) = cell.split_at_mut(NUMBER_BYTES);
        number.copy_from_slice(&child.to_be_bytes());
        rest.copy_from_slice(separator);
    }
}
