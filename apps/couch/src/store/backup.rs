//! A copy of a database in a folder.

use super::{Error, Result};
use inorder_serve::copy_database;
use rusqlite::{Connection, OpenFlags};
use std::path::Path;

/// Writes a copy of a database in a folder into a file that must not exist, also while another process has the folder open.
///
/// # Errors
/// If there is no such database, or the file exists or cannot be written.
pub fn backup(folder: &Path, name: &str, path: &Path) -> Result<()> {
    let file = super::databases::file_of(folder, name);
    if !super::is_database_name(name) || !file.exists() {
        return Err(Error::DatabaseMissing);
    }
    let connection = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    Ok(copy_database(&connection, path)?)
}
