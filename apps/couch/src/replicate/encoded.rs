//! Percent-encoding of names in URLs.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// Percent-encodes text for a path or a query.
pub fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}
