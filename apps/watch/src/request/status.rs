//! The status of an answer to a request that failed.

use crate::Error;
use axum::{
    http::{StatusCode, header},
    response::Response,
};
use inorder_serve::QueueError;

/// Returns the status of an error, and its text for the client. Internal errors are logged, not shown.
pub fn error_status(error: &Error) -> (StatusCode, String) {
    let busy = "The server has too much to do: try again in a moment.";
    let words = error.to_string();
    match error {
        Error::NotFound(_) => (StatusCode::NOT_FOUND, words),
        Error::Invalid(_) => (StatusCode::UNPROCESSABLE_ENTITY, words),
        Error::TooMany(_) => (StatusCode::TOO_MANY_REQUESTS, words),
        Error::Queue(QueueError::Full) => (StatusCode::SERVICE_UNAVAILABLE, busy.to_owned()),
        _ => {
            tracing::error!("{error}");
            let words = "Something went wrong here; the server's log says what.".to_owned();
            (StatusCode::INTERNAL_SERVER_ERROR, words)
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
