//! Cross-origin requests of web pages, which the section `[cors]` of the configuration allows.
//!
//! For requests to a host, the section `[cors:HOST]` overrides `[cors]`.

use crate::auth::ADMINS;
use crate::config::{Derived, Key, Kind, List, Values, keys};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use std::collections::BTreeMap;

/// The default of `headers`: request headers that are allowed.
const HEADERS: &str = "accept, accept-language, authorization, content-length, content-range, content-type, destination, \
    expires, if-match, last-modified, origin, pragma, x-couch-full-commit, x-couch-id, x-couch-persist, \
    x-couchdb-www-authenticate, x-http-method-override, x-requested-with, x-couchdb-vhost-path";

/// The default of `methods`: methods that are allowed.
const METHODS: &str = "CONNECT, COPY, DELETE, GET, HEAD, OPTIONS, POST, PUT, TRACE";

/// The default of `exposed_headers`: response headers that pages may read.
const EXPOSED: &str =
    "accept-ranges, etag, server, x-couch-request-id, x-couch-update-newrev, x-couchdb-body-time";

/// Headers of answers that are exposed when an answer has them.
const SIMPLE: [HeaderName; 5] = [
    header::CACHE_CONTROL,
    header::CONTENT_LANGUAGE,
    header::EXPIRES,
    header::LAST_MODIFIED,
    header::PRAGMA,
];

/// The rules of the configuration.
pub type Rules = Derived<Hosts>;

/// The rules by host; none at all if cross-origin requests are not allowed.
#[derive(Debug, Default)]
pub struct Hosts {
    common: Option<Rule>,
    special: BTreeMap<String, Rule>,
}

/// The rule for one host.
#[derive(Debug)]
pub struct Rule {
    origins: Vec<String>,
    is_any: bool,
    with_credentials: bool,
    methods: Vec<String>,
    headers: Vec<String>,
    exposed: String,
    max_age: u64,
}

/// Reads the rules.
pub fn read(values: &Values) -> Hosts {
    if !values.read(&keys::ENABLE_CORS) {
        return Hosts::default();
    }
    let special = values.sections().filter_map(|section| {
        let host = section.strip_prefix("cors:")?;
        Some((host.to_owned(), Rule::read(values, Some(section))))
    });
    Hosts {
        common: Some(Rule::read(values, None)),
        special: special.collect(),
    }
}

/// Logs rules that let every website act in the name of a user who is logged in.
pub fn warn(values: &Values) {
    for section in open_sections(values) {
        tracing::warn!(
            section,
            "origins = * with credentials = true: every website may read and write what a user who is logged in may; name the origins"
        );
    }
}

/// The sections with such rules.
fn open_sections(values: &Values) -> Vec<String> {
    let hosts = read(values);
    let is_open = |rule: &Rule| rule.is_any && rule.with_credentials;
    let special = hosts.special.iter().filter(|(_, rule)| is_open(rule));
    let common = hosts.common.as_ref().filter(|rule| is_open(rule));
    let special = special.map(|(host, _)| format!("cors:{host}"));
    common
        .map(|_| "cors".to_owned())
        .into_iter()
        .chain(special)
        .collect()
}

impl Hosts {
    /// Returns the rule for the host of a request.
    pub fn rule(&self, asked: &HeaderMap) -> Option<&Rule> {
        self.rule_of(asked.get(header::HOST))
    }

    /// Returns the rule for a host.
    pub fn rule_of(&self, host: Option<&HeaderValue>) -> Option<&Rule> {
        let host = host.and_then(|host| host.to_str().ok());
        let name = host.unwrap_or_default().split(':').next();
        let special = name.and_then(|name| self.special.get(name));
        special.or(self.common.as_ref())
    }
}

impl Rule {
    fn read(values: &Values, special: Option<&str>) -> Self {
        fn value<K: Kind>(values: &Values, special: Option<&str>, key: &Key<K>) -> K::Value {
            let own = special.and_then(|section| values.get(section, key.name));
            own.and_then(K::parse).unwrap_or_else(|| values.read(key))
        }
        let list = |key: &Key<List>, default: &str| {
            let list = value(values, special, key);
            if list.is_empty() {
                List::parse(default).unwrap_or_default()
            } else {
                list
            }
        };
        let lower = |list: Vec<String>| -> Vec<String> {
            list.into_iter()
                .map(|item| item.to_ascii_lowercase())
                .collect()
        };
        let mut origins = value(values, special, &keys::CORS_ORIGINS);
        // Without an admin every client has full access: then only named pages may be clients. Any page can be `null`.
        if values.section(ADMINS).next().is_none() {
            origins.retain(|origin| !["*", "null"].contains(&origin.as_str()));
        }
        Rule {
            is_any: origins.iter().any(|origin| origin == "*"),
            origins,
            with_credentials: value(values, special, &keys::CORS_CREDENTIALS),
            methods: list(&keys::CORS_METHODS, METHODS),
            headers: lower(list(&keys::CORS_HEADERS, HEADERS)),
            exposed: lower(list(&keys::CORS_EXPOSED_HEADERS, EXPOSED)).join(", "),
            max_age: value(values, special, &keys::CORS_MAX_AGE),
        }
    }

    fn allows(&self, origin: &str) -> bool {
        self.is_any || self.origins.iter().any(|allowed| allowed == origin)
    }

    /// Adds the headers with which a page may read an answer.
    fn allow(&self, origin: &str, answer: &mut HeaderMap) {
        set(answer, header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        if self.with_credentials && origin != "*" {
            set(answer, header::ACCESS_CONTROL_ALLOW_CREDENTIALS, "true");
        }
        answer.append(header::VARY, HeaderValue::from_static("origin"));
    }

    /// Returns the answer to a preflight request. Returns none for other requests, and if the rule does not allow the request.
    pub fn preflight(&self, method: &Method, asked: &HeaderMap) -> Option<Response> {
        if method != Method::OPTIONS {
            return None;
        }
        let text = |name| {
            asked
                .get(name)
                .and_then(|value: &HeaderValue| value.to_str().ok())
        };
        let origin = text(header::ORIGIN).filter(|origin| self.allows(origin))?;
        let method = text(header::ACCESS_CONTROL_REQUEST_METHOD)?;
        let names = text(header::ACCESS_CONTROL_REQUEST_HEADERS).unwrap_or_default();
        let mut each = names
            .split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty());
        let is_allowed = self.methods.iter().any(|allowed| allowed == method)
            && each.all(|name| self.headers.contains(&name.to_ascii_lowercase()));
        if !is_allowed {
            return None;
        }
        let mut response = StatusCode::NO_CONTENT.into_response();
        let answer = response.headers_mut();
        self.allow(origin, answer);
        set(
            answer,
            header::ACCESS_CONTROL_MAX_AGE,
            &self.max_age.to_string(),
        );
        set(
            answer,
            header::ACCESS_CONTROL_ALLOW_METHODS,
            &self.methods.join(", "),
        );
        set(answer, header::ACCESS_CONTROL_ALLOW_HEADERS, names);
        Some(response)
    }

    /// Adds the headers with which pages of an allowed origin may read an answer.
    pub fn expose(&self, origin: &str, answer: &mut HeaderMap) {
        if !self.allows(origin) {
            return;
        }
        let mut exposed = vec!["content-type"];
        let simple = SIMPLE.iter().filter(|name| answer.contains_key(*name));
        exposed.extend(simple.map(HeaderName::as_str));
        exposed.push(&self.exposed);
        let exposed = exposed.join(", ");
        self.allow(origin, answer);
        set(answer, header::ACCESS_CONTROL_EXPOSE_HEADERS, &exposed);
    }
}

/// Returns the origin of a request in lower case, as CouchDB compares and answers it.
pub fn origin(asked: &HeaderMap) -> Option<String> {
    let origin = asked.get(header::ORIGIN)?.to_str().ok()?;
    Some(origin.to_ascii_lowercase())
}

fn set(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Lifetime};

    #[test]
    fn any_origin_with_credentials_is_told() {
        let config = Config::default();
        let open = |changes: &[(&str, &str, &str)]| {
            for (section, key, value) in changes {
                config.set(section, key, value, Lifetime::Run).unwrap();
            }
            open_sections(&config.values())
        };
        let any = ("cors", "origins", "*");
        let with = ("cors", "credentials", "true");
        assert!(
            open(&[any, with, ("admins", "anna", "x")]).is_empty(),
            "not enabled"
        );
        assert_eq!(open(&[("chttpd", "enable_cors", "true")]), ["cors"]);
        assert!(open(&[("cors", "credentials", "false")]).is_empty());
        let named = ("cors", "origins", "https://a.example");
        assert!(open(&[with, named]).is_empty());
        assert_eq!(
            open(&[("cors:b.example", "origins", "https://c.example, *")]),
            ["cors:b.example"]
        );
        assert_eq!(open(&[any]), ["cors", "cors:b.example"]);
    }
}
