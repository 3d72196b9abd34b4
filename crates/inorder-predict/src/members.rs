//! The table and indexes of a server, and the sample of them that is simulated.

use crate::clock::Clock;
use crate::member::{Member, Store};
use crate::model::{TreeSize, loaded_sample};
use std::ops::{Index, IndexMut};

/// A cache that keeps pages of sampled trees.
pub trait Cache {
    /// Takes a page out without writing it.
    fn forget(&mut self, page: u32);
    /// Changes the number of pages that a page stands for.
    fn set_weight(&mut self, page: u32, weight: u32);
}

impl Cache for Clock {
    fn forget(&mut self, page: u32) {
        Clock::forget(self, page);
    }

    fn set_weight(&mut self, page: u32, weight: u32) {
        Clock::set_weight(self, page, weight);
    }
}

/// A table and its indexes. Of trees with random keys, one of `sample` pages is simulated.
#[derive(Clone, Debug)]
pub struct Members {
    all: Vec<Member>,
    sample: u32,
}

impl Index<usize> for Members {
    type Output = Member;

    fn index(&self, number: usize) -> &Member {
        &self.all[number]
    }
}

impl IndexMut<usize> for Members {
    fn index_mut(&mut self, number: usize) -> &mut Member {
        &mut self.all[number]
    }
}

impl Members {
    /// These members, of which every page is simulated. The table is the first one.
    pub fn new(all: Vec<Member>) -> Self {
        Members { all, sample: 1 }
    }

    /// Number of tables and indexes.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// One of so many pages of a tree with random keys is simulated.
    pub fn sample(&self) -> u32 {
        self.sample
    }

    /// Fills them as a bulk load of so many rows in key order does, each with so many entries on a leaf page and above.
    pub fn load(&mut self, rows: u64, fills: &[(f64, f64)], next_page: &mut u32) {
        let sampled = self.all.iter().zip(fills);
        let sampled = sampled.filter(|(member, _)| member.is_sampled());
        let leaves = sampled.map(|(_, (per_leaf, _))| rows as f64 / per_leaf);
        self.sample = loaded_sample(leaves.fold(0.0, f64::max));
        for (member, fills) in self.all.iter_mut().zip(fills) {
            member.fill(rows, self.sample, *fills, next_page);
        }
    }

    /// Counts a row.
    pub fn count_row(&mut self) {
        self.all.iter_mut().for_each(Member::count_row);
    }

    /// The number of pages that each page of a member stands for, if its sample gets this row.
    pub fn weight(&self, number: usize, row: u64) -> Option<u32> {
        match self.all[number].is_sampled() {
            true => is_due(number, row, self.sample).then_some(self.sample),
            false => Some(1),
        }
    }

    /// Grows the members with ordered keys by so many rows. Returns the numbers of the other members with the rows from `row` on
    /// that their samples get.
    pub fn grow(&mut self, row: u64, rows: u64) -> impl Iterator<Item = (usize, u64)> + use<> {
        let mut sampled = Vec::new();
        for (number, member) in self.all.iter_mut().enumerate() {
            match member.is_sampled() {
                true => sampled.push(number),
                false => member.skip(rows),
            }
        }
        let sample = u64::from(self.sample);
        let of = move |number| (0..rows / sample).map(move |nth| (number, row + nth * sample));
        sampled.into_iter().flat_map(of)
    }

    /// Begins a window.
    pub fn begin_window(&mut self) {
        self.all.iter_mut().for_each(Member::begin_window);
    }

    /// Ends a window.
    pub fn end_window(&mut self) {
        self.all.iter_mut().for_each(Member::end_window);
    }

    /// Leaf pages of the largest sampled tree.
    pub fn sampled_leaves(&self) -> u64 {
        let sampled = self.all.iter().filter(|member| member.is_sampled());
        let leaves = sampled.map(|member| member.leaves() as u64);
        leaves.max().unwrap_or(0)
    }

    /// Drops half of the keys of each sampled tree. Each of its pages then stands for twice as many.
    pub fn halve(&mut self, cache: &mut dyn Cache) {
        self.sample *= 2;
        for member in self.all.iter_mut().filter(|member| member.is_sampled()) {
            let bound = member.arrivals.halve();
            let Store::Tree(tree) = &mut member.store else {
                continue;
            };
            tree.cut(bound, &mut |page| cache.forget(page));
            for node in &tree.nodes {
                cache.set_weight(node.page, self.sample);
            }
        }
    }

    /// The members with their sizes.
    pub fn sizes(&self, page_bytes: u32) -> impl Iterator<Item = (&Member, TreeSize)> {
        let size = move |member: &Member| member.size(self.sample, page_bytes);
        self.all.iter().map(move |member| (member, size(member)))
    }
}

/// Whether a sampled tree of this number gets this row.
pub fn is_due(number: usize, row: u64, sample: u32) -> bool {
    (row + number as u64 * 7).is_multiple_of(u64::from(sample))
}
