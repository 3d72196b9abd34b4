//! A page of a tree while it is filled.

use crate::geometry::{Geometry, PageKind};

/// A page of a tree: the offsets of the cells grow from its beginning, the cells from its end.
#[derive(Debug)]
pub(crate) struct Page {
    bytes: Vec<u8>,
    kind: PageKind,
    geometry: Geometry,
    cells: usize,
    /// The offset of the last cell, which is the lowest.
    content: usize,
    /// The bytes of the last cell without padding.
    last_cell_bytes: usize,
}

/// The least bytes per cell: a free block must fit in its place.
const CELL_BYTES_MIN: usize = 4;

impl Page {
    pub(crate) fn new(kind: PageKind, geometry: Geometry) -> Self {
        Page {
            bytes: vec![0; geometry.page],
            kind,
            geometry,
            cells: 0,
            content: geometry.usable,
            last_cell_bytes: 0,
        }
    }

    pub(crate) fn kind(&self) -> PageKind {
        self.kind
    }

    pub(crate) fn clear(&mut self) {
        self.cells = 0;
        self.content = self.geometry.usable;
    }

    /// The bytes in use after some more cells.
    fn used_with(&self, cells: usize, cell_bytes: usize) -> usize {
        let header = self.kind.header_bytes() + 2 * (self.cells + cells);
        header + self.geometry.usable - self.content + cell_bytes
    }

    /// The bytes of header, offsets and cells.
    pub(crate) fn used(&self) -> usize {
        self.used_with(0, 0)
    }

    /// Whether a cell of this size fits, up to the fill factor. The first `cells_min` cells may exceed it.
    #[inline]
    pub(crate) fn takes(&self, cell_bytes: usize, cells_min: usize) -> bool {
        let used = self.used_with(1, cell_bytes.max(CELL_BYTES_MIN));
        used <= self.geometry.filled || (self.cells < cells_min && used <= self.geometry.usable)
    }

    /// Adds a cell, which must fit. Returns its bytes.
    #[inline]
    pub(crate) fn add(&mut self, cell_bytes: usize) -> &mut [u8] {
        let padded = cell_bytes.max(CELL_BYTES_MIN);
        self.content -= padded;
        let offset = self.kind.header_bytes() + 2 * self.cells;
        self.bytes[offset..][..2].copy_from_slice(&(self.content as u16).to_be_bytes());
        self.cells += 1;
        self.last_cell_bytes = cell_bytes;
        let cell = &mut self.bytes[self.content..][..padded];
        let (cell, padding) = cell.split_at_mut(cell_bytes);
        padding.fill(0);
        cell
    }

    /// The cell that was added last.
    pub(crate) fn last(&self) -> &[u8] {
        &self.bytes[self.content..][..self.last_cell_bytes]
    }

    /// Removes the cell that was added last. Nothing else may have happened since.
    pub(crate) fn remove_last(&mut self) -> &[u8] {
        let at = self.content;
        self.cells -= 1;
        self.content += self.last_cell_bytes.max(CELL_BYTES_MIN);
        &self.bytes[at..][..self.last_cell_bytes]
    }

    /// The cells in order. Each slice reaches to the end of the page.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let offsets = self.bytes[self.kind.header_bytes()..][..2 * self.cells].chunks_exact(2);
        offsets.map(|offset| &self.bytes[usize::from(u16::from_be_bytes([offset[0], offset[1]]))..])
    }

    /// Writes the header of the page. Returns the whole page. `right_child` is used by interior pages.
    pub(crate) fn seal(&mut self, right_child: u32) -> &[u8] {
        self.seal_at(0, right_child)
    }

    /// Writes the header of the page at an offset, after the header of the file. There must be room for it.
    pub(crate) fn seal_at(&mut self, start: usize, right_child: u32) -> &[u8] {
        let header_bytes = self.kind.header_bytes();
        let offsets_end = header_bytes + 2 * self.cells;
        if start > 0 {
            self.bytes
                .copy_within(header_bytes..offsets_end, start + header_bytes);
            self.bytes[..start].fill(0);
        }
        self.bytes[start + offsets_end..self.content].fill(0);
        let header = &mut self.bytes[start..][..header_bytes];
        header.fill(0);
        header[0] = self.kind as u8;
        header[3..5].copy_from_slice(&(self.cells as u16).to_be_bytes());
        // 65536 is written as 0.
        header[5..7].copy_from_slice(&(self.content as u16).to_be_bytes());
        if self.kind.is_interior() {
            header[8..12].copy_from_slice(&right_child.to_be_bytes());
        }
        &self.bytes
    }
}
