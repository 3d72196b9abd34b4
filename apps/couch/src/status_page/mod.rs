//! `/_utils`: databases, documents and their changes in a browser, from files within the program.

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use base64::{Engine, engine::general_purpose::STANDARD};
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

/// The page with its script and style in it, and the policy that allows these and no others.
///
/// Attachments come from the same origin as the page, and anybody who may write a document may write a script into it: so the
/// policy names the script by its hash and not by where it comes from.
static PAGE: LazyLock<(String, HeaderValue)> = LazyLock::new(|| {
    let (script, style) = (include_str!("page.js"), include_str!("page.css"));
    let text = include_str!("page.html")
        .replace("{style}", style)
        .replace("{script}", script);
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    let policy = format!(
        "default-src 'none'; script-src {}; style-src {}; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        hash(script),
        hash(style),
    );
    let policy = HeaderValue::try_from(policy).expect("base64 and words are a header's value");
    (text, policy)
});

/// The policy for answers that are not pages: no scripts.
pub const NOTHING: HeaderValue = HeaderValue::from_static("default-src 'none'; sandbox");

/// The page.
pub fn page<S: Clone + Send + Sync + 'static>() -> Router<S> {
    let page = || async {
        let (text, policy) = &*PAGE;
        file("text/html; charset=utf-8", policy.clone(), text.as_str())
    };
    Router::new().route("/_utils/", get(page))
}

/// What leads to the page, and its icon.
pub fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    let icon = || async { file("image/svg+xml", NOTHING, include_str!("icon.svg")) };
    Router::new()
        .route("/_utils", get(|| async { moved("/_utils/") }))
        .route("/_utils/icon.svg", get(icon))
        .route("/favicon.ico", get(|| async { moved("/_utils/icon.svg") }))
}

/// Redirects with 301, as CouchDB does.
fn moved(to: &'static str) -> Response {
    let location = [(header::LOCATION, HeaderValue::from_static(to))];
    (StatusCode::MOVED_PERMANENTLY, location).into_response()
}

/// An answer with a file of the page, which a browser asks for again.
pub fn file(content_type: &'static str, policy: HeaderValue, bytes: impl Into<Body>) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(content_type)),
        (header::CONTENT_SECURITY_POLICY, policy),
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
    (headers, bytes.into()).into_response()
}
