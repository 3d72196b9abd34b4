//! Passwords: argon2id, and the same time whether or not there is a user.

use crate::{Error, Result, words::say};
use argon2::{
    Algorithm, Argon2, Block, Params, Version,
    password_hash::phc::{Output, ParamsString, PasswordHash, Salt},
};
use std::{
    io,
    sync::{LazyLock, Mutex, PoisonError},
};

/// The memory that hashing takes, 19 MiB each, to be used again: an allocator keeps what threads have freed. There are as
/// many as passwords were ever hashed at once.
static MEMORY: Mutex<Vec<Vec<Block>>> = Mutex::new(Vec::new());

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
        return Err(Error::Invalid(say::password_short(CHARACTERS_MIN)));
    }
    if password.len() > BYTES_MAX {
        return Err(Error::Invalid(say::password_long(BYTES_MAX)));
    }
    Ok(())
}

/// The PHC string of a password: argon2id with 19 MiB and two passes, as OWASP's password storage cheat sheet has it.
/// Takes some 50 ms.
///
/// # Errors
/// If there is no memory or no randomness for it.
pub fn hash(password: &str) -> Result<String> {
    let argon2 = Argon2::default();
    let salt = Salt::generate();
    let hash = PasswordHash {
        algorithm: Algorithm::default().ident(),
        version: Some(Version::default().into()),
        params: ParamsString::try_from(argon2.params()).map_err(failed)?,
        hash: Some(derive(
            &argon2,
            password,
            &salt,
            Params::DEFAULT_OUTPUT_LEN,
        )?),
        salt: Some(salt),
    };
    Ok(hash.to_string())
}

fn failed(error: impl ToString) -> Error {
    Error::Io(io::Error::other(error.to_string()))
}

/// The bytes of a password and a salt. The memory is zeroed for the next.
fn derive(argon2: &Argon2<'_>, password: &str, salt: &[u8], bytes: usize) -> Result<Output> {
    let idle = || MEMORY.lock().unwrap_or_else(PoisonError::into_inner);
    let mut memory = idle().pop().unwrap_or_default();
    memory.resize(argon2.params().block_count(), Block::new());
    let mut out = [0; Output::MAX_LENGTH];
    let out = out
        .get_mut(..bytes)
        .ok_or_else(|| failed("too long a hash"))?;
    let done = argon2.hash_password_into_with_memory(password.as_bytes(), salt, out, &mut memory);
    memory.fill(Block::new());
    idle().push(memory);
    done.map_err(failed)?;
    Output::new(out).map_err(failed)
}

/// Whether this is the password of this hash. Without a hash the answer is no, after the same work.
pub fn verify(password: &str, hash: Option<&str>) -> bool {
    static NOBODYS: LazyLock<Option<String>> =
        LazyLock::new(|| self::hash(&crate::secret::Secret::new().to_string()).ok());
    let nobodys = &*NOBODYS;
    let stored = hash.or(nobodys.as_deref()).unwrap_or_default();
    let is_right =
        PasswordHash::new(stored).is_ok_and(|stored| is_of(password, &stored) == Some(true));
    is_right && hash.is_some()
}

/// Whether the password has this hash; nothing if that is none of argon2's.
fn is_of(password: &str, stored: &PasswordHash) -> Option<bool> {
    let algorithm = Algorithm::try_from(stored.algorithm.as_str()).ok()?;
    let version = Version::try_from(stored.version?).ok()?;
    let argon2 = Argon2::new(algorithm, version, Params::try_from(stored).ok()?);
    let (salt, output) = (stored.salt.as_ref()?, stored.hash.as_ref()?);
    let derived = derive(&argon2, password, salt, output.len()).ok()?;
    // Compares in a time that tells nothing.
    Some(derived == *output)
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
    fn what_the_library_has_hashed_is_verified_and_the_other_way_round() {
        use argon2::password_hash::{PasswordHasher, PasswordVerifier};
        let theirs = Argon2::default()
            .hash_password(b"correct horse")
            .unwrap()
            .to_string();
        assert!(verify("correct horse", Some(&theirs)) && !verify("wrong horse", Some(&theirs)));
        let ours = hash("correct horse").unwrap();
        let ours = PasswordHash::new(&ours).unwrap();
        assert!(
            Argon2::default()
                .verify_password(b"correct horse", &ours)
                .is_ok()
        );
        let idle = MEMORY.lock().unwrap_or_else(PoisonError::into_inner);
        let is_zero = |block: &Block| block.as_ref().iter().all(|word| *word == 0);
        assert!(
            idle.iter().flatten().all(is_zero),
            "a password's traces are left"
        );
    }

    #[test]
    fn short_and_endless_passwords_are_refused() {
        assert!(check("123456789").is_err() && check("1234567890").is_ok());
        assert!(
            check(&"a".repeat(BYTES_MAX)).is_ok() && check(&"a".repeat(BYTES_MAX + 1)).is_err()
        );
    }
}
