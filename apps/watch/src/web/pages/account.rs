//! One's account.

use super::{
    common::{Answer, Done, again, form_of, notice},
    mail_form::address_form,
    passkey_forms::passkeys_form,
};
use crate::{
    Error, Result,
    db::{
        account,
        mail::{self, Address},
        passkeys::{self, Passkey},
        sessions, settings,
        settings::SignUp,
        tokens::{self, Token},
        users::{self, User},
    },
    request::{App, Me},
    secret::Secret,
    web::{
        form::{Confirm, Nothing, Posted},
        layout::{self, Place},
        parts,
        visitor::{self, Device, Entry, Flash, Member},
    },
    words::{Language, Message, say},
};
use axum::{
    Router,
    extract::{Path, Query},
    http::header,
    response::{IntoResponse, Redirect},
    routing::{get, post},
};
use inorder_key::Ulid;
use maud::{Markup, html};
use rusqlite::Connection;
use serde::Deserialize;

pub fn router() -> Router<App> {
    Router::new()
        .route("/account", get(show))
        .route("/account/password", form_of("/account", post(set_password)))
        .route(
            "/account/sign-out-elsewhere",
            form_of("/account", post(sign_out_elsewhere)),
        )
        .route("/account/tokens", form_of("/account", post(add_token)))
        .route(
            "/account/tokens/{id}/revoke",
            form_of("/account", post(revoke)),
        )
        .route("/account/language", form_of("/account", post(set_language)))
        .route("/account/sign-up", form_of("/account", post(set_sign_up)))
        .route("/account/delete", form_of("/account", post(delete)))
}

/// All that the page shows.
struct Account {
    tokens: Vec<Token>,
    passkeys: Vec<Passkey>,
    sessions: i64,
    sign_up: SignUp,
    mail: Option<Address>,
    /// Whether a passkey has just replaced the password.
    is_confirmed: bool,
}

fn account(me: &Me) -> Result<Account> {
    let is_confirmed = me.is_confirmed()?;
    me.read(|db, user| of(db, user, is_confirmed))
}

fn of(db: &Connection, user: &User, is_confirmed: bool) -> Result<Account> {
    Ok(Account {
        is_confirmed,
        tokens: tokens::all(db, user.number)?,
        passkeys: passkeys::all(db, user.number)?,
        sessions: sessions::count(db, user.number)?,
        sign_up: settings::sign_up(db)?,
        mail: mail::of(db, user.number)?,
    })
}

async fn show(member: Member, flash: Flash, Query(Done { done, .. }): Query<Done>) -> Answer {
    let account = account(&member.me)?;
    if let Some(token) = flash.secret.filter(|_| done == "token") {
        let notice = parts::shown_once("made", say::account_token_once(), &token);
        return Ok(flash.show(page(&member, &account, Some(notice), None)));
    }
    let words = match done.as_str() {
        "password" => Some(say::account_password_done()),
        "elsewhere" => Some(say::account_elsewhere_done()),
        "revoked" => Some(say::account_revoked()),
        "passkey" => Some(say::passkey_added()),
        "passkey-removed" => Some(say::passkey_removed()),
        "saved" => Some(say::saved()),
        "mail" => Some(say::account_mail_sent()),
        _ => None,
    };
    Ok(page(&member, &account, notice(words), None).into_response())
}

fn page(
    Member { me, secret }: &Member,
    account: &Account,
    notice: Option<Markup>,
    problem: Option<&Message>,
) -> Markup {
    let token = secret.form_token();
    let body = html! {
        div.head {
            h1 { bdi { (me.user.name) } }
            form method="post" action="/sign-out" { (parts::hidden(&token, "")) button { (say::sign_out()) } }
        }
        @if let Some(notice) = notice { (notice) }
        (parts::problem(problem))
        div.cards {
            (data())
            (password_form(account, &token))
            (passkeys_form(me, &account.passkeys, account.is_confirmed, &token))
            @if me.app.config().sends_mail { (address_form(account.mail.as_ref(), account.is_confirmed, &token)) }
            (language_form(me.user.language, &token))
            (tokens_form(account, &token))
            @if me.user.is_owner { (owner_form(account, &token)) }
            (delete_form(&token))
        }
    };
    layout::Page::new(say::account())
        .of(me)
        .at(Place::Account)
        .show(body)
}

fn data() -> Markup {
    html! {
        section.card aria-labelledby="data" {
            h2 id="data" { (say::account_data()) }
            ul.plain {
                li { (say::account_import(html! { a href="/import" { (say::account_import_link()) } })) }
                li { a href="/export.csv" download { (say::account_csv()) } }
                li { a href="/export/letterboxd.csv" download { (say::account_letterboxd()) } }
                li { a href="/export/letterboxd-watchlist.csv" download { (say::account_letterboxd_watchlist()) } }
                li { a href="/export.json" download { (say::account_json()) } }
            }
        }
    }
}

fn password_form(account: &Account, token: &str) -> Markup {
    html! {
        section.card aria-labelledby="pass" {
            h2 id="pass" { (say::password()) }
            form method="post" action="/account/password" {
                (parts::hidden(token, ""))
                @if !account.is_confirmed { (parts::password("current", say::account_password_now(), false)) }
                (parts::password("password", say::password_new(), true))
                p.buttons { button { (say::account_password_change()) } }
            }
            @if account.sessions > 1 || !account.tokens.is_empty() {
                @if account.sessions > 1 { p { (say::account_devices(account.sessions)) } }
                p.hint { (say::account_elsewhere_hint()) }
                form method="post" action="/account/sign-out-elsewhere" {
                    (parts::hidden(token, ""))
                    button { (say::account_elsewhere()) }
                }
            }
        }
    }
}

fn language_form(chosen: Option<Language>, token: &str) -> Markup {
    html! {
        section.card aria-labelledby="language" {
            h2 id="language" { (say::account_language()) }
            form method="post" action="/account/language" {
                (parts::hidden(token, ""))
                div.row {
                    select name="language" aria-labelledby="language" {
                        option value="" { (say::account_language_browser()) }
                        @for language in Language::ALL {
                            option value=(language.tag()) lang=(language.tag()) selected[chosen == Some(language)] { (language.name()) }
                        }
                    }
                    button { (say::save()) }
                }
            }
        }
    }
}

fn tokens_form(account: &Account, token: &str) -> Markup {
    html! {
        section.card aria-labelledby="tokens" {
            h2 id="tokens" { (say::account_tokens()) }
            p { (say::account_tokens_hint(html! { a href="/api" { (say::account_tokens_api()) } })) }
            @if !account.tokens.is_empty() {
                ul.plain {
                    @for made in &account.tokens {
                        li.person {
                            span.who { bdi { (made.name) } " " small { (parts::day_of(made.id)) } }
                            form method="post" action={ "/account/tokens/" (made.id) "/revoke" } {
                                (parts::hidden(token, ""))
                                button.small aria-label=(say::account_revoke_token(&made.name).plain()) { (say::account_revoke()) }
                            }
                        }
                    }
                }
            }
            form method="post" action="/account/tokens" {
                (parts::hidden(token, ""))
                label.field for="token-name" { (say::account_token_what()) }
                input id="token-name" name="name" dir="auto" required maxlength="60" autocomplete="off";
                @if !account.is_confirmed { (parts::own_password("token-confirm")) }
                p.buttons { button { (say::account_token_make()) } }
            }
        }
    }
}

fn owner_form(account: &Account, token: &str) -> Markup {
    html! {
        section.card aria-labelledby="server" {
            h2 id="server" { (say::account_server()) }
            p { a href="/users" { (say::account_users()) } }
            form method="post" action="/account/sign-up" {
                (parts::hidden(token, ""))
                fieldset {
                    legend { (say::sign_up_who()) }
                    @for (value, words) in [(SignUp::Invitation, say::sign_up_invited()), (SignUp::Open, say::sign_up_everyone())] {
                        label.tick {
                            input type="radio" name="sign_up" value=(value.name()) checked[account.sign_up == value];
                            span { (words) }
                        }
                    }
                }
                p.buttons { button { (say::save()) } }
            }
        }
    }
}

fn delete_form(token: &str) -> Markup {
    html! {
        section.card aria-labelledby="delete" {
            h2 id="delete" { (say::account_delete()) }
            p { (say::account_delete_hint()) }
            details {
                summary { (say::account_delete_open()) }
                form method="post" action="/account/delete" {
                    (parts::hidden(token, ""))
                    (parts::password("confirm", say::password_yours(), false))
                    p.buttons { button.danger { (say::account_delete_button()) } }
                }
            }
        }
    }
}

/// Back to the page, which says what was done; or the page once more, with what is wrong.
pub(super) fn told(member: &Member, done: Result<()>, what: &str) -> Answer {
    match done {
        Ok(()) => Ok(Redirect::to(&format!("/account?done={what}")).into_response()),
        Err(error) => {
            let account = account(&member.me)?;
            again(error, |words| page(member, &account, None, Some(words)))
        }
    }
}

#[derive(Deserialize)]
struct Passwords {
    #[serde(default)]
    current: String,
    password: String,
}

async fn set_password(
    member: Member,
    device: Device,
    Posted(Passwords { current, password }): Posted<Passwords>,
) -> Answer {
    let Member { me, secret } = &member;
    let entry = Entry::new(device);
    let changed = async {
        let is_by_passkey = current.is_empty();
        me.confirm(current).await?;
        let (hash, session) = (me.app.hash(password).await?, secret.hash());
        let set = move |db: &Connection, user: &User| {
            users::set_password(db, user.number, Some(&hash), Some(session))?;
            if is_by_passkey {
                // The passkey is good, and its user has the account back.
                passkeys::keep(db, user.number)?;
            }
            entry.remember_device(db, user.number)
        };
        me.write(set).await
    };
    let changed = changed.await;
    let is_changed = changed.is_ok();
    let mut answer = told(&member, changed, "password")?;
    if is_changed {
        let cookie = entry.device_cookie(me.app.config().behind_tls);
        answer.headers_mut().append(header::SET_COOKIE, cookie);
    }
    Ok(answer)
}

async fn sign_out_elsewhere(member: Member, Posted(Nothing {}): Posted<Nothing>) -> Answer {
    let session = member.secret.hash();
    let end =
        move |db: &Connection, user: &User| users::sign_out_elsewhere(db, user.number, session);
    told(&member, member.me.write(end).await, "elsewhere")
}

#[derive(Deserialize)]
struct NewToken {
    name: String,
    #[serde(default)]
    confirm: String,
}

async fn add_token(member: Member, Posted(NewToken { name, confirm }): Posted<NewToken>) -> Answer {
    let secret = Secret::new();
    let added = async {
        tokens::checked_name(&name)?;
        member.me.confirm(confirm).await?;
        let add = move |db: &Connection, user: &User| tokens::add(db, user.number, &name, secret);
        member.me.write(add).await
    };
    match added.await {
        Ok(()) => {
            let behind_tls = member.me.app.config().behind_tls;
            Ok(visitor::show_once(
                secret,
                "/account?done=token",
                behind_tls,
            ))
        }
        Err(error) => told(&member, Err(error), ""),
    }
}

async fn revoke(
    member: Member,
    Path(id): Path<Ulid>,
    Posted(Nothing {}): Posted<Nothing>,
) -> Answer {
    let revoke = move |db: &Connection, user: &User| tokens::revoke(db, user.number, id);
    told(&member, member.me.write(revoke).await, "revoked")
}

#[derive(Deserialize)]
struct Chosen {
    #[serde(default)]
    language: String,
}

async fn set_language(member: Member, Posted(Chosen { language }): Posted<Chosen>) -> Answer {
    let language = Language::ALL.into_iter().find(|one| one.tag() == language);
    let set = move |db: &Connection, user: &User| users::set_language(db, user.number, language);
    told(&member, member.me.write(set).await, "saved")
}

#[derive(Deserialize)]
struct Setting {
    sign_up: SignUp,
}

async fn set_sign_up(member: Member, Posted(Setting { sign_up }): Posted<Setting>) -> Answer {
    if !member.me.user.is_owner {
        return Err(Error::NotFound("page").into());
    }
    let set = move |db: &Connection, _: &User| settings::set_sign_up(db, sign_up);
    told(&member, member.me.write(set).await, "saved")
}

async fn delete(member: Member, Posted(Confirm { confirm }): Posted<Confirm>) -> Answer {
    let me = &member.me;
    let deleted = async {
        me.app.check_password(&me.user, confirm).await?;
        me.write(account::delete).await
    };
    match deleted.await {
        Ok(()) => {
            let behind_tls = me.app.config().behind_tls;
            Ok(visitor::signed_out("/sign-in?done=deleted", behind_tls))
        }
        Err(error) => told(&member, Err(error), ""),
    }
}
