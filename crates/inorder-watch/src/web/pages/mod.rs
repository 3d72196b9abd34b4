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
pub use tonight::with;

use super::{App, PageError, assets, error_status, layout, with_wait};
use crate::Error;
use axum::{
    Router,
    extract::State,
    response::{IntoResponse, Redirect, Response},
    routing::{MethodRouter, get},
};
use maud::{Markup, html};
use serde::Deserialize;

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
        .route("/worker.js", get(assets::worker))
        .route("/offline", get(offline))
        .route(
            "/robots.txt",
            get(|| async { "User-agent: *\nDisallow: /\n" }),
        )
        .route("/health", get(health))
        .fallback(|| async { PageError(Error::NotFound("page")).into_response() })
}

/// What the worker shows without a connection.
async fn offline() -> Markup {
    let body = html! {
        section.narrow {
            h1 { "No connection" }
            p { "Your list is on the server, and the server can’t be reached just now." }
            p { a.button href="/" { "Try again" } }
        }
    };
    layout::Page::new("No connection").show(body)
}

/// Says that the server answers, and can read its file.
async fn health(State(app): State<App>) -> Answer<&'static str> {
    app.db().read(crate::db::films::newest)?;
    Ok("ok\n")
}

/// The route of a form on a page. Whoever loads its address anew, which stays in the browser when the form was refused, comes
/// to that page.
fn form_of(page: &'static str, method: MethodRouter<App>) -> MethodRouter<App> {
    method.get(move || async move { Redirect::to(page) })
}

/// What was done before a page is shown again, in its address.
#[derive(Deserialize, Default)]
struct Done {
    #[serde(default)]
    done: String,
}

/// The words for what was done, as a part of the page.
fn notice(words: Option<&str>) -> Option<Markup> {
    words.map(|words| html! { div.notice role="status" { p { (words) } } })
}

/// A form's page once more, with the words for what was wrong; or the error itself, where it isn't the form's.
fn again(error: Error, page: impl FnOnce(&str) -> Markup) -> Answer {
    match error {
        Error::Invalid(_) | Error::TooMany(_) => {
            let (status, words) = error_status(&error);
            Ok(with_wait(&error, (status, page(&words)).into_response()))
        }
        other => Err(PageError(other)),
    }
}
