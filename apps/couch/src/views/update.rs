//! Bringing an index up to the database's last change.

use super::batch::{Batch, known_keys, write_documents, write_failed};
use super::design::Design;
use super::index::{Index, State, root, set_root};
use super::key::partition_prefix;
use super::reduce::{Reducers, ScriptCall};
use super::tree::edit;
use super::{Error, Result};
use crate::script::{Owner, ScriptError, Scripts};
use crate::store::{Database, IndexPage, Indexed};
use crate::tasks::{Task, Tasks};
use rusqlite::Connection;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Handle;

/// Documents, and bytes of their rows, that are applied in one transaction.
const BATCH_DOCUMENTS_MAX: usize = 20_000;
const BATCH_BYTES_MAX: usize = 8 << 20;

/// Documents that a script host gets as one call, and the time that such a call should take.
const CALL_DOCUMENTS_MAX: usize = 128;
const CALL_TIME: Duration = Duration::from_millis(5);

/// A call with several documents is ended after that, and made again document by document.
const SHARED_CALL_TIME_MAX: Duration = Duration::from_secs(1);

/// Calls that are sent together.
const CALLS: usize = 8;

/// What an update works with.
#[derive(Clone, Debug)]
pub struct Work {
    pub db: Database,
    /// The id of the design document, for the task that is shown.
    pub id: String,
    pub index: Arc<Index>,
    pub scripts: Scripts,
    pub owner: Owner,
    pub tasks: Arc<Tasks>,
    /// Whether a document with which a map function fails is set aside.
    pub sets_aside: bool,
}

impl Work {
    /// Updates the index up to the last change that the database has when it gets there.
    ///
    /// # Errors
    /// If a function fails, or a file cannot be read or written. What was applied before stays.
    pub async fn run(&self) -> Result<()> {
        let work = self.clone();
        let since = blocking(move || work.prepare()).await?;
        let sequences = self.db.sequences()?;
        let progress = Progress::begin(self, since, sequences.update);
        let (mut since, mut batch, mut call_documents) = (since, Batch::default(), 1);
        loop {
            let (work, from) = (self.clone(), since);
            let page = blocking(move || {
                let indexing = work.index.design.indexing;
                Ok(work.db.index_page(from, indexing)?)
            });
            let page = page.await?;
            self.map(&page, &mut batch, &mut call_documents).await?;
            since = page.last_seq;
            let is_full =
                batch.documents() >= BATCH_DOCUMENTS_MAX || batch.bytes() >= BATCH_BYTES_MAX;
            if page.is_last || is_full {
                let (work, full) = (self.clone(), std::mem::take(&mut batch));
                blocking(move || work.apply(full, since)).await?;
            }
            progress.show(since);
            if page.is_last {
                return Ok(());
            }
        }
    }

    /// Removes what is not of this database any more. Returns the sequence from which documents are read.
    fn prepare(&self) -> Result<u64> {
        let sequences = self.db.sequences()?;
        let state = self.index.readers.read(State::read)?;
        let is_own = state.update_seq <= sequences.update
            && self.db.has_index_mark(state.mark_seq, &state.mark_hash)?;
        if !is_own {
            tracing::warn!(index = %self.index.path.display(), "the index is not of this state of the database; it is built again");
            self.index.clear()?;
            return Ok(0);
        }
        if self.is_outdated()? {
            tracing::info!(index = %self.index.path.display(), "documents that were set aside are tried again; the index is built again");
            self.index.clear()?;
            return Ok(0);
        }
        if state.purge_seq != sequences.purge {
            self.forget_purged(sequences.purge)?;
        }
        Ok(state.update_seq)
    }

    /// Removes the rows of documents that were purged.
    fn forget_purged(&self, purge_seq: u64) -> Result<()> {
        let ids = self.index.readers.read(|connection| {
            let mut statement = connection
                .prepare("SELECT id FROM docs UNION SELECT id FROM failed ORDER BY id")?;
            let ids = statement.query_map([], |row| row.get(0))?;
            Ok(ids.collect::<rusqlite::Result<Vec<String>>>()?)
        })?;
        let purged = self.db.missing_ids(&ids)?;
        let mut batch = Batch::default();
        purged.iter().for_each(|id| batch.add_document(id));
        self.index.change(|connection| {
            self.write(connection, batch)?;
            Ok(State {
                purge_seq,
                ..State::read(connection)?
            })
        })
    }

    /// Runs the map functions on the documents of a page.
    async fn map(
        &self,
        page: &IndexPage,
        batch: &mut Batch,
        call_documents: &mut usize,
    ) -> Result<()> {
        let living: Vec<&Indexed> = page
            .documents
            .iter()
            .filter(|one| one.text.is_some())
            .collect();
        for gone in page.documents.iter().filter(|one| one.text.is_none()) {
            batch.add_document(&gone.id);
        }
        let mut rest = &living[..];
        while !rest.is_empty() {
            let some = &rest[..rest.len().min(*call_documents * CALLS)];
            let chunks: Vec<&[&Indexed]> = some.chunks(*call_documents).collect();
            let texts: Vec<String> = chunks.iter().map(|chunk| joined(chunk)).collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let begun = Instant::now();
            let time_max = (*call_documents > 1).then_some(SHARED_CALL_TIME_MAX);
            let function = &self.index.design.function;
            let results = self.scripts.index(&self.owner, function, &texts, time_max);
            let results = results.await;
            let (mut done, mut is_slow) = (0, false);
            for (chunk, result) in chunks.into_iter().zip(results) {
                match result {
                    Ok(rows) => self.index.design.read_rows(chunk, &rows, batch)?,
                    Err(error) if matches!(error, ScriptError::Compile(_) | ScriptError::Busy) => {
                        return Err(error.into());
                    }
                    // Which of them it was shows when each is a call of its own.
                    Err(_) if chunk.len() > 1 => {
                        is_slow = true;
                        break;
                    }
                    Err(error) if self.sets_aside => {
                        let (id, reason) = (&chunk[0].id, error.to_string());
                        tracing::warn!(
                            database = self.db.name(),
                            design = self.id,
                            id,
                            reason,
                            "a map function failed; the document is set aside"
                        );
                        batch.add_failed(id, reason);
                    }
                    Err(error) => {
                        let id = chunk[0].id.clone();
                        return Err(Error::Map { id, error });
                    }
                }
                done += chunk.len();
            }
            rest = &rest[done..];
            let each = begun.elapsed() / u32::try_from(done.max(1)).unwrap_or(u32::MAX);
            *call_documents = match is_slow {
                true => 1,
                false => documents_per_call(each).min(*call_documents * 4),
            };
        }
        Ok(())
    }

    fn apply(&self, batch: Batch, seq: u64) -> Result<()> {
        let mark = self.db.index_mark(seq)?;
        self.index.change(|connection| {
            self.write(connection, batch)?;
            let (mark_seq, mark_hash) = mark.unwrap_or_default();
            Ok(State {
                update_seq: seq,
                mark_seq,
                mark_hash,
                ..State::read(connection)?
            })
        })
    }

    /// Replaces the rows of documents.
    fn write(&self, connection: &Connection, mut batch: Batch) -> Result<()> {
        batch.keep_last();
        let known = known_keys(connection, &batch)?;
        let views = &self.index.design.views;
        let mut changes = batch.changes(views.len(), &known)?;
        write_documents(connection, &batch, &known)?;
        write_failed(connection, &batch, &self.limits().unwrap_or_default())?;
        let scripts = |calls: &[ScriptCall]| self.call(calls);
        for (view, changes) in changes.iter_mut().enumerate() {
            // Stable: of a removal and an insertion at one position the insertion is last, and stays.
            changes.sort_by(|one, other| one.position.cmp(&other.position));
            changes.dedup_by(|later, earlier| {
                let is_same = later.position == earlier.position;
                if is_same {
                    *earlier = *later;
                }
                is_same
            });
            let reducers = Reducers {
                list: &views[view].reducers,
                scripts: &scripts,
            };
            let root = edit(connection, &root(connection, view)?, changes, &reducers)?;
            set_root(connection, view, &root)?;
        }
        Ok(())
    }

    /// Whether documents that were set aside must be tried again.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub fn is_outdated(&self) -> Result<bool> {
        self.index.is_outdated(self.limits().as_deref())
    }

    /// The limits under which documents are set aside; none if they are not.
    fn limits(&self) -> Option<String> {
        let limits = self.scripts.limits();
        self.sets_aside.then(|| format!("{limits:?}"))
    }

    /// Calls reduce functions from a thread that may block.
    fn call(&self, calls: &[ScriptCall]) -> Result<Vec<String>> {
        Handle::current().block_on(call(&self.scripts, &self.owner, &self.index.design, calls))
    }
}

/// Calls reduce functions.
pub async fn call(
    scripts: &Scripts,
    owner: &Owner,
    design: &Design,
    calls: &[ScriptCall],
) -> Result<Vec<String>> {
    let numbers: Vec<String> = calls.iter().map(|call| call.function.to_string()).collect();
    let arguments = calls.iter().zip(&numbers).flat_map(|(call, number)| {
        let kind = if call.is_rereduce {
            "rereduce"
        } else {
            "reduce"
        };
        [number.as_str(), kind, call.values.as_str()]
    });
    let arguments: Vec<&str> = arguments.collect();
    let results = scripts.reduce(owner, &design.function, &arguments).await?;
    Ok(results
        .into_iter()
        .map(|result| String::from(Box::<str>::from(result)))
        .collect())
}

/// Runs work that blocks.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| Error::Internal(error.to_string()))?
}

fn documents_per_call(each: Duration) -> usize {
    let count = CALL_TIME.as_nanos() / each.as_nanos().max(1);
    usize::try_from(count)
        .unwrap_or(usize::MAX)
        .clamp(1, CALL_DOCUMENTS_MAX)
}

fn joined(documents: &[&Indexed]) -> String {
    let texts: Vec<&str> = documents
        .iter()
        .filter_map(|one| one.text.as_deref())
        .collect();
    format!("[{}]", texts.join(","))
}

/// The rows of each document and view, as a script host answers.
type Rows<'a> = Vec<Vec<Vec<(&'a RawValue, &'a RawValue)>>>;

impl Design {
    /// Reads what the map functions emitted for some documents.
    fn read_rows(&self, documents: &[&Indexed], rows: &RawValue, batch: &mut Batch) -> Result<()> {
        let rows: Rows<'_> = serde_json::from_str(rows.get())
            .map_err(|error| Error::Internal(format!("a script host's answer: {error}")))?;
        for (document, views) in documents.iter().zip(rows) {
            // An id of a partitioned database begins with the partition.
            let prefix = match (self.is_partitioned, document.id.split_once(':')) {
                (true, Some((partition, _))) => partition_prefix(partition),
                _ => Vec::new(),
            };
            batch.add_document(&document.id);
            for (number, (view, rows)) in self.views.iter().zip(views).enumerate() {
                batch.add_rows(number, view.collation, &prefix, &rows);
            }
        }
        Ok(())
    }
}

/// The task that `_active_tasks` shows.
struct Progress {
    task: Task,
    since: u64,
    total: u64,
}

impl Progress {
    fn begin(work: &Work, since: u64, to: u64) -> Self {
        let total = to.saturating_sub(since);
        let fields: HashMap<&str, Value> = HashMap::from([
            ("database", work.db.name().into()),
            ("design_document", work.id.clone().into()),
            ("changes_done", 0.into()),
            ("total_changes", total.into()),
            ("progress", 0.into()),
        ]);
        let fields: Map<String, Value> = fields
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        Progress {
            task: work.tasks.begin("indexer", fields),
            since,
            total,
        }
    }

    fn show(&self, seq: u64) {
        let done = seq.saturating_sub(self.since);
        let total = self.total.max(done);
        let progress = (done * 100).checked_div(total).unwrap_or(100);
        self.task.update([
            ("changes_done", done.into()),
            ("total_changes", total.into()),
            ("progress", progress.into()),
        ]);
    }
}
