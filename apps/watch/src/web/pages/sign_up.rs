//! The sign-up, with an invitation, or without one if the owner opened the site.

use super::common::{Answer, again};
use crate::{
    Error, Result,
    db::{links, settings, settings::SignUp, users},
    request::{App, Caller},
    secret::Secret,
    web::{
        form::Posted,
        layout, parts,
        visitor::{self, Device, Entry, Guest},
    },
    words::{Message, say},
};
use axum::{
    Router,
    extract::{Path, State as Shared},
    response::{IntoResponse, Redirect},
    routing::get,
};
use maud::{Markup, html};
use serde::Deserialize;
use std::net::IpAddr;

pub fn router() -> Router<App> {
    Router::new()
        .route("/sign-up", get(show).post(sign_up))
        .route("/invitation/{secret}", get(show_invited))
}

#[derive(Deserialize)]
struct Account {
    name: String,
    password: String,
    #[serde(default)]
    invitation: String,
}

async fn show(Shared(app): Shared<App>, guest: Guest) -> Answer {
    if app.setup_code().is_some() {
        return Ok(Redirect::to("/setup").into_response());
    }
    match app.db().read(settings::sign_up)? {
        SignUp::Open => Ok(guest.show(page(&guest, "", None, "", None))),
        SignUp::Invitation => Err(uninvited().into()),
    }
}

async fn show_invited(
    Shared(app): Shared<App>,
    guest: Guest,
    Path(invitation): Path<String>,
) -> Answer {
    let host = host(&app, &invitation)?;
    let host = host.ok_or_else(over)?;
    Ok(guest.show(page(&guest, &invitation, Some(&host.name), "", None)))
}

fn uninvited() -> Error {
    Error::Invalid(say::sign_up_uninvited())
}

fn over() -> Error {
    Error::Invalid(say::sign_up_over())
}

/// The user whose invitation this is, if it is still valid.
fn host(app: &App, invitation: &str) -> Result<Option<users::User>> {
    match invitation.parse::<Secret>() {
        Ok(secret) => app.db().read(move |db| links::host(db, secret)),
        Err(_) => Ok(None),
    }
}

fn page(
    guest: &Guest,
    invitation: &str,
    host: Option<&str>,
    name: &str,
    problem: Option<&Message>,
) -> Markup {
    let body = html! {
        section.narrow.card {
            h1 { (say::sign_up()) }
            @if let Some(host) = host { p { (say::sign_up_host(html! { b { bdi { (host) } } })) } }
            (parts::problem(problem))
            form method="post" action="/sign-up" {
                (parts::hidden(&guest.form_token(), ""))
                input type="hidden" name="invitation" value=(invitation);
                (parts::user_name(name))
                p.hint { (say::sign_up_name_hint()) }
                (parts::password("password", say::password(), true))
                p.buttons { button.primary { (say::sign_up_button()) } }
            }
            p { (say::sign_up_there(html! { a href="/sign-in" { (say::sign_up_there_link()) } })) }
        }
    };
    layout::Page::new(say::sign_up()).show(body)
}

async fn sign_up(
    Shared(app): Shared<App>,
    guest: Guest,
    Caller(address): Caller,
    device: Device,
    Posted(form): Posted<Account>,
) -> Answer {
    match try_up(&app, address, device, &form).await {
        Ok(entry) => Ok(visitor::signed_in(entry, "/", app.config().behind_tls)),
        Err(error) => {
            let host = host(&app, &form.invitation)?.map(|host| host.name);
            again(error, |words| {
                let Account {
                    name, invitation, ..
                } = &form;
                page(&guest, invitation, host.as_deref(), name, Some(words))
            })
        }
    }
}

async fn try_up(app: &App, address: IpAddr, device: Device, form: &Account) -> Result<Entry> {
    app.count_sign_up(address)?;
    let sign_up = app.db().read(settings::sign_up)?;
    let invitation: Option<Secret> = form.invitation.parse().ok();
    // Only who may sign up learns whether a name is taken.
    if invitation.is_some() && host(app, &form.invitation)?.is_none() {
        return Err(over());
    }
    if sign_up == SignUp::Invitation && invitation.is_none() {
        return Err(uninvited());
    }
    if app.setup_code().is_some() {
        return Err(Error::Invalid(say::sign_up_no_owner()));
    }
    users::check_name(form.name.trim())?;
    let hash = app.hash(form.password.clone()).await?;
    let (name, entry) = (form.name.clone(), Entry::new(device));
    app.db()
        .write(move |db| {
            // The owner may have closed the site meanwhile.
            if invitation.is_none() && settings::sign_up(db)? == SignUp::Invitation {
                return Err(uninvited());
            }
            let user = users::sign_up(db, &name, Some(&hash))?;
            if let Some(invitation) = invitation {
                links::accept_invitation(db, invitation, user.number).map_err(|_| over())?;
            }
            entry.begin(db, user.number)
        })
        .await?;
    Ok(entry)
}
