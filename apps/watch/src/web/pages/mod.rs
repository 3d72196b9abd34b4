//! The pages, a file each.

mod account;
mod add_form;
mod api;
mod assets;
mod common;
mod conflicts;
mod feed;
mod film;
mod films;
mod friends;
pub mod import;
mod import_columns;
mod import_preview;
mod list;
mod mail;
mod mail_form;
mod names;
mod new_film;
mod passkey_forms;
mod passkeys;
mod person;
mod posters;
mod reset;
pub mod restore;
mod setup;
mod sign_in;
mod sign_up;
mod state_form;
mod sync;
mod tonight;
mod users;

use super::{PageError, assets::address, layout};
use crate::{Error, request::App, words::say};
use axum::{Router, extract::State, response::IntoResponse, routing::get};
use common::Answer;
use maud::{Markup, html};

/// All pages except for the one that accepts large requests.
pub fn router() -> Router<App> {
    Router::new()
        .merge(account::router())
        .merge(api::router())
        .merge(assets::router())
        .merge(feed::router())
        .merge(film::router())
        .merge(films::router())
        .merge(friends::router())
        .merge(list::router())
        .merge(mail::router())
        .merge(names::router())
        .merge(new_film::router())
        .merge(passkeys::router())
        .merge(person::router())
        .merge(posters::router())
        .merge(reset::router())
        .merge(setup::router())
        .merge(sign_in::router())
        .merge(sign_up::router())
        .merge(sync::router())
        .merge(tonight::router())
        .merge(users::router())
        .route("/offline", get(offline))
        .route(
            "/robots.txt",
            get(|| async { "User-agent: *\nDisallow: /\n" }),
        )
        .route("/health", get(health))
        .fallback(|| async { PageError(Error::NotFound("page")).into_response() })
}

/// The offline page of the service worker.
async fn offline() -> Markup {
    let body = html! {
        section.narrow id="offline" {
            h1 { (say::offline()) }
            p { (say::offline_hint()) }
            p { a.button href="/" { (say::offline_again()) } }
        }
        script src=(address("offline.js")) defer {}
    };
    layout::Page::new(say::offline()).show(body)
}

/// The health check: the server answers and can read its file.
async fn health(State(app): State<App>) -> Answer<&'static str> {
    app.db().read(crate::db::films::newest)?;
    Ok("ok\n")
}
