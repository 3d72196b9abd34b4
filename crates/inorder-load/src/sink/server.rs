//! Tables of servers: PostgreSQL by `COPY`, MariaDB by `LOAD DATA LOCAL`, in the order of the key.
//!
//! The engine decides what a column makes of a value, which keys and indexes are built after the rows, and which shard
//! gets a row ([`inorder_engine::LoadShape`], [`inorder_engine::Load`]).

use std::collections::VecDeque;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use inorder_btree::{Collation, Record, TextEncoding, Value};
use inorder_engine::remote::{Remote, ServerUrl};
use inorder_engine::{
    Batch as Columns, Column, ColumnKind, Engine as _, Error as EngineError, Given, Intake, Load,
    LoadColumn, LoadTable, NewColumn, Settings, Start, TableChange, Taken, Value as Cell, Write,
};

use super::{Kind, Wanted};
use crate::Error;
use crate::destination::{ColumnInfo, Create, Destination, KeyPart, fits};
use crate::encode::Affinity;
use crate::job::{Existing, Job, OnDuplicate, Progress, RowOrder, Summary, WriterChoice};
use crate::note::{Note, NoteKind};
use crate::order::Origin;
use crate::row_writer::{Choice, Proof, RowWriter, Sink, WritePlan};
use crate::rows::{Batch, Origins};

pub(super) const SINK: Kind = Kind {
    recognises: |to| to.contains("://"),
    open: |wanted| {
        let remote = Remote::at(&ServerUrl::parse(wanted.to)?)?;
        let settings = Settings {
            write: Write::Bulk,
            ..Settings::default()
        };
        // A server without bulk load receives INSERT statements with many rows.
        let settings = match remote.accepts(&settings) {
            Ok(()) => settings,
            Err(_) => Settings {
                write: Write::Multi,
                ..settings
            },
        };
        let table = remote.table(&settings, wanted.table)?;
        ServerSink::open(table, wanted)
    },
};

/// Rows per call of the server's writer.
const ROWS_TOGETHER: usize = 10_000;

/// The most rows whose lines are kept until the server has accepted them: it never has more in flight.
const LINES_KEPT: usize = 1 << 22;

/// A table of a connected server.
pub(crate) struct ServerSink {
    table: Box<dyn LoadTable>,
    destination: Destination,
    /// The reason why rows must keep the input order, for any columns.
    why_in_input_order: Option<String>,
    /// Columns that the server numbers if they aren't given (identity, AUTO_INCREMENT).
    counted: Vec<usize>,
    /// A column of the key for which only the server can tell whether two values are equal.
    inexact: Option<usize>,
    /// The statements that create the table.
    created: Option<String>,
    /// What the load changes.
    notes: Vec<Note>,
}

impl ServerSink {
    /// Describes a table, or the one that the load creates; `None` if it exists and the job then loads nothing. Rows go the
    /// way its database's settings say ([`inorder_engine::Write`]).
    ///
    /// # Errors
    /// If there is no such table and none is to be created, the job does not allow changing it, or the server doesn't
    /// answer.
    pub(crate) fn open(
        table: Box<dyn LoadTable>,
        wanted: &Wanted<'_>,
    ) -> Result<Option<Box<dyn Sink>>, Error> {
        let Some(change) = change(&*table, wanted)? else {
            return Ok(None);
        };
        // A table that stays as it is may be on a server that can't change it.
        let table = match change == TableChange::default() {
            true => table,
            false => table.changed(change.clone())?,
        };
        Ok(Some(Box::new(ServerSink::new(table, wanted, &change)?)))
    }

    fn new(
        table: Box<dyn LoadTable>,
        wanted: &Wanted<'_>,
        change: &TableChange,
    ) -> Result<Self, Error> {
        let name = wanted.table;
        let shape = table.shape()?;
        let found = shape.columns;
        if found.is_empty() {
            return Err(Error::Refused {
                what: format!("the server has no table `{name}`; create it first"),
            });
        }
        let mut key: Vec<(u32, usize)> = found
            .iter()
            .zip(0..)
            .map(|(column, place)| (column.info.primary_key, place))
            .filter(|(in_key, _)| *in_key > 0)
            .collect();
        key.sort_unstable();
        let counted = (0..found.len()).filter(|&place| found[place].is_counted);
        let inexact = key.iter().find(|(_, place)| !found[*place].is_exact);
        let part = |&(_, column): &(u32, usize)| KeyPart {
            column,
            collation: Collation::Binary,
            is_descending: false,
        };
        Ok(ServerSink {
            why_in_input_order: shape.why_in_input_order,
            created: shape.created,
            notes: added(change),
            counted: counted.collect(),
            inexact: inexact.map(|(_, place)| *place),
            destination: Destination {
                table: name.to_owned(),
                physical: (0..found.len()).collect(),
                is_key_unique: !key.is_empty(),
                key: key.iter().map(part).collect(),
                rowid: None,
                columns: found
                    .into_iter()
                    .map(|column| self::column(column, change, wanted))
                    .collect(),
                encoding: TextEncoding::Utf8,
                page_bytes: None,
            },
            table,
        })
    }
}

/// What the load does to the table; `None` if the table exists and the load then does nothing.
fn change(table: &dyn LoadTable, wanted: &Wanted<'_>) -> Result<Option<TableChange>, Error> {
    if wanted
        .create
        .is_some_and(|create| create.full_text.is_some())
    {
        return Err(Error::Create {
            what:
                "--fts creates an index of SQLite (FTS5); create one of the server after the load"
                    .to_owned(),
        });
    }
    let default = TableChange::default();
    let lock_max = wanted.busy_timeout.unwrap_or(default.lock_max);
    let has_rows = table.has_rows(lock_max)?;
    let has_rule = wanted.on_duplicate != OnDuplicate::Error;
    let start = match (has_rows, wanted.create, wanted.existing) {
        (None, Some(create), _) => Start::Created(create.new_table(wanted.sample)?),
        // Describing it fails.
        (None, None, _) => Start::Kept,
        (Some(_), _, Existing::Skip) => return Ok(None),
        (Some(_), _, Existing::Refuse) => return Err(wanted.refused("", "exists")),
        (Some(true), _, Existing::FillEmpty) if !has_rule => {
            return Err(wanted.refused("", "has rows already"));
        }
        (Some(_), Some(create), Existing::Replace) => {
            Start::Replaced(create.new_table(wanted.sample)?)
        }
        (Some(_), None, Existing::Replace) => {
            return Err(Error::Refused {
                what: "a table is replaced only by one that the job creates".to_owned(),
            });
        }
        (Some(_), _, Existing::Truncate) => Start::Emptied,
        (Some(_), _, Existing::Append | Existing::FillEmpty) => Start::Kept,
    };
    let is_old = matches!(start, Start::Kept | Start::Emptied);
    let added = match wanted.alters && is_old && has_rows.is_some() {
        true => additions(table, wanted)?,
        false => Vec::new(),
    };
    let is_utc = wanted.sample.has_instants()
        && match is_old {
            true => {
                let columns = table.shape()?.columns;
                columns.iter().any(|column| column.intake.needs_utc())
            }
            false => true,
        };
    Ok(Some(TableChange {
        start,
        is_utc,
        added,
        updates: wanted.on_duplicate == OnDuplicate::Update && has_rows.is_some(),
        lock_max,
    }))
}

/// The columns of the first rows that the table doesn't have.
fn additions(table: &dyn LoadTable, wanted: &Wanted<'_>) -> Result<Vec<NewColumn>, Error> {
    let found = table.shape()?.columns;
    let is_there = |name: &str| {
        let mut names = found.iter().map(|column| &column.info.name);
        names.any(|known| known.eq_ignore_ascii_case(name))
    };
    let none = Create::default();
    let create = wanted.create.unwrap_or(&none);
    let mut added = Vec::new();
    for (name, place) in wanted.sample.named() {
        if !is_there(name) {
            added.push(NewColumn {
                name: name.clone(),
                kind: create.kind_of(name, Some(*place), wanted.sample)?,
            });
        }
    }
    Ok(added)
}

/// The notes about added columns.
fn added(change: &TableChange) -> Vec<Note> {
    let added = change.added.iter();
    added
        .map(|column| {
            let text = format!("added the column `{}`", column.name);
            Note::new(NoteKind::ColumnAdded, text).of_column(&column.name)
        })
        .collect()
}

/// A column of the destination. The server decides which values it refuses.
fn column(column: LoadColumn, change: &TableChange, wanted: &Wanted<'_>) -> ColumnInfo {
    let name = &column.info.name;
    let new = match &change.start {
        Start::Created(table) | Start::Replaced(table) => &table.columns,
        Start::Kept | Start::Emptied => &change.added,
    };
    let kind = new.iter().find(|new| new.name == *name);
    // PostgreSQL's numeric has no limits; MariaDB's rounds what exceeds them.
    let kind = kind.map(
        |new| match (&new.kind, decimal_digits(&column.info.declared_type)) {
            (ColumnKind::Decimal { .. }, None) => ColumnKind::Decimal {
                whole_digits: usize::MAX,
                fraction_digits: usize::MAX,
            },
            (ColumnKind::Decimal { .. }, Some((whole_digits, fraction_digits))) => {
                ColumnKind::Decimal {
                    whole_digits,
                    fraction_digits,
                }
            }
            (kind, _) => kind.clone(),
        },
    );
    let is_guessed = kind.is_some() && wanted.create.is_none_or(|create| create.is_guessed(name));
    let is_derived = kind.is_some() && wanted.create.is_none_or(|create| create.is_derived(name));
    let affinity = match (&kind, column.guesses_bytes) {
        (Some(ColumnKind::Integer), _) => Affinity::Integer,
        (Some(ColumnKind::Real), _) => Affinity::Real,
        (_, Some(_)) => Affinity::Blob,
        (_, None) => Affinity::Text,
    };
    let intake: Arc<dyn Intake> = match kind {
        Some(kind) if is_guessed => Arc::new(Guessed {
            kind,
            intake: column.intake,
        }),
        _ => column.intake,
    };
    ColumnInfo {
        affinity,
        text_bytes_max: column.guesses_bytes.unwrap_or_default(),
        strict: None,
        is_not_null: false,
        default: column.info.is_optional.then(String::new),
        is_guessed,
        is_derived,
        is_undecided: is_guessed && wanted.sample.is_undecided(name),
        name: column.info.name,
        declared_type: column.info.declared_type,
        intake: Some(intake),
    }
}

/// The digits before and after the point that a type such as `decimal(17,2)` stores.
fn decimal_digits(declared_type: &str) -> Option<(usize, usize)> {
    let digits = declared_type.strip_prefix("decimal(")?.split(')').next()?;
    let (precision, scale) = digits.split_once(',')?;
    let [precision, scale]: [usize; 2] = [precision.parse().ok()?, scale.parse().ok()?];
    Some((precision.checked_sub(scale)?, scale))
}

/// The conversion for a column whose kind the first rows decided. It refuses values of other forms.
#[derive(Debug)]
struct Guessed {
    kind: ColumnKind,
    intake: Arc<dyn Intake>,
}

impl Intake for Guessed {
    fn take(&self, given: Given<'_>, out: &mut Vec<u8>) -> Result<Taken, String> {
        match fits(&self.kind, given) {
            true => self.intake.take(given, out),
            false => Err("the value does not have the form of the first rows".to_owned()),
        }
    }

    fn is_numeric(&self) -> bool {
        self.intake.is_numeric()
    }

    fn needs_utc(&self) -> bool {
        self.intake.needs_utc()
    }
}

impl ServerSink {
    /// Why rows that give these columns keep the order of the input; `None` if they don't have to.
    fn why_in_input_order(&self, given: &[usize]) -> Option<String> {
        let is_left_out = |column: &&usize| !given.contains(column);
        let counted = self.counted.iter().find(is_left_out).map(|&column| {
            let name = &self.destination.columns[column].name;
            format!("the server numbers `{name}` in the order of arrival")
        });
        self.why_in_input_order.clone().or(counted)
    }

    /// Why the loader can't resolve duplicates; `None` if it can.
    fn unsettled(&self, given: &[usize], job: &Job) -> Option<String> {
        let Destination { key, columns, .. } = &self.destination;
        if !self.destination.is_key_unique {
            return Some("the table has no primary key".to_owned());
        }
        if let Some(part) = key.iter().find(|part| !given.contains(&part.column)) {
            let name = &columns[part.column].name;
            return Some(format!("the input has no key column `{name}`"));
        }
        if let Some(column) = self.inexact {
            let ColumnInfo {
                name,
                declared_type,
                ..
            } = &columns[column];
            return Some(format!(
                "only the server can compare values of `{name}` ({declared_type})"
            ));
        }
        if let Some(why) = self.why_in_input_order(given) {
            return Some(format!("the rows keep the order of the input: {why}"));
        }
        let is_sorted = matches!(
            job.order,
            RowOrder::Full
                | RowOrder::Batch {
                    is_by_prefix: false,
                    ..
                }
        );
        if !is_sorted {
            return Some("the rows aren't sorted by the complete key".to_owned());
        }
        (job.errors_max > 0)
            .then(|| "with --max-errors, the server may refuse the row that is kept".to_owned())
    }
}

impl Sink for ServerSink {
    fn destination(&self) -> &Destination {
        &self.destination
    }

    fn created(&self) -> Option<String> {
        self.created.clone()
    }

    fn notes(&self) -> Vec<Note> {
        self.notes.clone()
    }

    fn spill_folder(&self) -> PathBuf {
        std::env::temp_dir()
    }

    fn choose(&self, given: &[usize], job: &Job) -> Result<Choice, Error> {
        let refused = |what: String| Err(Error::Refused { what });
        if job.writer == WriterChoice::Direct {
            return refused("a server's pages can't be written directly".to_owned());
        }
        // A server accepts or refuses a bulk of rows as a whole: duplicates are resolved among the loaded rows. Updates
        // alone reach rows that the table has.
        if job.on_duplicate != OnDuplicate::Error
            && let Some(why) = self.unsettled(given, job)
        {
            return refused(format!(
                "--on-duplicate is not supported for {}: {why}; load into a table without that key, and remove duplicates there",
                self.destination.table
            ));
        }
        Ok(Choice {
            settles_updates: job.on_duplicate == OnDuplicate::Update,
            why_in_input_order: self
                .why_in_input_order(given)
                .filter(|_| job.order != RowOrder::Input),
            ..Choice::default()
        })
    }

    fn writer(
        self: Box<Self>,
        plan: &WritePlan<'_>,
        progress: &Progress,
    ) -> Result<Box<dyn RowWriter>, Error> {
        let info = |column: &usize| &plan.destination.columns[*column];
        let names: Vec<&str> = plan
            .record
            .iter()
            .map(|column| &*info(column).name)
            .collect();
        let survives_refusals = plan.job.errors_max > 0;
        let mut load = self.table.load(&names, survives_refusals)?;
        if survives_refusals && !load.survives_refusals {
            let what =
                "the first row that the server refuses ends the load, regardless of --max-errors";
            load.told.push(what.to_owned());
        }
        Ok(Box::new(ServerWriter {
            load,
            is_open: true,
            columns: names.len(),
            table: plan.destination.table.clone(),
            progress: progress.clone(),
            sent: VecDeque::new(),
            rows: 0,
            origins: None,
        }))
    }
}

/// A transaction of a server.
struct ServerWriter {
    load: Load,
    is_open: bool,
    columns: usize,
    table: String,
    progress: Progress,
    /// The origins of the last rows, as long as the server may refuse them by their number.
    sent: VecDeque<Origin>,
    /// The rows sent.
    rows: u64,
    origins: Option<Origins>,
}

/// Rows to send, with their origins.
struct Chunk {
    rows: Columns,
    origins: Vec<Origin>,
}

impl ServerWriter {
    /// Sends rows. Rejects rows that the server refuses, if the load can continue. Returns the number of accepted rows.
    fn send(
        &mut self,
        chunk: &Chunk,
        mut rows: Range<usize>,
        batch: &mut Batch<'_>,
    ) -> Result<u64, Error> {
        let mut taken = 0;
        // Refused rows are often close together: after a refusal, fewer rows are sent per bulk.
        let mut together = rows.len();
        while !rows.is_empty() {
            let end = rows.start.saturating_add(together).min(rows.end);
            let sent = rows.start..end;
            let Err(error) = self.load.writer.insert(&chunk.rows, sent.clone()) else {
                taken += sent.len() as u64;
                rows.start = end;
                together = together.saturating_mul(4);
                continue;
            };
            together = (together / 4).max(1);
            let EngineError::Refused {
                row,
                message,
                is_duplicate: false,
                ..
            } = &error
            else {
                return Err(self.told(error, &chunk.origins, batch.origins()));
            };
            if !self.load.survives_refusals {
                return Err(self.told(error, &chunk.origins, batch.origins()));
            }
            match row {
                // It is said to be one of them: fewer are sent.
                None if sent.len() > 1 => together = together.min(sent.len() / 2),
                row => {
                    let row = row.unwrap_or(sent.start);
                    taken += self.send(chunk, sent.start..row, batch)?;
                    batch.refuse(message.clone(), chunk.origins[row])?;
                    rows.start = row + 1;
                }
            }
        }
        Ok(taken)
    }

    /// The error with the line of its row, if known.
    fn told(&self, error: EngineError, lines: &[Origin], origins: &Origins) -> Error {
        match error {
            EngineError::Refused { row, message, .. } => Error::Row {
                at: match row.and_then(|row| lines.get(row)) {
                    Some(line) => origins.words(*line),
                    None => self.table.clone(),
                },
                what: message,
            },
            other => other.into(),
        }
    }

    /// Keeps the origins of rows for an error at the end.
    fn keep(&mut self, lines: &[Origin]) {
        self.rows += lines.len() as u64;
        if self.load.is_one_statement {
            self.sent.extend(lines);
            let surplus = self.sent.len().saturating_sub(LINES_KEPT);
            self.sent.drain(..surplus);
        }
    }

    /// An error at the end, whose row is numbered among all rows.
    fn told_at_end(&mut self, mut error: EngineError) -> Error {
        let before = self.rows as usize - self.sent.len();
        if let EngineError::Refused { row, .. } = &mut error {
            *row = row.and_then(|row| row.checked_sub(before));
        }
        let sent = std::mem::take(&mut self.sent);
        match &self.origins {
            Some(origins) => self.told(error, &Vec::from(sent), origins),
            None => error.into(),
        }
    }
}

impl RowWriter for ServerWriter {
    fn name(&self) -> &'static str {
        "the server's own bulk load"
    }

    fn write(&mut self, batch: &mut Batch<'_>) -> Result<u64, Error> {
        self.origins.get_or_insert_with(|| batch.origins().clone());
        let mut written = 0;
        loop {
            let mut columns = vec![Vec::new(); self.columns];
            let mut origins = Vec::new();
            while origins.len() < ROWS_TOGETHER
                && let Some((record, origin)) = batch.next()?
            {
                let values = Record::parse(record).expect("an encoded record").values();
                for (column, value) in columns.iter_mut().zip(values) {
                    column.push(cell(value));
                }
                origins.push(origin);
            }
            if origins.is_empty() {
                return Ok(written);
            }
            let chunk = Chunk {
                rows: Columns {
                    columns: columns.into_iter().map(Column::Any).collect(),
                },
                origins,
            };
            written += self.send(&chunk, 0..chunk.origins.len(), batch)?;
            self.keep(&chunk.origins);
        }
    }

    fn finish(
        mut self: Box<Self>,
        summary: &mut Summary,
        _: Option<Proof<'_>>,
    ) -> Result<(), Error> {
        let told = self.load.told.drain(..);
        let told = told.map(|text| Note::new(NoteKind::Writing, text));
        summary.notes.extend(told);
        if let Err(error) = self.load.writer.complete() {
            return Err(self.told_at_end(error));
        }
        if let Some(stored) = self.load.writer.stored()
            && stored != summary.rows_written
        {
            let text = format!(
                "the loader sent {} rows; triggers of the table decide which are stored",
                summary.rows_written
            );
            summary.notes.push(Note::new(NoteKind::RowsChanged, text));
            summary.rows_written = stored;
        }
        self.progress.check()?;
        self.load.writer.commit()?;
        self.is_open = false;
        self.load.writer.checkpoint_if_due()?;
        Ok(())
    }
}

impl Drop for ServerWriter {
    fn drop(&mut self) {
        if self.is_open {
            // The server does so itself where the connection is gone.
            _ = self.load.writer.rollback();
        }
    }
}

fn cell(value: Value<'_>) -> Cell {
    match value {
        Value::Null => Cell::Null,
        Value::Integer(integer) => Cell::Integer(integer),
        Value::Real(real) => Cell::Real(real),
        Value::Text(text) => match std::str::from_utf8(text) {
            Ok(text) => Cell::Text(Arc::from(text)),
            // The server says what it makes of it.
            Err(_) => Cell::Blob(Arc::from(text)),
        },
        Value::Blob(blob) => Cell::Blob(Arc::from(blob)),
    }
}
