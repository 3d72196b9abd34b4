//! A table of a server: PostgreSQL by COPY, MariaDB by LOAD DATA LOCAL, in the order of the key. What a column makes of
//! a value, which keys and indexes are built after the rows, and which server gets which rows, the engine knows
//! ([`inorder_engine::LoadShape`], [`inorder_engine::Load`]).

use std::collections::VecDeque;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use inorder_btree::{Collation, Record, TextEncoding, Value};
use inorder_engine::remote::{Remote, ServerUrl};
use inorder_engine::{
    Batch as Columns, Column, Engine as _, Error as EngineError, Load, LoadColumn, LoadTable,
    Settings, Value as Cell, Write,
};

use super::{Choice, Kind, RowWriter, Target, WritePlan, WriterChoice};
use crate::Error;
use crate::destination::{ColumnInfo, Destination, KeyPart};
use crate::encode::Affinity;
use crate::load::{Batch, Job, OnDuplicate, Order, Origins, Progress, Summary};
use crate::order::Origin;

pub(super) const TARGET: Kind = Kind {
    name: "PostgreSQL, MariaDB and what speaks their protocols",
    recognises: |to| to.contains("://"),
    open: |wanted| {
        if wanted.create.is_some() {
            return Err(Error::Refused {
                what: "--create makes tables of SQLite alone; make the server's first".to_owned(),
            });
        }
        let remote = Remote::at(&ServerUrl::parse(wanted.to)?)?;
        let settings = Settings {
            write: Write::Bulk,
            ..Settings::default()
        };
        // What takes no bulk of rows takes many to an INSERT.
        let settings = match remote.accepts(&settings) {
            Ok(()) => settings,
            Err(_) => Settings {
                write: Write::Multi,
                ..settings
            },
        };
        let table = remote.table(&settings, wanted.table)?;
        Ok(Box::new(ServerTarget::new(table, wanted.table)?))
    },
};

/// Rows sent at a time.
const ROWS_TOGETHER: usize = 10_000;

/// Rows of one statement whose lines are known yet when the server refuses one: more are never on their way.
const LINES_KEPT: usize = 1 << 22;

/// A table of a server that is connected.
pub struct ServerTarget {
    table: Box<dyn LoadTable>,
    destination: Destination,
    /// Why rows have to come in the order of the input, whatever columns they give.
    why_in_input_order: Option<String>,
    /// Columns that the server counts where they aren't given.
    counted: Vec<usize>,
    /// A column of the key whose equal values only the server knows.
    inexact: Option<usize>,
}

impl ServerTarget {
    /// A table, and its name. Rows go the way its database's settings say ([`inorder_engine::Write`]).
    ///
    /// # Errors
    /// Where there is no such table, or the server doesn't answer.
    pub fn new(table: Box<dyn LoadTable>, name: &str) -> Result<Self, Error> {
        let shape = table.shape()?;
        let found = shape.columns;
        if found.is_empty() {
            return Err(Error::Refused {
                what: format!("the server has no table `{name}`; make it first"),
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
        Ok(ServerTarget {
            why_in_input_order: shape.why_in_input_order,
            counted: counted.collect(),
            inexact: inexact.map(|(_, place)| *place),
            destination: Destination {
                table: name.to_owned(),
                physical: (0..found.len()).collect(),
                is_key_unique: !key.is_empty(),
                key: key.iter().map(part).collect(),
                rowid: None,
                columns: found.into_iter().map(column).collect(),
                encoding: TextEncoding::Utf8,
                page_bytes: None,
            },
            table,
        })
    }
}

/// A column as the loader has it: what it refuses is the server's to say.
fn column(column: LoadColumn) -> ColumnInfo {
    ColumnInfo {
        affinity: match column.guesses_bytes {
            Some(_) => Affinity::Blob,
            None => Affinity::Text,
        },
        text_bytes_max: column.guesses_bytes.unwrap_or_default(),
        strict: None,
        is_not_null: false,
        default: column.info.is_optional.then(String::new),
        is_guessed: false,
        name: column.info.name,
        declared_type: column.info.declared_type,
        intake: Some(column.intake),
    }
}

impl ServerTarget {
    /// Why rows that give these columns go in the order of the input; nothing where they don't have to.
    fn why_in_input_order(&self, given: &[usize]) -> Option<String> {
        let is_left_out = |column: &&usize| !given.contains(column);
        let counted = self.counted.iter().find(is_left_out).map(|&column| {
            let name = &self.destination.columns[column].name;
            format!("the server counts `{name}` as they come")
        });
        self.why_in_input_order.clone().or(counted)
    }

    /// Why the loader can't settle which of two rows with the same key stays; nothing where it can.
    fn unsettled(&self, given: &[usize], job: &Job) -> Option<String> {
        let Destination { key, columns, .. } = &self.destination;
        if !self.destination.is_key_unique {
            return Some("the table has no primary key".to_owned());
        }
        if let Some(part) = key.iter().find(|part| !given.contains(&part.column)) {
            let name = &columns[part.column].name;
            return Some(format!("the input has no `{name}`, which the key has"));
        }
        if let Some(column) = self.inexact {
            let ColumnInfo {
                name,
                declared_type,
                ..
            } = &columns[column];
            return Some(format!(
                "which values of `{name}` ({declared_type}) are the same, only the server knows"
            ));
        }
        if let Some(why) = self.why_in_input_order(given) {
            return Some(format!("rows go in the order of the input: {why}"));
        }
        let is_sorted = matches!(
            job.order,
            Order::Full
                | Order::Batch {
                    is_by_prefix: false,
                    ..
                }
        );
        if !is_sorted {
            return Some("rows aren't sorted by their whole key".to_owned());
        }
        (job.errors_max > 0).then(|| {
            "with --max-errors the row that stays may be one that the server refuses".to_owned()
        })
    }
}

impl Target for ServerTarget {
    fn destination(&self) -> &Destination {
        &self.destination
    }

    fn created(&self) -> Option<&str> {
        None
    }

    fn spill_folder(&self) -> PathBuf {
        std::env::temp_dir()
    }

    fn choose(&self, given: &[usize], job: &Job) -> Result<Choice, Error> {
        let refused = |what: String| Err(Error::Refused { what });
        if job.writer == WriterChoice::Direct {
            return refused("a server's pages can't be written directly".to_owned());
        }
        // A server takes a bulk of rows or none: who stays is settled among those that are loaded.
        if job.on_duplicate != OnDuplicate::Error
            && let Some(why) = self.unsettled(given, job)
        {
            return refused(format!(
                "--on-duplicate can't be settled for {}: {why}; load into a table without that key, and choose there",
                self.destination.table
            ));
        }
        Ok(Choice {
            why_in_input_order: self
                .why_in_input_order(given)
                .filter(|_| job.order != Order::Input),
            ..Choice::default()
        })
    }

    fn writer(self: Box<Self>, plan: &WritePlan<'_>) -> Result<Box<dyn RowWriter>, Error> {
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
                "the first row that the server refuses ends the load, whatever --max-errors says";
            load.told.push(what.to_owned());
        }
        Ok(Box::new(ServerWriter {
            load,
            is_open: true,
            columns: names.len(),
            table: plan.destination.table.clone(),
            progress: plan.progress.clone(),
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
    /// Where the last rows come from, as long as the server may yet refuse them by their number.
    sent: VecDeque<Origin>,
    /// Rows sent.
    rows: u64,
    origins: Option<Origins>,
}

/// Rows to be sent, and where they come from.
struct Chunk {
    rows: Columns,
    origins: Vec<Origin>,
}

impl ServerWriter {
    /// Sends rows, and all but those that the server refuses where that many may be. Returns how many it took.
    fn send(
        &mut self,
        chunk: &Chunk,
        mut rows: Range<usize>,
        batch: &mut Batch<'_>,
    ) -> Result<u64, Error> {
        let mut taken = 0;
        // Where one row is refused others may be near: fewer are sent together then, and sent again.
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

    /// The error with the line of its row, where that is known.
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

    /// Keeps where rows come from, for what the server says at the end.
    fn keep(&mut self, lines: &[Origin]) {
        self.rows += lines.len() as u64;
        if self.load.is_one_statement {
            self.sent.extend(lines);
            let surplus = self.sent.len().saturating_sub(LINES_KEPT);
            self.sent.drain(..surplus);
        }
    }

    /// The error of the end: its row is one of all.
    fn told_at_end(&mut self, error: EngineError) -> Error {
        let EngineError::Refused {
            table,
            row,
            message,
            is_duplicate,
        } = error
        else {
            return error.into();
        };
        let before = self.rows as usize - self.sent.len();
        let error = EngineError::Refused {
            row: row.and_then(|row| row.checked_sub(before)),
            table,
            message,
            is_duplicate,
        };
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

    fn finish(mut self: Box<Self>, summary: &mut Summary) -> Result<(), Error> {
        summary.notes.append(&mut self.load.told);
        if let Err(error) = self.load.writer.complete() {
            return Err(self.told_at_end(error));
        }
        if let Some(stored) = self.load.writer.stored()
            && stored != summary.rows_written
        {
            summary.notes.push(format!(
                "{} rows were sent: triggers of the table decide which are stored",
                summary.rows_written
            ));
            summary.rows_written = stored;
        }
        if self.progress.is_stopped() {
            return Err(Error::Stopped);
        }
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
