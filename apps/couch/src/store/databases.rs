//! A folder of databases.

use super::settings::{Limits, LiveLimits};
use super::shared::Shared;
use super::{Database, DatabaseEvent, Error, Event, Result, Settings, derived, schema};
use inorder_serve::private;
use std::collections::HashMap;
use std::fmt;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use tokio::sync::broadcast;

/// Bytes of the longest name, as CouchDB has it.
const NAME_BYTES_MAX: usize = 238;

/// The suffix of database files.
const ENDING: &str = ".sqlite";

/// The suffix of the empty files that mark deleted databases.
const DELETED_ENDING: &str = ".deleted";

/// The suffixes of SQLite's companion files.
const BESIDE: &[&str] = &["", "-wal", "-shm", "-journal"];

/// Databases whose names begin with an underscore.
const SYSTEM: &[&str] = &["_users", "_replicator", "_global_changes"];

/// Events kept for slow receivers.
const EVENTS_MAX: usize = 256;

/// A folder of databases, one file each. Cheap to clone; all clones are one.
#[derive(Clone)]
pub struct Databases(Arc<Folder>);

struct Folder {
    path: PathBuf,
    settings: Settings,
    limits: Arc<LiveLimits>,
    open: Mutex<Open>,
    /// Counts created and deleted databases.
    changes: AtomicU64,
    events: broadcast::Sender<DatabaseEvent>,
    /// Held as long as the folder is used.
    _lock: File,
}

/// The timeout for the lock of a folder, and the pause between two attempts.
const LOCK_WAIT_MAX: Duration = Duration::from_secs(1);
const LOCK_PAUSE: Duration = Duration::from_millis(10);

#[derive(Default)]
struct Open {
    databases: HashMap<String, Entry>,
    /// Counts uses, to tell which was used last.
    uses: u64,
}

struct Entry {
    database: Database,
    used: u64,
}

/// Takes the lock, waiting a moment for it: a process that has just ended may be about to let go of it, or a child that was
/// just forked about to become another program.
fn take(lock: &File) -> std::result::Result<(), TryLockError> {
    let until = Instant::now() + LOCK_WAIT_MAX;
    loop {
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) if Instant::now() < until => thread::sleep(LOCK_PAUSE),
            ended => return ended,
        }
    }
}

/// Closes files of databases to other users. Returns how many had been open to everybody, as earlier versions made them. A
/// file that its group can read stays so.
fn close_to_others(folder: &Path) -> io::Result<usize> {
    let mut closed = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_str().is_some_and(is_own_file) {
            closed += usize::from(private::close_to(0o007, &entry.path())?);
        }
    }
    Ok(closed)
}

impl Databases {
    /// Opens a folder, and makes it if there is none. One process at a time has it.
    ///
    /// # Errors
    /// If it cannot be made, read, or is in use.
    pub fn open(folder: impl AsRef<Path>, settings: Settings) -> Result<Self> {
        let path = folder.as_ref().to_owned();
        private::create_folder(&path).map_err(|error| Error::unusable(&path, &error))?;
        let lock_path = path.join("inorder-couch.lock");
        let lock = private::options()
            .create(true)
            .truncate(false)
            .open(&lock_path)
            .map_err(|error| Error::unusable(&path, &error))?;
        take(&lock).map_err(|error| match error {
            TryLockError::WouldBlock => Error::InUse(path.clone()),
            TryLockError::Error(error) => Error::io(&lock_path, error),
        })?;
        match close_to_others(&path) {
            Ok(0) => {}
            Ok(files) => {
                tracing::warn!(folder = %path.display(), files, "files of databases were readable by every user; now only their owner can read them");
            }
            Err(error) => {
                tracing::warn!(folder = %path.display(), %error, "cannot restrict who reads files of databases");
            }
        }
        Ok(Databases(Arc::new(Folder {
            path,
            limits: Arc::new(LiveLimits::new(settings.limits)),
            settings,
            open: Mutex::default(),
            changes: AtomicU64::new(0),
            events: broadcast::Sender::new(EVENTS_MAX),
            _lock: lock,
        })))
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.0.path
    }

    /// Creates a database.
    ///
    /// # Errors
    /// If the name is none, or taken.
    pub fn create(&self, name: &str) -> Result<Database> {
        self.create_as(name, false)
    }

    /// Creates a database whose ids name partitions: `partition:id`.
    ///
    /// # Errors
    /// Those of [`Databases::create`].
    pub fn create_partitioned(&self, name: &str) -> Result<Database> {
        if SYSTEM.contains(&name) {
            let reason = "Cannot partition a system database";
            return Err(Error::BadRequest(reason.to_owned()));
        }
        self.create_as(name, true)
    }

    fn create_as(&self, name: &str, is_partitioned: bool) -> Result<Database> {
        if !is_database_name(name) {
            return Err(match has_allowed_characters(name) {
                true => Error::DatabaseNameTooLong(name.to_owned()),
                false => Error::IllegalDatabaseName(name.to_owned()),
            });
        }
        let mut open = self.0.lock();
        let path = self.0.file(name);
        if path.exists() {
            return Err(Error::DatabaseExists);
        }
        // Complete under another name first: what a crash leaves is no database.
        let part = path.with_extension("part");
        self.0.remove_files(&part)?;
        // A log that a deletion left when the power went would be taken for the new one's.
        self.0.remove_files(&path)?;
        self.0.remove_derived(&path)?;
        schema::create(&part, is_partitioned)?;
        fs::rename(&part, &path).map_err(|error| Error::io(&path, error))?;
        let _ = fs::remove_file(self.0.tombstone(name));
        self.0.sync()?;
        let database = self.0.open(&mut open, name)?;
        self.0.changes.fetch_add(1, Ordering::Release);
        drop(open);
        self.0.tell(name, Event::Created);
        Ok(database)
    }

    /// Returns the size limits as they are now.
    pub fn limits(&self) -> Limits {
        self.0.limits.get()
    }

    /// Changes the size limits of all databases, for what is written from now on.
    pub fn set_limits(&self, limits: Limits) {
        self.0.limits.set(limits);
    }

    /// The database of that name.
    ///
    /// # Errors
    /// If there is none, or its file is damaged.
    pub fn get(&self, name: &str) -> Result<Database> {
        let mut open = self.0.lock();
        open.uses += 1;
        let uses = open.uses;
        if let Some(entry) = open.databases.get_mut(name) {
            entry.used = uses;
            return Ok(entry.database.clone());
        }
        if !is_database_name(name) || !self.0.file(name).exists() {
            return Err(Error::DatabaseMissing);
        }
        self.0.open(&mut open, name)
    }

    /// Deletes a database: its handles answer [`Error::Closed`] from then on.
    ///
    /// # Errors
    /// If there is none.
    pub fn delete(&self, name: &str) -> Result<()> {
        let mut open = self.0.lock();
        let path = self.0.file(name);
        if !is_database_name(name) || !path.exists() {
            return Err(Error::DatabaseMissing);
        }
        if let Some(entry) = open.databases.remove(name) {
            entry.database.shared().close();
        }
        // On a full disk this may fail: the deletion must not.
        let mut tombstone = private::options();
        let _ = tombstone.create(true).open(self.0.tombstone(name));
        self.0.changes.fetch_add(1, Ordering::Release);
        self.0.remove_files(&path)?;
        self.0.remove_derived(&path)?;
        self.0.sync()?;
        drop(open);
        self.0.tell(name, Event::Deleted);
        Ok(())
    }

    /// Counts the databases that were created and deleted: as long as this stays, a missing database is missing.
    pub fn changes(&self) -> u64 {
        self.0.changes.load(Ordering::Acquire)
    }

    /// The names, in the order of their bytes.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn names(&self) -> Result<Vec<String>> {
        self.0.names(ENDING)
    }

    /// Returns the names of databases that were deleted and not created again, in the order of their bytes.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn deleted_names(&self) -> Result<Vec<String>> {
        let mut names = self.0.names(DELETED_ENDING)?;
        names.retain(|name| !self.0.file(name).exists());
        Ok(names)
    }

    /// Returns a receiver of created, deleted and updated databases. A slow receiver misses events and gets an error.
    pub fn events(&self) -> broadcast::Receiver<DatabaseEvent> {
        self.0.events.subscribe()
    }
}

impl Folder {
    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn file(&self, name: &str) -> PathBuf {
        file_of(&self.path, name)
    }

    fn tombstone(&self, name: &str) -> PathBuf {
        file(&self.path, name, DELETED_ENDING)
    }

    /// The names that files with such an ending have.
    fn names(&self, ending: &str) -> Result<Vec<String>> {
        let failed = |error| Error::io(&self.path, error);
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path).map_err(failed)? {
            let file = entry.map_err(failed)?.file_name();
            names.extend(file.to_str().and_then(|file| name_of_file(file, ending)));
        }
        names.sort_unstable();
        Ok(names)
    }

    fn open(&self, open: &mut Open, name: &str) -> Result<Database> {
        let path = self.file(name);
        let shared = Shared::open(
            name,
            &path,
            self.settings,
            Arc::clone(&self.limits),
            self.events.clone(),
        )?;
        let database = Database::new(shared);
        let entry = Entry {
            database: database.clone(),
            used: open.uses,
        };
        open.databases.insert(name.to_owned(), entry);
        self.close_idle(open);
        Ok(database)
    }

    /// Closes the least recently used idle databases above the number that is kept.
    fn close_idle(&self, open: &mut Open) {
        let mut idle: Vec<_> = open
            .databases
            .iter()
            .filter(|(_, entry)| entry.database.is_idle())
            .map(|(name, entry)| (entry.used, name.clone()))
            .collect();
        idle.sort_unstable();
        let too_many = idle.len().saturating_sub(self.settings.idle_databases_max);
        for (_, name) in &idle[..too_many] {
            open.databases.remove(name);
        }
    }

    fn remove_files(&self, path: &Path) -> Result<()> {
        for ending in BESIDE {
            let mut name = path.as_os_str().to_owned();
            name.push(ending);
            match fs::remove_file(&name) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(Error::io(name, error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn remove_derived(&self, path: &Path) -> Result<()> {
        let folder = derived::folder(path);
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io(folder, error)),
            _ => Ok(()),
        }
    }

    /// Makes what happened to the folder durable.
    fn sync(&self) -> Result<()> {
        let synced = File::open(&self.path).and_then(|folder| folder.sync_all());
        synced.map_err(|error| Error::io(&self.path, error))
    }

    fn tell(&self, name: &str, event: Event) {
        let name = name.to_owned();
        // Nobody may be listening.
        let _ = self.events.send(DatabaseEvent { name, event });
    }
}

impl fmt::Debug for Databases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Databases").field(&self.0.path).finish()
    }
}

/// The file of a database in a folder.
pub(super) fn file_of(folder: &Path, name: &str) -> PathBuf {
    file(folder, name, ENDING)
}

fn file(folder: &Path, name: &str, ending: &str) -> PathBuf {
    // The only character of a name that means something in a path; no name has the other.
    folder.join(name.replace('/', "%") + ending)
}

/// Whether a file in a folder is of a database, or tells of one.
fn is_own_file(file: &str) -> bool {
    let endings = [ENDING, DELETED_ENDING, ".part"].into_iter();
    let stem = BESIDE
        .iter()
        .rev()
        .find_map(|beside| file.strip_suffix(beside));
    let mut stems = endings.filter_map(|ending| stem?.strip_suffix(ending));
    stems.any(|stem| is_database_name(&stem.replace('%', "/")))
}

/// Whether a database may have that name: CouchDB's rule, and its own `_users`, `_replicator` and `_global_changes`.
pub fn is_database_name(name: &str) -> bool {
    let is_ordinary = name.len() <= NAME_BYTES_MAX && has_allowed_characters(name);
    is_ordinary || SYSTEM.contains(&name)
}

/// Whether a name is one of an ordinary database, except for its length.
fn has_allowed_characters(name: &str) -> bool {
    let is_allowed =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_$()+-/".contains(&byte);
    name.starts_with(|first: char| first.is_ascii_lowercase()) && name.bytes().all(is_allowed)
}

fn name_of_file(file: &str, ending: &str) -> Option<String> {
    let name = file.strip_suffix(ending)?.replace('%', "/");
    is_database_name(&name).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_couchdb() {
        let long = "a".repeat(NAME_BYTES_MAX);
        for good in ["a", "a0_$()+-/", "a/b", "_users", "_replicator", &long] {
            assert!(is_database_name(good), "{good}");
            let folder = Path::new("/folder");
            let file = file_of(folder, good);
            let name = file
                .file_name()
                .and_then(|name| name.to_str())
                .and_then(|name| name_of_file(name, ENDING));
            assert_eq!(name.as_deref(), Some(good));
            assert_eq!(file.parent(), Some(folder));
        }
        let long = "a".repeat(NAME_BYTES_MAX + 1);
        for bad in [
            "", "A", "0", "_", "_a", "../a", "a.b", "a b", "ä", "/a", "a\0", &long,
        ] {
            assert!(!is_database_name(bad), "{bad}");
        }
    }
}
