//! A copy of a database while it is used.

use super::database::Shared;
use super::{Error, Result};
use rusqlite::{Connection, OpenFlags};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

impl Shared {
    /// Writes a copy of one snapshot into a file that must not exist.
    pub fn backup(&self, path: &Path) -> Result<()> {
        self.readers.read(|connection| copy(connection, path))
    }
}

/// Writes a copy of a database in a folder into a file that must not exist, also while another process has the folder open.
///
/// # Errors
/// When there is no such database, or the file exists or cannot be written.
pub fn backup(folder: &Path, name: &str, path: &Path) -> Result<()> {
    let file = super::databases::file_of(folder, name);
    if !super::is_database_name(name) || !file.exists() {
        return Err(Error::DatabaseMissing);
    }
    copy(
        &Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_WRITE)?,
        path,
    )
}

fn copy(connection: &Connection, path: &Path) -> Result<()> {
    if path.exists() {
        let exists = std::io::Error::from(std::io::ErrorKind::AlreadyExists);
        return Err(Error::io(path, exists));
    }
    let part = beside(path, ".part");
    let copied = vacuum(connection, &part).and_then(|()| publish(&part, path));
    if copied.is_err() {
        let _ = fs::remove_file(&part);
    }
    copied
}

fn vacuum(connection: &Connection, part: &Path) -> Result<()> {
    // What an earlier attempt left.
    match fs::remove_file(part) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(Error::io(part, error));
        }
        _ => {}
    }
    // Into an empty file, too; one that SQLite made would be open to everybody.
    super::private::create_new(part).map_err(|error| Error::io(part, error))?;
    let name = part.to_string_lossy().into_owned();
    connection.execute("VACUUM INTO ?1", [name])?;
    Ok(())
}

/// Gives a complete file its name, durably.
fn publish(part: &Path, path: &Path) -> Result<()> {
    let sync = |path: &Path| File::open(path).and_then(|file| file.sync_all());
    sync(part).map_err(|error| Error::io(part, error))?;
    // Unlike a renaming, this does not replace a file.
    fs::hard_link(part, path).map_err(|error| Error::io(path, error))?;
    fs::remove_file(part).map_err(|error| Error::io(part, error))?;
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    sync(folder).map_err(|error| Error::io(folder, error))
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}
