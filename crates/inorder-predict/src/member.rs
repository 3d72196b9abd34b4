//! A table or an index of a server, and what of it is not simulated.

use crate::arrivals::{Arrivals, Order};
use crate::bplus::Tree;
use crate::growth::Growth;
use crate::model::TreeSize;

/// Where entries are stored.
#[derive(Clone, Debug)]
pub enum Store {
    /// Pages in the order of insertion.
    Heap {
        /// The page that is filled.
        page: Option<u32>,
        /// Rows of it.
        rows: u64,
        /// All pages.
        pages: f64,
    },
    /// A tree.
    Tree(Tree),
}

/// A table or an index. If its keys are random, one of so many pages is simulated.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its name in reports.
    pub name: String,
    /// Whether it is the table.
    pub is_table: bool,
    /// Where its keys go.
    pub arrivals: Arrivals,
    /// Its pages.
    pub store: Store,
    /// Pages beside those of the tree.
    pub other_pages: f64,
    growth: Growth,
}

impl Member {
    /// An empty table or index.
    pub fn new(name: &str, is_table: bool, arrivals: Arrivals, store: Store) -> Self {
        Member {
            name: name.to_owned(),
            is_table,
            arrivals,
            store,
            other_pages: 0.0,
            growth: Growth::default(),
        }
    }

    /// Whether its keys are random.
    pub fn is_sampled(&self) -> bool {
        self.arrivals.order() == Order::Random
    }

    /// Leaf pages that are simulated.
    pub fn leaves(&self) -> f64 {
        match &self.store {
            Store::Heap { pages, .. } => *pages,
            Store::Tree(tree) => tree.leaves() as f64,
        }
    }

    /// Counts a row.
    pub fn count_row(&mut self) {
        self.growth.count_row();
    }

    /// Fills it as a bulk load of so many rows in key order does, with so many entries on a leaf page and above.
    pub fn fill(&mut self, rows: u64, sample: u32, fills: (f64, f64), next_page: &mut u32) {
        let (per_leaf, above) = fills;
        let Store::Tree(tree) = &mut self.store else {
            self.growth.skipped_leaves += rows as f64 / per_leaf;
            return;
        };
        if self.arrivals.order() != Order::Random {
            self.growth.skipped_leaves += rows as f64 / per_leaf;
            return;
        }
        let mut bound = u64::MAX >> 1;
        for _ in 0..sample.trailing_zeros() {
            bound = self.arrivals.halve();
        }
        let sampled = rows / u64::from(sample);
        let step = bound / sampled.max(1);
        let keys = (1..=sampled).map(|number| number * step);
        tree.pack(keys, per_leaf as usize, above as usize, next_page);
    }

    /// Adds the leaf pages of so many rows, at the growth of the last window.
    pub fn skip(&mut self, rows: u64) {
        self.growth.skip(rows);
    }

    /// Begins a window.
    pub fn begin_window(&mut self) {
        self.growth.begin_window(self.leaves());
    }

    /// Ends a window.
    pub fn end_window(&mut self) {
        self.growth.end_window(self.leaves());
        if let (Order::Ascending, Store::Tree(tree)) = (self.arrivals.order(), &mut self.store) {
            tree.forget_contents();
        }
    }

    /// Its size, where one of `sample` pages of trees with random keys is simulated.
    pub fn size(&self, sample: u32, page_bytes: u32) -> TreeSize {
        let sample = match self.is_sampled() {
            true => f64::from(sample),
            false => 1.0,
        };
        let Store::Tree(tree) = &self.store else {
            let pages = self.leaves() + self.growth.skipped_leaves;
            return TreeSize {
                name: self.name.clone(),
                is_table: self.is_table,
                pages: pages + self.other_pages,
                leaf_pages: pages,
                depth: 1,
                bytes: (pages + self.other_pages) * f64::from(page_bytes),
                fanout: None,
                step_bytes: 0.0,
            };
        };
        TreeSize::of(
            &self.name,
            self.is_table,
            &tree.levels(),
            sample,
            self.growth.skipped_leaves,
            self.other_pages,
            page_bytes,
        )
    }
}
