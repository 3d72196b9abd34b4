//! The users of the server, for its owner.

use super::{
    common::{Answer, Done, Owner, again, form_of, notice},
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
        form::{Confirm, Nothing, Posted},
        layout::{self, Place},
        parts,
        visitor::{self, Flash, Member},
    },
    words::{Arg, Message, say},
};
use axum::{
    Router,
    body::Body,
    extract::{Path, Query},
    http::{HeaderMap, header},
    response::{IntoResponse, Redirect},
    routing::{get, post},
};
use inorder_key::Ulid;
use maud::{Markup, html};
use rusqlite::Connection;
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
            Some(parts::shown_once("link", say::link_once(), &link))
        }
        (_, "removed") => notice(Some(say::users_removed())),
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
    problem: Option<&Message>,
) -> Markup {
    let token = member.secret.form_token();
    let body = html! {
        h1 { (say::users()) }
        @if let Some(said) = said { (said) }
        (parts::problem(problem))
        @if let Some(version) = member.me.app.newer().version() {
            p { strong { (say::users_newer(Arg::key(version), Arg::key(env!("CARGO_PKG_VERSION")))) } }
        }
        (space(storage))
        (list(accounts))
        section aria-labelledby="invite" {
            h2 id="invite" { (say::invite()) }
            p { (say::invite_hint(INVITATION_DAYS)) }
            form method="post" action="/users/invite" {
                (parts::hidden(&token, ""))
                button { (say::make_link()) }
            }
        }
        (backup_form(&token))
    };
    layout::Page::new(say::users())
        .of(&member.me)
        .at(Place::Account)
        .show(body)
}

fn backup_form(token: &str) -> Markup {
    html! {
        section aria-labelledby="backup" {
            h2 id="backup" { (say::users_backup()) }
            p { (say::users_backup_hint()) }
            form method="post" action="/users/backup" {
                (parts::hidden(token, ""))
                (parts::password("confirm", say::password_yours(), false))
                p.buttons { button { (say::users_backup_button()) } }
            }
            p { a href="/users/restore" { (say::restore()) } }
        }
    }
}

/// Sends a copy of the database.
async fn backup(Owner(member): Owner, Posted(Confirm { confirm }): Posted<Confirm>) -> Answer {
    let me = &member.me;
    let copied = async {
        me.app.check_password(&me.user, confirm).await?;
        let file = backup::copy(me.app.db()).await?;
        // The content may have been replaced meanwhile, by that of another owner.
        me.read(|_, _| Ok(file))
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
    let megabytes = |bytes: &i64| Arg::Tenths((bytes + 50_000) / 100_000);
    html! {
        p { (say::users_space(megabytes(bytes), megabytes(free_bytes))) }
    }
}

fn list(accounts: &[Account]) -> Markup {
    html! {
        ul.plain {
            @for Account { user, films, added, is_suspended } in accounts {
                li {
                    a href={ "/users/" (user.id) } { bdi { (user.name) } }
                    @if user.is_owner { " " small { (say::users_owner()) } }
                    @if *is_suspended { " " span.private { (say::users_suspended()) } }
                    p.line {
                        span { (say::users_since(parts::day_of(user.id))) }
                        span { (say::users_films(*films)) }
                        span { (say::users_added(*added)) }
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
            Some(parts::shown_once("link", say::link_once(), &link))
        }
        (_, "suspended") => notice(Some(say::user_suspended_done())),
        (_, "resumed") => notice(Some(say::user_resumed())),
        _ => None,
    };
    Ok(flash.show(page(&member, &account, said, None)))
}

fn page(
    Member { me, secret }: &Member,
    account: &Account,
    said: Option<Markup>,
    problem: Option<&Message>,
) -> Markup {
    let (token, user) = (secret.form_token(), &account.user);
    let body = html! {
        section.narrow {
            h1 { bdi { (user.name) } @if account.is_suspended { " " span.private { (say::users_suspended()) } } }
            @if let Some(said) = said { (said) }
            (parts::problem(problem))
            p { (say::user_facts(parts::day_of(user.id), account.films, account.added)) }
            @if user.is_owner {
                p { (say::user_owner()) }
            } @else {
                (actions(account, &token))
            }
            p { a href="/users" { (say::user_all()) } }
        }
    };
    layout::Page::new(say::user())
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
            h2 id="suspend" { (say::user_suspend()) }
            p { (say::user_suspend_hint()) }
            @if *is_suspended {
                (form("resume", html! { p.buttons { button { (say::user_resume()) } } }))
            } @else {
                (form("suspend", html! { p.buttons { button { (say::user_suspend()) } } }))
            }
        }
        @if !is_suspended {
            section.card aria-labelledby="reset" {
                h2 id="reset" { (say::user_reset()) }
                p { (say::user_reset_hint(RESET_HOURS)) }
                (form("reset", html! { p.buttons { button { (say::make_link()) } } }))
            }
        }
        section.card aria-labelledby="remove" {
            h2 id="remove" { (say::account_delete()) }
            p { (say::user_delete_hint()) }
            details {
                summary { (say::account_delete_open()) }
                (form("remove", html! {
                    (parts::password("confirm", say::user_password_own(), false))
                    p.buttons { button.danger { (say::account_delete()) } }
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
        true => Err(Error::Invalid(say::user_suspended())),
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
                true => Err(Error::Invalid(say::user_is_owner())),
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
