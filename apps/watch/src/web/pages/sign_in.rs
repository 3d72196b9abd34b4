//! Signing in and out.

use super::{
    common::{Answer, again, form_of},
    passkey_forms::sign_in_form,
};
use crate::{
    Error, Result,
    db::{
        devices, sessions, settings,
        settings::SignUp,
        users::{self, User},
    },
    request::{App, Caller},
    web::{
        form::{Nothing, Posted, local},
        layout, parts,
        visitor::{self, Device, Entry, Guest, Member},
    },
    words::{Message, say},
};
use axum::{
    Router,
    extract::{Query, State as Shared},
    response::{IntoResponse, Redirect},
    routing::{get, post},
};
use maud::{Markup, html};
use rusqlite::Connection;
use serde::Deserialize;
use std::net::IpAddr;

pub fn router() -> Router<App> {
    Router::new()
        .route("/sign-in", get(show).post(sign_in))
        .route("/sign-out", form_of("/", post(sign_out)))
}

#[derive(Deserialize)]
struct Next {
    #[serde(default)]
    next: String,
    #[serde(default)]
    done: String,
}

#[derive(Deserialize)]
struct SignIn {
    name: String,
    password: String,
    #[serde(default)]
    next: String,
}

async fn show(
    Shared(app): Shared<App>,
    guest: Guest,
    Query(Next { next, done }): Query<Next>,
) -> Answer {
    if app.setup_code().is_some() {
        return Ok(Redirect::to("/setup").into_response());
    }
    let sign_up = app.db().read(settings::sign_up)?;
    Ok(guest.show(page(&app, &guest, sign_up, "", &next, &done, None)))
}

fn page(
    app: &App,
    guest: &Guest,
    sign_up: SignUp,
    name: &str,
    next: &str,
    done: &str,
    problem: Option<&Message>,
) -> Markup {
    let notice = match done {
        "password" => Some(say::sign_in_password_done()),
        "deleted" => Some(say::sign_in_deleted()),
        _ => None,
    };
    let body = html! {
        section.narrow.card {
            h1 { (say::sign_in()) }
            @if let Some(notice) = notice { div.notice role="status" { p { (notice) } } }
            (parts::problem(problem))
            form method="post" action="/sign-in" {
                (parts::hidden(&guest.form_token(), ""))
                input type="hidden" name="next" value=(local(next));
                (parts::user_name(name))
                (parts::password("password", say::password(), false))
                p.buttons { button.primary { (say::sign_in()) } }
            }
            @if let Some(site) = &app.config().site { (sign_in_form(site, guest, next)) }
            @match sign_up {
                SignUp::Open => p { (say::sign_in_new(html! { a href="/sign-up" { (say::sign_in_new_link()) } })) },
                SignUp::Invitation => p.hint { (say::sign_in_invited()) },
            }
            @if app.config().sends_mail { p { a href="/forgotten" { (say::sign_in_forgotten_link()) } } } @else { p.hint { (say::sign_in_forgotten()) } }
        }
    };
    layout::Page::new(say::sign_in()).show(body)
}

async fn sign_in(
    Shared(app): Shared<App>,
    guest: Guest,
    Caller(address): Caller,
    device: Device,
    Posted(form): Posted<SignIn>,
) -> Answer {
    match try_in(&app, address, device, &form).await {
        Ok(entry) => Ok(visitor::signed_in(
            entry,
            local(&form.next),
            app.config().behind_tls,
        )),
        Err(error) => refused(&app, &guest, &form.name, &form.next, error),
    }
}

/// The page once more, with what is wrong.
pub(super) fn refused(app: &App, guest: &Guest, name: &str, next: &str, error: Error) -> Answer {
    let sign_up = app.db().read(settings::sign_up)?;
    again(error, |words| {
        page(app, guest, sign_up, name, next, "", Some(words))
    })
}

/// Signs a user in. A wrong name takes as long as a wrong password and gives the same answer.
async fn try_in(app: &App, address: IpAddr, device: Device, form: &SignIn) -> Result<Entry> {
    let known = |user: &User, db: &Connection| match device.0 {
        Some(secret) => {
            devices::is_known(db, user.number, secret).map(|is| is.then_some((secret, user.number)))
        }
        None => Ok(None),
    };
    let (found, device_of) = app.db().read(|db| {
        let found = users::with_password(db, &form.name)?;
        let device = found
            .as_ref()
            .map(|(user, _)| known(user, db))
            .transpose()?;
        Ok((found, device.flatten()))
    })?;
    app.count_sign_in(address, &form.name, device_of)?;
    let (user, hash) = found.unzip();
    let hash = hash.flatten();
    let is_right = app.verify(form.password.clone(), hash.clone()).await?;
    let Some(user) = user.filter(|_| is_right) else {
        return Err(Error::Invalid(say::sign_in_wrong()));
    };
    let number = user.number;
    let is_unchanged = move |db: &Connection| {
        // The password may have been changed meanwhile.
        match users::has_password(db, number, hash.as_deref())? {
            true => Ok(()),
            false => Err(Error::Invalid(say::sign_in_wrong())),
        }
    };
    enter(app, Entry::new(device), user, is_unchanged).await
}

/// Begins a session of a user who has proved who they are, unless they are suspended.
pub(super) async fn enter(
    app: &App,
    entry: Entry,
    user: User,
    record: impl FnOnce(&Connection) -> Result<()> + Send + 'static,
) -> Result<Entry> {
    let begin = move |db: &Connection| {
        users::check_entry(db, &user)?;
        record(db)?;
        entry.begin(db, user.number)
    };
    app.db().write(begin).await?;
    Ok(entry)
}

async fn sign_out(Member { me, secret }: Member, Posted(Nothing {}): Posted<Nothing>) -> Answer {
    me.write(move |db, _| sessions::end(db, secret)).await?;
    Ok(visitor::signed_out("/sign-in", me.app.config().behind_tls))
}
