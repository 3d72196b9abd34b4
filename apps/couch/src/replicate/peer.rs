//! One side of a replication, accessed by CouchDB's protocol.

use super::encoded::encoded;
use super::endpoint::{Endpoint, Remote};
use super::session::Session;
use super::settings::{Settings, Tuning};
use super::{ReplicateError, client};
use axum::body::{Body, HttpBody};
use axum::http::{HeaderMap, HeaderValue, Method, Request, Response, header};
use bytes::Bytes;
use futures_util::StreamExt;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tower::ServiceExt;

/// The first pause before a failed request is sent again. It doubles with every attempt.
const PAUSE_FIRST: Duration = Duration::from_millis(250);

/// The longest pause, also if the peer asks for a longer one.
const PAUSE_MAX: Duration = Duration::from_secs(300);

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
    retries: u32,
}

#[derive(Debug, Clone)]
enum Way {
    Here(axum::Router),
    Network(reqwest::Client, HeaderMap, Option<Arc<Session>>),
}

/// A request to a peer.
#[derive(Debug)]
pub struct Ask {
    method: Method,
    /// The path below the database, with the query.
    path: String,
    accept: &'static str,
    content_type: Option<String>,
    body: Content,
}

/// The body of a request.
#[derive(Debug)]
enum Content {
    Bytes(Bytes),
    /// A stream, which can be sent once only.
    Stream(Option<HeaderValue>, Body),
}

impl Ask {
    /// Creates a request without a body.
    pub fn new(method: Method, path: impl Into<String>) -> Self {
        Ask {
            method,
            path: path.into(),
            accept: "application/json",
            content_type: None,
            body: Content::Bytes(Bytes::new()),
        }
    }

    /// Creates a POST request with a JSON body.
    pub fn post(path: impl Into<String>, body: impl Into<Bytes>) -> Self {
        Ask::new(Method::POST, path).with("application/json", body)
    }

    /// Sets the body.
    pub fn with(mut self, content_type: impl Into<String>, body: impl Into<Bytes>) -> Self {
        self.content_type = Some(content_type.into());
        self.body = Content::Bytes(body.into());
        self
    }

    /// Sets the body to a stream, the body of another answer.
    pub fn with_answer(mut self, answer: Response<Body>) -> Self {
        let (head, body) = answer.into_parts();
        let header = |name: header::HeaderName| head.headers.get(name);
        let content_type = header(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        self.content_type = Some(content_type.unwrap_or("application/json").to_owned());
        self.body = Content::Stream(header(header::CONTENT_LENGTH).cloned(), body);
        self
    }

    /// Sets the `Accept` header, for an answer other than JSON.
    pub fn accepting(mut self, accept: &'static str) -> Self {
        self.accept = accept;
        self
    }

    /// The same request again; none if its body was a stream.
    fn again(&self) -> Option<Ask> {
        match &self.body {
            Content::Stream(..) => None,
            Content::Bytes(body) => Some(Ask {
                method: self.method.clone(),
                path: self.path.clone(),
                accept: self.accept,
                content_type: self.content_type.clone(),
                body: Content::Bytes(body.clone()),
            }),
        }
    }
}

/// Percent-encodes a document id for a path.
pub fn id_path(id: &str) -> String {
    match id.split_once('/') {
        Some((prefix @ ("_design" | "_local"), name)) => format!("/{prefix}/{}", encoded(name)),
        _ => format!("/{}", encoded(id)),
    }
}

impl Peer {
    /// Creates a peer for the database at an endpoint; `here` answers requests to databases of this server.
    ///
    /// # Errors
    /// If a header is invalid, or the HTTP client can't be created.
    pub fn new(
        endpoint: &Endpoint,
        here: axum::Router,
        settings: &Settings,
        tuning: &Tuning,
    ) -> Result<Self, ReplicateError> {
        let shown = endpoint.shown().to_owned();
        match endpoint {
            Endpoint::Here(name) => Ok(Peer {
                way: Way::Here(here),
                base: format!("/{}", encoded(name)),
                shown,
                retries: 0,
            }),
            Endpoint::Remote(remote) => {
                if !settings.allowed_hosts.allow(&remote.url) {
                    return Err(ReplicateError::Forbidden(format!(
                        "{shown}: the host is not among those of [replicator] allowed_hosts"
                    )));
                }
                let is_secure = settings.verifies_certificates;
                let client = client::shared(tuning.connection_timeout, is_secure)?;
                let session = remote.credentials.clone().map(|credentials| {
                    let client = client.clone();
                    let session = Session::new(client, &remote.url, credentials);
                    Arc::new(session.with_cookie(settings.uses_sessions))
                });
                Ok(Peer {
                    way: Way::Network(client, headers(remote)?, session),
                    base: remote.url.trim_end_matches('/').to_owned(),
                    shown,
                    retries: tuning.retries,
                })
            }
        }
    }

    /// The name for messages.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Sends a request, again if it fails temporarily. An unsuccessful status is an error.
    ///
    /// # Errors
    /// If the peer can't be reached or refuses.
    pub async fn ask(&self, ask: Ask) -> Result<Response<Body>, ReplicateError> {
        let (mut ask, mut retries) = (ask, Retries::of(self));
        loop {
            let again = ask.again();
            match self.answer(ask).await {
                Ok(response) => return Ok(response),
                Err(refusal) => ask = retries.pause(refusal, again).await?,
            }
        }
    }

    /// Sends a request and reads the answer, again if one of them fails temporarily.
    async fn ask_whole(&self, ask: Ask) -> Result<Vec<u8>, ReplicateError> {
        let (mut ask, mut retries) = (ask, Retries::of(self));
        loop {
            let again = ask.again();
            let refusal = match self.answer(ask).await {
                Ok(response) => match self.read(response).await {
                    Ok(body) => return Ok(body),
                    Err(error) => error.into(),
                },
                Err(refusal) => refusal,
            };
            ask = retries.pause(refusal, again).await?;
        }
    }

    /// Sends a request once. A refusal comes with the pause that the peer asks for.
    async fn answer(&self, ask: Ask) -> Result<Response<Body>, Refusal> {
        let response = self.send(ask).await?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let location = header_text(&response, header::LOCATION);
        let location = location.filter(|_| status.is_redirection());
        let retry_after = header_text(&response, header::RETRY_AFTER);
        let retry_after = retry_after.and_then(|text| pause(&text, SystemTime::now()));
        let is_session_ended = response.extensions().get::<SessionEnded>().is_some();
        let body = self.read(response).await.unwrap_or_default();
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        let text = |name: &str| body[name].as_str().unwrap_or_default().to_owned();
        let (error, reason) = match location {
            Some(to) => (
                "redirect".to_owned(),
                format!("redirects are not followed: replicate with {to} itself"),
            ),
            None => (text("error"), text("reason")),
        };
        let error = ReplicateError::Refused {
            url: self.shown.clone(),
            status: status.as_u16(),
            error,
            reason,
        };
        let wait = match is_session_ended {
            true => Some(Duration::ZERO),
            false if error.is_transient() => retry_after,
            false => None,
        };
        Err(Refusal { error, wait })
    }

    /// Sends a request and parses the JSON answer.
    ///
    /// # Errors
    /// Those of [`Peer::ask`], and an answer that is not the expected JSON.
    pub async fn json<T: DeserializeOwned>(&self, ask: Ask) -> Result<T, ReplicateError> {
        let body = self.ask_whole(ask).await?;
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
        let (length, body) = match ask.body {
            Content::Bytes(body) => (None, Body::from(body)),
            Content::Stream(length, body) => (length, body),
        };
        if let Some(length) = length {
            builder = builder.header(header::CONTENT_LENGTH, length);
        }
        let request = builder.uri(&url).body(body);
        let request =
            request.map_err(|error| ReplicateError::BadRequest(format!("{url}: {error}")))?;
        match &self.way {
            Way::Here(router) => {
                // Requests to this server may never wait: let other tasks of the thread run, and this one be cancelled.
                tokio::task::yield_now().await;
                match router.clone().oneshot(request).await {
                    Ok(response) => Ok(response),
                    Err(never) => match never {},
                }
            }
            Way::Network(client, headers, session) => {
                let (head, body) = request.into_parts();
                let body = self.sized(body).await?;
                let mut request = Request::from_parts(head, body);
                request.headers_mut().extend(headers.clone());
                if let Some(session) = session {
                    session.authorize(request.headers_mut()).await;
                }
                let request = reqwest::Request::try_from(request);
                let request =
                    request.map_err(|error| ReplicateError::BadRequest(error.to_string()))?;
                let response = client.execute(request).await;
                let response = response.map_err(|error| self.unreachable(&error))?;
                let mut response = Response::from(response).map(Body::new);
                if let Some(session) = session
                    && session.note(response.status(), response.headers())
                {
                    response.extensions_mut().insert(SessionEnded);
                }
                Ok(response)
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

    /// Reads the information about the database.
    ///
    /// # Errors
    /// If there is none, or it can't be read.
    pub async fn info(&self) -> Result<Value, ReplicateError> {
        let error = match self.json(Ask::new(Method::GET, "")).await {
            Ok(info @ Value::Object(_)) => return Ok(info),
            Ok(_) => return Err(ReplicateError::NoDatabase(self.url())),
            Err(error) => error,
        };
        Err(match &error {
            ReplicateError::Refused { status: 401, .. } => ReplicateError::Unauthorized(self.url()),
            ReplicateError::Refused { status: 403, .. } => ReplicateError::Forbidden(self.url()),
            _ if error.is_transient() || error.is_redirect() => error,
            _ => ReplicateError::NoDatabase(self.url()),
        })
    }

    /// Creates the database if it does not exist.
    ///
    /// # Errors
    /// If the peer can't be reached or refuses the credentials. Other refusals show when the database is opened.
    pub async fn create(
        &self,
        params: &serde_json::Map<String, Value>,
    ) -> Result<(), ReplicateError> {
        match self.create_or_tell(params).await {
            Err(error) if error.is_transient() => Err(error),
            Err(error @ (ReplicateError::Unauthorized(_) | ReplicateError::Forbidden(_))) => {
                Err(error)
            }
            _ => Ok(()),
        }
    }

    /// The same, and tells other refusals, such as that of an illegal name.
    ///
    /// # Errors
    /// If there is no database then.
    pub async fn create_or_tell(
        &self,
        params: &serde_json::Map<String, Value>,
    ) -> Result<(), ReplicateError> {
        let mut query = String::new();
        for (name, value) in params {
            let separator = if query.is_empty() { '?' } else { '&' };
            let value = text_of(value);
            query += &format!("{separator}{}={}", encoded(name), encoded(&value));
        }
        match self.ask(Ask::new(Method::PUT, query)).await {
            Ok(_) | Err(ReplicateError::Refused { status: 412, .. }) => Ok(()),
            Err(ReplicateError::Refused { status: 401, .. }) => {
                Err(ReplicateError::Unauthorized(self.url()))
            }
            Err(ReplicateError::Refused { status: 403, .. }) => {
                Err(ReplicateError::Forbidden(self.url()))
            }
            Err(error) => Err(error),
        }
    }

    fn url(&self) -> String {
        self.shown.clone()
    }
}

/// The retries of a request.
struct Retries<'a> {
    peer: &'a Peer,
    /// The number of retries that are left.
    left: u32,
    pause: Duration,
}

impl<'a> Retries<'a> {
    fn of(peer: &'a Peer) -> Self {
        Retries {
            peer,
            left: peer.retries,
            pause: PAUSE_FIRST,
        }
    }

    /// Pauses after a failed attempt, and returns the request of the next one.
    ///
    /// # Errors
    /// If there is no next one: the request can't be repeated, the failure is not temporary, or no retry is left.
    async fn pause(
        &mut self,
        Refusal { error, wait }: Refusal,
        again: Option<Ask>,
    ) -> Result<Ask, ReplicateError> {
        let is_temporary = error.is_transient() || wait.is_some();
        let Some(again) = again.filter(|_| is_temporary && self.left > 0) else {
            return Err(error);
        };
        let wait = wait.unwrap_or_default().max(self.pause).min(PAUSE_MAX);
        let peer = self.peer.shown();
        tracing::info!(peer, %error, ?wait, "a request is sent again");
        tokio::time::sleep(wait).await;
        self.pause = (self.pause * 2).min(PAUSE_MAX);
        self.left -= 1;
        Ok(again)
    }
}

/// The reason why an attempt failed.
struct Refusal {
    error: ReplicateError,
    /// The pause after which the peer wants to see the request again.
    wait: Option<Duration>,
}

impl From<ReplicateError> for Refusal {
    fn from(error: ReplicateError) -> Self {
        Refusal { error, wait: None }
    }
}

/// Marks an answer that refuses an old session. The next request begins another one.
#[derive(Debug, Clone, Copy)]
struct SessionEnded;

fn header_text(response: &Response<Body>, name: header::HeaderName) -> Option<String> {
    let value = response.headers().get(name)?;
    value.to_str().ok().map(str::to_owned)
}

/// The pause that the text of a `Retry-After` header asks for: seconds, or a date.
fn pause(text: &str, now: SystemTime) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(text).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}

/// A string as it is, another value as JSON.
pub fn text_of(value: &Value) -> String {
    let text = value.as_str().map(str::to_owned);
    text.unwrap_or_else(|| value.to_string())
}

fn headers(remote: &Remote) -> Result<HeaderMap, ReplicateError> {
    let mut map = HeaderMap::new();
    for (name, value) in &remote.headers {
        let bad = || ReplicateError::BadRequest(format!("the header `{name}` is invalid"));
        let name: header::HeaderName = name.parse().map_err(|_| bad())?;
        map.append(name, value.parse().map_err(|_| bad())?);
    }
    Ok(map)
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

    #[test]
    fn a_pause_is_given_in_seconds_or_as_a_date() {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
        let of = |text| pause(text, now);
        assert_eq!(of(" 7 "), Some(Duration::from_secs(7)));
        assert_eq!(
            of("Sun, 06 Nov 1994 08:50:07 GMT"),
            Some(Duration::from_secs(30))
        );
        assert_eq!(of("Sun, 06 Nov 1994 08:00:00 GMT"), Some(Duration::ZERO));
        for text in ["", "-1", "soon", "1.5"] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
