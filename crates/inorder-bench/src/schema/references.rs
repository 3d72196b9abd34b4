//! Which foreign keys the rows of a draft can be made by, and why others are left out.

use super::catalog::Catalog;
use inorder_copy::model::{ForeignKey, Table};
use std::collections::BTreeMap;

/// A foreign key that a draft has not.
#[derive(Clone, Debug)]
pub struct LeftOut {
    /// Its table.
    pub table: String,
    /// Its name.
    pub key: String,
    /// The reason, in words that follow a colon.
    pub why: String,
}

impl LeftOut {
    /// One of a table, and why.
    pub fn new(table: &Table, key: &ForeignKey, why: String) -> Self {
        LeftOut {
            table: table.name.clone(),
            key: key.name.clone(),
            why,
        }
    }
}

/// The foreign keys of a catalog. Those that rows can be made by have one column, and refer to a unique column of another
/// table.
pub struct References<'a> {
    /// The catalog.
    pub catalog: &'a Catalog,
    /// Reasons by name, by table.
    left_out: BTreeMap<String, BTreeMap<String, String>>,
}

impl<'a> References<'a> {
    /// All that the catalog allows.
    pub fn of(catalog: &'a Catalog) -> Self {
        let mut references = References {
            catalog,
            left_out: BTreeMap::new(),
        };
        for table in &catalog.tables {
            for key in &table.foreign_keys {
                if let Some(why) = problem(catalog, table, key) {
                    references.leave_out(LeftOut::new(table, key, why));
                }
            }
        }
        references
    }

    /// Leaves out this one, too.
    pub fn leave_out(&mut self, found: LeftOut) {
        let of_table = self.left_out.entry(found.table).or_default();
        of_table.insert(found.key, found.why);
    }

    /// Those of a table that rows can be made by.
    pub fn of_table(&self, table: &'a Table) -> impl Iterator<Item = &'a ForeignKey> {
        let keys = table.foreign_keys.iter();
        keys.filter(|key| self.why_not(table, key).is_none())
    }

    /// The one that fills a column.
    pub fn at(&self, table: &'a Table, column: &str) -> Option<&'a ForeignKey> {
        self.of_table(table).find(|key| key.columns[0] == column)
    }

    /// Those of a table that are left out, in words, as far as `is_told` says so of the tables that they refer to.
    pub fn notes(&self, table: &Table, is_told: impl Fn(&str) -> bool) -> Vec<String> {
        let keys = table.foreign_keys.iter();
        let told = keys.filter(|key| is_told(&key.parent)).filter_map(|key| {
            let why = self.why_not(table, key)?;
            let (name, parent) = (&key.name, &key.parent);
            let (columns, referred) = (key.columns.join(", "), key.parent_columns.join(", "));
            Some(format!(
                "left out: the foreign key {name} of {} ({columns}) to {parent} ({referred}): {why}",
                table.name
            ))
        });
        told.collect()
    }

    fn why_not(&self, table: &Table, key: &ForeignKey) -> Option<&String> {
        self.left_out.get(&table.name)?.get(&key.name)
    }
}

/// Why no rows can be made by a foreign key, whatever tables are filled.
fn problem(catalog: &Catalog, table: &Table, key: &ForeignKey) -> Option<String> {
    let parent = &key.parent;
    if key.columns.len() != 1 {
        return Some("it has several columns".to_owned());
    }
    if *parent == table.name {
        return Some("it refers to its own table".to_owned());
    }
    let Some(referred) = catalog.table(parent) else {
        return Some(match catalog.left_out.contains_key(parent) {
            true => format!("table {parent} is left out"),
            false => format!("there is no table {parent}"),
        });
    };
    // SQLite's `REFERENCES parent` without a column is a reference to the primary key.
    let [column] = &key.parent_columns[..] else {
        return Some(format!("the primary key of {parent} is not one column"));
    };
    if !referred.columns.iter().any(|own| own.name == *column) {
        return Some(format!("{parent} has no column {column}"));
    }
    let mut indexes = referred.indexes.iter();
    let is_unique = referred.key == key.parent_columns
        || indexes.any(|index| index.is_unique && index.columns == key.parent_columns);
    if !is_unique {
        return Some(format!("{parent}.{column} is not unique"));
    }
    let values = catalog.values(parent, column);
    (!values.is_empty() && values.iter().all(Option::is_none))
        .then(|| format!("all values of {parent}.{column} are NULL"))
}
