//! Pages of a table in PostgreSQL: a heap, B-trees, the log, shared buffers and checkpoints.
//!
//! The rules are those of `hio.c`, `nbtinsert.c`, `nbtsplitloc.c`, `xloginsert.c`, `freelist.c` and `checkpointer.c`.

mod nbtree;
mod tuples;
mod wal;

use crate::arrivals::{Arrivals, BUCKET_BITS, Order};
use crate::bplus::{Change, Tree};
use crate::clock::Clock;
use crate::counters::Counters;
use crate::error::Error;
use crate::member::{Member, Store};
use crate::members::Members;
use crate::model::{Model, TreeSize};
use crate::question::Question;
use nbtree::{Group, Nbtree, Storage};
use tuples::{PAGE_HEADER, POINTER, TOAST_BYTES, Tuples};
use wal::{Record, Wal};

/// Bytes of the main data of records: heap insert, insert into an index, split, new root, commit, sequence.
const HEAP_INSERT: u64 = 3;
const INDEX_INSERT: u64 = 2;
const SPLIT: u64 = 10;
const NEW_ROOT: u64 = 8;
const COMMIT: u64 = 8;
const SEQUENCE: u64 = 53;
/// Bytes about the tree in the record of a new root.
const META: u64 = 32;
/// Numbers that a sequence takes with one record.
const SEQUENCE_STEP: u64 = 33;
/// Pages of the catalog that the creation of the table has changed, and that the first checkpoint writes.
const CATALOG_PAGES: f64 = 78.0;
/// Pages of the catalog that are in shared buffers after a bulk load, by their uses, from one to five (`pg_buffercache`).
const CATALOG_USES: [u32; 5] = [56, 32, 16, 10, 114];
/// Pages of the map of free space of a heap.
const FREE_SPACE_PAGES: f64 = 3.0;
/// The page that stands for the map of free space.
const FREE_SPACE: u32 = 0;

/// Checks that the rows of a question are simulated.
///
/// # Errors
/// [`Error::Unanswerable`] if the server stores parts of a row elsewhere.
pub(crate) fn check(question: &Question) -> Result<(), Error> {
    let bytes = Tuples::of(question).heap;
    match bytes > TOAST_BYTES {
        true => Err(Error::Unanswerable(format!(
            "a row of {bytes} bytes with its header: PostgreSQL stores parts of rows above {TOAST_BYTES} bytes elsewhere \
             (TOAST), which is not simulated"
        ))),
        false => Ok(()),
    }
}

/// A database of PostgreSQL.
pub(crate) struct Postgres {
    members: Members,
    /// The rules of each index, in the order of `members` without the heap.
    rules: Vec<Nbtree>,
    tuples: Tuples,
    has_sequence: bool,
    page_bytes: u64,
    next_page: u32,
    /// Whether a bulk load preceded. Its checkpoint has written the catalog and the map of free space.
    is_loaded: bool,
    /// Whether rows will be left out.
    has_gaps: bool,
    buffers: Clock,
    wal: Wal,
    /// The checkpoint in which each page was changed first.
    cycles: Vec<u32>,
    cycle: u32,
    /// Pages of the running checkpoint in their order, and how many were written.
    due: Vec<u32>,
    written: usize,
    counters: Counters,
    read: Vec<u32>,
    changes: Vec<Change>,
}

impl Postgres {
    pub(crate) fn new(question: &Question) -> Self {
        let page_bytes = u64::from(question.page_bytes);
        let tuples = Tuples::of(question);
        let mut next_page = 1;
        let heap = Store::Heap {
            page: None,
            rows: 0,
            pages: 0.0,
        };
        let arrivals = |order, number| Arrivals::new(order, question.seed ^ (number << 32));
        let mut members = vec![Member::new(
            "table",
            true,
            arrivals(Order::Ascending, 0),
            heap,
        )];
        let mut rules = Vec::new();
        let rows_per_page = tuples.rows_per_page(page_bytes);
        let mut add = |name: &str, order, tuple, storage| {
            let number = members.len() as u64;
            let tree = Store::Tree(Tree::new(&mut next_page));
            let mut member = Member::new(name, false, arrivals(order, number), tree);
            // The page that has the number of the root page.
            member.other_pages = 1.0;
            members.push(member);
            let group = matches!(order, Order::Buckets(_)).then_some(Group {
                bits: BUCKET_BITS,
                rows_per_page,
            });
            rules.push(Nbtree::new(tuple, page_bytes, group, storage));
        };
        let order = Order::of(question.key);
        if let Some(tuple) = tuples.key {
            add("key", order, tuple, Storage::of_key(question));
        }
        for (index, &tuple) in question.indexes.iter().zip(&tuples.secondary) {
            add(&index.name, index.order, tuple, Storage::of(index));
        }
        members[0].other_pages = f64::from(u8::from(tuples.has_toast));
        let mut database = Postgres {
            members: Members::new(members),
            rules,
            tuples,
            has_sequence: question.key == inorder_key::KeyKind::Serial,
            page_bytes,
            next_page,
            is_loaded: question.loaded_rows > 0,
            has_gaps: false,
            buffers: Clock::new((question.cache_bytes / page_bytes).max(16)),
            wal: Wal::new(question.checkpoint_bytes),
            cycles: Vec::new(),
            cycle: 1,
            due: Vec::new(),
            written: 0,
            counters: Counters::default(),
            read: Vec::new(),
            changes: Vec::new(),
        };
        database.load(question);
        database
    }

    /// Fills the table as a bulk load in key order does: COPY fills the heap, then CREATE INDEX packs each index. A checkpoint
    /// follows.
    fn load(&mut self, question: &Question) {
        let rows = question.loaded_rows;
        if rows == 0 {
            return;
        }
        self.wal.begin_in_a_file();
        let heap = (self.tuples.rows_per_page(self.page_bytes) as f64, 0.0);
        let fills = self.rules.iter();
        let fills = fills.map(|rules| (rules.packed(true) as f64, rules.packed(false) as f64));
        let fills: Vec<(f64, f64)> = std::iter::once(heap).chain(fills).collect();
        self.members.load(rows, &fills, &mut self.next_page);
        self.fill_buffers(rows as f64 / heap.0);
    }

    /// Fills shared buffers as a bulk load leaves them: pages of the catalog, then pages of the heap, which COPY has used once.
    fn fill_buffers(&mut self, heap_pages: f64) {
        let catalog: u32 = CATALOG_USES.iter().sum();
        let free = self.buffers.pages_max().saturating_sub(u64::from(catalog));
        let heap = free.min(heap_pages as u64) as u32;
        let uses = (1..).zip(CATALOG_USES).chain([(1, heap)]);
        for (uses, pages) in uses {
            for page in self.next_page..self.next_page + pages {
                (0..uses).for_each(|_| self.touch(page, 1));
            }
            self.next_page += pages;
        }
        self.counters = Counters::default();
    }

    /// Uses a page.
    fn touch(&mut self, page: u32, weight: u32) {
        self.counters.accesses += f64::from(weight);
        let counters = &mut self.counters;
        let page_bytes = self.page_bytes as f64;
        let had = self.buffers.touch(page, weight, &mut |weight| {
            counters.page_writes += f64::from(weight);
            counters.page_bytes += f64::from(weight) * page_bytes;
        });
        if !had {
            self.counters.read_pages += f64::from(weight);
        }
    }

    /// Adds a page to a table or index: it is written at once, with zeros.
    fn extend(&mut self, page: u32, weight: u32) {
        self.write_pages(f64::from(weight));
        self.touch(page, weight);
        self.counters.read_pages -= f64::from(weight);
    }

    /// Counts the write of a page that ordered keys fill, if rows will be left out.
    fn count_write(&mut self, page: u32) {
        if self.has_gaps {
            self.write_pages(1.0);
            self.buffers.count_write(page);
        }
    }

    fn write_pages(&mut self, pages: f64) {
        self.counters.page_writes += pages;
        self.counters.page_bytes += pages * self.page_bytes as f64;
    }

    /// Changes a page. Returns whether the log needs its image: it is the first change since the checkpoint.
    fn change(&mut self, page: u32) -> bool {
        self.buffers.change(page);
        if self.cycles.len() <= page as usize {
            self.cycles.resize(page as usize + 1, 0);
        }
        std::mem::replace(&mut self.cycles[page as usize], self.cycle) != self.cycle
    }

    /// Puts a row into the heap.
    fn insert_into_heap(&mut self) {
        let per_page = self.tuples.rows_per_page(self.page_bytes);
        let row_bytes = tuples::aligned(self.tuples.heap) + POINTER;
        let Store::Heap { page, rows, pages } = &mut self.members[0].store else {
            return;
        };
        let mut record = Record::new(HEAP_INSERT);
        let is_first = page.is_none();
        match *page {
            Some(page) if *rows < per_page => {
                *rows += 1;
                let used = PAGE_HEADER + *rows * row_bytes;
                self.touch(page, 1);
                let image = self.change(page).then_some(used);
                record.block(self.tuples.logged(), image);
            }
            _ => {
                let new = self.next_page;
                self.next_page += 1;
                (*page, *rows, *pages) = (Some(new), 1, *pages + 1.0);
                self.extend(new, 1);
                self.change(new);
                self.count_write(new);
                record.block(self.tuples.logged(), None);
                if is_first && !self.is_loaded {
                    self.write_pages(FREE_SPACE_PAGES);
                }
                // The map of free space notes the page that was filled.
                self.touch(FREE_SPACE, 1);
                self.buffers.change(FREE_SPACE);
            }
        }
        self.wal.write(record, 1);
    }

    /// Inserts an entry into an index whose pages stand for `weight` pages each.
    fn insert_into(&mut self, number: usize, row: u64, weight: u32, is_growth: bool) {
        let member = &mut self.members[number];
        let key = member.arrivals.key(row);
        let rules = self.rules[number - 1];
        let Store::Tree(tree) = &mut member.store else {
            return;
        };
        let (mut read, mut changes) = (
            std::mem::take(&mut self.read),
            std::mem::take(&mut self.changes),
        );
        read.clear();
        changes.clear();
        tree.insert(key, &rules, &mut self.next_page, &mut read, &mut changes);
        // Pages above the last interior level are few, and in the cache.
        let skipped = match weight {
            1 => 0,
            _ => read.len().saturating_sub(2),
        };
        for &page in &read[skipped..] {
            self.touch(page, weight);
        }
        if !is_growth {
            for &change in &changes {
                self.log(change, &rules, weight);
                if let Change::Split { right, .. } = change
                    && !self.members[number].is_sampled()
                {
                    self.count_write(right);
                }
            }
        }
        (self.read, self.changes) = (read, changes);
    }

    /// Writes the record of what happened to a page of an index.
    fn log(&mut self, change: Change, rules: &Nbtree, weight: u32) {
        let tuple_of = |is_leaf| rules.tuple(is_leaf);
        let mut record;
        match change {
            Change::Insert {
                page,
                is_leaf,
                child,
                entries,
                is_last,
            } => {
                record = Record::new(INDEX_INSERT);
                let image = self.change(page);
                let image = image.then(|| rules.image(entries, is_leaf, is_last));
                record.block(tuple_of(is_leaf), image);
                if child.is_some() {
                    record.block(0, None);
                }
            }
            Change::Split {
                page,
                right,
                next,
                child,
                stayed,
                moved,
                is_new_left,
                is_leaf,
                is_last,
            } => {
                record = Record::new(SPLIT);
                self.extend(right, weight);
                self.change(right);
                let image = self.change(page);
                let image = image.then(|| rules.image(stayed, is_leaf, false));
                // The new high key, and the new tuple if it is on the left page.
                let high_key = tuple_of(false);
                let new = if is_new_left { tuple_of(is_leaf) } else { 0 };
                record.block(high_key + new, image);
                let of_right = if is_last { 0 } else { high_key };
                record.block(rules.tuples(moved, is_leaf) + of_right, None);
                if let Some((next, entries)) = next {
                    self.touch(next, weight);
                    let image = self.change(next);
                    record.block(0, image.then(|| rules.image(entries, is_leaf, false)));
                }
                if child.is_some() {
                    record.block(0, None);
                }
            }
            // Only InnoDB does that.
            Change::Shift { .. } => return,
            Change::Root { page, .. } => {
                record = Record::new(NEW_ROOT);
                self.extend(page, weight);
                self.change(page);
                record.block(2 * tuple_of(false), None);
                record.block(0, None);
                record.block(META, None);
            }
        }
        self.wal.write(record, weight);
    }

    /// Begins a checkpoint where one is due, and writes the pages that the running one should have written.
    fn advance(&mut self) {
        if self.wal.is_due() {
            self.write_due(1.0);
            self.begin_checkpoint();
        }
        if self.written < self.due.len() {
            self.write_due(self.wal.progress());
        }
    }

    fn begin_checkpoint(&mut self) {
        self.wal.begin_checkpoint();
        self.cycle += 1;
        self.counters.checkpoints += 1.0;
        self.due = self.buffers.begin_checkpoint();
        self.due.sort_unstable();
        self.written = 0;
        if self.counters.checkpoints == 1.0 && !self.is_loaded {
            self.write_pages(CATALOG_PAGES);
        }
    }

    fn write_due(&mut self, share: f64) {
        let target = (self.due.len() as f64 * share).ceil() as usize;
        while self.written < target.min(self.due.len()) {
            let weight = self.buffers.write_due(self.due[self.written]);
            self.write_pages(f64::from(weight));
            self.written += 1;
        }
    }
}

impl Model for Postgres {
    fn insert(&mut self, row: u64) {
        self.members.count_row();
        if self.has_sequence && row % SEQUENCE_STEP == 1 {
            let mut record = Record::new(SEQUENCE);
            record.block(0, None);
            self.wal.write(record, 1);
        }
        self.insert_into_heap();
        for number in 1..self.members.len() {
            if let Some(weight) = self.members.weight(number, row) {
                self.insert_into(number, row, weight, false);
            }
        }
        self.counters.rows += 1.0;
        self.advance();
    }

    fn commit(&mut self) {
        self.wal.write(Record::new(COMMIT), 1);
        self.advance();
    }

    fn expect_gaps(&mut self) {
        self.has_gaps = true;
    }

    fn grow(&mut self, row: u64, rows: u64) {
        for (number, row) in self.members.grow(row, rows) {
            self.insert_into(number, row, self.members.sample(), true);
        }
    }

    fn begin_window(&mut self) {
        self.members.begin_window();
    }

    fn end_window(&mut self) {
        self.members.end_window();
    }

    fn sample(&self) -> u32 {
        self.members.sample()
    }

    fn sampled_leaves(&self) -> u64 {
        self.members.sampled_leaves()
    }

    fn halve(&mut self) {
        self.members.halve(&mut self.buffers);
    }

    fn finish(&mut self) {
        self.write_due(1.0);
        self.begin_checkpoint();
        self.write_due(1.0);
    }

    fn counters(&self) -> Counters {
        Counters {
            log_bytes: self.wal.bytes(),
            ..self.counters
        }
    }

    fn sizes(&self) -> Vec<TreeSize> {
        let sizes = self.members.sizes(self.page_bytes as u32);
        sizes.map(|(_, size)| size).collect()
    }
}

#[cfg(test)]
mod tests;
