//! Sessions without a table: a cookie that names the user and the time, signed.

use super::bytes::{hex, unhex};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The cookie's name, CouchDB's.
pub const COOKIE: &str = "AuthSession";

/// Seconds a session lasts without a request; CouchDB's default.
pub const SESSION_SECONDS: u64 = 600;

/// A session older than this is given a new cookie with the next answer; CouchDB renews after a tenth too.
pub const RENEW_SECONDS: u64 = SESSION_SECONDS / 10;

/// A token for `name`, good from `now`, in seconds since 1970, on.
///
/// The form is CouchDB's, `NAME:TIME:SIGNATURE` in base64url with the time in hexadecimal; the key is this server's.
pub fn token(name: &str, now_seconds: u64, key: &[u8]) -> String {
    let signed = format!("{name}:{now_seconds:X}");
    let signature = hex(&sign(&signed, key).finalize().into_bytes());
    URL_SAFE_NO_PAD.encode(format!("{signed}:{signature}"))
}

/// Returns the user of a session token and the token's age in seconds.
///
/// None when it is not signed with the key, is too old, or comes from the future.
pub fn verify(token: &str, now_seconds: u64, key: &[u8]) -> Option<(String, u64)> {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(token).ok()?).ok()?;
    let (signed, signature) = text.rsplit_once(':')?;
    sign(signed, key).verify_slice(&unhex(signature)?).ok()?;
    let (name, time) = signed.rsplit_once(':')?;
    let made = u64::from_str_radix(time, 16).ok()?;
    let age = now_seconds.checked_sub(made)?;
    (age < SESSION_SECONDS).then(|| (name.to_owned(), age))
}

/// The header that hands out a token, or with an empty one ends the session.
pub fn set_cookie(token: &str) -> String {
    // Lax: sent along when a page here is followed from elsewhere, never with another site's requests.
    format!("{COOKIE}={token}; Version=1; Path=/; HttpOnly; SameSite=Lax")
}

/// The token in a `Cookie` header.
pub fn from_cookies(header: &str) -> Option<&str> {
    let mut cookies = header.split(';').map(str::trim);
    cookies
        .find_map(|cookie| cookie.strip_prefix(COOKIE)?.strip_prefix('='))
        .map(|token| token.trim_matches('"'))
        .filter(|token| !token.is_empty())
}

fn sign(text: &str, key: &[u8]) -> Hmac<Sha256> {
    let mut mac = Hmac::new_from_slice(key).expect("any length");
    mac.update(text.as_bytes());
    mac
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_lasts_for_its_time_and_its_key() {
        let made = token("anna:b", 1_000_000, b"key");
        assert_eq!(
            verify(&made, 1_000_042, b"key"),
            Some(("anna:b".into(), 42))
        );
        assert_eq!(verify(&made, 1_000_000 + SESSION_SECONDS, b"key"), None);
        assert_eq!(verify(&made, 999_999, b"key"), None, "from the future");
        assert_eq!(verify(&made, 1_000_042, b"another"), None);
    }

    #[test]
    fn a_changed_token_is_nobodys() {
        let made = token("anna", 1_000_000, b"key");
        for at in 0..made.len() {
            let mut changed = made.clone().into_bytes();
            changed[at] ^= 1;
            if let Ok(changed) = String::from_utf8(changed) {
                // Hexadecimal in upper case is the same signature.
                let found = verify(&changed, 1_000_001, b"key");
                assert!(found.is_none() || found == Some(("anna".into(), 1)));
            }
        }
        for wrong in ["", "a", "YTpi", "::", &URL_SAFE_NO_PAD.encode("anna:F:")] {
            assert_eq!(verify(wrong, 1_000_001, b"key"), None);
        }
    }

    #[test]
    fn the_token_is_found_among_cookies() {
        assert_eq!(from_cookies("a=b; AuthSession=abc; c=d"), Some("abc"));
        assert_eq!(from_cookies("AuthSession=\"abc\""), Some("abc"));
        assert_eq!(from_cookies("AuthSession="), None);
        assert_eq!(from_cookies("XAuthSession=abc; AuthSession2=d"), None);
    }
}
