//! `inorder-watch backup`: writes a consistent copy of the file.

use super::open::open;
use clap::Args;
use inorder_serve::copy_database;
use std::path::{Path, PathBuf};

/// Copy the database into a new file, also while the server runs
///
/// The copy is complete once it has its name. `serve --db` accepts it.
#[derive(Args)]
pub struct Backup {
    /// The file to create. It must not exist
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

impl Backup {
    pub fn run(&self, db: &Path) -> anyhow::Result<()> {
        let database = open(db)?;
        let file = self.file.clone();
        database.write_alone(move |db| Ok(copy_database(db, &file)?))?;
        eprintln!("{} is a complete copy", self.file.display());
        Ok(())
    }
}
