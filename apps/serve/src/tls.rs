//! TLS: a certificate and its key, read again when their files change.

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

pub use tokio_rustls::TlsAcceptor;

/// HTTP/1.1, as a client names it in a handshake.
pub(crate) const HTTP: &[u8] = b"http/1.1";

/// The files are looked at no more often than this.
const LOOK_PAUSE: Duration = Duration::from_secs(1);

/// Why a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// A file cannot be read, or has no certificate or key in the form PEM.
    #[error("cannot read {} as PEM: {source}", path.display())]
    Pem {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: pem::Error,
    },
    /// The certificate and the key do not belong together, or the key is of an unsupported kind.
    #[error("{} and {} cannot be used: {source}", certificate.display(), key.display())]
    Pair {
        /// The certificate's file.
        certificate: PathBuf,
        /// The key's file.
        key: PathBuf,
        /// The cause.
        source: rustls::Error,
    },
}

/// A certificate with its key, from two PEM files. It is read again when one of the files has changed. While the new files
/// cannot be used, the old certificate stays.
pub struct CertificateFiles {
    certificate: PathBuf,
    key: PathBuf,
    current: Mutex<Current>,
}

struct Current {
    certified: Arc<CertifiedKey>,
    version: Version,
    looked: Instant,
}

/// Tells a replaced file from the one before.
type Version = [Option<(SystemTime, u64)>; 2];

impl std::fmt::Debug for CertificateFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("CertificateFiles")
            .field(&self.certificate)
            .field(&self.key)
            .finish()
    }
}

impl CertificateFiles {
    /// Reads the files: the certificate with the intermediate ones behind it, and the key.
    ///
    /// # Errors
    /// If a file cannot be read, or they do not belong together.
    pub fn open(certificate: &Path, key: &Path) -> Result<Self, TlsError> {
        Ok(CertificateFiles {
            current: Mutex::new(Current {
                version: version(certificate, key),
                certified: Arc::new(read(certificate, key)?),
                looked: Instant::now(),
            }),
            certificate: certificate.to_owned(),
            key: key.to_owned(),
        })
    }

    /// Returns the certificate for a new connection.
    fn certified(&self, pause: Duration) -> Arc<CertifiedKey> {
        let mut current = self.lock();
        if current.looked.elapsed() >= pause {
            current.looked = Instant::now();
            let version = version(&self.certificate, &self.key);
            if version != current.version {
                current.version = version;
                match read(&self.certificate, &self.key) {
                    Ok(certified) => {
                        current.certified = Arc::new(certified);
                        tracing::info!(
                            "the certificate {} was read again",
                            self.certificate.display()
                        );
                    }
                    Err(error) => tracing::warn!(%error, "the certificate before stays in use"),
                }
            }
        }
        Arc::clone(&current.certified)
    }

    fn lock(&self) -> MutexGuard<'_, Current> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ResolvesServerCert for CertificateFiles {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.certified(LOOK_PAUSE))
    }
}

fn version(certificate: &Path, key: &Path) -> Version {
    [certificate, key].map(|path| {
        let metadata = std::fs::metadata(path).ok()?;
        Some((metadata.modified().ok()?, metadata.len()))
    })
}

/// Reads a certificate, the intermediate ones behind it, and its key. One file may have all.
pub fn read(certificate: &Path, key: &Path) -> Result<CertifiedKey, TlsError> {
    let pem = |path: &Path| {
        let path = path.to_owned();
        |source| TlsError::Pem { path, source }
    };
    let chain =
        CertificateDer::pem_file_iter(certificate).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let chain = chain.map_err(pem(certificate))?;
    if chain.is_empty() {
        return Err(pem(certificate)(pem::Error::NoItemsFound));
    }
    let private = PrivateKeyDer::from_pem_file(key).map_err(pem(key))?;
    CertifiedKey::from_der(chain, private, &ring::default_provider()).map_err(|source| {
        TlsError::Pair {
            certificate: certificate.to_owned(),
            key: key.to_owned(),
            source,
        }
    })
}

/// Accepts TLS 1.2 and 1.3 with the certificates of a resolver.
///
/// # Errors
/// If the library supports neither.
pub fn acceptor(certificates: Arc<dyn ResolvesServerCert>) -> io::Result<TlsAcceptor> {
    acceptor_of(certificates, &[])
}

/// Accepts these protocols before HTTP too. The server ends such a connection after its handshake.
pub fn acceptor_of(
    certificates: Arc<dyn ResolvesServerCert>,
    others: &[&[u8]],
) -> io::Result<TlsAcceptor> {
    let provider = Arc::new(ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?;
    let mut config = builder
        .with_no_client_auth()
        .with_cert_resolver(certificates);
    let protocols = others.iter().chain(&[HTTP]);
    config.alpn_protocols = protocols.map(|name| name.to_vec()).collect();
    Ok(TlsAcceptor::from(Arc::new(config)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, name: &str) -> (PathBuf, PathBuf) {
        let made = rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
        let (certificate, key) = (folder.join("cert.pem"), folder.join("key.pem"));
        std::fs::write(&certificate, made.cert.pem()).unwrap();
        std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
        (certificate, key)
    }

    #[test]
    fn changed_files_are_read_again_and_damaged_ones_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let (certificate, key) = write(folder.path(), "first.example");
        let files = CertificateFiles::open(&certificate, &key).unwrap();
        let first = files.certified(Duration::ZERO);
        assert!(Arc::ptr_eq(&first, &files.certified(Duration::ZERO)));
        write(folder.path(), "a-longer-name.example");
        let second = files.certified(Duration::ZERO);
        assert_ne!(first.cert, second.cert);
        std::fs::write(&certificate, "damaged").unwrap();
        assert_eq!(second.cert, files.certified(Duration::ZERO).cert);
        assert!(Arc::ptr_eq(
            &second,
            &files.certified(Duration::from_secs(1000))
        ));
    }

    #[test]
    fn what_is_no_certificate_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let (certificate, key) = write(folder.path(), "first.example");
        let open = |certificate: &Path, key: &Path| {
            CertificateFiles::open(certificate, key)
                .unwrap_err()
                .to_string()
        };
        assert!(open(&folder.path().join("missing.pem"), &key).contains("missing.pem"));
        assert!(open(&certificate, &certificate).contains("cert.pem"));
        let other = folder.path().join("other");
        std::fs::create_dir(&other).unwrap();
        let (_, other_key) = write(&other, "second.example");
        assert!(open(&certificate, &other_key).contains("cannot be used"));
    }
}
