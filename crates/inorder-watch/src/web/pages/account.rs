//! One's account.

use super::{Answer, Done, again, notice};
use crate::{
    Error, Result, date,
    db::{
        account, sessions, settings,
        settings::SignUp,
        tokens::{self, Token},
        users::{self, User},
    },
    secret::Secret,
    web::{
        App, Caller,
        form::{Nothing, Posted},
        layout::{self, Place},
        parts,
        visitor::{self, Member},
    },
};
use axum::{
    Router,
    extract::{Path, Query},
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
        .route("/account/password", post(set_password))
        .route("/account/sign-out-elsewhere", post(sign_out_elsewhere))
        .route("/account/tokens", post(add_token))
        .route("/account/tokens/{id}/revoke", post(revoke))
        .route("/account/sign-up", post(set_sign_up))
        .route("/account/delete", post(delete))
}

/// All that the page shows.
struct Account {
    tokens: Vec<Token>,
    sessions: i64,
    sign_up: SignUp,
}

fn account(db: &Connection, user: &User) -> Result<Account> {
    Ok(Account {
        tokens: tokens::all(db, user.number)?,
        sessions: sessions::count(db, user.number)?,
        sign_up: settings::sign_up(db)?,
    })
}

async fn show(member: Member, Query(Done { done }): Query<Done>) -> Answer<Markup> {
    let account = member.me.read(account)?;
    let words = match done.as_str() {
        "password" => Some("Your password is changed; you are signed out everywhere else."),
        "elsewhere" => Some("You are signed out everywhere else."),
        "revoked" => Some("The token is revoked."),
        "saved" => Some("Saved."),
        _ => None,
    };
    Ok(page(&member, &account, notice(words), None))
}

fn page(
    Member { me, secret }: &Member,
    account: &Account,
    notice: Option<Markup>,
    problem: Option<&str>,
) -> Markup {
    let token = secret.form_token();
    let body = html! {
        div.head {
            h1 { (me.user.name) }
            form method="post" action="/sign-out" { (parts::hidden(&token, "")) button { "Sign out" } }
        }
        @if let Some(notice) = notice { (notice) }
        (parts::problem(problem))
        div.cards {
            (data())
            (password_form(account, &token))
            (tokens_form(account, &token))
            @if me.user.is_owner { (owner_form(account, &token)) }
            (delete_form(&token))
        }
    };
    layout::Page::new("Account")
        .of(&me.user)
        .at(Place::Account)
        .show(body)
}

fn data() -> Markup {
    html! {
        section.card aria-labelledby="data" {
            h2 id="data" { "Your data" }
            ul.plain {
                li { a href="/import" { "Bring a list" } " from Letterboxd or IMDb" }
                li { a href="/export.csv" download { "Your list as CSV" } }
                li { a href="/export.json" download { "All that is kept of you, as JSON" } }
            }
        }
    }
}

fn password_form(account: &Account, token: &str) -> Markup {
    html! {
        section.card aria-labelledby="pass" {
            h2 id="pass" { "Password" }
            form method="post" action="/account/password" {
                (parts::hidden(token, ""))
                (parts::password("current", "Password now", false))
                (parts::password("password", "New password", true))
                p.buttons { button { "Change it" } }
            }
            @if account.sessions > 1 {
                p { "You are signed in on " (account.sessions) " devices." }
                form method="post" action="/account/sign-out-elsewhere" {
                    (parts::hidden(token, ""))
                    button { "Sign out everywhere else" }
                }
            }
        }
    }
}

fn tokens_form(account: &Account, token: &str) -> Markup {
    html! {
        section.card aria-labelledby="tokens" {
            h2 id="tokens" { "Tokens" }
            p { "For programs that use " a href="/api" { "the API" } " in your name." }
            @if !account.tokens.is_empty() {
                ul.plain {
                    @for made in &account.tokens {
                        li.person {
                            span.who { (made.name) " " small { (date::day(made.id.ms())) } }
                            form method="post" action={ "/account/tokens/" (made.id) "/revoke" } {
                                (parts::hidden(token, ""))
                                button.small aria-label={ "Revoke " (made.name) } { "Revoke" }
                            }
                        }
                    }
                }
            }
            form method="post" action="/account/tokens" {
                (parts::hidden(token, ""))
                label.field for="token-name" { "What is it for?" }
                div.row {
                    input id="token-name" name="name" required maxlength="60" autocomplete="off";
                    button { "Make a token" }
                }
            }
        }
    }
}

fn owner_form(account: &Account, token: &str) -> Markup {
    html! {
        section.card aria-labelledby="server" {
            h2 id="server" { "Your server" }
            form method="post" action="/account/sign-up" {
                (parts::hidden(token, ""))
                fieldset {
                    legend { "Who may sign up?" }
                    @for (value, words) in [(SignUp::Invitation, "Whoever has an invitation"), (SignUp::Open, "Anybody who finds the site")] {
                        label.tick {
                            input type="radio" name="sign_up" value=(value.name()) checked[account.sign_up == value];
                            span { (words) }
                        }
                    }
                }
                p.buttons { button { "Save" } }
            }
        }
    }
}

fn delete_form(token: &str) -> Markup {
    html! {
        section.card aria-labelledby="delete" {
            h2 id="delete" { "Delete the account" }
            p { "With your list, your friends and everything else. It can’t be undone." }
            details {
                summary { "Delete it" }
                form method="post" action="/account/delete" {
                    (parts::hidden(token, ""))
                    (parts::password("confirm", "Your password", false))
                    p.buttons { button.danger { "Delete my account" } }
                }
            }
        }
    }
}

/// Back to the page, which says what was done; or the page once more, with what is wrong.
fn told(member: &Member, done: Result<()>, what: &str) -> Answer {
    match done {
        Ok(()) => Ok(Redirect::to(&format!("/account?done={what}")).into_response()),
        Err(error) => {
            let account = member.me.read(account)?;
            again(error, |words| page(member, &account, None, Some(words)))
        }
    }
}

#[derive(Deserialize)]
struct Passwords {
    current: String,
    password: String,
}

async fn set_password(
    member: Member,
    Caller(address): Caller,
    Posted(Passwords { current, password }): Posted<Passwords>,
) -> Answer {
    let Member { me, secret } = &member;
    let changed = async {
        me.app
            .check_password(address, &me.user.name, current)
            .await?;
        let (hash, session) = (me.app.hash(password).await?, secret.hash());
        me.write(move |db, user| users::set_password(db, user.number, &hash, Some(session)))
            .await
    };
    told(&member, changed.await, "password")
}

async fn sign_out_elsewhere(member: Member, Posted(Nothing {}): Posted<Nothing>) -> Answer {
    let session = member.secret.hash();
    let end = move |db: &Connection, user: &User| sessions::end_all(db, user.number, Some(session));
    told(&member, member.me.write(end).await, "elsewhere")
}

#[derive(Deserialize)]
struct Name {
    name: String,
}

async fn add_token(member: Member, Posted(Name { name }): Posted<Name>) -> Answer {
    let secret = Secret::new();
    let add = move |db: &Connection, user: &User| tokens::add(db, user.number, &name, secret);
    if let Err(error) = member.me.write(add).await {
        return told(&member, Err(error), "");
    }
    let notice = html! {
        div.notice role="status" {
            label.field for="made" { "Your token; it is shown only now" }
            input.wide id="made" readonly value=(secret) data-select;
        }
    };
    let account = member.me.read(account)?;
    Ok(page(&member, &account, Some(notice), None).into_response())
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

#[derive(Deserialize)]
struct Confirm {
    confirm: String,
}

async fn delete(
    member: Member,
    Caller(address): Caller,
    Posted(Confirm { confirm }): Posted<Confirm>,
) -> Answer {
    let me = &member.me;
    let deleted = async {
        me.app
            .check_password(address, &me.user.name, confirm)
            .await?;
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
