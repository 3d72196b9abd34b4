//! The users of the server, for its owner.

use super::{
    common::{Answer, Done, again, form_of, notice},
    friends::own_address,
};
use crate::{
    Error, Result, date,
    db::{
        account, backup,
        links::{self, INVITATION_DAYS, RESET_HOURS},
        overview::{self, Account, Storage},
        users::User,
    },
    request::App,
    secret::Secret,
    web::{
        form::{Nothing, Posted},
        layout::{self, Place},
        parts,
        visitor::{self, Flash, Member},
    },
};
use axum::{
    Router,
    body::Body,
    extract::{FromRequestParts, Path, Query},
    http::{HeaderMap, header, request::Parts},
    response::{IntoResponse, Redirect, Response},
    routing::{get, post},
};
use inorder_key::Ulid;
use maud::{Markup, html};
use rusqlite::Connection;
use serde::Deserialize;
use tokio_util::io::ReaderStream;

pub fn router() -> Router<App> {
    let form = |method| form_of("/users", method);
    Router::new()
        .route("/users", get(show))
        .route("/users/backup", form(post(backup)))
        .route("/users/invite", form(post(invite)))
        .route("/users/{id}", get(show_one))
        .route("/users/{id}/reset", form(post(reset)))
        .route("/users/{id}/suspend", form(post(suspend)))
        .route("/users/{id}/resume", form(post(resume)))
        .route("/users/{id}/remove", form(post(remove)))
}

/// The owner. For others there is no such page.
struct Owner(Member);

impl FromRequestParts<App> for Owner {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Response> {
        let member = Member::from_request_parts(parts, app).await?;
        match member.me.user.is_owner {
            true => Ok(Owner(member)),
            false => Err(crate::web::PageError(Error::NotFound("page")).into_response()),
        }
    }
}

async fn show(
    Owner(member): Owner,
    flash: Flash,
    headers: HeaderMap,
    Query(Done { done, .. }): Query<Done>,
) -> Answer {
    let all = everything(&member).await?;
    let said = match (flash.secret, done.as_str()) {
        (Some(secret), "invited") => {
            let link = own_address(&member.me.app, &headers, &format!("/invitation/{secret}"));
            Some(parts::shown_once(
                "link",
                "Send this link; it is shown only now",
                &link,
            ))
        }
        (_, "removed") => notice(Some("The account is deleted.")),
        _ => None,
    };
    Ok(flash.show(users_page(&member, &all, said, None)))
}

async fn everything(member: &Member) -> Result<(Vec<Account>, Storage)> {
    let read = |db: &Connection, _: &User| Ok((overview::all(db)?, overview::storage(db)?));
    member.me.read_long(read).await
}

fn users_page(
    member: &Member,
    (accounts, storage): &(Vec<Account>, Storage),
    said: Option<Markup>,
    problem: Option<&str>,
) -> Markup {
    let token = member.secret.form_token();
    let body = html! {
        h1 { "Users" }
        @if let Some(said) = said { (said) }
        (parts::problem(problem))
        (space(storage))
        (list(accounts))
        section aria-labelledby="invite" {
            h2 id="invite" { "Invite a new user" }
            p { "Send a friend a link. It works once, within " (INVITATION_DAYS) " days, and whoever signs up with it is your friend." }
            form method="post" action="/users/invite" {
                (parts::hidden(&token, ""))
                button { "Make a link" }
            }
        }
        (backup_form(&token))
    };
    layout::Page::new("Users")
        .of(&member.me)
        .at(Place::Account)
        .show(body)
}

fn backup_form(token: &str) -> Markup {
    html! {
        section aria-labelledby="backup" {
            h2 id="backup" { "Backup" }
            p { "A copy of the database, with the lists and notes of all users. Keep it where nobody else can read it." }
            form method="post" action="/users/backup" {
                (parts::hidden(token, ""))
                (parts::password("confirm", "Your password", false))
                p.buttons { button { "Download a backup" } }
            }
        }
    }
}

/// Sends a copy of the database.
async fn backup(Owner(member): Owner, Posted(Confirm { confirm }): Posted<Confirm>) -> Answer {
    let me = &member.me;
    let copied = async {
        me.app.check_password(&me.user, confirm).await?;
        backup::copy(me.app.db()).await
    };
    match copied.await {
        Ok(file) => {
            let day = date::day(date::now_ms().unsigned_abs());
            let name = format!("attachment; filename=\"watch-{day}.db\"");
            let headers = [
                (header::CONTENT_TYPE, "application/vnd.sqlite3".to_owned()),
                (header::CONTENT_DISPOSITION, name),
            ];
            let file = tokio::fs::File::from_std(file);
            let body = Body::from_stream(ReaderStream::new(file));
            Ok((headers, body).into_response())
        }
        Err(error) => {
            let all = everything(&member).await?;
            again(error, |words| users_page(&member, &all, None, Some(words)))
        }
    }
}

fn space(Storage { bytes, free_bytes }: &Storage) -> Markup {
    let megabytes = |bytes: &i64| format!("{:.1} MB", *bytes as f64 / 1e6);
    html! {
        p { "The database takes " (megabytes(bytes)) ", of which " (megabytes(free_bytes)) " are free for new entries." }
    }
}

fn list(accounts: &[Account]) -> Markup {
    html! {
        ul.plain {
            @for Account { user, films, added, is_suspended } in accounts {
                li {
                    a href={ "/users/" (user.id) } { bdi { (user.name) } }
                    @if user.is_owner { " " small { "owner" } }
                    @if *is_suspended { " " span.private { "Suspended" } }
                    p.line {
                        span { "since " (parts::day_of(user.id)) }
                        span { "films on the list: " (films) }
                        span { "films added: " (added) }
                    }
                }
            }
        }
    }
}

async fn show_one(
    Owner(member): Owner,
    Path(id): Path<Ulid>,
    flash: Flash,
    headers: HeaderMap,
    Query(Done { done, .. }): Query<Done>,
) -> Answer {
    let account = member.me.read(|db, _| overview::by_id(db, id))?;
    let said = match (flash.secret, done.as_str()) {
        (Some(secret), "reset") => {
            let link = own_address(&member.me.app, &headers, &format!("/reset/{secret}"));
            Some(parts::shown_once(
                "link",
                "Send this link; it is shown only now",
                &link,
            ))
        }
        (_, "suspended") => notice(Some("Suspended, and signed out everywhere.")),
        (_, "resumed") => notice(Some("The user can sign in again.")),
        _ => None,
    };
    Ok(flash.show(page(&member, &account, said, None)))
}

fn page(
    Member { me, secret }: &Member,
    account: &Account,
    said: Option<Markup>,
    problem: Option<&str>,
) -> Markup {
    let (token, user) = (secret.form_token(), &account.user);
    let body = html! {
        section.narrow {
            h1 { bdi { (user.name) } @if account.is_suspended { " " span.private { "Suspended" } } }
            @if let Some(said) = said { (said) }
            (parts::problem(problem))
            p { "A user since " (parts::day_of(user.id)) ". Films on the list: " (account.films) ". Films added: " (account.added) "." }
            @if user.is_owner {
                p { "This account owns the server." }
            } @else {
                (actions(account, &token))
            }
            p { a href="/users" { "All users" } }
        }
    };
    layout::Page::new("User")
        .of(me)
        .at(Place::Account)
        .show(body)
}

fn actions(
    Account {
        user, is_suspended, ..
    }: &Account,
    token: &str,
) -> Markup {
    let form = |action: &str, inner: Markup| {
        html! {
            form method="post" action={ "/users/" (user.id) "/" (action) } { (parts::hidden(token, "")) (inner) }
        }
    };
    html! {
        section.card aria-labelledby="suspend" {
            h2 id="suspend" { "Suspend" }
            p { "A suspended user can’t sign in. Sessions, tokens, the feed and open links end. The list and the password stay." }
            @if *is_suspended {
                (form("resume", html! { p.buttons { button { "End the suspension" } } }))
            } @else {
                (form("suspend", html! { p.buttons { button { "Suspend" } } }))
            }
        }
        @if !is_suspended {
            section.card aria-labelledby="reset" {
                h2 id="reset" { "Forgotten password" }
                p { "A link where the user chooses a new password. It is good once, for " (RESET_HOURS) " hours. Until then the old password stays." }
                (form("reset", html! { p.buttons { button { "Make a link" } } }))
            }
        }
        section.card aria-labelledby="remove" {
            h2 id="remove" { "Delete the account" }
            p { "With its list, its friends and everything else. It can’t be undone." }
            details {
                summary { "Delete it" }
                (form("remove", html! {
                    (parts::password("confirm", "Your own password", false))
                    p.buttons { button.danger { "Delete the account" } }
                }))
            }
        }
    }
}

async fn invite(Owner(member): Owner, Posted(Nothing {}): Posted<Nothing>) -> Answer {
    let secret = Secret::new();
    let invite = move |db: &Connection, user: &User| links::invite(db, user.number, secret);
    member.me.write(invite).await?;
    let behind_tls = member.me.app.config().behind_tls;
    Ok(visitor::show_once(
        secret,
        "/users?done=invited",
        behind_tls,
    ))
}

/// Does something to a user, then shows the user's page with what was done or what is wrong.
async fn about(
    member: &Member,
    id: Ulid,
    done: &str,
    work: impl FnOnce(&Connection, &Account) -> Result<()> + Send + 'static,
) -> Answer {
    let work = move |db: &Connection, _: &User| work(db, &overview::by_id(db, id)?);
    match member.me.write(work).await {
        Ok(()) => Ok(Redirect::to(&format!("/users/{id}?done={done}")).into_response()),
        Err(error) => failed(member, id, error),
    }
}

fn failed(member: &Member, id: Ulid, error: Error) -> Answer {
    let account = member.me.read(|db, _| overview::by_id(db, id))?;
    again(error, |words| page(member, &account, None, Some(words)))
}

async fn reset(
    Owner(member): Owner,
    Path(id): Path<Ulid>,
    Posted(Nothing {}): Posted<Nothing>,
) -> Answer {
    let secret = Secret::new();
    let allow = move |db: &Connection, account: &Account| match account.is_suspended {
        true => Err(Error::invalid("The user is suspended.")),
        false => links::allow_reset(db, account.user.number, secret),
    };
    let answer = about(&member, id, "reset", allow).await?;
    if !answer.status().is_redirection() {
        return Ok(answer);
    }
    let behind_tls = member.me.app.config().behind_tls;
    let address = format!("/users/{id}?done=reset");
    Ok(visitor::show_once(secret, &address, behind_tls))
}

async fn suspend(
    Owner(member): Owner,
    Path(id): Path<Ulid>,
    Posted(Nothing {}): Posted<Nothing>,
) -> Answer {
    about(&member, id, "suspended", |db, account| {
        overview::suspend(db, &account.user)
    })
    .await
}

async fn resume(
    Owner(member): Owner,
    Path(id): Path<Ulid>,
    Posted(Nothing {}): Posted<Nothing>,
) -> Answer {
    about(&member, id, "resumed", |db, account| {
        overview::resume(db, &account.user)
    })
    .await
}

#[derive(Deserialize)]
struct Confirm {
    confirm: String,
}

async fn remove(
    Owner(member): Owner,
    Path(id): Path<Ulid>,
    Posted(Confirm { confirm }): Posted<Confirm>,
) -> Answer {
    let me = &member.me;
    let removed = async {
        me.app.check_password(&me.user, confirm).await?;
        me.write(move |db, _| {
            let user = overview::by_id(db, id)?.user;
            match user.is_owner {
                true => Err(Error::invalid(
                    "The owner deletes their account on its own page.",
                )),
                false => account::delete(db, &user),
            }
        })
        .await
    };
    match removed.await {
        Ok(()) => Ok(Redirect::to("/users?done=removed").into_response()),
        Err(error) => failed(&member, id, error),
    }
}
