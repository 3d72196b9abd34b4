//! The gate of every request: authentication, authorisation and counters.

use super::{HttpError, HttpResult, Server};
use crate::auth::{Method as AuthMethod, User, session::RENEW_SECONDS};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::net::IpAddr;
use std::sync::Arc;

/// Paths without authentication: the welcome message, the session, and the status page, which has its own login form.
const PUBLIC: &[&str] = &["/", "/_up", "/_session", "/_utils", "/favicon.ico"];

/// Admits or refuses a request.
pub async fn gate(State(server): State<Arc<Server>>, mut request: Request, next: Next) -> Response {
    let method = request.method().clone();
    let admitted = admit(&server, &mut request).await;
    let mut response = match admitted {
        Ok(cookie) => {
            let mut response = next.run(request).await;
            if let Some(cookie) = cookie.and_then(|text| HeaderValue::from_str(&text).ok())
                && !response.headers().contains_key(header::SET_COOKIE)
            {
                response.headers_mut().insert(header::SET_COOKIE, cookie);
            }
            response
        }
        Err(error) => error.into_response(),
    };
    if response.status() == StatusCode::METHOD_NOT_ALLOWED {
        response = method_not_allowed(&response);
    }
    server.metrics.count(&method, response.status());
    response
}

/// Authenticates and authorises a request. Returns a new cookie when the session needs one.
async fn admit(server: &Server, request: &mut Request) -> HttpResult<Option<String>> {
    if !server.auth.has_admin() {
        require_loopback_name(request.headers())?;
    }
    let path = request.uri().path();
    let is_public = PUBLIC.contains(&path) || path.starts_with("/_utils/");
    let user = match server.auth.user(request.headers()).await {
        Err(_) if is_public && path != "/_session" => User::Nobody,
        user => user?,
    };
    if !is_public && !user.is_admin() {
        let reason = "You are not authorized to access this server: send a name and a password.";
        return Err(HttpError::Unauthorized(reason.to_owned()));
    }
    let renewed = match &user {
        User::Admin {
            method: AuthMethod::Cookie { age_seconds },
            ..
        } if *age_seconds > RENEW_SECONDS => server.auth.session_cookie(&user),
        _ => None,
    };
    request.extensions_mut().insert(user);
    Ok(renewed)
}

/// A server without an admin is for this machine alone. A web page elsewhere could give its own name this machine's
/// address (DNS rebinding), but then its requests have that name.
fn require_loopback_name(headers: &HeaderMap) -> HttpResult<()> {
    let Some(host) = headers.get(header::HOST) else {
        return Ok(());
    };
    let host = host.to_str().unwrap_or_default();
    let name = match host.rsplit_once(':') {
        // An IPv6 address without brackets contains colons.
        _ if host.parse::<IpAddr>().is_ok() => host,
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let address = name.trim_matches(['[', ']']).parse::<IpAddr>();
    let is_loopback = address.map_or_else(
        |_| name.eq_ignore_ascii_case("localhost") || name.ends_with(".localhost"),
        |address| address.is_loopback(),
    );
    if is_loopback {
        return Ok(());
    }
    Err(HttpError::Forbidden(format!(
        "This server has no admin and answers only to this machine's own names, not to {name}: set one with --admin."
    )))
}

fn method_not_allowed(response: &Response) -> Response {
    let allowed = response.headers().get(header::ALLOW);
    let allowed = allowed.and_then(|value| value.to_str().ok());
    HttpError::MethodNotAllowed(allowed.unwrap_or_default().to_owned()).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_pass_without_an_admin() {
        let of = |host: &str| {
            let value = HeaderValue::from_str(host).unwrap();
            require_loopback_name(&HeaderMap::from_iter([(header::HOST, value)])).is_ok()
        };
        for host in [
            "localhost",
            "LOCALHOST:5984",
            "127.0.0.1:1",
            "127.1.2.3",
            "[::1]:5984",
            "::1",
            "a.localhost:80",
        ] {
            assert!(of(host), "{host}");
        }
        for host in [
            "example.com",
            "localhost.example.com",
            "10.0.0.1:5984",
            "",
            "127.0.0.1.example.com",
        ] {
            assert!(!of(host), "{host}");
        }
        assert!(require_loopback_name(&HeaderMap::new()).is_ok());
    }
}
