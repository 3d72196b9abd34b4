//! InnoDB's buffer pool: which pages leave it, and when changed pages are written. The rules are those of `buf0flu.cc` and
//! `buf0lru.cc` of MariaDB 10.11.

use crate::lru::Lists;
use crate::members::Cache;
use std::collections::VecDeque;

/// Free pages that the page cleaner leaves (`innodb_lru_scan_depth`). It begins below half of them.
const FREE_PAGES: u64 = 1536;
/// Pages that one batch writes at most (`innodb_io_capacity_max`).
const BATCH_PAGES: u64 = 2000;
/// Pages of a full batch whose write has ended when the page cleaner looks for clean pages again. It was measured, and depends on the
/// device.
const ENDED_PAGES: u64 = 250;
/// Share of the pages that are old, in a thousand (`innodb_old_blocks_pct`): a page that was read begins as the newest of them.
const OLD_SHARE: u64 = 370;
/// Rows in `innodb_old_blocks_time`, which is a second: an old page that is used again after that becomes the newest page.
const OLD_ROWS: u64 = 5000;
const OLD: usize = 0;
const YOUNG: usize = 1;
/// Pages of an area in which changed pages beside one that is written are written too (`innodb_flush_neighbors` on a device
/// that calls itself rotational, as virtual ones do).
pub(super) const AREA_PAGES: u32 = 64;
/// Pages in use below which the page cleaner frees none.
const USED_PAGES_MIN: u64 = 256;
/// Pages of a pool in which the page cleaner can rest.
pub(super) const PAGES_MIN: u64 = FREE_PAGES / 2 + USED_PAGES_MIN;

/// Pages that were written.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Written {
    pub(super) pages: u64,
    /// Those of them that went to the doublewrite buffer before.
    pub(super) doubled: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// The position in the log of the first change since it was written; 0: it is not changed.
    changed_at: u64,
    /// It was not written yet. Its first write needs no doublewrite buffer: recovery begins with an empty page.
    is_new: bool,
    /// Its next write was counted already.
    is_counted: bool,
    /// The row at which it was used first.
    used_at: u64,
    /// The batch that wrote it.
    batch: u32,
    /// Pages that had left when it became the newest one.
    moved_at: u64,
}

/// The buffer pool.
#[derive(Clone, Debug)]
pub(super) struct Pool {
    lists: Lists<2>,
    states: Vec<State>,
    /// Changed pages in the order of their first change, with its position. Some were written since.
    changed: VecDeque<(u32, u64)>,
    pages_max: u64,
    /// Rows so far.
    rows: u64,
    /// Pages that had to leave. Before the first, pages stay in the order in which they came.
    removed: u64,
    /// The number of the batch. Its writes end after it: it frees none of the pages that it writes.
    batch: u32,
    written: Written,
}

impl Pool {
    pub(super) fn new(pages_max: u64) -> Self {
        Pool {
            lists: Lists::new(),
            states: Vec::new(),
            changed: VecDeque::new(),
            pages_max,
            rows: 0,
            removed: 0,
            batch: 0,
            written: Written::default(),
        }
    }

    /// Counts a row.
    pub(super) fn count_row(&mut self) {
        self.rows += 1;
    }

    fn used(&self) -> u64 {
        self.lists.weight(OLD) + self.lists.weight(YOUNG)
    }

    /// Pages written so far.
    pub(super) fn written(&self) -> Written {
        self.written
    }

    fn state(&mut self, page: u32) -> &mut State {
        if self.states.len() <= page as usize {
            self.states.resize(page as usize + 1, State::default());
        }
        &mut self.states[page as usize]
    }

    /// Uses a page that stands for `weight` pages. Returns whether the pool had it.
    pub(super) fn touch(&mut self, page: u32, weight: u32) -> bool {
        let Some(list) = self.lists.list(page) else {
            self.add(page, weight, OLD);
            return false;
        };
        let state = *self.state(page);
        let is_late = match list {
            YOUNG => self.removed - state.moved_at > self.pages_max * (1000 - OLD_SHARE) / 4000,
            _ => self.rows - state.used_at >= OLD_ROWS,
        };
        if self.removed > 0 && is_late {
            self.state(page).moved_at = self.removed;
            self.lists.push(YOUNG, page, weight);
            self.balance();
        }
        true
    }

    /// Adds a page.
    pub(super) fn create(&mut self, page: u32, weight: u32) {
        match self.lists.list(page) {
            Some(_) => self.lists.push(YOUNG, page, weight),
            None => self.add(page, weight, YOUNG),
        }
        self.state(page).is_new = true;
    }

    /// Counts the first write of a new page before it is due.
    pub(super) fn count_write(&mut self, page: u32) {
        self.state(page).is_counted = true;
        self.written.pages += u64::from(self.lists.weight_of(page));
    }

    fn add(&mut self, page: u32, weight: u32, list: usize) {
        if self.is_short() {
            self.clean();
        }
        while self.used() + u64::from(weight) > self.pages_max {
            let Some(oldest) = self.oldest() else {
                break;
            };
            self.write(oldest);
            self.remove(oldest);
        }
        self.state(page).used_at = self.rows;
        self.state(page).moved_at = self.removed;
        self.lists.push(list, page, weight);
        self.balance();
    }

    fn oldest(&self) -> Option<u32> {
        self.lists.oldest(OLD).or_else(|| self.lists.oldest(YOUNG))
    }

    /// The page after this one in the direction of newer ones.
    fn newer(&self, page: u32) -> Option<u32> {
        let newer = self.lists.newer(page);
        newer.or_else(|| match self.lists.list(page) {
            Some(OLD) => self.lists.oldest(YOUNG),
            _ => None,
        })
    }

    fn remove(&mut self, page: u32) {
        self.removed += u64::from(self.lists.weight_of(page));
        self.lists.remove(page);
    }

    /// Gives the old pages their share: the oldest of the other ones are old too.
    fn balance(&mut self) {
        while self.lists.weight(OLD) * 1000 < self.used() * OLD_SHARE
            && let Some(page) = self.lists.oldest(YOUNG)
        {
            let weight = self.lists.weight_of(page);
            self.lists.push(OLD, page, weight);
        }
    }

    /// Changes a page at this position of the log.
    pub(super) fn change(&mut self, page: u32, position: u64) {
        let state = self.state(page);
        if state.changed_at == 0 {
            state.changed_at = position;
            self.changed.push_back((page, position));
        }
    }

    /// Writes the pages whose first change is at most at this position.
    pub(super) fn flush(&mut self, until: u64) {
        while let Some(&(page, position)) = self.changed.front()
            && position <= until
        {
            self.changed.pop_front();
            if self.states[page as usize].changed_at == position {
                self.write_area(page, u64::MAX);
            }
        }
    }

    /// The position of the oldest change that is not written.
    pub(super) fn oldest_change(&mut self) -> Option<u64> {
        while let Some(&(page, position)) = self.changed.front() {
            if self.states[page as usize].changed_at == position {
                return Some(position);
            }
            self.changed.pop_front();
        }
        None
    }

    fn is_changed(&self, page: u32) -> bool {
        let state = self.states.get(page as usize);
        state.is_some_and(|state| state.changed_at > 0) && self.lists.list(page).is_some()
    }

    /// Writes a changed page, and the changed ones beside it without a gap, up to so many. Returns the number of pages written.
    fn write_area(&mut self, page: u32, writes_max: u64) -> u64 {
        let area = page - page % AREA_PAGES;
        let mut first = page;
        while first > area && self.is_changed(first - 1) {
            first -= 1;
        }
        let mut written = 0;
        for other in first..area + AREA_PAGES {
            if other > page && (!self.is_changed(other) || written >= writes_max) {
                break;
            }
            if other >= page || written < writes_max {
                written += self.write(other);
            }
        }
        written
    }

    /// Writes a page if it is changed. Returns the number of pages that it stands for, or 0.
    fn write(&mut self, page: u32) -> u64 {
        let batch = self.batch;
        let state = self.state(page);
        if state.changed_at == 0 {
            return 0;
        }
        state.changed_at = 0;
        state.batch = batch;
        let is_new = std::mem::take(&mut state.is_new);
        let is_counted = std::mem::take(&mut state.is_counted);
        let weight = u64::from(self.lists.weight_of(page));
        self.written.pages += if is_counted { 0 } else { weight };
        self.written.doubled += if is_new { 0 } else { weight };
        weight
    }

    fn free(&self) -> u64 {
        self.pages_max.saturating_sub(self.used())
    }

    /// Whether the page cleaner has to free pages.
    fn is_short(&self) -> bool {
        self.free() < FREE_PAGES / 2 && self.used() > USED_PAGES_MIN
    }

    /// Frees pages, as the page cleaner does.
    fn clean(&mut self) {
        while self.is_short() {
            self.batch += 1;
            let (written, mut removed) = self.scan(BATCH_PAGES, FREE_PAGES);
            if written >= BATCH_PAGES {
                self.batch += 1;
                removed += self.scan(0, ENDED_PAGES).1;
            }
            if written + removed == 0 {
                return;
            }
        }
    }

    /// Goes through the pages from the one that was not used for the longest time, until enough are free: frees up to so many clean
    /// pages, and writes up to so many others. Returns pages written and pages freed.
    fn scan(&mut self, writes_max: u64, frees_max: u64) -> (u64, u64) {
        let used_min = (self.pages_max / 20).saturating_sub(1).min(USED_PAGES_MIN);
        let (mut written, mut removed) = (0, 0);
        let mut next = self.oldest();
        while let Some(page) = next {
            let is_enough = removed >= frees_max || self.free() >= FREE_PAGES;
            if self.used() <= used_min || is_enough {
                break;
            }
            next = self.newer(page);
            let state = *self.state(page);
            if state.changed_at == 0 && state.batch == self.batch {
                continue;
            }
            if state.changed_at == 0 {
                removed += u64::from(self.lists.weight_of(page));
                self.remove(page);
            } else if written >= writes_max {
                break;
            } else if self.free() >= FREE_PAGES / 2 {
                written += self.write_area(page, writes_max - written);
            } else {
                written += self.write(page);
            }
        }
        (written, removed)
    }
}

impl Cache for Pool {
    fn forget(&mut self, page: u32) {
        self.lists.remove(page);
        *self.state(page) = State::default();
    }

    fn set_weight(&mut self, page: u32, weight: u32) {
        self.lists.set_weight(page, weight);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_cleaner_frees_pages_ahead() {
        let mut pool = Pool::new(4000);
        let full = 4000 - FREE_PAGES as u32 / 2;
        for page in 0..=full {
            assert!(!pool.touch(page, 1));
        }
        pool.change(1, 5);
        // Less than half of the pages that are to be free are so: it frees up to all of them, the oldest first.
        pool.touch(4000, 1);
        assert_eq!(pool.free(), FREE_PAGES - 1);
        let written = Written {
            pages: 1,
            doubled: 1,
        };
        assert_eq!(pool.written(), written);
        assert!(!pool.touch(0, 1));
        assert!(pool.touch(1, 1), "it was written, and not freed");
    }

    #[test]
    fn a_page_that_was_read_leaves_before_one_that_was_added() {
        let mut pool = Pool::new(4000);
        (0..3000).for_each(|page| pool.create(page, 1));
        (3000..3400).for_each(|page| _ = pool.touch(page, 1));
        // The oldest pages are those that were added first, up to the share of old pages.
        assert!(pool.removed > 0);
        let before = pool.free();
        let reads = (3400..3400 + 3 * FREE_PAGES as u32).filter(|&page| !pool.touch(page, 1));
        assert_eq!(reads.count() as u64, 3 * FREE_PAGES);
        assert!(before < FREE_PAGES);
        assert!(pool.touch(2999, 1), "it was added");
        assert!(!pool.touch(3000, 1), "it was read");
    }

    #[test]
    fn a_young_page_moves_when_a_quarter_of_the_young_ones_have_left() {
        let mut pool = Pool::new(4000);
        (0..3300).for_each(|page| pool.create(page, 1));
        let is_newest = |pool: &mut Pool| {
            pool.create(3300, 1);
            pool.touch(3299, 1);
            pool.lists.newest(YOUNG) == Some(3299)
        };
        assert!(!is_newest(&mut pool));
        pool.removed += 4000 * 63 / 400;
        assert!(!is_newest(&mut pool));
        pool.removed += 1;
        assert!(is_newest(&mut pool));
    }

    #[test]
    fn a_write_that_was_counted_is_not_counted_again() {
        let mut pool = Pool::new(4000);
        pool.create(7, 1);
        pool.count_write(7);
        for (position, written) in [(1, 1), (9, 2)] {
            pool.change(7, position);
            pool.flush(u64::MAX);
            assert_eq!(pool.written().pages, written);
        }
    }

    #[test]
    fn pages_are_written_in_the_order_of_their_first_change() {
        let mut pool = Pool::new(4000);
        for (page, position) in [(10, 10), (20, 20), (10, 30), (30, 40)] {
            pool.touch(page, 1);
            pool.change(page, position);
        }
        pool.flush(20);
        assert_eq!(pool.written().pages, 2);
        assert_eq!(pool.oldest_change(), Some(40));
    }

    #[test]
    fn a_new_page_is_doubled_from_its_second_write_on() {
        let mut pool = Pool::new(4000);
        pool.create(7, 1);
        for (position, doubled) in [(1, 0), (9, 1)] {
            pool.change(7, position);
            pool.flush(u64::MAX);
            assert_eq!(pool.written().doubled, doubled);
        }
        assert_eq!(pool.written().pages, 2);
    }
}
