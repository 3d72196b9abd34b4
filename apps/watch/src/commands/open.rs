//! Opens the file.

use anyhow::Context;

/// Opens an existing file: a mistyped name does not create an empty one.
pub fn open(db: &std::path::Path) -> anyhow::Result<crate::db::Database> {
    anyhow::ensure!(
        db.exists(),
        "there is no {}: name the file with --db",
        db.display()
    );
    crate::db::Database::open(db).with_context(|| format!("{} can't be opened", db.display()))
}
