//! Requests to other servers.

use reqwest::{Client, Response, redirect::Policy};
use std::time::Duration;

/// The timeout of a request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// The maximum size of an answer in bytes.
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// Why an answer was not read.
pub enum Unread {
    /// The connection failed.
    Failed(reqwest::Error),
    /// It is too large.
    Large(String),
}

/// A client.
///
/// # Errors
/// If TLS can't be set up.
pub fn client(redirects: Policy) -> reqwest::Result<Client> {
    // Another part of the process may have installed a provider, which is used then.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        .user_agent(concat!("inorder-watch/", env!("CARGO_PKG_VERSION")))
        .timeout(REQUEST_TIMEOUT)
        .redirect(redirects)
        .build()
}

/// Reads an answer, which has a limited size.
///
/// # Errors
/// [`Unread`].
pub async fn body(mut response: Response) -> Result<Vec<u8>, Unread> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(Unread::Failed)? {
        if body.len() + chunk.len() > ANSWER_BYTES_MAX {
            return Err(Unread::Large(format!(
                "an answer has more than {ANSWER_BYTES_MAX} bytes"
            )));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}
