//! A session at a peer: the password is sent once and not with every request, because verifying it is expensive.

use super::endpoint::Credentials;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use base64::{Engine, engine::general_purpose::STANDARD};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;
use tokio::time::Instant;

/// A cookie without an age is renewed after this time, as by CouchDB.
const AGE_DEFAULT: Duration = Duration::from_secs(550);

/// The shortest time between two log-ins after the peer refused a cookie.
const RENEWAL_MIN: Duration = Duration::from_secs(5);

/// The name of CouchDB's cookie.
const COOKIE: &str = "AuthSession=";

/// A session. It is renewed when it ends. A peer without sessions gets the password with every request.
#[derive(Debug)]
pub struct Session {
    client: reqwest::Client,
    url: String,
    basic: HeaderValue,
    credentials: Credentials,
    state: Mutex<State>,
    /// One log-in at a time.
    renewing: tokio::sync::Mutex<()>,
}

#[derive(Debug, Clone)]
enum State {
    /// There was no log-in.
    New,
    /// There is a cookie.
    Cookie {
        value: HeaderValue,
        made: Instant,
        renewed_at: Instant,
    },
    /// The peer gives no cookie.
    Basic,
}

impl Session {
    /// Creates a session at the server of a database. The log-in takes place with the first request.
    pub fn new(client: reqwest::Client, database: &str, credentials: Credentials) -> Self {
        let Credentials { name, password, .. } = &credentials;
        let basic = format!("Basic {}", STANDARD.encode(format!("{name}:{password}")));
        let mut basic = HeaderValue::try_from(basic).expect("base64 is a header's value");
        basic.set_sensitive(true);
        let (scheme, rest) = database.split_once("://").unwrap_or_default();
        let host = rest.split(['/', '?']).next().unwrap_or_default();
        Session {
            client,
            url: format!("{scheme}://{host}/_session"),
            basic,
            credentials,
            state: Mutex::new(State::New),
            renewing: tokio::sync::Mutex::new(()),
        }
    }

    /// Without cookies, the password is sent with every request.
    pub fn with_cookie(self, uses_cookie: bool) -> Self {
        if !uses_cookie {
            *self.state() = State::Basic;
        }
        self
    }

    /// Adds the cookie or the password to a request.
    pub async fn authorize(&self, headers: &mut HeaderMap) {
        let (name, value) = match self.current() {
            Some(ready) => ready,
            None => {
                let _one = self.renewing.lock().await;
                if self.current().is_none() {
                    // A peer that can't be reached now may give a cookie later.
                    let state = self.login().await.unwrap_or(State::New);
                    *self.state() = state;
                }
                self.current()
                    .unwrap_or_else(|| (header::AUTHORIZATION, self.basic.clone()))
            }
        };
        headers.append(name, value);
    }

    /// Notes an answer: a new cookie, or a refusal of the present one. Returns whether the same request may succeed with
    /// another session.
    pub fn note(&self, status: StatusCode, headers: &HeaderMap) -> bool {
        let mut state = self.state();
        if let State::Cookie { made, .. } = *state {
            if let Some(renewed) = cookie(headers) {
                *state = renewed;
            } else if status == StatusCode::UNAUTHORIZED && made.elapsed() >= RENEWAL_MIN {
                *state = State::New;
                return true;
            }
        }
        false
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no panic while held")
    }

    /// The header for a request; none if there has to be a log-in.
    fn current(&self) -> Option<(header::HeaderName, HeaderValue)> {
        match &*self.state() {
            State::New => None,
            State::Cookie {
                value, renewed_at, ..
            } => (Instant::now() < *renewed_at).then(|| (header::COOKIE, value.clone())),
            State::Basic => Some((header::AUTHORIZATION, self.basic.clone())),
        }
    }

    /// Asks for a cookie.
    ///
    /// # Errors
    /// If the peer does not answer.
    async fn login(&self) -> reqwest::Result<State> {
        let Credentials { name, password, .. } = &self.credentials;
        let body = serde_json::json!({ "name": name, "password": password });
        let request = self.client.post(&self.url);
        let request = request.header(header::CONTENT_TYPE, "application/json");
        let answer = request.body(body.to_string()).send().await?;
        let cookie = cookie(answer.headers()).filter(|_| answer.status().is_success());
        Ok(cookie.unwrap_or(State::Basic))
    }
}

/// The session cookie of an answer.
fn cookie(headers: &HeaderMap) -> Option<State> {
    let lines = headers.get_all(header::SET_COOKIE).iter();
    let mut lines = lines.filter_map(|line| line.to_str().ok());
    let line = lines.find(|line| line.starts_with(COOKIE))?;
    let mut parts = line.split(';').map(str::trim);
    let value = parts.next()?;
    if value == COOKIE {
        return None;
    }
    let age = parts.find_map(|part| {
        let (name, age) = part.split_once('=')?;
        let is_age = name.eq_ignore_ascii_case("max-age");
        is_age.then(|| age.parse().ok()).flatten()
    });
    // Renewed before it ends.
    let age = age.map_or(AGE_DEFAULT, |age| Duration::from_secs(age).mul_f64(0.9));
    let mut value = HeaderValue::from_str(value).ok()?;
    value.set_sensitive(true);
    let made = Instant::now();
    Some(State::Cookie {
        value,
        made,
        renewed_at: made + age,
    })
}
