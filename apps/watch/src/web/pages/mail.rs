//! The mail address of a user, and a new password by mail.

use super::{
    account,
    common::{Answer, again, form_of},
};
use crate::{
    Error, Result,
    db::{mail, users::User},
    mail::is_address,
    request::{App, Caller},
    secret::Secret,
    web::{
        form::{Nothing, Posted, ticked},
        layout, parts,
        visitor::{Guest, Member},
    },
    words::{Message, say},
};
use axum::{
    Router,
    extract::{Path, State as Shared},
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use maud::{Markup, html};
use rusqlite::Connection;
use serde::Deserialize;

pub fn router() -> Router<App> {
    Router::new()
        .route("/account/mail", form_of("/account", post(set)))
        .route("/mail/{secret}", get(show).post(confirm))
        .route("/forgotten", get(show_forgotten).post(forgotten))
}

#[derive(Deserialize)]
struct AddressForm {
    #[serde(default)]
    address: String,
    #[serde(default, deserialize_with = "ticked")]
    news: bool,
    #[serde(default)]
    confirm: String,
}

async fn set(
    member: Member,
    Posted(AddressForm {
        address,
        news,
        confirm,
    }): Posted<AddressForm>,
) -> Answer {
    let me = &member.me;
    if !me.app.config().sends_mail {
        return Err(Error::NotFound("page").into());
    }
    let address = address.trim().to_owned();
    if !address.is_empty() && !is_address(&address) {
        return Err(Error::Invalid(say::mail_wrong()).into());
    }
    let address = Some(address).filter(|address| !address.is_empty());
    let set = async {
        let before = me.read(|db, user| mail::of(db, user.number))?;
        let is_other = before.map(|before| before.address) != address;
        if is_other {
            me.confirm(confirm).await?;
        }
        me.app.count_mail(&me.user.id.to_string())?;
        let set = move |db: &Connection, user: &User| {
            mail::set(db, user.number, address.as_deref(), news, is_other)
        };
        me.write(set).await
    };
    let set = set.await;
    me.app.mail_added().notify_one();
    let is_sent = *set.as_ref().unwrap_or(&false);
    account::told(
        &member,
        set.map(drop),
        if is_sent { "mail" } else { "saved" },
    )
}

/// The page of a link in a mail. Programs that check mails open links too: only its button confirms the address.
async fn show(guest: Guest, Path(link): Path<String>) -> Answer {
    let secret: Result<Secret> = link.parse();
    secret.map_err(over)?;
    let body = html! {
        section.narrow.card {
            h1 { (say::mail_confirm_subject()) }
            form method="post" action={ "/mail/" (link) } {
                (parts::hidden(&guest.form_token(), ""))
                p.buttons { button.primary { (say::mail_confirm_button()) } }
            }
        }
    };
    let page = layout::Page::new(say::mail_confirm_subject()).show(body);
    Ok(secretly(guest.show(page)))
}

/// The page whose address is a secret: it goes to no other.
fn secretly(mut page: Response) -> Response {
    let nowhere = HeaderValue::from_static("no-referrer");
    page.headers_mut().insert(header::REFERRER_POLICY, nowhere);
    page
}

fn over(_: Error) -> Error {
    Error::Invalid(say::reset_over())
}

async fn confirm(
    Shared(app): Shared<App>,
    Caller(address): Caller,
    Path(link): Path<String>,
    Posted(Nothing {}): Posted<Nothing>,
) -> Answer {
    app.count_guess(address)?;
    let secret: Secret = link.parse().map_err(over)?;
    let confirmed = app.db().write(move |db| mail::confirm(db, secret));
    confirmed.await.map_err(over)?;
    Ok(secretly(told(say::mail_confirmed()).into_response()))
}

/// A page that says what was done.
fn told(words: Message) -> Markup {
    let body = html! {
        section.narrow.card {
            div.notice role="status" { p { (words) } }
            p { a.button href="/" { (say::go_to_list()) } }
        }
    };
    layout::Page::new(say::account_mail()).show(body)
}

async fn show_forgotten(Shared(app): Shared<App>, guest: Guest) -> Answer {
    if !app.config().sends_mail {
        return Err(Error::NotFound("page").into());
    }
    Ok(guest.show(forgotten_page(&guest, None)))
}

fn forgotten_page(guest: &Guest, problem: Option<&Message>) -> Markup {
    let body = html! {
        section.narrow.card {
            h1 { (say::forgotten()) }
            (parts::problem(problem))
            p { (say::forgotten_hint()) }
            form method="post" action="/forgotten" {
                (parts::hidden(&guest.form_token(), ""))
                (parts::user_name(""))
                p.buttons { button.primary { (say::forgotten_button()) } }
            }
        }
    };
    layout::Page::new(say::forgotten()).show(body)
}

#[derive(Deserialize)]
struct Name {
    name: String,
}

/// Has a link sent. Answer and time are the same whether or not there is such a user: nobody waits for the database.
async fn forgotten(
    Shared(app): Shared<App>,
    guest: Guest,
    Caller(address): Caller,
    Posted(Name { name }): Posted<Name>,
) -> Answer {
    if !app.config().sends_mail {
        return Err(Error::NotFound("page").into());
    }
    let counted = app
        .count_guess(address)
        .and_then(|()| app.count_mail(&address.to_string()));
    if let Err(error) = counted {
        return again(error, |words| forgotten_page(&guest, Some(words)));
    }
    tokio::spawn(async move {
        match app.db().write(move |db| mail::ask_reset(db, &name)).await {
            Ok(()) => app.mail_added().notify_one(),
            Err(error) => tracing::error!("{error}"),
        }
    });
    Ok(told(say::forgotten_done()).into_response())
}
