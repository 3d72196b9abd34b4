//! What all requests and answers have in common, authenticated or not: the method's override, cross-origin rules, headers.

use super::body::content_length;
use super::headers::{BODY_TIME, BodyTime, REQUEST_ID, request_id};
use super::path::as_read;
use super::{HttpError, Server, cors, jsonp};
use crate::config::keys;
use axum::extract::{Request, State};
use axum::http::{Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::sync::Arc;

/// Answers preflight requests, overrides the method, and adds the headers of every answer.
pub async fn common(
    State(server): State<Arc<Server>>,
    mut request: Request,
    next: Next,
) -> Response {
    let asked = request.headers();
    let id = request_id(asked);
    let origin = cors::origin(asked);
    let rules = origin.is_some().then(|| server.cors.get(&server.config));
    let rule = rules.as_ref().and_then(|rules| rules.rule(asked));
    let preflight = rule.and_then(|rule| rule.preflight(request.method(), asked));
    let mut response = if let Some(response) = preflight {
        response
    } else {
        let too_large = content_length(asked).filter(|bytes| *bytes > server.request_bytes_max());
        override_method(&mut request);
        let plus_is_space = || server.config.values().read(&keys::DECODE_PLUS_TO_SPACE);
        if let Some(uri) = as_read(request.uri(), plus_is_space) {
            *request.uri_mut() = uri;
        }
        let callback = jsonp::callback(&server, &mut request);
        let body_time = BodyTime::default();
        request.extensions_mut().insert(body_time.clone());
        let mut response = match (too_large, callback) {
            (Some(_), _) => HttpError::BodyTooLarge.into_response(),
            (None, Ok(None)) => next.run(request).await,
            (None, Ok(Some(name))) => jsonp::called(&name, next.run(request).await),
            (None, Err(error)) => error.into_response(),
        };
        let headers = response.headers_mut();
        headers.insert(BODY_TIME, body_time.header());
        if let (Some(rule), Some(origin)) = (rule, origin) {
            rule.expose(&origin, headers);
        }
        response
    };
    let headers = response.headers_mut();
    headers.insert(
        header::SERVER,
        (*server.server_header.get(&server.config)).clone(),
    );
    headers.insert(REQUEST_ID, id);
    response
}

/// A `POST` may name another method, for clients that can't send it.
fn override_method(request: &mut Request) {
    if request.method() != Method::POST {
        return;
    }
    let Some(name) = request.headers().get("x-http-method-override") else {
        return;
    };
    let method = match name.as_bytes() {
        b"HEAD" => Method::GET,
        b"GET" | b"POST" | b"PUT" | b"DELETE" | b"COPY" => {
            match Method::from_bytes(name.as_bytes()) {
                Ok(method) => method,
                Err(_) => return,
            }
        }
        _ => return,
    };
    *request.method_mut() = method;
}
