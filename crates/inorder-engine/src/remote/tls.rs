//! What is wrong with an encrypted connection.

use rustls::CertificateError;
use std::{error::Error, io};

/// Returns the cause of an error if that is TLS.
pub fn cause<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a rustls::Error> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        next = match error
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref)
        {
            Some(inner) => Some(inner),
            None => error.source(),
        };
    }
    None
}

/// Says what is wrong, and what to do about it. `root` is the parameter that names the file of trusted authorities.
pub fn explain(error: &rustls::Error, root: &str) -> String {
    let rustls::Error::InvalidCertificate(wrong) = error else {
        return format!("TLS: {error}");
    };
    match wrong {
        // Another authority may have the name of the right one.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => format!(
            "the certificate of the server is from no trusted authority; name the file of its authority with {root}=FILE"
        ),
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            format!(
                "the certificate of the server is for another host ({wrong}); write the host of the URL as one of the \
                 certificate's alternative names (subjectAltName)"
            )
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            format!("the certificate of the server has expired ({wrong}); renew it")
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            format!("the certificate of the server is not valid yet ({wrong}); check the clock")
        }
        // An authority as a server, X.509 version 1, and what can't be read.
        other => format!("the certificate of the server can't be verified: {other}"),
    }
}

/// Installs the cryptography of all connections, unless the program has done so.
pub fn install() {
    _ = rustls::crypto::ring::default_provider().install_default();
}
