//! References of integers without a foreign key: the values of a column are in the key of another table, and its name or
//! the place of the numbers says that this is no chance.

use super::model::{Column, CountedColumn, Database, Table};
use crate::classify::Vocabulary;
use std::collections::{BTreeMap, HashSet};

/// The share of a column's values that must be in the key.
const SHARE_MIN: f64 = 0.9;
/// Fewer values tell nothing where the name says nothing.
const VALUES_MIN: usize = 16;
/// Smaller numbers are in every key, by chance.
const LARGE: i64 = 1 << 20;
/// Chance puts numbers of 32 bits into a range of so many with a probability of a tenth of a percent.
const RANGE_MAX: i64 = 1 << 22;

/// By the referring column, the keys.
pub(super) type Undeclared = BTreeMap<CountedColumn, Vec<CountedColumn>>;

/// A column with the values that were read.
struct Numbers<'d> {
    table: &'d Table,
    column: &'d Column,
    values: HashSet<i64>,
    /// Share of the table's rows that were read.
    coverage: f64,
}

/// Finds them. `is_integer` and `is_key` say which columns hold integers, and which alone are unique.
pub(super) fn find(
    database: &Database,
    is_integer: &dyn Fn(&Column) -> bool,
    is_key: &dyn Fn(&Table, &Column) -> bool,
) -> Undeclared {
    let mut all = Vec::new();
    for table in &database.tables {
        let integers = table.columns.iter().filter(|column| is_integer(column));
        all.extend(integers.filter_map(|column| Numbers::of(table, column)));
    }
    let vocabulary = Vocabulary::of(database.tables.iter().map(|table| &*table.name));
    let keys: Vec<&Numbers<'_>> = all
        .iter()
        .filter(|own| is_key(own.table, own.column))
        .collect();
    let mut found = Undeclared::new();
    for child in &all {
        let has_own = child.column.is_serial || child.column.counted_to.is_some();
        let counted = |own: &&crate::server::model::Sequence| own.columns.contains(&child.place());
        let is_declared = child
            .table
            .foreign_keys
            .iter()
            .any(|key| key.columns.contains(&child.column.name));
        if has_own || is_declared || database.sequences.iter().any(|own| counted(&own)) {
            continue;
        }
        let named = vocabulary.table_of(&child.table.name, &child.column.name);
        let is_parent = |key: &&&Numbers<'_>| {
            !std::ptr::eq(key.table, child.table)
                && child.is_in(key, named.as_deref() == Some(&*key.table.name))
        };
        let parents: Vec<CountedColumn> = keys
            .iter()
            .filter(is_parent)
            .map(|key| key.place())
            .collect();
        if !parents.is_empty() {
            found.insert(child.place(), parents);
        }
    }
    found
}

impl<'d> Numbers<'d> {
    fn of(table: &'d Table, column: &'d Column) -> Option<Self> {
        let sample = table.sample.as_ref()?;
        let at = sample.column(&column.name)?;
        let values = sample
            .rows
            .iter()
            .filter_map(|row| row.get(at)?.as_deref()?.parse().ok());
        let values: HashSet<i64> = values.collect();
        let coverage = match sample.is_whole {
            true => 1.0,
            false => (sample.rows.len() as f64 / table.rows.max(1) as f64).min(1.0),
        };
        (!values.is_empty()).then_some(Numbers {
            table,
            column,
            values,
            coverage,
        })
    }

    fn place(&self) -> CountedColumn {
        CountedColumn {
            schema: self.table.schema.clone(),
            table: self.table.name.clone(),
            column: self.column.name.clone(),
        }
    }

    /// Whether the values are those of a key.
    fn is_in(&self, key: &Numbers<'_>, is_named: bool) -> bool {
        let (Some(low), Some(high)) = (self.values.iter().min(), self.values.iter().max()) else {
            return false;
        };
        let range = (key.values.iter().min(), key.values.iter().max());
        let (Some(first), Some(last)) = range else {
            return false;
        };
        let shared = self.values.intersection(&key.values).count() as f64;
        let expected = self.values.len() as f64 * key.coverage;
        let is_most =
            shared >= SHARE_MIN * expected || key.coverage < 1.0 && is_near(shared, expected);
        if is_named {
            // Of a part of the key, few values tell nothing.
            return is_most && (shared > 0.0 || (*first <= *low && *high <= *last));
        }
        is_most
            && shared > 0.0
            && self.values.len() >= VALUES_MIN
            && *low >= LARGE
            && last.saturating_sub(*first) <= RANGE_MAX
    }
}

/// Whether a count of a sample is within three standard deviations of what is expected.
fn is_near(count: f64, expected: f64) -> bool {
    count >= SHARE_MIN * expected - 3.0 * expected.sqrt()
}
