//! The gate of every request: authentication, authorisation and counters.

use super::unauthorized::Asked;
use super::{HttpError, HttpResult, Server, client, password_upgrade, rights};
use crate::auth::{Policy, User};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::net::IpAddr;
use std::sync::Arc;

/// Admits or refuses a request.
pub async fn gate(State(server): State<Arc<Server>>, mut request: Request, next: Next) -> Response {
    let method = request.method().clone();
    let policy = server.auth.policy();
    let is_tls = client::is_tls(request.extensions());
    let asked = Asked::of(request.uri().path(), request.headers(), || {
        server.origin(request.headers(), is_tls)
    });
    let admitted = admit(&server, &policy, &mut request).await;
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
    let names_methods = response.headers().contains_key(header::ALLOW);
    if response.status() == StatusCode::METHOD_NOT_ALLOWED && names_methods {
        response = method_not_allowed(&response);
    }
    if response.status() == StatusCode::UNAUTHORIZED {
        asked.complete(&policy, &mut response);
    }
    server.metrics.count(&method, response.status());
    response
}

/// Authorises a request that the server sends to itself for a user. What the user may do is asked for each time.
pub async fn within(
    State((server, user)): State<(Arc<Server>, User)>,
    mut request: Request,
    next: Next,
) -> Response {
    let admit = |request: &mut Request| -> HttpResult<()> {
        let user = server.auth.refreshed(&user, &server.accounts)?;
        rights::authorize(&server, &server.auth.policy(), &user, request)?;
        request.extensions_mut().insert(user);
        Ok(())
    };
    match admit(&mut request) {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}

/// Authenticates and authorises a request. Returns a new cookie when the session needs one.
async fn admit(
    server: &Arc<Server>,
    policy: &Policy,
    request: &mut Request,
) -> HttpResult<Option<String>> {
    if policy.admins.is_empty() {
        require_loopback_name(request.headers())?;
    }
    let client = client::client(request);
    let is_tls = client::is_tls(request.extensions());
    let found = server
        .auth
        .authenticate(request.headers(), client, is_tls, &server.accounts)
        .await?;
    let user = found.user;
    if user.name().is_none() && needs_user(policy, request) {
        return Err(HttpError::UserRequired);
    }
    if let (Some(password), Some(name)) = (found.outdated, user.name()) {
        password_upgrade::upgrade(server, name, password);
    }
    rights::authorize(server, policy, &user, request)?;
    request.extensions_mut().insert(user);
    Ok(found.cookie)
}

/// Whether a request is for users only. Everybody may try to log in.
fn needs_user(policy: &Policy, request: &Request) -> bool {
    let (all, all_but_up) = (
        policy.require_valid_user,
        policy.require_valid_user_except_for_up,
    );
    match (request.method(), request.uri().path()) {
        (&Method::POST, "/_session") => false,
        (_, "/_up") => all && !all_but_up,
        _ => all || all_but_up,
    }
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
