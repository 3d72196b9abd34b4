//! Why a view could not be read.

use super::node::Corrupt;
use crate::script::ScriptError;
use crate::store;

/// The result of a query of a view.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a view could not be read.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter has a value that means nothing, or does not go with another.
    #[error("{0}")]
    Query(String),
    /// A parameter is no JSON, and why.
    #[error("invalid UTF-8 JSON")]
    Json(String),
    /// The design document has no view of that name.
    #[error("missing_named_view")]
    NoView,
    /// The design document is in a language that is not run.
    #[error("Functions in {0} can't be run, only those in javascript.")]
    Language(String),
    /// A value has no reduction.
    #[error("{0}")]
    Reduce(String),
    /// A function of the design document failed.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// A map function failed with a document that the index cannot leave out.
    #[error("{error} It was called with the document {id:?}.")]
    Map {
        /// The document.
        id: String,
        /// What happened.
        error: ScriptError,
    },
    /// The database or the index could not be read.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// A fault of the server.
    #[error("{0}")]
    Internal(String),
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        Error::Store(error.into())
    }
}

impl From<inorder_serve::PoolClosed> for Error {
    fn from(error: inorder_serve::PoolClosed) -> Self {
        Error::Store(error.into())
    }
}

impl From<Corrupt> for Error {
    fn from(error: Corrupt) -> Self {
        Error::Internal(format!(
            "{error}; it is built again after POST _view_cleanup or a change of the design document"
        ))
    }
}
