//! Authentication, authorisation and counting of requests.

use super::resend::Routes;
use super::rights::Admitted;
use super::unauthorized::Asked;
use super::users_db::Visible;
use super::{HttpError, HttpResult, Server, password_upgrade, rights};
use crate::auth::{Policy, User};
use crate::store::Database;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use inorder_serve::{Link, client_network};
use std::net::IpAddr;
use std::sync::Arc;

/// The checks of one request, and what its answer needs of them.
pub struct Gate<'a> {
    server: &'a Arc<Server>,
    policy: Arc<Policy>,
    method: Method,
    asked: Asked,
}

/// A request that was admitted.
pub struct Entry {
    /// The user.
    user: User,
    /// The database in the path.
    admitted: Option<Admitted>,
    /// The new cookie, if the session needs one.
    pub cookie: Option<String>,
}

impl Entry {
    /// The database in the path, if the user sees all of it.
    pub fn whole_database(&self) -> Option<&Database> {
        let admitted = self.admitted.as_ref();
        let whole = admitted.filter(|admitted| admitted.visible == Visible::All);
        whole.map(|admitted| &admitted.db)
    }

    /// Adds user and database to the extensions of a request, for its handler.
    pub fn add_to(self, extensions: &mut Extensions) {
        extensions.insert(self.user);
        if let Some(admitted) = self.admitted {
            extensions.insert(admitted);
        }
    }
}

impl<'a> Gate<'a> {
    /// Stores the parts of the request that the answer depends on.
    pub fn new(server: &'a Arc<Server>, head: &Parts, link: &Link) -> Self {
        Gate {
            server,
            policy: server.auth.policy(),
            method: head.method.clone(),
            asked: Asked::of(&head.uri, &head.headers, || {
                server.origin(&head.headers, link.is_tls)
            }),
        }
    }

    /// Authenticates and authorises a request.
    ///
    /// # Errors
    /// If the request is refused.
    pub async fn admit(&self, head: &Parts, link: &Link) -> HttpResult<Entry> {
        let (server, policy) = (self.server, &*self.policy);
        if !policy.has_admin {
            require_loopback_client(link.peer.ip())?;
            require_loopback_name(&head.headers)?;
        }
        let client = client_network(link.peer.ip());
        let is_secure = server.is_secure(&head.headers, link.is_tls);
        let found = server
            .auth
            .authenticate(&head.headers, client, is_secure, &server.accounts)
            .await?;
        let user = found.user;
        if user.name().is_none() && needs_user(policy, head) {
            return Err(HttpError::UserRequired);
        }
        if let (Some(password), Some(name)) = (found.outdated, user.name()) {
            password_upgrade::upgrade(server, name, password);
        }
        let path = head.uri.path();
        let admitted = rights::authorize(server, policy, &user, &self.method, path)?;
        Ok(Entry {
            user,
            admitted,
            cookie: found.cookie,
        })
    }

    /// Completes the answer and counts it.
    pub fn complete(self, mut response: Response) -> Response {
        match response.status() {
            StatusCode::METHOD_NOT_ALLOWED if response.headers().contains_key(header::ALLOW) => {
                response = method_not_allowed(&response);
            }
            StatusCode::UNAUTHORIZED => self.asked.complete(&self.policy, &mut response),
            _ => {}
        }
        self.server.metrics.count(&self.method, response.status());
        response
    }
}

/// Authorises a request that the server sends to itself for a user. The user's rights are read for each request.
pub async fn within(
    State((server, user, routes)): State<(Arc<Server>, User, Routes)>,
    mut request: Request,
    next: Next,
) -> Response {
    let admitted = admit_within(&server, &user, request.method(), request.uri().path());
    match admitted {
        Ok(entry) => {
            request.extensions_mut().insert(routes);
            entry.add_to(request.extensions_mut());
            next.run(request).await
        }
        Err(error) => error.into_response(),
    }
}

fn admit_within(server: &Server, user: &User, method: &Method, path: &str) -> HttpResult<Entry> {
    let user = server.auth.refreshed(user, &server.accounts)?;
    let admitted = rights::authorize(server, &server.auth.policy(), &user, method, path)?;
    Ok(Entry {
        user,
        admitted,
        cookie: None,
    })
}

/// Returns whether a request needs a user. A login does not.
fn needs_user(policy: &Policy, head: &Parts) -> bool {
    let (all, all_but_up) = (
        policy.require_valid_user,
        policy.require_valid_user_except_for_up,
    );
    match (&head.method, head.uri.path()) {
        (&Method::POST, "/_session") => false,
        (_, "/_up") => all && !all_but_up,
        _ => all || all_but_up,
    }
}

/// A server without an admin is for this machine alone.
fn require_loopback_client(client: IpAddr) -> HttpResult<()> {
    if client.to_canonical().is_loopback() {
        return Ok(());
    }
    Err(HttpError::Forbidden(
        "This server has no admin and answers only to clients on its own machine: set one with --admin.".to_owned(),
    ))
}

/// A web page elsewhere could give its own name this machine's
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
    use crate::auth::Auth;
    use crate::http::ServerSettings;
    use crate::store::{self, Databases};
    use axum::http::HeaderValue;

    #[tokio::test]
    async fn only_this_machine_passes_without_an_admin() {
        let folder = tempfile::tempdir().unwrap();
        let databases = Databases::open(folder.path(), store::Settings::default()).unwrap();
        let server = Server::new(databases, Auth::new(None, b""), ServerSettings::default());
        let request = Request::get("/_all_dbs").header("host", "localhost:5984");
        let (head, _) = request.body(()).unwrap().into_parts();
        for (peer, is_admitted) in [
            ("127.0.0.1:1", true),
            ("[::1]:1", true),
            ("[::ffff:127.0.0.1]:1", true),
            ("192.0.2.2:1", false),
            ("[::ffff:192.0.2.2]:1", false),
            ("[2001:db8::1]:1", false),
        ] {
            let link = Link {
                peer: peer.parse().unwrap(),
                is_tls: false,
                detachable: None,
            };
            let entry = Gate::new(&server, &head, &link).admit(&head, &link).await;
            assert_eq!(entry.is_ok(), is_admitted, "{peer}");
        }
    }

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
