//! Estimates of the space that holds no rows, from PostgreSQL's statistics.
//!
//! The estimate compares the size of a table or B-tree with the size that its rows need by their mean widths. It is as
//! good as the statistics are; nothing is scanned.

use crate::server::model::{Column, Index, Table};

/// Bytes of a page's header, `PageHeaderData`.
const PAGE_HEADER: f64 = 24.0;
/// Bytes at the end of a B-tree page, `BTPageOpaqueData`.
const BTREE_TAIL: f64 = 16.0;
/// Bytes of a line pointer.
const POINTER: f64 = 4.0;
/// Bytes of a row's header with its alignment, and of an index entry's.
const ROW_HEADER: f64 = 24.0;
const ENTRY_HEADER: f64 = 8.0;
/// The fill factor of a B-tree's leaf pages.
const LEAF_FILL: f64 = 90.0;
/// Share of pages above the leaves.
const INTERIOR: f64 = 1.01;
/// Smaller estimates are noise.
const SHARE_MIN: f64 = 0.1;

/// Bytes of a table that hold no rows, beyond those that its fill factor leaves free.
pub fn of_table(table: &Table, page_bytes: u32) -> Option<u64> {
    let mut width = ROW_HEADER;
    for column in &table.columns {
        width += mean_width(column)?;
    }
    let page = f64::from(page_bytes);
    let free = page * f64::from(100 - table.fill_percent.min(100)) / 100.0;
    let per_page = ((page - PAGE_HEADER - free) / (aligned(width) + POINTER))
        .floor()
        .max(1.0);
    let needed = (table.rows as f64 / per_page).ceil() * page;
    excess(table.bytes, needed)
}

/// Bytes of a B-tree that a rebuild would free. Equal keys share an entry, so only trees of different keys are estimated.
pub fn of_index(
    table: &Table,
    index: &Index,
    distinct: &[Option<f64>],
    page_bytes: u32,
) -> Option<u64> {
    if index.method != "btree" || index.predicate.is_some() || index.parent.is_some() {
        return None;
    }
    let mut width = 0.0;
    let mut is_distinct = index.is_unique;
    for name in index
        .columns()?
        .into_iter()
        .chain(index.include.iter().map(String::as_str))
    {
        let at = table
            .columns
            .iter()
            .position(|column| column.name == name)?;
        width += mean_width(&table.columns[at])?;
        is_distinct |= distinct
            .get(at)
            .copied()
            .flatten()
            .is_some_and(|value| value < -0.95);
    }
    if !is_distinct {
        return None;
    }
    let page = f64::from(page_bytes);
    let fill = index.fill_percent.map_or(LEAF_FILL, f64::from) / 100.0;
    let usable = (page - PAGE_HEADER - BTREE_TAIL) * fill;
    let per_page = (usable / (ENTRY_HEADER + aligned(width) + POINTER))
        .floor()
        .max(1.0);
    let needed = ((table.rows as f64 / per_page).ceil() * INTERIOR + 1.0) * page;
    excess(index.bytes, needed)
}

/// Mean bytes of a column in a row, with NULLs.
fn mean_width(column: &Column) -> Option<f64> {
    let width = f64::from(column.width_bytes?);
    Some(width * (1.0 - column.null_share.unwrap_or(0.0)))
}

fn aligned(bytes: f64) -> f64 {
    (bytes / 8.0).ceil() * 8.0
}

fn excess(bytes: u64, needed: f64) -> Option<u64> {
    let excess = bytes as f64 - needed;
    Some(if excess > SHARE_MIN * bytes as f64 {
        excess as u64
    } else {
        0
    })
}
