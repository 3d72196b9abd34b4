//! Verifies the certificate of a server as far as it is wanted.

use rustls::{
    CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        verify_server_name,
    },
    crypto::ring::default_provider,
    pki_types::{CertificateDer, ServerName, UnixTime},
    server::ParsedCertificate,
};
use std::sync::Arc;

/// What is verified of the certificate of a server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verified {
    Nothing,
    /// An authority that is trusted has signed it.
    Authority,
    /// Also that it is for the host of the URL.
    Host,
}

/// The authorities that are trusted, and what is verified.
#[derive(Debug)]
pub struct Verifier {
    verified: Verified,
    roots: Vec<CertificateDer<'static>>,
    /// `None` if nothing is verified.
    chains: Option<Arc<WebPkiServerVerifier>>,
}

impl Verifier {
    /// A verifier that trusts these authorities, if it verifies anything.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn new(roots: Vec<CertificateDer<'static>>, verified: Verified) -> Result<Self, String> {
        let chains = match verified {
            Verified::Nothing => None,
            Verified::Authority | Verified::Host => {
                let mut store = RootCertStore::empty();
                if store.add_parsable_certificates(roots.iter().cloned()).0 == 0 {
                    return Err("no certificate of an authority can be used".to_owned());
                }
                let built = WebPkiServerVerifier::builder(Arc::new(store)).build();
                Some(built.map_err(|error| error.to_string())?)
            }
        };
        Ok(Verifier {
            verified,
            roots,
            chains,
        })
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        host: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(chains) = &self.chains else {
            return Ok(ServerCertVerified::assertion());
        };
        match chains.verify_server_cert(certificate, intermediates, host, ocsp, now) {
            // Names come after the chain and the dates.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if self.verified == Verified::Authority => Ok(ServerCertVerified::assertion()),
            // A server that is its own authority, which OpenSSL accepts: the dates come before this error.
            Err(Error::InvalidCertificate(CertificateError::Other(_)))
                if self.roots.iter().any(|root| root == certificate) =>
            {
                if self.verified == Verified::Host {
                    verify_server_name(&ParsedCertificate::try_from(certificate)?, host)?;
                }
                Ok(ServerCertVerified::assertion())
            }
            result => result,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match &self.chains {
            Some(chains) => chains.verify_tls12_signature(message, certificate, signature),
            None => Ok(HandshakeSignatureValid::assertion()),
        }
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match &self.chains {
            Some(chains) => chains.verify_tls13_signature(message, certificate, signature),
            None => Ok(HandshakeSignatureValid::assertion()),
        }
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let provider = default_provider();
        provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};

    type Certificate = CertificateDer<'static>;

    /// An authority that is its own server for `alone.example`.
    fn authority(last_year: i32) -> (Certificate, Issuer<'static, KeyPair>) {
        let mut params = CertificateParams::new(vec!["alone.example".to_owned()]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.not_after = date_time_ymd(last_year, 1, 1);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap().der().clone();
        (certificate, Issuer::new(params, key))
    }

    fn signed(issuer: &Issuer<'static, KeyPair>, last_year: i32) -> Certificate {
        let mut params = CertificateParams::new(vec!["db.example".to_owned()]).unwrap();
        params.not_after = date_time_ymd(last_year, 1, 1);
        let key = KeyPair::generate().unwrap();
        params.signed_by(&key, issuer).unwrap().der().clone()
    }

    /// What is wrong with a certificate, in few words.
    fn wrong(root: &Certificate, server: &Certificate, host: &str, verified: Verified) -> String {
        let verifier = Verifier::new(vec![root.clone()], verified).unwrap();
        let host = ServerName::try_from(host).unwrap();
        match verifier.verify_server_cert(server, &[], &host, &[], UnixTime::now()) {
            Ok(_) => String::new(),
            Err(Error::InvalidCertificate(wrong)) => format!("{wrong:?}"),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn as_much_is_verified_as_is_wanted() {
        use Verified::{Authority, Host, Nothing};
        let (root, issuer) = authority(4000);
        let (other, _) = authority(4000);
        let (old_root, _) = authority(2001);
        let (good, old) = (signed(&issuer, 4000), signed(&issuer, 2001));
        for (root, server, host, verified, expected) in [
            (&root, &good, "db.example", Host, ""),
            (&root, &good, "else.example", Host, "NotValidForName"),
            (&root, &good, "else.example", Authority, ""),
            (&root, &old, "db.example", Host, "Expired"),
            (&root, &old, "else.example", Authority, "Expired"),
            // Both authorities have one name.
            (&other, &good, "db.example", Authority, "BadSignature"),
            (&other, &old, "else.example", Nothing, ""),
            // A server that is its own authority.
            (&root, &root, "alone.example", Host, ""),
            (&root, &root, "db.example", Host, "NotValidForName"),
            (&root, &root, "db.example", Authority, ""),
            (&old_root, &old_root, "alone.example", Host, "Expired"),
            (&other, &root, "alone.example", Authority, "Other"),
        ] {
            let found = wrong(root, server, host, verified);
            let is_expected = match expected {
                "" => found.is_empty(),
                words => found.starts_with(words),
            };
            assert!(is_expected, "{host} {verified:?}: {found}, not {expected}");
        }
        assert!(Verifier::new(Vec::new(), Host).is_err());
    }
}
