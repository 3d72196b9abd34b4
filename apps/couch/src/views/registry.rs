//! The indexes of all databases.

use super::design::Design;
use super::index::{self, Compaction, Failed, Index, State};
use super::query::Update;
use super::read::Reader;
use super::update::Work;
use super::{Error, Result};
use crate::script::{Owner, Purpose, Scripts};
use crate::store::{
    AllDocs, Database, Error as StoreError, GetOptions, Missing, RowValue, Sequences,
};
use crate::tasks::Tasks;
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Open indexes, above which those not in use are closed.
const INDEXES_MAX: usize = 50;

/// Databases whose design documents are remembered.
const DATABASES_MAX: usize = 1000;

/// The indexes of all databases. Cheap to clone; all clones are one.
#[derive(Clone, Debug)]
pub struct Views(Arc<Shared>);

/// The design documents of a database by their ids, and the sequence up to which they are good.
type Designs = (u64, HashMap<String, Arc<Design>>);

#[derive(Debug)]
struct Shared {
    scripts: Scripts,
    tasks: Arc<Tasks>,
    /// Whether documents with which a map function fails are set aside.
    sets_aside: AtomicBool,
    /// By the database's own id and the signature.
    open: Mutex<HashMap<(String, String), Arc<Index>>>,
    /// Design documents by the database's own id, good up to a sequence.
    designs: Mutex<HashMap<String, Designs>>,
}

/// An index in numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexInfo {
    /// The signature of its functions.
    pub signature: String,
    /// Their language.
    pub language: String,
    /// Bytes of its file.
    pub file_bytes: u64,
    /// Bytes of the file that hold something.
    pub active_bytes: u64,
    /// Bytes of the rows.
    pub external_bytes: u64,
    /// Whether it is being updated.
    pub updater_running: bool,
    /// Whether a compaction was requested that has not ended.
    pub compact_running: bool,
    /// The sequence up to which documents are in it.
    pub update_seq: u64,
    /// The last purge that it knows.
    pub purge_seq: u64,
    /// Changes that are not in it.
    pub pending: u64,
    /// Documents that were set aside: how many, and the first ones.
    pub failed: (u64, Vec<Failed>),
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Views {
    /// Opens no index before one is asked for.
    pub fn new(scripts: Scripts, tasks: Arc<Tasks>) -> Self {
        Views(Arc::new(Shared {
            scripts,
            tasks,
            sets_aside: AtomicBool::new(false),
            open: Mutex::default(),
            designs: Mutex::default(),
        }))
    }

    /// Sets whether a document with which a map function fails is set aside. Otherwise its views cannot be read.
    pub fn set_aside(&self, sets_aside: bool) {
        self.0.sets_aside.store(sets_aside, Ordering::Relaxed);
    }

    /// The views of a design document; `id` begins with `_design/`.
    ///
    /// # Errors
    /// If there is none, or a reduce function has the name of none.
    pub fn design(&self, db: &Database, id: &str) -> Result<Arc<Design>> {
        self.design_at(db, id, db.sequences()?)
    }

    fn design_at(&self, db: &Database, id: &str, sequences: Sequences) -> Result<Arc<Design>> {
        if let Some((seq, known)) = lock(&self.0.designs).get(db.uuid())
            && *seq == sequences.design
            && let Some(design) = known.get(id)
        {
            return Ok(Arc::clone(design));
        }
        let document = db.get(id, &GetOptions::default())?;
        let body: Map<String, Value> = serde_json::from_str(&document.body)
            .map_err(|error| Error::Internal(error.to_string()))?;
        let design = Arc::new(Design::read(&body, db.is_partitioned())?);
        let mut designs = lock(&self.0.designs);
        if designs.len() >= DATABASES_MAX {
            designs.clear();
        }
        let (seq, known) = designs.entry(db.uuid().to_owned()).or_default();
        if *seq != sequences.design {
            known.clear();
            *seq = sequences.design;
        }
        known.insert(id.to_owned(), Arc::clone(&design));
        Ok(design)
    }

    /// A reader of a view, whose index is as new as wanted.
    ///
    /// # Errors
    /// If there is no such view, or its functions fail.
    pub async fn reader(
        &self,
        db: &Database,
        id: &str,
        design: &Arc<Design>,
        update: Update,
    ) -> Result<Reader> {
        if design.language != "javascript" {
            return Err(Error::Language(design.language.clone()));
        }
        let index = self.open(db, design)?;
        let sequences = db.sequences()?;
        let work = self.work(db, id, &index);
        let is_current = index.sequences() == (sequences.update, sequences.purge);
        let is_current = is_current && !work.is_outdated()?;
        if !is_current && update != Update::False {
            match update {
                Update::Lazy => drop(tokio::spawn(update_to(work, sequences))),
                _ => update_to(work, sequences).await?,
            }
        }
        Ok(Reader {
            db: db.clone(),
            index,
            scripts: self.0.scripts.clone(),
            owner: owner(db),
            design: Arc::clone(design),
        })
    }

    fn work(&self, db: &Database, id: &str, index: &Arc<Index>) -> Work {
        Work {
            db: db.clone(),
            id: id.to_owned(),
            index: Arc::clone(index),
            scripts: self.0.scripts.clone(),
            owner: owner(db),
            tasks: Arc::clone(&self.0.tasks),
            sets_aside: self.0.sets_aside.load(Ordering::Relaxed),
        }
    }

    fn open(&self, db: &Database, design: &Arc<Design>) -> Result<Arc<Index>> {
        let name = (db.uuid().to_owned(), design.signature.clone());
        let mut open = lock(&self.0.open);
        if let Some(index) = open.get(&name) {
            return Ok(Arc::clone(index));
        }
        if open.len() >= INDEXES_MAX {
            open.retain(|_, index| Arc::strong_count(index) > 1);
        }
        let index = Index::open(&db.derived_folder(), Arc::clone(design), db.uuid())?;
        let index = Arc::new(index);
        open.insert(name, Arc::clone(&index));
        Ok(index)
    }

    /// The numbers of the index of a design document.
    ///
    /// # Errors
    /// If there is no such design document, or its index cannot be read.
    pub fn info(&self, db: &Database, id: &str) -> Result<IndexInfo> {
        let design = self.design(db, id)?;
        let index = self.open(db, &design)?;
        let state = index.readers.read(State::read)?;
        let node_bytes = index.readers.read(|connection| {
            let sql = "SELECT coalesce(sum(octet_length(node)), 0) FROM nodes";
            Ok(connection.query_row(sql, [], |row| row.get::<_, i64>(0))?)
        })? as u64;
        let bytes = |ending: &str| {
            let mut path = index.path.clone().into_os_string();
            path.push(ending);
            std::fs::metadata(path).map_or(0, |metadata| metadata.len())
        };
        Ok(IndexInfo {
            signature: design.signature.clone(),
            language: design.language.clone(),
            file_bytes: bytes("") + bytes("-wal"),
            active_bytes: node_bytes,
            external_bytes: node_bytes,
            updater_running: index.updating.try_lock().is_err(),
            compact_running: index.is_compacting(),
            update_seq: state.update_seq,
            purge_seq: state.purge_seq,
            pending: db.sequences()?.update.saturating_sub(state.update_seq),
            failed: index.failed()?,
        })
    }

    /// Registers a compaction of the index of a design document.
    ///
    /// # Errors
    /// If there is no such design document, or its index cannot be opened.
    pub fn compaction(&self, db: &Database, id: &str) -> Result<Compaction> {
        let design = self.design(db, id)?;
        Ok(Compaction::new(self.open(db, &design)?))
    }

    /// Removes the indexes that no design document of the database has any more. It blocks.
    ///
    /// # Errors
    /// If the design documents cannot be read, or a file cannot be removed.
    pub fn clean_up(&self, db: &Database) -> Result<()> {
        let used = self.signatures(db)?;
        let mut open = lock(&self.0.open);
        open.retain(|(uuid, signature), _| uuid != db.uuid() || used.contains(signature));
        let folder = db.derived_folder();
        let Ok(files) = std::fs::read_dir(&folder) else {
            return Ok(());
        };
        for file in files.flatten() {
            let name = file.file_name();
            let signature = name.to_str().and_then(|name| name.strip_suffix(".sqlite"));
            if signature.is_some_and(|signature| !used.contains(signature)) {
                index::remove(&file.path())?;
            }
        }
        Ok(())
    }

    fn signatures(&self, db: &Database) -> Result<HashSet<String>> {
        let mut used = HashSet::new();
        let mut question = Some(AllDocs {
            start: Some("_design/".to_owned()),
            end: Some("_design0".to_owned()),
            inclusive_end: false,
            ..AllDocs::default()
        });
        while let Some(asked) = question {
            let page = db.all_docs(&asked)?;
            for row in page.rows {
                if let RowValue::Present { .. } = row.value {
                    match self.design(db, &row.id) {
                        Ok(design) => drop(used.insert(design.signature.clone())),
                        Err(
                            Error::Reduce(_) | Error::Store(StoreError::NotFound(Missing::Deleted)),
                        ) => {}
                        Err(error) => return Err(error),
                    }
                }
            }
            question = page.next;
        }
        Ok(used)
    }

    /// Forgets the indexes of a database that is deleted; `uuid` is its own id.
    pub fn forget(&self, uuid: &str) {
        lock(&self.0.open).retain(|(own, _), _| own != uuid);
        lock(&self.0.designs).remove(uuid);
    }
}

fn owner(db: &Database) -> Owner {
    Owner {
        database: db.uuid().to_owned(),
        purpose: Purpose::Index,
    }
}

/// Updates an index up to a sequence. Only one update of an index runs at a time; the others wait for it.
async fn update_to(work: Work, sequences: Sequences) -> Result<()> {
    let arrived = Instant::now();
    let mut last = Arc::clone(&work.index.updating).lock_owned().await;
    let (update, purge) = work.index.sequences();
    if update >= sequences.update
        && purge == sequences.purge
        && update <= work.db.sequences()?.update
        && !work.is_outdated()?
    {
        return Ok(());
    }
    if let Some((begun, error)) = &last.failure
        && *begun >= arrived
    {
        return Err(error.clone());
    }
    // The update goes on when the client that began it is gone.
    let updated = tokio::spawn(async move {
        let begun = Instant::now();
        let result = work.run().await;
        last.failure = result.as_ref().err().map(|error| (begun, error.clone()));
        result
    });
    updated
        .await
        .map_err(|error| Error::Internal(error.to_string()))?
}
