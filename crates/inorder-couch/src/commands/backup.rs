//! `backup`.

use super::location::Dir;
use anyhow::Context;
use clap::Args;
use inorder_couch::store;
use std::path::PathBuf;

/// Copies a database into one file, as it is at this moment; also while a server has it open.
///
/// The copy has everything: conflicts, deleted documents, attachments, local documents. To restore it, put it into
/// a folder of databases under the name that the database's file has there.
#[derive(Debug, Args)]
pub struct Backup {
    /// The database's name.
    database: String,
    /// The file; it must not exist.
    file: PathBuf,
    #[command(flatten)]
    dir: Dir,
}

impl Backup {
    pub fn run(self) -> anyhow::Result<()> {
        let name = || self.file.display().to_string();
        store::backup(&self.dir.dir, &self.database, &self.file).with_context(name)
    }
}
