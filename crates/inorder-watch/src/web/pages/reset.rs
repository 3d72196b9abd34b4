//! Choosing another password, with a link from the command line.

use super::Answer;
use crate::{
    Error,
    db::links,
    secret::Secret,
    web::{App, Caller, form::Posted, layout, parts, visitor::Guest},
};
use axum::{
    Router,
    extract::{Path, State as Shared},
    http::{StatusCode, header},
    response::{IntoResponse, Redirect},
    routing::get,
};
use maud::{Markup, html};
use serde::Deserialize;

pub fn router() -> Router<App> {
    Router::new().route("/reset/{secret}", get(show).post(reset))
}

#[derive(Deserialize)]
struct NewPassword {
    password: String,
}

fn over(_: Error) -> Error {
    Error::invalid("This link is used up or too old: ask for another.")
}

async fn show(Shared(app): Shared<App>, guest: Guest, Path(link): Path<String>) -> Answer {
    let secret: Secret = link.parse().map_err(over)?;
    app.db()
        .read(move |db| links::reset_user(db, secret))
        .await
        .map_err(over)?;
    Ok(guest.show(page(&guest, &link, None)))
}

fn page(guest: &Guest, link: &str, problem: Option<&str>) -> impl IntoResponse + use<> {
    let body: Markup = html! {
        section.narrow.card {
            h1 { "Choose a password" }
            (parts::problem(problem))
            form method="post" action={ "/reset/" (link) } {
                (parts::hidden(&guest.form_token(), ""))
                (parts::password("password", "New password", true))
                p.buttons { button.primary { "Set the password" } }
            }
        }
    };
    // The address is a secret: it goes to no other page.
    (
        [(header::REFERRER_POLICY, "no-referrer")],
        layout::Page::new("Choose a password").show(body),
    )
}

async fn reset(
    Shared(app): Shared<App>,
    guest: Guest,
    Caller(address): Caller,
    Path(link): Path<String>,
    Posted(form): Posted<NewPassword>,
) -> Answer {
    app.count_sign_in(address, "")?;
    let secret: Secret = link.parse().map_err(over)?;
    app.db()
        .read(move |db| links::reset_user(db, secret))
        .await
        .map_err(over)?;
    let hash = match app.hash(form.password).await {
        Ok(hash) => hash,
        Err(error) => {
            let words = super::problem(error)?;
            return Ok((
                StatusCode::UNPROCESSABLE_ENTITY,
                page(&guest, &link, Some(&words)),
            )
                .into_response());
        }
    };
    app.db()
        .write(move |db| links::reset_password(db, secret, &hash))
        .await
        .map_err(over)?;
    Ok(Redirect::to("/sign-in?done=password").into_response())
}
