//! One side of a replication, accessed by CouchDB's protocol.

use super::{Endpoint, ReplicateError};
use axum::body::{Body, HttpBody};
use axum::http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use futures_util::StreamExt;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::OnceLock;
use std::time::Duration;
use tower::ServiceExt;

/// The read timeout. Feeds send heartbeats more often.
const SILENCE: Duration = Duration::from_secs(60);

/// The largest JSON answer.
const ANSWER_BYTES_MAX: usize = 64 << 20;

/// A database on one side.
#[derive(Debug, Clone)]
pub struct Peer {
    way: Way,
    /// The database's URL or path, without a trailing slash.
    base: String,
    /// The name for messages, without a password.
    shown: String,
}

#[derive(Debug, Clone)]
enum Way {
    Here(axum::Router),
    Network(reqwest::Client, HeaderMap),
}

/// A request to a peer.
#[derive(Debug)]
pub struct Ask {
    method: Method,
    /// The path below the database, with the query.
    path: String,
    accept: &'static str,
    content_type: Option<String>,
    content_length: Option<HeaderValue>,
    body: Body,
}

impl Ask {
    /// Creates a request without a body.
    pub fn new(method: Method, path: impl Into<String>) -> Self {
        Ask {
            method,
            path: path.into(),
            accept: "application/json",
            content_type: None,
            content_length: None,
            body: Body::empty(),
        }
    }

    /// Creates a POST request with a JSON body.
    pub fn post(path: impl Into<String>, body: impl Into<Body>) -> Self {
        Ask::new(Method::POST, path).with("application/json", body)
    }

    /// Sets the body.
    pub fn with(mut self, content_type: impl Into<String>, body: impl Into<Body>) -> Self {
        self.content_type = Some(content_type.into());
        self.body = body.into();
        self
    }

    /// Sets the body to a stream, the body of another answer.
    pub fn with_answer(mut self, answer: Response<Body>) -> Self {
        let (head, body) = answer.into_parts();
        let header = |name: header::HeaderName| head.headers.get(name);
        let content_type = header(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        self.content_length = header(header::CONTENT_LENGTH).cloned();
        self.with(content_type.unwrap_or("application/json"), body)
    }

    /// Sets the `Accept` header, for an answer other than JSON.
    pub fn accepting(mut self, accept: &'static str) -> Self {
        self.accept = accept;
        self
    }
}

/// Percent-encodes text for a path or a query.
pub fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

/// Percent-encodes a document id for a path.
pub fn id_path(id: &str) -> String {
    match id.split_once('/') {
        Some((prefix @ ("_design" | "_local"), name)) => format!("/{prefix}/{}", encoded(name)),
        _ => format!("/{}", encoded(id)),
    }
}

impl Peer {
    /// Connects to the database at an endpoint; `here` answers requests to databases of this server.
    ///
    /// # Errors
    /// If a header is invalid, or the HTTP client can't be created.
    pub fn new(endpoint: &Endpoint, here: axum::Router) -> Result<Self, ReplicateError> {
        let shown = endpoint.shown().to_owned();
        match endpoint {
            Endpoint::Here(name) => Ok(Peer {
                way: Way::Here(here),
                base: format!("/{}", encoded(name)),
                shown,
            }),
            Endpoint::Remote {
                url,
                credentials,
                headers,
            } => {
                let mut map = HeaderMap::new();
                for (name, value) in headers {
                    let bad = || ReplicateError::BadRequest(format!("`headers`: {name} is none"));
                    let name: header::HeaderName = name.parse().map_err(|_| bad())?;
                    map.insert(name, value.parse().map_err(|_| bad())?);
                }
                if let Some((name, password)) = credentials {
                    let basic = format!("Basic {}", STANDARD.encode(format!("{name}:{password}")));
                    let value = basic.parse().expect("base64 is a header's value");
                    map.insert(header::AUTHORIZATION, value);
                }
                Ok(Peer {
                    way: Way::Network(client()?, map),
                    base: url.clone(),
                    shown,
                })
            }
        }
    }

    /// The name for messages.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Sends a request. An unsuccessful status is an error.
    ///
    /// # Errors
    /// If the peer can't be reached or refuses.
    pub async fn ask(&self, ask: Ask) -> Result<Response<Body>, ReplicateError> {
        let response = self.send(ask).await?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let body = self.read(response).await.unwrap_or_default();
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        let text = |name: &str| body[name].as_str().unwrap_or_default().to_owned();
        Err(ReplicateError::Refused {
            url: self.shown.clone(),
            status: status.as_u16(),
            error: text("error"),
            reason: text("reason"),
        })
    }

    /// Sends a request and parses the JSON answer.
    ///
    /// # Errors
    /// Those of [`Peer::ask`], and an answer that is not the expected JSON.
    pub async fn json<T: DeserializeOwned>(&self, ask: Ask) -> Result<T, ReplicateError> {
        let response = self.ask(ask).await?;
        let body = self.read(response).await?;
        serde_json::from_slice(&body).map_err(|error| self.bad_answer(&error))
    }

    /// Reads a complete answer.
    ///
    /// # Errors
    /// If the answer is truncated or too large.
    pub async fn read(&self, response: Response<Body>) -> Result<Vec<u8>, ReplicateError> {
        let mut pieces = response.into_body().into_data_stream();
        let mut body = Vec::new();
        while let Some(piece) = pieces.next().await {
            let piece: Bytes = piece.map_err(|error| self.unreachable(&error))?;
            if body.len() + piece.len() > ANSWER_BYTES_MAX {
                let url = self.shown.clone();
                return Err(ReplicateError::TooLarge { url });
            }
            body.extend_from_slice(&piece);
        }
        Ok(body)
    }

    /// The error for an answer that does not come from CouchDB.
    pub fn bad_answer(&self, reason: &dyn std::fmt::Display) -> ReplicateError {
        ReplicateError::BadAnswer {
            url: self.shown.clone(),
            reason: reason.to_string(),
        }
    }

    fn unreachable(&self, error: &(dyn std::error::Error + 'static)) -> ReplicateError {
        // The outermost error has the least information: "error sending request".
        let mut innermost = error;
        while let Some(source) = innermost.source() {
            innermost = source;
        }
        ReplicateError::Unreachable {
            url: self.shown.clone(),
            reason: innermost.to_string(),
        }
    }

    async fn send(&self, ask: Ask) -> Result<Response<Body>, ReplicateError> {
        let url = format!("{}{}", self.base, ask.path);
        let mut builder = Request::builder()
            .method(ask.method)
            .header(header::ACCEPT, ask.accept);
        if let Some(content_type) = ask.content_type {
            builder = builder.header(header::CONTENT_TYPE, content_type);
        }
        if let Some(content_length) = ask.content_length {
            builder = builder.header(header::CONTENT_LENGTH, content_length);
        }
        let request = builder.uri(&url).body(ask.body);
        let request =
            request.map_err(|error| ReplicateError::BadRequest(format!("{url}: {error}")))?;
        match &self.way {
            Way::Here(router) => match router.clone().oneshot(request).await {
                Ok(response) => Ok(response),
                Err(never) => match never {},
            },
            Way::Network(client, headers) => {
                let (head, body) = request.into_parts();
                let body = self.sized(body).await?;
                let mut request = Request::from_parts(head, body);
                request.headers_mut().extend(headers.clone());
                let request = reqwest::Request::try_from(request);
                let request =
                    request.map_err(|error| ReplicateError::BadRequest(error.to_string()))?;
                let response = client.execute(request).await;
                let response = response.map_err(|error| self.unreachable(&error))?;
                Ok(Response::from(response).map(Body::new))
            }
        }
    }

    /// A body in memory is sent with its length. A stream of unknown length is sent chunked.
    async fn sized(&self, body: Body) -> Result<reqwest::Body, ReplicateError> {
        if body.size_hint().exact().is_none() {
            return Ok(reqwest::Body::wrap_stream(body.into_data_stream()));
        }
        let bytes = axum::body::to_bytes(body, usize::MAX).await;
        bytes
            .map(reqwest::Body::from)
            .map_err(|error| self.unreachable(&error))
    }

    /// Whether the database exists.
    ///
    /// # Errors
    /// If the peer can't be reached or refuses for another reason.
    pub async fn exists(&self) -> Result<bool, ReplicateError> {
        match self.ask(Ask::new(Method::GET, "")).await {
            Ok(response) => self.read(response).await.map(|_| true),
            Err(error) if error.is_status(404) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Creates the database.
    ///
    /// # Errors
    /// If the peer can't be reached or refuses.
    pub async fn create(&self) -> Result<(), ReplicateError> {
        match self.ask(Ask::new(Method::PUT, "")).await {
            Err(error) if !error.is_status(StatusCode::PRECONDITION_FAILED.as_u16()) => Err(error),
            _ => Ok(()),
        }
    }
}

/// The HTTP client of the process, created on first use: it keeps certificates in memory.
fn client() -> Result<reqwest::Client, ReplicateError> {
    static CLIENT: OnceLock<Result<reqwest::Client, String>> = OnceLock::new();
    let client = CLIENT.get_or_init(|| {
        // Another part of the process may have installed a provider, which is used then.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = reqwest::Client::builder()
            .user_agent(concat!("inorder-couch/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(Duration::from_secs(30))
            .read_timeout(SILENCE)
            .redirect(reqwest::redirect::Policy::limited(5));
        builder.build().map_err(|error| error.to_string())
    });
    client
        .clone()
        .map_err(|reason| ReplicateError::Unreachable {
            url: "the network".to_owned(),
            reason,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_keep_their_prefix_in_paths() {
        assert_eq!(id_path("a/b"), "/a%2Fb");
        assert_eq!(id_path("_design/a/b"), "/_design/a%2Fb");
        assert_eq!(id_path("_local/x+y"), "/_local/x%2By");
    }
}
