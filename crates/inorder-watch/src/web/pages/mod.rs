//! The pages, a file each.

mod account;
mod film;
mod films;
mod friends;
pub mod import;
mod list;
mod new_film;
mod person;
mod reset;
mod setup;
mod sign_in;
mod sign_up;
mod tonight;

pub use list::View;

use super::{App, PageError, assets};
use crate::Error;
use axum::{
    Router,
    response::{IntoResponse, Response},
    routing::get,
};

/// What a page's handler gives.
type Answer<T = Response> = Result<T, PageError>;

/// All pages, but for the one that takes long requests.
pub fn router() -> Router<App> {
    Router::new()
        .merge(account::router())
        .merge(film::router())
        .merge(films::router())
        .merge(friends::router())
        .merge(list::router())
        .merge(new_film::router())
        .merge(person::router())
        .merge(reset::router())
        .merge(setup::router())
        .merge(sign_in::router())
        .merge(sign_up::router())
        .merge(tonight::router())
        .route("/assets/{version}/{name}", get(assets::get))
        .route("/favicon.ico", get(assets::favicon))
        .route("/manifest.webmanifest", get(assets::manifest))
        .route(
            "/robots.txt",
            get(|| async { "User-agent: *\nDisallow: /\n" }),
        )
        .route("/health", get(health))
        .fallback(|| async { PageError(Error::NotFound("page")).into_response() })
}

/// Says that the server answers, and can read its file.
async fn health(axum::extract::State(app): axum::extract::State<App>) -> Answer<&'static str> {
    app.db().read(crate::db::films::newest).await?;
    Ok("ok\n")
}

/// What comes after a form that gave an error which its page can show: the words, or the error itself.
fn problem(error: Error) -> Result<String, PageError> {
    match error {
        Error::Invalid(_) | Error::TooMany(_) => Ok(error.to_string()),
        other => Err(PageError(other)),
    }
}
