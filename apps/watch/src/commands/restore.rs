//! `inorder-watch restore`: the content of a backup in place of that of the file.

use crate::db::{Database, restore::Arriving};
use anyhow::{Context, ensure};
use clap::Args;
use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

/// Replace the content of the database by that of a backup, also while the server runs
///
/// The backup is checked first. What the database had before is kept in a file beside it. Everybody is signed out.
#[derive(Args)]
pub struct Restore {
    /// A file that `backup` or the owner's page has written. It is not changed
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

impl Restore {
    pub fn run(&self, db: &Path) -> anyhow::Result<()> {
        let named = || format!("{}", self.file.display());
        let mut file = File::open(&self.file).with_context(named)?;
        let is_same = fs::canonicalize(db).ok() == Some(fs::canonicalize(&self.file)?);
        ensure!(
            !is_same,
            "{} is the database itself: name a backup of it",
            named()
        );
        let to = || format!("{}", db.display());
        let (backup, mut arriving) = Arriving::new(db).with_context(to)?;
        io::copy(&mut file, &mut arriving).with_context(named)?;
        // A refused backup makes no new database.
        let checked = backup.check(None).with_context(named)?;
        let database = Database::open(db).with_context(to)?;
        let restored = checked.replace(&database).with_context(named)?;
        eprintln!(
            "{} is restored; {} has what {} had before",
            named(),
            restored.before.display(),
            db.display()
        );
        Ok(())
    }
}
