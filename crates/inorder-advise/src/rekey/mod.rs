//! Changes made to a database that is in use.
//!
//! Where some trees change, they are built behind the pages of the database (`in_place`), and the file is shortened
//! (`shrink`). Where all do, as by another page size, or SQLite itself has to make an index, the whole file is rewritten.
//!
//! Then the new content is built in a file beside the database, from a read transaction, and checked. Then its pages are
//! written into the database in one transaction, as the last step of `VACUUM` does: a kill leaves the old content or
//! the new, and other connections see the change as they see any other. Without a WAL, the journal is written here, in
//! SQLite's format and in large blocks; with one, SQLite's backup writes the pages. A rename would be cheaper, but
//! processes that have the database open would go on with the old file.

mod aside;
mod by_sql;
mod in_place;
mod shrink;
mod snapshot;
mod swap;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::Duration;

use inorder_load::files::free_bytes;
use rusqlite::{Connection, OpenFlags};

use crate::apply::{self, Draft, Failure, Settings, Work};
use crate::check::{self, State};
use crate::snapshot::{check_header, check_space};
use crate::{Change, Error};
use aside::Aside;
use snapshot::{Lock, Snapshot};

/// What is done at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Phase {
    /// The changes are checked.
    Check,
    /// The new file is built.
    Build,
    /// The new file is compared with the old one.
    Compare,
    /// The old pages are written to a journal, unless the database has a WAL.
    Journal,
    /// The new pages are written into the database, which is locked.
    Swap,
    /// The last pages of the database are moved, so that its file can end before them. Nobody else can write meanwhile.
    Shrink,
}

const PHASES: [Phase; 6] = [
    Phase::Check,
    Phase::Build,
    Phase::Compare,
    Phase::Journal,
    Phase::Swap,
    Phase::Shrink,
];

/// How far a rekey is, and whether it is to stop. Shared between threads.
#[derive(Debug, Default)]
pub struct Progress {
    phase: AtomicU8,
    is_stopped: AtomicBool,
    on_room: OnceLock<fn(u64)>,
}

impl Progress {
    /// Calls a function before the work begins, with the bytes that it needs on the disk of the database.
    pub fn on_room(self, tell: fn(u64)) -> Self {
        _ = self.on_room.set(tell);
        self
    }

    fn room(&self, bytes: u64) {
        if let Some(tell) = self.on_room.get() {
            tell(bytes);
        }
    }

    /// What is done at the moment.
    pub fn phase(&self) -> Phase {
        PHASES[usize::from(self.phase.load(Ordering::Relaxed))]
    }

    /// Asks to stop. The database stays as it was.
    pub fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }

    fn enter(&self, phase: Phase) -> Result<(), Error> {
        self.phase.store(phase as u8, Ordering::Relaxed);
        self.look()
    }

    fn look(&self) -> Result<(), Error> {
        match self.is_stopped.load(Ordering::Relaxed) {
            true => Err(Error::Stopped),
            false => Ok(()),
        }
    }
}

/// A rekey to be made.
#[derive(Debug, Clone)]
pub struct Rekey {
    /// The database.
    pub path: PathBuf,
    /// The changes, in their order.
    pub changes: Vec<Change>,
    /// Memory for sorting, in bytes.
    pub memory_bytes: usize,
    /// How long to wait for others that use the database.
    pub wait: Duration,
    /// Whether trees that don't change are built anew too, as VACUUM does.
    pub rebuilds_all: bool,
}

/// What a rekey did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rekeyed {
    /// The file before.
    pub bytes_before: u64,
    /// The file after.
    pub bytes_after: u64,
    /// Whether free pages are left in the file, because another process used it when it was to be shortened, or the disk had
    /// no room for the journal of that.
    pub has_free_pages: bool,
    /// Whether the whole file was written, not only what changes.
    pub is_whole: bool,
}

impl Rekey {
    /// Makes the changes. Whatever ends this before the last page is written leaves the database as it was.
    ///
    /// # Errors
    /// [`Error::Refused`] where a change can't be made, or the new file isn't what it should be; [`Error::Busy`] where
    /// another process writes, or reads during the swap; [`Error::NoSpace`]; [`Error::Stopped`].
    pub fn run(&self, progress: &Progress) -> Result<Rekeyed, Error> {
        progress.enter(Phase::Check)?;
        let failed = |source| Error::File {
            path: self.path.clone(),
            source,
        };
        // Journals lie beside the file itself, not beside a link to it.
        let path = self.path.canonicalize().map_err(failed)?;
        let bytes_before = path.metadata().map_err(failed)?.len();
        if bytes_before == 0 {
            return Err(Error::Refused {
                change: format!("rekey {}", path.display()),
                why: "the file is empty".to_owned(),
            });
        }
        check_header(&path)?;
        // A lock may be in the way of any statement, not only of those that begin and end a transaction.
        let busy = |error| snapshot::busy_or_same(&path, error);
        let in_place = self.change_in_place(&path, progress).map_err(busy)?;
        if in_place.is_none() {
            self.rewrite(&path, progress).map_err(busy)?;
        }
        Ok(Rekeyed {
            bytes_before,
            bytes_after: path.metadata().map_err(failed)?.len(),
            has_free_pages: in_place.unwrap_or(false),
            is_whole: in_place.is_none(),
        })
    }

    /// Builds the trees that change, and no others. Returns whether free pages are left; `None` where the whole file has
    /// to be written.
    fn change_in_place(&self, path: &Path, progress: &Progress) -> Result<Option<bool>, Error> {
        let is_whole = |change: &Change| matches!(change, Change::Vacuum | Change::PageSize { .. });
        if self.rebuilds_all || self.changes.iter().any(is_whole) {
            return Ok(None);
        }
        let mut snapshot = Snapshot::begin(path, self.wait, Lock::Write)?;
        let draft = Draft::without_rows(&snapshot.connection, &self.changes)?;
        let settings = Settings::read(&snapshot.connection)?.changed(&draft);
        let made = in_place::make(self, path, &mut snapshot, &draft, &settings, progress);
        drop(snapshot);
        match made {
            Ok(Ok(())) => {}
            // Whoever begins next cuts off what was built.
            Ok(Err(_)) => return by_sql::make(self, path, progress),
            Err(error) => {
                _ = Snapshot::begin(path, Duration::ZERO, Lock::Write);
                return Err(error);
            }
        }
        let shrunk = shrink::shrink(path, self.wait, progress);
        match shrunk.map_err(|error| snapshot::busy_or_same(path, error)) {
            Ok(()) => Ok(Some(false)),
            Err(Error::Busy { .. } | Error::Stopped | Error::NoSpace { .. }) => Ok(Some(true)),
            Err(error) => Err(Error::Refused {
                change: "shorten the file after the changes, which are made".to_owned(),
                why: error.to_string(),
            }),
        }
    }

    /// Writes the whole file anew.
    fn rewrite(&self, path: &Path, progress: &Progress) -> Result<(), Error> {
        let mut snapshot = Snapshot::begin(path, self.wait, Lock::Read)?;
        let bytes = path.metadata().map_err(Error::io(path))?.len();
        check_room(path, bytes, COPIES)?;
        progress.room(room(bytes, COPIES));
        let draft = Draft::without_rows(&snapshot.connection, &self.changes)?;
        let settings = Settings::read(&snapshot.connection)?.changed(&draft);
        if draft.page_bytes.is_some() && settings.is_wal {
            return Err(Error::Refused {
                change: "set the page size".to_owned(),
                why: "SQLite keeps it in WAL mode; set PRAGMA journal_mode = DELETE first"
                    .to_owned(),
            });
        }
        progress.enter(Phase::Build)?;
        let aside = Aside::create(path)?;
        let is_verified = self.build(&mut snapshot, path, &aside, &draft, &settings, progress)?;
        progress.enter(Phase::Compare)?;
        let new = inorder_sqlite::open(aside.path(), OpenFlags::default())?;
        compare(&snapshot.connection, &new, &draft, path, is_verified)?;
        drop(new);
        swap::swap(&snapshot, &aside, path, self.wait, progress)
    }

    /// How trees are built: verified, with runs beside the database.
    fn work<'a>(
        &self,
        path: &'a Path,
        settings: &'a Settings,
        look: &'a dyn Fn() -> Result<(), Failure>,
        begins: &'a dyn Fn(u64),
    ) -> Work<'a> {
        Work {
            settings,
            memory_bytes: self.memory_bytes,
            folder: path.parent().unwrap_or(Path::new(".")),
            is_verified: true,
            look,
            free_bytes: free_bytes(path.parent().unwrap_or(Path::new("."))),
            begins,
        }
    }

    /// Fills the file beside the database. Returns whether it was verified.
    fn build(
        &self,
        snapshot: &mut Snapshot,
        path: &Path,
        aside: &Aside,
        draft: &Draft,
        settings: &Settings,
        progress: &Progress,
    ) -> Result<bool, Error> {
        let look = || progress.look().map_err(|_| Failure::Stopped);
        let work = self.work(path, settings, &look, &|_| ());
        let Snapshot {
            connection, pages, ..
        } = snapshot;
        match apply::fill(connection, pages, aside.path(), draft, &work) {
            Ok(Ok(())) => Ok(true),
            Ok(Err(_)) => {
                draft.check_rows(connection)?;
                let bytes = path.metadata().map_or(0, |metadata| metadata.len());
                check_room(path, bytes, COPIES_BY_STATEMENTS)?;
                progress.room(room(bytes, COPIES_BY_STATEMENTS));
                apply::copy_by_statements(path, aside.path(), settings, draft).map(|()| false)
            }
            Err(error) => {
                if let Error::Build { .. } = error {
                    // A row that isn't as it has to be is told in the words of its change.
                    draft.check_rows(connection)?;
                }
                Err(error)
            }
        }
    }
}

/// Compares schema and content of the new file with what they must be. Content that was verified is not read again.
fn compare(
    old: &Connection,
    new: &Connection,
    draft: &Draft,
    path: &Path,
    is_verified: bool,
) -> Result<(), Error> {
    let mut found = check::schema_difference(&draft.new, &apply::Schema::read(new)?);
    if !is_verified {
        let before = State::read(old, draft, true)?;
        found = found.or(before.difference(&State::read(new, draft, false)?));
        found = match found {
            // The old index is checked by a statement that writes nothing, but takes the lock of a writer.
            None => check::damage(new, || {
                Ok(check::full_text_damage(old)?.into_keys().collect())
            })?,
            found => found,
        };
    }
    match found {
        None => Ok(()),
        Some(why) => Err(Error::Refused {
            change: format!("the new content of {}", path.display()),
            why,
        }),
    }
}

/// Copies of the database that its folder needs room for: the new file, and the journal of the old pages or the WAL.
/// Sorted runs are gone before those are written, and take less.
const COPIES: u64 = 2;

/// As many where statements make the new file: a file with pages that are half empty comes before it.
const COPIES_BY_STATEMENTS: u64 = 3;

/// Bytes that so many copies of a database take. Page numbers and checksums take a little more.
fn room(bytes: u64, copies: u64) -> u64 {
    bytes.saturating_mul(copies).saturating_add(bytes / 16)
}

/// Checks that the disk has room for so many copies of a database.
fn check_room(path: &Path, bytes: u64, copies: u64) -> Result<(), Error> {
    check_space(
        path.parent().unwrap_or(Path::new(".")),
        room(bytes, copies),
        "the new file and its journal",
        "make room and run it again; nothing was changed",
    )
}
