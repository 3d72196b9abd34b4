//! Inputs by URL: `http`, `https` and `s3`.
//!
//! A thread writes what the server sends into a temporary file, and readers follow it. So an input can be read again, and
//! formats that are not read from front to back can be read at all.

#[cfg(feature = "url")]
mod client;
mod download;
#[cfg(not(feature = "url"))]
mod no_client;
#[cfg(feature = "url")]
mod s3;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[cfg(feature = "url")]
use client::fetch;
#[cfg(not(feature = "url"))]
use no_client::fetch;

pub(super) use download::{Download, Follower};

/// The schemes that are read.
const SCHEMES: &[&str] = &["http://", "https://", "s3://"];

/// Whether a path is the URL of an input.
pub(crate) fn is_url(path: &Path) -> bool {
    let path = path.to_string_lossy();
    SCHEMES.iter().any(|scheme| path.starts_with(scheme))
}

/// A URL without a password and without parameters, which may contain a signature.
pub(super) fn public(url: &Path) -> PathBuf {
    let url = url.to_string_lossy();
    let end = url.find(['?', '#']).unwrap_or(url.len());
    let (scheme, rest) = url[..end].split_once("://").unwrap_or(("", &url[..end]));
    let authority = rest.split('/').next().unwrap_or_default();
    let rest = match authority.rfind('@') {
        Some(at) => &rest[at + 1..],
        None => rest,
    };
    PathBuf::from(format!("{scheme}://{rest}"))
}

/// What was downloaded for a load, kept as long as a clone of this lives.
#[derive(Clone, Debug, Default)]
pub struct Downloads {
    folder: Option<PathBuf>,
    by_url: Arc<Mutex<ByUrl>>,
}

/// Downloads by URL. Dropping it removes their files.
#[derive(Debug, Default)]
struct ByUrl(BTreeMap<PathBuf, Arc<Download>>);

impl ByUrl {
    /// Removes the files, also those that a thread still writes: a program that ends does not wait for its threads.
    fn remove(&self) {
        for download in self.0.values() {
            let _ = std::fs::remove_file(download.path());
        }
    }
}

impl Drop for ByUrl {
    fn drop(&mut self) {
        self.remove();
    }
}

impl Downloads {
    /// Downloads into temporary files in this folder.
    #[must_use]
    pub fn in_folder(folder: PathBuf) -> Self {
        Downloads {
            folder: Some(folder),
            ..Downloads::default()
        }
    }

    /// The download of a URL, which begins if there is none yet.
    ///
    /// # Errors
    /// If the server can't be reached, or answers anything but the file.
    pub(super) fn open(&self, url: &Path) -> io::Result<Arc<Download>> {
        let mut by_url = self.by_url();
        if let Some(known) = by_url.0.get(url) {
            return Ok(Arc::clone(known));
        }
        let folder = self.folder.clone().unwrap_or_else(std::env::temp_dir);
        let begun = fetch(&url.to_string_lossy(), &folder)?;
        by_url.0.insert(url.to_owned(), Arc::clone(&begun));
        Ok(begun)
    }

    /// Removes the files before the process exits without dropping this. What is open can still be read.
    pub fn remove(&self) {
        self.by_url().remove();
    }

    fn by_url(&self) -> MutexGuard<'_, ByUrl> {
        self.by_url.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The length of a URL's file in bytes, if it is opened and the server said so.
    pub(crate) fn bytes_of(&self, url: &Path) -> Option<u64> {
        self.by_url().0.get(url)?.bytes_total()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_a_url_are_not_shown() {
        for (url, shown) in [
            ("https://me:pw@host/a/b.csv?sig=1#x", "https://host/a/b.csv"),
            ("http://host/@a.csv", "http://host/@a.csv"),
            ("s3://bucket/key", "s3://bucket/key"),
        ] {
            assert!(is_url(Path::new(url)), "{url}");
            assert_eq!(public(Path::new(url)), Path::new(shown));
        }
        assert!(!is_url(Path::new("http/a.csv")));
    }
}
