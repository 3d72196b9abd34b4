//! Connections to the server at a URL.

use super::tls::{self, Tls};
use crate::{
    Error,
    remote::{ServerUrl, tls as remote_tls},
    server::Failure,
};
use postgres::{
    CancelToken, Client, Config,
    config::{Host, SslMode},
};
use std::{str::FromStr as _, time::Duration};

/// Maximum time to connect.
const CONNECT_MAX: Duration = Duration::from_secs(10);

/// A server, a user and how connections are encrypted.
#[derive(Clone)]
pub struct Target {
    /// The server and the user.
    pub config: Config,
    tls: Tls,
}

impl Target {
    /// A server that is reached without encryption.
    pub fn plain(config: Config) -> Self {
        Target {
            config,
            tls: Tls::NONE,
        }
    }

    /// Connects.
    pub fn connect(&self) -> Result<Client, postgres::Error> {
        let mut first_error = None;
        for mode in self.tls.tries {
            let mut config = self.config.clone();
            config.ssl_mode(*mode);
            match config.connect(self.tls.clone()) {
                Ok(client) => return Ok(client),
                Err(error) if is_of_encryption(&error) => _ = first_error.get_or_insert(error),
                Err(error) => return Err(first_error.unwrap_or(error)),
            }
        }
        Err(first_error.expect("at least one try"))
    }

    /// A function that ends the statement that runs when it is called, if one does.
    pub fn cancel(&self, token: CancelToken) -> Box<dyn Fn() + Send + Sync> {
        let tls = self.tls.clone();
        Box::new(move || _ = token.cancel_query(tls.clone()))
    }
}

/// Whether a connection may succeed with encryption, or without it.
fn is_of_encryption(error: &postgres::Error) -> bool {
    match error.as_db_error() {
        // No line of pg_hba.conf is for such connections.
        Some(told) => told.code().code() == "28000",
        None => error.to_string().contains("TLS") || remote_tls::cause(error).is_some(),
    }
}

/// Returns the connection options of a URL.
pub fn target(url: &ServerUrl) -> Result<Target, Error> {
    let mut config = Config::from_str(url.without(tls::PARAMETERS).reveal())
        // The parser's message may repeat a part of the URL.
        .map_err(|_| url.error("this is not a PostgreSQL URL: postgres://user:password@host:port/database?connect_timeout=10"))?;
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT_MAX);
    }
    config.application_name("inorder");
    let is_socket = |host: &Host| matches!(host, Host::Unix(_));
    let are_sockets = config.get_hosts().iter().all(is_socket) && config.get_hostaddrs().is_empty();
    // As in libpq, sockets are not encrypted whatever the mode is, which must be one all the same.
    let tls = Tls::of(url)?;
    let tls = if are_sockets { Tls::NONE } else { tls };
    Ok(Target { config, tls })
}

/// Connects to the server at a URL.
pub fn connect(url: &ServerUrl) -> Result<Client, Error> {
    connect_with(&target(url)?, url)
}

/// Connects, and says what to do where that fails.
pub fn connect_with(target: &Target, url: &ServerUrl) -> Result<Client, Error> {
    target.connect().map_err(|error| {
        if let Some(cause) = remote_tls::cause(&error) {
            return url.error(format!("connecting: {}", remote_tls::explain(cause, tls::ROOT)));
        }
        let code = error.as_db_error().map(|told| told.code().code());
        let advice = match code {
            Some("28000") if target.tls.tries.contains(&SslMode::Require) => {
                "check the user of the URL, and whether the server has TLS for it (pg_hba.conf)"
            }
            Some("28000") if target.tls.tries == [SslMode::Disable] => {
                "check the user and the password of the URL; over TCP, a server that wants TLS needs sslmode=prefer or more"
            }
            Some(code) if code.starts_with("28") => "check the user and the password of the URL",
            Some("3D000") => "name an existing database",
            None if error.to_string().contains("TLS") => {
                "the server has no TLS: use sslmode=prefer only where the network is trusted, otherwise a tunnel \
                 (ssh -L 5432:localhost:5432 HOST)"
            }
            _ => "check the host and the port of the URL, and that the server runs",
        };
        let Failure { message, .. } = error.into();
        url.error(format!("connecting: {message}; {advice}"))
    })
}
