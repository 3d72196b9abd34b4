//! `backup`.

use super::location::Dir;
use anyhow::Context;
use clap::Args;
use inorder_couch::store;
use std::path::PathBuf;

/// Copies one snapshot of a database into a file, also while a server uses it.
///
/// The copy has all revisions, deleted documents, attachments and local documents. To restore it, copy it into a data
/// folder under the file name of the database.
#[derive(Debug, Args)]
pub struct Backup {
    /// The name of the database.
    database: String,
    /// The file to create. It must not exist.
    file: PathBuf,
    #[command(flatten)]
    dir: Dir,
}

impl Backup {
    pub fn run(self) -> anyhow::Result<()> {
        let done = store::backup(&self.dir.dir, &self.database, &self.file);
        let culprit = match done {
            Err(store::Error::DatabaseMissing) => self.database,
            _ => self.file.display().to_string(),
        };
        done.context(culprit)
    }
}
