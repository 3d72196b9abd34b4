//! How PostgreSQL's B-trees split: `_bt_findsplitloc` of `nbtsplitloc.c`, versions 13 to 18.
//!
//! All tuples of a level have one size. Where equal values are deduplicated (`nbtdedup.c`), an entry of a leaf page has its share
//! of a posting list.

use super::tuples::{IndexTuple, PAGE_HEADER, POINTER, SPECIAL};
use crate::bplus::{Full, Rules};
use crate::columns::SecondaryIndex;
use crate::question::Question;
use inorder_key::KeyKind;

/// Share of a page that a split at the end of a level leaves full.
const LEAF_FILL: f64 = 0.90;
const INTERIOR_FILL: f64 = 0.70;
/// Share of the bytes of a leaf page within which a split may be moved to where the first column changes.
const LEAF_DISTANCE: f64 = 0.05;
/// Bytes of the heap address that a high key may need.
const ADDRESS: i64 = 8;
/// Bytes of the first tuple of an interior page, which has no key, and its pointer.
const FIRST: i64 = 12;

/// The same of a page whose entries all have one value (`BTREE_SINGLEVAL_FILLFACTOR`).
const ONE_VALUE_FILL: f64 = 0.96;
/// Bytes of a row's address in a posting list, and of the largest one in pages of 8192 bytes (`_bt_dedup_pass`).
const ROW_ADDRESS: f64 = 6.0;
const POSTING_PART: f64 = 6.0;
/// Parts of a byte in which entries of leaf pages are counted. Those of a posting list have a share of its header.
const PARTS: i64 = 64;

/// How an index is stored.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Storage {
    /// Percent of a page that a split at its end leaves full.
    pub(super) fill_percent: Option<u32>,
    /// Rows of a value, where equal values are stored once.
    pub(super) rows_per_value: Option<f64>,
    /// Whether its key is one column.
    pub(super) has_one_column: bool,
}

impl Storage {
    /// That of the index on the key.
    pub(super) fn of_key(question: &Question) -> Self {
        Storage {
            fill_percent: question.key_fill_percent,
            rows_per_value: None,
            has_one_column: question.key != KeyKind::Composite,
        }
    }

    /// That of a secondary index.
    pub(super) fn of(index: &SecondaryIndex) -> Self {
        Storage {
            fill_percent: index.fill_percent,
            rows_per_value: index.rows_per_value,
            has_one_column: index.values.len() == 1,
        }
    }
}

/// The rules of an index.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nbtree {
    /// Bytes of a tuple above the leaf pages and of a high key, with the pointer.
    entry: i64,
    /// Bytes of a tuple on a leaf page as it is inserted, with the pointer.
    inserted: i64,
    /// Bytes of an entry on a leaf page that was deduplicated, in [`PARTS`].
    leaf_parts: i64,
    /// Bytes of a page for tuples.
    room: i64,
    /// What the second of two columns is, or the rows of equal values.
    group: Option<Group>,
    /// Share of a leaf page that a split at the end of the index leaves full.
    fill: f64,
    has_one_column: bool,
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

/// Bytes of an entry for each of the rows of a value, when they are in posting lists. A tuple has `bytes`, with its pointer.
fn deduplicated(bytes: i64, rows_per_value: f64, page_bytes: u64) -> f64 {
    let alone = bytes as f64;
    if rows_per_value <= 1.0 {
        return alone;
    }
    let most = (page_bytes as f64 / POSTING_PART - alone) / ROW_ADDRESS;
    let rows = rows_per_value.min(most.max(1.0));
    // Where values have few rows, some have one.
    let listed = (2.0 * (1.0 - 1.0 / rows)).min(1.0);
    (alone / rows + ROW_ADDRESS * listed).min(alone)
}

impl Nbtree {
    pub(super) fn new(
        tuple: IndexTuple,
        page_bytes: u64,
        group: Option<Group>,
        storage: Storage,
    ) -> Self {
        let inserted = (tuple.leaf + POINTER) as i64;
        let leaf = match storage.rows_per_value {
            Some(rows) => deduplicated(inserted, rows, page_bytes),
            None => inserted as f64,
        };
        Nbtree {
            entry: (tuple.interior + POINTER) as i64,
            inserted,
            leaf_parts: (leaf * PARTS as f64).round() as i64,
            room: (page_bytes - PAGE_HEADER - SPECIAL) as i64,
            group,
            fill: storage
                .fill_percent
                .map_or(LEAF_FILL, |percent| f64::from(percent) / 100.0),
            has_one_column: storage.has_one_column,
        }
    }

    /// Bytes of a tuple as it is inserted, without its pointer.
    pub(super) fn tuple(&self, is_leaf: bool) -> u64 {
        let bytes = if is_leaf { self.inserted } else { self.entry };
        bytes as u64 - POINTER
    }

    /// Bytes of so many tuples of a page, without their pointers.
    pub(super) fn tuples(&self, entries: usize, is_leaf: bool) -> u64 {
        let pointers = match is_leaf && self.leaf_parts < self.inserted * PARTS {
            true => 0,
            false => entries as u64 * POINTER,
        };
        self.bytes_of(entries as i64, is_leaf) as u64 - pointers
    }

    /// Bytes of so many tuples with their pointers.
    fn bytes_of(&self, entries: i64, is_leaf: bool) -> i64 {
        match is_leaf {
            true => (entries * self.leaf_parts + PARTS - 1) / PARTS,
            false => entries * self.entry,
        }
    }

    /// Bytes of so many tuples with their pointers, and of the high key.
    fn used(&self, entries: usize, is_leaf: bool, is_last: bool) -> i64 {
        let high_key = if is_last { 0 } else { self.entry };
        let first = match (is_leaf, entries) {
            (false, 1..) => FIRST - self.entry,
            _ => 0,
        };
        high_key + self.bytes_of(entries as i64, is_leaf) + first
    }

    /// Bytes of an image of such a page in the log.
    pub(super) fn image(&self, entries: usize, is_leaf: bool, is_last: bool) -> u64 {
        self.used(entries, is_leaf, is_last) as u64 + PAGE_HEADER + SPECIAL
    }

    /// Entries of a page that CREATE INDEX packs (`_bt_buildadd`): a page is full when less than its reserve is free. Its last
    /// entry then moves to the next page, and its key stays as the high key.
    pub(super) fn packed(&self, is_leaf: bool) -> usize {
        let (fill, address) = match is_leaf {
            true => (self.fill, ADDRESS),
            false => (INTERIOR_FILL, 0),
        };
        let page_bytes = self.room + (PAGE_HEADER + SPECIAL) as i64;
        let reserve = (page_bytes as f64 * (1.0 - fill)) as i64;
        // The pointers of the high key and of the next entry.
        let pointers = 2 * POINTER as i64;
        let tuple = self.tuple(is_leaf) as i64;
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
        let mut left = self.room - self.bytes_of(stays, full.is_leaf) - self.entry;
        let mut right = self.room - high_key - self.bytes_of(all - stays, full.is_leaf);
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
        let group = self.group.filter(|_| !self.has_one_column)?;
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
        Some(match position > self.fill {
            true => Ascent::Filled,
            false => Ascent::After,
        })
    }

    /// Whether all entries of a leaf page have one value, and later rows of it go behind them.
    fn has_one_value(&self, full: &Full<'_>) -> bool {
        let group = self.group.filter(|_| self.has_one_column && full.is_leaf);
        let ends = full.keys.first().zip(full.keys.last());
        group
            .zip(ends)
            .is_some_and(|(group, (&first, &last))| group.first(first) == group.first(last))
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
            true if self.has_one_value(full) => Some(ONE_VALUE_FILL),
            true => (full.is_last || ascent.is_some()).then_some(self.fill),
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
        let distance = match self.has_one_column {
            // Any place is better than one between equal values.
            true => full.entries,
            false => (full.entries as f64 * LEAF_DISTANCE) as usize,
        };
        let near = best.saturating_sub(distance).max(1)..(best + distance + 1).min(full.entries);
        let mut changes = near
            .filter(possible)
            .filter(|&stayed| group.first(full.keys[stayed - 1]) != group.first(full.keys[stayed]));
        best_of(&mut changes).unwrap_or(best)
    }
}
