//! ACME (RFC 8555): a certificate that is ordered from a certificate authority (CA), kept on disk and renewed.
//!
//! The CA checks that this server has the domain by a challenge: over TLS (TLS-ALPN-01, RFC 8737) or over HTTP (HTTP-01).

mod client;
mod error;
mod files;
mod order;
mod validity;

pub use error::AcmeError;

use crate::tls;
use axum::Router;
use axum::extract::{Path as UrlPath, State};
use axum::http::StatusCode;
use axum::routing::get;
use error::explained;
use files::Files;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use validity::Validity;

/// The directory of Let's Encrypt.
pub const LETS_ENCRYPT: &str = "https://acme-v02.api.letsencrypt.org/directory";

/// The protocol in which a CA asks for a challenge's certificate (RFC 8737).
const CHALLENGE_PROTOCOL: &[u8] = b"acme-tls/1";

/// The pause after a failed order. It doubles with each further failure. CAs limit the failures per hour.
const FIRST_PAUSE: Duration = Duration::from_secs(120);

/// The longest pause after a failed order.
const LONGEST_PAUSE: Duration = Duration::from_secs(12 * 3600);

/// The clock is read again after this time, because it may be set and a machine may sleep.
const LOOK_PAUSE: Duration = Duration::from_secs(600);

/// How a CA checks that this server has the domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Challenge {
    /// At port 443 of the domain, by a certificate.
    TlsAlpn01,
    /// At port 80 of the domain, by a file.
    Http01,
}

/// What is ordered, from whom, and where it is kept.
#[derive(Clone, Debug)]
pub struct AcmeOptions {
    /// The names of the certificate.
    pub domains: Vec<String>,
    /// The address of a new account, to which the CA may write.
    pub email: Option<String>,
    /// The URL of the CA's directory.
    pub directory: String,
    /// How the CA checks the domains.
    pub challenge: Challenge,
    /// The folder for the account and the certificate. It is created with mode 700.
    pub folder: PathBuf,
}

/// A certificate of a CA. While there is none, handshakes fail.
#[derive(Clone, Debug)]
pub struct Acme {
    options: Arc<AcmeOptions>,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    certificate: Mutex<Option<(Arc<CertifiedKey>, Validity)>>,
    answers: Mutex<Answers>,
}

/// What answers the challenges of the order under way.
#[derive(Debug, Default)]
struct Answers {
    /// By token.
    http: HashMap<String, String>,
    /// By domain.
    tls: HashMap<String, Arc<CertifiedKey>>,
}

impl Acme {
    /// Reads the stored certificate, if there is one for these domains from this directory.
    ///
    /// # Errors
    /// If a domain is none, or the folder cannot be used.
    pub fn open(options: AcmeOptions) -> Result<Self, AcmeError> {
        for domain in &options.domains {
            order::check(domain)?;
        }
        let stored = Files::of(&options).certificate()?;
        Ok(Acme {
            shared: Arc::new(Shared {
                certificate: Mutex::new(stored),
                answers: Mutex::default(),
            }),
            options: Arc::new(options),
        })
    }

    /// Whether there is a certificate.
    pub fn is_ready(&self) -> bool {
        self.shared.certificate().is_some()
    }

    /// Accepts TLS with the certificate, and answers challenges of the kind TLS-ALPN-01.
    ///
    /// # Errors
    /// If the library supports no version of TLS.
    pub fn acceptor(&self) -> io::Result<TlsAcceptor> {
        let resolver: Arc<dyn ResolvesServerCert> = Arc::clone(&self.shared) as _;
        tls::acceptor_of(resolver, &[CHALLENGE_PROTOCOL])
    }

    /// Answers challenges of the kind HTTP-01, and nothing else.
    pub fn http_router(&self) -> Router {
        Router::new()
            .route("/.well-known/acme-challenge/{token}", get(answer))
            .with_state(Arc::clone(&self.shared))
    }

    /// Orders the certificate if it is missing, and renews it after two thirds of its time, until `stop` is cancelled. A
    /// failure is logged and tried again later; the certificate before stays in use.
    pub async fn keep(self, stop: CancellationToken) {
        tokio::select! {
            () = stop.cancelled() => {}
            () = self.keep_on() => {}
        }
    }

    async fn keep_on(self) {
        let domains = self.options.domains.join(", ");
        let mut pause = FIRST_PAUSE;
        loop {
            let wait = self.shared.until_renewal(SystemTime::now());
            if let Some(wait) = wait.filter(|wait| !wait.is_zero()) {
                tokio::time::sleep(wait.min(LOOK_PAUSE)).await;
                continue;
            }
            tracing::info!(%domains, directory = self.options.directory, "ordering a certificate");
            match self.renew().await {
                Ok(until) => {
                    pause = FIRST_PAUSE;
                    tracing::info!(%domains, "the certificate is valid until {}", until.end());
                }
                Err(error) => {
                    let seconds = pause.as_secs();
                    let problem = explained(&error);
                    tracing::warn!(%domains, "no certificate: {problem}; the next try is in {seconds} s");
                    tokio::time::sleep(pause).await;
                    pause = longer(pause);
                }
            }
        }
    }

    async fn renew(&self) -> Result<Validity, AcmeError> {
        let files = Files::of(&self.options);
        let pem = order::order(&self.options, &files, &self.shared).await;
        *self.shared.answers() = Answers::default();
        let (certified, validity) = files.store(&pem?)?;
        *self.shared.certificate() = Some((certified, validity));
        Ok(validity)
    }
}

/// The pause after another failed order.
fn longer(pause: Duration) -> Duration {
    (pause * 2).min(LONGEST_PAUSE)
}

impl Shared {
    fn certificate(&self) -> MutexGuard<'_, Option<(Arc<CertifiedKey>, Validity)>> {
        self.certificate
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn answers(&self) -> MutexGuard<'_, Answers> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The time until the certificate shall be renewed; none without a certificate.
    fn until_renewal(&self, now: SystemTime) -> Option<Duration> {
        let (_, validity) = self.certificate().clone()?;
        Some(validity.renewal().duration_since(now).unwrap_or_default())
    }
}

impl ResolvesServerCert for Shared {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let mut protocols = hello.alpn().into_iter().flatten();
        if protocols.any(|name| name == CHALLENGE_PROTOCOL) {
            return self.answers().tls.get(hello.server_name()?).cloned();
        }
        Some(Arc::clone(&self.certificate().as_ref()?.0))
    }
}

async fn answer(
    State(shared): State<Arc<Shared>>,
    UrlPath(token): UrlPath<String>,
) -> Result<String, StatusCode> {
    let answer = shared.answers().http.get(&token).cloned();
    answer.ok_or(StatusCode::NOT_FOUND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_after_failed_orders_double_up_to_half_a_day() {
        let pauses = std::iter::successors(Some(FIRST_PAUSE), |pause| Some(longer(*pause)));
        let seconds: Vec<u64> = pauses.take(11).map(|pause| pause.as_secs()).collect();
        assert_eq!(seconds[..4], [120, 240, 480, 960]);
        assert_eq!(seconds[9..], [43_200, 43_200]);
    }
}
