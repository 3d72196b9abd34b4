//! Rows written by SQLite itself, through prepared statements in one transaction.

use std::path::{Path, PathBuf};

use inorder_btree::{Record, TextEncoding, Value};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, Statement};

use super::sqlite::failed;
use super::{RowWriter, WritePlan};
use crate::Error;
use crate::load::{Batch, OnDuplicate, Summary};
use crate::order::Origin;
use crate::sql::{decoded, quoted};

/// Rows of one statement: 50 take a quarter less time than 50 times one.
const ROWS_TOGETHER: usize = 50;

/// Parameters of a statement at most (`SQLITE_MAX_VARIABLE_NUMBER`).
const PARAMETERS_MAX: usize = 32_766;

/// Page cache while rows are written, in KiB: rows in order need little, indexes beside them more.
const CACHE_KIB: i64 = 1 << 16;

/// A transaction that rows are inserted in.
pub(super) struct Statements {
    /// `None` once it is finished.
    connection: Option<Connection>,
    path: PathBuf,
    is_new: bool,
    table: String,
    columns: usize,
    encoding: TextEncoding,
    on_duplicate: OnDuplicate,
    one: String,
    many: String,
    rows_together: usize,
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
            table: plan.destination.table.clone(),
            columns,
            encoding: plan.destination.encoding,
            on_duplicate,
            one: insert(1),
            many: insert(rows_together),
            rows_together,
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
        let version = "PRAGMA main.schema_version";
        let now: i64 = self
            .connection()
            .query_row(version, [], |row| row.get(0))
            .map_err(failed(&self.path))?;
        if now != schema_version {
            return Err(Error::Refused {
                what: format!(
                    "{}: the schema was changed while rows were read; run it again",
                    self.path.display()
                ),
            });
        }
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

    /// Inserts rows that are in one buffer, end to end; where they are not taken together, one by one.
    fn insert(
        &self,
        rows: &Pending,
        many: &mut Statement<'_>,
        one: &mut Statement<'_>,
        batch: &mut Batch<'_>,
    ) -> Result<u64, Error> {
        if rows.len() == self.rows_together && self.rows_together > 1 {
            for (i, (record, _)) in rows.iter().enumerate() {
                self.bind(many, i * self.columns, record)?;
            }
            match many.raw_execute() {
                Ok(inserted) => return Ok(inserted as u64),
                Err(error) if is_of_a_row(&error) => {}
                Err(error) => return Err(failed(&self.path)(error)),
            }
        }
        let mut inserted = 0;
        for (record, origin) in rows.iter() {
            self.bind(one, 0, record)?;
            match one.raw_execute() {
                Ok(0) => batch.settle_with(self.somebody(), origin)?,
                Ok(_) => inserted += 1,
                Err(error) => self.refused(error, origin, batch)?,
            }
        }
        Ok(inserted)
    }

    /// A row that was there, or that has the same value in another unique column.
    fn somebody(&self) -> String {
        "a row that is there already".to_owned()
    }

    fn refused(
        &self,
        error: rusqlite::Error,
        origin: Origin,
        batch: &mut Batch<'_>,
    ) -> Result<(), Error> {
        if !is_of_a_row(&error) {
            return Err(failed(&self.path)(error));
        }
        if is_duplicate(&error) && self.on_duplicate == OnDuplicate::Error {
            return batch.settle_with(format!("a row that is there already ({error})"), origin);
        }
        let (file, line) = batch.origins().file_and_line(origin);
        let error = Error::Row {
            at: batch.origins().words(origin),
            what: error.to_string(),
        };
        batch.rejects().bad(&file, line, b"", error)
    }

    fn bind(
        &self,
        statement: &mut Statement<'_>,
        before: usize,
        record: &[u8],
    ) -> Result<(), Error> {
        let values = Record::parse(record).expect("an encoded record").values();
        for (value, parameter) in values.zip(before + 1..) {
            let utf8;
            let value = match value {
                Value::Null => ValueRef::Null,
                Value::Integer(integer) => ValueRef::Integer(integer),
                Value::Real(real) => ValueRef::Real(real),
                Value::Blob(blob) => ValueRef::Blob(blob),
                Value::Text(text) if self.encoding == TextEncoding::Utf8 => ValueRef::Text(text),
                Value::Text(text) => {
                    utf8 = decoded(self.encoding, text);
                    ValueRef::Text(utf8.as_bytes())
                }
            };
            statement
                .raw_bind_parameter(parameter, ToSqlOutput::Borrowed(value))
                .map_err(failed(&self.path))?;
        }
        Ok(())
    }
}

impl RowWriter for Statements {
    fn name(&self) -> &'static str {
        "statements"
    }

    fn write(&mut self, batch: &mut Batch<'_>) -> Result<u64, Error> {
        let failed = failed(&self.path);
        let connection = self.connection();
        let mut one = connection.prepare(&self.one).map_err(&failed)?;
        let mut many = connection.prepare(&self.many).map_err(&failed)?;
        let mut pending = Pending::default();
        let mut inserted = 0;
        while let Some((record, origin)) = batch.next()? {
            pending.push(record, origin);
            if pending.len() == self.rows_together {
                inserted += self.insert(&pending, &mut many, &mut one, batch)?;
                pending.clear();
            }
        }
        Ok(inserted + self.insert(&pending, &mut many, &mut one, batch)?)
    }

    fn finish(mut self: Box<Self>, _summary: &mut Summary) -> Result<(), Error> {
        if let Err(error) = self.run("COMMIT") {
            let orphans = self.orphans().unwrap_or_default();
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

impl Statements {
    /// Rows whose foreign keys lead nowhere.
    fn orphans(&self) -> rusqlite::Result<Vec<String>> {
        const TOLD_MAX: usize = 5;
        let check = format!("PRAGMA foreign_key_check({})", quoted(&self.table));
        let mut statement = self.connection().prepare(&check)?;
        let orphans = statement.query_map([], |row| {
            let rowid: Option<i64> = row.get(1)?;
            let parent: String = row.get(2)?;
            let row = rowid.map_or("a row".to_owned(), |rowid| format!("row {rowid}"));
            Ok(format!("{row} of {} has no parent in {parent}", self.table))
        })?;
        orphans.take(TOLD_MAX).collect()
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

/// Rows that wait for the statement that takes many.
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

/// Whether it is the row that isn't taken: another may be.
fn is_of_a_row(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::ConstraintViolation | ErrorCode::TypeMismatch | ErrorCode::TooBig)
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
