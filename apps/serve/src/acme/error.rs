//! Why there is no certificate.

use super::Challenge;
use crate::tls::TlsError;
use std::error::Error;
use std::io;
use std::path::PathBuf;

/// Why a certificate cannot be ordered or kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AcmeError {
    /// A name for which no certificate can be ordered.
    #[error(
        "{0:?} is not the full name of a domain, such as notes.example.com (an address or a wildcard cannot be checked)"
    )]
    Domain(String),
    /// A file or its folder cannot be used.
    #[error("cannot use {}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The CA cannot be reached, or refuses.
    #[error("the CA at {directory}: {source}")]
    Authority {
        /// The URL of its directory.
        directory: String,
        /// The cause.
        source: instant_acme::Error,
    },
    /// The CA has no challenge of this kind.
    #[error("the CA does not offer {} for {domain}; use the other challenge", challenge.name())]
    Unsupported {
        /// The domain.
        domain: String,
        /// The kind.
        challenge: Challenge,
    },
    /// The CA could not check a domain.
    #[error(
        "the CA could not check {domain}: {reason} ({} must reach port {} of {domain} at this server: compare the DNS records, the firewall and forwarded ports)",
        challenge.name(), challenge.port()
    )]
    Unchecked {
        /// The domain.
        domain: String,
        /// What the CA says.
        reason: String,
        /// How it was checked.
        challenge: Challenge,
    },
    /// The CA sent a certificate that cannot be used.
    #[error("the certificate of the CA cannot be used: {0}")]
    Certificate(#[from] TlsError),
    /// A key or a certificate for a challenge cannot be made.
    #[error("cannot make the certificate of a challenge: {0}")]
    Answer(String),
}

impl Challenge {
    /// The name in RFC 8555 and RFC 8737.
    pub fn name(self) -> &'static str {
        match self {
            Challenge::TlsAlpn01 => "TLS-ALPN-01",
            Challenge::Http01 => "HTTP-01",
        }
    }

    fn port(self) -> u16 {
        match self {
            Challenge::TlsAlpn01 => 443,
            Challenge::Http01 => 80,
        }
    }
}

/// The error with its causes. The HTTP library does not put them into its text.
pub fn explained(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let reason = error.to_string();
        if !text.contains(&reason) {
            text = format!("{text}: {reason}");
        }
        cause = error.source();
    }
    text
}
