//! Estimates how much smaller a tree becomes when it is built anew.

use crate::cells::Cells;
use crate::error::{Error, Result};
use crate::page_map::PageMap;
use crate::reader::Reader;

/// Leaf pages that are read of a tree.
const SAMPLE: usize = 64;

impl PageMap {
    /// Estimates the share of each tree's leaf pages that a new build saves, from some of them at equal distances. The
    /// trees are in the order of the roots.
    ///
    /// # Errors
    /// [`Error::Malformed`], and what reading brings.
    pub fn slack(&self, reader: &mut Reader) -> Result<Vec<f64>> {
        let trees = self.leaves();
        trees
            .iter()
            .map(|leaves| slack_of(reader, leaves))
            .collect()
    }
}

fn slack_of(reader: &mut Reader, leaves: &[u32]) -> Result<f64> {
    let (mut entries, mut entry_bytes, mut header_bytes) = (0, 0, 0);
    let usable = reader.geometry().usable;
    let sampled = leaves.iter().step_by(leaves.len().div_ceil(SAMPLE).max(1));
    let count = sampled.len();
    for &leaf in sampled.filter(|leaf| **leaf > 1) {
        let malformed = || Error::Malformed { page: leaf };
        let page = reader.page(leaf)?;
        let cells = Cells::new(page, leaf, usable).ok_or_else(malformed)?;
        header_bytes = cells.kind.header_bytes();
        let free = free_bytes(page, usable, &cells).ok_or_else(malformed)?;
        entries += cells.count;
        entry_bytes += usable.saturating_sub(header_bytes + free);
    }
    if leaves.len() < 2 || entries == 0 {
        return Ok(0.0);
    }
    let room = (usable - header_bytes) as f64;
    let per_full_page = (room / (entry_bytes as f64 / entries as f64)).floor();
    let per_page = entries as f64 / count as f64;
    Ok((1.0 - per_page / per_full_page.max(1.0)).max(0.0))
}

/// Unused bytes of a page.
fn free_bytes(page: &[u8], usable: usize, cells: &Cells<'_>) -> Option<usize> {
    let two = |at: usize| {
        Some(usize::from(u16::from_be_bytes([
            *page.get(at)?,
            *page.get(at + 1)?,
        ])))
    };
    let start = match two(5)? {
        0 => 65536,
        start => start,
    };
    let mut free = start.checked_sub(cells.kind.header_bytes() + 2 * cells.count)?;
    free += usize::from(*page.get(7)?);
    let mut block = two(1)?;
    // Blocks ascend.
    while block != 0 {
        let (next, bytes) = (two(block)?, two(block + 2)?);
        free += bytes;
        block = match next {
            next if next > block => next,
            0 => 0,
            _ => return None,
        };
    }
    (free <= usable).then_some(free)
}
