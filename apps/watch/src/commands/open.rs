//! Opens the file.

use anyhow::Context;

/// Opens a file that has to be there: a mistyped name makes no empty one.
pub fn open(db: &std::path::Path) -> anyhow::Result<crate::db::Database> {
    anyhow::ensure!(
        db.exists(),
        "there is no {}: name the file with --db",
        db.display()
    );
    crate::db::Database::open(db).with_context(|| format!("{} can't be opened", db.display()))
}
