//! Writes the pages of a file in the order of their numbers.

use std::fs::File;
use std::sync::Arc;

use crate::cell::Cell;
use crate::cells::LeafPage;
use crate::error::Result;
use crate::geometry::{Geometry, PageKind};
use crate::header::{HEADER_BYTES, header};
use crate::numbers::{Numbers, Place};
use crate::o_direct::ALIGNMENT_BYTES;
use crate::options::{AutoVacuum, Options};
use crate::page::Page;
use crate::page_file::PageFile;
use crate::pointer_map::{ENTRY_BYTES, PointerMap, Referrer};

/// The page of the schema's root, which begins with the file's header.
pub(crate) const SCHEMA_ROOT: u32 = 1;

/// The pages of a file, written one after another. Root pages are reserved at its beginning and written last.
#[derive(Debug)]
pub(crate) struct Output {
    file: PageFile,
    numbers: Numbers,
    geometry: Geometry,
    pointer_map: Option<PointerMap>,
    map_pages: Vec<u32>,
    /// The reserved pages and their content.
    late: Vec<(u32, Vec<u8>)>,
    /// The first page that is written.
    first: u32,
}

/// What trees behind a database consist of.
#[derive(Debug)]
pub struct Appended {
    /// The first page that was written.
    pub first: u32,
    /// The last page that was written; less than `first` if none was.
    pub last: u32,
    /// The root pages, which were not written: their numbers and contents.
    pub roots: Vec<(u32, Vec<u8>)>,
}

impl Output {
    pub(crate) fn new(file: Arc<File>, options: &Options) -> Self {
        let geometry = Geometry::new(options);
        let has_pointer_map = options.auto_vacuum != AutoVacuum::None;
        Output {
            file: PageFile::new(file, options, 0),
            numbers: Numbers::new(&geometry, has_pointer_map),
            geometry,
            pointer_map: has_pointer_map.then(PointerMap::default),
            map_pages: Vec::new(),
            late: Vec::new(),
            first: 1,
        }
    }

    /// The pages after the first `pages` of a file without a pointer map, or some more: blocks are aligned.
    pub(crate) fn after(file: Arc<File>, options: &Options, pages: u32) -> Self {
        let geometry = Geometry::new(options);
        let aligned = (ALIGNMENT_BYTES / geometry.page).max(1) as u32;
        let pages = pages.next_multiple_of(aligned);
        let written = u64::from(pages) * geometry.page as u64;
        Output {
            file: PageFile::new(file, options, written),
            numbers: Numbers::after(&geometry, pages),
            geometry,
            pointer_map: None,
            map_pages: Vec::new(),
            late: Vec::new(),
            first: pages + 1,
        }
    }

    pub(crate) fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// Takes the next page. Returns its number; the caller overwrites the whole page.
    fn next_page(&mut self) -> Result<u32> {
        loop {
            let (number, place) = self.numbers.take()?;
            self.file.next_page()?;
            match place {
                Place::Free => return Ok(number),
                Place::PointerMap => self.map_pages.push(number),
                Place::Pending => {}
            }
            self.file.page().fill(0);
        }
    }

    /// Reserves the next page for a root. Returns its number.
    pub(crate) fn reserve(&mut self) -> Result<u32> {
        let number = self.next_page()?;
        self.file.page().fill(0);
        Ok(number)
    }

    /// Writes a page of a tree. Returns its number.
    pub(crate) fn append(&mut self, page: &mut Page, right_child: u32) -> Result<u32> {
        let number = self.next_page()?;
        self.file.page().copy_from_slice(page.seal(right_child));
        self.note_children(page, right_child, number);
        Ok(number)
    }

    /// Whether a page of another file can be a page of this one: it has the same geometry, and no other fill factor is
    /// asked for.
    pub(crate) fn takes(&self, page: &LeafPage<'_>) -> bool {
        let (own, other) = (self.geometry, page.geometry);
        own.page == other.page && [own.filled, other.usable] == [own.page; 2]
    }

    /// Writes a leaf page that no overflow page belongs to. Returns its number.
    pub(crate) fn append_whole(&mut self, page: &[u8]) -> Result<u32> {
        let number = self.next_page()?;
        self.file.page().copy_from_slice(page);
        Ok(number)
    }

    /// Sets the content of a reserved root page.
    pub(crate) fn put_root(&mut self, root: u32, page: &mut Page, right_child: u32) -> Result<()> {
        let header_bytes = if root == SCHEMA_ROOT { HEADER_BYTES } else { 0 };
        if page.used() > self.geometry.usable - header_bytes {
            // SQLite takes a first page that has one child and no cell, for this very reason.
            let child = self.append(page, right_child)?;
            let mut above = Page::new(PageKind::TableInterior, self.geometry);
            return self.put_root(root, &mut above, child);
        }
        self.note_children(page, right_child, root);
        if root != SCHEMA_ROOT {
            self.note(root, Referrer::Schema);
        }
        let bytes = page.seal_at(header_bytes, right_child).to_vec();
        self.late.push((root, bytes));
        Ok(())
    }

    /// Writes the part of a payload that doesn't fit into its cell. Returns the first overflow page.
    pub(crate) fn append_overflow(&mut self, mut rest: &[u8]) -> Result<u32> {
        let first = self.numbers.next_free()?;
        let mut before = None;
        while !rest.is_empty() {
            let (part, after) = rest.split_at(rest.len().min(self.geometry.overflow_bytes()));
            let number = self.next_page()?;
            let next = match after {
                [] => 0,
                _ => self.numbers.next_free()?,
            };
            let page = self.file.page();
            page[..4].copy_from_slice(&next.to_be_bytes());
            page[4..][..part.len()].copy_from_slice(part);
            page[4 + part.len()..].fill(0);
            if let Some(before) = before.replace(number) {
                self.note(number, Referrer::Chain(before));
            }
            rest = after;
        }
        Ok(first)
    }

    fn note(&mut self, page: u32, referrer: Referrer) {
        if let Some(map) = &mut self.pointer_map {
            map.set(page, referrer);
        }
    }

    /// Enters the pages that a page refers to into the pointer map.
    fn note_children(&mut self, page: &Page, right_child: u32, number: u32) {
        let Some(map) = &mut self.pointer_map else {
            return;
        };
        for cell in page.iter() {
            let cell = Cell::read(page.kind(), cell, &self.geometry);
            if let Some(child) = cell.child {
                map.set(child, Referrer::Parent(number));
            }
            if let Some(overflow) = cell.overflow {
                map.set(overflow, Referrer::Cell(number));
            }
        }
        if page.kind().is_interior() {
            map.set(right_child, Referrer::Parent(number));
        }
    }

    /// Writes the root pages. Returns the file and how many pages it has.
    pub(crate) fn finish_trees(self) -> Result<(Arc<File>, u32)> {
        let pages = self.numbers.last();
        let file = self.file.finish()?;
        for (number, page) in self.late {
            file.overwrite(number, &page)?;
        }
        Ok((file.into_file(), pages))
    }

    /// Writes the pages without the root pages.
    pub(crate) fn finish_apart(self) -> Result<Appended> {
        let last = self.numbers.last();
        self.file.finish()?;
        Ok(Appended {
            first: self.first,
            last,
            roots: self.late,
        })
    }

    /// Writes the root pages, the pointer map, and at last the first page with the header of the file.
    pub(crate) fn finish(self, options: &Options, last_root: u32) -> Result<Arc<File>> {
        let pages = self.numbers.last();
        let file = self.file.finish()?;
        if let Some(map) = &self.pointer_map {
            let entries = self.geometry.usable / ENTRY_BYTES;
            for &number in &self.map_pages {
                file.overwrite(number, &map.page(number, entries, self.geometry.page))?;
            }
        }
        let mut first = None;
        for (number, mut page) in self.late {
            if number == SCHEMA_ROOT {
                page[..HEADER_BYTES].copy_from_slice(&header(options, pages, last_root));
                first = Some(page);
            } else {
                file.overwrite(number, &page)?;
            }
        }
        if let Some(page) = first {
            file.overwrite(SCHEMA_ROOT, &page)?;
        }
        Ok(file.into_file())
    }
}
