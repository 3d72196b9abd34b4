//! Headers of every answer, and where requests may come from.

use super::answer::PageError;
use crate::{
    Error,
    api::ApiError,
    request::App,
    words::{self, Language, say},
};
use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};

/// The content security policy of a page: only the server's own styles, scripts and images.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; \
     connect-src 'self'; manifest-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// On every answer.
const ALWAYS: [(HeaderName, &str); 5] = [
    (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
];

/// Refuses what another site sends, and adds the headers.
pub async fn add(State(app): State<App>, request: Request, next: Next) -> Response {
    words::within(language(&request), answer(app, request, next)).await
}

/// The language of an answer, until its user is known. The API speaks English.
fn language(request: &Request) -> Language {
    if request.uri().path().starts_with("/api/") {
        return Language::English;
    }
    // The worker keeps a page for each language.
    let query = request.uri().query().unwrap_or_default();
    let named = query.strip_prefix("language=").and_then(Language::of_tag);
    let accepted = || {
        let header = request.headers().get(header::ACCEPT_LANGUAGE)?;
        header.to_str().ok().map(Language::of_accepted)
    };
    named.or_else(accepted).unwrap_or_default()
}

async fn answer(app: App, request: Request, next: Next) -> Response {
    let is_reading = matches!(*request.method(), Method::GET | Method::HEAD);
    let is_api = request.uri().path().starts_with("/api/");
    let mut response = if !is_reading && !is_api && is_from_elsewhere(request.headers()) {
        PageError(Error::Invalid(say::from_elsewhere())).into_response()
    } else {
        in_words(next.run(request).await, is_api)
    };
    let headers = response.headers_mut();
    for (name, value) in ALWAYS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    let no_features = "camera=(), geolocation=(), microphone=(), payment=(), usb=()";
    headers.insert("permissions-policy", HeaderValue::from_static(no_features));
    if app.config().behind_tls {
        let year = HeaderValue::from_static("max-age=31536000");
        headers.insert(header::STRICT_TRANSPORT_SECURITY, year);
    }
    // A page whose address is a secret is stricter.
    headers
        .entry(header::REFERRER_POLICY)
        .or_insert(HeaderValue::from_static("same-origin"));
    // Pages are private to a user; public answers set their own header.
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Formats errors that occur before a page or route is reached.
fn in_words(response: Response, is_api: bool) -> Response {
    let status = response.status();
    let kind = response.headers().get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if !status.is_client_error()
        || kind.starts_with("text/html")
        || kind.starts_with("application/json")
    {
        return response;
    }
    let words = match status {
        StatusCode::METHOD_NOT_ALLOWED => say::method_wrong(),
        StatusCode::PAYLOAD_TOO_LARGE => say::too_large(),
        StatusCode::REQUEST_TIMEOUT => say::too_long(),
        _ => say::request_wrong(),
    };
    let error = Error::Invalid(words);
    let mut told = match is_api {
        true => ApiError(error).into_response(),
        false => PageError(error).into_response(),
    };
    *told.status_mut() = status;
    told
}

/// Whether a browser says that another site's page sent this.
fn is_from_elsewhere(headers: &HeaderMap) -> bool {
    let site = headers
        .get("sec-fetch-site")
        .and_then(|site| site.to_str().ok());
    site.is_some_and(|site| !matches!(site, "same-origin" | "none"))
}
