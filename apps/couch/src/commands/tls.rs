//! Where `serve` listens with TLS, and with which certificate.

use super::usage::UsageError;
use anyhow::Context;
use clap::Args;
use inorder_couch::config::{Config, keys};
use inorder_serve::acme::{Acme, AcmeOptions, Challenge, LETS_ENCRYPT};
use inorder_serve::{CertificateFiles, TlsAcceptor, acceptor};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The port of `https`.
const HTTPS: u16 = 443;

/// The port of `http`.
const HTTP: u16 = 80;

/// The folder of the account and the certificate of a certificate authority, in the folder of the databases.
const ACME_FOLDER: &str = "acme";

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
    /// The address of TLS, if it is another one than that of --listen. With --acme, it is port 443 at all addresses unless
    /// this option or --tls-port says otherwise.
    #[arg(
        long,
        value_name = "ADDRESS:PORT",
        conflicts_with = "tls_port",
        env = "INORDER_COUCH_TLS_LISTEN"
    )]
    tls_listen: Option<String>,
    #[command(flatten)]
    acme: AcmeArgs,
}

/// The options of a certificate that the server orders.
#[derive(Debug, Args)]
struct AcmeArgs {
    /// Serves over TLS too, with a certificate for this domain that the server orders from a certificate authority (CA) by
    /// ACME, and renews. The option means that you agree to the CA's terms of service. The CA connects to port 443 of the
    /// domain, which must reach this server. May be repeated for further domains.
    #[arg(
        long,
        value_name = "DOMAIN",
        conflicts_with_all = ["tls_cert", "tls_key"],
        env = "INORDER_COUCH_ACME",
        value_delimiter = ','
    )]
    acme: Vec<String>,
    /// The address to which the CA may write about the account.
    #[arg(
        long,
        value_name = "EMAIL",
        requires = "acme",
        env = "INORDER_COUCH_ACME_EMAIL"
    )]
    acme_email: Option<String>,
    /// The URL of the CA's directory. Without it, the CA is Let's Encrypt. The variable `SSL_CERT_FILE` names a PEM file with
    /// the certificates of a CA that the system does not know.
    #[arg(
        long,
        value_name = "URL",
        requires = "acme",
        default_value = LETS_ENCRYPT,
        hide_default_value = true,
        env = "INORDER_COUCH_ACME_DIRECTORY"
    )]
    acme_directory: String,
    /// Has the CA check the domain over HTTP (HTTP-01) instead of TLS (TLS-ALPN-01): it connects to port 80 of the domain,
    /// which must reach this address. Nothing else is served there. Without a value, it is port 80 at all addresses.
    #[arg(
        long,
        value_name = "ADDRESS:PORT",
        requires = "acme",
        num_args = 0..=1,
        default_missing_value = "",
        env = "INORDER_COUCH_ACME_HTTP"
    )]
    acme_http: Option<String>,
}

/// Where the server listens with TLS. A list has addresses of which the first one that works is used.
pub struct Secure {
    /// The addresses of TLS.
    pub addresses: Vec<SocketAddr>,
    /// Accepts connections there.
    pub acceptor: TlsAcceptor,
    /// The certificate that the server orders itself.
    pub acme: Option<Acme>,
    /// The addresses where the CA checks domains over HTTP.
    pub challenges: Vec<SocketAddr>,
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

    /// The URL of the first domain of --acme, for clients.
    pub fn url(&self, port: u16) -> Option<String> {
        let domain = self.acme.acme.first()?;
        Some(match port {
            HTTPS => format!("https://{domain}"),
            port => format!("https://{domain}:{port}"),
        })
    }

    /// Returns where and how the server accepts TLS, if an option or the configuration enables it.
    ///
    /// # Errors
    /// If the certificate or its key is missing or can't be used, or an address is none.
    pub fn configured(
        &self,
        config: &Config,
        plain: SocketAddr,
        folder: &Path,
    ) -> anyhow::Result<Option<Secure>> {
        if !self.acme.acme.is_empty() {
            return self.ordered(config, plain, folder).map(Some);
        }
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
        let files = CertificateFiles::open(certificate.as_ref(), key.as_ref())?;
        let addresses = match &self.tls_listen {
            Some(address) => parsed("--tls-listen", address)?,
            None => vec![(plain.ip(), port(config)?).into()],
        };
        Ok(Some(Secure {
            addresses,
            acceptor: acceptor(Arc::new(files))?,
            acme: None,
            challenges: Vec::new(),
        }))
    }

    /// TLS with a certificate of --acme.
    fn ordered(&self, config: &Config, plain: SocketAddr, folder: &Path) -> anyhow::Result<Secure> {
        let challenges = match self.acme.acme_http.as_deref() {
            None => Vec::new(),
            Some("") => everywhere(HTTP),
            Some(address) => parsed("--acme-http", address)?,
        };
        let acme = Acme::open(AcmeOptions {
            domains: self.acme.acme.clone(),
            email: self.acme.acme_email.clone(),
            directory: self.acme.acme_directory.clone(),
            challenge: match challenges.is_empty() {
                true => Challenge::TlsAlpn01,
                false => Challenge::Http01,
            },
            folder: folder.join(ACME_FOLDER),
        })?;
        let addresses = match (&self.tls_listen, self.tls_port) {
            (Some(address), _) => parsed("--tls-listen", address)?,
            (None, Some(_)) => vec![(plain.ip(), port(config)?).into()],
            (None, None) => everywhere(HTTPS),
        };
        Ok(Secure {
            addresses,
            acceptor: acme.acceptor()?,
            acme: Some(acme),
            challenges,
        })
    }
}

fn port(config: &Config) -> anyhow::Result<u16> {
    u16::try_from(config.values().read(&keys::TLS_PORT)).context("[ssl] port is no port")
}

/// A port at all addresses: of both versions of the protocol, or of one if the machine has no other.
fn everywhere(port: u16) -> Vec<SocketAddr> {
    vec![
        (Ipv6Addr::UNSPECIFIED, port).into(),
        (Ipv4Addr::UNSPECIFIED, port).into(),
    ]
}

fn parsed(option: &str, address: &str) -> Result<Vec<SocketAddr>, UsageError> {
    match address.to_socket_addrs() {
        Ok(addresses) => Ok(addresses.collect()),
        Err(_) => Err(UsageError(format!(
            "{option} {address}: this is no ADDRESS:PORT"
        ))),
    }
}
