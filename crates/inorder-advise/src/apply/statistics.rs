//! Statistics of indexes: SQLite numbers the indexes of keys anew when one of them is gone, and finds their statistics by
//! name.

use std::fmt::Write;

use super::draft::Draft;
use super::schema::Schema;
use crate::ddl::{Catalog, Index, literal};

/// SQLite's tables of statistics.
pub(crate) const TABLES: [&str; 2] = ["sqlite_stat1", "sqlite_stat4"];

/// The statements that give the rows of a table of statistics the names that indexes of a changed table have afterwards, and
/// remove those of indexes that are gone. `statistics` is the quoted name of the table of statistics.
pub(crate) fn renamed(statistics: &str, from: &Catalog, to: &Catalog) -> Vec<String> {
    let (mut gone, mut cases) = (Vec::new(), String::new());
    for index in from.indexes.iter().filter(|index| index.origin != "c") {
        let terms = |index: &Index| -> Vec<_> {
            let keys = index.terms.iter().filter(|term| term.is_key);
            keys.map(|term| (term.column, term.is_descending, term.collation.clone()))
                .collect()
        };
        let mut others = to.indexes.iter().filter(|other| other.origin != "c");
        let name = name(from, index);
        match others.find(|other| terms(other) == terms(index)) {
            None => gone.push(literal(name)),
            Some(other) if self::name(to, other) != name => {
                let new = literal(self::name(to, other));
                _ = write!(cases, " WHEN {} THEN {new}", literal(name));
            }
            Some(_) => {}
        }
    }
    let table = literal(&from.name);
    let mut statements = Vec::new();
    if !gone.is_empty() {
        statements.push(format!(
            "DELETE FROM {statistics} WHERE tbl = {table} AND idx IN ({})",
            gone.join(", ")
        ));
    }
    if !cases.is_empty() {
        statements.push(format!(
            "UPDATE {statistics} SET idx = CASE idx{cases} ELSE idx END WHERE tbl = {table}"
        ));
    }
    statements
}

/// The name of an index in statistics: the key of a WITHOUT ROWID table has the name of the table.
fn name<'a>(catalog: &'a Catalog, index: &'a Index) -> &'a str {
    match catalog.is_without_rowid && index.origin == "pk" {
        true => &catalog.name,
        false => &index.name,
    }
}

impl Draft {
    /// The statements that make the statistics of the old schema, which were copied to the database `main`, those of the
    /// new one.
    pub(crate) fn statistics(&self) -> Vec<String> {
        let catalog = |schema: &Schema, table| schema.statements(table)?.catalog().ok();
        let mut statements = Vec::new();
        let is_there = |name: &&str| {
            let is_in = |schema: &Schema| schema.find("table", name).is_some();
            is_in(&self.old) && is_in(&self.new)
        };
        for statistics in TABLES.into_iter().filter(is_there) {
            let statistics = format!("main.{statistics}");
            for table in self.new.tables() {
                let old = self.old.find("table", &table.name);
                let Some(old) = old.filter(|old| old.sql != table.sql) else {
                    continue;
                };
                let from = catalog(&self.old, &old.name);
                if let Some((from, to)) = from.zip(catalog(&self.new, &table.name)) {
                    statements.extend(renamed(&statistics, &from, &to));
                }
            }
            let is_gone = |name: &str| self.new.find("index", name).is_none();
            let made = self
                .old
                .objects
                .iter()
                .filter(|own| own.kind == "index" && own.sql.is_some());
            for index in made.filter(|index| is_gone(&index.name)) {
                let (table, index) = (literal(&index.table), literal(&index.name));
                statements.push(format!(
                    "DELETE FROM {statistics} WHERE tbl = {table} AND idx = {index}"
                ));
            }
        }
        statements
    }

    /// The roots of the tables of statistics, where [`statistics`](Self::statistics) changes them in place.
    pub(super) fn written_statistics(&self) -> Vec<u32> {
        if self.statistics().is_empty() {
            return Vec::new();
        }
        let tables = TABLES.iter();
        let tables = tables.filter_map(|name| self.old.find("table", name));
        tables.map(|table| table.root).collect()
    }
}
