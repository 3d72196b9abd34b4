//! The direct page writer, from the first row to the finished database.

use std::path::{Path, PathBuf};

use inorder_btree::{Builder, Error as TreeError, Options};
use rusqlite::Connection;

use super::append::Append;
use super::aside::{Aside, folder, refuse_stale};
use super::build::{Build, Failure, KEPT, KeptEntries};
use super::install::{Takeover, largest_rowid, prove_new, run_after};
use super::kept::{Kept, NewRows};
use super::layout::Layout;
use super::rows_order;
use crate::Error;
use crate::database::failed;
use crate::disk_space;
use crate::files::is_same_file_system;
use crate::job::{Progress, Summary};
use crate::note::{Note, NoteKind};
use crate::order::Origin;
use crate::row_writer::{Proof, RowWriter, WritePlan};
use crate::rows::{Batch, Origins};
use crate::schema::{Checks, Goal, Scratch, has_checks};

/// Writes the pages of a table.
pub(crate) struct PageWriter {
    path: PathBuf,
    /// Dropped before the place: nothing is written any more when an error cuts the trees off.
    build: Build,
    /// The rows that the table has, if they are merged.
    kept: Option<Kept>,
    place: Place,
    statements_after: Vec<String>,
    spill_folder: PathBuf,
    origins: Option<Origins>,
    progress: Progress,
}

/// Where the pages are written.
enum Place {
    /// To a file beside the path, which becomes the database.
    New(Aside),
    /// Behind the last page of the database.
    Behind(Append),
    /// To a file beside the database. SQLite copies the rows, for a reason.
    Copied {
        aside: Aside,
        takeover: Takeover,
        why: String,
    },
}

/// How often the rows are written if SQLite copies them: to the temporary file, and from there to the journal or WAL and to
/// the database.
const COPIES: u64 = 3;

impl Place {
    /// Decides where the pages are written.
    fn choose(
        goal: &Goal<'_>,
        layout: &mut Layout,
        schema_version: i64,
        plan: &WritePlan<'_>,
        progress: &Progress,
    ) -> Result<Result<Self, String>, Error> {
        let Some(database) = goal.database else {
            refuse_stale(goal.path)?;
            return Ok(Ok(Place::New(Aside::create(goal.path)?)));
        };
        let input_bytes = progress.bytes_total();
        let why = match Append::begin(goal, layout, schema_version, plan, input_bytes)? {
            Ok(append) => {
                append
                    .sequence()
                    .into_iter()
                    .for_each(|largest| layout.count_from(largest));
                return Ok(Ok(Place::Behind(append)));
            }
            Err(why) if plan.merges.is_some() => return Ok(Err(why)),
            Err(why) => why,
        };
        let mut sequence = None;
        if layout.is_counted() && goal.created.is_none() {
            let largest = largest_rowid(database, &plan.destination.table);
            let largest = largest.map_err(failed(goal.path))?;
            layout.count_from(largest);
            sequence = Some(largest);
        }
        Ok(Ok(Place::Copied {
            aside: Aside::create(goal.path)?,
            takeover: Takeover {
                path: goal.path.to_owned(),
                table: plan.destination.table.clone(),
                first_statements: goal.first_statements(),
                completed: goal.completed.map(str::to_owned),
                schema_version,
                sequence,
                checks_parents: plan.checks_parents,
            },
            why,
        }))
    }

    /// The rows that are merged.
    fn kept(&self, layout: &Layout, plan: &WritePlan<'_>) -> Result<Option<Kept>, Failure> {
        match (self, &plan.merges) {
            (Place::Behind(append), Some(why)) => {
                let largest = plan.rowids.and_then(|rowids| rowids.largest);
                append.kept(layout, largest, why).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Begins the trees.
    fn builder(&self, options: Options, kept: Option<&Kept>) -> Result<Builder, Failure> {
        match self {
            Place::Behind(append) => append.builder(options, kept),
            Place::New(aside) | Place::Copied { aside, .. } => {
                Ok(Builder::create(aside.writer()?, options)?)
            }
        }
    }

    /// How often the rows are written.
    fn copies(&self) -> u64 {
        match self {
            Place::New(_) | Place::Behind(_) => 1,
            Place::Copied { .. } => COPIES,
        }
    }

    /// The path of the file that is written.
    fn path<'a>(&'a self, database: &'a Path) -> &'a Path {
        match self {
            Place::Behind(_) => database,
            Place::New(aside) | Place::Copied { aside, .. } => aside.path(),
        }
    }
}

impl PageWriter {
    /// Begins to write a table that [`choose`](super::choose) allows. Returns the reason if rows can't be merged after
    /// all.
    ///
    /// # Errors
    /// If another load is running, the database is locked, there is a stale journal, or a file can't be created.
    pub(crate) fn begin(
        goal: &Goal<'_>,
        schema_version: i64,
        plan: &WritePlan<'_>,
        progress: &Progress,
    ) -> Result<Result<Self, String>, Error> {
        let failed = failed(goal.path);
        let scratch = Scratch::new(goal).map_err(&failed)?;
        let order = rows_order(
            plan.job,
            &plan.destination,
            &plan.record,
            plan.merges.is_some(),
        );
        let mut layout = Layout::new(&scratch, &plan.destination, &plan.record, order.as_ref())
            .map_err(&failed)?;
        let place = match Place::choose(goal, &mut layout, schema_version, plan, progress)? {
            Ok(place) => place,
            Err(why) => return Ok(Err(why)),
        };
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
            writes_behind: plan.job.threads > 1,
            trees: layout.trees(),
            ..usual
        };
        let built_after = layout.built_after.iter();
        let mut statements_after: Vec<String> =
            built_after.map(|index| index.sql.clone()).collect();
        if let Place::New(_) = place {
            statements_after.extend(goal.completed.map(str::to_owned));
        }
        let on_duplicate = plan.job.on_duplicate;
        let checks = match !plan.is_checked && has_checks(&scratch).map_err(&failed)? {
            true => Some(
                Checks::new(scratch, &plan.destination, &plan.record, on_duplicate)
                    .map_err(&failed)?,
            ),
            false => None,
        };
        let encoding = options.encoding;
        let begun = place.kept(&layout, plan).and_then(|kept| {
            let builder = place.builder(options, kept.as_ref())?;
            let build = Build::begin(builder, encoding, layout, checks, &plan.limits)?;
            Ok((build, kept))
        });
        let begun = begun.map_err(|failure| explained(failure, place.path(goal.path), None));
        let (build, kept) = begun?;
        Ok(Ok(PageWriter {
            build,
            kept,
            path: goal.path.to_owned(),
            place,
            statements_after,
            spill_folder: plan.limits.spill_folder.clone(),
            origins: None,
            progress: progress.clone(),
        }))
    }
}

/// The rows of a batch.
impl NewRows for &mut Batch<'_> {
    #[inline]
    fn next(&mut self, row: &mut Vec<u8>) -> Result<Option<Origin>, Failure> {
        let next = Batch::next(self)?;
        Ok(next.map(|(record, origin)| {
            row.clear();
            row.extend_from_slice(record);
            origin
        }))
    }

    fn refuse(&mut self, what: String, origin: Origin) -> Result<(), Failure> {
        Ok(Batch::refuse(self, what, origin)?)
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
        let bytes = disk_space::tree_bytes(batch.rows(), batch.bytes());
        let folder = folder(&self.path);
        let freed_bytes = match is_same_file_system(folder, &self.spill_folder) {
            true => batch.freed_bytes(),
            false => 0,
        };
        let needed_bytes = self.place.copies() * bytes;
        disk_space::check(folder, needed_bytes.saturating_sub(freed_bytes))?;
        let origins = self.origins.get_or_insert_with(|| batch.origins().clone());
        if let Some(kept) = &mut self.kept {
            let mut new = &mut *batch;
            let merged = kept.merge_rows(&mut self.build, &mut new, &self.progress);
            let path = self.place.path(&self.path);
            return merged.map_err(|failure| explained(failure, path, Some(origins)));
        }
        let mut rows = 0;
        while let Some((row, origin)) = batch.next()? {
            match self.build.push(row, origin) {
                Ok(()) => rows += 1,
                Err(Failure::Refused { what }) => batch.refuse(what, origin)?,
                Err(failure) => {
                    let path = self.place.path(&self.path);
                    return Err(explained(failure, path, Some(origins)));
                }
            }
        }
        Ok(rows)
    }

    fn finish(
        self: Box<Self>,
        summary: &mut Summary,
        proof: Option<Proof<'_>>,
    ) -> Result<(), Error> {
        let PageWriter {
            path,
            place,
            build,
            mut kept,
            statements_after,
            origins,
            progress,
            ..
        } = *self;
        let explained = |failure| explained(failure, place.path(&path), origins.as_ref());
        let entries = kept.as_mut().map(|kept| kept as &mut dyn KeptEntries);
        let trees = build.finish(folder(&path), entries, || progress.check());
        let trees = trees.map_err(explained)?;
        summary.bytes_spilled += trees.spilled_bytes();
        if let Place::Behind(append) = &place {
            kept.iter_mut().for_each(Kept::end);
            summary.notes.extend(
                kept.as_ref()
                    .map(|kept| Note::new(NoteKind::Writing, kept.note())),
            );
            let finished = append.finish(trees, kept.as_ref(), &progress, proof);
            return finished.map_err(explained);
        }
        // SQLite's locks are the process's: closing any handle of the file ends them.
        drop(trees.into_file().map_err(explained)?);
        match place {
            Place::Behind(_) => Ok(()),
            Place::New(aside) => {
                run_after(&aside, &statements_after, &progress)?;
                prove_new(&aside, proof)?;
                aside.put_in_place(&path)
            }
            Place::Copied {
                aside,
                takeover,
                why,
            } => {
                run_after(&aside, &statements_after, &progress)?;
                takeover.run(&aside, &progress, proof)?;
                let note = format!("SQLite copied the pages into the database: {why}");
                summary.notes.push(Note::new(NoteKind::Writing, note));
                Ok(())
            }
        }
    }
}

/// The error of a load for a failed build of a file.
fn explained(failure: Failure, path: &Path, origins: Option<&Origins>) -> Error {
    let words = |origin| match origins {
        _ if origin == KEPT => "a row that is there already".to_owned(),
        Some(origins) => origins.words(origin),
        None => "a row".to_owned(),
    };
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
        Failure::Spill(source) | Failure::Tree(TreeError::Write(source)) => Error::Work {
            path: path.to_owned(),
            source,
        },
        other => Error::Refused {
            what: other.to_string(),
        },
    }
}
