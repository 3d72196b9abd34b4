//! Secrets that are handed out once: sessions, tokens, invitations, reset links. Stored is only their hash.

use crate::{Error, Result};
use inorder_key::Token;
use sha2::{Digest, Sha256};
use std::str::FromStr;

/// A secret of 160 random bits, 40 hex digits of text. Its `Debug` says nothing.
#[derive(Clone, Copy, Debug)]
pub struct Secret(Token<20>);

impl Secret {
    /// A new one.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Secret(Token::new())
    }

    /// What is stored. The secret is random and long: a plain hash can't be guessed back, and looking one up by index says
    /// nothing of its neighbours.
    pub fn hash(self) -> [u8; 32] {
        Sha256::digest(self.0.to_bytes()).into()
    }

    /// The token for forms that the holder of this secret is shown; it can't be turned back.
    pub fn form_token(self) -> String {
        let mut hash = Sha256::new();
        hash.update(b"form");
        hash.update(self.0.to_bytes());
        hex(&hash.finalize()[..16])
    }
}

impl std::fmt::Display for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Secret {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let token = text.parse().map_err(|_| Error::NotFound("secret"))?;
        Ok(Secret(token))
    }
}

/// Whether two texts are the same, in a time that tells no more than their lengths.
pub fn is_same(a: &str, b: &str) -> bool {
    let differences = a
        .bytes()
        .zip(b.bytes())
        .fold(0, |all, (a, b)| all | (a ^ b));
    a.len() == b.len() && std::hint::black_box(differences) == 0
}

/// Lower-case hex digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_survives_its_text_and_hides_in_debug() {
        let secret = Secret::new();
        let again: Secret = secret.to_string().parse().unwrap();
        assert_eq!(secret.hash(), again.hash());
        assert_ne!(secret.form_token(), hex(&secret.hash())[..32]);
        assert!(!format!("{secret:?}").contains(&secret.to_string()));
        assert!("ab".parse::<Secret>().is_err());
    }

    #[test]
    fn texts_are_the_same_only_if_all_is() {
        assert!(is_same("", "") && is_same("abc", "abc"));
        assert!(!is_same("abc", "abd") && !is_same("abc", "ab") && !is_same("", "a"));
    }
}
