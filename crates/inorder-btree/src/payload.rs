//! Writes payloads into cells and overflow pages.

use std::ops::Range;

use crate::cell::NUMBER_BYTES;
use crate::error::Result;
use crate::geometry::{Geometry, PageKind};
use crate::output::Output;
use crate::page::Page;
use crate::record::varint;

/// The form of a cell: its prefix, and how the payload is divided.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    /// A table's, which follows the payload's length.
    rowid: Option<u64>,
    /// The bytes of both.
    prefix_bytes: usize,
    local_bytes: usize,
    payload_bytes: usize,
}

impl Shape {
    /// The form of the cell of a payload on a leaf page.
    #[inline]
    pub(crate) fn new(
        kind: PageKind,
        geometry: &Geometry,
        rowid: Option<i64>,
        payload_bytes: usize,
    ) -> Self {
        let rowid = rowid.map(|rowid| rowid as u64);
        Shape {
            rowid,
            prefix_bytes: varint::len(payload_bytes as u64) + rowid.map_or(0, varint::len),
            local_bytes: geometry.local_bytes(kind, payload_bytes),
            payload_bytes,
        }
    }

    /// The bytes of the cell.
    #[inline]
    pub(crate) fn cell_bytes(&self) -> usize {
        let overflow = if self.local_bytes < self.payload_bytes {
            NUMBER_BYTES
        } else {
            0
        };
        self.prefix_bytes + self.local_bytes + overflow
    }

    /// The place of the payload in the cell. It reaches to the end of the cell if there is no overflow.
    #[inline]
    pub(crate) fn local(&self) -> Range<usize> {
        self.prefix_bytes..self.prefix_bytes + self.local_bytes
    }

    /// Writes the payload into a cell of [`cell_bytes`](Self::cell_bytes), and the rest to overflow pages.
    #[inline]
    pub(crate) fn write(&self, payload: &[u8], cell: &mut [u8], output: &mut Output) -> Result<()> {
        let (local, rest) = payload.split_at(self.local_bytes);
        let (prefix, cell) = cell.split_at_mut(self.prefix_bytes);
        let length_bytes = varint::write(self.payload_bytes as u64, prefix);
        if let Some(rowid) = self.rowid {
            varint::write(rowid, &mut prefix[length_bytes..]);
        }
        cell[..local.len()].copy_from_slice(local);
        if !rest.is_empty() {
            let first = output.append_overflow(rest)?;
            cell[local.len()..].copy_from_slice(&first.to_be_bytes());
        }
        Ok(())
    }
}

/// Adds a payload to a page that has room for its cell.
#[inline]
pub(crate) fn add(
    page: &mut Page,
    shape: &Shape,
    payload: &[u8],
    output: &mut Output,
) -> Result<()> {
    shape.write(payload, page.add(shape.cell_bytes()), output)
}
