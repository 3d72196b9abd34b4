//! Connections to the server at a URL.

use super::PACKET_BYTES_MAX;
use super::tls::{self, Tls};
use crate::{
    Error,
    remote::{ServerUrl, tls as remote_tls},
    server::Failure,
};
use mysql::{Conn, DriverError, Opts, OptsBuilder};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

/// Maximum time to connect.
const CONNECT_MAX: Duration = Duration::from_secs(10);
/// Maximum time for an answer of the server outside of trials.
const ANSWER_MAX: Duration = Duration::from_secs(30);

/// A server, a user and how connections are encrypted.
#[derive(Clone)]
pub struct Target {
    /// The server and the user.
    pub options: OptsBuilder,
    tls: Tls,
    /// Whether the server has turned out to be without TLS: it counts each connection that ends over it as an error.
    is_plain: Arc<AtomicBool>,
}

impl Target {
    /// A server that is reached without encryption.
    pub fn plain(options: OptsBuilder) -> Self {
        Target {
            options,
            tls: Tls::NONE,
            is_plain: Arc::default(),
        }
    }

    /// Connects.
    pub fn connect(&self) -> Result<Conn, mysql::Error> {
        let plain = || self.options.clone().ssl_opts(None);
        if self.tls.options.is_none() || self.is_plain.load(Ordering::Relaxed) {
            return Conn::new(plain());
        }
        remote_tls::install();
        match Conn::new(self.options.clone().ssl_opts(self.tls.options.clone())) {
            Err(error) if self.tls.is_optional && is_of_encryption(&error) => {
                let conn = Conn::new(plain())?;
                self.is_plain.store(true, Ordering::Relaxed);
                Ok(conn)
            }
            connected => connected,
        }
    }
}

/// Whether a connection may succeed without encryption.
fn is_of_encryption(error: &mysql::Error) -> bool {
    matches!(
        error,
        mysql::Error::DriverError(DriverError::TlsNotSupported) | mysql::Error::TlsError(_)
    ) || cause(error).is_some()
}

/// Returns the cause of an error if that is TLS. The driver does not give causes away by themselves.
fn cause(error: &mysql::Error) -> Option<&rustls::Error> {
    match error {
        mysql::Error::IoError(error) => remote_tls::cause(error),
        mysql::Error::CodecError(error) => remote_tls::cause(error),
        mysql::Error::TlsError(error) => remote_tls::cause(error),
        _ => None,
    }
}

fn parsed(url: &ServerUrl) -> Result<Opts, Error> {
    Opts::from_url(&url.without(tls::PARAMETERS).with_scheme("mysql"))
        // The parser's message may repeat a part of the URL.
        .map_err(|_| {
            url.error("this is not a MySQL URL: mysql://user:password@host:port/?socket=/path")
        })
}

/// Returns the database that a URL names.
pub fn database(url: &ServerUrl) -> Option<String> {
    let options = parsed(url).ok()?;
    options.get_db_name().map(str::to_owned)
}

/// Returns the connection options for a database of the server, or for the server only.
pub fn target(url: &ServerUrl, schema: Option<&str>) -> Result<Target, Error> {
    let options = parsed(url)?;
    let is_set = options.get_tcp_connect_timeout().is_some();
    let options = OptsBuilder::from_opts(options)
        .db_name(schema)
        // Connect only in the requested way.
        .prefer_socket(url.parameter("socket").is_some())
        .max_allowed_packet(Some(PACKET_BYTES_MAX));
    Ok(Target {
        options: match is_set {
            true => options,
            false => options.tcp_connect_timeout(Some(CONNECT_MAX)),
        },
        tls: Tls::of(url)?,
        is_plain: Arc::default(),
    })
}

/// Connects to the server at a URL.
pub fn connect(url: &ServerUrl) -> Result<Conn, Error> {
    let mut target = target(url, None)?;
    // A MySQL server sends the first packet. The timeout detects servers of other protocols.
    target.options = target.options.read_timeout(Some(ANSWER_MAX));
    connect_with(&target, url)
}

/// Connects, and says what to do where that fails.
pub fn connect_with(target: &Target, url: &ServerUrl) -> Result<Conn, Error> {
    target.connect().map_err(|error| {
        if let Some(cause) = cause(&error) {
            return url.error(format!(
                "connecting: {}",
                remote_tls::explain(cause, tls::ROOT)
            ));
        }
        let advice = match &error {
            mysql::Error::MySqlError(told) => match told.code {
                1044 | 1045 | 1698 if target.tls.options.is_none() => {
                    "check the user and the password of the URL, and whether the user may connect without TLS"
                }
                1044 | 1045 | 1698 => "check the user and the password of the URL",
                3159 => "the server wants TLS: ssl-mode=required or verify_identity",
                _ => "check the host and the port of the URL, and that the server runs",
            },
            mysql::Error::DriverError(DriverError::TlsNotSupported) => {
                "the server has no TLS: use ssl-mode=preferred only where the network is trusted, otherwise a tunnel \
                 (ssh -L 3306:localhost:3306 HOST)"
            }
            _ => "check the host and the port of the URL, and that the server runs",
        };
        let Failure { message, .. } = error.into();
        url.error(format!("connecting: {message}; {advice}"))
    })
}
