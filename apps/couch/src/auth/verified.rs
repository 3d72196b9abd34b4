//! The passwords that were verified: the next request with one needs no slow hash.

use super::bytes::random;
use super::password::PasswordHash;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::collections::HashSet;
use std::sync::{PoisonError, RwLock};

/// Passwords that are remembered.
const ENTRIES_MAX: usize = 10_000;

/// A MAC over name, password and stored hash. The key never leaves the process, and a changed password has another one.
pub type Print = [u8; 32];

/// The passwords that were verified.
#[derive(Debug)]
pub struct Verified {
    /// With the key, and without a text.
    mac: Hmac<Sha256>,
    prints: RwLock<HashSet<Print>>,
}

impl Default for Verified {
    fn default() -> Self {
        Verified {
            mac: Hmac::new_from_slice(&random::<32>()).expect("any length"),
            prints: RwLock::default(),
        }
    }
}

impl Verified {
    /// The MAC of a password.
    pub fn print(&self, name: &str, password: &str, hash: &PasswordHash) -> Print {
        let mut mac = self.mac.clone();
        for part in [name, hash.salt(), hash.hash(), password] {
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part.as_bytes());
        }
        mac.finalize().into_bytes().into()
    }

    /// Whether a password was verified. Which bytes of a MAC differ tells nothing without the key.
    pub fn has(&self, print: &Print) -> bool {
        let prints = self.prints.read().unwrap_or_else(PoisonError::into_inner);
        prints.contains(print)
    }

    /// Remembers a password.
    pub fn add(&self, print: Print) {
        let mut prints = self.prints.write().unwrap_or_else(PoisonError::into_inner);
        if prints.len() >= ENTRIES_MAX {
            prints.clear();
        }
        prints.insert(print);
    }
}
