//! The cells of pages: how payloads and children are put into them, and found again.

use std::ops::Range;

use crate::error::Result;
use crate::geometry::{Geometry, PageKind};
use crate::output::Output;
use crate::page::Page;
use crate::record::varint;

/// Bytes of a page's number.
pub(crate) const NUMBER_BYTES: usize = 4;

/// What a payload begins with and how it is divided, before it is in a cell.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    /// The payload's length and a table's rowid.
    prefix: [u8; 2 * varint::BYTES_MAX],
    prefix_bytes: usize,
    local_bytes: usize,
    payload_bytes: usize,
}

impl Shape {
    /// The shape of a payload's cell on a leaf.
    #[inline]
    pub(crate) fn new(
        kind: PageKind,
        geometry: &Geometry,
        rowid: Option<i64>,
        payload_bytes: usize,
    ) -> Self {
        let mut prefix = [0; 2 * varint::BYTES_MAX];
        let mut prefix_bytes = varint::write(payload_bytes as u64, &mut prefix);
        if let Some(rowid) = rowid {
            prefix_bytes += varint::write(rowid as u64, &mut prefix[prefix_bytes..]);
        }
        Shape {
            prefix,
            prefix_bytes,
            local_bytes: geometry.local_bytes(kind, payload_bytes),
            payload_bytes,
        }
    }

    /// The cell's bytes.
    #[inline]
    pub(crate) fn cell_bytes(&self) -> usize {
        let overflow = if self.local_bytes < self.payload_bytes {
            NUMBER_BYTES
        } else {
            0
        };
        self.prefix_bytes + self.local_bytes + overflow
    }

    /// Where in the cell the payload's bytes are that it keeps; they reach to its end if these are all.
    #[inline]
    pub(crate) fn local(&self) -> Range<usize> {
        self.prefix_bytes..self.prefix_bytes + self.local_bytes
    }

    /// Writes the payload into a cell of that many bytes, what it doesn't hold to pages of its own.
    #[inline]
    pub(crate) fn write(&self, payload: &[u8], cell: &mut [u8], output: &mut Output) -> Result<()> {
        let (local, rest) = payload.split_at(self.local_bytes);
        let (prefix, cell) = cell.split_at_mut(self.prefix_bytes);
        prefix.copy_from_slice(&self.prefix[..self.prefix_bytes]);
        cell[..local.len()].copy_from_slice(local);
        if !rest.is_empty() {
            let first = output.append_overflow(rest)?;
            cell[local.len()..].copy_from_slice(&first.to_be_bytes());
        }
        Ok(())
    }
}

/// Puts a payload into a page that has room for its cell.
#[inline]
pub(crate) fn add(
    page: &mut Page,
    shape: &Shape,
    payload: &[u8],
    output: &mut Output,
) -> Result<()> {
    shape.write(payload, page.add(shape.cell_bytes()), output)
}

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
