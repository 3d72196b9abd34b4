//! The trees of a file that is there, read page by page without SQLite.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use crate::cells::{Cells, LeafPage, Payload};
use crate::error::{Error, Result};
use crate::geometry::{Geometry, PageKind};
use crate::header::HEADER_BYTES;
use crate::mapped::Mapped;
use crate::options::Options;
use crate::record::varint;
use crate::windows::{Place, Windows};

/// SQLite's own limit of how deep a tree is (`BTCURSOR_MAX_DEPTH`).
pub(crate) const DEPTH_MAX: usize = 20;

/// Reads the entries of trees in the order in which SQLite keeps them.
///
/// The file must not change meanwhile and have no journal or WAL that belongs to it: hold a read transaction of
/// SQLite, or read a private copy. Closing the file gives up the process's locks on it (POSIX), so close it after
/// the connections.
///
/// ```
/// # use inorder_btree::{Builder, Options, SchemaEntry, Reader, Error};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let file = tempfile::tempfile()?;
/// # let mut table = Builder::create(file, Options::default())?.table()?;
/// # table.push(7, &[2, 9])?;
/// # let (builder, root) = table.finish()?;
/// # let file = builder.finish(&[])?;
/// let mut reader = Reader::new(file)?;
/// let mut rowids = Vec::new();
/// reader.table(root, |rowid, _record| {
///     rowids.push(rowid);
///     Ok::<_, Error>(())
/// })?;
/// assert_eq!(rowids, [7]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Reader {
    geometry: Geometry,
    reserved_bytes: u8,
    pages: u32,
    schema_format: u32,
    windows: Windows,
    /// A page for each level of a tree, and a payload that is in several pages.
    levels: Vec<Vec<u8>>,
    payload: Vec<u8>,
    /// Pages that a tree may still have.
    left: u32,
    /// The pages that were visited, if they are noted.
    visited: Option<Vec<u32>>,
}

impl Reader {
    /// Reads the file's header.
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`] where it isn't SQLite's, and what reading brings.
    pub fn new(file: impl Into<Arc<File>>) -> Result<Self> {
        Reader::with(file.into(), false)
    }

    /// As [`new`](Self::new), but bypasses the page cache where the file system supports that. It takes less CPU time
    /// for a file that is in no cache and whose trees lie one after another.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn direct(file: impl Into<Arc<File>>) -> Result<Self> {
        Reader::with(file.into(), true)
    }

    /// As [`new`](Self::new), but maps the file into memory where the system can. Pages are read without system calls
    /// then, and records can be found again by their places. An error of the disk ends the process then.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn mapped(file: impl Into<Arc<File>>) -> Result<Self> {
        let mut reader = Reader::with(file.into(), false)?;
        reader.windows.map();
        Ok(reader)
    }

    /// The file in memory, where it is mapped.
    #[must_use]
    pub fn map(&self) -> Option<&Arc<Mapped>> {
        self.windows.mapped()
    }

    fn with(file: Arc<File>, is_direct: bool) -> Result<Self> {
        let mut header = [0; HEADER_BYTES];
        file.read_exact_at(&mut header, 0).map_err(Error::Read)?;
        let number = |at: usize| {
            u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
        };
        let page_bytes = match u16::from_be_bytes([header[16], header[17]]) {
            1 => 65536,
            bytes => u32::from(bytes),
        };
        let options = Options {
            page_bytes,
            reserved_bytes: header[20],
            ..Options::default()
        };
        if !header.starts_with(b"SQLite format 3\0") || options.check().is_err() {
            return Err(Error::Malformed { page: 1 });
        }
        let bytes = file.metadata().map_err(Error::Read)?.len();
        let pages = u32::try_from(bytes / u64::from(page_bytes)).unwrap_or(u32::MAX);
        Ok(Reader {
            geometry: Geometry::new(&options),
            reserved_bytes: header[20],
            pages,
            schema_format: number(44),
            windows: Windows::new(file, page_bytes as usize, pages, is_direct),
            levels: Vec::new(),
            payload: Vec::new(),
            left: 0,
            visited: None,
        })
    }

    /// The page size in bytes.
    #[must_use]
    pub fn page_bytes(&self) -> u32 {
        self.geometry.page as u32
    }

    /// Bytes at the end of each page that extensions keep for themselves.
    #[must_use]
    pub fn reserved_bytes(&self) -> u8 {
        self.reserved_bytes
    }

    /// The format of the schema: 4 where descending indexes are kept so.
    #[must_use]
    pub fn schema_format(&self) -> u32 {
        self.schema_format
    }

    pub(crate) fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// Bytes of a page without the reserved ones.
    #[must_use]
    pub fn usable_bytes(&self) -> usize {
        self.geometry.usable
    }

    /// Returns a page by its number from 1.
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`] where the file has no such page, and what reading brings.
    pub fn page(&mut self, number: u32) -> Result<&[u8]> {
        if number == 0 || number > self.pages {
            return Err(Error::Malformed { page: number });
        }
        let place = self.windows.find(number).map_err(Error::Read)?;
        Ok(self.windows.page(place))
    }

    /// Returns the file.
    #[must_use]
    pub fn into_file(self) -> Arc<File> {
        self.windows.into_file()
    }

    /// Notes the pages of the trees that are visited from now on.
    pub fn note_pages(&mut self) {
        self.visited = Some(Vec::new());
    }

    /// Returns the pages noted so far, in the order of the visits.
    pub fn take_pages(&mut self) -> Vec<u32> {
        self.visited.take().unwrap_or_default()
    }

    /// Whether the index at this root page has no entries.
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`] and what reading brings.
    pub fn is_empty(&mut self, root: u32) -> Result<bool> {
        self.left = 1;
        let place = self.find(root)?;
        let cells = Cells::new(self.windows.page(place), root, self.geometry.usable);
        let cells = cells.ok_or(Error::Malformed { page: root })?;
        Ok(cells.kind == PageKind::IndexLeaf && cells.count == 0)
    }

    /// Calls `row` for each row of the table at this root page, by rowid.
    ///
    /// # Errors
    ///
    /// Those of `row`; [`Error::Malformed`]; errors of reading.
    pub fn table<E, F>(&mut self, root: u32, mut row: F) -> std::result::Result<(), E>
    where
        E: From<Error>,
        F: FnMut(i64, &[u8]) -> std::result::Result<(), E>,
    {
        self.visit(root, true, &mut Rows(&mut row))
    }

    /// Calls `entry` for each entry of the index, or row of the WITHOUT ROWID table, at this root page, in key order.
    ///
    /// # Errors
    ///
    /// Those of [`table`](Self::table).
    pub fn index<E, F>(&mut self, root: u32, mut entry: F) -> std::result::Result<(), E>
    where
        E: From<Error>,
        F: FnMut(&[u8]) -> std::result::Result<(), E>,
    {
        let mut row = |_, record: &[u8]| entry(record);
        self.visit(root, false, &mut Rows(&mut row))
    }

    /// Calls `leaf` for each leaf page of the table at this root page, in their order, without reading it: its number, and
    /// the largest rowid that it may have. Returns the number of the last leaf page, for which `leaf` is not called.
    ///
    /// # Errors
    ///
    /// Those of `leaf`; [`Error::Malformed`]; errors of reading.
    pub fn leaves<E: From<Error>>(
        &mut self,
        root: u32,
        mut leaf: impl FnMut(u32, i64) -> std::result::Result<(), E>,
    ) -> std::result::Result<u32, E> {
        self.left = self.pages;
        let (mut height, mut number) = (0, root);
        while let Some(child) = self.first_child(number)? {
            if height == DEPTH_MAX {
                return Err(Error::Malformed { page: number }.into());
            }
            (height, number) = (height + 1, child);
        }
        let mut last = root;
        self.walk_leaves(root, height, None, &mut |number, bound| match bound {
            Some(bound) => leaf(number, bound),
            None => {
                last = number;
                Ok(())
            }
        })?;
        Ok(last)
    }

    /// The first child of an interior page of a table; `None` if it is a leaf page.
    fn first_child(&mut self, number: u32) -> Result<Option<u32>> {
        let malformed = || Error::Malformed { page: number };
        let usable = self.geometry.usable;
        let page = self.page(number)?;
        let cells = Cells::new(page, number, usable).ok_or_else(malformed)?;
        match (cells.kind, cells.count) {
            (PageKind::TableLeaf, _) => Ok(None),
            (PageKind::TableInterior, 0) => Ok(cells.right_child),
            (PageKind::TableInterior, _) => {
                let cell = cells.cell(0).and_then(|cell| cell.first_chunk());
                let child = cell.ok_or_else(malformed)?;
                Ok(Some(u32::from_be_bytes(*child)))
            }
            _ => Err(malformed()),
        }
    }

    /// Gives the leaf pages below an interior page of this height, each with the largest rowid that it may have; the last
    /// one of the tree has none.
    fn walk_leaves<E: From<Error>>(
        &mut self,
        number: u32,
        height: usize,
        bound: Option<i64>,
        leaf: &mut impl FnMut(u32, Option<i64>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        if height == 0 {
            return leaf(number, bound);
        }
        let malformed = || Error::Malformed { page: number };
        let place = self.find(number)?;
        let copy = self.windows.page(place).to_vec();
        let cells = Cells::new(&copy, number, self.geometry.usable).ok_or_else(malformed)?;
        if cells.kind != PageKind::TableInterior {
            return Err(malformed().into());
        }
        for at in 0..cells.count {
            let cell = cells.cell(at).and_then(|cell| cell.split_first_chunk());
            let (child, rest) = cell.ok_or_else(malformed)?;
            let (rowid, _) = varint::read(rest).ok_or_else(malformed)?;
            let child = u32::from_be_bytes(*child);
            self.walk_leaves(child, height - 1, Some(rowid as i64), leaf)?;
        }
        let right_child = cells.right_child.ok_or_else(malformed)?;
        self.walk_leaves(right_child, height - 1, bound, leaf)
    }

    /// Gives the pages and rows of the table, or of the index, at this root page to a visitor, in their order.
    ///
    /// # Errors
    ///
    /// As [`table`](Self::table).
    pub fn visit<V: Visitor>(
        &mut self,
        root: u32,
        is_table: bool,
        visitor: &mut V,
    ) -> std::result::Result<(), V::Error> {
        self.left = self.pages;
        self.walk(root, 0, is_table, visitor)
    }

    fn walk<V: Visitor>(
        &mut self,
        number: u32,
        depth: usize,
        is_table: bool,
        visitor: &mut V,
    ) -> std::result::Result<(), V::Error> {
        let malformed = Error::Malformed { page: number };
        if depth >= DEPTH_MAX {
            return Err(malformed.into());
        }
        let place = self.find(number)?;
        let page = fetch(self.windows.page(place));
        let cells = Cells::new(page, number, self.geometry.usable).ok_or(malformed)?;
        let is_right_kind = match is_table {
            true => matches!(cells.kind, PageKind::TableLeaf | PageKind::TableInterior),
            false => matches!(cells.kind, PageKind::IndexLeaf | PageKind::IndexInterior),
        };
        if !is_right_kind {
            return Err(Error::Malformed { page: number }.into());
        }
        let leaf = LeafPage {
            bytes: page,
            cells,
            geometry: self.geometry,
        };
        let first = match leaf.cells.kind.is_interior() {
            true => 0,
            false => in_place(&leaf, number, visitor)?,
        };
        if first == leaf.cells.count && !leaf.cells.kind.is_interior() {
            return Ok(());
        }
        if self.levels.len() <= depth {
            self.levels.resize_with(depth + 1, Vec::new);
        }
        let mut copy = std::mem::take(&mut self.levels[depth]);
        copy.clear();
        copy.extend_from_slice(page);
        let malformed = Error::Malformed { page: number };
        let cells = Cells::new(&copy, number, self.geometry.usable).ok_or(malformed)?;
        for at in first..cells.count {
            let malformed = || Error::Malformed { page: number };
            let mut cell = cells.cell(at).ok_or_else(malformed)?;
            if cells.kind.is_interior() {
                let (child, rest) = cell.split_first_chunk().ok_or_else(malformed)?;
                self.walk(u32::from_be_bytes(*child), depth + 1, is_table, visitor)?;
                cell = rest;
            }
            if cells.kind != PageKind::TableInterior {
                let payload = self.geometry.payload(cells.kind, cell);
                let (rowid, payload) = payload.ok_or_else(malformed)?;
                match payload {
                    Payload::Whole(payload) => visitor.row(rowid, payload)?,
                    Payload::Split { local, bytes, next } => {
                        let mut whole = std::mem::take(&mut self.payload);
                        self.gather(local, bytes, next, &mut whole)?;
                        let result = visitor.row(rowid, &whole);
                        self.payload = whole;
                        result?;
                    }
                }
            }
        }
        if let Some(child) = cells.right_child {
            self.walk(child, depth + 1, is_table, visitor)?;
        }
        self.levels[depth] = copy;
        Ok(())
    }

    /// Assembles a payload that continues in overflow pages.
    fn gather(
        &mut self,
        local: &[u8],
        bytes: usize,
        mut next: u32,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        out.clear();
        out.extend_from_slice(local);
        while out.len() < bytes {
            let place = self.find(next)?;
            let page = self.windows.page(place);
            let part = self.geometry.overflow_bytes().min(bytes - out.len());
            out.extend_from_slice(&page[4..][..part]);
            next = u32::from_be_bytes([page[0], page[1], page[2], page[3]]);
        }
        Ok(())
    }

    /// Finds a page of a tree.
    #[inline]
    fn find(&mut self, number: u32) -> Result<Place> {
        if number == 0 || number > self.pages || self.left == 0 {
            return Err(Error::Malformed { page: number });
        }
        self.left -= 1;
        if let Some(visited) = &mut self.visited {
            visited.push(number);
        }
        self.windows.find(number).map_err(Error::Read)
    }
}

/// Passes a leaf page to the visitor, or its rows up to the first one that continues in an overflow page. Returns how many cells were given.
fn in_place<V: Visitor>(
    leaf: &LeafPage<'_>,
    number: u32,
    visitor: &mut V,
) -> std::result::Result<usize, V::Error> {
    let cells = &leaf.cells;
    if number > 1 && visitor.page(leaf)? {
        return Ok(cells.count);
    }
    for at in 0..cells.count {
        let cell = cells.cell(at);
        let payload = cell.and_then(|cell| leaf.geometry.payload(cells.kind, cell));
        match payload.ok_or(Error::Malformed { page: number })? {
            (rowid, Payload::Whole(payload)) => visitor.row(rowid, payload)?,
            (_, Payload::Split { .. }) => return Ok(at),
        }
    }
    Ok(cells.count)
}

/// The size of a cache line.
const LINE_BYTES: usize = 64;

/// Reads a byte of each of a page's cache lines: the memory of all is fetched at once, not one by one with the cells.
#[inline]
fn fetch(page: &[u8]) -> &[u8] {
    let lines = page.iter().step_by(LINE_BYTES);
    std::hint::black_box(lines.fold(0u8, |sum, byte| sum.wrapping_add(*byte)));
    page
}

/// What becomes of the pages and rows of a tree.
pub trait Visitor {
    /// What ends the visit.
    type Error: From<Error>;

    /// Takes a leaf page, or returns false to get its rows.
    ///
    /// # Errors
    /// What ends the visit.
    fn page(&mut self, page: &LeafPage<'_>) -> std::result::Result<bool, Self::Error>;

    /// Takes a row with its rowid, or the entry of an index with 0.
    ///
    /// # Errors
    /// What ends the visit.
    fn row(&mut self, rowid: i64, record: &[u8]) -> std::result::Result<(), Self::Error>;
}

/// Takes rows only.
struct Rows<'a, F>(&'a mut F);

impl<E: From<Error>, F: FnMut(i64, &[u8]) -> std::result::Result<(), E>> Visitor for Rows<'_, F> {
    type Error = E;

    #[inline]
    fn page(&mut self, _page: &LeafPage<'_>) -> std::result::Result<bool, E> {
        Ok(false)
    }

    #[inline]
    fn row(&mut self, rowid: i64, record: &[u8]) -> std::result::Result<(), E> {
        self.0(rowid, record)
    }
}
