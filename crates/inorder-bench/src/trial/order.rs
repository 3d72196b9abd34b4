//! Counts inversions: neighbouring keys of which the second is smaller, in the order in which all writers together
//! generate keys, and in commit order.

use inorder_engine::{Batch, Column};
use std::ops::Range;

/// Counts inversions of a load.
pub struct Order {
    key_columns: Vec<usize>,
    made: Option<Stretch>,
    committed: Option<Stretch>,
}

/// A sequence of keys: its first and last key, and the inversions in it.
#[derive(Debug, PartialEq)]
pub struct Stretch {
    first: Vec<u8>,
    last: Vec<u8>,
    inversions: u64,
}

impl Order {
    /// Checks the keys in these columns; there are none if the engine assigns them.
    pub fn new(key_columns: &[usize]) -> Option<Self> {
        (!key_columns.is_empty()).then(|| Order {
            key_columns: key_columns.to_vec(),
            made: None,
            committed: None,
        })
    }

    /// The columns that it looks at.
    pub fn key_columns(&self) -> Vec<usize> {
        self.key_columns.clone()
    }

    /// Adds generated rows.
    pub fn made(&mut self, batch: &Batch) {
        let stretch = Stretch::of(batch, &self.key_columns, 0..batch.rows());
        append(&mut self.made, stretch);
    }

    /// Adds committed rows.
    pub fn committed(&mut self, stretch: Option<Stretch>) {
        append(&mut self.committed, stretch);
    }

    /// Inversions by part: made, committed.
    pub fn inversions(&self) -> [(&'static str, Option<u64>); 2] {
        let count = |stretch: &Option<Stretch>| stretch.as_ref().map(|s| s.inversions);
        [
            ("made", count(&self.made)),
            ("committed", count(&self.committed)),
        ]
    }
}

/// Appends a sequence of keys to another.
pub fn append(to: &mut Option<Stretch>, next: Option<Stretch>) {
    match (to.as_mut(), next) {
        (Some(stretch), Some(next)) => {
            stretch.inversions += next.inversions + u64::from(next.first < stretch.last);
            stretch.last = next.last;
        }
        (None, next) => *to = next,
        (Some(_), None) => {}
    }
}

impl Stretch {
    /// The keys of some rows; nothing of none.
    pub fn of(batch: &Batch, key_columns: &[usize], rows: Range<usize>) -> Option<Self> {
        let mut last = Vec::new();
        write_key(&mut last, batch, key_columns, rows.clone().next()?);
        let mut stretch = Stretch {
            first: last.clone(),
            last,
            inversions: 0,
        };
        let mut key = Vec::new();
        for row in rows.skip(1) {
            key.clear();
            write_key(&mut key, batch, key_columns, row);
            stretch.inversions += u64::from(key < stretch.last);
            std::mem::swap(&mut key, &mut stretch.last);
        }
        Some(stretch)
    }
}

/// A key as bytes that sort like it.
fn write_key(out: &mut Vec<u8>, batch: &Batch, key_columns: &[usize], row: usize) {
    for &column in key_columns {
        match &batch.columns[column] {
            // The sign goes before all else.
            Column::Integers(values) => {
                out.extend((values[row] as u64 ^ 1 << 63).to_be_bytes());
            }
            Column::Fixed {
                width_bytes, bytes, ..
            } => out.extend(&bytes[row * width_bytes..][..*width_bytes]),
            Column::Reals(_) | Column::Spans { .. } | Column::Any(_) => {
                unreachable!("no kind of key is stored so")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn integers(values: &[i64]) -> Batch {
        Batch {
            columns: vec![Column::Integers(values.to_vec())],
        }
    }

    #[test]
    fn a_smaller_neighbour_is_an_inversion_within_and_between_batches() {
        let mut order = Order::new(&[0]).unwrap();
        order.made(&integers(&[-5, 3, 2, 2, 7]));
        order.made(&integers(&[6, 8]));
        order.made(&integers(&[]));
        order.made(&integers(&[9]));
        assert_eq!(order.inversions(), [("made", Some(2)), ("committed", None)]);
    }

    #[test]
    fn commits_are_counted_in_their_own_order() {
        let mut order = Order::new(&[0]).unwrap();
        let batch = integers(&[1, 2, 3, 4]);
        for rows in [2..4, 0..2] {
            order.committed(Stretch::of(&batch, &order.key_columns(), rows));
        }
        assert_eq!(order.inversions()[1], ("committed", Some(1)));
    }

    #[test]
    fn keys_of_bytes_and_of_two_columns_sort_like_themselves() {
        let fixed = Column::Fixed {
            width_bytes: 2,
            bytes: vec![0, 200, 1, 0, 0, 255],
            is_text: false,
        };
        let batch = Batch {
            columns: vec![Column::Integers(vec![1, 1, 2]), fixed],
        };
        let inversions = |columns: &[usize]| Stretch::of(&batch, columns, 0..3).unwrap().inversions;
        assert_eq!(inversions(&[1]), 1);
        assert_eq!(inversions(&[0, 1]), 0);
    }
}
