//! Headers that every answer has.

use crate::config::{Derived, Values, keys};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The version of CouchDB whose protocol this is. Clients read it from the header `Server` and from the welcome message.
pub const COUCHDB_VERSION: &str = "3.5.0";

const SERVER: &str = concat!(
    "CouchDB/3.5.0 (inorder-couch/",
    env!("CARGO_PKG_VERSION"),
    ")"
);

/// The header with the id of a request, for logs.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-couch-request-id");
/// [`BodyTime`].
pub const BODY_TIME: HeaderName = HeaderName::from_static("x-couchdb-body-time");

/// The time of a request without a body.
pub const NO_BODY_TIME: HeaderValue = HeaderValue::from_static("0");

/// The header `Server`.
pub type ServerHeader = Derived<HeaderValue>;

/// Reads the header `Server`.
pub fn server_header(values: &Values) -> HeaderValue {
    let with_versions = values.read(&keys::SERVER_HEADER_VERSIONS);
    HeaderValue::from_static(if with_versions { SERVER } else { "CouchDB" })
}

/// The time in which the body of a request was received, in milliseconds. Requests have it as an extension.
#[derive(Debug, Clone, Default)]
pub struct BodyTime(Arc<AtomicU64>);

impl BodyTime {
    /// The header of the time.
    pub fn header(&self) -> HeaderValue {
        self.0.load(Ordering::Relaxed).into()
    }

    /// Sets the time.
    pub fn set(&self, time: Duration) {
        let milliseconds = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.0.store(milliseconds, Ordering::Relaxed);
    }
}

/// Returns the id that the client gave the request, or a new one.
pub fn request_id(asked: &HeaderMap) -> HeaderValue {
    let is_id = |value: &&HeaderValue| {
        let mut bytes = value.as_bytes().iter();
        value.len() <= 36 && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(byte))
    };
    let given = asked.get(REQUEST_ID).filter(is_id).cloned();
    given.unwrap_or_else(new_id)
}

/// Returns ten random hexadecimal digits. They identify a request and are no secret.
fn new_id() -> HeaderValue {
    static START: OnceLock<u64> = OnceLock::new();
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let start = START.get_or_init(|| u64::from_ne_bytes(crate::auth::random()));
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    // Multiplied by an odd number, so that the first digits differ too, and all counts give different numbers.
    let number = start
        .wrapping_add(count)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut digits = [0; 10];
    for (at, digit) in digits.iter_mut().enumerate() {
        *digit = b"0123456789abcdef"[(number >> (60 - 4 * at)) as usize & 15];
    }
    HeaderValue::from_bytes(&digits).expect("digits")
}
