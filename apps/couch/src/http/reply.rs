//! JSON answers, whole or streamed.

use super::error::JSON;
use super::{HttpError, HttpResult};
use axum::Extension;
use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use futures_util::{Stream, StreamExt, TryStreamExt, stream};
use inorder_serve::Detachable;
use serde::Serialize;
use std::future::Future;

const MUST_REVALIDATE: HeaderValue = HeaderValue::from_static("must-revalidate");

/// The number of headers of most answers: type, caching, tag, date, length, server, id and time of the body.
const HEADERS: usize = 8;

/// Returns an answer with JSON text.
pub fn text(status: StatusCode, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    // Of most answers these are all, so that the map does not grow.
    headers.reserve(HEADERS);
    headers.insert(header::CONTENT_TYPE, JSON);
    headers.insert(header::CACHE_CONTROL, MUST_REVALIDATE);
    response
}

/// Returns an answer with a value as JSON and the line end of CouchDB's answers.
pub fn json(status: StatusCode, value: &impl Serialize) -> HttpResult {
    let mut body = serde_json::to_vec(value).map_err(|e| HttpError::Internal(e.to_string()))?;
    body.push(b'\n');
    Ok(text(status, body))
}

/// `{"ok":true}`.
pub fn ok(status: StatusCode) -> Response {
    text(status, "{\"ok\":true}\n")
}

/// JSON in pieces: what `next` makes until it makes nothing more. An error ends the connection before the end of the
/// body, which tells the client that something is missing.
pub fn pieces<S, F>(
    status: StatusCode,
    state: S,
    next: impl FnMut(S) -> F + Send + 'static,
) -> Response
where
    S: Send + 'static,
    F: Future<Output = HttpResult<Option<(Bytes, S)>>> + Send + 'static,
{
    text(status, body(stream::try_unfold(state, next)))
}

/// JSON in pieces that come over a long time, the first at once; sent without the HTTP library where the connection can.
pub fn lasting(
    detachable: Option<Extension<Detachable>>,
    first: Bytes,
    rest: impl Stream<Item = HttpResult<Bytes>> + Send + 'static,
) -> Response {
    let rest = logged(rest);
    let body = match detachable {
        Some(Extension(detachable)) => detachable.answer(first, rest),
        None => Body::from_stream(stream::iter([Ok(first)]).chain(rest)),
    };
    text(StatusCode::OK, body)
}

/// Returns a body that is streamed.
pub fn body(stream: impl Stream<Item = HttpResult<Bytes>> + Send + 'static) -> Body {
    Body::from_stream(logged(stream))
}

fn logged(
    stream: impl Stream<Item = HttpResult<Bytes>> + Send + 'static,
) -> impl Stream<Item = HttpResult<Bytes>> + Send + 'static {
    stream.inspect_err(|error| tracing::error!(%error, "an answer was cut off"))
}

/// Adds a header if its value can be one.
pub fn set(response: &mut Response, name: header::HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
}
