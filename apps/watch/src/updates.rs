//! Looks for a newer version of this program, if the owner names a place.

use crate::outgoing::{self, Unread};
use reqwest::redirect::Policy;
use serde::Deserialize;
use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};
use tokio::time;
use tokio_util::sync::CancellationToken;

/// The version of this program.
const OWN: &str = env!("CARGO_PKG_VERSION");

/// The time between two looks.
const PAUSE: Duration = Duration::from_secs(24 * 60 * 60);

/// The newer version that was found, if there is one.
#[derive(Default)]
pub struct Newer(Mutex<Option<String>>);

impl Newer {
    /// The newer version.
    pub fn version(&self) -> Option<String> {
        let version = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        version.clone()
    }

    fn set(&self, version: Option<String>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = version;
    }
}

/// The newest release, as the APIs of GitHub, Gitea and Forgejo describe it.
#[derive(Deserialize)]
struct Release {
    tag_name: String,
}

/// Looks for a newer version once a day, until the server stops. `url` is that of the newest release.
pub async fn watch(url: String, newer: &Newer, stop: CancellationToken) {
    let work = async {
        loop {
            match newest(&url).await {
                Ok(version) => newer.set(Some(version).filter(|version| is_newer(version, OWN))),
                Err(error) => tracing::warn!("looking for a newer version at {url}: {error}"),
            }
            time::sleep(PAUSE).await;
        }
    };
    tokio::select! {
        () = stop.cancelled() => {}
        () = work => {}
    }
}

/// Asks for the newest version.
///
/// # Errors
/// A text that says what went wrong.
pub async fn newest(url: &str) -> Result<String, String> {
    let told = |error: reqwest::Error| error.without_url().to_string();
    let client = outgoing::client(Policy::limited(3)).map_err(told)?;
    let response = client.get(url).send().await.map_err(told)?;
    if !response.status().is_success() {
        return Err(format!("it answered {}", response.status()));
    }
    let body = outgoing::body(response)
        .await
        .map_err(|unread| match unread {
            Unread::Failed(error) => told(error),
            Unread::Large(what) => what,
        })?;
    let release: Release = serde_json::from_slice(&body).map_err(|error| error.to_string())?;
    match parts(&release.tag_name) {
        Some([major, minor, patch]) => Ok(format!("{major}.{minor}.{patch}")),
        None => Err(format!("{:?} is no version", release.tag_name)),
    }
}

/// The numbers of a version such as `v1.2.3`. One with a suffix is not released yet.
fn parts(version: &str) -> Option<[u32; 3]> {
    let numbers = version.strip_prefix('v').unwrap_or(version).split('.');
    let numbers: Option<Vec<u32>> = numbers.map(|number| number.parse().ok()).collect();
    numbers?.try_into().ok()
}

fn is_newer(version: &str, than: &str) -> bool {
    parts(version) > parts(than)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        assert!(is_newer("0.10.0", "0.9.9") && is_newer("v1.0.0", "0.9.9"));
        assert!(!is_newer("0.9.9", "0.9.9") && !is_newer("0.1.0", "0.2.0"));
        assert_eq!(parts("v1.2.3-rc.1"), None);
        assert_eq!(parts("latest"), None);
    }
}
