//! `serve --livesync`: prepares a server for Obsidian's plugin Self-hosted LiveSync.

use super::setup_uri::setup_uri;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use clap::Args;
use inorder_couch::auth::{ADMINS, hashed, random};
use inorder_couch::config::{Config, Lifetime};
use inorder_couch::store::{Databases, Error};
use serde_json::json;

/// The account that devices use.
const USER: &str = "livesync";

/// The database of the vault.
const DATABASE: &str = "obsidian";

/// The name of the connection in the plugin's settings.
const CONNECTION: &str = "remote-inorder-couch";

/// The values that the plugin sets or checks. The origins are those of Obsidian on desktops and phones.
const VALUES: &[(&str, &str, &str)] = &[
    ("chttpd", "enable_cors", "true"),
    ("chttpd", "require_valid_user", "true"),
    ("chttpd_auth", "require_valid_user", "true"),
    ("cors", "credentials", "true"),
    (
        "cors",
        "origins",
        "app://obsidian.md,capacitor://localhost,http://localhost",
    ),
    ("httpd", "WWW-Authenticate", "Basic realm=\"couchdb\""),
    ("httpd", "enable_cors", "true"),
];

/// The options for LiveSync.
#[derive(Debug, Args)]
pub struct LiveSync {
    /// Prepares the server for Obsidian's plugin Self-hosted LiveSync: an account with a new password, the database
    /// `obsidian`, and the configuration. The first start prints the setup URI and its passphrase.
    #[arg(long)]
    livesync: bool,
    /// The URL at which devices reach the server, for the setup URI. Without it, the URL is the address of this server.
    #[arg(long, value_name = "URL", requires = "livesync")]
    livesync_url: Option<String>,
}

impl LiveSync {
    /// Makes the account, the database and the configuration, as far as they are missing. Returns what to print: the setup
    /// URI and its passphrase, if the account is new. `url` is where the server listens.
    ///
    /// # Errors
    /// If they can't be written.
    pub fn prepare(
        &self,
        config: &Config,
        databases: &Databases,
        url: &str,
    ) -> anyhow::Result<Option<String>> {
        if !self.livesync {
            return Ok(None);
        }
        for name in ["_users", "_replicator", DATABASE] {
            match databases.create(name) {
                Ok(_) | Err(Error::DatabaseExists) => {}
                Err(error) => return Err(error.into()),
            }
        }
        if config.get(ADMINS, USER).is_some() {
            return Ok(None);
        }
        // Only once: an admin may have changed them since.
        for (section, key, value) in VALUES {
            config.set(section, key, value, Lifetime::Kept)?;
        }
        let url = self.livesync_url.as_deref().unwrap_or(url);
        set_password(config, url, &secret()).map(Some)
    }
}

/// Sets a new password of the account. Returns what to print: a setup URI for the vault with this passphrase.
///
/// # Errors
/// If there is no account, or it can't be written.
pub fn renew(config: &Config, url: &str, vault_passphrase: &str) -> anyhow::Result<String> {
    anyhow::ensure!(
        config.get(ADMINS, USER).is_some(),
        "the folder has no account `{USER}`: it is made by `serve --livesync`"
    );
    set_password(config, url, vault_passphrase)
}

fn set_password(config: &Config, url: &str, vault_passphrase: &str) -> anyhow::Result<String> {
    let password = secret();
    let text = announcement(url.trim_end_matches('/'), &password, vault_passphrase)?;
    config.set(ADMINS, USER, &hashed(config, &password), Lifetime::Kept)?;
    Ok(text)
}

/// The setup URI and its passphrase, with explanations.
fn announcement(url: &str, password: &str, vault_passphrase: &str) -> anyhow::Result<String> {
    let passphrase = secret();
    // Settings that differ from the plugin's defaults: the connection, encryption, and what it prefers for CouchDB.
    let mut settings = json!({
        "couchDB_URI": url,
        "couchDB_USER": USER,
        "couchDB_PASSWORD": password,
        "couchDB_DBNAME": DATABASE,
        "isConfigured": true,
        "encrypt": true,
        "passphrase": vault_passphrase,
        "usePathObfuscation": true,
        "E2EEAlgorithm": "v2",
        "batchSave": true,
        "periodicReplication": true,
        "syncOnStart": true,
        "syncOnFileOpen": true,
        "syncAfterMerge": true,
        "syncMaxSizeInMB": 50,
        "chunkSplitterVersion": "v3-rabin-karp",
        "usePluginSyncV2": true,
        "handleFilenameCaseSensitive": false,
        "customChunkSize": 60,
        "sendChunksBulkMaxSize": 1,
        "concurrencyOfReadChunksOnline": 30,
        "minimumIntervalOfReadChunksOnline": 25,
    });
    if let Some((scheme, rest)) = url.split_once("://") {
        // The same connection in the plugin's list of servers, which goes before the members above.
        settings["remoteConfigurations"] = json!({ CONNECTION: {
            "id": CONNECTION,
            "name": "inorder-couch",
            "uri": format!("sls+{scheme}://{USER}:{password}@{rest}{}?db={DATABASE}", if rest.contains('/') { "" } else { "/" }),
            "isEncrypted": false,
        }});
        settings["activeConfigurationId"] = CONNECTION.into();
    }
    let uri = setup_uri(&settings, &passphrase)?;
    Ok(format!(
        "setup URI: {uri}\npassphrase of the setup URI: {passphrase}\nKeep both: they are not shown again. The setup URI has the key of the vault's encryption."
    ))
}

/// 24 random bytes as text.
fn secret() -> String {
    URL_SAFE_NO_PAD.encode(random::<24>())
}
