//! Connections to the server at a URL.

use crate::{Error, remote::ServerUrl, server::Failure};
use postgres::{Client, Config, NoTls, config::SslMode};
use std::{str::FromStr as _, time::Duration};

/// Maximum time to connect.
const CONNECT_MAX: Duration = Duration::from_secs(10);

/// Returns the connection options of a URL.
pub fn config(url: &ServerUrl) -> Result<Config, Error> {
    let mut config = Config::from_str(url.reveal())
        // The parser's message may repeat a part of the URL.
        .map_err(|_| url.error("this is not a PostgreSQL URL: postgres://user:password@host:port/database?connect_timeout=10"))?;
    if matches!(config.get_ssl_mode(), SslMode::Require) {
        return Err(url.error(NO_TLS));
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT_MAX);
    }
    config.application_name("inorder");
    Ok(config)
}

const NO_TLS: &str = "connections have no TLS: omit sslmode, and use a tunnel \
     (ssh -L 5432:localhost:5432 HOST) where the network isn't trusted";

/// Connects to the server at a URL.
pub fn connect(url: &ServerUrl) -> Result<Client, Error> {
    connect_with(&config(url)?, url)
}

/// Connects, and says what to do where that fails.
pub fn connect_with(config: &Config, url: &ServerUrl) -> Result<Client, Error> {
    config.connect(NoTls).map_err(|error| {
        let is_refused = error
            .as_db_error()
            .is_some_and(|told| told.code().code().starts_with("28"));
        let is_no_database = error
            .as_db_error()
            .is_some_and(|told| told.code().code() == "3D000");
        let Failure { message, .. } = error.into();
        let advice = match (is_refused, is_no_database) {
            (true, _) if message.contains("no encryption") => NO_TLS,
            (true, _) => "check the user and the password of the URL",
            (_, true) => "name an existing database",
            _ => "check the host and the port of the URL, and that the server runs",
        };
        url.error(format!("connecting: {message}; {advice}"))
    })
}
