//! Handles a request from the socket to the answer.

use super::common::Common;
use super::document::plain;
use super::gate::{Entry, Gate};
use super::resend::Routes;
use super::{HttpError, HttpResult, Server, jsonp};
use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, header};
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use inorder_serve::{Answer, Link};
use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use tower::ServiceExt;

/// The service that the listeners call.
#[derive(Debug, Clone)]
pub struct Site {
    server: Arc<Server>,
    routes: Router,
}

impl Answer for Site {
    async fn answer(&self, mut request: Request, link: &Link) -> Response {
        let (common, early) = Common::begin(&self.server, &mut request);
        let mut response = match early {
            Some(response) => response,
            None => match common.callback() {
                None => self.past_gate(request, link).await,
                Some(callback) => {
                    // The end of the call is sent after the answer, so the answer stays within the HTTP library.
                    let link = Link {
                        detachable: None,
                        ..link.clone()
                    };
                    jsonp::called(callback, self.past_gate(request, &link).await)
                }
            },
        };
        common.complete(&self.server, &mut response);
        response
    }
}

impl Site {
    /// A server and the routes that answer for it.
    pub fn new(server: Arc<Server>, routes: Router) -> Self {
        Site { server, routes }
    }

    async fn past_gate(&self, request: Request, link: &Link) -> Response {
        let (head, body) = request.into_parts();
        let gate = Gate::new(&self.server, &head, link);
        let response = match gate.admit(&head, link).await {
            Ok(entry) => self.inside(entry, head, body, link).await,
            Err(error) => error.into_response(),
        };
        gate.complete(response)
    }

    async fn inside(&self, mut entry: Entry, head: Parts, body: Body, link: &Link) -> Response {
        let cookie = entry.cookie.take();
        let answer = AssertUnwindSafe(self.respond(entry, head, body, link)).catch_unwind();
        let mut response = answer.await.unwrap_or_else(panicked);
        if let Some(cookie) = cookie.and_then(|text| HeaderValue::from_str(&text).ok())
            && !response.headers().contains_key(header::SET_COOKIE)
        {
            response.headers_mut().insert(header::SET_COOKIE, cookie);
        }
        response
    }

    async fn respond(&self, entry: Entry, mut head: Parts, body: Body, link: &Link) -> Response {
        if let Some(response) = read_document(&entry, &head) {
            return response.unwrap_or_else(IntoResponse::into_response);
        }
        link.add_to(&mut head.extensions);
        head.extensions.insert(Routes(self.routes.clone()));
        entry.add_to(&mut head.extensions);
        let request = Request::from_parts(head, body);
        let Ok(response) = self.routes.clone().oneshot(request).await;
        response
    }
}

/// Answers `GET /db/id` of a document without the router, which costs more than the reading of the document. None for all
/// other requests, and where the id is percent-encoded, a name of its own, or not shown as it is.
fn read_document(entry: &Entry, head: &Parts) -> Option<HttpResult> {
    if head.method != Method::GET || head.uri.query().is_some() {
        return None;
    }
    let db = entry.whole_database()?;
    let (_, id) = head.uri.path().get(1..)?.split_once('/')?;
    let is_plain = !id.is_empty() && !id.starts_with('_') && !id.contains(['/', '%']);
    is_plain.then(|| plain(db, id, &head.headers))
}

/// A mistake of this program ends the request it is in, and no other.
fn panicked(what: Box<dyn Any + Send>) -> Response {
    let text = what.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| what.downcast_ref::<&str>().copied());
    HttpError::Internal(format!("panicked: {}", text.unwrap_or_default())).into_response()
}
