//! JSONP: answers as function calls, for pages of other sites. `[chttpd] allow_jsonp` enables it.

use super::{HttpError, HttpResult, Server, params::Params};
use crate::config::keys;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{HeaderValue, Method, header};
use axum::response::Response;
use futures_util::{StreamExt, stream};

const JAVASCRIPT: HeaderValue = HeaderValue::from_static("application/javascript");

/// Returns the function that the answer to a request must call.
///
/// # Errors
/// If its name has other characters than those of CouchDB's rule.
pub fn callback(server: &Server, request: &Request) -> HttpResult<Option<String>> {
    let query = request.uri().query().unwrap_or_default();
    if !query.contains("callback=") || !server.config.values().read(&keys::ALLOW_JSONP) {
        return Ok(None);
    }
    let params = Params::parse(query);
    let Some(name) = params.get("callback") else {
        return Ok(None);
    };
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_.[]".contains(&byte);
    if !name.bytes().all(is_allowed) {
        let reason = "invalid callback".to_owned();
        return Err(HttpError::BadRequest(reason));
    }
    let has_body = *request.method() != Method::HEAD;
    Ok(has_body.then(|| name.to_owned()))
}

/// Wraps a JSON answer in a function call.
pub fn called(callback: &str, mut response: Response) -> Response {
    if response.headers().get(header::CONTENT_TYPE) != Some(&super::error::JSON) {
        return response;
    }
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, JAVASCRIPT);
    headers.remove(header::CONTENT_LENGTH);
    let text = |text: String| stream::iter([Ok(Bytes::from(text))]);
    response.map(|body| {
        let start = text(format!("/* CouchDB */{callback}("));
        let body = start.chain(body.into_data_stream());
        Body::from_stream(body.chain(text(");".to_owned())))
    })
}
