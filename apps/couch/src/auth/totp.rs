//! One-time passwords by time (RFC 6238), as a user document's member `totp` describes them.
//!
//! Source: `couch_httpd_auth:verify_totp` and `couch_hotp`.

use super::bytes::same;
use super::{AuthError, HashFunction};
use serde_json::{Map, Value};

/// A password is good for this time, and for the same time before and after.
const STEP_SECONDS: u64 = 30;

/// Checks the one-time password of a login.
///
/// # Errors
/// If it is another one, or the settings can't be read.
pub fn verify(
    settings: &Map<String, Value>,
    token: &str,
    now_seconds: u64,
) -> Result<(), AuthError> {
    let settings = Settings::read(settings)
        .ok_or_else(|| AuthError::Directory("the member totp of the user document needs a key in base32; its algorithm is sha, sha224, sha256, sha384 or sha512 and its length 6, 7 or 8".to_owned()))?;
    let times = [
        now_seconds.saturating_sub(STEP_SECONDS),
        now_seconds,
        now_seconds + STEP_SECONDS,
    ];
    // All three are compared, so that the time tells nothing.
    let is_right = times
        .iter()
        .filter(|time| same(settings.token(**time).as_bytes(), token.as_bytes()))
        .count();
    match is_right {
        0 => Err(AuthError::WrongPassword),
        _ => Ok(()),
    }
}

struct Settings {
    key: Vec<u8>,
    function: HashFunction,
    digits: u32,
}

impl Settings {
    fn read(settings: &Map<String, Value>) -> Option<Self> {
        let function = settings.get("algorithm").map_or(Some("sha"), Value::as_str);
        let digits = settings.get("length").map_or(Some(6), Value::as_u64)?;
        Some(Settings {
            key: base32(settings.get("key")?.as_str()?)?,
            function: HashFunction::named(function?)?,
            digits: u32::try_from(digits).ok().filter(|n| (6..=8).contains(n))?,
        })
    }

    /// The password of a time (RFC 4226, section 5.3).
    fn token(&self, seconds: u64) -> String {
        let counter = (seconds / STEP_SECONDS).to_be_bytes();
        let mac = self.function.mac(&self.key, &counter);
        let at = usize::from(mac.last().map_or(0, |byte| byte & 15));
        let code = mac[at..at + 4]
            .iter()
            .fold(0, |code, byte| code << 8 | u32::from(*byte));
        let code = (code & 0x7fff_ffff) % 10_u32.pow(self.digits);
        format!("{code:0width$}", width = self.digits as usize)
    }
}

/// Decodes base32 (RFC 4648), with or without the padding.
fn base32(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() * 5 / 8);
    let (mut bits, mut count) = (0_u32, 0);
    for digit in text.trim_end_matches('=').bytes() {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'2'..=b'7' => digit - b'2' + 26,
            _ => return None,
        };
        bits = (bits << 5) | u32::from(value);
        count += 5;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    (!bytes.is_empty()).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn good(settings: &Value, token: &str, now: u64) -> Result<(), AuthError> {
        verify(settings.as_object().unwrap(), token, now)
    }

    /// The vectors of RFC 6238, appendix B.
    #[test]
    fn the_vectors_of_the_rfc_are_right() {
        let sha = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
        let sha256 = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZA====";
        for (algorithm, key, seconds, token) in [
            ("sha", sha, 59, "94287082"),
            ("sha", sha, 1_111_111_109, "07081804"),
            ("sha", sha, 20_000_000_000, "65353130"),
            ("sha256", sha256, 59, "46119246"),
            ("sha256", sha256, 1_111_111_111, "67062674"),
        ] {
            let settings = json!({ "key": key, "algorithm": algorithm, "length": 8 });
            assert_eq!(
                good(&settings, token, seconds),
                Ok(()),
                "{algorithm} {seconds}"
            );
        }
    }

    #[test]
    fn a_password_is_good_for_three_steps_and_no_other() {
        let settings = json!({ "key": "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ" });
        let wrong = Err(AuthError::WrongPassword);
        // 94287082 of RFC 6238 with six digits.
        for (now, expected) in [(0, Ok(())), (30, Ok(())), (89, Ok(())), (90, wrong.clone())] {
            assert_eq!(good(&settings, "287082", now), expected, "{now}");
        }
        for token in ["", "287083", "94287082", "0287082"] {
            assert_eq!(good(&settings, token, 59), wrong, "{token}");
        }
    }

    #[test]
    fn settings_that_cannot_be_read_let_nobody_in() {
        for settings in [
            json!({}),
            json!({ "key": "" }),
            json!({ "key": "a1" }),
            json!({ "key": "GEZDGNBV", "algorithm": "md4" }),
            json!({ "key": "GEZDGNBV", "length": 5 }),
        ] {
            let error = good(&settings, "", 59).unwrap_err();
            assert!(error.to_string().contains("totp"), "{settings}: {error}");
        }
    }
}
