//! Predictions for MariaDB with InnoDB.
//!
//! The private server rebuilds the sample with `ALTER TABLE … FORCE, ALGORITHM=INPLACE`, which sorts and fills pages as for
//! a whole table: the clustered index to 15/16, secondary indexes by `innodb_fill_factor`. Entries per page are read from
//! `information_schema.INNODB_BUFFER_PAGE` (<https://mariadb.com/kb/en/information-schema-innodb_buffer_page-table/>), and
//! [`super::innodb`] computes the pages of the whole. InnoDB keeps an entry per row, so repeated keys need no estimate. Sizes
//! are allocated pages, as the server reports them. The table is the clustered index with the pages of long values.
//!
//! The log figure is the difference of `Innodb_lsn_current` over single-row INSERTs, each its own transaction. They follow four
//! fifths of the sample, which were inserted in the same order with all indexes. Page writes are a figure of their own
//! ([`super::touched`]), without the doublewrite buffer.

use super::{
    Inserted, Job, Predictor, Sizes, failed,
    innodb::{Density, Page},
    rows::{Row, Rows},
    touched::Arrivals,
};
use crate::{
    Error,
    server::model::{ChangeSet, Database, Index, Product, Table, Term},
};
use std::collections::{BTreeMap, BTreeSet};

/// A statement takes at most this long.
const STATEMENT_S: u32 = 30;
/// The SQL mode: texts stand between single quotes without escapes, and are stored as they are.
const MODE: &str = "NO_BACKSLASH_ESCAPES,NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES";
/// Bytes of a page that entries don't use: headers, the two system records, trailer, and two slots of the directory.
const PAGE_BYTES_LOST: u64 = 132;
/// Longer values are off the page in every row format, and leave a pointer of so many bytes.
const OFF_PAGE_BYTES: usize = 8_000;
const POINTER_BYTES: usize = 20;
/// The clustered index of a table without a key that it could be.
const CLUSTERED: &str = "GEN_CLUST_INDEX";

impl Predictor {
    pub(super) fn prepare_mariadb(&self, database: &Database) -> Result<(), Error> {
        self.run(&format!("SET SESSION max_statement_time = {STATEMENT_S}"))?;
        self.run("SET NAMES utf8mb4")?;
        self.run("SET SESSION foreign_key_checks = 0")?;
        if let Some(percent) = database.setting("innodb_fill_factor") {
            self.run(&format!("SET GLOBAL innodb_fill_factor = {percent}"))?;
        }
        Ok(())
    }

    pub(super) fn sizes_in_mariadb(
        &self,
        job: &Job<'_>,
        rows: &Rows<'_>,
        set: &ChangeSet,
        notes: &mut Vec<String>,
    ) -> Result<Sizes, Error> {
        self.create_in_mariadb("sample", job.table, rows, set, notes)?;
        self.fill_mariadb("sample", rows, &rows.rows)?;
        self.run("ALTER TABLE sample FORCE, ALGORITHM=INPLACE")?;
        let (trees, blobs) = self.pages()?;
        let page_bytes = u64::from(self.page_bytes);
        let sampled = rows.rows.len() as u64;
        let others = blobs as f64 / sampled as f64 * job.all_rows;
        let clustered = job.table.clustered().map_or(CLUSTERED, |key| &key.name);
        let bytes = |name: &str, others: f64, error_bytes: f64| -> Option<f64> {
            let pages = trees.get(name)?;
            let room = page_bytes - PAGE_BYTES_LOST;
            let room = match name == clustered {
                true => room - page_bytes / 16,
                false => room,
            };
            let density = Density::of(pages, sampled, room as f64, error_bytes)?;
            Some((density.allocated(job.all_rows, others, page_bytes) * page_bytes) as f64)
        };
        let all: Vec<Part> = (0..rows.columns.len()).map(|at| (at, None)).collect();
        let error = error_bytes(rows, &all, job.all_rows);
        let table = bytes(clustered, others, error);
        let table = table.ok_or_else(|| failed("the pages of the sample are not in memory"))?;
        let index_bytes = |index: &Index| match set.dropped_indexes.contains(&index.name) {
            true => Some(0.0),
            // The clustered index is the table.
            false if index.is_clustered => None,
            false => {
                let parts = entry_parts(index, job.table.clustered(), rows);
                bytes(&index.name, 0.0, error_bytes(rows, &parts, job.all_rows))
            }
        };
        let sizes = Sizes {
            table,
            indexes: job.table.indexes.iter().map(index_bytes).collect(),
        };
        self.run("DROP TABLE sample")?;
        Ok(sizes)
    }

    /// Pages of the sample's indexes by name, and pages of long values.
    fn pages(&self) -> Result<(BTreeMap<String, Vec<Page>>, u64), Error> {
        let rows = self.select(
            "SELECT page_type, index_name, page_number, number_records, data_size
             FROM information_schema.innodb_buffer_page
             WHERE space = (SELECT space FROM information_schema.innodb_sys_tablespaces
                 WHERE name = concat(database(), '/sample')) AND page_type IN ('INDEX', 'BLOB')",
        )?;
        let mut trees = BTreeMap::<String, Vec<Page>>::new();
        let mut blobs = 0;
        for row in rows {
            let number = |at: usize| -> u64 {
                let value = row.get(at).and_then(Option::as_ref);
                value.and_then(|value| value.parse().ok()).unwrap_or(0)
            };
            match row.first().and_then(Option::as_deref) {
                Some("BLOB") => blobs += 1,
                _ => {
                    let name = row.get(1).cloned().flatten().unwrap_or_default();
                    trees.entry(name).or_default().push(Page {
                        number: number(2),
                        entries: number(3),
                        bytes: number(4),
                    });
                }
            }
        }
        Ok((trees, blobs))
    }

    /// Creates a table with the indexes. One that the server refuses is left out with a note.
    fn create_in_mariadb(
        &self,
        name: &str,
        table: &Table,
        rows: &Rows<'_>,
        set: &ChangeSet,
        notes: &mut Vec<String>,
    ) -> Result<(), Error> {
        let mut parts: Vec<String> = Vec::new();
        for column in &rows.columns {
            let own = column.column;
            let mut part = format!("{} ", quoted(&own.name));
            match &column.changed {
                Some(changed) => part.push_str(changed),
                None => {
                    part.push_str(&own.type_name);
                    if let Some(set) = &own.character_set {
                        part.push_str(&format!(" CHARACTER SET {set}"));
                    }
                    if let Some(collation) = &own.collation {
                        part.push_str(&format!(" COLLATE {collation}"));
                    }
                    if own.generated.is_some() {
                        notes.push(format!(
                            "{} is generated: its values count as stored ones.",
                            own.name
                        ));
                    }
                }
            }
            part.push_str(if own.is_not_null {
                " NOT NULL"
            } else {
                " NULL"
            });
            parts.push(part);
        }
        if let Some(primary) = table.primary() {
            parts.push(format!("PRIMARY KEY ({})", terms(primary, rows)));
        }
        let format = match table.row_format.as_str() {
            "" => String::new(),
            format => format!(" ROW_FORMAT={format}"),
        };
        self.run(&format!("DROP TABLE IF EXISTS {name}"))?;
        self.run(&format!(
            "CREATE TABLE {name} ({}) ENGINE=InnoDB{format}",
            parts.join(", ")
        ))?;
        for index in table.indexes.iter().filter(|index| !index.is_primary) {
            if set.dropped_indexes.contains(&index.name) {
                continue;
            }
            let unique = if index.is_unique { "UNIQUE " } else { "" };
            let made = match index.method.as_str() {
                "btree" => self.run(&format!(
                    "CREATE {unique}INDEX {} ON {name} ({})",
                    quoted(&index.name),
                    terms(index, rows)
                )),
                other => Err(failed(format!("a {other} index can't be scaled"))),
            };
            if let Err(error) = made {
                notes.push(format!("{} is not predicted: {error}", index.name));
            }
        }
        Ok(())
    }

    fn fill_mariadb(&self, name: &str, rows: &Rows<'_>, values: &[Row]) -> Result<(), Error> {
        // A changed value must fit its type. What the user's server stores may break the strict mode's rules.
        let is_changed = rows.columns.iter().any(|column| column.changed.is_some());
        let strict = if is_changed { ",STRICT_ALL_TABLES" } else { "" };
        self.run(&format!("SET SESSION sql_mode = '{MODE}{strict}'"))?;
        let names: Vec<String> = rows
            .columns
            .iter()
            .map(|column| quoted(&column.column.name))
            .collect();
        let into = format!("{name} ({})", names.join(", "));
        self.run_all(rows.inserts(&into, values, Product::Mariadb))
    }

    pub(super) fn log_in_mariadb(
        &self,
        job: &Job<'_>,
        rows: &Rows<'_>,
        set: &ChangeSet,
    ) -> Result<Option<Inserted>, Error> {
        let (stored, arriving) = rows.divided(job.is_in_order);
        if arriving.is_empty() {
            return Ok(None);
        }
        self.create_in_mariadb("stored", job.table, rows, set, &mut Vec::new())?;
        self.fill_mariadb("stored", rows, &stored)?;
        let own = Table {
            indexes: Vec::new(),
            ..job.table.clone()
        };
        self.create_in_mariadb("arriving", &own, rows, set, &mut Vec::new())?;
        self.run(
            "ALTER TABLE arriving ADD COLUMN `inorder row` INT NOT NULL AUTO_INCREMENT PRIMARY KEY",
        )?;
        self.fill_mariadb("arriving", rows, &arriving)?;
        let names: Vec<String> = rows
            .columns
            .iter()
            .map(|column| quoted(&column.column.name))
            .collect();
        let names = names.join(", ");
        let columns = |index: &Index| -> Vec<String> {
            let columns = index.terms.iter().filter_map(|term| term.column.as_deref());
            columns.map(quoted).collect()
        };
        // An entry of a secondary index ends with the primary key.
        let primary = job.table.clustered().map(columns).unwrap_or_default();
        let table = match primary.is_empty() {
            true => Arrivals::at_the_end(),
            false => self.arrivals(&primary, "true", &names)?,
        };
        let mut indexes = Vec::new();
        for index in &job.table.indexes {
            let is_ordered = index.method == "btree"
                && !index.is_clustered
                && !set.dropped_indexes.contains(&index.name);
            let keys: Vec<String> = columns(index).into_iter().chain(primary.clone()).collect();
            indexes.push(match is_ordered {
                true => self.arrivals(&keys, "true", &names).ok(),
                false => None,
            });
        }
        let before = self.position()?;
        let inserted = self.run(&format!(
            "BEGIN NOT ATOMIC
                 FOR place IN 1..{} DO
                     INSERT INTO stored ({names}) SELECT {names} FROM arriving WHERE `inorder row` = place;
                 END FOR;
             END",
            arriving.len()
        ));
        let after = self.position()?;
        self.run("DROP TABLE stored, arriving")?;
        inserted?;
        Ok(Some(Inserted {
            log_bytes: (after - before) / arriving.len() as f64,
            table,
            indexes,
        }))
    }

    /// The position in the redo log.
    fn position(&self) -> Result<f64, Error> {
        self.number(
            "SELECT variable_value FROM information_schema.global_status
             WHERE variable_name = 'innodb_lsn_current'",
        )
    }
}

/// A column of an entry by its place, and the length of its prefix.
type Part = (usize, Option<u32>);

/// The columns of an index's entries: its terms, and those of the primary key.
fn entry_parts(index: &Index, primary: Option<&Index>, rows: &Rows<'_>) -> Vec<Part> {
    let terms = index.terms.iter();
    let terms = terms.chain(primary.iter().flat_map(|primary| &primary.terms));
    let part = |term: &Term| {
        let name = term.column.as_ref()?;
        let mut columns = rows.columns.iter();
        let at = columns.position(|own| own.column.name == *name)?;
        Some((at, term.prefix.filter(|_| !rows.is_changed(name))))
    };
    terms.filter_map(part).collect()
}

/// The standard error of the bytes of an entry, from a sample of so many rows. The lengths of values as text stand for
/// those that are stored: what matters is how different they are.
fn error_bytes(rows: &Rows<'_>, parts: &[Part], all_rows: f64) -> f64 {
    let length = |row: &Row, (at, prefix): &Part| {
        let length = row[*at].as_ref().map_or(0, String::len);
        let length = match rows.columns[*at].is_binary {
            true => length / 2,
            false if length > OFF_PAGE_BYTES => POINTER_BYTES,
            false => length,
        };
        prefix.map_or(length, |prefix| length.min(prefix as usize)) as f64
    };
    let lengths = |row: &Row| parts.iter().map(|part| length(row, part)).sum::<f64>();
    let count = rows.rows.len() as f64;
    let (sum, squares) = rows
        .rows
        .iter()
        .map(lengths)
        .fold((0.0, 0.0), |(sum, squares): (f64, f64), one| {
            (sum + one, squares + one * one)
        });
    let variance = (squares / count - (sum / count).powi(2)).max(0.0);
    // Nothing is left to chance where the sample has all rows.
    let unseen = (1.0 - count / all_rows).max(0.0);
    (variance * unseen / count).sqrt()
}

/// Puts rows in the order in which they arrived, as far as it can be told, and returns whether it can: the order of the
/// primary key if that is counted, a time, or a UUID of version 7, otherwise that of a column of times.
pub(super) fn put_in_order_of_arrival(
    table: &Table,
    rows: &mut Rows<'_>,
    is_in_storage_order: bool,
) -> bool {
    let first = table.primary().and_then(|primary| primary.terms.first());
    let named = |name: &String| rows.columns.iter().position(|own| own.column.name == *name);
    if first
        .and_then(|term| named(term.column.as_ref()?))
        .is_none_or(|at| is_in_order(rows, at))
        && is_in_storage_order
    {
        return true;
    }
    let is_of_times = |at: &usize| {
        let values: BTreeSet<&str> = rows
            .rows
            .iter()
            .filter_map(|row| row[*at].as_deref())
            .collect();
        ["datetime", "timestamp"].contains(&rows.columns[*at].column.base_type.as_str())
            && values.len() * 2 > rows.rows.len()
    };
    let times = (0..rows.columns.len()).find(is_of_times);
    if let Some(at) = times {
        rows.rows.sort_by(|a, b| a[at].cmp(&b[at]));
    }
    times.is_some()
}

/// Whether the values of a column are in the order in which they were made.
fn is_in_order(rows: &Rows<'_>, at: usize) -> bool {
    let base = rows.columns[at].column.base_type.as_str();
    if base.ends_with("int") || ["date", "datetime", "timestamp"].contains(&base) {
        return true;
    }
    let is_ordered = |value: &&str| {
        let digits: Vec<char> = value.chars().filter(|char| *char != '-').collect();
        match digits.len() {
            32 => digits[12] == '7',
            26 => true,
            _ => false,
        }
    };
    let values = || rows.rows.iter().filter_map(|row| row[at].as_deref());
    values().filter(is_ordered).count() * 2 > values().count()
}

fn terms(index: &Index, rows: &Rows<'_>) -> String {
    let term = |term: &Term| {
        let column = term.column.as_deref().unwrap_or_default();
        let prefix = term.prefix.filter(|_| !rows.is_changed(column));
        let prefix = prefix.map_or_else(String::new, |length| format!("({length})"));
        let order = if term.is_descending { " DESC" } else { "" };
        format!("{}{prefix}{order}", quoted(column))
    };
    let all: Vec<String> = index.terms.iter().map(term).collect();
    all.join(", ")
}

fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}
