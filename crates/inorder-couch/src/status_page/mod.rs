//! `/_utils`: databases, documents and their changes in a browser, from files within the program.

use crate::http::Server;
use axum::Router;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use std::sync::Arc;

/// Scripts, styles and requests of this server alone, and in nobody's frame.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
);

/// The page and what it consists of.
pub fn routes() -> Router<Arc<Server>> {
    let page = || file("text/html; charset=utf-8", include_str!("page.html"));
    Router::new()
        .route("/_utils", get(|| async { Redirect::permanent("/_utils/") }))
        .route("/_utils/", get(move || async move { page() }))
        .route(
            "/_utils/page.css",
            get(|| async { file("text/css", include_str!("page.css")) }),
        )
        .route(
            "/_utils/page.js",
            get(|| async { file("text/javascript", include_str!("page.js")) }),
        )
        .route(
            "/_utils/icon.svg",
            get(|| async { file("image/svg+xml", include_str!("icon.svg")) }),
        )
        .route(
            "/favicon.ico",
            get(|| async { Redirect::permanent("/_utils/icon.svg") }),
        )
}

fn file(content_type: &'static str, text: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(content_type)),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (
            header::X_CONTENT_TYPE_OPTIONS,
            HeaderValue::from_static("nosniff"),
        ),
        (
            header::REFERRER_POLICY,
            HeaderValue::from_static("no-referrer"),
        ),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    ];
    (headers, text).into_response()
}
