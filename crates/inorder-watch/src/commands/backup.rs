//! `inorder-watch backup`: a copy of the file as it is at one moment.

use crate::db::private;
use anyhow::{Context, ensure};
use clap::Args;
use std::{
    fs::{self, File},
    path::{Path, PathBuf},
};

/// Copy everything into a new file, also while the server runs
///
/// The copy is complete once it has its name, and is itself a file to serve.
#[derive(Args)]
pub struct Backup {
    /// The new file
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

impl Backup {
    pub fn run(&self, db: &Path) -> anyhow::Result<()> {
        let file = &self.file;
        ensure!(
            !file.exists(),
            "{} is there already: name a new file",
            file.display()
        );
        let database = super::open(db)?;
        let mut unfinished = file.clone().into_os_string();
        unfinished.push(".unfinished");
        let unfinished = PathBuf::from(unfinished);
        let copied = copy(&database, &unfinished).and_then(|()| Ok(fs::rename(&unfinished, file)?));
        if copied.is_err() {
            let _ = fs::remove_file(&unfinished);
        }
        copied.with_context(|| format!("no backup in {}", file.display()))?;
        sync_folder(file)?;
        eprintln!("{} holds everything as of now", file.display());
        Ok(())
    }
}

fn copy(database: &crate::db::Database, to: &Path) -> anyhow::Result<()> {
    let name = to.to_str().context("its name isn't UTF-8")?.to_owned();
    if to.exists() {
        fs::remove_file(to)?;
    }
    // An empty file is as good as none to SQLite, and nobody else can read what it becomes.
    private::create_new(to)?;
    // It reads one state while others write.
    database.write_alone(move |db| Ok(db.execute("VACUUM INTO ?1", [name])?))?;
    File::open(to)?.sync_all()?;
    Ok(())
}

/// Makes the new name as durable as the file.
fn sync_folder(file: &Path) -> anyhow::Result<()> {
    let folder = file.parent().filter(|folder| *folder != Path::new(""));
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
    Ok(())
}
