//! The admins in the configuration.

use super::password::{PasswordHash, is_hash};
use crate::config::{Config, ConfigError, Lifetime, keys};

/// The section with the admins' names and password hashes.
pub const ADMINS: &str = "admins";

/// Returns the text to store for a password, which may be a hash already. Takes as long as hashing.
pub fn hashed(config: &Config, password: &str) -> String {
    if is_hash(password) {
        return password.to_owned();
    }
    let iterations = config.values().read(&keys::ITERATIONS);
    let iterations = u32::try_from(iterations).unwrap_or(u32::MAX).max(1);
    PasswordHash::new(password, iterations).to_string()
}

/// Hashes the passwords that the file has in plain text, as CouchDB does.
///
/// # Errors
/// If the file can't be written.
pub fn hash_admins(config: &Config) -> Result<(), ConfigError> {
    for (name, password) in config.values().section(ADMINS) {
        if !is_hash(password) {
            let hash = hashed(config, password);
            config.set(ADMINS, name, &hash, Lifetime::Kept)?;
        }
    }
    Ok(())
}
