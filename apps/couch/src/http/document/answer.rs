//! Answers that several requests have in common.

use crate::http::caller::Caller;
use crate::http::{HttpResult, reply};
use crate::json::write_string;
use crate::store::Written;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// The characters that are not percent-encoded in a URL, as in CouchDB.
const IN_PATH: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b':');

/// Returns the URL of a database, a document or an attachment from the parts of its path.
pub fn location(origin: &str, parts: &[&str]) -> String {
    let mut url = origin.to_owned();
    for part in parts {
        url.push('/');
        url.extend(utf8_percent_encode(part, IN_PATH));
    }
    url
}

/// What the headers of the answer to an edit say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Says {
    /// The revision and the place.
    Both,
    /// The revision (`ETag`).
    Revision,
    /// The place (`Location`).
    Place,
}

/// Returns the answer to an edit.
pub fn written(
    status: StatusCode,
    says: Says,
    caller: &Caller,
    db: &str,
    written: &Written,
) -> HttpResult {
    let mut out = Vec::with_capacity(96);
    out.extend_from_slice(b"{\"ok\":true,\"id\":");
    write_string(&mut out, &written.id);
    let revision = written.revision.to_string();
    out.extend_from_slice(b",\"rev\":\"");
    out.extend_from_slice(revision.as_bytes());
    out.extend_from_slice(b"\"}\n");
    let mut response = reply::text(status, out);
    if says != Says::Place {
        reply::set(&mut response, header::ETAG, &format!("\"{revision}\""));
    }
    if says != Says::Revision {
        let url = location(&caller.origin, &[db, &written.id]);
        reply::set(&mut response, header::LOCATION, &url);
    }
    Ok(response)
}

/// Returns whether the client has the content with this ETag, so that the answer is 304.
pub fn is_known(headers: &HeaderMap, tag: &str) -> bool {
    let known = headers.get(header::IF_NONE_MATCH);
    let Some(known) = known.and_then(|value| value.to_str().ok()) else {
        return false;
    };
    let mut tags = known
        .split(',')
        .map(|tag| tag.trim().trim_start_matches("W/"));
    tags.any(|known| known == "*" || known.trim_matches('"') == tag)
}

/// Returns the answer with the status 304.
pub fn not_modified(tag: &str) -> Response {
    let mut response = Response::default();
    *response.status_mut() = StatusCode::NOT_MODIFIED;
    reply::set(&mut response, header::ETAG, &format!("\"{tag}\""));
    response
}
