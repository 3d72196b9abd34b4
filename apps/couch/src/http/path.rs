//! The path of a request as CouchDB reads it.

use axum::http::Uri;
use axum::http::uri::PathAndQuery;

/// The prefix of the status page, whose paths are kept as they are.
const STATUS_PAGE: &str = "/_utils";

/// The URI without empty segments in its path; none if it has none. CouchDB ignores empty segments.
pub fn single_slashes(uri: &Uri) -> Option<Uri> {
    let path = uri.path();
    let is_single = !path.contains("//") && (path.len() < 2 || !path.ends_with('/'));
    if is_single || path.starts_with(STATUS_PAGE) {
        return None;
    }
    let mut text = String::with_capacity(path.len());
    for segment in path.split('/').filter(|segment| !segment.is_empty()) {
        text.push('/');
        text.push_str(segment);
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
            let found = single_slashes(&given.parse().unwrap());
            let found = found.map(|uri| uri.to_string());
            assert_eq!(found.as_deref(), expected, "{given}");
        }
    }
}
