//! JSON answers, whole or streamed.

use super::error::JSON;
use super::{HttpError, HttpResult, inlined};
use crate::store::Database;
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

/// An answer that is written page by page.
pub trait Pages: Sized + Send + 'static {
    /// Writes the next page.
    fn write_page(&mut self, out: &mut Vec<u8>) -> impl Future<Output = HttpResult<()>> + Send;

    /// Returns whether the last page was written.
    fn is_done(&self) -> bool;

    /// Returns the database, which has the attachments that the pages leave out.
    fn database(&self) -> &Database;

    /// Returns whether the pages are several results, in an array of an object. The last page ends both.
    fn is_wrapped(&self) -> bool;

    /// Returns the answer: whole if it has one page, otherwise streamed. An error of the first page becomes the answer.
    ///
    /// # Errors
    /// Those of the first page.
    async fn answer(mut self) -> HttpResult {
        let mut out = Vec::with_capacity(8 << 10);
        if self.is_wrapped() {
            out.extend_from_slice(b"{\"results\":[");
        }
        self.write_page(&mut out).await?;
        if self.is_done() {
            return inlined::whole(self.database(), StatusCode::OK, out);
        }
        let db = self.database().clone();
        let first = Some(Bytes::from(out));
        let next = |(mut pages, first): (Self, Option<Bytes>)| async move {
            if let Some(first) = first {
                return Ok(Some((first, (pages, None))));
            }
            if pages.is_done() {
                return Ok(None);
            }
            let mut out = Vec::new();
            pages.write_page(&mut out).await?;
            Ok(Some((out.into(), (pages, None))))
        };
        let texts = stream::try_unfold((self, first), next);
        Ok(text(StatusCode::OK, body(inlined::pieces(db, texts))))
    }
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
