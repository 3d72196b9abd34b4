//! The HTTP clients of the process.

use super::ReplicateError;
use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

/// The clients, by timeout and by whether they verify certificates.
static CLIENTS: Mutex<Option<HashMap<(Duration, bool), reqwest::Client>>> = Mutex::new(None);

/// The clients that are kept.
const CLIENTS_MAX: usize = 16;

/// Returns a client, which is shared: it keeps connections and certificates in memory.
///
/// # Errors
/// If the system has no certificates.
pub fn shared(timeout: Duration, is_secure: bool) -> Result<reqwest::Client, ReplicateError> {
    let mut clients = CLIENTS.lock().expect("no panic while held");
    let clients = clients.get_or_insert_default();
    if let Some(client) = clients.get(&(timeout, is_secure)) {
        return Ok(client.clone());
    }
    let client = create(timeout, is_secure).map_err(|error| ReplicateError::Unreachable {
        url: "the network".to_owned(),
        reason: error.to_string(),
    })?;
    if clients.len() >= CLIENTS_MAX {
        clients.clear();
    }
    clients.insert((timeout, is_secure), client.clone());
    Ok(client)
}

fn create(timeout: Duration, is_secure: bool) -> reqwest::Result<reqwest::Client> {
    // Another part of the process may have installed a provider, which is used then.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .user_agent(concat!("inorder-couch/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(timeout)
        .read_timeout(timeout)
        .danger_accept_invalid_certs(!is_secure)
        // A redirection could send credentials elsewhere.
        .redirect(reqwest::redirect::Policy::none())
        .build()
}
