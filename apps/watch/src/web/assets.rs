//! Style, script and pictures, built into the program.

use crate::{secret::hex, words};
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

/// A file of the program.
pub struct Asset {
    /// Its name.
    pub name: &'static str,
    pub(super) content_type: &'static str,
    pub(super) bytes: &'static [u8],
}

macro_rules! assets {
    ($($name:literal: $content_type:literal,)*) => {
        &[$(Asset { name: $name, content_type: $content_type, bytes: include_bytes!(concat!("assets/", $name)) }),*]
    };
}

/// All of them.
pub const ASSETS: &[Asset] = assets! {
    "app.js": "text/javascript; charset=utf-8",
    "device.js": "text/javascript; charset=utf-8",
    "icon-192.png": "image/png",
    "icon-512.png": "image/png",
    "icon-maskable-512.png": "image/png",
    "logo.svg": "image/svg+xml",
    "offline.js": "text/javascript; charset=utf-8",
    "passkeys.js": "text/javascript; charset=utf-8",
    "style.css": "text/css; charset=utf-8",
    "worker.js": "text/javascript; charset=utf-8",
};

/// Part of every address, so that browsers keep a file as long as it doesn't change.
pub static VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut hash = Sha256::new();
    for asset in ASSETS {
        hash.update(asset.bytes);
    }
    for language in words::catalogues().values() {
        hash.update(language);
    }
    hex(&hash.finalize()[..8])
});

/// The address of a file.
pub fn address(name: &str) -> String {
    format!("/assets/{}/{name}", *VERSION)
}
