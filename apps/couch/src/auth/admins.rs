//! The admins in the configuration.

use super::password::{PasswordHash, Scheme, is_hash, new_salt};
use super::policy::{ADMINS, scheme};
use crate::config::{Config, ConfigError, Lifetime, Values};

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

/// Refuses changes of the configuration after which no admin can log in: for a server that other machines reach.
pub fn keep_an_admin(config: &Config) {
    config.guard(|values| match has_login(values) {
        true => Ok(()),
        false => Err(LAST_ADMIN.to_owned()),
    });
}

const LAST_ADMIN: &str = "This is the last admin, and other machines reach this server. Add another admin first, or start the server with --listen at a loopback address such as 127.0.0.1:5984.";

/// Whether an admin can log in. A password in plain text will be hashed.
fn has_login(values: &Values) -> bool {
    let mut admins = values.section(ADMINS);
    admins.any(|(_, text)| !is_hash(text) || text.parse::<PasswordHash>().is_ok())
}
