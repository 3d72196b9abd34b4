//! Forms as they are sent back.

use super::{answer::PageError, visitor};
use crate::{Error, request::App, words::say};

pub(crate) use crate::request::{optional, ticked};

use axum::{
    body::Bytes,
    extract::{FromRequest, Request},
    http::HeaderMap,
    response::{IntoResponse, Response},
};
use serde::{Deserialize, Deserializer, de::DeserializeOwned};

/// Reads a hidden field that has JSON.
pub fn json<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    let text = String::deserialize(deserializer)?;
    serde_json::from_str(&text)
        .map(Some)
        .map_err(serde::de::Error::custom)
}

/// A form that the sender was shown by us.
pub struct Posted<T>(pub T);

/// A form that is only a button.
#[derive(Deserialize)]
pub struct Nothing {}

/// A form that is confirmed with the password.
#[derive(Deserialize)]
pub struct Confirm {
    /// The password; empty from a form without the field.
    #[serde(default)]
    pub confirm: String,
}

/// A form of a page that is shown again afterwards.
#[derive(Deserialize)]
pub struct Sent<T> {
    /// The address of that page.
    #[serde(default)]
    pub back: String,
    #[serde(flatten)]
    pub form: T,
}

#[derive(Deserialize)]
struct Token {
    #[serde(default)]
    token: String,
}

impl<T: DeserializeOwned> FromRequest<App> for Posted<T> {
    type Rejection = Response;

    async fn from_request(request: Request, app: &App) -> Result<Self, Response> {
        let headers = request.headers().clone();
        let body = Bytes::from_request(request, app)
            .await
            .map_err(IntoResponse::into_response)?;
        let malformed = |_| PageError(Error::Invalid(say::form_malformed())).into_response();
        let Token { token } = serde_urlencoded::from_bytes(&body).map_err(malformed)?;
        check_token(app, &headers, &token).map_err(|error| PageError(error).into_response())?;
        serde_urlencoded::from_bytes(&body)
            .map(Posted)
            .map_err(malformed)
    }
}

/// Whether the sender was shown the form by us.
///
/// # Errors
/// [`Error::Invalid`] when not.
pub fn check_token(app: &App, headers: &HeaderMap, token: &str) -> Result<(), Error> {
    match visitor::is_own_form(headers, app.config().behind_tls, token) {
        true => Ok(()),
        false => Err(Error::Invalid(say::form_foreign())),
    }
}

/// The address to go back to, if it is one of this site.
pub fn local(address: &str) -> &str {
    let is_local = address.starts_with('/')
        && !address.starts_with("//")
        && address
            .bytes()
            .all(|b| (b'!'..=b'~').contains(&b) && b != b'\\');
    if is_local { address } else { "/" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_this_site_are_gone_back_to() {
        for address in ["/", "/films?q=a%20b", "/?watched=1#e"] {
            assert_eq!(local(address), address);
        }
        for address in [
            "",
            "//evil.example",
            "/\\evil.example",
            "https://evil.example",
            "/a\r\nb",
            "/\t/evil.example",
        ] {
            assert_eq!(local(address), "/", "{address:?}");
        }
    }
}
