//! Connections to the server at a URL.

use super::PACKET_BYTES_MAX;
use crate::{Error, remote::ServerUrl, server::Failure};
use mysql::{Conn, Opts, OptsBuilder};
use std::time::Duration;

/// Maximum time to connect.
const CONNECT_MAX: Duration = Duration::from_secs(10);
/// Maximum time for an answer of the server outside of trials.
const ANSWER_MAX: Duration = Duration::from_secs(30);

const NO_TLS: &str = "connections have no TLS: omit require_ssl, and use a tunnel \
     (ssh -L 3306:localhost:3306 HOST) where the network isn't trusted";

/// Returns the connection options for a database of the server, or for the server only.
pub fn options(url: &ServerUrl, schema: Option<&str>) -> Result<OptsBuilder, Error> {
    if url
        .parameter("require_ssl")
        .is_some_and(|value| value != "false")
    {
        return Err(url.error(NO_TLS));
    }
    let options = Opts::from_url(&url.with_scheme("mysql"))
        // The parser's message may repeat a part of the URL.
        .map_err(|_| {
            url.error("this is not a MySQL URL: mysql://user:password@host:port/?socket=/path")
        })?;
    let is_set = options.get_tcp_connect_timeout().is_some();
    let options = OptsBuilder::from_opts(options)
        .db_name(schema)
        // Connect only in the requested way.
        .prefer_socket(url.parameter("socket").is_some())
        .max_allowed_packet(Some(PACKET_BYTES_MAX));
    Ok(match is_set {
        true => options,
        false => options.tcp_connect_timeout(Some(CONNECT_MAX)),
    })
}

/// Connects to the server at a URL.
pub fn connect(url: &ServerUrl) -> Result<Conn, Error> {
    // A MySQL server sends the first packet. The timeout detects servers of other protocols.
    connect_with(options(url, None)?.read_timeout(Some(ANSWER_MAX)), url)
}

/// Connects, and says what to do where that fails.
pub fn connect_with(options: OptsBuilder, url: &ServerUrl) -> Result<Conn, Error> {
    Conn::new(options).map_err(|error| {
        let code = match &error {
            mysql::Error::MySqlError(told) => told.code,
            _ => 0,
        };
        let advice = match code {
            1044 | 1045 | 1698 => "check the user and the password of the URL",
            3159 => NO_TLS,
            _ => "check the host and the port of the URL, and that the server runs",
        };
        let Failure { message, .. } = error.into();
        url.error(format!("connecting: {message}; {advice}"))
    })
}
