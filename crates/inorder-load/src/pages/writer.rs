//! The direct writer, from the first row to the finished database.

use std::path::PathBuf;

use inorder_btree::{Error as TreeError, Options};
use rusqlite::{Connection, OptionalExtension as _};

use super::aside::{Aside, refuse_stale};
use super::build::{Build, Failure};
use super::checks::Checks;
use super::install::{Takeover, run_after};
use super::layout::Layout;
use super::obstacles::has_checks;
use super::scratch::Scratch;
use super::{Goal, rows_order, space};
use crate::Error;
use crate::load::{Batch, Origins, Progress, Summary};
use crate::target::{RowWriter, WritePlan, failed};

/// Writes a table's pages.
pub(crate) struct Direct {
    path: PathBuf,
    table: String,
    /// The statement that makes the table, where it isn't there.
    created: Option<String>,
    /// The version of the schema of the database that is there; `None` where there is none.
    schema_version: Option<i64>,
    /// What `sqlite_sequence` said of the table before, where it does.
    sequence: Option<i64>,
    aside: Aside,
    build: Build,
    statements_after: Vec<String>,
    origins: Option<Origins>,
    progress: Progress,
}

/// How often the rows are written where the database is there: into the file aside, and from there into its
/// journal and into itself.
const COPIES: u64 = 3;

impl Direct {
    /// Begins to write a table that [`choose`](super::choose) found fit for it.
    ///
    /// # Errors
    /// Where another load is under way, a stale journal lies there, or a file can't be made.
    pub(crate) fn begin(
        goal: &Goal<'_>,
        schema_version: i64,
        plan: &WritePlan<'_>,
    ) -> Result<Self, Error> {
        let failed = failed(goal.path);
        if goal.database.is_none() {
            refuse_stale(goal.path)?;
        }
        let scratch = Scratch::new(goal).map_err(&failed)?;
        let order = rows_order(plan.job, plan.destination, plan.record);
        let mut layout = Layout::new(&scratch, plan.destination, plan.record, order.as_ref())
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
            // What is copied from is read at once.
            is_direct: goal.database.is_none(),
            ..usual
        };
        let aside = Aside::create(goal.path)?;
        let statements_after = layout.statements_after.clone();
        let on_duplicate = plan.job.on_duplicate;
        let checks = match !plan.is_checked && has_checks(&scratch).map_err(&failed)? {
            true => Some(
                Checks::new(scratch, plan.destination, plan.record, on_duplicate)
                    .map_err(&failed)?,
            ),
            false => None,
        };
        let build = Build::begin(aside.writer()?, options, layout, checks, plan.limits);
        Ok(Direct {
            path: goal.path.to_owned(),
            table: plan.destination.table.clone(),
            created: goal.created.map(str::to_owned),
            schema_version: goal.database.map(|_| schema_version),
            sequence,
            build: build.map_err(|failure| explained(failure, &aside, None))?,
            aside,
            statements_after,
            origins: None,
            progress: plan.progress.clone(),
        })
    }
}

/// The largest rowid that a table with AUTOINCREMENT ever had, as far as SQLite knows.
pub(super) fn largest_rowid(database: &Connection, table: &str) -> rusqlite::Result<i64> {
    let read =
        "SELECT CAST(seq AS INTEGER) FROM main.sqlite_sequence WHERE name = ?1 ORDER BY rowid";
    let found: Option<Option<i64>> = database
        .query_row(read, [table], |row| row.get(0))
        .optional()?;
    Ok(found.flatten().unwrap_or(0))
}

fn page_bytes(database: &Connection) -> rusqlite::Result<u32> {
    database.query_row("PRAGMA main.page_size", [], |row| row.get(0))
}

impl RowWriter for Direct {
    fn name(&self) -> &'static str {
        "direct"
    }

    fn write(&mut self, batch: &mut Batch<'_>) -> Result<u64, Error> {
        let copies = if self.schema_version.is_some() {
            COPIES
        } else {
            1
        };
        let bytes = space::tree_bytes(batch.rows(), batch.bytes());
        space::check(self.aside.folder(), copies * bytes)?;
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
        let Direct {
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
        let look = || match progress.is_stopped() {
            true => Err(Error::Stopped),
            false => Ok(()),
        };
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

/// A failure in the words of a load.
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
