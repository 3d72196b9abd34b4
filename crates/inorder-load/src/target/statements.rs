//! Rows written by SQLite itself, through prepared statements in one transaction.

use std::path::{Path, PathBuf};

use inorder_btree::{Record, Value};
use rusqlite::{Connection, Statement};

use super::sqlite::{check_schema, failed, orphans};
use super::{RowWriter, WritePlan};
use crate::Error;
use crate::destination::{Destination, unique_key};
use crate::load::{Batch, OnDuplicate, Order, Summary, spilled};
use crate::order::{Limits, Origin, Sorter};
use crate::sql::{bind, is_of_a_row, quoted};

/// Rows of one statement: 50 take a quarter less time than 50 times one.
const ROWS_TOGETHER: usize = 50;

/// Parameters of a statement at most (`SQLITE_MAX_VARIABLE_NUMBER`).
const PARAMETERS_MAX: usize = 32_766;

/// Page cache while rows are written, in KiB: rows in order need little, indexes beside them more.
const CACHE_KIB: i64 = 1 << 16;

/// Whoever has a row's key: in the table before, or of this load by another of its unique keys.
const SOMEBODY: &str = "a row that is there already";

/// A transaction that rows are inserted in.
pub(super) struct Statements {
    /// `None` once it is finished.
    connection: Option<Connection>,
    path: PathBuf,
    is_new: bool,
    destination: Destination,
    columns: usize,
    on_duplicate: OnDuplicate,
    one: String,
    many: String,
    rows_together: usize,
    /// The place of the rowid in records that come in its order.
    sorted_rowid: Option<usize>,
    /// Of rows that wait.
    limits: Limits,
}

impl Statements {
    /// Begins the transaction.
    pub(super) fn begin(
        connection: Connection,
        path: &Path,
        is_new: bool,
        plan: &WritePlan<'_>,
    ) -> Result<Self, Error> {
        let columns = plan.record.len();
        let names: Vec<String> = plan
            .record
            .iter()
            .map(|column| quoted(&plan.destination.columns[*column].name))
            .collect();
        let on_duplicate = plan.job.on_duplicate;
        let rows_together = match on_duplicate {
            // Which of many it was is not told.
            OnDuplicate::Report => 1,
            _ => ROWS_TOGETHER.min(PARAMETERS_MAX / columns).max(1),
        };
        let insert = |rows| insert(&plan.destination.table, &names, rows, on_duplicate);
        let writer = Statements {
            path: path.to_owned(),
            is_new,
            destination: plan.destination.clone(),
            columns,
            on_duplicate,
            one: insert(1),
            many: insert(rows_together),
            rows_together,
            sorted_rowid: plan.record.iter().position(|column| {
                plan.job.order != Order::Input && plan.destination.rowid == Some(*column)
            }),
            limits: plan.limits.clone(),
            connection: Some(connection),
        };
        writer.run(&format!(
            "PRAGMA cache_size = -{CACHE_KIB}; PRAGMA foreign_keys = ON"
        ))?;
        // A child may come before its parent in the order of the key.
        writer.run("BEGIN IMMEDIATE; PRAGMA defer_foreign_keys = ON")?;
        Ok(writer)
    }

    /// Makes the table, if it is to be made, in a schema that must be what it was.
    pub(super) fn prepare(&self, schema_version: i64, created: Option<&str>) -> Result<(), Error> {
        check_schema(self.connection(), &self.path, schema_version)?;
        created.map_or(Ok(()), |sql| self.run(sql))
    }

    fn connection(&self) -> &Connection {
        self.connection.as_ref().expect("it is not finished")
    }

    fn run(&self, sql: &str) -> Result<(), Error> {
        self.connection()
            .execute_batch(sql)
            .map_err(failed(&self.path))
    }

    fn bind(
        &self,
        statement: &mut Statement<'_>,
        before: usize,
        record: &[u8],
    ) -> Result<(), Error> {
        bind(statement, before, record, self.destination.encoding).map_err(failed(&self.path))
    }

    fn refused(
        &self,
        error: rusqlite::Error,
        record: &[u8],
        origin: Origin,
        batch: &mut Batch<'_>,
    ) -> Result<(), Error> {
        if !is_of_a_row(&error) {
            return Err(failed(&self.path)(error));
        }
        if is_duplicate(&error) && self.on_duplicate == OnDuplicate::Error {
            if let Some(key) = unique_key(self.connection(), &self.destination, &error.to_string())
            {
                batch.clashes(key, record, origin);
            }
            return batch.settle_with(format!("{SOMEBODY} ({error})"), origin);
        }
        batch.refuse(error.to_string(), origin)
    }
}

impl RowWriter for Statements {
    fn name(&self) -> &'static str {
        "statements"
    }

    fn write(&mut self, batch: &mut Batch<'_>) -> Result<u64, Error> {
        let mut inserts = Inserts::new(self)?;
        // NULL comes first; rows that SQLite is to count go after those that have their rowid.
        let mut rowid = self.sorted_rowid;
        let mut late = Sorter::new(None, self.limits.clone());
        while let Some((record, origin)) = batch.next()? {
            rowid = rowid.filter(|place| is_null(record, *place));
            match rowid {
                Some(_) => late.push(record, origin).map_err(spilled)?,
                None if inserts.is_full_with(record, origin) => inserts.send(batch)?,
                None => {}
            }
        }
        let mut late = late.finish().map_err(spilled)?;
        while let Some((record, origin)) = late.next().map_err(spilled)? {
            if inserts.is_full_with(record, origin) {
                inserts.send(batch)?;
            }
        }
        inserts.finish(batch)
    }

    fn finish(mut self: Box<Self>, _summary: &mut Summary) -> Result<(), Error> {
        if let Err(error) = self.run("COMMIT") {
            let orphans = orphans(self.connection(), &self.destination.table).unwrap_or_default();
            return Err(match orphans.is_empty() {
                true => error,
                false => Error::Refused {
                    what: format!("{}: {}", self.path.display(), orphans.join("; ")),
                },
            });
        }
        // Closing waits for nobody, and an error of it loses nothing.
        self.connection = None;
        Ok(())
    }
}

impl Drop for Statements {
    /// Leaves the database as it was.
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            _ = connection.execute_batch("ROLLBACK");
            drop(connection);
            if self.is_new {
                _ = std::fs::remove_file(&self.path);
            }
        }
    }
}

/// The statements of a batch, and the rows that wait for the one that takes many.
struct Inserts<'a> {
    writer: &'a Statements,
    one: Statement<'a>,
    many: Statement<'a>,
    pending: Pending,
    inserted: u64,
}

impl<'a> Inserts<'a> {
    fn new(writer: &'a Statements) -> Result<Self, Error> {
        let prepare = |sql: &str| {
            let prepared = writer.connection().prepare(sql);
            prepared.map_err(failed(&writer.path))
        };
        Ok(Inserts {
            one: prepare(&writer.one)?,
            many: prepare(&writer.many)?,
            writer,
            pending: Pending::default(),
            inserted: 0,
        })
    }

    /// Takes a row, and says whether those that wait are to be sent.
    fn is_full_with(&mut self, record: &[u8], origin: Origin) -> bool {
        self.pending.push(record, origin);
        self.pending.len() == self.writer.rows_together
    }

    /// Inserts the rows that wait, together where they are taken so.
    fn send(&mut self, batch: &mut Batch<'_>) -> Result<(), Error> {
        if self.pending.len() == 1 || !self.insert_together(batch)? {
            self.insert_each(batch)?;
        }
        self.pending.clear();
        Ok(())
    }

    /// Inserts what is left, and says how many rows were inserted in all.
    fn finish(mut self, batch: &mut Batch<'_>) -> Result<u64, Error> {
        self.insert_each(batch)?;
        Ok(self.inserted)
    }

    /// Says whether the rows are taken together; none of them is otherwise.
    fn insert_together(&mut self, batch: &mut Batch<'_>) -> Result<bool, Error> {
        let (writer, rows) = (self.writer, self.pending.len());
        for (i, (record, _)) in self.pending.iter().enumerate() {
            writer.bind(&mut self.many, i * writer.columns, record)?;
        }
        match self.many.raw_execute() {
            Ok(inserted) => {
                batch.add_duplicates((rows - inserted) as u64);
                self.inserted += inserted as u64;
                Ok(true)
            }
            Err(error) if is_of_a_row(&error) => Ok(false),
            Err(error) => Err(failed(&writer.path)(error)),
        }
    }

    fn insert_each(&mut self, batch: &mut Batch<'_>) -> Result<(), Error> {
        for (record, origin) in self.pending.iter() {
            self.writer.bind(&mut self.one, 0, record)?;
            match self.one.raw_execute() {
                Ok(0) => batch.settle_with(SOMEBODY.to_owned(), origin)?,
                Ok(_) => self.inserted += 1,
                Err(error) => self.writer.refused(error, record, origin, batch)?,
            }
        }
        Ok(())
    }
}

/// Rows, one after another.
#[derive(Default)]
struct Pending {
    bytes: Vec<u8>,
    rows: Vec<(usize, Origin)>,
}

impl Pending {
    fn push(&mut self, record: &[u8], origin: Origin) {
        self.bytes.extend_from_slice(record);
        self.rows.push((self.bytes.len(), origin));
    }

    fn len(&self) -> usize {
        self.rows.len()
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.rows.clear();
    }

    fn iter(&self) -> impl Iterator<Item = (&[u8], Origin)> {
        let starts = std::iter::once(0).chain(self.rows.iter().map(|(end, _)| *end));
        starts
            .zip(&self.rows)
            .map(|(start, (end, origin))| (&self.bytes[start..*end], *origin))
    }
}

fn is_null(record: &[u8], place: usize) -> bool {
    let mut values = Record::parse(record).expect("an encoded record").values();
    values.nth(place) == Some(Value::Null)
}

fn insert(table: &str, columns: &[String], rows: usize, on_duplicate: OnDuplicate) -> String {
    let places = format!("({})", vec!["?"; columns.len()].join(","));
    let (verb, clause) = match on_duplicate {
        OnDuplicate::Error => ("INSERT", ""),
        OnDuplicate::Replace => ("INSERT OR REPLACE", ""),
        OnDuplicate::Ignore | OnDuplicate::Report => ("INSERT", " ON CONFLICT DO NOTHING"),
    };
    format!(
        "{verb} INTO main.{}({}) VALUES {}{clause}",
        quoted(table),
        columns.join(","),
        vec![places; rows].join(",")
    )
}

fn is_duplicate(error: &rusqlite::Error) -> bool {
    use rusqlite::ffi;
    let code = error.sqlite_error().map(|error| error.extended_code);
    matches!(
        code,
        Some(
            ffi::SQLITE_CONSTRAINT_UNIQUE
                | ffi::SQLITE_CONSTRAINT_PRIMARYKEY
                | ffi::SQLITE_CONSTRAINT_ROWID
        )
    )
}
