//! The shape of B-trees from their interior pages: one page of some hundred is read
//! (<https://www.sqlite.org/fileformat2.html#b_tree_pages>).
//!
//! The main file is read as it is. A WAL may hold newer pages, and another process may write: figures are estimates, and
//! what makes no sense ends the walk.

use inorder_btree::record::varint;
use inorder_load::files::{Access, open_for_good};
use std::{fs::File, os::unix::fs::FileExt as _, path::Path, sync::Arc};

/// SQLite's own limit of how deep a tree is (`BTCURSOR_MAX_DEPTH`).
const DEPTH_MAX: usize = 20;
/// Bounds of leaves that are kept, at equal distances.
const BOUNDS_MAX: usize = 1 << 14;
/// Bytes of a bound; a longer key is no bound.
const BOUND_BYTES_MAX: usize = 4096;

/// Where a leaf ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Bound {
    /// The largest rowid on it.
    Rowid(i64),
    /// The entry behind it, a record.
    Record(Vec<u8>),
}

/// A leaf: what lies before it and where it ends. `None` is the beginning or the end of the tree.
#[derive(Debug, Clone)]
pub(super) struct Leaf {
    pub(super) after: Option<Bound>,
    pub(super) until: Option<Bound>,
}

/// A B-tree as its interior pages show it.
#[derive(Debug, Default)]
pub(super) struct Shape {
    /// Leaf and interior pages.
    pub(super) pages: u64,
    /// Leaf pages.
    pub(super) leaves: u64,
    /// Every n-th leaf.
    pub(super) kept: Vec<Leaf>,
    stride: u64,
    keeps_bounds: bool,
    last: Option<Bound>,
}

/// Pages of a file.
pub(super) struct Pages {
    file: Arc<File>,
    page_bytes: usize,
    usable: usize,
    count: u64,
}

impl Pages {
    /// Opens a file. `None` where its header isn't SQLite's.
    pub(super) fn open(path: &Path) -> Option<Self> {
        let file = open_for_good(path, Access::Read).ok()?;
        let mut header = [0; 100];
        file.read_exact_at(&mut header, 0).ok()?;
        let page_bytes = match u16::from_be_bytes([header[16], header[17]]) {
            1 => 65536,
            bytes => usize::from(bytes),
        };
        let usable = page_bytes.checked_sub(usize::from(header[20]))?;
        if !page_bytes.is_power_of_two() || usable < 480 {
            return None;
        }
        let count = file.metadata().ok()?.len() / page_bytes as u64;
        Some(Pages {
            file,
            page_bytes,
            usable,
            count,
        })
    }

    /// Walks the tree at a root page; where leaves begin is kept if asked for. `None` where its pages make no sense.
    pub(super) fn shape(&self, root: u32, keeps_bounds: bool) -> Option<Shape> {
        let mut shape = Shape {
            stride: 1,
            keeps_bounds,
            ..Shape::default()
        };
        let mut depth = 0;
        let mut number = root;
        loop {
            let page = self.page(number)?;
            let Some(interior) = Interior::new(&page, number) else {
                break;
            };
            number = interior.children(self, false).next()?.0;
            depth += 1;
            if depth > DEPTH_MAX {
                return None;
            }
        }
        let mut left = self.count;
        match depth {
            0 => {
                shape.pages = 1;
                shape.leaf(None);
            }
            _ => {
                self.walk(root, depth, &mut left, &mut shape)?;
                shape.leaf(None);
            }
        }
        Some(shape)
    }

    /// Adds the pages below an interior page, which is `depth` levels above the leaves, but for the very last leaf.
    fn walk(&self, number: u32, depth: usize, left: &mut u64, shape: &mut Shape) -> Option<()> {
        *left = left.checked_sub(1)?;
        let page = self.page(number)?;
        let interior = Interior::new(&page, number)?;
        shape.pages += 1;
        let mut seen = 0;
        for (child, bound) in interior.children(self, shape.keeps_bounds) {
            seen += 1;
            if depth > 1 {
                self.walk(child, depth - 1, left, shape)?;
                // The last leaf below ends where this entry does.
                if let Some(bound) = bound {
                    shape.leaf(Some(bound));
                }
                continue;
            }
            *left = left.checked_sub(1)?;
            shape.pages += 1;
            if let Some(bound) = bound {
                shape.leaf(Some(bound));
            }
        }
        (seen == interior.count + 1).then_some(())
    }

    fn page(&self, number: u32) -> Option<Vec<u8>> {
        let at = u64::from(number).checked_sub(1)?;
        let mut page = vec![0; self.page_bytes];
        self.file
            .read_exact_at(&mut page, at * self.page_bytes as u64)
            .ok()?;
        Some(page)
    }

    /// The record of a cell of an interior index page, which may go on in overflow pages.
    fn record(&self, cell: &[u8]) -> Option<Vec<u8>> {
        let (bytes, from) = varint::read(cell)?;
        let bytes = usize::try_from(bytes)
            .ok()
            .filter(|&bytes| bytes <= BOUND_BYTES_MAX)?;
        let rest = cell.get(from..)?;
        let most = (self.usable - 12) * 64 / 255 - 23;
        let least = (self.usable - 12) * 32 / 255 - 23;
        if bytes <= most {
            return Some(rest.get(..bytes)?.to_vec());
        }
        let local = least + (bytes - least) % (self.usable - 4);
        let local = if local <= most { local } else { least };
        let mut record = rest.get(..local)?.to_vec();
        let mut next = u32::from_be_bytes(*rest.get(local..)?.first_chunk()?);
        while record.len() < bytes {
            let page = self.page(next)?;
            let part = (self.usable - 4).min(bytes - record.len());
            record.extend_from_slice(page.get(4..4 + part)?);
            next = u32::from_be_bytes(*page.first_chunk()?);
        }
        Some(record)
    }
}

impl Shape {
    /// Adds the leaf that ends at `until`.
    fn leaf(&mut self, until: Option<Bound>) {
        let after = std::mem::replace(&mut self.last, until.clone());
        if self.keeps_bounds && self.leaves.is_multiple_of(self.stride) {
            self.kept.push(Leaf { after, until });
            if self.kept.len() > BOUNDS_MAX {
                self.stride *= 2;
                let mut at = 0;
                self.kept.retain(|_| {
                    at += 1;
                    at % 2 == 1
                });
            }
        }
        self.leaves += 1;
    }
}

/// An interior page.
struct Interior<'p> {
    page: &'p [u8],
    start: usize,
    is_table: bool,
    count: usize,
}

impl<'p> Interior<'p> {
    /// `None` for other pages.
    fn new(page: &'p [u8], number: u32) -> Option<Self> {
        let start = if number == 1 { 100 } else { 0 };
        let kind = page.get(start)?;
        let count = u16::from_be_bytes([*page.get(start + 3)?, *page.get(start + 4)?]);
        matches!(kind, 2 | 5).then_some(Interior {
            page,
            start,
            is_table: *kind == 5,
            count: usize::from(count),
        })
    }

    /// The children, each with where it ends; the last one has no end of its own. What makes no sense ends the list.
    fn children<'a>(
        &'a self,
        pages: &'a Pages,
        keeps_bounds: bool,
    ) -> impl Iterator<Item = (u32, Option<Bound>)> + 'a {
        let child = move |at: usize| -> Option<(u32, Option<Bound>)> {
            let number = |at: usize| self.page.get(at..)?.first_chunk().copied();
            if at == self.count {
                return Some((u32::from_be_bytes(number(self.start + 8)?), None));
            }
            let pointer = self.page.get(self.start + 12 + 2 * at..)?.first_chunk()?;
            let cell = usize::from(u16::from_be_bytes(*pointer));
            let rest = self.page.get(cell + 4..)?;
            let bound = match self.is_table {
                _ if !keeps_bounds => Bound::Record(Vec::new()),
                true => Bound::Rowid(varint::read(rest)?.0 as i64),
                false => pages
                    .record(rest)
                    .map_or(Bound::Record(Vec::new()), Bound::Record),
            };
            Some((u32::from_be_bytes(number(cell)?), Some(bound)))
        };
        (0..=self.count).map_while(child)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inorder_engine::sqlite::structure;
    use rusqlite::Connection;

    /// Interior and leaf pages of trees are those that SQLite counts, and the leaves together hold every row.
    #[test]
    fn shapes_are_those_that_sqlite_counts() {
        for page_bytes in [512, 4096, 65536] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a");
            let connection = Connection::open(&path).unwrap();
            connection
                .execute_batch(&format!(
                    "PRAGMA page_size = {page_bytes};
                     CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b BLOB); CREATE INDEX ta ON t(a, id);
                     CREATE TABLE k(a TEXT, b INT, c, PRIMARY KEY(a, b)) WITHOUT ROWID; CREATE TABLE e(x);
                     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
                     INSERT INTO t SELECT i * 3, hex(randomblob(i % 40)), randomblob(i % 90) FROM n;
                     INSERT INTO k SELECT hex(randomblob(6 + id % 5 * 60)), id, 'x' FROM t;"
                ))
                .unwrap();
            let pages = Pages::open(&path).unwrap();
            for tree in structure(&connection).unwrap() {
                let root: u32 = connection
                    .query_row(
                        "SELECT coalesce(max(rootpage), 1) FROM sqlite_schema WHERE name = ?1",
                        [&tree.name],
                        |row| row.get(0),
                    )
                    .unwrap();
                let shape = pages.shape(root, tree.name == "t").unwrap();
                let wanted = (tree.leaf_pages, tree.interior_pages);
                let interior = shape.pages - shape.leaves;
                assert_eq!(
                    (Some(shape.leaves), Some(interior)),
                    wanted,
                    "{}",
                    tree.name
                );
                if tree.name == "t" {
                    let mut rows = 0;
                    for leaf in &shape.kept {
                        let rowid = |bound: &Option<Bound>, other| match bound {
                            Some(Bound::Rowid(rowid)) => *rowid,
                            _ => other,
                        };
                        let (after, until) = (rowid(&leaf.after, 0), rowid(&leaf.until, i64::MAX));
                        let sql = "SELECT count(*) FROM t WHERE id > ?1 AND id <= ?2";
                        rows += connection
                            .query_row(sql, [after, until], |row| row.get::<_, u64>(0))
                            .unwrap();
                    }
                    assert_eq!(rows, 20000);
                }
            }
        }
    }

    #[test]
    fn pages_of_nonsense_end_the_walk() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let connection = Connection::open(&path).unwrap();
        connection
            .execute_batch("CREATE TABLE t(a); INSERT INTO t VALUES (randomblob(99999))")
            .unwrap();
        drop(connection);
        let mut bytes = std::fs::read(&path).unwrap();
        // A root that is its own child.
        bytes[4096] = 5;
        bytes[4096 + 8..4096 + 12].copy_from_slice(&2u32.to_be_bytes());
        std::fs::write(&path, bytes).unwrap();
        assert!(Pages::open(&path).unwrap().shape(2, true).is_none());
        assert!(Pages::open(&path).unwrap().shape(99, true).is_none());
    }
}
