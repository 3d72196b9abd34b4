//! The URL of a running server.

use crate::Error;
use std::fmt;
use url::Url;

/// Address and user of a running server: `postgres://user:password@host:port/database` or `mysql://…`. Its display
/// form has no password.
#[derive(Clone)]
pub struct ServerUrl {
    url: Url,
    engine: &'static str,
}

/// URL schemes, and the engine whose protocol each one selects.
pub const SCHEMES: &[(&str, &str)] = &[
    ("postgres", "postgres"),
    ("postgresql", "postgres"),
    ("mysql", "mariadb"),
    ("mariadb", "mariadb"),
];

/// Names of parameters that contain a secret.
const SECRETS: &[&str] = &["password", "sslpassword", "passfile"];

impl ServerUrl {
    /// Parses a URL.
    ///
    /// # Errors
    /// If the text is not a URL. The message does not repeat it, because it may contain a password.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let wrong = |why: &str| Error::Url {
            url: "the URL of the server".to_owned(),
            message: format!(
                "{why}: write postgres://user:password@host:port/database or mysql://…, with % codes \
                 for special characters"
            ),
        };
        let url = Url::parse(text).map_err(|error| wrong(&error.to_string()))?;
        match SCHEMES.iter().find(|(scheme, _)| *scheme == url.scheme()) {
            Some((_, engine)) if !url.cannot_be_a_base() => Ok(ServerUrl { url, engine }),
            _ => {
                let known = SCHEMES.iter().map(|(scheme, _)| format!("{scheme}://"));
                let known = known.collect::<Vec<_>>().join(", ");
                Err(wrong(&format!("it doesn't begin with one of {known}")))
            }
        }
    }

    /// Returns the scheme.
    pub fn scheme(&self) -> &str {
        self.url.scheme()
    }

    /// Returns the name of the engine whose protocol the server speaks.
    pub fn engine(&self) -> &'static str {
        self.engine
    }

    /// Returns the URL with its password, for a driver or for another process that connects.
    pub fn reveal(&self) -> &str {
        self.url.as_str()
    }

    /// Returns the URL of the same server with another scheme.
    pub(crate) fn with_scheme(&self, scheme: &str) -> String {
        let rest = &self.url.as_str()[self.scheme().len()..];
        format!("{scheme}{rest}")
    }

    /// Returns a query parameter.
    pub fn parameter(&self, name: &str) -> Option<String> {
        let mut pairs = self.url.query_pairs();
        pairs.find_map(|(key, value)| (key == name).then(|| value.into_owned()))
    }

    /// Returns the URL without these query parameters, with its password.
    pub(crate) fn without(&self, names: &[&str]) -> ServerUrl {
        let is_kept = |pair: &&str| {
            let mut parsed = url::form_urlencoded::parse(pair.as_bytes());
            !parsed.any(|(name, _)| names.contains(&name.as_ref()))
        };
        // The others stay as they are written: drivers decode them in ways of their own.
        let query = self.url.query().unwrap_or_default();
        let kept: Vec<&str> = query.split('&').filter(is_kept).collect();
        let mut url = self.url.clone();
        url.set_query(Some(&*kept.join("&")).filter(|query| !query.is_empty()));
        ServerUrl {
            url,
            engine: self.engine,
        }
    }

    /// Creates an error of this server.
    pub(crate) fn error(&self, message: impl Into<String>) -> Error {
        Error::Url {
            url: self.to_string(),
            message: message.into(),
        }
    }
}

impl fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = self.url.clone();
        // This fails only for a URL without a host, which has no password.
        let _ = shown.set_password(None);
        let open: Vec<(String, String)> = shown
            .query_pairs()
            .filter(|(name, _)| !SECRETS.contains(&name.as_ref()))
            .map(|(name, value)| (name.into_owned(), value.into_owned()))
            .collect();
        shown.set_query(None);
        if !open.is_empty() {
            shown.query_pairs_mut().extend_pairs(open);
        }
        f.write_str(shown.as_str())
    }
}

impl fmt::Debug for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_left_out_and_others_stay_as_written() {
        for (text, left) in [
            ("postgres://me@h/d", "postgres://me@h/d"),
            ("postgres://me@h/d?sslmode=require", "postgres://me@h/d"),
            (
                "postgres://me@h/d?options=-c%20a%3Db&sslmode=require&host=%2Frun",
                "postgres://me@h/d?options=-c%20a%3Db&host=%2Frun",
            ),
            ("mysql://me:pw@h/?ssl%2Dmode=x", "mysql://me:pw@h/"),
        ] {
            let url = ServerUrl::parse(text).unwrap();
            assert_eq!(url.without(&["sslmode", "ssl-mode"]).reveal(), left);
        }
    }

    #[test]
    fn a_password_is_never_shown() {
        for (text, shown) in [
            (
                "postgres://me:s3cret@db.example:5433/app?sslmode=disable",
                "postgres://me@db.example:5433/app?sslmode=disable",
            ),
            ("mysql://me:s3cret@localhost/", "mysql://me@localhost/"),
            (
                "postgres://me@%2Frun%2Fpg/app?password=s3cret&connect_timeout=3",
                "postgres://me@%2Frun%2Fpg/app?connect_timeout=3",
            ),
            (
                "postgres:///app?host=/run&user=me&password=s3cret",
                "postgres:///app?host=%2Frun&user=me",
            ),
        ] {
            let url = ServerUrl::parse(text).unwrap();
            assert_eq!(url.to_string(), shown);
            assert_eq!(format!("{url:?}"), shown);
            assert_eq!(url.reveal(), text);
        }
        for wrong in [
            "s3cret@db",
            "me:s3cret@db",
            "postgres:s3cret",
            "oracle://me:s3cret@db",
            "postgres://me:s3cret@db:port",
        ] {
            let error = ServerUrl::parse(wrong).unwrap_err().to_string();
            assert!(!error.contains("s3cret"), "{error}");
            assert!(error.contains("postgres://user:password@host"), "{error}");
        }
    }
}
