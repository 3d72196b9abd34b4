//! Passwords as CouchDB keeps them: PBKDF2 with HMAC-SHA-256.

use super::bytes::{hex, random, unhex};
use hmac::{Hmac, KeyInit, Mac};
use pbkdf2::pbkdf2_hmac_array;
use sha2::Sha256;
use std::fmt;
use std::str::FromStr;

/// The rounds of a password hashed here; what OWASP asks for and CouchDB 3.4 does.
pub const ITERATIONS: u32 = 600_000;

/// More than this from a file is a mistake: one login would take minutes.
const ITERATIONS_MAX: u32 = 10_000_000;

const KEY_BYTES: usize = 32;

/// A derived key, its salt and its rounds; written `-pbkdf2:sha256-KEY,SALT,ROUNDS` as in CouchDB's configuration.
#[derive(Clone, PartialEq, Eq)]
pub struct PasswordHash {
    key: [u8; KEY_BYTES],
    salt: String,
    iterations: u32,
}

impl PasswordHash {
    /// Hashes a password with a fresh salt; takes a tenth of a second with [`ITERATIONS`].
    pub fn new(password: &str, iterations: u32) -> Self {
        let salt = hex(&random::<16>());
        PasswordHash {
            key: derive(password, &salt, iterations),
            salt,
            iterations,
        }
    }

    /// Whether this is the password; takes as long as hashing it.
    pub fn verify(&self, password: &str) -> bool {
        let key = derive(password, &self.salt, self.iterations);
        same(&key, &self.key)
    }

    /// The salt, which a session's signature covers: a changed password ends its sessions.
    pub fn salt(&self) -> &str {
        &self.salt
    }
}

fn derive(password: &str, salt: &str, iterations: u32) -> [u8; KEY_BYTES] {
    pbkdf2_hmac_array::<Sha256, KEY_BYTES>(password.as_bytes(), salt.as_bytes(), iterations)
}

/// Compares in a time that tells nothing about where they differ.
fn same(a: &[u8], b: &[u8]) -> bool {
    let mac = |data: &[u8]| {
        let mut mac = Hmac::<Sha256>::new_from_slice(b"compare").expect("any length");
        mac.update(data);
        mac
    };
    mac(a).verify_slice(&mac(b).finalize().into_bytes()).is_ok()
}

impl fmt::Display for PasswordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = hex(&self.key);
        write!(f, "-pbkdf2:sha256-{key},{},{}", self.salt, self.iterations)
    }
}

impl fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PasswordHash")
    }
}

impl FromStr for PasswordHash {
    type Err = NoPasswordHash;

    fn from_str(text: &str) -> Result<Self, NoPasswordHash> {
        let parts = text.strip_prefix(PREFIX).ok_or(NoPasswordHash)?;
        let mut parts = parts.splitn(3, ',');
        let mut next = || parts.next().filter(|part| !part.is_empty());
        let (key, salt, iterations) = (next(), next(), next());
        let key = unhex(key.ok_or(NoPasswordHash)?).ok_or(NoPasswordHash)?;
        let iterations = iterations.and_then(|text| text.parse().ok());
        Ok(PasswordHash {
            key: key.try_into().map_err(|_| NoPasswordHash)?,
            salt: salt.ok_or(NoPasswordHash)?.to_owned(),
            iterations: iterations
                .filter(|&rounds| rounds > 0 && rounds <= ITERATIONS_MAX)
                .ok_or(NoPasswordHash)?,
        })
    }
}

const PREFIX: &str = "-pbkdf2:sha256-";

/// Whether a password is given hashed.
pub fn is_hash(text: &str) -> bool {
    text.starts_with("-pbkdf2") || text.starts_with("-hashed-")
}

/// Text that begins like a hash, and is none.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "this is no password hash: give the password itself, or {PREFIX}KEY,SALT,ROUNDS as `inorder-couch hash-password` prints it"
)]
pub struct NoPasswordHash;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_written_and_read_and_verifies() {
        let hash = PasswordHash::new("pass,word-ü", 2);
        let read: PasswordHash = hash.to_string().parse().unwrap();
        assert_eq!(read, hash);
        assert!(read.verify("pass,word-ü"));
        assert!(!read.verify("pass,word-u"));
        assert!(!read.verify(""));
        assert_ne!(hash, PasswordHash::new("pass,word-ü", 2));
    }

    #[test]
    fn a_known_key_is_derived() {
        // RFC 7914, section 11: PBKDF2-HMAC-SHA-256 of "passwd" and "salt", one round.
        let text = "-pbkdf2:sha256-55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc,salt,1";
        assert!(text.parse::<PasswordHash>().unwrap().verify("passwd"));
    }

    #[test]
    fn what_is_no_hash_is_refused() {
        let key = "0".repeat(64);
        for text in [
            "",
            "secret",
            "-pbkdf2-00,aa,10",
            "-pbkdf2:sha256-00,salt,1",
            &format!("-pbkdf2:sha256-{key},salt,0"),
            &format!("-pbkdf2:sha256-{key},salt,4000000000"),
            &format!("-pbkdf2:sha256-{key},,1"),
            &format!("-pbkdf2:sha256-{key}"),
        ] {
            assert_eq!(text.parse::<PasswordHash>(), Err(NoPasswordHash), "{text}");
        }
    }
}
