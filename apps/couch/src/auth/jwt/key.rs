//! The keys of tokens.

use super::Signing;
use crate::auth::bytes::same;
use crate::auth::hash_function::HashFunction;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::signature::{self, UnparsedPublicKey, VerificationAlgorithm};
use rustls::pki_types::SubjectPublicKeyInfoDer;
use rustls::pki_types::pem::PemObject;

/// A key.
#[derive(Clone)]
pub enum Key {
    /// The secret of an HMAC.
    Hmac(Vec<u8>),
    /// A public key of RSA: modulus and exponent in DER.
    Rsa(Vec<u8>),
    /// A public key on an elliptic curve: a point.
    Ec {
        /// The hash function that belongs to the curve.
        function: HashFunction,
        /// The point.
        point: Vec<u8>,
    },
}

/// Without the secret.
impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}

/// Object identifiers in DER.
const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
const EC: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
const P256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
const P384: &[u8] = &[0x2b, 0x81, 0x04, 0x00, 0x22];

/// Tags of DER.
const SEQUENCE: u8 = 0x30;
const IDENTIFIER: u8 = 0x06;
const BITS: u8 = 0x03;

impl Key {
    /// Reads a key from the configuration; its name begins with its kind.
    ///
    /// # Errors
    /// CouchDB's reason why it is none.
    pub fn read(name: &str, text: &str) -> Result<Self, &'static str> {
        match name.split(':').next() {
            Some("hmac") => STANDARD
                .decode(text.trim())
                .map(Key::Hmac)
                .map_err(|_| "Not a valid key"),
            Some(kind @ ("rsa" | "ec")) => {
                let pem = text.replace("\\n", "\n");
                let der = SubjectPublicKeyInfoDer::from_pem_slice(pem.as_bytes());
                let der = der.map_err(|_| "Not a valid key")?;
                match (kind, public(&der)) {
                    ("rsa", Some(key @ Key::Rsa(_))) | ("ec", Some(key @ Key::Ec { .. })) => {
                        Ok(key)
                    }
                    ("rsa", _) => Err("not an RSA public key"),
                    _ => Err("not an EC public key"),
                }
            }
            _ => Err("Unknown kty"),
        }
    }

    /// Whether a signature was made with this key.
    pub fn has_signed(&self, signing: Signing, signed: &[u8], given: &[u8]) -> bool {
        let algorithm: &dyn VerificationAlgorithm = match (self, signing) {
            (Key::Hmac(secret), Signing::Hmac(function)) => {
                return same(&function.mac(secret, signed), given);
            }
            (Key::Rsa(_), Signing::Rsa(HashFunction::Sha256)) => {
                &signature::RSA_PKCS1_2048_8192_SHA256
            }
            (Key::Rsa(_), Signing::Rsa(HashFunction::Sha384)) => {
                &signature::RSA_PKCS1_2048_8192_SHA384
            }
            (Key::Rsa(_), Signing::Rsa(HashFunction::Sha512)) => {
                &signature::RSA_PKCS1_2048_8192_SHA512
            }
            (Key::Ec { function, .. }, Signing::Ec(given)) if *function == given => match given {
                HashFunction::Sha256 => &signature::ECDSA_P256_SHA256_FIXED,
                _ => &signature::ECDSA_P384_SHA384_FIXED,
            },
            _ => return false,
        };
        let key = match self {
            Key::Hmac(key) | Key::Rsa(key) | Key::Ec { point: key, .. } => key,
        };
        let key = UnparsedPublicKey::new(algorithm, key);
        key.verify(signed, given).is_ok()
    }
}

/// Reads `SubjectPublicKeyInfo` (RFC 5280): the algorithm and the key.
fn public(der: &[u8]) -> Option<Key> {
    let (info, _) = value(der, SEQUENCE)?;
    let (algorithm, info) = value(info, SEQUENCE)?;
    let (key, _) = value(info, BITS)?;
    // The number of unused bits comes first.
    let key = key.strip_prefix(&[0])?.to_vec();
    let (name, parameters) = value(algorithm, IDENTIFIER)?;
    if name == RSA {
        return Some(Key::Rsa(key));
    }
    if name != EC {
        return None;
    }
    let (curve, _) = value(parameters, IDENTIFIER)?;
    let function = match curve {
        P256 => HashFunction::Sha256,
        P384 => HashFunction::Sha384,
        _ => return None,
    };
    let point = key;
    Some(Key::Ec { function, point })
}

/// The content of a value with this tag, and what follows.
fn value(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let rest = der.strip_prefix(&[tag])?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        short @ 0..=0x7f => (usize::from(short), rest),
        0x81..=0x84 => {
            let (bytes, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            let length = bytes
                .iter()
                .fold(0, |length, byte| length << 8 | usize::from(*byte));
            (length, rest)
        }
        _ => return None,
    };
    rest.split_at_checked(length)
}
