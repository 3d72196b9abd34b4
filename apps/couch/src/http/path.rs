//! The path of a request as CouchDB reads it.

use axum::http::Uri;
use axum::http::uri::PathAndQuery;

/// The prefix of the status page, whose paths are kept as they are.
const STATUS_PAGE: &str = "/_utils";

/// The URI as CouchDB reads it: without empty segments in its path and, where `plus_is_space` says so, with a space for each
/// plus sign. None if it stays as it is.
pub fn as_read(uri: &Uri, plus_is_space: impl FnOnce() -> bool) -> Option<Uri> {
    let path = uri.path();
    let is_single = !path.contains("//") && (path.len() < 2 || !path.ends_with('/'));
    let plus_is_space = path.contains('+') && plus_is_space();
    if (is_single && !plus_is_space) || path.starts_with(STATUS_PAGE) {
        return None;
    }
    let mut text = String::with_capacity(path.len());
    for segment in path.split('/').filter(|segment| !segment.is_empty()) {
        text.push('/');
        match plus_is_space {
            true => text.push_str(&segment.replace('+', "%20")),
            false => text.push_str(segment),
        }
    }
    if text.is_empty() {
        text.push('/');
    }
    if let Some(query) = uri.query() {
        text.push('?');
        text.push_str(query);
    }
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(PathAndQuery::try_from(text).ok()?);
    Uri::from_parts(parts).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_segments_are_ignored() {
        for (given, expected) in [
            ("//db", Some("/db")),
            ("//", Some("/")),
            ("/", None),
            ("/db/doc", None),
            ("/db//doc///att/?a=//", Some("/db/doc/att?a=//")),
            ("/db/", Some("/db")),
            ("/db/a%2F%2Fb", None),
            ("/_utils/", None),
            ("http://host//db?x", Some("http://host/db?x")),
        ] {
            let found = as_read(&given.parse().unwrap(), || true);
            let found = found.map(|uri| uri.to_string());
            assert_eq!(found.as_deref(), expected, "{given}");
        }
    }

    #[test]
    fn a_plus_sign_in_a_path_is_a_space_unless_configured() {
        let of = |uri: &str, plus_is_space| {
            let found = as_read(&uri.parse().unwrap(), || plus_is_space);
            found.map(|uri| uri.to_string())
        };
        let uri = "/db/a+b%2Bc/d?rev=1+2";
        assert_eq!(of(uri, true).as_deref(), Some("/db/a%20b%2Bc/d?rev=1+2"));
        assert_eq!(of(uri, false), None);
        assert_eq!(of("/db/a?x=+", true), None);
    }
}
