//! The pages, and the server of both them and the API.
//!
//! Every page is made on the server and works without a script; `assets/app.js` only makes it quicker. Nothing is asked of
//! another server.

mod answer;
mod assets;
mod form;
mod headers;
pub(crate) mod layout;
pub mod pages;
mod parts;
mod pattern;
pub(crate) mod visitor;

use crate::{
    api,
    request::{App, IMPORT_BYTES_MAX},
};
use axum::{Router, extract::DefaultBodyLimit, http::StatusCode, middleware};
use std::time::Duration;
use tower_http::{CompressionLevel, compression::CompressionLayer, timeout::TimeoutLayer};

pub use answer::PageError;
pub use assets::Asset;

/// Bytes of a request, but for a list that is imported.
const BODY_BYTES_MAX: usize = 64 * 1024;

/// The timeout of a request, including its body.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);

/// The timeout of a request with a backup.
const RESTORE_TIMEOUT: Duration = Duration::from_secs(60 * 60);

fn timeout(timeout: Duration) -> TimeoutLayer {
    TimeoutLayer::with_status_code(StatusCode::REQUEST_TIMEOUT, timeout)
}

/// Everything the server answers.
pub fn router(app: &App) -> Router {
    Router::new()
        .merge(pages::router())
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .merge(pages::import::router().layer(DefaultBodyLimit::max(IMPORT_BYTES_MAX)))
        .nest("/api", api::router())
        .layer(timeout(REQUEST_TIMEOUT))
        .merge(
            pages::restore::router()
                .layer(DefaultBodyLimit::disable())
                .layer(timeout(RESTORE_TIMEOUT)),
        )
        .layer(middleware::from_fn_with_state(app.clone(), headers::add))
        .layer(CompressionLayer::new().quality(CompressionLevel::Fastest))
        .with_state(app.clone())
}
