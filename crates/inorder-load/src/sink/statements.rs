//! Writes rows by prepared INSERT statements in one transaction.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, ErrorCode, Statement};

use super::survivors::Survivors;
use crate::Error;
use crate::database::{check_schema, failed, orphans};
use crate::destination::{Destination, has_full_text, unique_key};
use crate::encode::Rowids;
use crate::job::{OnDuplicate, Progress, Summary};
use crate::order::Origin;
use crate::pages::complete;
use crate::row_writer::{Proof, RowWriter, WritePlan};
use crate::rows::Batch;
use crate::schema::Goal;
use crate::sql::{bind, is_of_a_row, quoted};

/// Rows per statement. 50 take a quarter less time than 50 statements of one row.
const ROWS_TOGETHER: usize = 50;

/// The most parameters per statement (`SQLITE_MAX_VARIABLE_NUMBER`).
const PARAMETERS_MAX: usize = 32_766;

/// The page cache while rows are written, in KiB. Sorted rows need little, secondary indexes more.
const CACHE_KIB: i64 = 1 << 16;

/// The row that has a duplicate's key: one of the table, or one of this load by another unique key.
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
    /// The UPDATE of the row that has the key; `None` if rows update no others.
    update: Option<String>,
    one: String,
    many: String,
    rows_together: usize,
    /// The INSERT that tells whether a row was left out for its key; `None` if rows are left out for nothing else.
    probe: Option<String>,
    /// Rows inserted, including those replaced later.
    inserted: u64,
    /// Rows that updated others.
    updated: u64,
    survivors: Option<Survivors>,
    /// The statements after the rows.
    completed: Option<String>,
    progress: Progress,
}

impl Statements {
    /// Begins the transaction.
    pub(super) fn begin(
        connection: Connection,
        path: &Path,
        is_new: bool,
        plan: &WritePlan<'_>,
        progress: &Progress,
    ) -> Result<Self, Error> {
        let columns = plan.record.len();
        let names: Vec<String> = plan
            .record
            .iter()
            .map(|column| quoted(&plan.destination.columns[*column].name))
            .collect();
        let on_duplicate = plan.job.on_duplicate;
        // SQLite does not report which of several rows failed.
        let is_one_by_one = plan.is_in_input_order
            || plan.counts_replaced
            || matches!(on_duplicate, OnDuplicate::Report | OnDuplicate::Update);
        let rows_together = match is_one_by_one {
            true => 1,
            false => ROWS_TOGETHER.min(PARAMETERS_MAX / columns).max(1),
        };
        let insert = |(verb, clause), rows| {
            let table = &plan.destination.table;
            insert(verb, table, &names, rows, clause)
        };
        let verbs = verbs(on_duplicate);
        let may_be_asked = matches!(on_duplicate, OnDuplicate::Ignore | OnDuplicate::Report);
        let writer = Statements {
            path: path.to_owned(),
            is_new,
            destination: plan.destination.clone(),
            columns,
            on_duplicate,
            update: update(plan),
            one: insert(verbs, 1),
            many: insert(verbs, rows_together),
            rows_together,
            probe: (plan.is_in_input_order && may_be_asked)
                .then(|| insert(("INSERT OR ABORT", ""), 1)),
            inserted: 0,
            updated: 0,
            survivors: None,
            completed: None,
            progress: progress.clone(),
            connection: Some(connection),
        };
        let timeout = plan.job.busy_timeout;
        let set = writer.connection().busy_timeout(timeout);
        set.map_err(failed(path))?;
        let checks_parents = if plan.checks_parents { "ON" } else { "OFF" };
        writer.run(&format!(
            "PRAGMA cache_size = -{CACHE_KIB}; PRAGMA foreign_keys = {checks_parents}"
        ))?;
        let connection = writer.connection();
        let is_indexed = || has_full_text(connection, &plan.destination.table);
        if on_duplicate == OnDuplicate::Replace && is_indexed().map_err(failed(path))? {
            // Otherwise the words of rows that are replaced stay in the index (<https://www.sqlite.org/lang_conflict.html>).
            writer.run("PRAGMA recursive_triggers = ON")?;
        }
        // A child may come before its parent in the order of the key.
        writer.run("BEGIN IMMEDIATE; PRAGMA defer_foreign_keys = ON")?;
        Ok(writer)
    }

    /// Checks that the rowids given to rows while they were read are still free.
    fn check_rowids(&self, counted_from: Option<Rowids>) -> Result<(), Error> {
        let (Some(counted_from), Some(rowid)) = (counted_from, self.destination.rowid) else {
            return Ok(());
        };
        let name = &self.destination.columns[rowid].name;
        let is_counted = counted_from.sequence.is_some();
        let table = &self.destination.table;
        let now = Rowids::of(self.connection(), table, name, is_counted);
        match now.map_err(failed(&self.path))? == counted_from {
            true => Ok(()),
            false => Err(Error::Refused {
                what: format!(
                    "{}: another process added rows to {table} while the loader read its own; run the load again",
                    self.path.display()
                ),
            }),
        }
    }

    /// Creates or empties the table if needed, after checking that nothing changed since it was described.
    pub(super) fn prepare(
        &mut self,
        schema_version: i64,
        goal: &Goal<'_>,
        plan: &WritePlan<'_>,
    ) -> Result<(), Error> {
        check_schema(self.connection(), &self.path, schema_version)?;
        self.completed = goal.completed.map(str::to_owned);
        if let Some(first) = goal.first_statements() {
            self.run(&first)?;
        }
        if goal.created.is_none() {
            self.check_rowids(plan.rowids)?;
        }
        if plan.counts_replaced {
            let connection = self.connection();
            let survivors =
                Survivors::new(connection, &plan.destination, &plan.record, &plan.limits);
            self.survivors = survivors.map_err(failed(&self.path))?;
        }
        Ok(())
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
        if !self.is_of_a_row(&error) {
            return Err(failed(&self.path)(error));
        }
        if self.on_duplicate == OnDuplicate::Error && self.is_duplicate(&error) {
            if let Some(key) = unique_key(self.connection(), &self.destination, &error.to_string())
            {
                batch.clashes(key, record, origin);
            }
            return batch.settle_with(format!("{SOMEBODY} ({error})"), origin);
        }
        batch.refuse(error.to_string(), origin)
    }
}

impl Statements {
    /// Records a row that was not inserted although the statement succeeded. `why` is the error of a plain INSERT.
    #[cold]
    fn left_out(
        &self,
        why: Option<rusqlite::Error>,
        origin: Origin,
        batch: &mut Batch<'_>,
    ) -> Result<(), Error> {
        let is_duplicate = match (self.on_duplicate, &self.probe) {
            (OnDuplicate::Error | OnDuplicate::Replace | OnDuplicate::Update, _) => false,
            (_, None) => true,
            (_, Some(_)) => why.is_some_and(|error| self.is_duplicate(&error)),
        };
        match is_duplicate {
            true => batch.settle_with(SOMEBODY.to_owned(), origin),
            false => batch.ignore(origin),
        }
    }

    /// Whether the error is caused by a row: by its values, or by an AUTOINCREMENT table without free rowids.
    fn is_of_a_row(&self, error: &rusqlite::Error) -> bool {
        is_of_a_row(error)
            || (error.sqlite_error_code() == Some(ErrorCode::DiskFull) && self.is_out_of_rowids())
    }

    /// Whether the AUTOINCREMENT table has no free rowid left, which SQLite reports as a full disk
    /// (<https://sqlite.org/autoinc.html>).
    fn is_out_of_rowids(&self) -> bool {
        let largest = "SELECT seq = ?2 FROM sqlite_sequence WHERE name = ?1 COLLATE NOCASE";
        let table = &self.destination.table;
        let asked = self
            .connection()
            .query_row(largest, (table, i64::MAX), |row| row.get(0));
        asked.unwrap_or(false)
    }

    /// Whether a row is refused for a key of the table itself, and not of a table that a trigger writes to.
    fn is_duplicate(&self, error: &rusqlite::Error) -> bool {
        let text = error.to_string();
        let Some((_, key)) = text.rsplit_once("failed: ").filter(|_| is_unique(error)) else {
            return false;
        };
        let own = "SELECT EXISTS (SELECT 1 FROM pragma_index_list(?1, 'main') \
                   WHERE ?2 = 'index ''' || name || '''')";
        let is_own_index = || {
            let connection = self.connection();
            let asked = connection.query_row(own, [&self.destination.table, key], |row| row.get(0));
            asked.unwrap_or(false)
        };
        key.starts_with(&format!("{}.", self.destination.table)) || is_own_index()
    }
}

impl RowWriter for Statements {
    fn name(&self) -> &'static str {
        "statements"
    }

    fn write(&mut self, batch: &mut Batch<'_>) -> Result<u64, Error> {
        let mut survivors = self.survivors.take();
        let mut inserts = Inserts::new(self, survivors.as_mut())?;
        while let Some((record, origin)) = batch.next()? {
            if inserts.is_full_with(record, origin) {
                inserts.send(batch)?;
            }
        }
        let (inserted, updated) = inserts.finish(batch)?;
        self.inserted += inserted;
        self.updated += updated;
        self.survivors = survivors;
        Ok(inserted + updated)
    }

    fn finish(
        mut self: Box<Self>,
        summary: &mut Summary,
        proof: Option<Proof<'_>>,
    ) -> Result<(), Error> {
        summary.rows_updated = self.updated;
        if let Some(survivors) = self.survivors.take() {
            let replaced =
                self.inserted - survivors.count(self.connection(), failed(&self.path))?;
            summary.rows_written -= replaced;
            summary.rows_duplicate += replaced;
        }
        if let Some(completed) = &self.completed {
            complete(self.connection(), &self.path, completed, &self.progress)?;
        }
        if let Some(proof) = proof {
            proof(self.connection())?;
        }
        if let Err(error) = self.run("COMMIT") {
            let orphans = orphans(self.connection(), &self.destination.table).unwrap_or_default();
            return Err(match orphans.is_empty() {
                true => error,
                false => Error::Refused {
                    what: format!("{}: {}", self.path.display(), orphans.join("; ")),
                },
            });
        }
        // Closing does not wait, and an error on close loses no data.
        self.connection = None;
        Ok(())
    }
}

impl Drop for Statements {
    /// Rolls back.
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

/// The statements of a batch, and the rows that wait for the next statement.
struct Inserts<'a> {
    writer: &'a Statements,
    one: Statement<'a>,
    many: Statement<'a>,
    update: Option<Statement<'a>>,
    probe: Option<Statement<'a>>,
    savepoint: Savepoint<'a>,
    survivors: Option<&'a mut Survivors>,
    pending: Pending,
    inserted: u64,
    updated: u64,
}

impl<'a> Inserts<'a> {
    fn new(writer: &'a Statements, survivors: Option<&'a mut Survivors>) -> Result<Self, Error> {
        let prepare = |sql: &str| {
            let prepared = writer.connection().prepare(sql);
            prepared.map_err(failed(&writer.path))
        };
        Ok(Inserts {
            one: prepare(&writer.one)?,
            many: prepare(&writer.many)?,
            update: writer.update.as_deref().map(prepare).transpose()?,
            probe: writer.probe.as_deref().map(prepare).transpose()?,
            savepoint: Savepoint::new(writer.connection()).map_err(failed(&writer.path))?,
            writer,
            survivors,
            pending: Pending::default(),
            inserted: 0,
            updated: 0,
        })
    }

    /// Adds a row. Returns whether the waiting rows fill a statement.
    fn is_full_with(&mut self, record: &[u8], origin: Origin) -> bool {
        self.pending.push(record, origin);
        self.pending.len() == self.writer.rows_together
    }

    /// Inserts the waiting rows, in one statement if SQLite accepts them all.
    fn send(&mut self, batch: &mut Batch<'_>) -> Result<(), Error> {
        if self.pending.len() == 1 || !self.insert_together(batch)? {
            self.insert_each(batch)?;
        }
        self.pending.clear();
        Ok(())
    }

    /// Inserts the remaining rows. Returns the rows inserted in all, and those that updated others.
    fn finish(mut self, batch: &mut Batch<'_>) -> Result<(u64, u64), Error> {
        self.insert_each(batch)?;
        Ok((self.inserted, self.updated))
    }

    /// Updates the row that has the key of this one. Returns whether that is all: it was found, or this one is refused.
    fn is_update(
        &mut self,
        record: &[u8],
        origin: Origin,
        batch: &mut Batch<'_>,
    ) -> Result<bool, Error> {
        let (writer, Some(update)) = (self.writer, &mut self.update) else {
            return Ok(false);
        };
        writer.bind(update, 0, record)?;
        match self.savepoint.run(update, None) {
            Ok((0, _)) => return Ok(false),
            Ok(_) => self.updated += 1,
            Err(error) if writer.connection().is_autocommit() && writer.is_of_a_row(&error) => {
                return Err(batch.end(&error.to_string(), origin));
            }
            Err(error) => writer.refused(error, record, origin, batch)?,
        }
        Ok(true)
    }

    /// Inserts the waiting rows in one statement. Returns false, with none inserted, if one of them is refused.
    fn insert_together(&mut self, batch: &mut Batch<'_>) -> Result<bool, Error> {
        let (writer, rows) = (self.writer, self.pending.len());
        for (i, (record, _)) in self.pending.iter().enumerate() {
            writer.bind(&mut self.many, i * writer.columns, record)?;
        }
        match self.savepoint.run(&mut self.many, None) {
            Ok((inserted, _)) => {
                batch.add_duplicates((rows - inserted) as u64);
                self.inserted += inserted as u64;
                Ok(true)
            }
            Err(error) if writer.is_of_a_row(&error) && !writer.connection().is_autocommit() => {
                Ok(false)
            }
            Err(error) => Err(failed(&writer.path)(error)),
        }
    }

    fn insert_each(&mut self, batch: &mut Batch<'_>) -> Result<(), Error> {
        let pending = std::mem::take(&mut self.pending);
        for (record, origin) in pending.iter() {
            if self.is_update(record, origin, batch)? {
                continue;
            }
            let writer = self.writer;
            writer.bind(&mut self.one, 0, record)?;
            if let Some(probe) = &mut self.probe {
                writer.bind(probe, 0, record)?;
            }
            match self.savepoint.run(&mut self.one, self.probe.as_mut()) {
                Ok((0, why)) => writer.left_out(why, origin, batch)?,
                Ok(_) => {
                    self.inserted += 1;
                    if let Some(survivors) = &mut self.survivors {
                        survivors.push(writer.connection(), record)?;
                    }
                }
                // After ON CONFLICT ROLLBACK or RAISE(ROLLBACK) no transaction is open: later rows would be stored.
                Err(error) if writer.connection().is_autocommit() && writer.is_of_a_row(&error) => {
                    return Err(batch.end(&error.to_string(), origin));
                }
                Err(error) => writer.refused(error, record, origin, batch)?,
            }
        }
        self.pending = pending;
        Ok(())
    }
}

/// Undoes what a failed statement leaves behind: with RAISE(FAIL) and ON CONFLICT FAIL, the rows before stay.
struct Savepoint<'a> {
    begin: Statement<'a>,
    release: Statement<'a>,
    take_back: Statement<'a>,
}

impl<'a> Savepoint<'a> {
    fn new(connection: &'a Connection) -> rusqlite::Result<Self> {
        Ok(Savepoint {
            begin: connection.prepare("SAVEPOINT inorder_insert")?,
            release: connection.prepare("RELEASE inorder_insert")?,
            take_back: connection.prepare("ROLLBACK TO inorder_insert")?,
        })
    }

    /// Runs a statement, wholly or not at all. Returns the rows inserted and, if there are none, the error of the probe.
    ///
    /// # Errors
    /// The error of the statement, which may have ended the transaction.
    fn run(
        &mut self,
        statement: &mut Statement<'_>,
        probe: Option<&mut Statement<'_>>,
    ) -> rusqlite::Result<(usize, Option<rusqlite::Error>)> {
        self.begin.raw_execute()?;
        let result = statement.raw_execute();
        let mut why = None;
        match (&result, probe) {
            (Ok(0), Some(probe)) => {
                self.take_back.raw_execute()?;
                why = probe.raw_execute().err();
                self.take_back.raw_execute()?;
                // The effects of its triggers are kept.
                statement.raw_execute()?;
            }
            (Ok(_), _) => {}
            // There is nothing to go back to where the statement ended the transaction.
            (Err(_), _) => match self.take_back.raw_execute() {
                Ok(_) => {}
                Err(_) => return result.map(|rows| (rows, None)),
            },
        }
        self.release.raw_execute()?;
        result.map(|rows| (rows, why))
    }
}

/// Waiting rows, end to end.
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

/// The beginning and end of an INSERT. The table's own conflict clauses hold for a plain INSERT. `DO NOTHING` overrides
/// those of unique keys, `OR REPLACE` all of them.
fn verbs(on_duplicate: OnDuplicate) -> (&'static str, &'static str) {
    match on_duplicate {
        OnDuplicate::Error | OnDuplicate::Update => ("INSERT", ""),
        OnDuplicate::Replace => ("INSERT OR REPLACE", ""),
        OnDuplicate::Ignore | OnDuplicate::Report => ("INSERT", " ON CONFLICT DO NOTHING"),
    }
}

fn insert(verb: &str, table: &str, columns: &[String], rows: usize, clause: &str) -> String {
    let places = format!("({})", vec!["?"; columns.len()].join(","));
    format!(
        "{verb} INTO main.{}({}) VALUES {}{clause}",
        quoted(table),
        columns.join(","),
        vec![places; rows].join(",")
    )
}

/// The UPDATE of the row with the key of a record: each value is the parameter of its number.
fn update(plan: &WritePlan<'_>) -> Option<String> {
    if plan.job.on_duplicate != OnDuplicate::Update {
        return None;
    }
    let destination = &plan.destination;
    let (mut values, mut conditions) = (Vec::new(), Vec::new());
    for (column, number) in plan.record.iter().zip(1..) {
        let name = quoted(&destination.columns[*column].name);
        match destination.key.iter().find(|part| part.column == *column) {
            Some(part) => conditions.push(format!(
                "{name} = ?{number} COLLATE {}",
                part.collation.name()
            )),
            None => values.push(format!("{name} = ?{number}")),
        }
    }
    if values.is_empty() {
        // A row without other columns is updated by leaving it as it is.
        let part = destination.key.first()?;
        let name = quoted(&destination.columns[part.column].name);
        values.push(format!("{name} = {name}"));
    }
    Some(format!(
        "UPDATE main.{} SET {} WHERE {}",
        quoted(&destination.table),
        values.join(", "),
        conditions.join(" AND ")
    ))
}

fn is_unique(error: &rusqlite::Error) -> bool {
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
