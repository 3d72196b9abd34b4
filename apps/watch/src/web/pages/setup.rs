//! Setting the server up: the first to come with the code from its terminal owns it.

use super::common::{Answer, again};
use crate::{
    Error, Result,
    db::{settings, settings::SignUp, users},
    request::{App, Caller},
    secret::is_same,
    web::{
        form::Posted,
        layout, parts,
        visitor::{self, Device, Entry, Guest},
    },
    words::{Message, say},
};
use axum::{
    Router,
    extract::{Query, State as Shared},
    response::{IntoResponse, Redirect},
    routing::get,
};
use maud::{Markup, html};
use serde::Deserialize;
use std::net::IpAddr;

pub fn router() -> Router<App> {
    Router::new().route("/setup", get(show).post(set_up))
}

#[derive(Deserialize)]
struct Setup {
    code: String,
    name: String,
    password: String,
    sign_up: SignUp,
}

#[derive(Deserialize)]
struct Code {
    #[serde(default)]
    code: String,
}

async fn show(Shared(app): Shared<App>, guest: Guest, Query(Code { code }): Query<Code>) -> Answer {
    if !is_open(&app)? {
        return Ok(Redirect::to("/").into_response());
    }
    Ok(guest.show(page(&guest, &code, "", None)))
}

/// Returns whether the server has no owner. A user may have been added by the command since the start.
fn is_open(app: &App) -> Result<bool> {
    if app.setup_code().is_some() && !app.db().read(users::are_none)? {
        app.end_setup();
    }
    Ok(app.setup_code().is_some())
}

fn page(guest: &Guest, code: &str, name: &str, problem: Option<&Message>) -> Markup {
    let body = html! {
        section.narrow.card {
            h1 { (say::setup()) }
            p { (say::setup_hint()) }
            (parts::problem(problem))
            form method="post" action="/setup" {
                (parts::hidden(&guest.form_token(), ""))
                label.field for="code" { (say::setup_code()) }
                input id="code" name="code" value=(code) required autocomplete="off" autocapitalize="none" spellcheck="false" aria-describedby="code-hint";
                p.hint id="code-hint" { (say::setup_code_hint()) }
                (parts::user_name(name))
                (parts::password("password", say::password(), true))
                fieldset {
                    legend { (say::sign_up_who()) }
                    label.tick { input type="radio" name="sign_up" value="invitation" checked; span { (say::sign_up_invited()) } }
                    label.tick { input type="radio" name="sign_up" value="open"; span { (say::sign_up_everyone()) } }
                }
                p.buttons { button.primary { (say::setup_button()) } }
            }
        }
    };
    layout::Page::new(say::setup()).show(body)
}

async fn set_up(
    Shared(app): Shared<App>,
    guest: Guest,
    Caller(address): Caller,
    device: Device,
    Posted(form): Posted<Setup>,
) -> Answer {
    if !is_open(&app)? {
        return Ok(Redirect::to("/sign-in").into_response());
    }
    match try_set_up(&app, address, device, &form).await {
        Ok(entry) => Ok(visitor::signed_in(entry, "/films", app.config().behind_tls)),
        Err(error) => again(error, |words| {
            page(&guest, &form.code, &form.name, Some(words))
        }),
    }
}

async fn try_set_up(app: &App, address: IpAddr, device: Device, form: &Setup) -> Result<Entry> {
    app.count_guess(address)?;
    let code = app.setup_code().unwrap_or_default();
    if code.is_empty() || !is_same(&code, form.code.trim()) {
        return Err(Error::Invalid(say::setup_code_wrong()));
    }
    let hash = app.hash(form.password.clone()).await?;
    let (name, sign_up, entry) = (form.name.clone(), form.sign_up, Entry::new(device));
    app.db()
        .write(move |db| {
            // Only one of two simultaneous requests with the code succeeds.
            if !users::are_none(db)? {
                return Err(Error::Invalid(say::setup_owned()));
            }
            let user = users::sign_up(db, &name, Some(&hash))?;
            settings::set_sign_up(db, sign_up)?;
            entry.begin(db, user.number)
        })
        .await?;
    app.end_setup();
    Ok(entry)
}
