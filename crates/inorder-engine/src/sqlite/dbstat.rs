//! Contents of pages from the `dbstat` virtual table: <https://www.sqlite.org/dbstat.html>.
//!
//! `dbstat` visits each B-tree in key order, a page before its children, and an overflow chain after the page with
//! its start.

use crate::Tree;
use rusqlite::{Connection, Row};

/// Query with one row per tree in one pass. `dbstat` returns its rows by name, so grouping needs no sort. Interior
/// pages of rowid tables hold only separator keys. Those of indexes and WITHOUT ROWID tables hold entries. The path
/// of a page has one slash per level above it. On an empty page of 64 KiB, where the beginning of the content is stored as 0,
/// `dbstat` reports 64 KiB too little unused.
const STRUCTURE: &str = "
    WITH walk AS MATERIALIZED (
        SELECT name, count(*) AS pages, sum(pagetype = 'leaf') AS leaves,
            sum(pagetype = 'internal') AS interiors, sum(pagetype = 'overflow') AS overflows,
            max(iif(pagetype = 'leaf', length(path) - length(replace(path, '/', '')), 0)) AS depth,
            sum(pgsize) AS size, sum(iif(unused < 0, unused + pgsize, unused)) AS unused,
            sum(payload) AS payload,
            sum(iif(pagetype = 'leaf', ncell, 0)) AS leaf_cells,
            sum(iif(pagetype = 'internal', ncell, 0)) AS interior_cells
        FROM dbstat GROUP BY name
    )
    SELECT walk.name, coalesce(tbl_name, walk.name) AS belongs_to,
        coalesce(entry.type = 'index', 0) AS is_index,
        pages, leaves, interiors, overflows, depth, size, unused, payload,
        leaf_cells + iif(coalesce(entry.type = 'index' OR wr, 0), interior_cells, 0) AS entries
    FROM walk
    LEFT JOIN sqlite_schema AS entry ON entry.name = walk.name
    LEFT JOIN pragma_table_list AS layout ON layout.name = walk.name AND layout.schema = 'main'
    ORDER BY walk.name";

/// The rows arrive in key order. Sorting by the path, which is a text, would not keep this order if a page has more
/// than 4096 children.
const LEAVES: &str =
    "SELECT pageno, 1.0 - 1.0 * unused / pgsize FROM dbstat WHERE name = ?1 AND pagetype = 'leaf'";

/// Returns every table and index of the main database, including the schema table.
pub fn structure(connection: &Connection) -> rusqlite::Result<Vec<Tree>> {
    connection
        .prepare(STRUCTURE)?
        .query_map((), tree)?
        .collect()
}

/// Returns page number and fill of the leaf pages of one tree, in key order.
pub fn leaves(connection: &Connection, tree: &str) -> rusqlite::Result<Vec<(u64, f32)>> {
    connection
        .prepare(LEAVES)?
        .query_map([tree], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

fn tree(row: &Row<'_>) -> rusqlite::Result<Tree> {
    let (leaf_pages, interior_pages): (u64, u64) = (row.get("leaves")?, row.get("interiors")?);
    let (size_bytes, unused_bytes): (u64, u64) = (row.get("size")?, row.get("unused")?);
    Ok(Tree {
        name: row.get("name")?,
        table: row.get("belongs_to")?,
        is_index: row.get("is_index")?,
        pages: row.get("pages")?,
        leaf_pages: Some(leaf_pages),
        interior_pages: Some(interior_pages),
        overflow_pages: Some(row.get("overflows")?),
        depth: Some(row.get("depth")?),
        // Every leaf and interior page but the root is a child of an interior page.
        fanout: (interior_pages > 0)
            .then(|| (leaf_pages + interior_pages - 1) as f64 / interior_pages as f64),
        fill: Some(1.0 - unused_bytes as f64 / size_bytes as f64),
        size_bytes,
        payload_bytes: Some(row.get("payload")?),
        entries: Some(row.get("entries")?),
    })
}
