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
        let pages = match tree.pages {
            0 => return 0,
            1 => tree.fill.unwrap_or(1.0),
            pages => pages as f64,
        };
        ((pages * times).round() as u64).max(1)
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
