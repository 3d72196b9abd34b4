//! The query parameters of a URL.

use super::{HttpError, HttpResult};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use percent_encoding::percent_decode_str;
use serde::de::DeserializeOwned;
use std::convert::Infallible;

/// The query parameters of a request, in their order. Of several with one name, the last counts.
#[derive(Debug, Clone, Default)]
pub struct Params(Vec<(String, String)>);

impl Params {
    /// Parses `a=b&c=d`, with `&` or `;` between the parameters. Invalid UTF-8 is replaced.
    pub fn parse(query: &str) -> Self {
        let decode = |text: &str| {
            let text = text.replace('+', " ");
            percent_decode_str(&text).decode_utf8_lossy().into_owned()
        };
        let pairs = query.split(['&', ';']).filter(|pair| !pair.is_empty());
        let pair = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(name), decode(value))
        };
        Params(pairs.map(pair).collect())
    }

    /// Returns the text of a parameter.
    pub fn get(&self, name: &str) -> Option<&str> {
        let mut pairs = self.0.iter().rev();
        pairs
            .find(|(n, _)| n == name)
            .map(|(_, value)| value.as_str())
    }

    /// Returns whether there are no parameters.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns all parameters, in their order.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> + Clone {
        self.0
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Appends a parameter.
    pub fn push(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.0.push((name.into(), value.into()));
    }

    /// Returns whether a parameter is `true`. CouchDB ignores every other value of most parameters.
    pub fn is_true(&self, name: &str) -> bool {
        self.get(name) == Some("true")
    }

    /// Returns whether a parameter is `true`. A missing parameter is `false`.
    ///
    /// # Errors
    /// If it is neither `true` nor `false`.
    pub fn flag(&self, name: &'static str) -> HttpResult<bool> {
        Ok(self.parsed(name)?.unwrap_or(false))
    }

    /// Parses a parameter that is a number, `true` or `false`.
    ///
    /// # Errors
    /// If it has another value.
    pub fn parsed<T: std::str::FromStr>(&self, name: &'static str) -> HttpResult<Option<T>> {
        let parse = |text: &str| {
            let wrong = |_| HttpError::BadParameter(name, text.to_owned());
            text.trim_matches('"').parse().map_err(wrong)
        };
        self.get(name).map(parse).transpose()
    }

    /// Parses a parameter that is JSON.
    ///
    /// # Errors
    /// If it is not JSON, or has another type.
    pub fn json<T: DeserializeOwned>(&self, name: &'static str) -> HttpResult<Option<T>> {
        let parse = |text: &str| {
            let wrong = |_| HttpError::BadParameter(name, text.to_owned());
            serde_json::from_str(text).map_err(wrong)
        };
        self.get(name).map(parse).transpose()
    }
}

impl<S: Sync> FromRequestParts<S> for Params {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Params::parse(parts.uri.query().unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_decoded_and_the_last_counts() {
        let params = Params::parse("a=1&b=%22x+y%2B%22&a=2&&c&%ff=z");
        assert_eq!(params.parsed::<u64>("a").unwrap(), Some(2));
        assert_eq!(params.json::<String>("b").unwrap().unwrap(), "x y+");
        assert_eq!(params.get("c"), Some(""));
        assert_eq!(params.get("\u{fffd}"), Some("z"));
        assert!(params.get("d").is_none() && Params::parse("").is_empty());
    }

    #[test]
    fn wrong_values_are_named() {
        let params = Params::parse("limit=x&descending=1&key=%7B");
        let errors = [
            params.parsed::<u64>("limit").unwrap_err().to_string(),
            params.flag("descending").unwrap_err().to_string(),
            params.json::<String>("key").unwrap_err().to_string(),
        ];
        assert_eq!(
            errors,
            [
                "Invalid value for limit: x",
                "Invalid value for descending: 1",
                "Invalid value for key: {",
            ]
        );
    }
}
