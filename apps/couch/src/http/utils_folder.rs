//! `/_utils/` from a folder, such as a build of Fauxton.

use super::blocking::blocking;
use super::{HttpError, Server, client};
use crate::status_page::{NOTHING, file};
use axum::Router;
use axum::extract::{Path, State};
use axum::http::{Extensions, HeaderMap, HeaderValue};
use axum::response::Response;
use axum::routing::get;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

/// The page of a folder.
pub const INDEX: &str = "index.html";

/// The types of files by the endings of their names.
const TYPES: &[(&str, &str)] = &[
    ("css", "text/css; charset=utf-8"),
    ("eot", "application/vnd.ms-fontobject"),
    ("gif", "image/gif"),
    ("html", "text/html; charset=utf-8"),
    ("ico", "image/x-icon"),
    ("jpg", "image/jpeg"),
    ("js", "text/javascript; charset=utf-8"),
    ("json", "application/json"),
    ("map", "application/json"),
    ("mjs", "text/javascript; charset=utf-8"),
    ("png", "image/png"),
    ("svg", "image/svg+xml"),
    ("ttf", "font/ttf"),
    ("txt", "text/plain; charset=utf-8"),
    ("wasm", "application/wasm"),
    ("woff", "font/woff"),
    ("woff2", "font/woff2"),
];

/// The files of a folder.
pub fn routes(folder: PathBuf) -> Router<Arc<Server>> {
    let index = folder.clone();
    let page = |State(server): State<Arc<Server>>, headers: HeaderMap, extensions: Extensions| async move {
        answer(&server, &headers, &extensions, &index, INDEX).await
    };
    let named = |State(server): State<Arc<Server>>,
                 Path(name): Path<String>,
                 headers: HeaderMap,
                 extensions: Extensions| async move {
        answer(&server, &headers, &extensions, &folder, &name).await
    };
    Router::new()
        .route("/_utils/", get(page))
        .route("/_utils/{*name}", get(named))
}

async fn answer(
    server: &Server,
    headers: &HeaderMap,
    extensions: &Extensions,
    folder: &FilePath,
    name: &str,
) -> Result<Response, HttpError> {
    let missing = || HttpError::NotFound("missing".to_owned());
    let path = within(folder, name).ok_or_else(missing)?;
    let folder = folder.to_owned();
    let read = move || {
        // A link may lead out of the folder.
        let (real, root) = (path.canonicalize().ok()?, folder.canonicalize().ok()?);
        real.starts_with(root).then(|| std::fs::read(real).ok())?
    };
    let bytes = blocking(read).await?.ok_or_else(missing)?;
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let known = TYPES
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(ending));
    let content_type = known.map_or("application/octet-stream", |(_, name)| name);
    let policy = match content_type.starts_with("text/html") {
        true => policy(&server.origin(headers, client::is_tls(extensions))),
        false => NOTHING,
    };
    Ok(file(content_type, policy, bytes))
}

/// The path of a file in the folder. Names that lead out of it, and hidden files, have none.
fn within(folder: &FilePath, name: &str) -> Option<PathBuf> {
    let is_plain = |step: &str| {
        !step.is_empty() && !step.starts_with('.') && !step.contains(['\\', '\0', ':'])
    };
    let is_inside = name.split('/').all(is_plain);
    is_inside.then(|| folder.join(name))
}

/// The policy of the pages: scripts, styles, images and fonts come from `/_utils/` and from nowhere else. Attachments have the same
/// origin, and anybody who may write a document may write a script into it.
///
/// Fauxton compiles templates (`unsafe-eval`) and sets styles (`unsafe-inline`); CouchDB's policy for it allows both.
fn policy(origin: &str) -> HeaderValue {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ".:/-_[]".contains(c);
    // A source list has no room for other characters.
    let from = match origin.chars().all(is_plain) {
        true => format!("{origin}/_utils/"),
        false => "'none'".to_owned(),
    };
    let policy = format!(
        "default-src 'none'; script-src {from} 'unsafe-eval'; style-src {from} 'unsafe-inline'; img-src {from} data:; font-src {from} data:; worker-src {from} blob:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    );
    HeaderValue::try_from(policy).unwrap_or(NOTHING)
}

/// Returns whether a folder has a page.
pub fn has_page(folder: &FilePath) -> bool {
    folder.join(INDEX).is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_within_the_folder() {
        let folder = FilePath::new("/f");
        for (name, is_there) in [
            ("index.html", true),
            ("a/b/c.js", true),
            ("..", false),
            ("a/../../x", false),
            ("a//x", false),
            ("/etc/passwd", false),
            ("a/./x", false),
            (".git/config", false),
            ("a\\..\\x", false),
            ("C:x", false),
            ("", false),
        ] {
            assert_eq!(within(folder, name).is_some(), is_there, "{name}");
        }
    }

    #[test]
    fn scripts_come_from_the_folder_only() {
        let text = |origin: &str| policy(origin).to_str().unwrap().to_owned();
        let own = text("https://couch.example.com:6984");
        assert!(
            own.contains("script-src https://couch.example.com:6984/_utils/ 'unsafe-eval';"),
            "{own}"
        );
        assert!(!own.contains("script-src 'self'"), "{own}");
        for wrong in ["http://a; script-src *", "http://a *", "http://a,b"] {
            assert!(text(wrong).contains("script-src 'none'"), "{wrong}");
        }
    }
}
