//! One's account.

use super::Answer;
use crate::{
    Error, Result, date,
    db::{
        account, sessions, settings,
        settings::SignUp,
        tokens::{self, Token},
        users,
    },
    secret::Secret,
    web::{
        App, Caller,
        form::Posted,
        layout::{self, Place},
        parts,
        visitor::{self, Member},
    },
};
use axum::{
    Router,
    extract::{Path, Query, State as Shared},
    http::StatusCode,
    response::{IntoResponse, Redirect},
    routing::{get, post},
};
use inorder_key::Ulid;
use maud::{Markup, html};
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

#[derive(Deserialize)]
struct Done {
    #[serde(default)]
    done: String,
}

async fn account(app: &App, member: &Member) -> Result<Account> {
    let user = member.user.number;
    app.db()
        .read(move |db| {
            Ok(Account {
                tokens: tokens::all(db, user)?,
                sessions: sessions::count(db, user)?,
                sign_up: settings::sign_up(db)?,
            })
        })
        .await
}

async fn show(
    Shared(app): Shared<App>,
    member: Member,
    Query(Done { done }): Query<Done>,
) -> Answer<Markup> {
    let account = account(&app, &member).await?;
    let words = match done.as_str() {
        "password" => Some("Your password is changed; you are signed out everywhere else."),
        "elsewhere" => Some("You are signed out everywhere else."),
        "revoked" => Some("The token is revoked."),
        "saved" => Some("Saved."),
        _ => None,
    };
    let notice = words.map(|words| html! { div.notice role="status" { p { (words) } } });
    Ok(page(&member, &account, notice, None))
}

fn page(
    member: &Member,
    account: &Account,
    notice: Option<Markup>,
    problem: Option<&str>,
) -> Markup {
    let token = member.form_token();
    let body = html! {
        div.head {
            h1 { (member.user.name) }
            form method="post" action="/sign-out" { (parts::hidden(&token, "")) button { "Sign out" } }
        }
        @if let Some(notice) = notice { (notice) }
        (parts::problem(problem))
        div.cards {
            (data())
            (password_form(account, &token))
            (tokens_form(account, &token))
            @if member.user.is_owner { (owner_form(account, &token)) }
            (delete_form(&token))
        }
    };
    layout::Page::new("Account")
        .of(&member.user)
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

/// The page once more, with what is wrong.
async fn again(app: &App, member: &Member, error: Error) -> Answer {
    let words = super::problem(error)?;
    let account = account(app, member).await?;
    let page = page(member, &account, None, Some(&words));
    Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
}

fn done(what: &str) -> axum::response::Response {
    Redirect::to(&format!("/account?done={what}")).into_response()
}

#[derive(Deserialize)]
struct Passwords {
    current: String,
    password: String,
}

async fn set_password(
    Shared(app): Shared<App>,
    member: Member,
    Caller(address): Caller,
    Posted(form): Posted<Passwords>,
) -> Answer {
    let changed = async {
        app.check_password(address, &member.user.name, form.current)
            .await?;
        let hash = app.hash(form.password).await?;
        let (user, session) = (member.user.number, member.secret.hash());
        app.db()
            .write(move |db| users::set_password(db, user, &hash, Some(session)))
            .await
    };
    match changed.await {
        Ok(()) => Ok(done("password")),
        Err(error) => again(&app, &member, error).await,
    }
}

#[derive(Deserialize)]
struct Nothing {}

async fn sign_out_elsewhere(
    Shared(app): Shared<App>,
    member: Member,
    Posted(Nothing {}): Posted<Nothing>,
) -> Answer {
    let (user, session) = (member.user.number, member.secret.hash());
    app.db()
        .write(move |db| sessions::end_all(db, user, Some(session)))
        .await?;
    Ok(done("elsewhere"))
}

#[derive(Deserialize)]
struct Name {
    name: String,
}

async fn add_token(
    Shared(app): Shared<App>,
    member: Member,
    Posted(Name { name }): Posted<Name>,
) -> Answer {
    let (secret, user) = (Secret::new(), member.user.number);
    if let Err(error) = app
        .db()
        .write(move |db| tokens::add(db, user, &name, secret))
        .await
    {
        return again(&app, &member, error).await;
    }
    let notice = html! {
        div.notice role="status" {
            label.field for="made" { "Your token; it is shown only now" }
            input.wide id="made" readonly value=(secret) data-select;
        }
    };
    let account = account(&app, &member).await?;
    Ok(page(&member, &account, Some(notice), None).into_response())
}

async fn revoke(
    Shared(app): Shared<App>,
    member: Member,
    Path(id): Path<Ulid>,
    Posted(Nothing {}): Posted<Nothing>,
) -> Answer {
    app.db()
        .write(move |db| tokens::revoke(db, member.user.number, id))
        .await?;
    Ok(done("revoked"))
}

#[derive(Deserialize)]
struct Setting {
    sign_up: SignUp,
}

async fn set_sign_up(
    Shared(app): Shared<App>,
    member: Member,
    Posted(Setting { sign_up }): Posted<Setting>,
) -> Answer {
    if !member.user.is_owner {
        return Err(Error::NotFound("page").into());
    }
    app.db()
        .write(move |db| settings::set_sign_up(db, sign_up))
        .await?;
    Ok(done("saved"))
}

#[derive(Deserialize)]
struct Confirm {
    confirm: String,
}

async fn delete(
    Shared(app): Shared<App>,
    member: Member,
    Caller(address): Caller,
    Posted(Confirm { confirm }): Posted<Confirm>,
) -> Answer {
    let user = member.user.clone();
    let deleted = async {
        app.check_password(address, &member.user.name, confirm)
            .await?;
        app.db().write(move |db| account::delete(db, &user)).await
    };
    match deleted.await {
        Ok(()) => Ok(visitor::signed_out(
            "/sign-in?done=deleted",
            app.config().behind_tls,
        )),
        Err(error) => again(&app, &member, error).await,
    }
}
