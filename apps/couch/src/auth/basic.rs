//! Basic authentication.

use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::{Engine, alphabet};

/// Padding may be missing.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// A header that says it is of this kind, and is not in base64.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("Authorization header has invalid base64 value")]
pub struct NoBase64;

/// Name and password of an `Authorization` header. `None` if it is of another kind, has no colon, or is `_:_`, which means
/// nobody.
///
/// # Errors
/// If it is not in base64.
pub fn basic(header: &[u8]) -> Result<Option<(String, String)>, NoBase64> {
    let Some((scheme, credentials)) = header
        .iter()
        .position(|byte| *byte == b' ')
        .map(|at| header.split_at(at))
    else {
        return Ok(None);
    };
    if !scheme.eq_ignore_ascii_case(b"basic") {
        return Ok(None);
    }
    let credentials = credentials.trim_ascii();
    let decoded = BASE64.decode(credentials).map_err(|_| NoBase64)?;
    let Some((name, password)) = std::str::from_utf8(&decoded)
        .ok()
        .and_then(|text| text.split_once(':'))
    else {
        return Ok(None);
    };
    if (name, password) == ("_", "_") {
        return Ok(None);
    }
    Ok(Some((name.to_owned(), password.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_passwords_are_read() {
        let read = |text: &str| basic(text.as_bytes());
        let anna = Some(("anna".to_owned(), "s:cret".to_owned()));
        assert_eq!(read("Basic YW5uYTpzOmNyZXQ="), Ok(anna.clone()));
        assert_eq!(read("basic YW5uYTpzOmNyZXQ"), Ok(anna));
        for other in [
            "Bearer abc",
            "Basic",
            "",
            "Basic YQ==",
            "Basic Xzpf",
            "Basic /w==",
        ] {
            assert_eq!(read(other), Ok(None), "{other}");
        }
        for wrong in ["Basic ???", "Basic x"] {
            assert_eq!(read(wrong), Err(NoBase64), "{wrong}");
        }
    }
}
