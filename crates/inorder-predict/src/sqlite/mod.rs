//! Pages of a table in SQLite.

mod balance;
mod cells;
mod node;
mod pager;
mod tree;

use crate::arrivals::{Arrivals, Order};
use crate::counters::Counters;
use crate::growth::Growth;
use crate::members::is_due;
use crate::model::{Model, TreeSize, loaded_sample};
use crate::question::Question;
use cells::Spec;
use pager::Pager;
use tree::{Touched, Tree};

/// Sampled inserts over which the frames of a transaction are averaged.
const AVERAGED_INSERTS: f64 = 100.0;
/// The first page, which has the schema and the number of pages.
const FIRST_PAGE: u32 = 0;

/// A tree with its keys.
struct Member {
    spec: Spec,
    tree: Tree,
    arrivals: Arrivals,
    growth: Growth,
    /// Pages with the rest of large payloads.
    overflow_pages: f64,
}

impl Member {
    fn is_sampled(&self) -> bool {
        self.arrivals.order() == Order::Random
    }

    fn simulated_leaves(&self) -> f64 {
        self.tree
            .shape()
            .levels
            .last()
            .map_or(0.0, |&leaves| leaves as f64)
    }
}

/// A database of SQLite. Trees with random keys have one of `sample` of their pages.
pub(crate) struct Sqlite {
    members: Vec<Member>,
    pager: Pager,
    next_page: u32,
    page_bytes: u32,
    sample: u32,
    touched: Touched,
    /// Mean frames per transaction, and new pages per row, while trees are sampled.
    frames: Option<f64>,
    added_per_row: f64,
    added: f64,
    rows: f64,
    pending_rows: f64,
    /// Rows that a simulated row stands for.
    rows_per_row: u64,
}

impl Sqlite {
    pub(crate) fn new(question: &Question) -> Self {
        let page_bytes = question.page_bytes;
        let mut next_page = 1;
        let members = Spec::all(question)
            .into_iter()
            .enumerate()
            .map(|(number, spec)| Member {
                tree: Tree::new(&spec, page_bytes, &mut next_page),
                arrivals: Arrivals::new(spec.order, question.seed ^ ((number as u64) << 32)),
                spec,
                growth: Growth::default(),
                overflow_pages: 0.0,
            })
            .collect();
        let frames = question.checkpoint_bytes / u64::from(page_bytes);
        let mut database = Sqlite {
            members,
            pager: Pager::new(u64::from(page_bytes), question.cache_bytes, frames),
            next_page,
            page_bytes,
            sample: 1,
            touched: Touched::default(),
            frames: None,
            added_per_row: 0.0,
            added: 0.0,
            rows: 0.0,
            pending_rows: 0.0,
            rows_per_row: question.rows_per_row,
        };
        database.load(question);
        database
    }

    /// Fills the trees as a bulk load in key order does.
    fn load(&mut self, question: &Question) {
        let rows = question.loaded_rows;
        if rows == 0 {
            return;
        }
        let fill = |member: &Member| {
            let rowid = match member.is_sampled() {
                true => u64::MAX >> 1,
                false => rows,
            };
            let cell = member.spec.cell(rows, rowid);
            let room = f64::from(question.page_bytes - 8);
            (rows as f64 * f64::from(cell.bytes + 2) / room, cell)
        };
        let largest = self.members.iter().filter(|member| member.is_sampled());
        let largest = largest.map(|member| fill(member).0).fold(0.0, f64::max);
        self.sample = loaded_sample(largest);
        for member in &mut self.members {
            let (leaves, cell) = fill(member);
            member.overflow_pages += rows as f64 * f64::from(cell.overflow_pages);
            if !member.is_sampled() {
                member.growth.skipped_leaves += leaves;
                continue;
            }
            let mut bound = u64::MAX >> 1;
            for _ in 0..self.sample.trailing_zeros() {
                bound = member.arrivals.halve();
                member.spec.zeros += 1;
            }
            let sampled = rows / u64::from(self.sample);
            let step = bound / sampled;
            member.tree.pack(
                (0..sampled).map(|number| number * step),
                cell.bytes,
                &member.spec,
                &mut self.next_page,
            );
        }
    }

    /// Inserts a row into a tree whose pages stand for `weight` pages each.
    fn insert_into(&mut self, number: usize, row: u64, weight: u32, is_growth: bool) {
        let member = &mut self.members[number];
        let key = member.arrivals.key(row);
        let row = row * self.rows_per_row;
        let rowid = match member.spec.has_rowids && member.is_sampled() {
            true => member.arrivals.rowid(key),
            false => row,
        };
        let cell = member.spec.cell(row, rowid);
        self.touched.clear();
        let (next_page, touched) = (&mut self.next_page, &mut self.touched);
        member
            .tree
            .insert(key, cell.bytes, &member.spec, next_page, touched);
        member.overflow_pages += f64::from(cell.overflow_pages * weight);
        // Pages above the last interior level are few, and in the cache.
        let skipped = match weight {
            1 => 0,
            _ => touched.path.saturating_sub(2),
        };
        for &page in &touched.read[skipped..] {
            self.pager.read(page, weight);
        }
        if is_growth {
            return;
        }
        for &page in &touched.written {
            self.pager.change(page, weight);
        }
        let added = touched.added.len() as u32 + cell.overflow_pages;
        self.added += f64::from(added * weight);
        if added > 0 && self.sample == 1 {
            self.pager.read(FIRST_PAGE, 1);
            self.pager.change(FIRST_PAGE, 1);
        }
        self.pager.write_new(cell.overflow_pages * weight);
    }
}

impl Model for Sqlite {
    fn insert(&mut self, row: u64) {
        for number in 0..self.members.len() {
            self.members[number].growth.count_row();
            match self.members[number].is_sampled() {
                true if !is_due(number, row, self.sample) => {}
                true => self.insert_into(number, row, self.sample, false),
                false => self.insert_into(number, row, 1, false),
            }
        }
        self.rows += 1.0;
        self.pending_rows += 1.0;
    }

    fn commit(&mut self) {
        let rows = std::mem::take(&mut self.pending_rows);
        if self.sample == 1 {
            self.pager.commit(None);
            return;
        }
        let share = (rows / (f64::from(self.sample) * AVERAGED_INSERTS)).min(1.0);
        self.added_per_row += share * (self.added / rows - self.added_per_row);
        self.added = 0.0;
        let first_page = 1.0 - (-self.added_per_row * rows).exp();
        let now = self.pager.open_frames() as f64 + first_page;
        let usual = self.members.iter().filter(|member| member.is_sampled());
        let usual = usual.count() as f64 * rows + 1.0;
        let frames = self.frames.get_or_insert(usual);
        *frames += share * (now - *frames);
        let expected = *frames;
        self.pager.write_part(FIRST_PAGE, first_page);
        self.pager.commit(Some(expected));
    }

    fn grow(&mut self, row: u64, rows: u64) {
        for number in 0..self.members.len() {
            let member = &mut self.members[number];
            if !member.is_sampled() {
                member.growth.skip(rows);
                let cell = member.spec.cell(row, row);
                member.overflow_pages += (u64::from(cell.overflow_pages) * rows) as f64;
                continue;
            }
            for sampled in 0..rows / u64::from(self.sample) {
                let row = row + sampled * u64::from(self.sample);
                self.insert_into(number, row, self.sample, true);
            }
        }
    }

    fn begin_window(&mut self) {
        for member in &mut self.members {
            member.growth.begin_window(member.simulated_leaves());
        }
    }

    fn end_window(&mut self) {
        for member in &mut self.members {
            member.growth.end_window(member.simulated_leaves());
            if member.spec.order == Order::Ascending {
                member.tree.forget_contents();
            }
        }
    }

    fn sample(&self) -> u32 {
        self.sample
    }

    fn sampled_leaves(&self) -> u64 {
        let sampled = self.members.iter().filter(|member| member.is_sampled());
        sampled
            .map(|member| member.simulated_leaves() as u64)
            .max()
            .unwrap_or(0)
    }

    fn halve(&mut self) {
        self.sample *= 2;
        for member in &mut self.members {
            if !member.is_sampled() {
                continue;
            }
            let bound = member.arrivals.halve();
            member.spec.zeros += 1;
            let pager = &mut self.pager;
            member.tree.cut(bound, &mut |page| pager.forget(page));
            for node in &member.tree.nodes {
                self.pager.set_weight(node.page, self.sample);
            }
        }
    }

    fn finish(&mut self) {
        self.pager.finish();
    }

    fn counters(&self) -> Counters {
        Counters {
            rows: self.rows,
            ..self.pager.counters()
        }
    }

    fn sizes(&self) -> Vec<TreeSize> {
        let size = |member: &Member| {
            let sample = match member.is_sampled() {
                true => f64::from(self.sample),
                false => 1.0,
            };
            let levels = member.tree.shape().levels;
            TreeSize::of(
                &member.spec.name,
                member.spec.is_table,
                &levels,
                sample,
                member.growth.skipped_leaves,
                member.overflow_pages,
                self.page_bytes,
            )
        };
        self.members.iter().map(size).collect()
    }
}

#[cfg(test)]
mod tests;
