//! `inorder-watch restore`: the content of a backup in place of that of the file.

use crate::db::{
    Database,
    restore::{Arriving, Restored, restore_now},
};
use anyhow::{Context, ensure};
use clap::Args;
use inorder_serve::private;
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
        let is_new = !db.exists();
        let restored = restore(db, &mut file, &named());
        if is_new && restored.is_err() {
            for ending in ["", "-wal", "-shm"] {
                // It may not be there.
                let _ = fs::remove_file(private::beside(db, ending));
            }
        }
        let restored = restored?;
        eprintln!(
            "{} is restored; {} has what {} had before",
            named(),
            restored.before.display(),
            db.display()
        );
        Ok(())
    }
}

fn restore(db: &Path, backup: &mut File, named: &str) -> anyhow::Result<Restored> {
    let database = Database::open(db).with_context(|| format!("{}", db.display()))?;
    let (arrived, mut arriving) = Arriving::new(&database)?;
    io::copy(backup, &mut arriving).with_context(|| named.to_owned())?;
    restore_now(&database, &arrived, None).with_context(|| named.to_owned())
}
