//! The account and the certificate on disk.

use super::validity::Validity;
use super::{AcmeError, AcmeOptions};
use crate::private;
use crate::tls;
use instant_acme::AccountCredentials;
use rustls::client::verify_server_name;
use rustls::pki_types::ServerName;
use rustls::server::ParsedCertificate;
use rustls::sign::CertifiedKey;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// The files in the folder; only their owner can read them.
pub struct Files<'a> {
    options: &'a AcmeOptions,
    /// The account's URL and key, as JSON.
    account: PathBuf,
    /// The private key and the certificates, as PEM.
    certificate: PathBuf,
}

impl<'a> Files<'a> {
    pub fn of(options: &'a AcmeOptions) -> Self {
        Files {
            account: options.folder.join("account.json"),
            certificate: options.folder.join("certificate.pem"),
            options,
        }
    }

    /// The account, if it is one at the directory of the options.
    pub fn account(&self) -> Result<Option<AccountCredentials>, AcmeError> {
        let text = match std::fs::read(&self.account) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            text => text.map_err(|source| self.problem(&self.account, source))?,
        };
        let unreadable = |error: serde_json::Error| self.problem(&self.account, error.into());
        let known: serde_json::Value = serde_json::from_slice(&text).map_err(unreadable)?;
        if known["directory"] != self.options.directory.as_str() {
            return Ok(None);
        }
        serde_json::from_value(known)
            .map(Some)
            .map_err(|error| self.problem(&self.account, error.into()))
    }

    pub fn store_account(&self, account: &AccountCredentials) -> Result<(), AcmeError> {
        // A certificate of another CA is not used after the next start.
        self.forget(&self.certificate)?;
        let text = serde_json::to_vec(account).map_err(io::Error::from);
        let replaced = text.and_then(|text| {
            private::create_folder(&self.options.folder)?;
            private::replace(&self.account, &text)
        });
        replaced.map_err(|source| self.problem(&self.account, source))
    }

    /// Forgets an account that the CA does not know any more.
    pub fn forget_account(&self) -> Result<(), AcmeError> {
        self.forget(&self.account)
    }

    /// The certificate, if it can be used: for all domains, from the CA of the options, not expired.
    pub fn certificate(&self) -> Result<Option<(Arc<CertifiedKey>, Validity)>, AcmeError> {
        if self.account()?.is_none() || !self.certificate.exists() {
            return Ok(None);
        }
        let read = self.read();
        if let Err(error) = &read {
            tracing::warn!(%error, "a new certificate is ordered");
        }
        let usable = |(_, validity): &(_, Validity)| !validity.is_over(SystemTime::now());
        Ok(read
            .ok()
            .filter(|it| self.has_domains(&it.0))
            .filter(usable))
    }

    /// Stores a certificate with its key, and reads it.
    pub fn store(&self, pem: &str) -> Result<(Arc<CertifiedKey>, Validity), AcmeError> {
        private::replace(&self.certificate, pem.as_bytes())
            .map_err(|source| self.problem(&self.certificate, source))?;
        self.read()
    }

    fn read(&self) -> Result<(Arc<CertifiedKey>, Validity), AcmeError> {
        let certified = tls::read(&self.certificate, &self.certificate)?;
        let first = certified.cert.first().map(|first| Validity::of(first));
        let no_time = || io::Error::new(io::ErrorKind::InvalidData, "it has no time of validity");
        let validity = first
            .flatten()
            .ok_or_else(|| self.problem(&self.certificate, no_time()))?;
        Ok((Arc::new(certified), validity))
    }

    fn has_domains(&self, certified: &CertifiedKey) -> bool {
        let Some(first) = certified.cert.first() else {
            return false;
        };
        let Ok(parsed) = ParsedCertificate::try_from(first) else {
            return false;
        };
        self.options.domains.iter().all(|domain| {
            ServerName::try_from(domain.as_str())
                .is_ok_and(|name| verify_server_name(&parsed, &name).is_ok())
        })
    }

    fn forget(&self, path: &Path) -> Result<(), AcmeError> {
        match std::fs::remove_file(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            done => done.map_err(|source| self.problem(path, source)),
        }
    }

    fn problem(&self, path: &Path, source: io::Error) -> AcmeError {
        AcmeError::File {
            path: path.to_path_buf(),
            source,
        }
    }
}
