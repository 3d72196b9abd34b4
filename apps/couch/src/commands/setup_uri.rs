//! Setup URIs of Obsidian's plugin Self-hosted LiveSync: its settings as JSON, encrypted with a passphrase.
//!
//! The bytes are the salt of PBKDF2 (32), the nonce (12), the salt of HKDF (32), and the text with AES-256-GCM.

use anyhow::anyhow;
use base64::{Engine, engine::general_purpose::STANDARD};
use inorder_couch::auth::random;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::{hkdf, pbkdf2};
use serde_json::Value;
use std::num::NonZeroU32;

const BASE: &str = "obsidian://setuplivesync?settings=";

/// Tells the form of the encryption.
const PREFIX: &str = "%$";

const SALT_BYTES: usize = 32;
const ITERATIONS: NonZeroU32 = NonZeroU32::new(310_000).expect("not zero");

/// Writes settings as a URI that the plugin opens with the passphrase.
///
/// # Errors
/// If the library refuses the key or the text.
pub fn setup_uri(settings: &Value, passphrase: &str) -> anyhow::Result<String> {
    let (salt, nonce, key_salt) = (
        random::<SALT_BYTES>(),
        random::<NONCE_LEN>(),
        random::<SALT_BYTES>(),
    );
    let key = key(passphrase, &salt, &key_salt)?;
    let mut text = settings.to_string().into_bytes();
    key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut text)
        .map_err(|_| anyhow!("the settings cannot be encrypted"))?;
    let bytes = [&salt[..], &nonce, &key_salt, &text].concat();
    let text = format!("{PREFIX}{}", STANDARD.encode(bytes));
    Ok(format!(
        "{BASE}{}",
        utf8_percent_encode(&text, NON_ALPHANUMERIC)
    ))
}

fn key(passphrase: &str, salt: &[u8], key_salt: &[u8]) -> anyhow::Result<LessSafeKey> {
    let mut master = [0; 32];
    pbkdf2::derive(
        pbkdf2::PBKDF2_HMAC_SHA256,
        ITERATIONS,
        salt,
        passphrase.as_bytes(),
        &mut master,
    );
    let extracted = hkdf::Salt::new(hkdf::HKDF_SHA256, key_salt).extract(&master);
    let key = extracted.expand(&[], &AES_256_GCM).map(UnboundKey::from);
    Ok(LessSafeKey::new(key.map_err(|_| anyhow!("no key"))?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use percent_encoding::percent_decode_str;
    use serde_json::json;

    fn open(uri: &str, passphrase: &str) -> Option<Value> {
        let text = percent_decode_str(uri.strip_prefix(BASE)?)
            .decode_utf8()
            .ok()?;
        let mut bytes = STANDARD.decode(text.strip_prefix(PREFIX)?).ok()?;
        let mut text = bytes.split_off(SALT_BYTES + NONCE_LEN + SALT_BYTES);
        let (salt, rest) = bytes.split_at(SALT_BYTES);
        let (nonce, key_salt) = rest.split_at(NONCE_LEN);
        let key = key(passphrase, salt, key_salt).ok()?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let text = key.open_in_place(nonce, Aad::empty(), &mut text).ok()?;
        serde_json::from_slice(text).ok()
    }

    #[test]
    fn a_uri_opens_with_its_passphrase_alone() {
        let settings =
            json!({ "couchDB_URI": "https://example.com", "encrypt": true, "text": "ü/+?&" });
        let uri = setup_uri(&settings, "pass phrase").unwrap();
        assert_eq!(open(&uri, "pass phrase"), Some(settings));
        assert_eq!(open(&uri, "another"), None);
    }

    /// The URI was made by the plugin's own code, release 0.25.70, with this passphrase.
    #[test]
    fn a_uri_of_the_plugin_opens() {
        let settings = open(PLUGINS, "vector").unwrap();
        assert_eq!(settings["couchDB_URI"], "http://127.0.0.1:5984");
    }

    const PLUGINS: &str = "obsidian://setuplivesync?settings=%25%243CwOn4jT2nLG6%2B76b4OT5LzbtfoEXFV%2BfHIZC0v5pb9BUxHVjGRnM0Gr5MXgUC7bp7yJQDHoh2I%2BNFXplKbIBv5TgSyqb0AIJNkzOb2yaP33IafQC3xLzJeYvHktjbKUbUC4lRuLqWYvkVACx8vZDmrMziQPM1myf5R5huHS6T8i6AQ%3D";
}
