//! Pages of a B-tree that PostgreSQL builds from sorted entries.
//!
//! A page has a header of 24 bytes, 4 bytes per line pointer, and a special space of 16 bytes
//! (<https://www.postgresql.org/docs/15/storage-page-layout.html>). Entries are aligned to 8 bytes. Leaf pages are
//! filled to the fill factor, interior pages to 70 percent. The last entry of a full page becomes its high key, without
//! the columns that do not tell it from the entry before, and goes to the next page. Entries of one key form posting
//! lists of at most a tenth of a page, with 6 bytes per entry
//! (<https://www.postgresql.org/docs/15/btree-implementation.html>). The first entry of an interior page has no key.
//! One page is the metapage.

use super::duplicates::Keys;
use inorder_key::bulk::SplitMix64;

/// Bytes of a page header, of a line pointer, of the special space, and of a row's address.
const HEADER: u32 = 24;
const POINTER: u32 = 4;
const SPECIAL: u32 = 16;
const ADDRESS: u32 = 6;
/// Bytes of an entry without a key.
const ENTRY_MIN: u32 = 8;
/// How full interior pages get.
const INTERIOR_PERCENT: u32 = 70;
/// Entries that are laid out. A larger index is scaled from so many.
const LAID_OUT_MAX: f64 = 400_000.0;

/// What decides the layout besides the entries.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    /// Bytes per page.
    pub page_bytes: u32,
    /// How full leaf pages get.
    pub fill_percent: u32,
    /// Whether entries of one key form posting lists.
    pub deduplicates: bool,
    /// Mean bytes of an entry of an interior page.
    pub pivot_bytes: f64,
}

/// A page that is being filled, and the finished ones.
struct Level {
    page_bytes: u32,
    spare: u32,
    is_leaf: bool,
    free: u32,
    items: u32,
    last: u32,
    last_extra: u32,
    finished: u64,
}

impl Level {
    fn new(page_bytes: u32, fill_percent: u32, is_leaf: bool) -> Self {
        Level {
            page_bytes,
            spare: page_bytes * (100 - fill_percent) / 100,
            is_leaf,
            free: page_bytes - HEADER - SPECIAL - POINTER,
            items: 0,
            last: 0,
            last_extra: 0,
            finished: 0,
        }
    }

    /// Adds an entry, `extra` bytes of which a high key would not have.
    fn add(&mut self, bytes: u32, extra: u32) {
        let free = self.free.saturating_sub(POINTER);
        let needed = bytes + if self.is_leaf { 8 } else { 0 };
        let is_full = free < needed || (free + self.last_extra < self.spare && self.items > 1);
        if is_full && self.items > 0 {
            self.finished += 1;
            let first = if self.is_leaf { self.last } else { ENTRY_MIN };
            self.free = self.page_bytes - HEADER - SPECIAL - 2 * POINTER - first;
            self.items = 1;
        }
        self.free = self.free.saturating_sub(bytes + POINTER);
        self.items += 1;
        self.last = bytes;
        self.last_extra = extra;
    }

    fn pages(&self) -> u64 {
        self.finished + u64::from(self.items > 0)
    }
}

/// Pages of an index with these keys, with all levels and the metapage.
pub(super) fn pages(keys: &[Keys], shape: &Shape) -> f64 {
    let entries: f64 = keys.iter().map(|keys| keys.keys * keys.times).sum();
    let distinct: f64 = keys.iter().map(|keys| keys.keys).sum();
    let cost = |keys: &Keys| keys.keys * items(keys.times, keys.bytes, shape).0;
    let laid_out: f64 = keys.iter().map(cost).sum();
    let part = (LAID_OUT_MAX / laid_out.max(1.0)).min(1.0);
    let mut leaf = Level::new(shape.page_bytes, shape.fill_percent, true);
    let mut done = 0.0;
    for keys in in_any_order(keys, part) {
        done += keys.times;
        add_key(&mut leaf, &keys, shape);
    }
    if distinct == 0.0 || done == 0.0 {
        return 1.0;
    }
    let pages = leaf.pages() as f64;
    let leaves = match part < 1.0 {
        true => (pages - 0.5) * entries / done,
        // Numbers of keys are rounded.
        false => (pages - 0.5) * entries / done + 0.5,
    };
    leaves.ceil().max(1.0) + interior(leaves.ceil(), shape) + 1.0
}

/// Number of items of a key on leaf pages, and entries of a full posting list.
fn items(times: f64, bytes: u32, shape: &Shape) -> (f64, f64) {
    if !shape.deduplicates {
        return (times, 1.0);
    }
    let list_max = (shape.page_bytes / 10) / 8 * 8 - POINTER;
    let most = f64::from((list_max / 8 * 8).saturating_sub(bytes) / ADDRESS).max(1.0);
    ((times / most).ceil(), most)
}

/// Adds the items of one key.
fn add_key(leaf: &mut Level, keys: &Keys, shape: &Shape) {
    let (_, most) = items(keys.times, keys.bytes, shape);
    let mut left = keys.times.round().max(1.0);
    while left > 0.0 {
        let now = left.min(most);
        left -= now;
        let list = match now > 1.0 {
            true => (ADDRESS * now as u32).next_multiple_of(8),
            false => 0,
        };
        leaf.add(keys.bytes + list, list);
    }
}

/// Yields `part` of the keys in an order that does not depend on their size, the same at each call.
fn in_any_order(keys: &[Keys], part: f64) -> Vec<Keys> {
    let mut random = SplitMix64::new(0);
    let mut all = Vec::new();
    let mut left = 0.0;
    for some in keys {
        // What rounding leaves over goes to the next class.
        left += some.keys * part;
        let now = left.floor();
        left -= now;
        let one = Keys { keys: 1.0, ..*some };
        all.extend(std::iter::repeat_n(one, now as usize));
    }
    if all.is_empty() {
        all.extend(keys.first().copied());
    }
    random.shuffle(&mut all);
    all
}

/// Pages of all interior levels.
fn interior(leaves: f64, shape: &Shape) -> f64 {
    let mut below = leaves;
    let mut all = 0.0;
    while below > 1.0 {
        let mut level = Level::new(shape.page_bytes, INTERIOR_PERCENT, false);
        let mut due = 0.0;
        let some = below.min(LAID_OUT_MAX);
        level.add(ENTRY_MIN, 0);
        for _ in 1..some as u64 {
            due += shape.pivot_bytes;
            // Whole units of alignment whose mean is the pivot's.
            let bytes = ((due / 8.0).round() * 8.0).max(f64::from(ENTRY_MIN));
            due -= bytes;
            level.add(bytes as u32, 0);
        }
        below = (level.pages() as f64 * below / some).ceil();
        all += below;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(keys: f64, bytes: u32, times: f64, deduplicates: bool) -> f64 {
        let keys = Keys { bytes, times, keys };
        let shape = Shape {
            page_bytes: 8192,
            fill_percent: 90,
            deduplicates,
            pivot_bytes: f64::from(bytes),
        };
        pages(&[keys], &shape)
    }

    /// The sizes are those of PostgreSQL 15.18 for `CREATE INDEX` on a table of so many rows.
    #[test]
    fn pages_are_those_of_the_server() {
        // Unique bigint: 366 entries per leaf page.
        assert_eq!(of(100_000.0, 16, 1.0, false), 276.0);
        assert_eq!(of(1.0, 16, 1.0, false), 2.0);
    }

    #[test]
    fn posting_lists_take_six_bytes_per_row() {
        let plain = of(10_000.0, 16, 20.0, false);
        let lists = of(10_000.0, 16, 20.0, true);
        assert!(
            lists < plain * 0.38 && lists > plain * 0.3,
            "{lists} of {plain}"
        );
    }
}
