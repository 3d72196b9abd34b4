//! Encryption of connections, with libpq's parameters and defaults.
//!
//! Source: <https://www.postgresql.org/docs/current/libpq-ssl.html>. SCRAM has no channel binding.

use super::verifier::{Verified, Verifier};
use crate::{
    Error,
    remote::{ServerUrl, tls},
};
use postgres::{
    Socket,
    config::SslMode,
    tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream},
};
use rustls::{
    ClientConfig,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject as _},
};
use std::{
    fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::TlsConnector;

/// Parameters of a URL that are read here.
pub const PARAMETERS: &[&str] = &["sslmode", "sslrootcert", "sslcert", "sslkey"];

/// The parameter that names the authorities.
pub const ROOT: &str = "sslrootcert";

/// The value of [`ROOT`] for the authorities that the system trusts.
const SYSTEM: &str = "system";

/// The values of `sslmode`, how each connects, first and if that fails, and what it verifies.
const MODES: &[(&str, &[SslMode], Verified)] = &[
    ("disable", &[SslMode::Disable], Verified::Nothing),
    (
        "allow",
        &[SslMode::Disable, SslMode::Require],
        Verified::Nothing,
    ),
    (
        "prefer",
        &[SslMode::Prefer, SslMode::Disable],
        Verified::Nothing,
    ),
    ("require", &[SslMode::Require], Verified::Nothing),
    ("verify-ca", &[SslMode::Require], Verified::Authority),
    ("verify-full", &[SslMode::Require], Verified::Host),
];

/// How connections are encrypted.
#[derive(Clone)]
pub struct Tls {
    /// What is tried, one after another.
    pub tries: &'static [SslMode],
    /// `None` if nothing is encrypted.
    config: Option<Arc<ClientConfig>>,
}

impl Tls {
    /// Unencrypted connections, as those through a socket.
    pub const NONE: Tls = Tls {
        tries: &[SslMode::Disable],
        config: None,
    };

    /// Reads the parameters of a URL.
    pub fn of(url: &ServerUrl) -> Result<Self, Error> {
        let root = url.parameter(ROOT);
        let is_system = root.as_deref() == Some(SYSTEM);
        let name = url.parameter("sslmode");
        let name = name.as_deref().unwrap_or(match is_system {
            true => "verify-full",
            false => "prefer",
        });
        let Some((_, tries, verified)) = MODES.iter().find(|(mode, ..)| *mode == name) else {
            let modes: Vec<&str> = MODES.iter().map(|(mode, ..)| *mode).collect();
            return Err(url.error(format!("sslmode is one of {}", modes.join(", "))));
        };
        if is_system && *verified != Verified::Host {
            return Err(url.error(format!(
                "sslrootcert=system needs sslmode=verify-full, not {name}: authorities that the system trusts sign \
                 certificates of anybody"
            )));
        }
        if *tries == [SslMode::Disable] {
            return Ok(Tls::NONE);
        }
        let file = root.map(PathBuf::from).or_else(|| in_home("root.crt"));
        let (roots, verified) = match (verified, file) {
            (Verified::Host, _) if is_system => (of_system(url)?, Verified::Host),
            // As in libpq, a file of authorities makes `require` the same as `verify-ca`.
            (Verified::Nothing, Some(file)) if name == "require" => {
                (certificates(url, &file)?, Verified::Authority)
            }
            (Verified::Nothing, _) => (Vec::new(), Verified::Nothing),
            (verified, Some(file)) => (certificates(url, &file)?, *verified),
            (_, None) => {
                return Err(url.error(format!(
                    "sslmode={name} needs the certificate of the server's authority: sslrootcert=FILE, \
                     sslrootcert=system or ~/.postgresql/root.crt"
                )));
            }
        };
        Ok(Tls {
            tries,
            config: Some(Arc::new(config(url, roots, verified)?)),
        })
    }
}

/// A file of libpq's folder in the user's home, if it is there.
fn in_home(name: &str) -> Option<PathBuf> {
    let file = Path::new(&std::env::var_os("HOME")?)
        .join(".postgresql")
        .join(name);
    file.exists().then_some(file)
}

fn certificates(url: &ServerUrl, file: &Path) -> Result<Vec<CertificateDer<'static>>, Error> {
    let read: Result<Vec<_>, _> = CertificateDer::pem_file_iter(file).and_then(Iterator::collect);
    match read {
        Ok(found) if found.is_empty() => {
            Err(url.error(format!("{}: no certificate in PEM form", file.display())))
        }
        Ok(found) => Ok(found),
        Err(error) => Err(url.error(format!("{}: {error}", file.display()))),
    }
}

fn of_system(url: &ServerUrl) -> Result<Vec<CertificateDer<'static>>, Error> {
    let loaded = rustls_native_certs::load_native_certs();
    match (loaded.certs.is_empty(), loaded.errors.first()) {
        (false, _) => Ok(loaded.certs),
        (true, Some(error)) => {
            Err(url.error(format!("certificates that the system trusts: {error}")))
        }
        (true, None) => Err(url.error("the system has no certificates that it trusts")),
    }
}

/// The certificate of the client and its key, if there are some.
type Identity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

fn identity(url: &ServerUrl) -> Result<Option<Identity>, Error> {
    let named = |parameter: &str, usual: &str| {
        let named = url.parameter(parameter).map(PathBuf::from);
        named.or_else(|| in_home(usual))
    };
    let Some(certificate) = named("sslcert", "postgresql.crt") else {
        return Ok(None);
    };
    let key = named("sslkey", "postgresql.key")
        .ok_or_else(|| url.error("sslcert needs the key of the certificate: sslkey=FILE"))?;
    let wrong = |what: String| url.error(format!("{}: {what}", key.display()));
    let about = fs::metadata(&key).map_err(|error| wrong(error.to_string()))?;
    // A key of root may be read by a group.
    let others = if about.uid() == 0 { 0o037 } else { 0o077 };
    if about.mode() & others != 0 {
        return Err(wrong(
            "other users may read this key: chmod 600 it".to_owned(),
        ));
    }
    let chain = certificates(url, &certificate)?;
    let key = PrivateKeyDer::from_pem_file(&key)
        .map_err(|error| wrong(format!("{error} (a key without a password, in PEM form)")))?;
    Ok(Some((chain, key)))
}

fn config(
    url: &ServerUrl,
    roots: Vec<CertificateDer<'static>>,
    verified: Verified,
) -> Result<ClientConfig, Error> {
    tls::install();
    let wrong = |error: rustls::Error| url.error(tls::explain(&error, ROOT));
    let verifier = Verifier::new(roots, verified).map_err(|what| url.error(what))?;
    let builder = ClientConfig::builder()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    let mut config = match identity(url)? {
        Some((chain, key)) => builder.with_client_auth_cert(chain, key).map_err(wrong)?,
        None => builder.with_no_client_auth(),
    };
    config.alpn_protocols = vec![b"postgresql".to_vec()];
    Ok(config)
}

impl MakeTlsConnect<Socket> for Tls {
    type Stream = Encrypted;
    type TlsConnect = Connector;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> Result<Connector, io::Error> {
        Ok(Connector {
            config: self.config.clone(),
            host: host.to_owned(),
        })
    }
}

/// Begins to encrypt a connection to a host.
pub struct Connector {
    config: Option<Arc<ClientConfig>>,
    host: String,
}

impl TlsConnect<Socket> for Connector {
    type Stream = Encrypted;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Encrypted>> + Send>>;

    fn connect(self, stream: Socket) -> Self::Future {
        Box::pin(async {
            // It is asked for encryption only where it has this.
            let config = self.config.ok_or(io::ErrorKind::Unsupported)?;
            let host = ServerName::try_from(self.host).map_err(io::Error::other)?;
            let encrypted = TlsConnector::from(config).connect(host, stream).await?;
            Ok(Encrypted(encrypted))
        })
    }
}

/// An encrypted connection.
pub struct Encrypted(tokio_rustls::client::TlsStream<Socket>);

impl TlsStream for Encrypted {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for Encrypted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, into)
    }
}

impl AsyncWrite for Encrypted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
