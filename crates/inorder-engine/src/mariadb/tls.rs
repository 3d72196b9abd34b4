//! Encryption of connections, with the parameters and defaults of MySQL's clients.
//!
//! Source: <https://dev.mysql.com/doc/refman/8.4/en/connection-options.html>, `--ssl-mode`.

use crate::{Error, remote::ServerUrl};
use mysql::{ClientIdentity, SslOpts};
use std::path::PathBuf;

/// Parameters of a URL that are read here.
pub const PARAMETERS: &[&str] = &["ssl-mode", "ssl-ca", "ssl-cert", "ssl-key", "require_ssl"];

/// The parameter that names the authorities.
pub const ROOT: &str = "ssl-ca";

const DISABLED: &str = "disabled";
const PREFERRED: &str = "preferred";
const REQUIRED: &str = "required";
const VERIFY_IDENTITY: &str = "verify_identity";

const MODES: &[&str] = &[DISABLED, PREFERRED, REQUIRED, VERIFY_IDENTITY];

/// How connections are encrypted.
#[derive(Clone)]
pub struct Tls {
    /// `None` if nothing is encrypted.
    pub options: Option<SslOpts>,
    /// Whether a server without TLS is connected to without it.
    pub is_optional: bool,
}

impl Tls {
    /// Unencrypted connections.
    pub const NONE: Tls = Tls {
        options: None,
        is_optional: false,
    };

    /// Reads the parameters of a URL.
    pub fn of(url: &ServerUrl) -> Result<Self, Error> {
        let authority = file(url, ROOT)?;
        let mode = match url.parameter("ssl-mode") {
            Some(mode) => mode.to_ascii_lowercase(),
            None if authority.is_some() => VERIFY_IDENTITY.to_owned(),
            None if url.parameter("require_ssl").is_some_and(|is| is != "false") => {
                REQUIRED.to_owned()
            }
            None => PREFERRED.to_owned(),
        };
        if !MODES.contains(&&*mode) {
            return Err(url.error(match &*mode {
                "verify_ca" => "ssl-mode=verify_ca is not supported, because authorities of the web are trusted beside that \
                                of ssl-ca: use verify_identity"
                    .to_owned(),
                _ => format!("ssl-mode is one of {}", MODES.join(", ")),
            }));
        }
        if mode == DISABLED {
            return Ok(Tls::NONE);
        }
        let is_verified = mode == VERIFY_IDENTITY;
        let options = SslOpts::default()
            .with_danger_accept_invalid_certs(!is_verified)
            .with_root_cert_path(authority.filter(|_| is_verified))
            .with_client_identity(identity(url)?);
        Ok(Tls {
            options: Some(options),
            is_optional: mode == PREFERRED,
        })
    }
}

/// A file that a parameter names, which is there.
fn file(url: &ServerUrl, parameter: &str) -> Result<Option<PathBuf>, Error> {
    let Some(path) = url.parameter(parameter).map(PathBuf::from) else {
        return Ok(None);
    };
    match std::fs::File::open(&path) {
        Ok(_) => Ok(Some(path)),
        Err(error) => Err(url.error(format!("{}: {error}", path.display()))),
    }
}

fn identity(url: &ServerUrl) -> Result<Option<ClientIdentity>, Error> {
    match (file(url, "ssl-cert")?, file(url, "ssl-key")?) {
        (None, None) => Ok(None),
        (Some(certificate), Some(key)) => Ok(Some(ClientIdentity::new(certificate, key))),
        _ => Err(url.error("a certificate of the client is named by both ssl-cert and ssl-key")),
    }
}
