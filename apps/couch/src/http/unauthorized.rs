//! What answers with the status 401 tell about how to log in.

use super::error::UnauthorizedReason;
use super::reply;
use super::uri::absolute_uri;
use crate::auth::Policy;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What a client asked for, as far as answers with the status 401 depend on it.
#[derive(Debug)]
pub struct Asked {
    path: String,
    /// The header that the client wants in the answer.
    wanted: Option<HeaderValue>,
    /// The client is a browser that reads pages and no JSON.
    is_for_pages: bool,
    headers: HeaderMap,
}

const IN_QUERY: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

impl Asked {
    /// From the head of a request.
    pub fn of(path: &str, headers: &HeaderMap) -> Self {
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
        let is_for_pages = !accepts("application/json") && accepts("text/html");
        let only = |name: header::HeaderName| {
            let value = headers.get(&name)?;
            Some((name, value.clone()))
        };
        Asked {
            path: path.to_owned(),
            wanted: headers.get("X-CouchDB-WWW-Authenticate").cloned(),
            is_for_pages,
            headers: [only(header::HOST)].into_iter().flatten().collect(),
        }
    }

    /// Adds the header `WWW-Authenticate`, or sends a browser to the page to log in.
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
        } else if self.is_for_pages {
            let encoded = |text: &str| utf8_percent_encode(text, IN_QUERY).to_string();
            let (path, reason) = (encoded(&self.path), encoded(&reason));
            let page = &policy.authentication_redirect;
            let page = format!("{page}?return={path}&reason={reason}");
            *response.status_mut() = StatusCode::FOUND;
            let page = absolute_uri(&self.headers, &page);
            reply::set(response, header::LOCATION, &page);
        }
    }
}
