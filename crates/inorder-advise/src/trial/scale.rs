//! From the pages of a sample to those of the original.

use crate::{
    read::{Database, Index},
    sample::SampledTable,
};
use inorder_engine::Tree;
use std::collections::HashMap;

/// How many times more rows the original's tables have than a sample. Without a sample each has as many.
#[derive(Debug, Clone, Default)]
pub struct Scale {
    by_table: HashMap<String, f64>,
}

impl Scale {
    /// The scale of a sample.
    pub fn new(tables: &[SampledTable]) -> Self {
        let times = |table: &SampledTable| match table.sampled_rows {
            0 => 1.0,
            sampled => (table.rows as f64 / sampled as f64).max(1.0),
        };
        Scale {
            by_table: tables
                .iter()
                .map(|table| (table.name.to_ascii_lowercase(), times(table)))
                .collect(),
        }
    }

    fn of(&self, table: &str) -> f64 {
        let times = self.by_table.get(&table.to_ascii_lowercase());
        times.copied().unwrap_or(1.0)
    }

    /// Pages of a table's B-tree in the original. A tree of one page may have little on it.
    pub(super) fn pages(&self, table: &str, tree: &Tree) -> u64 {
        let times = self.of(table);
        if times <= 1.0 {
            return tree.pages;
        }
        if tree.pages == 0 {
            return 0;
        }
        let overflow = tree.overflow_pages.unwrap_or(0) as f64 * times;
        let leaves = match tree.leaf_pages {
            Some(0 | 1) | None => tree.fill.unwrap_or(1.0),
            // The last leaf is half full, on average.
            Some(leaves) => leaves as f64 - 0.5,
        } * times;
        let interiors = match leaves > 1.0 {
            true => leaves / fanout(tree),
            false => 0.0,
        };
        ((leaves + interiors + overflow).round() as u64).max(1)
    }

    /// Pages of an index in the original.
    pub(super) fn index_pages(&self, table: &str, index: &Index) -> u64 {
        let tree = index.tree.as_ref();
        tree.map_or(0, |tree| self.pages(table, tree))
    }

    /// Makes the figures of a sample those of the original.
    pub fn apply(&self, database: &mut Database) {
        let page_bytes = u64::from(database.page_bytes);
        let mut pages = database.schema_tree.pages;
        for table in &mut database.tables {
            let times = self.of(&table.name);
            table.rows = (table.rows as f64 * times).round() as u64;
            let indexes = table.indexes.iter_mut().map(|index| &mut index.tree);
            for tree in indexes.chain([&mut table.tree]).flatten() {
                let scaled = |value: u64| (value as f64 * times).round() as u64;
                tree.pages = self.pages(&table.name, tree);
                tree.size_bytes = tree.pages * page_bytes;
                tree.payload_bytes = tree.payload_bytes.map(scaled);
                tree.entries = tree.entries.map(scaled);
                pages += tree.pages;
            }
        }
        if !self.by_table.is_empty() {
            database.pages = pages;
        }
    }

    /// Whether figures are estimates.
    pub fn is_estimate(&self) -> bool {
        !self.by_table.is_empty()
    }
}

/// Children of an interior page: those that the sample has, or as many as entries of the mean size allow.
fn fanout(tree: &Tree) -> f64 {
    if let Some(fanout) = tree.fanout.filter(|_| tree.interior_pages >= Some(2)) {
        return fanout;
    }
    let page_bytes = tree.size_bytes as f64 / tree.pages.max(1) as f64;
    let entry_bytes = match (tree.is_index, tree.payload_bytes, tree.entries) {
        (true, Some(payload), Some(entries)) if entries > 0 => payload as f64 / entries as f64,
        _ => ROWID_BYTES,
    };
    (page_bytes / (entry_bytes + CELL_BYTES)).max(2.0)
}

/// A rowid in an interior page.
const ROWID_BYTES: f64 = 3.0;
/// A child's number, the length of a record and the pointer to the cell.
const CELL_BYTES: f64 = 7.0;
