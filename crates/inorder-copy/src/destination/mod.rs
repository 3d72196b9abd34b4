//! The databases that copies are written to. A destination is one file here and one line in [`open`].

mod postgres;
mod sqlite;

use std::collections::BTreeMap;

use inorder_engine::remote::{Remote, ServerUrl};

use crate::error::Error;
use crate::model::Table;
use crate::source::{EachRow, Mark, quoted};
use crate::value::{Content, Kind, Row, Target};

/// The table that records the finished tables until the copy is complete.
pub const STATE: &str = "_inorder_copy";

/// The name under which the state has the source.
pub const SOURCE: &str = "";

/// Returns the next rows in canonical form, end to end; `None` after the last.
pub type NextRows<'a> = &'a mut dyn FnMut() -> Option<Vec<u8>>;

/// A database that is written.
pub trait Destination {
    /// What its values are like.
    fn target(&self) -> Target;

    /// Marks it, so that a source can tell whether it is the same database.
    fn mark(&mut self) -> Result<Mark, Error>;

    /// The names of its tables.
    fn tables(&mut self) -> Result<Vec<String>, Error>;

    /// The finished tables with their contents, if a copy was begun.
    fn state(&mut self) -> Result<BTreeMap<String, String>, Error>;

    /// Records the source of a copy that begins.
    fn begin(&mut self, source: &str) -> Result<(), Error>;

    /// Drops a table and forgets that it is finished.
    fn forget(&mut self, table: &str) -> Result<(), Error>;

    /// The statements that create a table, its keys and indexes, and then its foreign keys.
    fn statements(&self, table: &Table) -> Vec<String>;

    /// Creates a table, its rows, keys and indexes in a transaction that stays open. Returns notes.
    fn write(&mut self, table: &Table, rows: NextRows<'_>) -> Result<Vec<String>, Error>;

    /// Reads the rows of a table back.
    fn read_back(&mut self, table: &Table) -> Result<Content, Error>;

    /// Records a table as finished, and commits.
    fn keep(&mut self, table: &str, content: &str) -> Result<(), Error>;

    /// Rolls the table back.
    fn discard(&mut self);

    /// Creates the foreign keys, sets the counters and removes the record, in one transaction.
    fn finish(&mut self, tables: &[Table]) -> Result<Vec<String>, Error>;
}

/// Opens the database with this URL or path. A dry run creates no file.
pub fn open(to: &str, is_dry: bool) -> Result<Box<dyn Destination>, Error> {
    if !to.contains("://") {
        return Ok(Box::new(sqlite::Sqlite::open(if is_dry {
            ":memory:"
        } else {
            to
        })?));
    }
    let url = ServerUrl::parse(to)?;
    if !["postgres", "postgresql"].contains(&url.scheme()) {
        let what = "a copy goes to PostgreSQL (postgres://…) or to an SQLite file";
        return Err(Error::Refused(format!("{url}: {what}")));
    }
    // It identifies the product, and says what is wrong with the URL.
    Remote::at(&url)?;
    Ok(Box::new(postgres::Postgres::open(&url)?))
}

/// Returns the values of the first row, and removes it.
pub fn next_row<'a>(
    rows: &mut &'a [u8],
    columns: usize,
    values: &mut Vec<Option<&'a [u8]>>,
) -> bool {
    values.clear();
    while values.len() < columns {
        match rows.split_first() {
            None => return false,
            Some((0, rest)) => {
                values.push(None);
                *rows = rest;
            }
            Some((_, rest)) => {
                let (length, rest) = rest.split_at(8);
                let length = u64::from_le_bytes(length.try_into().expect("8 bytes"));
                let (value, rest) = rest.split_at(length as usize);
                values.push(Some(value));
                *rows = rest;
            }
        }
    }
    true
}

fn list(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
    names.join(", ")
}

/// The content of a copied table. `read` reads rows by a query, and `as_read` gives the kind in which it reads values.
fn content(
    table: &Table,
    target: Target,
    as_read: impl Fn(Kind) -> Kind,
    read: impl FnOnce(&str, EachRow<'_>) -> Result<(), Error>,
) -> Result<Content, Error> {
    let names = table.columns.iter().map(|column| column.name.clone());
    let names: Vec<String> = names.collect();
    let sql = format!("SELECT {} FROM {}", list(&names), quoted(&table.name));
    let (mut content, mut row, mut wrong) = (Content::default(), Row::default(), None);
    read(&sql, &mut |values| {
        row.begin();
        for (value, column) in values.iter().zip(&table.columns) {
            if let Err(what) = row.push(as_read(column.kind), *value, target) {
                wrong = Some(Error::Refused(format!(
                    "reading {} back: {what}",
                    table.name
                )));
                return false;
            }
        }
        content.add(&row);
        true
    })?;
    wrong.map_or(Ok(content), Err)
}
