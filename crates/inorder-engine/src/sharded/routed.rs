//! Writes rows directly to their shards, to all shards at the same time.

use super::{
    NAME,
    cluster::joined,
    route::{Router, Rule},
};
use crate::{Batch, DatabaseTable, Error, Load, LoadShape, LoadTable as _, Writer};
use std::{ops::Range, thread};

/// Begins a load into a table on these shards, in the order of the distribution.
///
/// # Errors
/// Those of [`RoutedWriter::new`], and if a shard refuses.
pub fn load(
    shards: &[DatabaseTable],
    table: &str,
    columns: &[&str],
    rule: &Rule,
) -> Result<Load, Error> {
    // Each row goes to one server. If one server refuses a row, the others have stored theirs.
    let loads: Result<Vec<Load>, Error> = thread::scope(|scope| {
        let begin = |shard: &'_ DatabaseTable| shard.load(columns, false);
        let threads: Vec<_> = shards
            .iter()
            .map(|shard| scope.spawn(move || begin(shard)))
            .collect();
        let loads: Vec<_> = threads.into_iter().map(joined).collect();
        loads.into_iter().collect()
    });
    let mut told = vec![format!(
        "rows are routed by {}({}) to {} servers, which commit one by one",
        rule.partition.name(),
        rule.column,
        shards.len()
    )];
    let mut writers = Vec::new();
    for load in loads? {
        writers.push(load.writer);
        for word in load.told {
            // Equal messages of several servers are reported once.
            if !told.contains(&word) {
                told.push(word);
            }
        }
    }
    Ok(Load {
        writer: Box::new(RoutedWriter::new(writers, true, table, columns, rule)?),
        told,
        survives_refusals: false,
        is_one_statement: false,
    })
}

/// Returns the properties of a table on shards: the coordinator's columns, and the properties that the shards
/// determine.
pub fn with_keys_of(mut shape: LoadShape, shard: &LoadShape) -> LoadShape {
    for column in &mut shape.columns {
        let own = shard
            .columns
            .iter()
            .find(|own| own.info.name == column.info.name);
        column.info.primary_key = own.map_or(0, |own| own.info.primary_key);
        column.is_exact &= own.is_some_and(|own| own.is_exact);
    }
    if shape.why_in_input_order.is_none() {
        shape
            .why_in_input_order
            .clone_from(&shard.why_in_input_order);
    }
    shape
}

/// A writer with a connection to each shard.
pub struct RoutedWriter {
    shards: Vec<Shard>,
    router: Router,
    /// Index of the distribution column in a batch.
    column: usize,
    /// Name of the distribution column.
    name: String,
    table: String,
}

struct Shard {
    writer: Box<dyn Writer>,
    /// Whether the open transaction has rows on the shard.
    is_open: bool,
}

impl RoutedWriter {
    /// Creates a writer over the shards' writers, in the order of the distribution. `is_begun` is set if their
    /// transactions are open.
    ///
    /// # Errors
    /// If the distribution column is not among the written columns.
    pub fn new(
        writers: Vec<Box<dyn Writer>>,
        is_begun: bool,
        table: &str,
        columns: &[&str],
        rule: &Rule,
    ) -> Result<Self, Error> {
        let cannot = |what: String| Error::Unsupported { engine: NAME, what };
        let column = columns.iter().position(|name| *name == rule.column);
        let column = column.ok_or_else(|| {
            cannot(format!(
                "route rows of {table}: the coordinator computes their `{}`; \
                 write by insert, multi or bulk",
                rule.column
            ))
        })?;
        let shards = writers.into_iter().map(|writer| Shard {
            writer,
            is_open: is_begun,
        });
        Ok(RoutedWriter {
            shards: shards.collect(),
            router: Router::new(rule).map_err(cannot)?,
            column,
            name: rule.column.clone(),
            table: table.to_owned(),
        })
    }

    /// Returns the rows of each shard.
    fn sorted_out(&self, batch: &Batch, rows: Range<usize>) -> Result<Vec<Vec<u32>>, Error> {
        let mut picks = vec![Vec::new(); self.shards.len()];
        let column = &batch.columns[self.column];
        for row in rows {
            let shard = self.router.shard(column.cell(row));
            let shard = shard.map_err(|message| Error::Refused {
                table: self.table.clone(),
                row: Some(row),
                message: format!("column `{}`: {message}", self.name),
                is_duplicate: false,
            })?;
            picks[shard].push(row as u32);
        }
        Ok(picks)
    }

    /// Runs a function on every shard of the transaction, on all at the same time.
    fn on_open(
        &mut self,
        work: impl Fn(&mut Shard) -> Result<(), Error> + Sync,
    ) -> Result<(), Error> {
        let work = &work;
        thread::scope(|scope| {
            let threads: Vec<_> = self
                .shards
                .iter_mut()
                .filter(|shard| shard.is_open)
                .map(|shard| scope.spawn(move || work(shard)))
                .collect();
            let results: Vec<_> = threads.into_iter().map(joined).collect();
            results.into_iter().collect()
        })
    }
}

impl Shard {
    /// Inserts these rows of a batch.
    fn insert(&mut self, batch: &Batch, picks: &[u32]) -> Result<(), Error> {
        if picks.is_empty() {
            return Ok(());
        }
        if !self.is_open {
            self.writer.begin()?;
            self.is_open = true;
        }
        let columns = batch.columns.iter().map(|column| column.gather(picks));
        let own = Batch {
            columns: columns.collect(),
        };
        let inserted = self.writer.insert(&own, 0..picks.len());
        inserted.map_err(|mut error| {
            if let Error::Refused { row: Some(row), .. } = &mut error {
                *row = picks[*row] as usize;
            }
            error
        })
    }
}

impl Writer for RoutedWriter {
    /// A shard's transaction begins with its first row.
    fn begin(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn insert(&mut self, batch: &Batch, rows: Range<usize>) -> Result<(), Error> {
        let longest = batch.columns.iter().map(|column| column.len()).min();
        if batch.columns.len() <= self.column || longest.is_some_and(|length| length < rows.end) {
            // The first shard returns the error message.
            return self.shards[0].writer.insert(batch, rows);
        }
        let picks = self.sorted_out(batch, rows)?;
        thread::scope(|scope| {
            let threads: Vec<_> = self
                .shards
                .iter_mut()
                .zip(&picks)
                .map(|(shard, picks)| scope.spawn(|| shard.insert(batch, picks)))
                .collect();
            let results: Vec<_> = threads.into_iter().map(joined).collect();
            results.into_iter().collect()
        })
    }

    fn complete(&mut self) -> Result<(), Error> {
        self.on_open(|shard| {
            let completed = shard.writer.complete();
            completed.map_err(|mut error| {
                // The row number counts the rows of this shard only.
                if let Error::Refused { row, .. } = &mut error {
                    *row = None;
                }
                error
            })
        })
    }

    fn stored(&self) -> Option<u64> {
        self.shards.iter().map(|shard| shard.writer.stored()).sum()
    }

    /// Commits on each shard as soon as it is ready. There is no two-phase commit.
    fn commit(&mut self) -> Result<(), Error> {
        self.on_open(|shard| {
            shard.is_open = false;
            shard.writer.commit()
        })
    }

    fn rollback(&mut self) -> Result<(), Error> {
        self.on_open(|shard| {
            shard.is_open = false;
            shard.writer.rollback()
        })
    }

    /// The servers run checkpoints themselves.
    fn checkpoint_if_due(&mut self) -> Result<bool, Error> {
        Ok(false)
    }

    fn retries(&self) -> u64 {
        0
    }
}
