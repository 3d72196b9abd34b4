//! The admins in the configuration.

use super::password::{PasswordHash, Scheme, is_hash, new_salt};
use super::policy::{ADMINS, scheme};
use crate::config::{Config, ConfigError, Lifetime};

/// Returns the text to store for a password, which may be a hash already. Takes as long as hashing.
pub fn hashed(config: &Config, password: &str) -> String {
    if is_hash(password) {
        return password.to_owned();
    }
    let scheme = scheme(&config.values()).unwrap_or(Scheme::DEFAULT);
    PasswordHash::salted(password, scheme, new_salt()).to_string()
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
