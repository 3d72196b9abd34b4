//! Style, script and pictures, built into the program.

use crate::{Error, secret::hex, web::PageError};
use axum::{
    extract::Path,
    http::header,
    response::{IntoResponse, Response},
};
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

/// A file of the program.
pub struct Asset {
    /// Its name.
    pub name: &'static str,
    content_type: &'static str,
    bytes: &'static [u8],
}

macro_rules! assets {
    ($($name:literal: $content_type:literal,)*) => {
        &[$(Asset { name: $name, content_type: $content_type, bytes: include_bytes!(concat!("assets/", $name)) }),*]
    };
}

/// All of them.
pub const ASSETS: &[Asset] = assets! {
    "app.js": "text/javascript; charset=utf-8",
    "icon-192.png": "image/png",
    "icon-512.png": "image/png",
    "icon-maskable-512.png": "image/png",
    "logo.svg": "image/svg+xml",
    "style.css": "text/css; charset=utf-8",
    "worker.js": "text/javascript; charset=utf-8",
};

/// Part of every address, so that browsers keep a file as long as it doesn't change.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut hash = Sha256::new();
    for asset in ASSETS {
        hash.update(asset.bytes);
    }
    hex(&hash.finalize()[..8])
});

/// The address of a file.
pub fn address(name: &str) -> String {
    format!("/assets/{}/{name}", *VERSION)
}

/// Answers with a file.
pub async fn get(Path((version, name)): Path<(String, String)>) -> Result<Response, PageError> {
    let found = ASSETS
        .iter()
        .find(|asset| asset.name == name && version == *VERSION);
    let asset = found.ok_or(Error::NotFound("file"))?;
    Ok(kept(
        asset.content_type,
        asset.bytes,
        "public, max-age=31536000, immutable",
    ))
}

/// Answers with the icon that browsers look for by themselves.
pub async fn favicon() -> Result<Response, PageError> {
    at_root("logo.svg", "public, max-age=86400")
}

/// Answers with the worker; from here it works for all pages.
pub async fn worker() -> Result<Response, PageError> {
    at_root("worker.js", "no-cache")
}

fn at_root(name: &str, cache: &'static str) -> Result<Response, PageError> {
    let found = ASSETS.iter().find(|asset| asset.name == name);
    let asset = found.ok_or(Error::NotFound("file"))?;
    Ok(kept(asset.content_type, asset.bytes, cache))
}

/// Answers with what makes the site installable.
pub async fn manifest() -> Response {
    let icon = |name: &str, sizes: &str, purpose: &str| {
        let kind = if name.ends_with("svg") {
            "image/svg+xml"
        } else {
            "image/png"
        };
        serde_json::json!({"src": address(name), "sizes": sizes, "type": kind, "purpose": purpose})
    };
    let manifest = serde_json::json!({
        "name": "What to Watch",
        "short_name": "Watch",
        "description": "A watch list for friends",
        "id": "/",
        "start_url": "/",
        "scope": "/",
        "display": "standalone",
        "background_color": "#f7f4ee",
        "theme_color": "#8c1d2f",
        "icons": [
            icon("icon-192.png", "192x192", "any"),
            icon("icon-512.png", "512x512", "any"),
            icon("icon-maskable-512.png", "512x512", "maskable"),
            icon("logo.svg", "any", "any"),
        ],
        "shortcuts": [
            {"name": "Find a film", "url": "/films"},
            {"name": "Tonight", "url": "/tonight"},
        ],
    });
    kept(
        "application/manifest+json",
        manifest.to_string(),
        "public, max-age=3600",
    )
}

fn kept(content_type: &'static str, bytes: impl IntoResponse, cache: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, content_type),
        (header::CACHE_CONTROL, cache),
    ];
    (headers, bytes).into_response()
}
