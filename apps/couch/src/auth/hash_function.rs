//! The hash functions of passwords and of sessions.

use super::bytes::hex;
use hmac::{Hmac, KeyInit, Mac};
use pbkdf2::pbkdf2_hmac;
use sha1::Sha1;
use sha2::{Sha224, Sha256, Sha384, Sha512};

/// A hash function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HashFunction {
    /// SHA-1.
    Sha,
    /// SHA-224.
    Sha224,
    /// SHA-256.
    Sha256,
    /// SHA-384.
    Sha384,
    /// SHA-512.
    Sha512,
}

impl HashFunction {
    /// All functions.
    pub const ALL: [HashFunction; 5] = [
        HashFunction::Sha,
        HashFunction::Sha224,
        HashFunction::Sha256,
        HashFunction::Sha384,
        HashFunction::Sha512,
    ];

    /// CouchDB's name.
    pub fn name(self) -> &'static str {
        match self {
            HashFunction::Sha => "sha",
            HashFunction::Sha224 => "sha224",
            HashFunction::Sha256 => "sha256",
            HashFunction::Sha384 => "sha384",
            HashFunction::Sha512 => "sha512",
        }
    }

    /// The function of that name.
    pub fn named(name: &str) -> Option<Self> {
        let mut all = HashFunction::ALL.into_iter();
        all.find(|function| function.name() == name)
    }

    /// Bytes of a hash, and of a key that PBKDF2 derives.
    pub fn bytes(self) -> usize {
        match self {
            HashFunction::Sha => 20,
            HashFunction::Sha224 => 28,
            HashFunction::Sha256 => 32,
            HashFunction::Sha384 => 48,
            HashFunction::Sha512 => 64,
        }
    }

    /// PBKDF2 with HMAC: a derived key in hexadecimal.
    pub fn derive(self, password: &[u8], salt: &str, iterations: u32) -> String {
        let mut key = vec![0; self.bytes()];
        let (salt, out) = (salt.as_bytes(), &mut key[..]);
        match self {
            HashFunction::Sha => pbkdf2_hmac::<Sha1>(password, salt, iterations, out),
            HashFunction::Sha224 => pbkdf2_hmac::<Sha224>(password, salt, iterations, out),
            HashFunction::Sha256 => pbkdf2_hmac::<Sha256>(password, salt, iterations, out),
            HashFunction::Sha384 => pbkdf2_hmac::<Sha384>(password, salt, iterations, out),
            HashFunction::Sha512 => pbkdf2_hmac::<Sha512>(password, salt, iterations, out),
        }
        hex(&key)
    }

    /// The HMAC of a text.
    pub fn mac(self, key: &[u8], text: &[u8]) -> Vec<u8> {
        macro_rules! mac {
            ($hash:ty) => {{
                let mut mac = Hmac::<$hash>::new_from_slice(key).expect("any length");
                mac.update(text);
                mac.finalize().into_bytes().to_vec()
            }};
        }
        match self {
            HashFunction::Sha => mac!(Sha1),
            HashFunction::Sha224 => mac!(Sha224),
            HashFunction::Sha256 => mac!(Sha256),
            HashFunction::Sha384 => mac!(Sha384),
            HashFunction::Sha512 => mac!(Sha512),
        }
    }
}
