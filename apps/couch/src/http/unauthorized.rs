//! The headers of answers with the status 401, which say how to log in.

use super::error::UnauthorizedReason;
use super::reply;
use crate::auth::Policy;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::response::Response;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// The parts of a request on which an answer with the status 401 depends.
#[derive(Debug)]
pub struct Asked {
    uri: Uri,
    /// The header that the client wants in the answer.
    wanted: Option<HeaderValue>,
    /// The origin of this server, if the client is a browser that reads pages and no JSON.
    pages_at: Option<String>,
}

/// The header with which a client chooses that of the answer.
const WANTED: HeaderName = HeaderName::from_static("x-couchdb-www-authenticate");

const IN_QUERY: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

impl Asked {
    /// Reads the head of a request.
    pub fn of(uri: &Uri, headers: &HeaderMap, origin: impl FnOnce() -> String) -> Self {
        let accept = headers.get(header::ACCEPT);
        let accept = accept.and_then(|value| value.to_str().ok());
        let accepts = |wanted: &str| {
            let group = wanted.split('/').next().unwrap_or_default();
            let mut types = accept
                .unwrap_or("*/*")
                .split(',')
                .map(crate::multipart::media_type);
            types.any(|one| one == wanted || one == "*/*" || one.strip_suffix("/*") == Some(group))
        };
        let is_for_pages = accept.is_some() && !accepts("application/json") && accepts("text/html");
        Asked {
            uri: uri.clone(),
            wanted: headers.get(WANTED).cloned(),
            pages_at: is_for_pages.then(origin),
        }
    }

    /// Adds the header `WWW-Authenticate`, or redirects a browser to the login page.
    pub fn complete(self, policy: &Policy, response: &mut Response) {
        let reason = response.extensions_mut().remove::<UnauthorizedReason>();
        let Some(UnauthorizedReason(reason)) = reason else {
            return;
        };
        if let Some(value) = self.wanted {
            response
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, value);
        } else if let Some(value) = &policy.www_authenticate {
            reply::set(response, header::WWW_AUTHENTICATE, value);
        } else if policy.require_valid_user {
            reply::set(response, header::WWW_AUTHENTICATE, "Basic realm=\"server\"");
        } else if let Some(origin) = self.pages_at {
            let encoded = |text: &str| utf8_percent_encode(text, IN_QUERY).to_string();
            let (path, reason) = (encoded(self.uri.path()), encoded(&reason));
            let page = &policy.authentication_redirect;
            let page = format!("{page}?return={path}&reason={reason}");
            *response.status_mut() = StatusCode::FOUND;
            reply::set(response, header::LOCATION, &(origin + &page));
        }
    }
}
