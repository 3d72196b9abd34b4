//! The handling of all requests and answers before and after authentication: override of the method, cross-origin rules, headers.

use super::body::content_length;
use super::cors::{self, Hosts};
use super::headers::{BODY_TIME, BodyTime, NO_BODY_TIME, REQUEST_ID, request_id};
use super::path::as_read;
use super::{HttpError, Server, jsonp};
use crate::config::keys;
use axum::body::HttpBody;
use axum::extract::Request;
use axum::http::{HeaderValue, Method, header};
use axum::response::{IntoResponse, Response};
use std::sync::Arc;

/// The parts of a request that its answer needs.
pub struct Common {
    id: HeaderValue,
    /// The cross-origin rules and the origin, if the request has one.
    origin: Option<(Arc<Hosts>, String)>,
    host: Option<HeaderValue>,
    is_preflight: bool,
    body_time: Option<BodyTime>,
    callback: Option<String>,
}

impl Common {
    /// Reads the head of a request, overrides the method, and brings the path to CouchDB's form. Returns the answer, too, if the
    /// request is a preflight request, is too large, or names a callback that is no function.
    pub fn begin(server: &Server, request: &mut Request) -> (Self, Option<Response>) {
        let asked = request.headers();
        let origin = cors::origin(asked).map(|origin| (server.cors.get(&server.config), origin));
        let rule = origin.as_ref().and_then(|(rules, _)| rules.rule(asked));
        let preflight = rule.and_then(|rule| rule.preflight(request.method(), asked));
        let mut common = Common {
            id: request_id(asked),
            host: origin
                .as_ref()
                .and_then(|_| asked.get(header::HOST).cloned()),
            origin,
            is_preflight: preflight.is_some(),
            body_time: None,
            callback: None,
        };
        if preflight.is_some() {
            return (common, preflight);
        }
        let is_too_large =
            content_length(asked).is_some_and(|bytes| bytes > server.request_bytes_max());
        override_method(request);
        let plus_is_space = || server.config.values().read(&keys::DECODE_PLUS_TO_SPACE);
        if let Some(uri) = as_read(request.uri(), plus_is_space) {
            *request.uri_mut() = uri;
        }
        if !request.body().is_end_stream() {
            let body_time = BodyTime::default();
            request.extensions_mut().insert(body_time.clone());
            common.body_time = Some(body_time);
        }
        if is_too_large {
            return (common, Some(HttpError::BodyTooLarge.into_response()));
        }
        match jsonp::callback(server, request) {
            Ok(callback) => common.callback = callback,
            Err(error) => return (common, Some(error.into_response())),
        }
        (common, None)
    }

    /// Returns the function that a JSONP answer must call.
    pub fn callback(&self) -> Option<&str> {
        self.callback.as_deref()
    }

    /// Adds the headers of every answer.
    pub fn complete(self, server: &Server, response: &mut Response) {
        let headers = response.headers_mut();
        if !self.is_preflight {
            let time = self.body_time.map_or(NO_BODY_TIME, |time| time.header());
            headers.insert(BODY_TIME, time);
            if let Some((rules, origin)) = &self.origin
                && let Some(rule) = rules.rule_of(self.host.as_ref())
            {
                rule.expose(origin, headers);
            }
        }
        let server_header = server.server_header.get(&server.config);
        headers.insert(header::SERVER, (*server_header).clone());
        headers.insert(REQUEST_ID, self.id);
    }
}

/// Replaces the method of a `POST` that names another one, for clients that cannot send it.
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
