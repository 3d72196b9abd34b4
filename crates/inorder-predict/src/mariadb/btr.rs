//! How InnoDB's B-trees split: `btr_page_split_and_insert` of `btr0btr.cc`, `btr_cur_optimistic_insert` of `btr0cur.cc`.
//!
//! All records of a level have one size.

use super::records::{Entry, room};
use crate::bplus::{Full, Rules};

/// Share of a page that ascending or descending inserts leave free in a clustered index.
const RESERVED_PART: u64 = 16;
/// Entries of a page at least, where that share is kept.
const RESERVED_ENTRIES_MIN: usize = 3;

/// The rules of an index.
#[derive(Clone, Copy, Debug)]
pub(super) struct Btr {
    pub(super) entry: Entry,
    room: u64,
    page_bytes: u64,
    is_clustered: bool,
}

impl Btr {
    pub(super) fn new(entry: Entry, page_bytes: u64, is_clustered: bool) -> Self {
        Btr {
            entry,
            room: room(page_bytes),
            page_bytes,
            is_clustered,
        }
    }

    /// Bytes of so many records, with their slots of the directory: one of two bytes for four records.
    fn used(&self, entries: usize, is_leaf: bool) -> u64 {
        let bytes = match is_leaf {
            true => self.entry.leaf,
            false => self.entry.interior,
        };
        let entries = entries as u64;
        entries * bytes + (2 * entries).div_ceil(4)
    }

    /// Records of a page that a bulk load in key order fills.
    pub(super) fn loaded(&self, is_leaf: bool) -> f64 {
        let reserved = match self.is_clustered && is_leaf {
            true => self.page_bytes / RESERVED_PART,
            false => 0,
        };
        let bytes = self.used(4, is_leaf) as f64 / 4.0;
        ((self.room - reserved) as f64 / bytes).floor().max(2.0)
    }

    /// The number of entries that stay if the new one was inserted next to the one inserted before it.
    fn converging(full: &Full<'_>) -> Option<usize> {
        let last = full.last?;
        let place = full.place;
        let before = place.checked_sub(1).and_then(|before| full.key(before));
        if before == Some(last) {
            // Ascending: one record above the new one stays with it, unless it is the last one.
            return Some(match place + 2 < full.entries {
                true => place + 2,
                false => place,
            });
        }
        if full.key(place + 1) == Some(last) {
            // Descending: the record below the new one goes to the upper page, unless it is the first one.
            return Some(match place {
                0 | 1 => place + 1,
                _ => place - 1,
            });
        }
        None
    }
}

impl Rules for Btr {
    fn has_room(&self, full: &Full<'_>) -> bool {
        let used = self.used(full.entries, full.is_leaf);
        let keeps_reserve = full.is_leaf
            && self.is_clustered
            && full.entries >= RESERVED_ENTRIES_MIN
            && used + self.page_bytes / RESERVED_PART > self.room
            && Btr::converging(full).is_some();
        used <= self.room && !keeps_reserve
    }

    fn split(&self, full: &Full<'_>) -> usize {
        if let Some(stayed) = Btr::converging(full) {
            return stayed;
        }
        // The record in the middle of those before the insert goes to the upper page.
        let middle = full.entries.div_ceil(2) - 1;
        match full.place <= middle {
            true => middle + 1,
            false => middle,
        }
        .clamp(1, full.entries - 1)
    }

    fn uses_next_page(&self) -> bool {
        true
    }
}
