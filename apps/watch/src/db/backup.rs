//! A copy of the file, to be sent to the owner.

use super::Database;
use crate::Result;
use inorder_serve::{copy_database, private};
use std::{fs, fs::File, io};
use tokio::task::spawn_blocking;

/// How the name of the copy continues that of the database.
pub(super) const DOWNLOAD: &str = "-download";

/// Copies the file, and opens the copy, which has no name any more: it ends with the handle. Writes wait meanwhile.
///
/// # Errors
/// SQLite's error, and that of a full disk.
pub async fn copy(db: &Database) -> Result<File> {
    let db = db.clone();
    let copied = spawn_blocking(move || {
        let path = private::beside(db.path(), DOWNLOAD);
        db.write_alone(move |db| {
            // A killed server left it.
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
                _ => {}
            }
            copy_database(db, &path)?;
            let file = File::open(&path)?;
            fs::remove_file(&path)?;
            Ok(file)
        })
    });
    copied.await.map_err(io::Error::other)?
}
