//! What is derived from a database and can be derived again.

use std::path::{Path, PathBuf};

/// The folder for what is derived from a database's file.
pub fn folder(file: &Path) -> PathBuf {
    file.with_extension("views")
}
