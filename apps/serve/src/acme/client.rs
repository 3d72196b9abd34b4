//! The HTTP client for the CA.

use axum::body::Body;
use instant_acme::{BodyWrapper, BytesResponse, Error, HttpClient};
use std::pin::Pin;
use std::time::Duration;

/// The time for one request.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A client that trusts the certificates of the system. The variable `SSL_CERT_FILE` names others, for a CA of one's own.
pub struct Client(reqwest::Client);

impl Client {
    pub fn new() -> Result<Self, Error> {
        // Another part of the process may have installed a provider, which is used then.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().timeout(TIMEOUT).build();
        client.map(Client).map_err(other)
    }
}

fn other(error: reqwest::Error) -> Error {
    Error::Other(Box::new(error))
}

impl HttpClient for Client {
    fn request(
        &self,
        request: axum::http::Request<BodyWrapper<bytes::Bytes>>,
    ) -> Pin<Box<dyn Future<Output = Result<BytesResponse, Error>> + Send>> {
        let client = self.0.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let body = axum::body::to_bytes(Body::new(body), usize::MAX).await;
            let body = body.map_err(|error| Error::Other(Box::new(error)))?;
            let request = client.request(parts.method, parts.uri.to_string());
            let sent = request.headers(parts.headers).body(body).send().await;
            let response: axum::http::Response<reqwest::Body> = sent.map_err(other)?.into();
            Ok(BytesResponse::from(response))
        })
    }
}
