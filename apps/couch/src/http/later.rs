//! Unsupported parts of CouchDB's API: each answers 501 with a reason.

use super::HttpError;

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
