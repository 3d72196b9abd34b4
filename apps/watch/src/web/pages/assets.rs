//! The files of the program, the manifest and the worker.

use crate::{
    Error,
    request::App,
    web::{
        PageError,
        assets::{ASSETS, VERSION, address},
    },
    words::{self, say},
};
use axum::{
    Router,
    extract::Path,
    http::header,
    response::{IntoResponse, Response},
    routing,
};

pub fn router() -> Router<App> {
    Router::new()
        .route("/assets/{version}/{name}", routing::get(get))
        .route("/favicon.ico", routing::get(favicon))
        .route("/manifest.webmanifest", routing::get(manifest))
        .route("/worker.js", routing::get(worker))
}

/// Answers with a file.
async fn get(Path((version, name)): Path<(String, String)>) -> Result<Response, PageError> {
    const FOR_EVER: &str = "public, max-age=31536000, immutable";
    if version != *VERSION {
        return Err(Error::NotFound("file").into());
    }
    if let Some(words) = words::catalogues().get(&name) {
        let kind = "text/javascript; charset=utf-8";
        return Ok(kept(kind, words.as_str(), FOR_EVER));
    }
    let found = ASSETS.iter().find(|asset| asset.name == name);
    let asset = found.ok_or(Error::NotFound("file"))?;
    Ok(kept(asset.content_type, asset.bytes, FOR_EVER))
}

/// Answers with the icon that browsers look for by themselves.
async fn favicon() -> Result<Response, PageError> {
    at_root("logo.svg", "public, max-age=86400")
}

/// Answers with the worker; from here it works for all pages.
async fn worker() -> Result<Response, PageError> {
    at_root("worker.js", "no-cache")
}

fn at_root(name: &str, cache: &'static str) -> Result<Response, PageError> {
    let found = ASSETS.iter().find(|asset| asset.name == name);
    let asset = found.ok_or(Error::NotFound("file"))?;
    Ok(kept(asset.content_type, asset.bytes, cache))
}

/// Answers with what makes the site installable.
async fn manifest() -> Response {
    let icon = |name: &str, sizes: &str, purpose: &str| {
        let kind = if name.ends_with("svg") {
            "image/svg+xml"
        } else {
            "image/png"
        };
        serde_json::json!({"src": address(name), "sizes": sizes, "type": kind, "purpose": purpose})
    };
    let manifest = serde_json::json!({
        "name": say::brand().plain(),
        "short_name": say::brand_short().plain(),
        "description": say::brand_description().plain(),
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
            {"name": say::find().plain(), "url": "/films"},
            {"name": say::tonight().plain(), "url": "/tonight"},
        ],
    });
    kept(
        "application/manifest+json",
        manifest.to_string(),
        "private, max-age=3600",
    )
}

fn kept(content_type: &'static str, bytes: impl IntoResponse, cache: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, content_type),
        (header::CACHE_CONTROL, cache),
    ];
    (headers, bytes).into_response()
}
