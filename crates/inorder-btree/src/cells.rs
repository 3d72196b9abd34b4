//! Reads the cells of pages of any file.

use crate::geometry::{Geometry, PageKind};
use crate::header::HEADER_BYTES;
use crate::record::varint;

/// A leaf page of a file that is read.
#[derive(Debug)]
pub struct LeafPage<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) cells: Cells<'a>,
    pub(crate) geometry: Geometry,
}

/// What a page has that can be copied whole.
pub(crate) struct Whole {
    pub(crate) entries: u64,
    pub(crate) first: i64,
    pub(crate) last: i64,
}

impl LeafPage<'_> {
    /// Gives the entries if no other page belongs to this one, and there is no room for another entry. The rowid of an
    /// index's entry is 0.
    pub(crate) fn whole(&self, mut entry: impl FnMut(i64, &[u8])) -> Option<Whole> {
        let header_bytes = self.cells.kind.header_bytes() + 2 * self.cells.count;
        let content = usize::from(u16::from_be_bytes([self.bytes[5], self.bytes[6]]));
        if self.cells.count == 0 || content > header_bytes + self.geometry.usable / 8 {
            return None;
        }
        let (mut cells_bytes, mut first, mut last) = (0, 0, 0);
        for at in 0..self.cells.count {
            let cell = self.cells.cell(at)?;
            let (rowid, Payload::Whole(payload)) = self.geometry.payload(self.cells.kind, cell)?
            else {
                return None;
            };
            cells_bytes += payload.as_ptr_range().end.addr() - cell.as_ptr().addr();
            if at == 0 {
                first = rowid;
            } else if self.cells.kind == PageKind::TableLeaf && rowid <= last {
                return None;
            }
            last = rowid;
            entry(rowid, payload);
        }
        let free_bytes = self
            .geometry
            .usable
            .checked_sub(header_bytes + cells_bytes)?;
        (free_bytes < cells_bytes / self.cells.count + 2).then_some(Whole {
            entries: self.cells.count as u64,
            first,
            last,
        })
    }
}

impl Geometry {
    /// Gives the entries of a leaf page that no other page belongs to.
    pub(crate) fn each<E>(
        &self,
        page: &[u8],
        mut entry: impl FnMut(i64, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let cells = Cells::new(page, 0, self.usable);
        for (cells, at) in cells
            .iter()
            .flat_map(|cells| (0..cells.count).map(move |at| (cells, at)))
        {
            let payload = cells
                .cell(at)
                .and_then(|cell| self.payload(cells.kind, cell));
            if let Some((rowid, Payload::Whole(payload))) = payload {
                entry(rowid, payload)?;
            }
        }
        Ok(())
    }

    /// The rowid of a cell, or 0, and its payload.
    #[inline(always)]
    pub(crate) fn payload<'a>(&self, kind: PageKind, cell: &'a [u8]) -> Option<(i64, Payload<'a>)> {
        if let [bytes @ 0..0x80, rest @ ..] = cell
            && usize::from(*bytes) <= self.whole
        {
            let (rowid, read) = match kind {
                PageKind::TableLeaf => varint::read(rest)?,
                _ => (0, 0),
            };
            let payload = rest.get(read..)?.get(..usize::from(*bytes))?;
            return Some((rowid as i64, Payload::Whole(payload)));
        }
        self.long_payload(kind, cell)
    }

    /// As [`payload`](Self::payload), of any length.
    fn long_payload<'a>(&self, kind: PageKind, cell: &'a [u8]) -> Option<(i64, Payload<'a>)> {
        let (bytes, mut at) = varint::read(cell)?;
        let bytes = usize::try_from(bytes).ok()?;
        let mut rowid = 0;
        if kind == PageKind::TableLeaf {
            let (number, read) = varint::read(&cell[at..])?;
            rowid = number as i64;
            at += read;
        }
        let local_bytes = match bytes <= self.whole {
            true => bytes,
            false => self.local_bytes(kind, bytes),
        };
        let (local, rest) = cell.get(at..)?.split_at_checked(local_bytes)?;
        if local_bytes == bytes {
            return Some((rowid, Payload::Whole(local)));
        }
        let next = u32::from_be_bytes(*rest.first_chunk()?);
        Some((rowid, Payload::Split { local, bytes, next }))
    }
}

pub(crate) enum Payload<'a> {
    Whole(&'a [u8]),
    Split {
        local: &'a [u8],
        bytes: usize,
        next: u32,
    },
}

/// The cells of a page.
#[derive(Debug)]
pub(crate) struct Cells<'a> {
    pub(crate) kind: PageKind,
    pub(crate) count: usize,
    offsets: &'a [u8],
    /// What of the page is used.
    page: &'a [u8],
    pub(crate) right_child: Option<u32>,
}

impl<'a> Cells<'a> {
    pub(crate) fn new(page: &'a [u8], number: u32, usable: usize) -> Option<Self> {
        let start = if number == 1 { HEADER_BYTES } else { 0 };
        let header = page.get(start..)?;
        let kind = match header.first()? {
            2 => PageKind::IndexInterior,
            5 => PageKind::TableInterior,
            10 => PageKind::IndexLeaf,
            13 => PageKind::TableLeaf,
            _ => return None,
        };
        let count = usize::from(u16::from_be_bytes([header[3], header[4]]));
        let right_child = match kind.is_interior() {
            true => Some(u32::from_be_bytes(*header.get(8..)?.first_chunk()?)),
            false => None,
        };
        Some(Cells {
            kind,
            count,
            offsets: header.get(kind.header_bytes()..)?.get(..2 * count)?,
            page: page.get(..usable)?,
            right_child,
        })
    }

    #[inline]
    pub(crate) fn cell(&self, at: usize) -> Option<&'a [u8]> {
        let offset = self.offsets.get(2 * at..)?.first_chunk()?;
        self.page.get(usize::from(u16::from_be_bytes(*offset))..)
    }
}
