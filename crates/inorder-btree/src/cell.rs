//! Reads the cells of pages: the pages that they refer to.

use crate::geometry::{Geometry, PageKind};
use crate::record::varint;

/// Bytes of a page's number.
pub(crate) const NUMBER_BYTES: usize = 4;

/// The pages that a cell refers to.
#[derive(Debug, Default)]
pub(crate) struct Cell {
    pub(crate) child: Option<u32>,
    pub(crate) overflow: Option<u32>,
}

impl Cell {
    /// Reads a cell, which may have other bytes after it, of a page of this kind.
    pub(crate) fn read(kind: PageKind, mut cell: &[u8], geometry: &Geometry) -> Self {
        let mut found = Cell::default();
        if kind.is_interior() {
            found.child = Some(number_at(cell, 0));
            cell = &cell[NUMBER_BYTES..];
        }
        if kind == PageKind::TableInterior {
            return found;
        }
        let varint = |cell| varint::read(cell).expect("cells are whole: they were made here");
        let (payload_bytes, mut at) = varint(cell);
        if kind == PageKind::TableLeaf {
            at += varint(&cell[at..]).1;
        }
        let local_bytes = geometry.local_bytes(kind, payload_bytes as usize);
        if local_bytes < payload_bytes as usize {
            found.overflow = Some(number_at(cell, at + local_bytes));
        }
        found
    }
}

fn number_at(cell: &[u8], at: usize) -> u32 {
    let bytes = cell[at..]
        .first_chunk()
        .expect("cells are whole: they were made here");
    u32::from_be_bytes(*bytes)
}
