//! Sorts the rows of a batch by their key before the batch is inserted.
//!
//! The sort moves pairs of the first 8 bytes of a key, as a number, and the row's place. It compares the rest of a
//! key only where the first 8 bytes are equal. The rows themselves move once, at the end.

mod compare;
mod permute;
mod sort;

use inorder_engine::{Batch, Column};

use permute::permute;

/// In which order the rows of a batch are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Presort {
    /// As they come.
    None,
    /// By the first 8 bytes of the first key column, read as an unsigned big-endian number (numbers:
    /// by their value); rows equal in that stay as they come.
    Prefix8,
    /// By the whole key as SQLite compares it, column after column; equal rows stay as they come.
    Key,
}

impl Presort {
    /// Every value.
    pub const ALL: &[Self] = &[Presort::None, Presort::Prefix8, Presort::Key];

    /// The name used in experiment files.
    pub const fn name(self) -> &'static str {
        match self {
            Presort::None => "none",
            Presort::Prefix8 => "prefix8",
            Presort::Key => "key",
        }
    }
}

/// Sorts the rows of `batch` by the columns `key_columns`.
///
/// The order is SQLite's: NULL, then numbers by value (NaN counts as NULL), then text and then blobs
/// byte by byte (collation BINARY). Nothing happens without a key column (the engine counts) or where
/// the rows are in order already.
///
/// Source: <https://www.sqlite.org/datatype3.html>, sections 4.1 and 7.
///
/// # Panics
/// If a key column is not in the batch, columns differ in length, or there are more than 2^32 rows.
pub fn presort(batch: &mut Batch, key_columns: &[usize], how: Presort) {
    let columns: Vec<&Column> = key_columns.iter().map(|&c| &batch.columns[c]).collect();
    let order = match (how, columns.first()) {
        (Presort::None, _) | (_, None) => None,
        (Presort::Prefix8, Some(first)) => sort::order_by_prefix(first),
        (Presort::Key, Some(_)) => sort::order_by_key(&columns),
    };
    if let Some(order) = order {
        for column in &mut batch.columns {
            assert_eq!(column.len(), order.len(), "columns differ in length");
            permute(column, &order);
        }
    }
}

#[cfg(test)]
mod tests;
