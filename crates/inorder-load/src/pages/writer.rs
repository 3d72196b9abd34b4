//! The direct page writer, from the first row to the finished database.

use std::path::PathBuf;

use inorder_btree::{Error as TreeError, Options};
use rusqlite::Connection;

use super::aside::{Aside, refuse_stale};
use super::build::{Build, Failure};
use super::install::{Takeover, largest_rowid, run_after};
use super::layout::Layout;
use super::rows_order;
use crate::Error;
use crate::database::failed;
use crate::disk_space;
use crate::job::{Progress, Summary};
use crate::row_writer::{RowWriter, WritePlan};
use crate::rows::{Batch, Origins};
use crate::schema::{Checks, Goal, Scratch, has_checks};

/// Writes the pages of a table.
pub(crate) struct PageWriter {
    path: PathBuf,
    table: String,
    /// The statement that creates the table; `None` if it exists.
    created: Option<String>,
    /// The schema version of the existing database; `None` if there is none.
    schema_version: Option<i64>,
    /// The largest rowid in `sqlite_sequence` before, for AUTOINCREMENT.
    sequence: Option<i64>,
    aside: Aside,
    build: Build,
    statements_after: Vec<String>,
    origins: Option<Origins>,
    progress: Progress,
}

/// How often the rows are written if the database exists: to the temporary file, and from there to the journal or WAL and
/// to the database.
const COPIES: u64 = 3;

impl PageWriter {
    /// Begins to write a table that [`choose`](super::choose) allows.
    ///
    /// # Errors
    /// If another load is running, there is a stale journal, or a file can't be created.
    pub(crate) fn begin(
        goal: &Goal<'_>,
        schema_version: i64,
        plan: &WritePlan<'_>,
        progress: &Progress,
    ) -> Result<Self, Error> {
        let failed = failed(goal.path);
        if goal.database.is_none() {
            refuse_stale(goal.path)?;
        }
        let scratch = Scratch::new(goal).map_err(&failed)?;
        let order = rows_order(plan.job, &plan.destination, &plan.record);
        let mut layout = Layout::new(&scratch, &plan.destination, &plan.record, order.as_ref())
            .map_err(&failed)?;
        let mut sequence = None;
        if let Some(database) = goal.database
            && layout.is_counted()
            && goal.created.is_none()
        {
            let largest = largest_rowid(database, &plan.destination.table).map_err(&failed)?;
            layout.count_from(largest);
            sequence = Some(largest);
        }
        let usual = Options::default();
        let options = Options {
            page_bytes: match goal.database {
                Some(database) => page_bytes(database).map_err(&failed)?,
                None => usual.page_bytes,
            },
            fill_percent: plan.job.fill_percent.unwrap_or(usual.fill_percent),
            encoding: plan.destination.encoding,
            // The copy source is read sequentially, once.
            bypasses_page_cache: goal.database.is_none(),
            ..usual
        };
        let aside = Aside::create(goal.path)?;
        let statements_after = layout.statements_after.clone();
        let on_duplicate = plan.job.on_duplicate;
        let checks = match !plan.is_checked && has_checks(&scratch).map_err(&failed)? {
            true => Some(
                Checks::new(scratch, &plan.destination, &plan.record, on_duplicate)
                    .map_err(&failed)?,
            ),
            false => None,
        };
        let build = Build::begin(aside.writer()?, options, layout, checks, &plan.limits);
        Ok(PageWriter {
            path: goal.path.to_owned(),
            table: plan.destination.table.clone(),
            created: goal.created.map(str::to_owned),
            schema_version: goal.database.map(|_| schema_version),
            sequence,
            build: build.map_err(|failure| explained(failure, &aside, None))?,
            aside,
            statements_after,
            origins: None,
            progress: progress.clone(),
        })
    }
}

fn page_bytes(database: &Connection) -> rusqlite::Result<u32> {
    database.query_row("PRAGMA main.page_size", [], |row| row.get(0))
}

impl RowWriter for PageWriter {
    fn name(&self) -> &'static str {
        "direct"
    }

    fn write(&mut self, batch: &mut Batch<'_>) -> Result<u64, Error> {
        let copies = if self.schema_version.is_some() {
            COPIES
        } else {
            1
        };
        let bytes = disk_space::tree_bytes(batch.rows(), batch.bytes());
        disk_space::check(self.aside.folder(), copies * bytes)?;
        let origins = self.origins.get_or_insert_with(|| batch.origins().clone());
        let mut rows = 0;
        while let Some((row, origin)) = batch.next()? {
            match self.build.push(row, origin) {
                Ok(()) => rows += 1,
                Err(Failure::Refused { what }) => batch.refuse(what, origin)?,
                Err(failure) => return Err(explained(failure, &self.aside, Some(origins))),
            }
        }
        Ok(rows)
    }

    fn finish(self: Box<Self>, summary: &mut Summary) -> Result<(), Error> {
        let PageWriter {
            path,
            table,
            created,
            schema_version,
            sequence,
            aside,
            build,
            statements_after,
            origins,
            progress,
        } = *self;
        let look = || progress.check();
        let (file, spilled_bytes) = build
            .finish(aside.folder(), look)
            .map_err(|failure| explained(failure, &aside, origins.as_ref()))?;
        summary.bytes_spilled += spilled_bytes;
        // SQLite's locks are the process's: closing any handle of the file ends them.
        drop(file);
        run_after(&aside, &statements_after, &progress)?;
        let Some(schema_version) = schema_version else {
            return aside.put_in_place(&path);
        };
        let takeover = Takeover {
            path: &path,
            table: &table,
            created: created.as_deref(),
            schema_version,
            sequence,
        };
        takeover.run(&aside, &progress)
    }
}

/// The error of a load for a failed build.
fn explained(failure: Failure, aside: &Aside, origins: Option<&Origins>) -> Error {
    let words = |origin| origins.map_or("a row".to_owned(), |origins| origins.words(origin));
    match failure {
        Failure::Clash {
            tree,
            first,
            second,
        } => Error::Duplicate {
            first: words(first),
            second: words(second),
            table: tree,
        },
        Failure::Load(error) => error,
        Failure::Spill(source) | Failure::Tree(TreeError::Write(source)) => aside.failed(source),
        other => Error::Refused {
            what: other.to_string(),
        },
    }
}
