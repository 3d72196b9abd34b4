//! The configuration of a data folder, with what a server makes at its first start: its own id and the secret of sessions.

use anyhow::Context;
use inorder_couch::auth::{hash_admins, hex, random};
use inorder_couch::config::{Config, Lifetime, keys};
use serde::Deserialize;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// The file of the configuration.
pub const FILE: &str = "local.ini";

/// The file that had the id, the secret and the admin before there was a configuration.
const FORMER_FILE: &str = "admin.json";

#[derive(Deserialize)]
struct Former {
    uuid: String,
    secret: String,
    admin: Option<(String, String)>,
}

/// Opens the configuration of a data folder.
///
/// # Errors
/// If a file can't be read or written, or is damaged.
pub fn open(folder: &Path) -> anyhow::Result<Config> {
    let config = Config::open(&folder.join(FILE))?;
    take_former(folder, &config)?;
    let keep = |section, key, bytes: &[u8]| match config.get(section, key) {
        Some(_) => Ok(None),
        None => config.set(section, key, &hex(bytes), Lifetime::Kept),
    };
    keep(keys::UUID.section, keys::UUID.name, &random::<16>())?;
    keep(keys::SECRET.section, keys::SECRET.name, &random::<32>())?;
    hash_admins(&config)?;
    Ok(config)
}

/// Moves the content of the former file into the configuration.
fn take_former(folder: &Path, config: &Config) -> anyhow::Result<()> {
    let path = folder.join(FORMER_FILE);
    let text = match fs::read(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        text => text.with_context(|| format!("cannot read {}", path.display()))?,
    };
    let damaged = || format!("{} is damaged", path.display());
    let former: Former = serde_json::from_slice(&text).with_context(damaged)?;
    let uuid = (keys::UUID.section, keys::UUID.name, former.uuid);
    let secret = (keys::SECRET.section, keys::SECRET.name, former.secret);
    let mut values = vec![uuid, secret];
    if let Some((name, hash)) = &former.admin {
        hash.parse::<inorder_couch::auth::password::PasswordHash>()
            .with_context(damaged)?;
        values.push(("admins", name, hash.clone()));
    }
    for (section, key, value) in values {
        if config.get(section, key).is_none() {
            config.set(section, key, &value, Lifetime::Kept)?;
        }
    }
    fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn an_id_and_a_secret_stay_and_are_their_owners_alone() {
        let folder = tempfile::tempdir().unwrap();
        let of = |config: &Config| {
            (
                config.get("couchdb", "uuid"),
                config.get("chttpd_auth", "secret"),
            )
        };
        let first = of(&open(folder.path()).unwrap());
        assert_eq!(first.0.as_ref().map(String::len), Some(32));
        assert_eq!(first.1.as_ref().map(String::len), Some(64));
        assert_eq!(of(&open(folder.path()).unwrap()), first);
        let mode = fs::metadata(folder.path().join(FILE)).unwrap();
        assert_eq!(mode.permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn the_former_file_is_taken_over_once() {
        let folder = tempfile::tempdir().unwrap();
        let hash = "-pbkdf2:sha256-55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc,salt,1";
        let former = format!(r#"{{"uuid":"a","secret":"b","admin":["anna","{hash}"]}}"#);
        fs::write(folder.path().join(FORMER_FILE), former).unwrap();
        let config = open(folder.path()).unwrap();
        assert_eq!(config.get("couchdb", "uuid").as_deref(), Some("a"));
        assert_eq!(config.get("chttpd_auth", "secret").as_deref(), Some("b"));
        assert_eq!(config.get("admins", "anna").as_deref(), Some(hash));
        assert!(!folder.path().join(FORMER_FILE).exists());
    }

    #[test]
    fn a_damaged_former_file_is_named_not_removed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(FORMER_FILE);
        for damaged in [
            "{",
            r#"{"uuid":"a","secret":"b","admin":["anna","secret"]}"#,
        ] {
            fs::write(&file, damaged).unwrap();
            let error = open(folder.path()).unwrap_err();
            assert!(error.to_string().contains("admin.json is damaged"));
            assert_eq!(fs::read_to_string(&file).unwrap(), damaged);
        }
    }

    #[test]
    fn a_plain_password_in_the_file_is_hashed_at_the_start() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(FILE);
        fs::write(
            &file,
            "[chttpd_auth]\niterations = 2\n[admins]\nanna = s3cret\n",
        )
        .unwrap();
        let config = open(folder.path()).unwrap();
        let hash = config.get("admins", "anna").unwrap();
        let hash: inorder_couch::auth::password::PasswordHash = hash.parse().unwrap();
        assert!(hash.verify("s3cret"));
        assert!(!fs::read_to_string(&file).unwrap().contains("s3cret"));
    }
}
