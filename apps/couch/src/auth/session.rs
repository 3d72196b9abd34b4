//! Sessions without a table: a cookie that names the user and the time, signed.

use super::bytes::same;
use super::hash_function::HashFunction;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use std::time::{Duration, UNIX_EPOCH};

/// The cookie's name, CouchDB's.
pub const COOKIE: &str = "AuthSession";

/// The largest `Cookie` token that is read.
const TOKEN_BYTES_MAX: usize = 4096;

/// A token as a client sends it. Nothing of it is verified.
#[derive(Debug, PartialEq, Eq)]
pub struct Token {
    name: String,
    made_seconds: Option<u64>,
    /// `NAME:TIME`
    signed: Vec<u8>,
    signature: Vec<u8>,
}

/// A token that is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("Malformed AuthSession cookie. Please clear your cookies.")]
pub struct Malformed;

impl Token {
    /// Reads `NAME:TIME:SIGNATURE` in base64url, with the time in hexadecimal.
    ///
    /// # Errors
    /// If it has another form.
    pub fn read(token: &str) -> Result<Self, Malformed> {
        if token.len() > TOKEN_BYTES_MAX {
            return Err(Malformed);
        }
        let token = token.trim_end_matches('=');
        let bytes = URL_SAFE_NO_PAD.decode(token).map_err(|_| Malformed)?;
        let mut colons = bytes.iter().enumerate().filter(|(_, byte)| **byte == b':');
        let mut colon = || colons.next().map(|(at, _)| at).ok_or(Malformed);
        let (first, second) = (colon()?, colon()?);
        let text = |range| std::str::from_utf8(&bytes[range]).map_err(|_| Malformed);
        Ok(Token {
            name: text(0..first)?.to_owned(),
            made_seconds: u64::from_str_radix(text(first + 1..second)?, 16).ok(),
            signed: bytes[..second].to_vec(),
            signature: bytes[second + 1..].to_vec(),
        })
    }

    /// The name that the token claims.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The age of the token in seconds.
    ///
    /// None when it is not signed with the key, or is too old. As in CouchDB, one from the future has no age: the clock of the server
    /// that made it may be ahead.
    pub fn verified_age(
        &self,
        now_seconds: u64,
        timeout_seconds: u64,
        key: &[u8],
        functions: &[HashFunction],
    ) -> Option<u64> {
        let age = now_seconds.saturating_sub(self.made_seconds?);
        if age >= timeout_seconds {
            return None;
        }
        let is_signed =
            |function: &HashFunction| same(&function.mac(key, &self.signed), &self.signature);
        functions.iter().any(is_signed).then_some(age)
    }
}

/// A token for `name`, good from `now`, in seconds since 1970, on. The form is CouchDB's.
pub fn token(name: &str, now_seconds: u64, key: &[u8], function: HashFunction) -> String {
    let mut token = format!("{name}:{now_seconds:X}").into_bytes();
    let signature = function.mac(key, &token);
    token.push(b':');
    token.extend_from_slice(&signature);
    URL_SAFE_NO_PAD.encode(token)
}

/// The attributes of the cookie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attributes {
    /// The time after which a client forgets the cookie; without it, the client forgets the cookie when it ends.
    pub lifetime_seconds: Option<u64>,
    /// Also for hosts below this domain.
    pub domain: Option<String>,
    /// When a browser sends the cookie with requests from other sites.
    pub same_site: &'static str,
}

impl Attributes {
    /// The header that hands out a token, or with an empty one ends the session.
    pub fn set_cookie(&self, token: &str, now_seconds: u64, is_secure: bool) -> String {
        let mut cookie = format!("{COOKIE}={token}; Version=1");
        if let Some(seconds) = self.lifetime_seconds {
            let expires = date(now_seconds.saturating_add(seconds));
            cookie += &format!("; Expires={expires}; Max-Age={seconds}");
        }
        cookie += "; Path=/";
        if let Some(domain) = &self.domain {
            cookie += &format!("; Domain={domain}");
        }
        // Browsers drop a cookie with `SameSite=None` that is not `Secure`.
        if is_secure || self.same_site == "None" {
            cookie += "; Secure";
        }
        format!("{cookie}; HttpOnly; SameSite={}", self.same_site)
    }
}

/// A date as cookies have it, `Sun, 22-Nov-2026 16:02:09 GMT`.
fn date(seconds: u64) -> String {
    // The format has years of four digits.
    let seconds = seconds.min(253_402_300_799);
    let date = httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(seconds));
    let mut date = date.into_bytes();
    for at in [7, 11] {
        date[at] = b'-';
    }
    String::from_utf8_lossy(&date).into_owned()
}

/// The token in a `Cookie` header.
pub fn from_cookies(header: &str) -> Option<&str> {
    let mut cookies = header.split(';').map(str::trim);
    cookies
        .find_map(|cookie| cookie.strip_prefix(COOKIE)?.strip_prefix('='))
        .map(|token| token.trim_matches('"'))
        .filter(|token| !token.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SESSION_SECONDS: u64 = 600;
    const SHA256: HashFunction = HashFunction::Sha256;

    fn age(token: &str, now_seconds: u64, key: &[u8]) -> Option<u64> {
        let token = Token::read(token).ok()?;
        token.verified_age(
            now_seconds,
            SESSION_SECONDS,
            key,
            &[SHA256, HashFunction::Sha],
        )
    }

    #[test]
    fn a_token_lasts_for_its_time_and_its_key() {
        let made = token("anna", 1_000_000, b"key", SHA256);
        assert_eq!(Token::read(&made).unwrap().name(), "anna");
        assert_eq!(age(&made, 1_000_042, b"key"), Some(42));
        assert_eq!(age(&made, 1_000_000 + SESSION_SECONDS, b"key"), None);
        assert_eq!(age(&made, 999_999, b"key"), Some(0), "a clock behind");
        assert_eq!(age(&made, 1_000_042, b"another"), None);
        let older = token("anna", 1_000_000, b"key", HashFunction::Sha);
        assert_eq!(age(&older, 1_000_000, b"key"), Some(0), "listed second");
        let other = token("anna", 1_000_000, b"key", HashFunction::Sha512);
        assert_eq!(age(&other, 1_000_000, b"key"), None, "not listed");
    }

    #[test]
    fn a_token_of_couchdb_is_read() {
        // Made by CouchDB 3.5.0 with the secret e647c0dfa2ad6956506876626ef12e65 and the user's salt.
        let token = "YW5uYTo2QjAzMTA5ODpjWX6IQw38kT8c0QCq2WBT8vF7nKO-H3ZVDksg0LWPuQ";
        let key = b"e647c0dfa2ad6956506876626ef12e6535b948c5ad50215386eb9445772e4f9c";
        assert_eq!(age(token, 0x6B03_1098 + 5, key), Some(5));
        assert_eq!(super::token("anna", 0x6B03_1098, key, SHA256), token);
    }

    #[test]
    fn a_changed_token_is_nobodys() {
        let made = token("anna", 1_000_000, b"key", SHA256);
        for at in 0..made.len() {
            let mut changed = made.clone().into_bytes();
            changed[at] ^= 1;
            let changed = String::from_utf8_lossy(&changed);
            assert_eq!(age(&changed, 1_000_001, b"key"), None, "{changed}");
        }
        for wrong in ["", "a", "YTpi", "::", "???"] {
            assert_eq!(Token::read(wrong), Err(Malformed), "{wrong}");
        }
        let unsigned = URL_SAFE_NO_PAD.encode("anna:F:");
        assert_eq!(age(&unsigned, 15, b"key"), None);
    }

    #[test]
    fn the_token_is_found_among_cookies() {
        assert_eq!(from_cookies("a=b; AuthSession=abc; c=d"), Some("abc"));
        assert_eq!(from_cookies("AuthSession=\"abc\""), Some("abc"));
        assert_eq!(from_cookies("AuthSession="), None);
        assert_eq!(from_cookies("XAuthSession=abc; AuthSession2=d"), None);
    }

    #[test]
    fn the_cookie_has_the_attributes_of_couchdb() {
        let mut attributes = Attributes {
            lifetime_seconds: Some(600),
            domain: None,
            same_site: "Lax",
        };
        assert_eq!(
            attributes.set_cookie("abc", 0x6B03_1098, false),
            "AuthSession=abc; Version=1; Expires=Sun, 22-Nov-2026 16:06:08 GMT; Max-Age=600; Path=/; HttpOnly; SameSite=Lax"
        );
        attributes.lifetime_seconds = None;
        attributes.domain = Some("example.com".to_owned());
        assert_eq!(
            attributes.set_cookie("", 0, true),
            "AuthSession=; Version=1; Path=/; Domain=example.com; Secure; HttpOnly; SameSite=Lax"
        );
        attributes.lifetime_seconds = Some(u64::MAX);
        assert!(attributes.set_cookie("", 1, true).contains("9999"));
    }
}
