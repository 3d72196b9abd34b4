//! A table of a server: PostgreSQL by binary COPY, MariaDB by LOAD DATA LOCAL, in the order of the key. What of
//! keys and indexes is made after the rows, and which server gets which rows, the engine knows
//! ([`inorder_engine::Load`]).

use std::path::PathBuf;
use std::sync::Arc;

use inorder_btree::{Collation, Record, TextEncoding, Value};
use inorder_engine::remote::dialect::Feature;
use inorder_engine::remote::{Remote, ServerUrl};
use inorder_engine::{Batch as Columns, Column, Load, LoadTable, Settings, Value as Cell, Write};

use super::{Choice, Kind, RowWriter, Target, WritePlan, WriterChoice};
use crate::Error;
use crate::destination::{ColumnInfo, Destination, KeyPart};
use crate::encode::Affinity;
use crate::load::{Batch, Job, OnDuplicate, Progress, Summary};

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
        let settings = match remote.lacks(Feature::Bulk) {
            true => Settings {
                write: Write::Multi,
                ..settings
            },
            false => settings,
        };
        let table = remote.table(&settings, wanted.table)?;
        Ok(Box::new(ServerTarget::new(table, wanted.table)?))
    },
};

/// Rows sent at a time.
const ROWS_TOGETHER: usize = 10_000;

/// A table of a server that is connected.
pub struct ServerTarget {
    table: Box<dyn LoadTable>,
    destination: Destination,
}

impl ServerTarget {
    /// A table, and its name. Rows go the way its database's settings say ([`inorder_engine::Write`]).
    ///
    /// # Errors
    /// Where there is no such table, or the server doesn't answer.
    pub fn new(table: Box<dyn LoadTable>, name: &str) -> Result<Self, Error> {
        let found = table.columns()?;
        if found.is_empty() {
            return Err(Error::Refused {
                what: format!("the server has no table `{name}`; make it first"),
            });
        }
        let mut key: Vec<(u32, usize)> = found
            .iter()
            .zip(0..)
            .map(|(column, place)| (column.primary_key, place))
            .filter(|(in_key, _)| *in_key > 0)
            .collect();
        key.sort_unstable();
        let columns: Vec<ColumnInfo> = found
            .into_iter()
            .map(|column| ColumnInfo {
                affinity: affinity(&column.declared_type),
                strict: None,
                is_not_null: !column.is_optional,
                default: column.is_optional.then(String::new),
                is_guessed: false,
                name: column.name,
                declared_type: column.declared_type,
            })
            .collect();
        let part = |&(_, column): &(u32, usize)| KeyPart {
            column,
            collation: Collation::Binary,
            is_descending: false,
        };
        Ok(ServerTarget {
            destination: Destination {
                table: name.to_owned(),
                physical: (0..columns.len()).collect(),
                is_key_unique: !key.is_empty(),
                key: key.iter().map(part).collect(),
                rowid: None,
                columns,
                encoding: TextEncoding::Utf8,
                page_bytes: None,
            },
            table,
        })
    }
}

/// What a server's type takes of numbers and text; bytes are for the types that hold them.
fn affinity(declared_type: &str) -> Affinity {
    let declared_type = declared_type.to_ascii_lowercase();
    let is_any = |words: &[&str]| words.iter().any(|word| declared_type.contains(word));
    if is_any(&["bytea", "blob", "binary", "uuid"]) {
        Affinity::Blob
    } else if is_any(&["int", "serial"]) && !is_any(&["interval", "point"]) {
        Affinity::Integer
    } else if is_any(&["double", "real", "float"]) {
        Affinity::Real
    } else {
        Affinity::Text
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

    fn choose(&self, _given: &[usize], job: &Job) -> Result<Choice, Error> {
        let refused = |what: &str| {
            Err(Error::Refused {
                what: what.to_owned(),
            })
        };
        match (job.writer, job.on_duplicate) {
            (WriterChoice::Direct, _) => refused("a server's pages can't be written directly"),
            // A server takes a bulk of rows or none: who stays is settled among those that are loaded.
            (_, OnDuplicate::Replace) if !self.destination.is_key_unique => {
                refused("the table has no key by which rows could be replaced")
            }
            _ => Ok(Choice::default()),
        }
    }

    fn writer(self: Box<Self>, plan: &WritePlan<'_>) -> Result<Box<dyn RowWriter>, Error> {
        let info = |column: &usize| &plan.destination.columns[*column];
        let names: Vec<&str> = plan
            .record
            .iter()
            .map(|column| &*info(column).name)
            .collect();
        Ok(Box::new(ServerWriter {
            load: self.table.load(&names)?,
            is_open: true,
            columns: names.len(),
            progress: plan.progress.clone(),
        }))
    }
}

/// A transaction of a server.
struct ServerWriter {
    load: Load,
    is_open: bool,
    columns: usize,
    progress: Progress,
}

impl ServerWriter {
    fn send(&mut self, columns: &mut [Vec<Cell>]) -> Result<u64, Error> {
        let batch = Columns {
            columns: columns
                .iter_mut()
                .map(|column| Column::Any(std::mem::take(column)))
                .collect(),
        };
        let rows = batch.rows();
        if rows > 0 {
            self.load.writer.insert(&batch, 0..rows)?;
        }
        Ok(rows as u64)
    }
}

impl RowWriter for ServerWriter {
    fn name(&self) -> &'static str {
        "the server's own bulk load"
    }

    fn write(&mut self, batch: &mut Batch<'_>) -> Result<u64, Error> {
        let mut columns = vec![Vec::new(); self.columns];
        let mut written = 0;
        while let Some((record, _)) = batch.next()? {
            let values = Record::parse(record).expect("an encoded record").values();
            for (column, value) in columns.iter_mut().zip(values) {
                column.push(cell(value));
            }
            if columns[0].len() == ROWS_TOGETHER {
                written += self.send(&mut columns)?;
            }
        }
        Ok(written + self.send(&mut columns)?)
    }

    fn finish(mut self: Box<Self>, summary: &mut Summary) -> Result<(), Error> {
        summary.notes.append(&mut self.load.told);
        let writer = &mut self.load.writer;
        writer.complete()?;
        if self.progress.is_stopped() {
            return Err(Error::Stopped);
        }
        writer.commit()?;
        self.is_open = false;
        writer.checkpoint_if_due()?;
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
        Value::Text(text) => Cell::Text(Arc::from(String::from_utf8_lossy(text))),
        Value::Blob(blob) => Cell::Blob(Arc::from(blob)),
    }
}
