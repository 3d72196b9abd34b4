//! Pages of a table in InnoDB: a clustered index, secondary indexes, undo log, redo log, buffer pool.
//!
//! The rules are those of `btr0btr.cc`, `buf0flu.cc`, `log0log.cc` and `trx0undo.cc` of MariaDB 10.11.

mod btr;
mod pool;
mod records;
mod redo;
pub(crate) mod segments;
mod undo;

use crate::arrivals::{Arrivals, Order};
use crate::bplus::{Change, Tree};
use crate::counters::Counters;
use crate::error::Error;
use crate::member::{Member, Store};
use crate::members::{Cache as _, Members};
use crate::model::{Model, TreeSize};
use crate::question::{Layout, Question};
use btr::Btr;
use inorder_key::{Encoding, KeyKind};
use pool::{AREA_PAGES, PAGES_MIN, Pool};
use records::{Entry, Records, room};
use redo::{Redo, shared_bytes, shared_values};
use segments::{allocated_pages, ascending_pages, extent_pages};
use undo::{Undo, UndoPage};

/// The share of the leaf pages by which a simulation is off at most times: an extent more or less may hang on one of them.
const LEAVES_OFF: f64 = 0.03;

/// Pages in the pool when the load begins beside the headers of rollback segments, and the changed ones of them: those of the new
/// server and the new table.
const OTHER_PAGES: u32 = 220;
const CHANGED_PAGES: u32 = 45;
/// Pages that an insert adds at most.
const DEPTH_MAX: u32 = 8;
/// Share of the buffer pool's bytes that are pages; the rest describes them.
const POOL_PART: f64 = 0.9624;

/// Checks that the rows of a question are simulated.
///
/// # Errors
/// [`Error::Unanswerable`] if the server stores a part of a row elsewhere, or has no such table.
pub(crate) fn check(question: &Question) -> Result<(), Error> {
    let bytes = Records::of(question).clustered.leaf;
    let page_bytes = u64::from(question.page_bytes);
    if !(4096..=65_536).contains(&page_bytes) {
        return Err(Error::Unanswerable(format!(
            "pages of {page_bytes} bytes: InnoDB has pages of 4096 to 65536"
        )));
    }
    let bytes_max = room(page_bytes) / 2 - 1;
    if bytes > bytes_max {
        return Err(Error::Unanswerable(format!(
            "a record of {bytes} bytes with its header: InnoDB stores parts of records above {bytes_max} bytes on pages of \
             their own, which is not simulated; pages are {page_bytes} bytes"
        )));
    }
    let pages = pool_pages(question);
    if pages < PAGES_MIN {
        return Err(Error::Unanswerable(format!(
            "a buffer pool of {pages} pages: below {PAGES_MIN}, the speed of InnoDB's page cleaner decides what is written; \
             use a larger --cache"
        )));
    }
    match (question.key, question.layout) {
        (KeyKind::Serial, Layout::NoKey) => Err(Error::Unanswerable(
            "MariaDB assigns values to keys only (serial)".to_owned(),
        )),
        _ => Ok(()),
    }
}

/// Pages of the buffer pool.
fn pool_pages(question: &Question) -> u64 {
    (question.cache_bytes as f64 * POOL_PART / f64::from(question.page_bytes)) as u64
}

/// The indexes of a question's table: name, order of the keys, records, and bytes that an entry shares with the one before it.
fn indexes(question: &Question, records: &Records) -> Vec<(String, Order, Entry, f64)> {
    let order = Order::of(question.key);
    let rows = question.rows as f64 * question.rows_per_row as f64;
    let by_key = shared_bytes(question.key, question.encoding, rows);
    let by_row_id = shared_bytes(KeyKind::Serial, Encoding::Integer, rows) - 2.0;
    let mut indexes = vec![match records.is_by_key {
        true => ("table".to_owned(), order, records.clustered, by_key),
        false => (
            "table".to_owned(),
            Order::Ascending,
            records.clustered,
            by_row_id,
        ),
    }];
    if let Some(entry) = records.key {
        indexes.push(("key".to_owned(), order, entry, by_key));
    }
    let by = if records.is_by_key {
        order
    } else {
        Order::Ascending
    };
    for (index, &entry) in question.indexes.iter().zip(&records.secondary) {
        let order = index.order_with(by);
        let shared = shared_values(order, index.bytes(), rows);
        indexes.push((index.name.clone(), order, entry, shared));
    }
    indexes
}

/// A database of MariaDB.
pub(crate) struct Mariadb {
    /// The clustered index first.
    members: Members,
    /// The rules of each index, in the order of `members`.
    rules: Vec<Btr>,
    /// Bytes that the entries of each index share with those before them, which the log leaves out.
    shared: Vec<f64>,
    /// Bytes of the clustered index's key.
    primary: u64,
    page_bytes: u64,
    /// The number of the next new page of each index. Pages of an index that are created one after the other are neighbours.
    next_pages: Vec<u32>,
    /// The number of the next new page of anything else.
    next_page: u32,
    /// Whether rows will be left out.
    has_gaps: bool,
    pool: Pool,
    redo: Redo,
    undo: Undo,
    counters: Counters,
    read: Vec<u32>,
    changes: Vec<Change>,
}

impl Mariadb {
    pub(crate) fn new(question: &Question) -> Self {
        let page_bytes = u64::from(question.page_bytes);
        let records = Records::of(question);
        let mut next_page = 1;
        let undo = Undo::new(page_bytes, &mut next_page);
        let indexes = indexes(question, &records);
        let (mut members, mut rules, mut shared) = (Vec::new(), Vec::new(), Vec::new());
        for (number, (name, order, entry, bytes)) in indexes.into_iter().enumerate() {
            let is_clustered = number == 0;
            let arrivals = Arrivals::new(order, question.seed ^ ((number as u64) << 32));
            let tree = Store::Tree(Tree::new(&mut next_page));
            members.push(Member::new(&name, is_clustered, arrivals, tree));
            rules.push(Btr::new(entry, page_bytes, is_clustered));
            shared.push(bytes);
        }
        let indexes_count = members.len();
        let mut database = Mariadb {
            members: Members::new(members),
            rules,
            shared,
            primary: records.primary,
            page_bytes,
            next_pages: vec![0; indexes_count],
            next_page,
            has_gaps: false,
            pool: Pool::new(pool_pages(question)),
            redo: Redo::new(question.checkpoint_bytes, page_bytes),
            undo,
            counters: Counters::default(),
            read: Vec::new(),
            changes: Vec::new(),
        };
        let mut changed = database.undo.headers();
        changed.extend((0..CHANGED_PAGES).map(|page| database.next_page + page));
        database.next_page += OTHER_PAGES;
        for page in database.next_page - OTHER_PAGES + CHANGED_PAGES..database.next_page {
            database.pool.touch(page, 1);
        }
        for page in changed {
            database.pool.create(page, 1);
            database.change(page);
        }
        database.load(question);
        database
    }

    /// Fills the table as a bulk load in key order does.
    fn load(&mut self, question: &Question) {
        let rows = question.loaded_rows;
        if rows == 0 {
            return;
        }
        let fills = self.rules.iter();
        let fills: Vec<(f64, f64)> = fills
            .map(|rules| (rules.loaded(true), rules.loaded(false)))
            .collect();
        self.members.load(rows, &fills, &mut self.next_page);
    }

    /// Uses a page.
    fn touch(&mut self, page: u32, weight: u32) {
        self.counters.accesses += f64::from(weight);
        if !self.pool.touch(page, weight) {
            self.counters.read_pages += f64::from(weight);
        }
    }

    fn change(&mut self, page: u32) {
        self.pool.change(page, self.redo.position());
    }

    /// Inserts an entry into an index whose pages stand for `weight` pages each.
    fn insert_into(&mut self, number: usize, row: u64, weight: u32, is_growth: bool) {
        let member = &mut self.members[number];
        let key = member.arrivals.key(row);
        let rules = self.rules[number];
        let Store::Tree(tree) = &mut member.store else {
            return;
        };
        let (mut read, mut changes) = (
            std::mem::take(&mut self.read),
            std::mem::take(&mut self.changes),
        );
        read.clear();
        changes.clear();
        let next_page = &mut self.next_pages[number];
        let left = next_page.next_multiple_of(AREA_PAGES) - *next_page;
        if left < DEPTH_MAX {
            *next_page = self.next_page.next_multiple_of(AREA_PAGES);
            self.next_page = *next_page + AREA_PAGES;
        }
        tree.insert(key, &rules, next_page, &mut read, &mut changes);
        // Pages above the last interior level are few, and in the pool.
        let skipped = match weight {
            1 => 0,
            _ => read.len().saturating_sub(2),
        };
        for &page in &read[skipped..] {
            self.touch(page, weight);
        }
        if !is_growth {
            if number > 0 {
                let bytes = rules.entry.leaf;
                self.redo.entry(bytes, self.shared[number], weight);
            }
            for &change in &changes {
                self.apply(change, &rules, weight);
                if let Change::Split { right, .. } = change
                    && self.has_gaps
                    && !self.members[number].is_sampled()
                {
                    self.pool.count_write(right);
                }
            }
        }
        (self.read, self.changes) = (read, changes);
    }

    /// Changes the pages of an index.
    fn apply(&mut self, change: Change, rules: &Btr, weight: u32) {
        let pointer = rules.entry.interior;
        match change {
            Change::Insert { page, is_leaf, .. } => {
                self.change(page);
                if !is_leaf {
                    self.redo.entry(pointer, 0.0, weight);
                }
            }
            Change::Shift { page, parent } => {
                self.touch(page, weight);
                self.change(page);
                self.change(parent);
                self.redo.entry(pointer, 0.0, weight);
            }
            Change::Split {
                page,
                right,
                next,
                moved,
                is_new_left,
                is_leaf,
                ..
            } => {
                self.pool.create(right, weight);
                self.change(right);
                self.change(page);
                if let Some((next, _)) = next {
                    self.touch(next, weight);
                    self.change(next);
                }
                let moved = moved - usize::from(!is_new_left);
                let bytes = if is_leaf { rules.entry.leaf } else { pointer };
                self.redo.split(moved, bytes, weight);
                if !is_leaf {
                    self.redo.entry(pointer, 0.0, weight);
                }
            }
            Change::Root { page, .. } => {
                self.pool.create(page, weight);
                self.change(page);
                self.redo.split(2, pointer, weight);
            }
        }
    }

    /// Writes an undo record.
    fn write_undo(&mut self) {
        let page = match self.undo.insert(self.primary, &mut self.next_page) {
            UndoPage::Used(page) => {
                self.touch(page, 1);
                page
            }
            UndoPage::New(page) => {
                self.pool.create(page, 1);
                page
            }
        };
        self.change(page);
    }

    /// Writes the changed pages that keep the log from being freed.
    fn advance(&mut self) {
        while let Some(oldest) = self.pool.oldest_change()
            && let Some(until) = self.redo.due(oldest)
        {
            self.pool.flush(until);
        }
    }
}

impl Model for Mariadb {
    fn insert(&mut self, row: u64) {
        self.members.count_row();
        self.pool.count_row();
        self.write_undo();
        let bytes = self.rules[0].entry.leaf;
        self.redo.row(bytes, self.primary, self.shared[0]);
        for number in 0..self.members.len() {
            if let Some(weight) = self.members.weight(number, row) {
                self.insert_into(number, row, weight, false);
            }
        }
        self.counters.rows += 1.0;
        self.advance();
    }

    fn commit(&mut self) {
        self.redo.commit();
        let (header, freed) = self.undo.commit();
        self.touch(header, 1);
        self.change(header);
        for page in freed {
            self.pool.forget(page);
        }
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
        self.members.halve(&mut self.pool);
    }

    fn finish(&mut self) {
        self.pool.flush(u64::MAX);
    }

    fn counters(&self) -> Counters {
        let written = self.pool.written();
        let doubled = (written.pages + written.doubled) as f64;
        Counters {
            log_bytes: self.redo.bytes(),
            page_writes: doubled,
            page_bytes: doubled * self.page_bytes as f64,
            ..self.counters
        }
    }

    fn sizes(&self) -> Vec<TreeSize> {
        let extent = extent_pages(self.page_bytes);
        let allocated = |(member, mut size): (&Member, TreeSize)| {
            let interior = size.pages - size.leaf_pages;
            let allocated = |pages: f64| match member.arrivals.order() {
                Order::Ascending => ascending_pages(pages as u64, extent),
                _ => allocated_pages(pages as u64, 0, extent),
            };
            let leaves = allocated(size.leaf_pages);
            let off = (size.leaf_pages * LEAVES_OFF).ceil() + 1.0;
            let step = |pages: f64| (allocated(pages.max(1.0)) as f64 - leaves as f64).abs();
            let steps = [size.leaf_pages - off, size.leaf_pages + off].map(step);
            size.step_bytes = steps[0].max(steps[1]) * self.page_bytes as f64;
            size.pages = (leaves + allocated_pages(interior as u64, 0, extent)) as f64;
            size.bytes = size.pages * self.page_bytes as f64;
            size
        };
        let sizes = self.members.sizes(self.page_bytes as u32);
        sizes.map(allocated).collect()
    }
}

#[cfg(test)]
mod tests;
