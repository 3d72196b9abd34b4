//! Unsupported parts of CouchDB's API: each answers 501 with a reason.

use super::{HttpError, HttpResult};

/// CouchDB's own databases, whose documents mean something to it.
const DATABASES: &[(&str, &str)] = &[(
    "_global_changes",
    "The database of changes of databases (GET /_db_updates has them)",
)];

/// Refuses the databases that mean something.
///
/// # Errors
/// If it is one of them.
pub fn refuse_database(name: &str) -> HttpResult<()> {
    if !name.starts_with('_') {
        return Ok(());
    }
    let found = DATABASES.iter().find(|(listed, _)| *listed == name);
    found.map_or(Ok(()), |(_, what)| Err(not_here(what)))
}

/// `_search`, `_nouveau`.
pub async fn search() -> HttpError {
    not_here("Full text search")
}

/// `_reshard`.
pub async fn cluster() -> HttpError {
    not_here("A cluster (this is one node; it replicates into a cluster)")
}

fn not_here(what: &str) -> HttpError {
    HttpError::NotImplemented(format!("{what}: not in this version of inorder-couch."))
}
