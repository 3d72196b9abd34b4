//! Converts errors of other modules into answers.

use super::HttpError;
use crate::auth::{AuthError, SecurityError};
use crate::multipart::MultipartError;
use crate::revision::RevisionError;
use crate::script::ScriptError;
use crate::store::{Error, Missing, Refusal};

impl From<Error> for HttpError {
    fn from(error: Error) -> Self {
        let text = error.to_string();
        match error {
            Error::DatabaseMissing => HttpError::DatabaseMissing,
            Error::DatabaseExists => HttpError::DatabaseExists,
            Error::IllegalDatabaseName(name) => HttpError::BadDatabaseName(name),
            Error::DatabaseNameTooLong(_) => HttpError::LongDatabaseName(text),
            Error::NotFound(Missing::Missing) => HttpError::DocumentMissing,
            Error::NotFound(Missing::Deleted) => HttpError::DocumentDeleted,
            Error::IllegalId(_) => HttpError::BadDocumentId(text),
            Error::InvalidDocument(_) => HttpError::BadDocument(text),
            Error::BadRequest(_) | Error::TooDeep(_) => HttpError::BadRequest(text),
            Error::TooLarge(_) => HttpError::DocumentTooLarge(text),
            Error::Json(detail) => HttpError::BadJson(detail),
            Error::Conflict => HttpError::Conflict,
            Error::MissingStub { .. } => HttpError::MissingStub(text),
            Error::Mango(error) => HttpError::Mango(error),
            Error::Full => HttpError::StorageFull(text),
            Error::Busy => HttpError::Busy,
            // Deleted between the moment it was looked up and now.
            Error::Closed => HttpError::DatabaseMissing,
            _ => HttpError::Internal(text),
        }
    }
}

impl From<crate::mango::Error> for HttpError {
    fn from(error: crate::mango::Error) -> Self {
        HttpError::Mango(error)
    }
}

impl From<Refusal> for HttpError {
    fn from(refusal: Refusal) -> Self {
        let text = refusal.to_string();
        match refusal {
            Refusal::Conflict => HttpError::Conflict,
            Refusal::Forbidden(_) => HttpError::Forbidden(text),
            Refusal::Unauthorized(_) => HttpError::Unauthorized(text),
            Refusal::MissingStub { .. } => HttpError::MissingStub(text),
            Refusal::IllegalId(_) => HttpError::BadDocumentId(text),
            Refusal::PartitionFull(_) => HttpError::PartitionFull(text),
            Refusal::InvalidDesign(_) => HttpError::InvalidDesign(text),
            Refusal::Uncompiled(_) => HttpError::Uncompiled(text),
            Refusal::BadRequest(_) => HttpError::BadRequest(text),
            Refusal::TooLarge(_) => HttpError::DocumentTooLarge(text),
            Refusal::Busy(_) => HttpError::ScriptsBusy(text),
            Refusal::Stopped(_) => HttpError::ScriptTimeout(text),
            Refusal::Thrown { name, .. } => HttpError::Function(name, text),
            _ => HttpError::Script(text),
        }
    }
}

impl From<RevisionError> for HttpError {
    fn from(error: RevisionError) -> Self {
        HttpError::BadRequest(error.to_string())
    }
}

impl From<ScriptError> for HttpError {
    fn from(error: ScriptError) -> Self {
        let text = error.to_string();
        failed_function(error, text)
    }
}

/// The answer when a function failed, with this reason.
fn failed_function(error: ScriptError, reason: String) -> HttpError {
    match error {
        ScriptError::Timeout(_)
        | ScriptError::Memory(_)
        | ScriptError::LargeAnswer(_)
        | ScriptError::Failed(_) => HttpError::ScriptTimeout(reason),
        ScriptError::Thrown { name, .. } => HttpError::Function(name, reason),
        ScriptError::Busy => HttpError::ScriptsBusy(reason),
        _ => HttpError::Script(reason),
    }
}

impl From<crate::views::Error> for HttpError {
    fn from(error: crate::views::Error) -> Self {
        use crate::views::Error;
        let text = error.to_string();
        match error {
            Error::Query(_) => HttpError::BadParameters(text),
            Error::Json(detail) => HttpError::BadJson(detail),
            Error::NoView => HttpError::NotFound(text),
            Error::Language(_) => HttpError::NotImplemented(text),
            Error::Script(error) | Error::Map { error, .. } => failed_function(error, text),
            Error::Store(error) => error.into(),
            _ => HttpError::Internal(text),
        }
    }
}

impl From<AuthError> for HttpError {
    fn from(error: AuthError) -> Self {
        let text = error.to_string();
        match error {
            AuthError::Locked | AuthError::BadHash(_) => HttpError::Forbidden(text),
            AuthError::BadHeader(_) | AuthError::BadCookie(_) | AuthError::BadToken(_) => {
                HttpError::BadRequest(text)
            }
            AuthError::Directory(_) => HttpError::Internal(text),
            _ => HttpError::Unauthorized(text),
        }
    }
}

impl From<SecurityError> for HttpError {
    fn from(error: SecurityError) -> Self {
        HttpError::BadRequest(error.to_string())
    }
}

impl From<MultipartError> for HttpError {
    fn from(error: MultipartError) -> Self {
        HttpError::BadRequest(error.to_string())
    }
}
