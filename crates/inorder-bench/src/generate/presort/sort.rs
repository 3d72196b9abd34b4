//! The order of a batch's rows: prefixes first, then the rows whose prefixes are equal.

use inorder_btree::record::{of_bytes, of_real, sort_pairs};
use inorder_engine::Column;

use super::compare;

/// The prefix of a row's key and the row.
type Entry = (u64, u32);

/// Up to this many rows with equal prefixes are sorted by comparing them.
const COMPARED_ROWS_MAX: usize = 32;

/// Longer common beginnings than this are compared, not read in steps of 8 bytes.
const STEPPED_BYTES_MAX: usize = 64;

/// The rows in the order of the column's prefixes; `None` where they are in that order already.
pub(super) fn order_by_prefix(column: &Column) -> Option<Vec<u32>> {
    let mut entries = entries(column.len());
    load_prefixes(column, Part::Bytes(0), &mut entries);
    sort_pairs(&mut entries, |tied| match column {
        Column::Any(values) => tied.sort_unstable_by(|&(_, a), &(_, b)| {
            compare::values_by_prefix(&values[a as usize], &values[b as usize])
                .then_with(|| a.cmp(&b))
        }),
        _ => tied.sort_unstable(),
    });
    rows_of(&entries)
}

/// The rows in the order of their whole keys; `None` where they are in that order already.
pub(super) fn order_by_key(columns: &[&Column]) -> Option<Vec<u32>> {
    let mut entries = entries(columns[0].len());
    let sorter = Sorter {
        columns,
        ends: columns.iter().map(|column| end_bytes(column)).collect(),
    };
    sorter.sort(
        &mut entries,
        Step {
            column: 0,
            part: Part::Bytes(0),
        },
    );
    rows_of(&entries)
}

fn entries(rows: usize) -> Vec<Entry> {
    let rows = u32::try_from(rows).expect("a batch has fewer than 2^32 rows");
    (0..rows).map(|row| (0, row)).collect()
}

fn rows_of(entries: &[Entry]) -> Option<Vec<u32>> {
    if entries.is_sorted_by_key(|&(_, row)| row) {
        return None;
    }
    Some(entries.iter().map(|&(_, row)| row).collect())
}

/// The part of a column that a prefix is taken from.
#[derive(Clone, Copy)]
enum Part {
    /// 8 bytes from this offset on, or the whole number.
    Bytes(usize),
    /// The part beyond the bytes: the length of a span, the rest of a value of any kind.
    Rest,
}

#[derive(Clone, Copy)]
struct Step {
    column: usize,
    part: Part,
}

struct Sorter<'a> {
    columns: &'a [&'a Column],
    /// Bytes of each column's longest value, numbers 0.
    ends: Vec<usize>,
}

impl Sorter<'_> {
    /// Sorts rows that are equal in all that comes before `step`.
    fn sort(&self, entries: &mut [Entry], step: Step) {
        load_prefixes(self.columns[step.column], step.part, entries);
        let next = self.next(step);
        sort_pairs(entries, |tied| match next {
            None => tied.sort_unstable(),
            Some(next) if tied.len() <= COMPARED_ROWS_MAX || self.is_compared(next) => {
                self.sort_by_comparing(tied, next.column);
            }
            Some(next) => self.sort(tied, next),
        });
    }

    /// Returns the step that decides between rows that are equal up to and including `step`.
    fn next(&self, step: Step) -> Option<Step> {
        let column = step.column;
        let part = match (self.columns[column], step.part) {
            (Column::Any(_), Part::Bytes(_)) => Some(Part::Rest),
            (Column::Fixed { .. } | Column::Spans { .. }, Part::Bytes(offset))
                if offset + 8 < self.ends[column] =>
            {
                Some(Part::Bytes(offset + 8))
            }
            (Column::Spans { .. }, Part::Bytes(_)) => Some(Part::Rest),
            _ => None,
        };
        match part {
            Some(part) => Some(Step { column, part }),
            None if column + 1 < self.columns.len() => Some(Step {
                column: column + 1,
                part: Part::Bytes(0),
            }),
            None => None,
        }
    }

    /// Whether this step's column is better compared as a whole.
    fn is_compared(&self, step: Step) -> bool {
        match (self.columns[step.column], step.part) {
            (Column::Any(_), Part::Rest) => true,
            (_, Part::Bytes(offset)) => offset >= STEPPED_BYTES_MAX,
            _ => false,
        }
    }

    fn sort_by_comparing(&self, entries: &mut [Entry], from_column: usize) {
        let columns = &self.columns[from_column..];
        entries.sort_unstable_by(|&(_, a), &(_, b)| {
            columns
                .iter()
                .map(|column| compare::rows(column, a as usize, b as usize))
                .find(|order| order.is_ne())
                .unwrap_or_else(|| a.cmp(&b))
        });
    }
}

fn end_bytes(column: &Column) -> usize {
    match column {
        Column::Fixed { width_bytes, .. } => *width_bytes,
        Column::Spans { spans, .. } => {
            let longest = spans.iter().map(|&(_, length)| length).max();
            longest.unwrap_or(0) as usize
        }
        _ => 0,
    }
}

/// Sets the prefix of each entry from this part of its row.
fn load_prefixes(column: &Column, part: Part, entries: &mut [Entry]) {
    fn load(entries: &mut [Entry], prefix: impl Fn(usize) -> u64) {
        for (slot, row) in entries {
            *slot = prefix(*row as usize);
        }
    }
    match (column, part) {
        (Column::Integers(values), _) => load(entries, |i| compare::of_integer(values[i])),
        (Column::Reals(values), _) => load(entries, |i| of_real(values[i])),
        (Column::Any(values), _) => load(entries, |i| compare::of_value(&values[i])),
        (Column::Spans { spans, .. }, Part::Rest) => load(entries, |i| u64::from(spans[i].1)),
        (Column::Spans { pool, spans, .. }, Part::Bytes(offset)) => load(entries, |i| {
            of_bytes(rest(compare::span(pool, spans[i]), offset))
        }),
        (
            Column::Fixed {
                width_bytes: width,
                bytes,
                ..
            },
            Part::Bytes(offset),
        ) => load(entries, |i| {
            of_bytes(rest(&bytes[i * width..][..*width], offset))
        }),
        (Column::Fixed { .. }, Part::Rest) => load(entries, |_| 0),
    }
}

/// The bytes from an offset on, which may be past the last.
#[inline]
fn rest(bytes: &[u8], offset: usize) -> &[u8] {
    bytes.get(offset..).unwrap_or_default()
}
