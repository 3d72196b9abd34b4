//! SQLite's page cache and write-ahead log: which bytes a transaction and a checkpoint write.
//!
//! The rules are those of `pcache.c`, `pcache1.c`, `pager.c` and `wal.c`. Changed pages stay in the cache until the commit. When nine
//! tenths of the cache are changed pages, each page that is read spills the changed page not used for the longest time
//! into the log. Clean pages leave the cache in the order of their last use.

use crate::counters::Counters;
use crate::lru::Lists;

/// Bytes of the header of a frame and of the log.
const FRAME_HEADER: u64 = 24;
const LOG_HEADER: u64 = 32;
/// Bytes that the cache takes per page beside the page.
const PAGE_EXTRA_BYTES: u64 = 136;
/// The lists of pages.
const CLEAN: usize = 0;
const CHANGED: usize = 1;

/// What is noted about a page.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    /// The last transaction that wrote a frame of it.
    transaction: u64,
    /// The last stretch between checkpoints in which it got a frame.
    cycle: u64,
    /// Position of its frame among those of the transaction.
    frame: u64,
}

/// The cache and the log of one connection.
#[derive(Clone, Debug)]
pub(super) struct Pager {
    page_bytes: u64,
    cache_pages: u64,
    checkpoint_frames: u64,
    lists: Lists<2>,
    marks: Vec<Mark>,
    transaction: u64,
    cycle: u64,
    /// Frames of this transaction.
    frames: u64,
    /// The first frame of this transaction that was overwritten.
    overwritten: Option<u64>,
    /// Frames in the log.
    log_frames: f64,
    counters: Counters,
}

impl Pager {
    pub(super) fn new(page_bytes: u64, cache_bytes: u64, checkpoint_frames: u64) -> Self {
        Pager {
            page_bytes,
            cache_pages: (cache_bytes / (page_bytes + PAGE_EXTRA_BYTES)).max(10),
            checkpoint_frames,
            lists: Lists::new(),
            marks: Vec::new(),
            transaction: 1,
            cycle: 1,
            frames: 0,
            overwritten: None,
            log_frames: 0.0,
            counters: Counters::default(),
        }
    }

    pub(super) fn counters(&self) -> Counters {
        self.counters
    }

    /// Reads a page that stands for `weight` pages.
    pub(super) fn read(&mut self, page: u32, weight: u32) {
        self.counters.accesses += f64::from(weight);
        match self.lists.list(page) {
            Some(list) => self.lists.push(list, page, weight),
            None => {
                self.counters.read_pages += f64::from(weight);
                self.make_room(weight);
                self.lists.push(CLEAN, page, weight);
            }
        }
    }

    /// Changes a page that was read or is new.
    pub(super) fn change(&mut self, page: u32, weight: u32) {
        if self.lists.list(page).is_none() {
            self.make_room(weight);
        }
        self.lists.push(CHANGED, page, weight);
    }

    /// Frees the place of a page before another one is read.
    fn make_room(&mut self, weight: u32) {
        let changed = self.lists.weight(CHANGED);
        let is_full = changed > 0 && changed >= self.cache_pages * 9 / 10;
        if let Some(page) = self.lists.oldest(CHANGED).filter(|_| is_full) {
            self.write_frame(page, false);
            self.lists.push(CLEAN, page, self.lists.weight_of(page));
        }
        let wanted = u64::from(weight);
        while self.lists.weight(CLEAN) + self.lists.weight(CHANGED) + wanted > self.cache_pages {
            match self.lists.oldest(CLEAN) {
                Some(page) => self.lists.remove(page),
                None => return,
            }
        }
    }

    /// Writes a changed page into the log. A frame that a page got in the same transaction is overwritten, except by the last
    /// one of the commit.
    fn write_frame(&mut self, page: u32, is_last: bool) {
        if self.marks.len() <= page as usize {
            self.marks.resize(page as usize + 1, Mark::default());
        }
        let weight = self.lists.weight_of(page) as f64;
        let mark = &mut self.marks[page as usize];
        if mark.transaction == self.transaction && !is_last {
            self.counters.log_bytes += weight * self.page_bytes as f64;
            let first = self.overwritten.unwrap_or(mark.frame).min(mark.frame);
            self.overwritten = Some(first);
            return;
        }
        mark.transaction = self.transaction;
        mark.frame = self.frames;
        self.frames += weight as u64;
        self.counters.log_bytes += weight * (self.page_bytes + FRAME_HEADER) as f64;
        if mark.cycle != self.cycle {
            mark.cycle = self.cycle;
            self.counters.page_writes += weight;
            self.counters.page_bytes += weight * self.page_bytes as f64;
        }
    }

    /// Writes whole new pages that nothing reads again, such as overflow pages.
    pub(super) fn write_new(&mut self, pages: u32) {
        let pages = f64::from(pages);
        self.frames += pages as u64;
        self.counters.log_bytes += pages * (self.page_bytes + FRAME_HEADER) as f64;
        self.counters.page_writes += pages;
        self.counters.page_bytes += pages * self.page_bytes as f64;
    }

    /// Ends a transaction. `expected_frames` is the number of its frames where the trees are sampled; the frames of one sampled
    /// page come together.
    pub(super) fn commit(&mut self, expected_frames: Option<f64>) {
        // Pages are written in the order of their numbers. Here only the last one matters.
        while let Some(page) = self.lists.newest(CHANGED) {
            let weight = self.lists.weight_of(page);
            let is_last = self.lists.weight(CHANGED) == u64::from(weight);
            self.write_frame(page, is_last);
            self.lists.push(CLEAN, page, weight);
        }
        if let Some(first) = self.overwritten.take() {
            self.counters.log_bytes += (self.frames.saturating_sub(first) * FRAME_HEADER) as f64;
        }
        self.log_frames += expected_frames.unwrap_or(self.frames as f64);
        self.frames = 0;
        self.transaction += 1;
        if self.checkpoint_frames > 0 && self.log_frames >= self.checkpoint_frames as f64 {
            self.checkpoint();
        }
    }

    /// Ends a stretch of the log. Its pages were counted with their first frame.
    fn checkpoint(&mut self) {
        self.log_frames = 0.0;
        self.cycle += 1;
        self.counters.checkpoints += 1.0;
        // The next transaction starts the log again.
        self.counters.log_bytes += LOG_HEADER as f64;
    }

    /// Writes a frame of a page with this probability.
    pub(super) fn write_part(&mut self, page: u32, share: f64) {
        if self.marks.len() <= page as usize {
            self.marks.resize(page as usize + 1, Mark::default());
        }
        self.counters.log_bytes += share * (self.page_bytes + FRAME_HEADER) as f64;
        let mark = &mut self.marks[page as usize];
        if mark.cycle != self.cycle && share > 0.5 {
            mark.cycle = self.cycle;
            self.counters.page_writes += 1.0;
            self.counters.page_bytes += self.page_bytes as f64;
        }
    }

    /// Ends the load: the rest of the log goes to the database. Its pages were counted with their first frame.
    pub(super) fn finish(&mut self) {
        if self.log_frames > 0.0 {
            self.checkpoint();
        }
    }

    /// Frames of the open transaction so far: those written, and those that the commit would write.
    pub(super) fn open_frames(&self) -> u64 {
        self.frames + self.lists.weight(CHANGED)
    }

    /// Forgets a page.
    pub(super) fn forget(&mut self, page: u32) {
        self.lists.remove(page);
    }

    /// Changes the number of pages that a page stands for.
    pub(super) fn set_weight(&mut self, page: u32, weight: u32) {
        self.lists.set_weight(page, weight);
    }
}
