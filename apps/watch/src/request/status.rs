//! The status of an answer to a request that failed.

use crate::{
    Error,
    words::{Arg, Message, say},
};
use axum::{
    http::{StatusCode, header},
    response::Response,
};
use inorder_serve::QueueError;

/// Returns the status of an error, and its text for the client. Internal errors are logged, not shown.
pub fn error_status(error: &Error) -> (StatusCode, Message) {
    match error {
        Error::NotFound(thing) => (StatusCode::NOT_FOUND, say::no_such(Arg::key(*thing))),
        Error::Invalid(words) => (StatusCode::UNPROCESSABLE_ENTITY, words.clone()),
        Error::SignedOut => (StatusCode::UNAUTHORIZED, say::signed_out()),
        Error::TooMany(seconds) => (StatusCode::TOO_MANY_REQUESTS, say::too_many_tries(*seconds)),
        Error::Queue(QueueError::Full) => (StatusCode::SERVICE_UNAVAILABLE, say::server_busy()),
        _ => {
            tracing::error!("{error}");
            (StatusCode::INTERNAL_SERVER_ERROR, say::server_failed())
        }
    }
}

/// Adds `Retry-After` where the time is known.
pub fn with_wait(error: &Error, mut response: Response) -> Response {
    let seconds = match error {
        Error::TooMany(seconds) => *seconds,
        Error::Queue(_) => 1,
        _ => return response,
    };
    response
        .headers_mut()
        .insert(header::RETRY_AFTER, seconds.into());
    response
}
