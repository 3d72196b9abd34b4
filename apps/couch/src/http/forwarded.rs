//! The address that a client used, also where a proxy stands before the server.

use crate::config::{Derived, Values, keys};
use axum::http::{HeaderMap, HeaderName};

/// The headers in which a proxy names the client's address, as configured.
pub type ForwardedHeaders = Derived<Forwarded>;

/// The names of the headers. A name that no header can have is none.
#[derive(Debug)]
pub struct Forwarded {
    host: Option<HeaderName>,
    proto: Option<HeaderName>,
    ssl: Option<HeaderName>,
}

/// Reads the names.
pub fn read(values: &Values) -> Forwarded {
    let name = |text: String| HeaderName::try_from(text).ok();
    Forwarded {
        host: name(values.read(&keys::X_FORWARDED_HOST)),
        proto: name(values.read(&keys::X_FORWARDED_PROTO)),
        ssl: name(values.read(&keys::X_FORWARDED_SSL)),
    }
}

impl Forwarded {
    /// The origin in absolute URLs of answers, such as `http://localhost:5984`.
    pub fn origin(&self, headers: &HeaderMap, is_tls: bool) -> String {
        let scheme = match self.is_secure(headers, is_tls) {
            true => "https",
            false => "http",
        };
        let host = text(headers, self.host.as_ref());
        let host = host.or_else(|| text(headers, Some(&axum::http::header::HOST)));
        format!("{scheme}://{}", host.unwrap_or("localhost"))
    }

    /// Returns whether the client used TLS, to this server or to a proxy.
    pub fn is_secure(&self, headers: &HeaderMap, is_tls: bool) -> bool {
        is_tls
            || text(headers, self.ssl.as_ref()) == Some("on")
            || text(headers, self.proto.as_ref()) == Some("https")
    }
}

fn text<'a>(headers: &'a HeaderMap, name: Option<&HeaderName>) -> Option<&'a str> {
    headers.get(name?)?.to_str().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Lifetime};
    use axum::http::HeaderValue;

    #[test]
    fn a_proxy_names_the_address_in_the_configured_headers() {
        let config = Config::default();
        let origin = |config: &Config, is_tls| {
            let headers = [
                ("host", "inner:5984"),
                ("x-forwarded-host", "outer.example"),
                ("x-host", "other.example"),
                ("x-forwarded-proto", "https"),
            ];
            let headers = headers.map(|(name, value)| {
                (
                    HeaderName::from_static(name),
                    HeaderValue::from_static(value),
                )
            });
            read(&config.values()).origin(&HeaderMap::from_iter(headers), is_tls)
        };
        assert_eq!(origin(&config, false), "https://outer.example");
        for (key, value) in [
            ("x_forwarded_host", "X-Host"),
            ("x_forwarded_proto", "X-None"),
        ] {
            config.set("chttpd", key, value, Lifetime::Run).unwrap();
        }
        assert_eq!(origin(&config, false), "http://other.example");
        config
            .set("chttpd", "x_forwarded_host", "no header", Lifetime::Run)
            .unwrap();
        assert_eq!(origin(&config, true), "https://inner:5984");
    }
}
