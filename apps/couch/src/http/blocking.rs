//! Runs long work on separate threads.

use super::{HttpError, HttpResult};

/// Runs work of more than a few hundred microseconds on a separate thread, so that other requests do not wait for it.
///
/// # Errors
/// If the work panics.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> HttpResult<T> {
    let result = tokio::task::spawn_blocking(work).await;
    result.map_err(|error| HttpError::Internal(error.to_string()))
}
