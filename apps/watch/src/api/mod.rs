//! The JSON API: what the pages do, for programs. `/api` describes it, `/api/openapi.json` does so for programs.

mod answer;
mod films;
mod friends;
mod list;
mod me;
mod openapi;
mod routes;
pub(crate) mod sync;
mod tonight;

use crate::request::{App, IMPORT_BYTES_MAX};
use axum::{Json, Router, extract::DefaultBodyLimit, routing::get};

pub use answer::ApiError;
pub use routes::{PREFIX, ROUTES, Route};

/// The API and its description for programs, without `/api` before them.
pub fn router() -> Router<App> {
    let routes = ROUTES.iter().fold(Router::new(), |router, route| {
        let limit = if route.takes_file {
            IMPORT_BYTES_MAX
        } else {
            64 * 1024
        };
        let handler = (route.handler)().layer(DefaultBodyLimit::max(limit));
        router.route(route.path, handler)
    });
    Router::new()
        .nest("/v1", routes)
        .route("/openapi.json", get(|| async { Json(openapi::document()) }))
        .fallback(answer::no_route)
}
