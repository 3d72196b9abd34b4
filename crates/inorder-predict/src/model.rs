//! What an engine's simulation does, and the size of a tree.

use crate::counters::Counters;

/// Leaf pages of the largest sampled tree above which half of its keys are dropped.
pub(crate) const LEAVES_MAX: u64 = 2048;
/// The same after a bulk load, when inserts are few beside the pages.
const LOADED_LEAVES_MAX: f64 = 32_768.0;

/// The sample of a bulk-loaded table: the number of pages that each page stands for, where the largest tree with random keys has so many
/// leaf pages.
pub(crate) fn loaded_sample(leaves: f64) -> u32 {
    let pages = (leaves / LOADED_LEAVES_MAX).ceil().max(1.0);
    (pages as u32).next_power_of_two()
}

/// The pages of a table in an engine.
pub(crate) trait Model {
    /// Inserts a row.
    fn insert(&mut self, row: u64);
    /// Ends a transaction.
    fn commit(&mut self);
    /// Says before the load that rows will be left out. A window is too short for the cache to write the pages that ordered keys fill
    /// in it: they have to be counted as written when they are added.
    fn expect_gaps(&mut self) {}
    /// Grows the trees by so many rows from `row` on, without counting what is written.
    fn grow(&mut self, row: u64, rows: u64);
    /// Begins a part of the load whose growth per row is used by [`Model::grow`].
    fn begin_window(&mut self);
    /// Ends it.
    fn end_window(&mut self);
    /// One of so many pages of a tree with random keys is simulated.
    fn sample(&self) -> u32;
    /// Leaf pages of the largest sampled tree.
    fn sampled_leaves(&self) -> u64;
    /// Drops half of the keys of each sampled tree.
    fn halve(&mut self);
    /// Writes what is still in the log or the cache.
    fn finish(&mut self);
    /// The counters so far.
    fn counters(&self) -> Counters;
    /// The size of each tree.
    fn sizes(&self) -> Vec<TreeSize>;
}

/// Size of a table or an index.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeSize {
    /// `table`, `key`, or the indexed column.
    pub name: String,
    /// Whether it is the table.
    pub is_table: bool,
    /// All its pages.
    pub pages: f64,
    /// Leaf pages.
    pub leaf_pages: f64,
    /// Levels from the root to the leaf pages.
    pub depth: u32,
    /// Bytes of all pages.
    pub bytes: f64,
    /// Children of an interior page. A heap has none.
    pub(crate) fanout: Option<f64>,
    /// Bytes by which the size changes where some leaf pages more or less make the engine allocate another extent.
    pub(crate) step_bytes: f64,
}

impl TreeSize {
    /// The size of a tree with these levels, the root's first. `sample` is the number of pages that each page stands for. `skipped`
    /// is the number of leaf pages that were not simulated, and `others` that of pages beside the tree.
    pub(crate) fn of(
        name: &str,
        is_table: bool,
        levels: &[u64],
        sample: f64,
        skipped: f64,
        others: f64,
        page_bytes: u32,
    ) -> Self {
        let leaves = levels.last().copied().unwrap_or(1) as f64;
        let all: u64 = levels.iter().sum();
        let leaf_pages = leaves * sample + skipped;
        let parents = levels.iter().rev().nth(1).copied().unwrap_or(1) as f64;
        let fanout = (leaves / parents).max(2.0);
        let (tree_pages, depth) = match sample > 1.0 || skipped > 0.0 {
            false => (all as f64, levels.len() as u32),
            true => pages_above(leaf_pages, fanout),
        };
        let pages = tree_pages + others;
        TreeSize {
            name: name.to_owned(),
            is_table,
            pages,
            leaf_pages,
            depth,
            bytes: pages * f64::from(page_bytes),
            fanout: Some(fanout),
            step_bytes: 0.0,
        }
    }

    /// The size of a tree with so many times the leaf pages.
    pub(crate) fn times(&self, factor: f64) -> Self {
        let leaf_pages = self.leaf_pages * factor;
        TreeSize {
            name: self.name.clone(),
            pages: self.pages * factor,
            leaf_pages,
            depth: (self.fanout).map_or(self.depth, |fanout| pages_above(leaf_pages, fanout).1),
            bytes: self.bytes * factor,
            ..*self
        }
    }
}

/// The pages and the levels of a tree with so many leaf pages, and so many children of an interior page.
fn pages_above(leaf_pages: f64, fanout: f64) -> (f64, u32) {
    let (mut pages, mut depth, mut level) = (leaf_pages, 1, leaf_pages);
    while level > 1.0 {
        level = (level / fanout).ceil();
        pages += level;
        depth += 1;
    }
    (pages, depth)
}
