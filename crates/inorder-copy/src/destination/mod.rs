//! The databases that copies are written to. A destination is one file here and one line in [`open`].

mod postgres;
mod sqlite;

use std::collections::BTreeMap;

use inorder_engine::remote::{Cancel, EachRow, Remote, ServerUrl, TextRows};

use crate::error::Error;
use crate::incoming::Incoming;
use crate::model::{Dialect, Table};
use crate::source::{Mark, quoted};
use crate::stop::Stop;
use crate::value::{Content, Kind, Row, Target};

/// The table that records the finished tables until the copy is complete.
pub const STATE: &str = "_inorder_copy";

/// The name under which the state has the source.
pub const SOURCE: &str = "";

/// A database that is written.
pub trait Destination {
    /// What its values are like.
    fn target(&self) -> Target;

    /// Marks it, so that a source can tell whether it is the same database.
    fn mark(&mut self) -> Result<Mark, Error>;

    /// The names of its tables.
    fn tables(&mut self) -> Result<Vec<String>, Error>;

    /// The finished tables with their records, if a copy was begun.
    fn state(&mut self) -> Result<BTreeMap<String, String>, Error>;

    /// Drops these tables and records the source of a copy that begins, in one transaction.
    fn begin(&mut self, source: &str, replaced: &[&str]) -> Result<(), Error>;

    /// Drops a table and forgets that it is finished.
    fn forget(&mut self, table: &str) -> Result<(), Error>;

    /// The statements that create a table, its keys and indexes, and then its foreign keys.
    fn statements(&self, table: &Table) -> Vec<String>;

    /// The SQL that it speaks.
    fn dialect(&self) -> Dialect {
        match self.target() {
            Target::Postgres => Dialect::Postgres,
            Target::Sqlite => Dialect::Sqlite,
        }
    }

    /// Returns the rows of a query as text.
    fn answers(&mut self, sql: &str) -> Result<TextRows, Error>;

    /// A table with the names that it and its columns have in the destination.
    fn named(&self, table: &Table) -> Table {
        table.clone()
    }

    /// Why it can't have a table.
    fn obstacle(&self, _: &Table) -> Option<&'static str> {
        None
    }

    /// What the database can't have of a table.
    fn left_out(&self, table: &Table) -> Vec<String>;

    /// Creates a table, its rows, keys and indexes in one transaction and reads the rows back. Commits them together with
    /// a record of the finished table, if the incoming rows prove them. Returns notes.
    fn write(&mut self, table: &Table, rows: &mut Incoming<'_>) -> Result<Vec<String>, Error>;

    /// Creates the foreign keys, sets the counters and removes the record, in one transaction.
    fn finish(&mut self, tables: &[Table], stop: &Stop) -> Result<Vec<String>, Error>;

    /// A function that ends the statement that a server runs.
    fn cancel(&self) -> Option<Cancel> {
        None
    }
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

/// Separates the content and the notes in the record of a finished table. Earlier versions recorded the content only.
const RECORD_BREAK: &str = "\u{1e}";

/// The record of a finished table.
pub fn record(content: &str, notes: &[String]) -> String {
    let notes = notes.iter().flat_map(|note| [RECORD_BREAK, &**note]);
    std::iter::once(content).chain(notes).collect()
}

/// The content and the notes of a record.
pub fn recorded(record: &str) -> (&str, Vec<String>) {
    let mut parts = record.split(RECORD_BREAK);
    let content = parts.next().unwrap_or_default();
    (content, parts.map(str::to_owned).collect())
}

/// Returns the first value, and removes it; `None` if there is none.
pub fn next_value<'a>(rows: &mut &'a [u8]) -> Option<Option<&'a [u8]>> {
    let (is_there, rest) = rows.split_first()?;
    if *is_there == 0 {
        *rows = rest;
        return Some(None);
    }
    let (length, rest) = rest.split_first_chunk()?;
    let (value, rest) = rest.split_at(u64::from_le_bytes(*length) as usize);
    *rows = rest;
    Some(Some(value))
}

fn list(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
    names.join(", ")
}

/// Rows that are read back between two looks at whether to stop.
const LOOK_ROWS: u64 = 4096;

/// The content of a copied table. `read` reads rows by a query, and `as_read` gives the kind in which it reads values.
fn content(
    table: &Table,
    target: Target,
    stop: &Stop,
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
        if content.rows.is_multiple_of(LOOK_ROWS)
            && let Err(stopped) = stop.look()
        {
            wrong = Some(stopped);
        }
        wrong.is_none()
    })?;
    wrong.map_or(Ok(content), Err)
}
