//! Sorts the rows of a tree: where they are, if the file is mapped and they fit into the memory, otherwise as copies.

use std::sync::Arc;

use inorder_btree::{KeyOrder, Mapped};
use inorder_load::order::{self, PLACE_BYTES, PlaceSorter, SortLimits, SortedPlaces, Sorter};

use super::Failure;
use super::join::Keys;

/// Rows that are sorted.
pub(super) struct Sorting {
    order: KeyOrder,
    limits: SortLimits,
    rows: Rows,
}

enum Rows {
    Placed(Placed),
    Copied(Sorter),
}

/// Rows in a file that is mapped.
struct Placed {
    map: Arc<Mapped>,
    sorter: PlaceSorter<Arc<Mapped>>,
    rows: usize,
    /// Bytes of the rows. They are read in another order than that of the file.
    bytes: usize,
    /// The keys that an index needs, unless they take too much memory.
    keys: Option<Keys>,
}

/// A row as it was.
#[derive(Clone, Copy)]
pub(super) struct Old<'a> {
    pub(super) rowid: i64,
    pub(super) record: &'a [u8],
}

impl Placed {
    /// Adds a row; false where it isn't in the file as it is, or takes too much memory: the file's pages with the rows
    /// take `memory_bytes` at most, and so do the places and the keys.
    #[inline]
    fn push(&mut self, row: &[u8], old: Old<'_>, memory_bytes: usize) -> bool {
        self.rows += 1;
        self.bytes += row.len();
        let has_room = self.bytes.max(2 * self.rows * PLACE_BYTES) <= memory_bytes;
        let Some(place) = self.map.place(row).filter(|_| has_room) else {
            return false;
        };
        self.sorter.push(row, place);
        if let Some(keys) = &mut self.keys
            && !keys.add(old.rowid, old.record)
        {
            self.keys = None;
        }
        true
    }
}

impl Sorting {
    /// Sorts rows of a file that is mapped here, or others. Where no row is copied, `keys` has their keys in the end.
    pub(super) fn new(
        order: KeyOrder,
        limits: SortLimits,
        map: Option<Arc<Mapped>>,
        keys: Option<Keys>,
    ) -> Self {
        let rows = match map {
            Some(map) => Rows::Placed(Placed {
                sorter: PlaceSorter::new(order.clone(), Arc::clone(&map)),
                map,
                rows: 0,
                bytes: 0,
                keys,
            }),
            None => Rows::Copied(Sorter::new(Some(order.clone()), limits.clone())),
        };
        Sorting {
            order,
            limits,
            rows,
        }
    }

    /// Adds a row.
    #[inline]
    pub(super) fn push(&mut self, row: &[u8], old: Old<'_>) -> Result<(), Failure> {
        match &mut self.rows {
            Rows::Copied(sorter) => Ok(sorter.push(row, 0)?),
            Rows::Placed(placed) => match placed.push(row, old, self.limits.memory_bytes) {
                true => Ok(()),
                false => self.copy(row),
            },
        }
    }

    /// Copies the rows so far and this one, as those to come will be.
    #[cold]
    fn copy(&mut self, row: &[u8]) -> Result<(), Failure> {
        let mut sorter = Sorter::new(Some(self.order.clone()), self.limits.clone());
        if let Rows::Placed(placed) = &self.rows {
            for before in placed.sorter.unsorted() {
                sorter.push(before, 0)?;
            }
        }
        sorter.push(row, 0)?;
        self.rows = Rows::Copied(sorter);
        Ok(())
    }

    /// The rows in order, and their keys.
    pub(super) fn finish(self) -> Result<(Sorted, Option<Keys>), Failure> {
        Ok(match self.rows {
            Rows::Placed(placed) => (Sorted::Placed(placed.sorter.finish()), placed.keys),
            Rows::Copied(sorter) => (Sorted::Copied(sorter.finish()?), None),
        })
    }
}

/// Rows in the order of their keys.
pub(super) enum Sorted {
    Placed(SortedPlaces<Arc<Mapped>>),
    Copied(order::Sorted),
}

impl Sorted {
    /// The next row.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<&[u8]>, Failure> {
        match self {
            Sorted::Placed(sorted) => Ok(sorted.next()),
            Sorted::Copied(sorted) => Ok(sorted.next()?.map(|(row, _)| row)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use inorder_btree::record::KeyColumn;
    use inorder_btree::{Reader, TextEncoding};
    use rusqlite::Connection;

    use super::*;
    use crate::apply::pages::recipe::{Joined, Recipe};
    use crate::apply::pages::shape::Source;

    const ROWS: i64 = 3000;

    /// Sorts the rows of a table, and says whether their keys were read with them.
    fn sorted(reader: &mut Reader, root: u32, memory_bytes: usize) -> (Vec<Vec<u8>>, bool) {
        let order = KeyOrder::new(vec![KeyColumn::ascending(0)], TextEncoding::Utf8);
        let limits = SortLimits {
            memory_bytes,
            spill_folder: std::env::temp_dir(),
            threads: 1,
        };
        let table = Source {
            root,
            is_table: true,
        };
        let joined = Joined {
            index: table,
            terms: 1,
            table,
            keys: vec![0],
            order: order.clone(),
            unique_columns: None,
            sorted: Recipe::Copy(table),
        };
        let map = reader.map().cloned();
        let keys = map
            .as_ref()
            .map(|map| Keys::in_rows(&joined, map, memory_bytes / 2));
        let mut sorting = Sorting::new(order, limits, map, keys);
        let mut rows = Vec::new();
        let read = reader.table(root, |rowid, record| {
            sorting.push(record, Old { rowid, record })
        });
        read.expect("read");
        let (mut sorted, keys) = sorting.finish().expect("sorted");
        while let Some(row) = sorted.next().expect("read") {
            rows.push(row.to_vec());
        }
        (rows, keys.is_some())
    }

    #[test]
    fn rows_are_the_same_wherever_they_are_sorted() {
        let folder = tempfile::tempdir().expect("a folder");
        for long_rows in [0, ROWS / 2] {
            let path = folder.path().join(format!("{long_rows}.db"));
            let connection = Connection::open(&path).expect("a database");
            // The row in the middle goes on in overflow pages, so the rows are copied from there on.
            let made = format!(
                "CREATE TABLE t(k, v); WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < {ROWS})
                INSERT INTO t SELECT n * 7919 % {ROWS}, CASE n WHEN {long_rows} THEN zeroblob(9000) ELSE 'value ' || n END FROM c"
            );
            connection.execute_batch(&made).expect("made");
            let root = "SELECT rootpage FROM sqlite_schema";
            let root: u32 = connection.query_row(root, [], |row| row.get(0)).expect("t");
            let open = || File::open(&path).expect("opened");
            let mut unmapped = Reader::new(open()).expect("a header");
            let mut mapped = Reader::mapped(open()).expect("a header");
            assert!(mapped.map().is_some());
            let (expected, has_keys) = sorted(&mut unmapped, root, 1 << 22);
            assert_eq!((expected.len() as i64, has_keys), (ROWS, false));
            for memory_bytes in [1 << 22, 1 << 17, 1 << 15, 0] {
                let (rows, has_keys) = sorted(&mut mapped, root, memory_bytes);
                assert!(rows == expected, "{memory_bytes} bytes");
                let has_room = memory_bytes >= 1 << 17;
                assert_eq!(has_keys, has_room && long_rows == 0, "{memory_bytes} bytes");
            }
        }
    }
}
