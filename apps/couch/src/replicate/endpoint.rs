//! A source or target of a replication.

use super::ReplicateError;
use crate::revision::Term;
use base64::{Engine, engine::general_purpose::STANDARD};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A database to replicate from or to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    /// A local database.
    Here(String),
    /// A remote database.
    Remote(Remote),
}

/// A remote database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remote {
    /// The URL without user name and password.
    pub url: String,
    /// User name and password.
    pub credentials: Option<Credentials>,
    /// Additional request headers.
    pub headers: Vec<(String, String)>,
}

/// A user name and a password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credentials {
    /// The name, decoded.
    pub name: String,
    /// The password, decoded.
    pub password: String,
    /// The name as it was given.
    given_name: String,
}

/// The parts of a URL that identify a replication.
#[derive(Debug, PartialEq, Eq)]
struct Parts<'a> {
    host: &'a str,
    /// `None` for the default port of the scheme or of CouchDB.
    port: Option<u32>,
    path: String,
}

/// The headers that CouchDB's replicator sends with every request. They are not part of a replication's id.
const OWN_HEADERS: [(&str, &str); 2] = [
    ("Accept", "application/json"),
    ("User-Agent", "CouchDB-Replicator/3.5.0"),
];

impl Endpoint {
    /// Parses a URL, a name, or an object with `url`, `auth` and `headers`.
    ///
    /// # Errors
    /// If the value is none of these.
    pub fn from_json(value: &Value) -> Result<Self, ReplicateError> {
        let nothing = Map::new();
        let (url, auth, headers) = match value {
            Value::Null => {
                let reason = "Missing replicator database";
                return Err(ReplicateError::Invalid(reason.to_owned()));
            }
            Value::String(url) => (url.as_str(), &Value::Null, &nothing),
            Value::Object(object) => (
                object
                    .get("url")
                    .and_then(Value::as_str)
                    .ok_or(ReplicateError::BadUrl)?,
                &value["auth"]["basic"],
                value["headers"].as_object().unwrap_or(&nothing),
            ),
            _ => return Err(ReplicateError::BadUrl),
        };
        if value.is_string() && !url.contains("://") {
            return Ok(Endpoint::Here(url.trim_matches('/').to_owned()));
        }
        let (given_url, (url, in_url)) = (url, without_credentials(url)?);
        let has_user = url != given_url;
        let (headers, in_headers) = without_authorization(all_headers(headers)?);
        let named = |name: &str| auth[name].as_str();
        let credentials = match (named("username"), named("password")) {
            (Some(name), Some(password)) => Some(Credentials::plain(name, password)),
            _ => in_url.or(in_headers),
        };
        let url = match url.contains('?') || url.ends_with('/') {
            true => url,
            false => url + "/",
        };
        // CouchDB's client accepts an empty port after credentials only. A replication's id then has the whole URL.
        parts(&url, has_user).ok_or(ReplicateError::BadUrl)?;
        Ok(Endpoint::Remote(Remote {
            url,
            credentials,
            headers,
        }))
    }

    /// The endpoint for answers and messages, without a password.
    pub fn shown(&self) -> &str {
        match self {
            Endpoint::Here(name) => name,
            Endpoint::Remote(remote) => &remote.url,
        }
    }

    /// The endpoint as a part of a replication's id: `{remote, User, Host, Port, Path, Headers, undefined}`.
    ///
    /// A local database counts as one of a CouchDB at 127.0.0.1:5984 that a client named in `_replicate` with basic
    /// authentication.
    pub fn term(&self, local_user: Option<&str>) -> Term {
        let undefined = || Term::atom("undefined");
        let user = |name: Option<&str>| name.map_or_else(undefined, Term::string);
        match self {
            Endpoint::Here(name) => Term::tuple(&[
                Term::atom("remote"),
                user(local_user),
                Term::string("127.0.0.1"),
                Term::atom("default"),
                Term::string(&format!("/{}/", super::encoded::encoded(name))),
                header_terms(&[("cookie".to_owned(), String::new())]),
                undefined(),
            ]),
            Endpoint::Remote(remote) => {
                let credentials = remote.credentials.as_ref();
                let port = |port: u32| Term::integer(port.into());
                let [host, port, path] = match parts(&remote.url, false) {
                    Some(parts) => [
                        Term::string(parts.host),
                        parts.port.map_or_else(|| Term::atom("default"), port),
                        Term::string(&parts.path),
                    ],
                    None => [Term::string(&remote.url), undefined(), undefined()],
                };
                Term::tuple(&[
                    Term::atom("remote"),
                    user(credentials.map(|credentials| credentials.given_name.as_str())),
                    host,
                    port,
                    path,
                    header_terms(&remote.headers),
                    undefined(),
                ])
            }
        }
    }
}

fn header_terms(headers: &[(String, String)]) -> Term {
    let pair =
        |(name, value): &(String, String)| Term::tuple(&[Term::string(name), Term::string(value)]);
    Term::list(&headers.iter().map(pair).collect::<Vec<_>>())
}

impl Credentials {
    fn plain(name: &str, password: &str) -> Self {
        Credentials {
            name: name.to_owned(),
            password: password.to_owned(),
            given_name: name.to_owned(),
        }
    }
}

/// Takes user name and password out of a URL. A name without a password is dropped.
fn without_credentials(url: &str) -> Result<(String, Option<Credentials>), ReplicateError> {
    let (scheme, rest) = url.split_once("://").ok_or(ReplicateError::BadUrl)?;
    if !matches!(scheme, "http" | "https") {
        return Err(ReplicateError::BadUrl);
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let Some((given, _)) = authority.rsplit_once('@') else {
        return Ok((url.to_owned(), None));
    };
    let decode = |text| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let credentials = given.split_once(':').map(|(name, password)| Credentials {
        name: decode(name),
        password: decode(password),
        given_name: name.to_owned(),
    });
    let rest = &rest[given.len() + 1..];
    Ok((format!("{scheme}://{rest}"), credentials))
}

/// The given headers in the order of their names, and those of the replicator.
fn all_headers(given: &Map<String, Value>) -> Result<Vec<(String, String)>, ReplicateError> {
    let mut headers: BTreeMap<String, String> = OWN_HEADERS
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
    for (name, value) in given {
        let text = value.as_str().ok_or_else(|| {
            ReplicateError::BadRequest(format!("the header `{name}` must be a string"))
        })?;
        headers.insert(name.clone(), text.to_owned());
    }
    Ok(headers.into_iter().collect())
}

/// Takes the header of basic authentication out. Returns the headers other than the replicator's own.
///
/// CouchDB joins headers whose names differ in case only, if there is an `Authorization` header.
fn without_authorization(
    headers: Vec<(String, String)>,
) -> (Vec<(String, String)>, Option<Credentials>) {
    let is_authorization = |name: &str| name.eq_ignore_ascii_case("authorization");
    let mut credentials = None;
    let mut kept = headers;
    if kept.iter().any(|(name, _)| is_authorization(name)) {
        let mut joined: BTreeMap<String, (String, String)> = BTreeMap::new();
        for (name, value) in kept {
            let entry = joined.entry(name.to_ascii_lowercase());
            entry
                .and_modify(|(_, before)| *before = format!("{before}, {value}"))
                .or_insert((name, value));
        }
        if let Some((_, value)) = joined.get("authorization")
            && let Some(encoded) = basic(value)
        {
            credentials = decoded(encoded);
            joined.remove("authorization");
        }
        kept = joined.into_values().collect();
    }
    kept.retain(|(name, value)| !OWN_HEADERS.contains(&(name.as_str(), value.as_str())));
    (kept, credentials)
}

/// The part of a header of basic authentication after the scheme.
fn basic(header: &str) -> Option<&str> {
    let (scheme, rest) = header.split_once(' ')?;
    scheme.eq_ignore_ascii_case("basic").then_some(rest)
}

fn decoded(encoded: &str) -> Option<Credentials> {
    let text = String::from_utf8(STANDARD.decode(encoded).ok()?).ok()?;
    let (name, password) = text.split_once(':')?;
    Some(Credentials::plain(name, password))
}

/// Splits a URL without credentials, as CouchDB's HTTP client does.
fn parts(url: &str, accepts_empty_port: bool) -> Option<Parts<'_>> {
    let (scheme, rest) = url.split_once("://")?;
    let (host, rest) = match rest.strip_prefix('[') {
        Some(rest) => {
            let (address, rest) = rest.split_once(']')?;
            address.parse::<std::net::Ipv6Addr>().ok()?;
            (address, rest)
        }
        None => rest.split_at(rest.find([':', '/', '?']).unwrap_or(rest.len())),
    };
    let default = match scheme {
        "https" => 443,
        _ => 80,
    };
    let (port, path) = match rest.strip_prefix(':') {
        Some(rest) => {
            let (port, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
            match port.is_empty() && (accepts_empty_port || host.contains(':')) {
                true => (default, path),
                false => (port.parse().ok()?, path),
            }
        }
        None => (default, rest),
    };
    let path = match path {
        path if path.starts_with('/') => path.to_owned(),
        // An address in brackets is followed by a path only.
        path if path.is_empty() || path.starts_with('?') => format!("/{path}"),
        _ => return None,
    };
    let is_default = port == default || (scheme == "http" && port == 5984);
    let has_host = !host.is_empty();
    has_host.then_some(Parts {
        host,
        port: (!is_default).then_some(port),
        path,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn endpoints_are_names_or_urls_without_passwords() {
        let of = |value| Endpoint::from_json(&value);
        assert_eq!(of(json!("films")).unwrap(), Endpoint::Here("films".into()));
        let remote = |value| match of(value) {
            Ok(Endpoint::Remote(remote)) => remote,
            other => panic!("{other:?}"),
        };
        let given = remote(json!(
            "https://an%40na:p%40ss%3Aword@example.com:6984/films"
        ));
        assert_eq!(given.url, "https://example.com:6984/films/");
        let credentials = given.credentials.unwrap();
        assert_eq!(
            (
                credentials.name.as_str(),
                credentials.password.as_str(),
                credentials.given_name.as_str()
            ),
            ("an@na", "p@ss:word", "an%40na")
        );
        let auth = json!({ "basic": { "username": "anna", "password": "p%40" } });
        let object = remote(json!({ "url": "http://bert:x@example.com/films", "auth": auth }));
        let credentials = object.credentials.unwrap();
        assert_eq!(
            (credentials.name.as_str(), credentials.password.as_str()),
            ("anna", "p%40")
        );
        for wrong in [
            json!(null),
            json!(1),
            json!("ftp://example.com/a"),
            json!({}),
            json!("http://"),
            json!("http://host:x/"),
        ] {
            assert!(of(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
