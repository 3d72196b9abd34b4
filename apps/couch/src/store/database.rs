//! One database.

use super::shared::Shared;
use super::state::State;
use super::{
    AllDocs, AllDocsPage, Attachment, AttachmentOption, AttachmentReader, Changes, ChangesPage,
    Compaction, Document, Draft, Edit, Encoding, Error, Explanation, Filter, FindPage, Found,
    GetOptions, IndexPage, Indexing, Info, Limits, LocalDocument, Missing, Mode, Outcome,
    PartitionInfo, Pending, Progress, Proposal, Purged, Refusal, Result, Sequences, Upload,
    all_docs, blobs, changes, design, explain, find, get, id, indexes, indexing, local, partition,
    row,
};
use crate::mango::{FindQuery, Index, IndexDefinition, IndexWritten};
use crate::revision::Revision;
use inorder_serve::copy_database;
use rusqlite::{Connection, OptionalExtension};
use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::sync::watch;

/// A database that is open. Cheap to clone; all clones are one.
#[derive(Clone)]
pub struct Database(Arc<Shared>);

/// The missing revisions of each requested document, and their possible ancestors.
pub type RevisionsDiff = BTreeMap<String, (Vec<Revision>, Vec<Revision>)>;

impl Database {
    pub(crate) fn new(shared: Shared) -> Self {
        Database(Arc::new(shared))
    }

    /// Returns whether this is the only handle.
    pub(crate) fn is_idle(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.0
    }

    pub(crate) fn read<T>(&self, read: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        self.0.readers.read(read)
    }

    pub(crate) fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<(T, Option<u64>)> + Send + 'static,
    ) -> Pending<T> {
        self.0.write(work)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Its own id, 32 hexadecimal digits: another database of the same name has another.
    pub fn uuid(&self) -> &str {
        &self.0.uuid
    }

    /// The size limits.
    pub fn limits(&self) -> Limits {
        self.0.limits.get()
    }

    /// Whether each id names a partition.
    pub fn is_partitioned(&self) -> bool {
        self.0.is_partitioned
    }

    /// Checks whether a document may have this id.
    ///
    /// # Errors
    /// [`Error::IllegalId`].
    pub fn check_id(&self, id: &str) -> Result<()> {
        id::check(id, &self.limits(), self.is_partitioned()).map_err(Error::IllegalId)
    }

    /// The numbers of a partition.
    ///
    /// # Errors
    /// If SQLite refuses.
    pub fn partition_info(&self, partition: &str) -> Result<PartitionInfo> {
        self.read(|connection| partition::info(connection, partition))
    }

    /// Its numbers.
    ///
    /// # Errors
    /// If SQLite refuses.
    pub fn info(&self) -> Result<Info> {
        self.0.info()
    }

    /// The sequence of the last change that is committed. A receiver is a few bytes: a feed waits on it, then reads
    /// [`Database::changes`]. It ends when the database is deleted.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.0.watch()
    }

    /// The sequence of the last change of a design document: what was made of them is good as long as this stays.
    ///
    /// # Errors
    /// If SQLite refuses.
    pub fn design_seq(&self) -> Result<u64> {
        self.read(|connection| Ok(State::read(connection)?.design_seq))
    }

    /// The folder for what is derived from the database and can be derived again. It is removed with the database.
    pub fn derived_folder(&self) -> PathBuf {
        super::derived::folder(&self.0.path)
    }

    /// Creates a file without a name beside the database's file, for bytes that wait.
    ///
    /// # Errors
    /// If the folder cannot be written to.
    pub fn temporary_file(&self) -> Result<File> {
        let path = self
            .0
            .path
            .with_extension(format!("{}.temporary", id::make()));
        let mut options = File::options();
        let file = options.read(true).write(true).create_new(true).mode(0o600);
        let file = file.open(&path).map_err(|error| Error::io(&path, error))?;
        fs::remove_file(&path).map_err(|error| Error::io(&path, error))?;
        Ok(file)
    }

    /// The sequences of the last changes.
    ///
    /// # Errors
    /// If SQLite refuses.
    pub fn sequences(&self) -> Result<Sequences> {
        self.0.readers.read_one(indexing::sequences)
    }

    /// The documents that changed after a sequence, as map functions see them.
    ///
    /// # Errors
    /// If SQLite refuses.
    pub fn index_page(&self, since: u64, indexing: Indexing) -> Result<IndexPage> {
        self.0
            .readers
            .read_snapshot(|connection| indexing::page(connection, since, indexing))
    }

    /// The last change at or before a sequence and the hash of its revision. An index keeps it.
    ///
    /// # Errors
    /// If SQLite refuses.
    pub fn index_mark(&self, seq: u64) -> Result<Option<(u64, Vec<u8>)>> {
        self.read(|connection| indexing::mark(connection, seq))
    }

    /// Whether an index that kept such a mark can be of this database: not if the database was replaced by an older copy and
    /// written to since.
    ///
    /// # Errors
    /// If SQLite refuses.
    pub fn has_index_mark(&self, seq: u64, hash: &[u8]) -> Result<bool> {
        let found = self.read(|connection| indexing::hash_at(connection, seq))?;
        Ok(found.is_none_or(|found| found == hash))
    }

    /// Of some documents those that are not there at all, not even deleted.
    ///
    /// # Errors
    /// If SQLite refuses.
    pub fn missing_ids(&self, ids: &[String]) -> Result<Vec<String>> {
        self.read(|connection| indexing::missing(connection, ids))
    }

    /// Reads a document.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is none, or, without a revision, when it is deleted.
    pub fn get(&self, id: &str, options: &GetOptions) -> Result<Document> {
        let is_one_statement =
            !row::needs_tree(options) && options.attachments == AttachmentOption::Stubs;
        match is_one_statement {
            true => self
                .0
                .readers
                .read_one(|connection| get::get(connection, id, options)),
            false => self
                .0
                .readers
                .read_snapshot(|connection| get::get(connection, id, options)),
        }
    }

    /// Reads some revisions of a document, or (with none given) all its leaves, deletions too.
    ///
    /// # Errors
    /// If SQLite refuses. A document that does not exist has no leaves.
    pub fn open_revs(
        &self,
        id: &str,
        revisions: Option<&[Revision]>,
        options: &GetOptions,
    ) -> Result<Vec<Found>> {
        self.0
            .readers
            .read_snapshot(|connection| get::open_revs(connection, id, revisions, options))
    }

    /// The winning revision of a document and whether it is a deletion.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is none.
    pub fn winner(&self, id: &str) -> Result<(Revision, bool)> {
        let head = self.read(|connection| get::head(connection, id))?;
        Ok((head.revision, head.deleted))
    }

    /// Writes one edit.
    pub fn put(&self, edit: Edit) -> Pending<Outcome> {
        self.0.write_edit(edit)
    }

    /// Writes new edits, each as its own: one that is refused does not touch the others. The answers are in the order of the
    /// edits. All accepted are committed together. Ids that begin with `_local/` are local documents.
    pub fn bulk(&self, edits: Vec<Edit>) -> Pending<Vec<Outcome>> {
        self.0.write_edits(edits, Mode::New)
    }

    /// Writes revisions made elsewhere (`new_edits=false`): never a conflict, what is there already is passed over.
    pub fn bulk_replicated(&self, edits: Vec<Edit>) -> Pending<Vec<Outcome>> {
        self.0.write_edits(edits, Mode::Replicated)
    }

    /// Checks an edit and compresses its attachments: the first step of a write with validation. The next steps are
    /// [`Database::propose`] and [`Database::write_drafts`].
    ///
    /// # Errors
    /// Why it is no edit.
    pub fn draft(&self, edit: Edit) -> std::result::Result<Draft, Refusal> {
        self.0.draft(edit)
    }

    /// What drafts would make of their documents as these are now: of as many as have so many bytes together, and of at least
    /// one. None for a draft about which nobody is to be asked.
    ///
    /// # Errors
    /// If SQLite refuses.
    pub fn propose(
        &self,
        drafts: &[Draft],
        mode: Mode,
        bytes_max: usize,
    ) -> Result<Vec<Option<Proposal>>> {
        self.0.propose(drafts, mode, bytes_max)
    }

    /// Writes drafts as far as they have consent, and gives back those whose consent is outdated. The answers are in the
    /// order of the drafts.
    pub fn write_drafts(&self, drafts: Vec<Draft>, mode: Mode) -> Pending<Vec<Progress>> {
        self.0.write_drafts(drafts, mode)
    }

    /// Which of these revisions are not here. Documents with none missing are left out.
    ///
    /// # Errors
    /// If SQLite refuses.
    pub fn revs_diff(&self, revisions: &BTreeMap<String, Vec<Revision>>) -> Result<RevisionsDiff> {
        self.0.readers.read_snapshot(|connection| {
            let mut diff = RevisionsDiff::new();
            for (id, revisions) in revisions {
                let tree = row::stored(connection, id)?.map(|stored| stored.tree);
                let tree = tree.unwrap_or_default();
                let missing = tree.missing(revisions);
                if !missing.is_empty() {
                    let ancestors = tree.possible_ancestors(&missing);
                    diff.insert(id.clone(), (missing, ancestors));
                }
            }
            Ok(diff)
        })
    }

    /// Purges leaf revisions. `_changes` does not list it. Returns the revisions that existed.
    pub fn purge(&self, revisions: BTreeMap<String, Vec<Revision>>) -> Pending<Vec<Purged>> {
        self.0.purge(revisions)
    }

    /// What has changed. `filter` says whether a change is of interest; it sees the document if the question includes
    /// documents.
    ///
    /// # Errors
    /// If SQLite refuses, or the filter does.
    pub fn changes(
        &self,
        question: &Changes,
        filter: Option<&mut Filter<'_>>,
    ) -> Result<ChangesPage> {
        self.0
            .readers
            .read_snapshot(|connection| changes::page(connection, question, filter))
    }

    /// All documents, in the order of their ids.
    ///
    /// # Errors
    /// If SQLite refuses.
    pub fn all_docs(&self, question: &AllDocs) -> Result<AllDocsPage> {
        self.0
            .readers
            .read_snapshot(|connection| all_docs::page(connection, question))
    }

    /// Reads a local document. `id` is with `_local/`. It is written like others, with [`Database::put`]; its revision only
    /// counts.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub fn local_get(&self, id: &str) -> Result<LocalDocument> {
        self.read(|connection| local::get(connection, id))
    }

    /// Deletes a local document; [`Error::NotFound`] when there is none.
    pub fn local_delete(&self, id: &str) -> Pending<()> {
        let id = id.to_owned();
        self.write(move |connection| match local::delete(connection, &id)? {
            true => Ok(((), None)),
            false => Err(Error::NotFound(Missing::Missing)),
        })
    }

    /// The local documents, in the order of their ids, from `start` on.
    ///
    /// # Errors
    /// If SQLite refuses.
    pub fn local_docs(&self, start: Option<&str>, limit: usize) -> Result<Vec<LocalDocument>> {
        self.read(|connection| local::list(connection, start.unwrap_or(id::LOCAL), limit))
    }

    /// Begins to store an attachment. `encoding` says how the bytes come; those of compressible types that come as they are
    /// are compressed.
    pub fn upload(&self, content_type: &str, encoding: Encoding) -> Upload {
        Upload::new(Arc::clone(&self.0), content_type, encoding)
    }

    /// Begins to read an attachment of a document that was read.
    ///
    /// # Errors
    /// If the bytes were removed by a compaction.
    pub fn attachment(&self, attachment: &Attachment) -> Result<AttachmentReader> {
        let pin = self.0.pins.pin(attachment.blob);
        match self.read(|connection| blobs::exists(connection, attachment.blob))? {
            true => Ok(AttachmentReader::new(
                Arc::clone(&self.0),
                attachment.clone(),
                pin,
            )),
            false => Err(Error::NotFound(Missing::Missing)),
        }
    }

    /// The revision limit: the number of revisions kept per branch.
    ///
    /// # Errors
    /// If SQLite refuses.
    pub fn revs_limit(&self) -> Result<u64> {
        self.read(|connection| Ok(State::read(connection)?.revs_limit))
    }

    /// Sets how many revisions of each branch are remembered by name: at least 1.
    pub fn set_revs_limit(&self, limit: u64) -> Pending<()> {
        let limit = limit.clamp(1, i64::MAX as u64);
        self.write(move |connection| {
            let mut state = State::read(connection)?;
            state.revs_limit = limit;
            state.write(connection)?;
            Ok(((), None))
        })
    }

    /// A text kept with the database, such as `security`.
    ///
    /// # Errors
    /// If SQLite refuses.
    pub(crate) fn property(&self, name: &str) -> Result<Option<String>> {
        self.read(|connection| {
            let sql = "SELECT value FROM properties WHERE name = ?1";
            let mut statement = connection.prepare_cached(sql)?;
            Ok(statement.query_row([name], |row| row.get(0)).optional()?)
        })
    }

    /// Keeps a text with the database. `then` is called after the commit and before the answer.
    pub(crate) fn set_property_then(
        &self,
        name: &str,
        value: String,
        then: impl FnOnce() + Send + 'static,
    ) -> Pending<()> {
        let name = name.to_owned();
        let write = move |connection: &Connection| {
            let sql = "INSERT OR REPLACE INTO properties(name, value) VALUES (?1, ?2)";
            connection.prepare_cached(sql)?.execute((name, value))?;
            Ok(((), None))
        };
        self.0.write_then(write, then)
    }

    /// Changes with each committed write, and each time the database is opened: what was read of it is good as long as this
    /// stays.
    pub fn version(&self) -> (u64, u64) {
        (self.0.opening, self.0.writes.load(Ordering::Acquire))
    }

    /// Removes the bodies of non-leaf revisions and frees their space. Reads and writes continue. Blocks until the end. Returns
    /// false when a compaction is running already.
    ///
    /// # Errors
    /// If SQLite refuses.
    ///
    /// # Panics
    /// Inside an asynchronous task.
    pub fn compact(&self) -> Result<bool> {
        let compaction = self.begin_compaction();
        compaction.map_or(Ok(false), |it| it.run().map(|()| true))
    }

    /// Registers a compaction for another thread to run. Returns `None` when one is running already.
    pub fn begin_compaction(&self) -> Option<Compaction> {
        Compaction::begin(&self.0)
    }

    /// Writes a copy of the database as it is at this moment into a file that must not exist, while it is used. Blocks until
    /// it is done; the copy is complete or not there.
    ///
    /// # Errors
    /// If the file exists or cannot be written.
    pub fn backup(&self, path: &Path) -> Result<()> {
        self.0
            .readers
            .read(|connection| Ok(copy_database(connection, path)?))
    }

    /// Finds documents by what is in them; the page's bookmark asks for the next. Without an index that serves it looks at every
    /// document: a server calls it where it may block.
    ///
    /// # Errors
    /// [`Error::Mango`] when no index serves what was demanded.
    pub fn find(&self, query: &FindQuery) -> Result<FindPage> {
        self.0
            .readers
            .read_snapshot(|connection| find::find(connection, self.is_partitioned(), query))
    }

    /// Returns the plan of a query.
    ///
    /// # Errors
    /// Those of [`Database::find`].
    pub fn explain(&self, query: &FindQuery) -> Result<Explanation> {
        self.0.readers.read_snapshot(|connection| {
            explain::explain(connection, self.name(), self.is_partitioned(), query)
        })
    }

    /// The indexes, `_all_docs` first.
    ///
    /// # Errors
    /// If SQLite refuses.
    pub fn indexes(&self) -> Result<Vec<Index>> {
        self.read(|connection| indexes::indexes(connection, self.is_partitioned()))
    }

    /// Writes an index into its design document, and builds it.
    pub fn create_index(&self, definition: IndexDefinition) -> Pending<IndexWritten> {
        let is_partitioned = self.is_partitioned();
        self.write(move |connection| design::create_index(connection, is_partitioned, &definition))
    }

    /// Takes an index out of its design document. [`Error::NotFound`] when there is none.
    pub fn delete_index(&self, design_document: &str, name: &str) -> Pending<()> {
        let (design_document, name) = (design_document.to_owned(), name.to_owned());
        self.write(move |connection| design::delete_index(connection, &design_document, &name))
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Database").field(&self.name()).finish()
    }
}
