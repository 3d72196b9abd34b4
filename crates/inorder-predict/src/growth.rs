//! The leaf pages of a tree or a heap that are not simulated, at the growth that was seen in a window of simulated rows.

/// The growth of a tree or a heap.
#[derive(Clone, Debug, Default)]
pub struct Growth {
    /// Leaf pages that were not simulated.
    pub skipped_leaves: f64,
    /// Leaf pages at the begin of the last window, and rows since then.
    window_leaves: f64,
    window_rows: f64,
    /// Leaf pages per row in the last window.
    leaves_per_row: f64,
}

impl Growth {
    /// Counts a row.
    pub fn count_row(&mut self) {
        self.window_rows += 1.0;
    }

    /// Adds the leaf pages of so many rows, at the growth of the last window.
    pub fn skip(&mut self, rows: u64) {
        self.skipped_leaves += self.leaves_per_row * rows as f64;
    }

    /// Begins a window at so many simulated leaf pages.
    pub fn begin_window(&mut self, leaves: f64) {
        self.window_leaves = leaves;
        self.window_rows = 0.0;
    }

    /// Ends a window at so many simulated leaf pages.
    pub fn end_window(&mut self, leaves: f64) {
        if self.window_rows > 0.0 {
            self.leaves_per_row = (leaves - self.window_leaves) / self.window_rows;
        }
    }
}
