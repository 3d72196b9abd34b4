//! The user of a request.

use std::sync::Arc;

/// The role that allows everything.
pub const ADMIN_ROLE: &str = "_admin";

/// The role that may read statistics.
pub const METRICS_ROLE: &str = "_metrics";

/// The way in which a user authenticated, by CouchDB's name for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handler {
    /// The cookie of a session.
    Cookie,
    /// A name and a password with the request.
    Default,
    /// A JSON web token.
    Jwt,
    /// The headers of a proxy.
    Proxy,
}

impl Handler {
    /// All handlers.
    pub const ALL: [Handler; 4] = [
        Handler::Cookie,
        Handler::Default,
        Handler::Jwt,
        Handler::Proxy,
    ];

    /// CouchDB's name.
    pub fn name(self) -> &'static str {
        match self {
            Handler::Cookie => "cookie",
            Handler::Default => "default",
            Handler::Jwt => "jwt",
            Handler::Proxy => "proxy",
        }
    }

    /// Whether the account of the user is on this server, so that it can be looked up again.
    fn is_local(self) -> bool {
        matches!(self, Handler::Cookie | Handler::Default)
    }
}

/// The user of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    name: Option<Arc<str>>,
    roles: Arc<[String]>,
    handler: Option<Handler>,
}

impl User {
    /// A client that did not authenticate.
    pub fn anonymous() -> Self {
        User {
            name: None,
            roles: Arc::new([]),
            handler: None,
        }
    }

    /// The server itself, and every client of a server without an admin account: full access without a name.
    pub fn nameless_admin() -> Self {
        User {
            name: None,
            roles: Arc::new([ADMIN_ROLE.to_owned()]),
            handler: None,
        }
    }

    /// A user that authenticated.
    pub fn new(name: &str, roles: Arc<[String]>, handler: Handler) -> Self {
        User {
            name: Some(name.into()),
            roles,
            handler: Some(handler),
        }
    }

    /// The name, where there is one.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The roles.
    pub fn roles(&self) -> &[String] {
        &self.roles
    }

    /// The way in which the user authenticated.
    pub fn handler(&self) -> Option<Handler> {
        self.handler
    }

    /// Returns whether the user has full access.
    pub fn is_server_admin(&self) -> bool {
        self.has_role(ADMIN_ROLE)
    }

    /// Returns whether the user has a role.
    pub fn has_role(&self, role: &str) -> bool {
        self.roles.iter().any(|one| one == role)
    }

    /// The name of the account on this server; `None` for users that a proxy or a token names.
    pub fn local_name(&self) -> Option<&str> {
        let is_local = self.handler.is_some_and(Handler::is_local);
        self.name().filter(|_| is_local)
    }
}
