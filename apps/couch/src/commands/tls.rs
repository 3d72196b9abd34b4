//! Where `serve` listens with TLS.

use super::usage::UsageError;
use anyhow::Context;
use clap::Args;
use inorder_couch::config::{Config, keys};
use inorder_serve::{CertificateFiles, TlsAcceptor, acceptor};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

/// The options of TLS.
#[derive(Debug, Args)]
pub struct Tls {
    /// Serves over TLS too, with the certificate in a PEM file: the server's own first, the intermediate ones behind it. The
    /// file is read again when it changes.
    #[arg(
        long,
        value_name = "FILE",
        requires = "tls_key",
        env = "INORDER_COUCH_TLS_CERT"
    )]
    tls_cert: Option<PathBuf>,
    /// The PEM file with the private key of the certificate.
    #[arg(
        long,
        value_name = "FILE",
        requires = "tls_cert",
        env = "INORDER_COUCH_TLS_KEY"
    )]
    tls_key: Option<PathBuf>,
    /// The port of TLS, at the address of --listen. Without it, the port is `[ssl] port` of the configuration, by default 6984.
    #[arg(long, value_name = "PORT", env = "INORDER_COUCH_TLS_PORT")]
    tls_port: Option<u16>,
}

impl Tls {
    /// Puts the options into the configuration, for this run.
    pub fn fix(&self, config: &Config) {
        let path = |path: &PathBuf| path.display().to_string();
        if let (Some(certificate), Some(key)) = (&self.tls_cert, &self.tls_key) {
            config.fix(keys::TLS_ENABLE.section, keys::TLS_ENABLE.name, "true");
            config.fix(
                keys::TLS_CERTIFICATE.section,
                keys::TLS_CERTIFICATE.name,
                &path(certificate),
            );
            config.fix(keys::TLS_KEY.section, keys::TLS_KEY.name, &path(key));
        }
        if let Some(port) = self.tls_port {
            config.fix(
                keys::TLS_PORT.section,
                keys::TLS_PORT.name,
                &port.to_string(),
            );
        }
    }
}

/// Returns the address for TLS and what accepts connections there, if the configuration enables TLS.
///
/// # Errors
/// If the certificate or its key is missing or can't be used.
pub fn configured(
    config: &Config,
    plain: SocketAddr,
) -> anyhow::Result<Option<(SocketAddr, TlsAcceptor)>> {
    let values = config.values();
    if !values.read(&keys::TLS_ENABLE) {
        return Ok(None);
    }
    let (certificate, key) = (
        values.read(&keys::TLS_CERTIFICATE),
        values.read(&keys::TLS_KEY),
    );
    if certificate.is_empty() || key.is_empty() {
        let problem = "[ssl] enable needs cert_file and key_file: PEM files with the certificate and its private key";
        return Err(UsageError(problem.to_owned()).into());
    }
    let port = u16::try_from(values.read(&keys::TLS_PORT)).context("[ssl] port is no port")?;
    let files = CertificateFiles::open(certificate.as_ref(), key.as_ref())?;
    let acceptor = acceptor(Arc::new(files))?;
    Ok(Some(((plain.ip(), port).into(), acceptor)))
}
