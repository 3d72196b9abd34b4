//! The URL of a running server.

use crate::Error;
use std::fmt;
use url::Url;

/// Where a running server is and who asks: `postgres://user:password@host:port/database` or
/// `mysql://…`. What is shown of it has no password.
#[derive(Clone)]
pub struct ServerUrl(Url);

/// Names of parameters that hold a secret.
const SECRETS: &[&str] = &["password", "sslpassword", "passfile"];

impl ServerUrl {
    /// Reads a URL.
    ///
    /// # Errors
    /// When it isn't one; the message doesn't repeat it, as it may hold a password.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let wrong = |why: &str| Error::Url {
            url: "the URL of the server".to_owned(),
            message: format!(
                "{why}: write postgres://user:password@host:port/database or mysql://…, with % codes \
                 for special characters"
            ),
        };
        let url = Url::parse(text).map_err(|error| wrong(&error.to_string()))?;
        if !super::schemes().any(|scheme| scheme == url.scheme()) || url.cannot_be_a_base() {
            let known: Vec<&str> = super::schemes().collect();
            return Err(wrong(&format!(
                "it doesn't begin with one of {}",
                known.join("://, ")
            )));
        }
        Ok(ServerUrl(url))
    }

    /// What comes before `://`.
    pub fn scheme(&self) -> &str {
        self.0.scheme()
    }

    /// With its password: for a driver, or for a process that is to connect too.
    pub fn reveal(&self) -> &str {
        self.0.as_str()
    }

    /// The same server under another scheme.
    pub(crate) fn with_scheme(&self, scheme: &str) -> String {
        let rest = &self.0.as_str()[self.scheme().len()..];
        format!("{scheme}{rest}")
    }

    /// A parameter behind the `?`.
    pub fn parameter(&self, name: &str) -> Option<String> {
        let mut pairs = self.0.query_pairs();
        pairs.find_map(|(key, value)| (key == name).then(|| value.into_owned()))
    }

    /// An error of this server.
    pub(crate) fn error(&self, message: impl Into<String>) -> Error {
        Error::Url {
            url: self.to_string(),
            message: message.into(),
        }
    }
}

impl fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = self.0.clone();
        // A URL without a host has none to take away.
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
