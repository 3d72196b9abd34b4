//! What is measured: a vacuumed copy of the database, or of a sample of its rows.

use super::{
    Estimate, FileFacts,
    options::{Observer, Options},
};
use crate::{
    Error, apply,
    read::{self, Reached},
    sample::Sample,
    snapshot::Snapshot,
    trial::{Scale, vacuum_into},
};
use rusqlite::OpenFlags;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// The most that exists at a time, in sizes of the file: the copy and its vacuumed copy, or the vacuumed copy, a rebuilt
/// one and what sorting it spills.
const SIZES: u64 = 3;
/// The same with a migration, when the vacuumed copy is gone: the copy, its migrated copy with the old and the new
/// tables, and the temporary file and the journal of its VACUUM.
const SIZES_WITH_MIGRATION: u64 = 5;

/// What is measured, and what is known of the file.
pub(super) struct Base {
    /// The vacuumed copy, or the copy where it can't be vacuumed.
    pub(super) path: PathBuf,
    /// The copy as it was taken.
    pub(super) copy: PathBuf,
    pub(super) file: FileFacts,
    pub(super) notes: Vec<String>,
    pub(super) is_damaged: bool,
    pub(super) scale: Scale,
    pub(super) estimate: Option<Estimate>,
    pub(super) reached: Vec<Reached>,
}

impl Base {
    /// Copies a database into `folder`, or takes a sample of it.
    pub(super) fn make(
        path: &Path,
        folder: &Path,
        options: &Options,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        match options.sample_bytes {
            Some(bytes) => Base::of_sample(path, name, folder, bytes, observer),
            None => Base::of_copy(path, name, folder, options, observer),
        }
    }

    fn of_copy(
        path: &Path,
        name: String,
        folder: &Path,
        options: &Options,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        observer.step("copying");
        let sizes = match options.keeps_copy {
            true => SIZES_WITH_MIGRATION,
            false => SIZES,
        };
        let snapshot = Snapshot::take(path, folder, sizes)?;
        let mut notes = snapshot.notes.clone();
        let reached = Reached::read(&snapshot.path);
        observer.step("vacuuming the copy");
        let (base, is_damaged) = match snapshot.is_cut_off {
            // VACUUM would take missing overflow pages for texts of zeros.
            true => {
                notes.extend(failed_checks(&snapshot.path));
                (snapshot.path.clone(), true)
            }
            false => vacuumed(&snapshot.path, folder, options.keeps_copy, &mut notes),
        };
        Ok(Base {
            path: base,
            file: FileFacts {
                name,
                bytes: snapshot.file_bytes,
                wal_bytes: snapshot.wal_bytes,
                is_wal: snapshot.is_wal,
                locked_s: snapshot.locked_s,
            },
            copy: snapshot.path,
            notes,
            is_damaged,
            scale: Scale::default(),
            estimate: None,
            reached,
        })
    }

    fn of_sample(
        path: &Path,
        name: String,
        folder: &Path,
        bytes: u64,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        observer.step("taking a sample");
        let sample = Sample::take(path, folder, bytes, &|table| observer.object(table))?;
        let estimate = Estimate {
            sample_bytes: sample.path.metadata().map_or(0, |metadata| metadata.len()),
            tables: sample.tables,
        };
        Ok(Base {
            reached: Reached::read(&sample.path),
            copy: sample.path.clone(),
            path: sample.path,
            file: FileFacts {
                name,
                bytes: sample.source.file_bytes,
                wal_bytes: sample.source.wal_bytes,
                is_wal: sample.source.is_wal,
                locked_s: 0.0,
            },
            notes: sample.notes,
            is_damaged: false,
            scale: Scale::new(&estimate.tables),
            estimate: Some(estimate),
        })
    }
}

/// Vacuums the copy, which it replaces; a copy that can't be rebuilt is damaged and stays as it is.
fn vacuumed(
    copy: &Path,
    folder: &Path,
    keeps_copy: bool,
    notes: &mut Vec<String>,
) -> (PathBuf, bool) {
    let base = folder.join("base.db");
    if packed(copy, &base).unwrap_or(false) {
        if !keeps_copy {
            _ = fs::remove_file(copy);
        }
        return (base, false);
    }
    _ = fs::remove_file(&base);
    let made = read::open(copy).and_then(|connection| {
        vacuum_into(&connection, &base)?;
        Ok(connection)
    });
    match made {
        Ok(connection) => {
            drop(connection);
            if !keeps_copy {
                _ = fs::remove_file(copy);
            }
            (base, false)
        }
        Err(error) => {
            _ = fs::remove_file(&base);
            notes.push(format!(
                "The copy can't be rebuilt: {error}. Nothing is advised on a damaged file."
            ));
            notes.extend(failed_checks(copy));
            (copy.into(), true)
        }
    }
}

/// Packs a copy by pages where SQLite lacks a collation or function. VACUUM would put the entries of an index where a
/// stand-in sorts them, each into the middle of others. Returns whether that was necessary and possible.
fn packed(copy: &Path, base: &Path) -> Result<bool, Error> {
    if read::missing(&inorder_sqlite::open(copy, OpenFlags::default())?)?.is_empty() {
        return Ok(false);
    }
    let source = base.with_extension("source");
    fs::copy(copy, &source).map_err(Error::io(&source))?;
    // Pages are copied of files that are not in WAL mode.
    let connection = inorder_sqlite::open(&source, OpenFlags::default())?;
    let made = connection
        .pragma_update(None, "journal_mode", "DELETE")
        .map_err(Error::from)
        .and_then(|()| {
            drop(connection);
            apply(&source, base, &[])
        });
    _ = fs::remove_file(&source);
    made.map(|()| true)
}

/// What SQLite's own check says, as far as it comes.
fn failed_checks(copy: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    let mut check = || -> rusqlite::Result<()> {
        let connection = inorder_sqlite::open(copy, OpenFlags::default())?;
        let mut statement = connection.prepare("PRAGMA integrity_check(10)")?;
        let mut rows = statement.query(())?;
        while let Some(row) = rows.next()? {
            lines.push(row.get::<_, String>(0)?);
        }
        Ok(())
    };
    let ended = check();
    let mut notes: Vec<String> = lines
        .iter()
        .flat_map(|line| line.lines())
        .filter(|line| *line != "ok")
        .map(|line| format!("integrity_check: {}", line.trim()))
        .collect();
    if let Err(error) = ended {
        notes.push(format!("integrity_check ended with: {error}"));
    }
    notes
}
