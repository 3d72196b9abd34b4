//! How PostgreSQL's B-trees split: `_bt_findsplitloc` of `nbtsplitloc.c`, versions 13 to 18.
//!
//! All tuples of a level have one size, and no two keys are equal, so there is nothing to deduplicate.

use super::tuples::{PAGE_HEADER, POINTER, SPECIAL};
use crate::bplus::{Full, Rules};

/// Share of a page that a split at the end of a level leaves full.
const LEAF_FILL: f64 = 0.90;
const INTERIOR_FILL: f64 = 0.70;
/// Share of the bytes of a leaf page within which a split may be moved to where the first column changes.
const LEAF_DISTANCE: f64 = 0.05;
/// Bytes of the heap address that a high key may need.
const ADDRESS: i64 = 8;
/// Bytes of the first tuple of an interior page, which has no key, and its pointer.
const FIRST: i64 = 12;

/// The rules of an index.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nbtree {
    /// Bytes of a tuple and its pointer.
    pub(super) entry: i64,
    /// Bytes of a page for tuples.
    pub(super) room: i64,
    /// What the second of two columns is.
    pub(super) group: Option<Group>,
}

/// Keys of two columns, the second of which is the number of the row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    /// Bits of a position below those of the first column.
    pub(super) bits: u32,
    /// Rows of a heap page.
    pub(super) rows_per_page: u64,
}

impl Group {
    fn first(self, key: u64) -> u64 {
        key >> self.bits
    }

    /// Whether the rows of two entries are on one heap page, or the second is the first row of the next one.
    fn is_adjacent(self, key: u64, next: u64) -> bool {
        let row = |key: u64| (key & ((1 << self.bits) - 1)).saturating_sub(1);
        let (block, next_block) = (
            row(key) / self.rows_per_page,
            row(next) / self.rows_per_page,
        );
        let is_begin = row(next).is_multiple_of(self.rows_per_page);
        block == next_block || (block + 1 == next_block && is_begin)
    }
}

impl Nbtree {
    pub(super) fn new(tuple_bytes: u64, page_bytes: u64, group: Option<Group>) -> Self {
        Nbtree {
            entry: (tuple_bytes + POINTER) as i64,
            room: (page_bytes - PAGE_HEADER - SPECIAL) as i64,
            group,
        }
    }

    /// Bytes of so many tuples with their pointers, and of the high key.
    pub(super) fn used(&self, entries: usize, is_leaf: bool, is_last: bool) -> i64 {
        let high_key = if is_last { 0 } else { self.entry };
        let first = match (is_leaf, entries) {
            (false, 1..) => FIRST - self.entry,
            _ => 0,
        };
        high_key + entries as i64 * self.entry + first
    }

    /// Bytes of an image of such a page in the log.
    pub(super) fn image(&self, entries: usize, is_leaf: bool, is_last: bool) -> u64 {
        self.used(entries, is_leaf, is_last) as u64 + PAGE_HEADER + SPECIAL
    }

    /// Entries of a page that CREATE INDEX packs (`_bt_buildadd`): a page is full when less than its reserve is free. Its last
    /// entry then moves to the next page, and its key stays as the high key.
    pub(super) fn packed(&self, is_leaf: bool) -> usize {
        let (fill, address) = match is_leaf {
            true => (LEAF_FILL, ADDRESS),
            false => (INTERIOR_FILL, 0),
        };
        let page_bytes = self.room + (PAGE_HEADER + SPECIAL) as i64;
        let reserve = (page_bytes as f64 * (1.0 - fill)) as i64;
        // The pointers of the high key and of the next entry.
        let pointers = 2 * POINTER as i64;
        let tuple = self.entry - POINTER as i64;
        let has_room = |entries: &usize| {
            let free = self.room - self.used(*entries, is_leaf, true) - pointers;
            free >= reserve.max(tuple + address)
        };
        (1..).take_while(has_room).count().max(2)
    }

    /// The free bytes of both pages if so many entries stay.
    fn free(&self, full: &Full<'_>, stayed: usize) -> (i64, i64) {
        let all = full.entries as i64;
        let stays = stayed as i64;
        let high_key = if full.is_last { 0 } else { self.entry };
        let mut left = self.room - stays * self.entry - self.entry;
        let mut right = self.room - high_key - (all - stays) * self.entry;
        match full.is_leaf {
            true => left -= ADDRESS,
            false => {
                left += self.entry - FIRST;
                right += self.entry - FIRST;
            }
        }
        (left, right)
    }

    /// Whether the new entry continues a group of ascending entries with one first column. Then the page is split after it, or
    /// filled as the last one of a level is (`_bt_afternewitemoff`).
    fn goes_on(&self, full: &Full<'_>) -> Option<Ascent> {
        let group = self.group?;
        if !full.is_leaf || full.place == 0 {
            return None;
        }
        let (before, new) = (full.keys[full.place - 1], full.keys[full.place]);
        if group.first(before) != group.first(new) {
            return None;
        }
        if full.place + 1 == full.entries {
            return Some(Ascent::Filled);
        }
        if !group.is_adjacent(before, new) {
            return None;
        }
        // The first of the page's entries is its high key.
        let position = (full.place + 2) as f64 / (full.entries + 1) as f64;
        Some(match position > LEAF_FILL {
            true => Ascent::Filled,
            false => Ascent::After,
        })
    }

    /// Whether so many entries may stay.
    fn is_possible(&self, full: &Full<'_>, stayed: usize) -> bool {
        let (left, right) = self.free(full, stayed);
        left >= 0 && right >= 0
    }
}

/// How a page is split in a group of ascending entries.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Ascent {
    /// As the last page of a level.
    Filled,
    /// After the new entry.
    After,
}

impl Rules for Nbtree {
    fn has_room(&self, full: &Full<'_>) -> bool {
        self.used(full.entries, full.is_leaf, full.is_last) <= self.room
    }

    fn split(&self, full: &Full<'_>) -> usize {
        let ascent = match full.is_last {
            true => None,
            false => self.goes_on(full),
        };
        if ascent == Some(Ascent::After) {
            return full.place + 1;
        }
        let fill = match full.is_leaf {
            false => full.is_last.then_some(INTERIOR_FILL),
            true => (full.is_last || ascent.is_some()).then_some(LEAF_FILL),
        };
        let delta = |stayed: usize| {
            let (left, right) = self.free(full, stayed);
            match fill {
                Some(fill) => fill * left as f64 - (1.0 - fill) * right as f64,
                None => (left - right) as f64,
            }
            .abs()
        };
        let possible = |stayed: &usize| self.is_possible(full, *stayed);
        let best_of = |places: &mut dyn Iterator<Item = usize>| {
            places.min_by(|&a, &b| delta(a).total_cmp(&delta(b)))
        };
        let best = best_of(&mut (1..full.entries).filter(possible)).unwrap_or(full.entries / 2);
        let Some(group) = self.group.filter(|_| full.is_leaf) else {
            return best;
        };
        // Near it, a split where the first column changes needs a shorter high key.
        let distance = (full.entries as f64 * LEAF_DISTANCE) as usize;
        let near = best.saturating_sub(distance).max(1)..(best + distance + 1).min(full.entries);
        let mut changes = near
            .filter(possible)
            .filter(|&stayed| group.first(full.keys[stayed - 1]) != group.first(full.keys[stayed]));
        best_of(&mut changes).unwrap_or(best)
    }
}
