//! Secrets that are handed out once: sessions, tokens, invitations, reset links. Stored is only their hash.

use crate::{Error, Result};
use inorder_key::Token;
use sha2::{Digest, Sha256};
use std::str::FromStr;

/// Bytes of a form's token.
const FORM_BYTES: usize = 16;

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

    /// The token for forms that the holder of this secret is shown; it can't be turned back. Each page has another text of
    /// it: what a page repeats could be guessed from the sizes of compressed pages.
    pub fn form_token(self) -> String {
        let mask = Token::<FORM_BYTES>::new();
        let masked = xor(mask.to_bytes(), self.form_hash());
        format!("{mask}{}", hex(&masked))
    }

    /// Whether a text is a form's token of this secret.
    pub fn is_form_token(self, token: &str) -> bool {
        let Some((mask, masked)) = token.split_at_checked(2 * FORM_BYTES) else {
            return false;
        };
        let Ok(mask) = mask.parse::<Token<FORM_BYTES>>() else {
            return false;
        };
        is_same(&hex(&xor(mask.to_bytes(), self.form_hash())), masked)
    }

    fn form_hash(self) -> [u8; FORM_BYTES] {
        let mut hash = Sha256::new();
        hash.update(b"form");
        hash.update(self.0.to_bytes());
        let hash: [u8; 32] = hash.finalize().into();
        std::array::from_fn(|i| hash[i])
    }
}

fn xor(one: [u8; FORM_BYTES], other: [u8; FORM_BYTES]) -> [u8; FORM_BYTES] {
    std::array::from_fn(|i| one[i] ^ other[i])
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
        assert!(!format!("{secret:?}").contains(&secret.to_string()));
        assert!("ab".parse::<Secret>().is_err());
    }

    #[test]
    fn a_form_s_token_differs_from_page_to_page_and_is_its_secret_s_alone() {
        let (secret, other) = (Secret::new(), Secret::new());
        let (one, two) = (secret.form_token(), secret.form_token());
        assert_ne!(one, two);
        assert!(secret.is_form_token(&one) && secret.is_form_token(&two));
        assert!(!other.is_form_token(&one));
        let swapped = format!("{}{}", &one[..32], &two[32..]);
        for wrong in ["", &one[..32], &one[1..], "é".repeat(32).as_str(), &swapped] {
            assert!(!secret.is_form_token(wrong), "{wrong}");
        }
    }

    #[test]
    fn texts_are_the_same_only_if_all_is() {
        assert!(is_same("", "") && is_same("abc", "abc"));
        assert!(!is_same("abc", "abd") && !is_same("abc", "ab") && !is_same("", "a"));
    }
}
