//! Passwords: argon2id, and the same time whether or not there is a user.

use crate::{Error, Result};
use argon2::{
    Argon2,
    password_hash::{PasswordHasher, PasswordVerifier, phc::PasswordHash},
};
use std::sync::LazyLock;

/// Characters a password has at least.
pub const CHARACTERS_MIN: usize = 10;

/// Bytes a password has at most: more would only cost time.
pub const BYTES_MAX: usize = 256;

/// Whether a new password is long enough to be taken.
///
/// # Errors
/// [`Error::Invalid`], saying how long it has to be.
pub fn check(password: &str) -> Result<()> {
    if password.chars().count() < CHARACTERS_MIN {
        let words = format!("Take a password of at least {CHARACTERS_MIN} characters.");
        return Err(Error::Invalid(words));
    }
    if password.len() > BYTES_MAX {
        let words = format!("Take a password of at most {BYTES_MAX} bytes.");
        return Err(Error::Invalid(words));
    }
    Ok(())
}

/// The PHC string of a password: argon2id with 19 MiB and two passes, as OWASP's password storage cheat sheet has it.
/// Takes some 50 ms.
///
/// # Errors
/// When there is no memory or no randomness for it.
pub fn hash(password: &str) -> Result<String> {
    let hash = Argon2::default().hash_password(password.as_bytes());
    hash.map(|hash| hash.to_string())
        .map_err(|error| Error::Io(std::io::Error::other(error.to_string())))
}

/// Whether this is the password of this hash. Without a hash the answer is no, after the same work.
pub fn verify(password: &str, hash: Option<&str>) -> bool {
    static NOBODYS: LazyLock<Option<String>> =
        LazyLock::new(|| self::hash(&crate::secret::Secret::new().to_string()).ok());
    let nobodys = &*NOBODYS;
    let stored = hash.or(nobodys.as_deref()).unwrap_or_default();
    let bytes = password.as_bytes();
    let is_right = PasswordHash::new(stored)
        .is_ok_and(|stored| Argon2::default().verify_password(bytes, &stored).is_ok());
    is_right && hash.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_verified_by_its_hash_alone() {
        let hash = hash("correct horse").unwrap();
        assert!(
            hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"),
            "{hash}"
        );
        assert!(verify("correct horse", Some(&hash)));
        assert!(!verify("correct hors", Some(&hash)));
        assert!(!verify("correct horse", None));
        assert!(!verify("correct horse", Some("not a hash")));
    }

    #[test]
    fn short_and_endless_passwords_are_refused() {
        assert!(check("123456789").is_err() && check("1234567890").is_ok());
        assert!(
            check(&"a".repeat(BYTES_MAX)).is_ok() && check(&"a".repeat(BYTES_MAX + 1)).is_err()
        );
    }
}
