//! A copy of a database while it is used.

use super::database::Shared;
use super::{Error, Result};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

impl Shared {
    /// Writes a copy of one snapshot into a file that must not exist.
    pub fn backup(&self, path: &Path) -> Result<()> {
        if path.exists() {
            let exists = std::io::Error::from(std::io::ErrorKind::AlreadyExists);
            return Err(Error::io(path, exists));
        }
        let part = beside(path, ".part");
        let copied = self.copy(&part).and_then(|()| publish(&part, path));
        if copied.is_err() {
            let _ = fs::remove_file(&part);
        }
        copied
    }

    fn copy(&self, part: &Path) -> Result<()> {
        // What an earlier attempt left.
        match fs::remove_file(part) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::io(part, error));
            }
            _ => {}
        }
        let name = part.to_string_lossy().into_owned();
        self.readers.read(|connection| {
            connection.execute("VACUUM INTO ?1", [name])?;
            Ok(())
        })
    }
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
