//! The use of each page of a file, and the page that refers to it.
//!
//! A map exists only for a file where each page has exactly one use. That is proof that the pages of some trees are not
//! those of others.

use crate::cells::{Cells, Payload};
use crate::error::{Error, Result};
use crate::geometry::PageKind;
use crate::numbers::lock_page;
use crate::reader::{DEPTH_MAX, Reader};

/// The use of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// Nothing refers to it.
    Unknown,
    /// The page with the lock byte.
    Lock,
    /// A page of the freelist without content.
    Free,
    /// A page of the freelist that names others.
    Trunk,
    /// A leaf page of a tree.
    Leaf,
    /// An interior page of a tree.
    Interior,
    /// A part of a payload.
    Overflow,
}

/// A page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mapped {
    pub(crate) used: Use,
    /// The tree, as its place among the roots.
    tree: u32,
    /// The page that refers to this one; 0 for a root.
    pub(crate) referrer: u32,
}

/// The use of each page of a file without a pointer map.
#[derive(Debug)]
pub struct PageMap {
    pages: Vec<Mapped>,
    /// Whether leaf pages are read, for their overflow pages.
    with_overflow: bool,
}

impl PageMap {
    /// Maps the first `pages` pages of a file, which has trees with these root pages and a freelist that begins at
    /// `free_list` (0 for none).
    ///
    /// The leaf pages are not read where interior pages and the freelist account for all pages of the file.
    ///
    /// # Errors
    /// [`Error::Malformed`] where a page has no use, or more than one, and what reading brings.
    pub fn read(reader: &mut Reader, pages: u32, roots: &[u32], free_list: u32) -> Result<Self> {
        let mut map = PageMap::with(reader, pages, roots, free_list, false)?;
        if map.unknown().is_some() {
            map = PageMap::with(reader, pages, roots, free_list, true)?;
        }
        match map.unknown() {
            None => Ok(map),
            Some(page) => Err(Error::Malformed { page }),
        }
    }

    fn with(
        reader: &mut Reader,
        pages: u32,
        roots: &[u32],
        free_list: u32,
        with_overflow: bool,
    ) -> Result<Self> {
        let unknown = Mapped {
            used: Use::Unknown,
            tree: 0,
            referrer: 0,
        };
        let mut map = PageMap {
            pages: vec![unknown; pages as usize],
            with_overflow,
        };
        let pending = lock_page(reader.page_bytes());
        if pending <= pages {
            map.claim(pending, Use::Lock, 0, 0)?;
        }
        for (tree, &root) in (0..).zip(roots) {
            let height = height(reader, root)?;
            map.tree(reader, tree, root, 0, height)?;
        }
        map.free_list(reader, free_list)?;
        Ok(map)
    }

    /// The number of pages.
    pub(crate) fn pages(&self) -> u32 {
        self.pages.len() as u32
    }

    /// The use of a page.
    pub(crate) fn page(&self, number: u32) -> Mapped {
        self.pages[number as usize - 1]
    }

    /// The pages with their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, Mapped)> {
        (1..=self.pages()).zip(self.pages.iter().copied())
    }

    /// The pages of some trees, ascending. Trees are told by their places among the roots.
    pub fn pages_of(&self, is_wanted: impl Fn(usize) -> bool) -> Vec<u32> {
        let is_of = |page: &Mapped| {
            let is_tree = matches!(page.used, Use::Leaf | Use::Interior | Use::Overflow);
            is_tree && is_wanted(page.tree as usize)
        };
        let pages = self.iter().filter(|(_, page)| is_of(page));
        pages.map(|(number, _)| number).collect()
    }

    /// The number of pages of each of the first `trees` trees, told by their places among the roots.
    pub fn tree_pages(&self, trees: usize) -> Vec<u64> {
        let mut counts = vec![0; trees];
        for (_, page) in self.iter() {
            let is_tree = matches!(page.used, Use::Leaf | Use::Interior | Use::Overflow);
            if let Some(count) = counts.get_mut(page.tree as usize).filter(|_| is_tree) {
                *count += 1;
            }
        }
        counts
    }

    /// The leaf pages of each tree.
    pub(crate) fn leaves(&self) -> Vec<Vec<u32>> {
        let mut leaves = Vec::new();
        for (number, page) in self.iter().filter(|(_, page)| page.used == Use::Leaf) {
            let tree = page.tree as usize;
            if leaves.len() <= tree {
                leaves.resize_with(tree + 1, Vec::new);
            }
            leaves[tree].push(number);
        }
        leaves
    }

    fn unknown(&self) -> Option<u32> {
        let mut unknown = self.iter().filter(|(_, page)| page.used == Use::Unknown);
        unknown.next().map(|(number, _)| number)
    }

    /// Gives a page its use, which must be its first.
    fn claim(&mut self, number: u32, used: Use, tree: u32, referrer: u32) -> Result<()> {
        let page = (number as usize)
            .checked_sub(1)
            .and_then(|at| self.pages.get_mut(at))
            .filter(|page| page.used == Use::Unknown)
            .ok_or(Error::Malformed { page: number })?;
        *page = Mapped {
            used,
            tree,
            referrer,
        };
        Ok(())
    }

    /// Claims the pages of a tree from a page on that is so many levels above the leaf pages.
    fn tree(
        &mut self,
        reader: &mut Reader,
        tree: u32,
        number: u32,
        referrer: u32,
        height: usize,
    ) -> Result<()> {
        let used = match height {
            0 => Use::Leaf,
            _ => Use::Interior,
        };
        self.claim(number, used, tree, referrer)?;
        if height == 0 && !self.with_overflow {
            return Ok(());
        }
        let References { children, payloads } = references(reader, number)?;
        if children.is_empty() != (height == 0) {
            return Err(Error::Malformed { page: number });
        }
        for child in children {
            self.tree(reader, tree, child, number, height - 1)?;
        }
        if self.with_overflow {
            for (first, bytes) in payloads {
                self.payload(reader, tree, first, number, bytes)?;
            }
        }
        Ok(())
    }

    /// Claims the overflow pages of a payload of which so many bytes are in them.
    fn payload(
        &mut self,
        reader: &mut Reader,
        tree: u32,
        first: u32,
        referrer: u32,
        bytes: usize,
    ) -> Result<()> {
        let (mut number, mut referrer) = (first, referrer);
        for _ in 0..bytes.div_ceil(reader.geometry().overflow_bytes()) {
            self.claim(number, Use::Overflow, tree, referrer)?;
            referrer = number;
            number = number_at(reader.page(number)?, 0);
        }
        Ok(())
    }

    fn free_list(&mut self, reader: &mut Reader, first: u32) -> Result<()> {
        let mut trunk = first;
        while trunk != 0 {
            self.claim(trunk, Use::Trunk, 0, 0)?;
            let page = reader.page(trunk)?;
            let count = number_at(page, 4) as usize;
            let leaves = page[8..].chunks_exact(4).take(count);
            let leaves: Vec<u32> = leaves.map(|leaf| number_at(leaf, 0)).collect();
            trunk = number_at(page, 0);
            for leaf in leaves {
                self.claim(leaf, Use::Free, 0, 0)?;
            }
        }
        Ok(())
    }
}

/// The number of levels of a tree above its leaf pages.
fn height(reader: &mut Reader, root: u32) -> Result<usize> {
    let mut number = root;
    for height in 0..DEPTH_MAX {
        let usable = reader.geometry().usable;
        let cells = Cells::new(reader.page(number)?, number, usable);
        let cells = cells.ok_or(Error::Malformed { page: number })?;
        let Some(right) = cells.right_child else {
            return Ok(height);
        };
        number = right;
    }
    Err(Error::Malformed { page: root })
}

/// The pages that one page refers to.
struct References {
    children: Vec<u32>,
    /// The first overflow page of each payload, and the bytes that are in overflow pages.
    payloads: Vec<(u32, usize)>,
}

fn references(reader: &mut Reader, number: u32) -> Result<References> {
    let malformed = || Error::Malformed { page: number };
    let geometry = reader.geometry();
    let cells = Cells::new(reader.page(number)?, number, geometry.usable).ok_or_else(malformed)?;
    let (mut children, mut payloads) = (Vec::new(), Vec::new());
    for at in 0..cells.count {
        let mut cell = cells.cell(at).ok_or_else(malformed)?;
        if cells.kind.is_interior() {
            let (child, rest) = cell.split_first_chunk().ok_or_else(malformed)?;
            children.push(u32::from_be_bytes(*child));
            cell = rest;
        }
        if cells.kind != PageKind::TableInterior {
            let (_, payload) = geometry.payload(cells.kind, cell).ok_or_else(malformed)?;
            if let Payload::Split { local, bytes, next } = payload {
                payloads.push((next, bytes - local.len()));
            }
        }
    }
    children.extend(cells.right_child);
    Ok(References { children, payloads })
}

/// The number at an offset of a page.
pub(crate) fn number_at(page: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([page[at], page[at + 1], page[at + 2], page[at + 3]])
}
