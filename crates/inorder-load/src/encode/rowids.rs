//! Rowids for rows without one.

use std::hash::{BuildHasher as _, RandomState};

use rusqlite::{Connection, OptionalExtension as _};

use crate::sql::quoted;

/// Numbers rows as SQLite numbers them when they are inserted in the order of the input.
///
/// Source: <https://www.sqlite.org/autoinc.html>.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rowids {
    /// The largest rowid of the table.
    pub(crate) largest: Option<i64>,
    /// The largest rowid ever, for AUTOINCREMENT.
    pub(crate) sequence: Option<i64>,
}

impl Rowids {
    /// Reads the largest rowids of a table with this rowid alias.
    pub(crate) fn of(
        database: &Connection,
        table: &str,
        column: &str,
        is_counted: bool,
    ) -> rusqlite::Result<Self> {
        let largest = format!("SELECT max({}) FROM main.{}", quoted(column), quoted(table));
        let largest = database.query_row(&largest, [], |row| row.get(0))?;
        let sequence = "SELECT CAST(seq AS INTEGER) FROM main.sqlite_sequence WHERE name = ?1";
        let sequence = match is_counted {
            true => {
                let found = database.query_row(sequence, [table], |row| row.get(0));
                Some(found.optional()?.flatten().unwrap_or(0))
            }
            false => None,
        };
        Ok(Rowids { largest, sequence })
    }

    /// Returns the rowid of the next row without one; `None` if none is left.
    pub(super) fn next(self) -> Option<i64> {
        match self.sequence {
            None => Some(match self.largest {
                None => 1,
                Some(i64::MAX) => random(),
                Some(largest) => largest + 1,
            }),
            Some(sequence) => sequence.max(self.largest.unwrap_or(0)).checked_add(1),
        }
    }

    /// Marks a rowid as used.
    pub(super) fn take(&mut self, rowid: i64) {
        self.largest = Some(self.largest.map_or(rowid, |largest| largest.max(rowid)));
        self.sequence = self.sequence.map(|sequence| sequence.max(rowid));
    }
}

/// A random positive rowid, as SQLite chooses one if the largest is used.
fn random() -> i64 {
    (RandomState::new().hash_one(()) >> 2) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_rowid_is_one_above_the_largest() {
        let mut rowids = Rowids {
            largest: None,
            sequence: None,
        };
        assert_eq!(rowids.next(), Some(1));
        rowids.take(-5);
        assert_eq!(rowids.next(), Some(-4));
        rowids.take(7);
        rowids.take(3);
        assert_eq!(rowids.next(), Some(8));
        rowids.take(i64::MAX);
        assert!(rowids.next().is_some_and(|rowid| rowid < i64::MAX));
    }

    #[test]
    fn with_autoincrement_no_rowid_comes_twice() {
        let mut rowids = Rowids {
            largest: None,
            sequence: Some(9),
        };
        assert_eq!(rowids.next(), Some(10));
        rowids.take(4);
        assert_eq!(rowids.next(), Some(10));
        rowids.take(20);
        assert_eq!(rowids.next(), Some(21));
        rowids.take(i64::MAX);
        assert_eq!(rowids.next(), None);
    }
}
