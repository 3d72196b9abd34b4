//! One database.

use super::{
    AllDocs, AllDocsPage, Attachment, AttachmentReader, Changes, ChangesPage, Document, Edit,
    Encoding, Found, GetOptions, Info, Limits, Outcome, Pending, Purged, Result, Upload, Validate,
};
use crate::mango::{Explanation, FindPage, FindQuery, Index, IndexDefinition, IndexWritten};
use crate::revision::Revision;
use std::collections::BTreeMap;
use std::path::Path;
use tokio::sync::watch;

/// A database that is open. Cheap to clone; all clones are one.
#[derive(Clone, Debug)]
pub struct Database {}

/// For each document that was asked for, the revisions that are missing and the leaves they may have come from.
pub type RevisionsDiff = BTreeMap<String, (Vec<Revision>, Vec<Revision>)>;

/// Whether a change is of interest.
pub type Filter<'a> = dyn FnMut(&super::Change) -> Result<bool> + 'a;

impl Database {
    /// Its name.
    pub fn name(&self) -> &str {
        todo!()
    }

    /// Its own id, 32 hexadecimal digits: another database of the same name has another.
    pub fn uuid(&self) -> &str {
        todo!()
    }

    /// How large things may be.
    pub fn limits(&self) -> Limits {
        todo!()
    }

    /// Its numbers.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn info(&self) -> Result<Info> {
        todo!()
    }

    /// The sequence of the last change that is committed. A receiver is a few bytes: a feed waits on it, then reads
    /// [`Database::changes`]. It ends when the database is deleted or closed.
    pub fn watch(&self) -> watch::Receiver<u64> {
        todo!()
    }

    /// Reads a document.
    ///
    /// # Errors
    /// [`Error::NotFound`](super::Error::NotFound) when there is none, or, without a revision, when it is deleted.
    pub fn get(&self, id: &str, options: &GetOptions) -> Result<Document> {
        todo!("{id} {options:?}")
    }

    /// Reads some revisions of a document, or (with none given) all its leaves, deletions too.
    ///
    /// # Errors
    /// When SQLite refuses. A document that does not exist has no leaves.
    pub fn open_revs(
        &self,
        id: &str,
        revisions: Option<&[Revision]>,
        options: &GetOptions,
    ) -> Result<Vec<Found>> {
        todo!("{id} {revisions:?} {options:?}")
    }

    /// The winning revision of a document, also a deletion; without its body.
    ///
    /// # Errors
    /// [`Error::NotFound`](super::Error::NotFound) when there is none.
    pub fn winner(&self, id: &str) -> Result<(Revision, bool)> {
        todo!("{id}")
    }

    /// Writes one edit.
    pub fn put(&self, edit: Edit) -> Pending<Outcome> {
        self.put_validated(edit, None)
    }

    /// Writes one edit if it is valid.
    pub fn put_validated(&self, edit: Edit, validate: Option<Validate>) -> Pending<Outcome> {
        todo!("{edit:?} {}", validate.is_some())
    }

    /// Writes new edits, each as its own: one that is refused does not touch the others. The answers are in the order of the
    /// edits. All accepted are committed together. Ids that begin with `_local/` are local documents.
    pub fn bulk(&self, edits: Vec<Edit>, validate: Option<Validate>) -> Pending<Vec<Outcome>> {
        todo!("{edits:?} {}", validate.is_some())
    }

    /// Writes revisions made elsewhere (`new_edits=false`): never a conflict, what is there already is passed over.
    pub fn bulk_replicated(
        &self,
        edits: Vec<Edit>,
        validate: Option<Validate>,
    ) -> Pending<Vec<Outcome>> {
        todo!("{edits:?} {}", validate.is_some())
    }

    /// Which of these revisions are not here. Documents with none missing are left out.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn revs_diff(&self, revisions: &BTreeMap<String, Vec<Revision>>) -> Result<RevisionsDiff> {
        todo!("{revisions:?}")
    }

    /// Forgets leaves as if they had never been. `_changes` tells nobody.
    pub fn purge(&self, revisions: BTreeMap<String, Vec<Revision>>) -> Pending<Vec<Purged>> {
        todo!("{revisions:?}")
    }

    /// What has changed. `filter` says whether a change is of interest; it sees the document if the question includes
    /// documents.
    ///
    /// # Errors
    /// When SQLite refuses, or the filter does.
    pub fn changes(
        &self,
        question: &Changes,
        filter: Option<&mut Filter<'_>>,
    ) -> Result<ChangesPage> {
        todo!("{question:?} {}", filter.is_some())
    }

    /// All documents, in the order of their ids.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn all_docs(&self, question: &AllDocs) -> Result<AllDocsPage> {
        todo!("{question:?}")
    }

    /// Reads a local document. `id` is with `_local/`; its revision is `0-N`, `N` the number of writes.
    ///
    /// # Errors
    /// [`Error::NotFound`](super::Error::NotFound).
    pub fn local_get(&self, id: &str) -> Result<super::LocalDocument> {
        todo!("{id}")
    }

    /// Writes a local document, whatever its revision before (as CouchDB does).
    pub fn local_put(&self, id: &str, body: String) -> Pending<super::LocalDocument> {
        todo!("{id} {body}")
    }

    /// Deletes a local document; [`Error::NotFound`](super::Error::NotFound) when there is none.
    pub fn local_delete(&self, id: &str) -> Pending<()> {
        todo!("{id}")
    }

    /// The local documents, in the order of their ids, from `start` on.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn local_docs(
        &self,
        start: Option<&str>,
        limit: usize,
    ) -> Result<Vec<super::LocalDocument>> {
        todo!("{start:?} {limit}")
    }

    /// Begins to store an attachment. `encoding` says how the bytes come; those of compressible types that come as they are
    /// are compressed.
    pub fn upload(&self, content_type: &str, encoding: Encoding) -> Upload {
        todo!("{content_type} {encoding:?}")
    }

    /// Begins to read an attachment of a document that was read.
    ///
    /// # Errors
    /// When its bytes are gone: the document was compacted since.
    pub fn attachment(&self, attachment: &Attachment) -> Result<AttachmentReader> {
        todo!("{attachment:?}")
    }

    /// How many revisions of each branch are remembered by name.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn revs_limit(&self) -> Result<u64> {
        todo!()
    }

    /// Sets how many revisions of each branch are remembered by name: at least 1.
    pub fn set_revs_limit(&self, limit: u64) -> Pending<()> {
        todo!("{limit}")
    }

    /// A text kept with the database, such as `security`.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn property(&self, name: &str) -> Result<Option<String>> {
        todo!("{name}")
    }

    /// Keeps a text with the database.
    pub fn set_property(&self, name: &str, value: String) -> Pending<()> {
        todo!("{name} {value}")
    }

    /// Forgets the bodies of revisions that are no leaves, and gives back the space. Reads and writes go on meanwhile. Blocks
    /// until it is done; false when it is running already.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn compact(&self) -> Result<bool> {
        todo!()
    }

    /// Writes a copy of the database as it is at this moment into a file that must not exist, while it is used. Blocks until
    /// it is done; the copy is complete or not there.
    ///
    /// # Errors
    /// When the file exists or cannot be written.
    pub fn backup(&self, path: &Path) -> Result<()> {
        todo!("{path:?}")
    }

    /// Finds documents by what is in them: one bounded page. `_find` asks again with the page's bookmark.
    ///
    /// # Errors
    /// [`Error::Mango`](super::Error::Mango) when no index serves what was demanded.
    pub fn find(&self, query: &FindQuery) -> Result<FindPage> {
        todo!("{query:?}")
    }

    /// Says how a query would be answered.
    ///
    /// # Errors
    /// As [`Database::find`].
    pub fn explain(&self, query: &FindQuery) -> Result<Explanation> {
        todo!("{query:?}")
    }

    /// The indexes, `_all_docs` first.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn indexes(&self) -> Result<Vec<Index>> {
        todo!()
    }

    /// Writes an index into its design document, and builds it.
    pub fn create_index(&self, definition: IndexDefinition) -> Pending<IndexWritten> {
        todo!("{definition:?}")
    }

    /// Takes an index out of its design document. [`Error::NotFound`](super::Error::NotFound) when there is none.
    pub fn delete_index(&self, design_document: &str, name: &str) -> Pending<()> {
        todo!("{design_document} {name}")
    }
}
