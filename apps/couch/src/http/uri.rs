//! Absolute URIs of this server.

use axum::http::{HeaderMap, header};

/// A path of this server as a client reaches it: with the name by which the client asked for it.
pub fn absolute_uri(headers: &HeaderMap, path: &str) -> String {
    let host = headers.get(header::HOST);
    match host.and_then(|host| host.to_str().ok()) {
        Some(host) => format!("http://{host}{path}"),
        None => path.to_owned(),
    }
}
