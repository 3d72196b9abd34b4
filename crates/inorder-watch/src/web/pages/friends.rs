//! Friends, requests and invitations.

use super::Answer;
use crate::{
    date,
    db::{
        friends::{self, Request},
        links::{self, INVITATION_DAYS},
        users::User,
    },
    secret::Secret,
    web::{
        App,
        form::Posted,
        layout::{self, Place},
        parts,
        visitor::Member,
    },
};
use axum::{
    Router,
    extract::{Path, Query, State as Shared},
    http::{StatusCode, Uri, header},
    response::{IntoResponse, Redirect},
    routing::{get, post},
};
use inorder_key::Ulid;
use maud::{Markup, html};
use serde::Deserialize;

pub fn router() -> Router<App> {
    Router::new()
        .route("/friends", get(show))
        .route("/friends/request", post(request))
        .route("/friends/accept", post(accept))
        .route("/friends/decline", post(decline))
        .route("/friends/take-back", post(take_back))
        .route("/friends/unfriend", post(unfriend))
        .route("/friends/invite", post(invite))
        .route("/friends/uninvite/{id}", post(uninvite))
}

/// All that the page shows.
struct Circle {
    friends: Vec<User>,
    received: Vec<Request>,
    sent: Vec<Request>,
    invitations: Vec<Ulid>,
}

#[derive(Deserialize, Default)]
struct Done {
    #[serde(default)]
    done: String,
}

/// A form that names somebody.
#[derive(Deserialize)]
struct Name {
    name: String,
}

#[derive(Deserialize)]
struct Nothing {}

async fn circle(app: &App, user: User) -> crate::Result<Circle> {
    app.db()
        .read(move |db| {
            Ok(Circle {
                friends: friends::all(db, user.number)?,
                received: friends::received(db, &user)?,
                sent: friends::sent(db, user.number)?,
                invitations: links::invitations(db, user.number)?,
            })
        })
        .await
}

async fn show(
    Shared(app): Shared<App>,
    member: Member,
    Query(Done { done }): Query<Done>,
) -> Answer<Markup> {
    let circle = circle(&app, member.user.clone()).await?;
    let notice = match done.as_str() {
        "requested" => {
            Some("Asked. If there is somebody of this name here, they see your request.")
        }
        "accepted" => Some("You are friends now: you see what is public on each other’s lists."),
        "declined" => Some("Declined; nobody is told."),
        "taken-back" => Some("Taken back."),
        "unfriended" => Some("You are no longer friends."),
        _ => None,
    };
    let notice = notice.map(|words| html! { div.notice role="status" { p { (words) } } });
    Ok(page(&member, &circle, notice, None))
}

fn page(member: &Member, circle: &Circle, notice: Option<Markup>, problem: Option<&str>) -> Markup {
    let token = member.form_token();
    let body = html! {
        h1 { "Friends" }
        @if let Some(notice) = notice { (notice) }
        @if !circle.received.is_empty() {
            section.card aria-labelledby="received" {
                h2 id="received" { "Requests for you" }
                ul.plain { @for request in &circle.received { (received(request, &token)) } }
            }
        }
        section aria-labelledby="yours" {
            h2 id="yours" { "Your friends" }
            @if circle.friends.is_empty() {
                p.empty { "None yet. Friends see what is public on each other’s lists, and find out what to watch together." }
            } @else {
                ul.plain { @for friend in &circle.friends { (friend_row(friend, &token)) } }
            }
        }
        (ask(circle, &token, problem))
        (invitations(circle, &token))
    };
    layout::Page::new("Friends")
        .of(&member.user)
        .at(Place::Friends)
        .show(body)
}

/// A form with one button, about somebody.
fn button(address: &str, words: &str, name: &str, token: &str, class: &str) -> Markup {
    html! {
        form method="post" action=(address) data-enhance {
            (parts::hidden(token, ""))
            input type="hidden" name="name" value=(name);
            button.small class=(class) aria-label={ (words) ": " (name) } { (words) }
        }
    }
}

fn received(request: &Request, token: &str) -> Markup {
    html! {
        li.person {
            span.who { (request.name) " " small { (date::day(request.id.ms())) } }
            (button("/friends/accept", "Accept", &request.name, token, "primary"))
            (button("/friends/decline", "Decline", &request.name, token, ""))
        }
    }
}

fn friend_row(friend: &User, token: &str) -> Markup {
    html! {
        li.person {
            a.who href={ "/people/" (friend.name) } { (friend.name) }
            a.button.small href={ "/tonight?with=" (friend.name) } aria-label={ "Tonight with " (friend.name) } { "Tonight" }
            (button("/friends/unfriend", "Unfriend", &friend.name, token, ""))
        }
    }
}

fn ask(circle: &Circle, token: &str, problem: Option<&str>) -> Markup {
    html! {
        section aria-labelledby="ask" {
            h2 id="ask" { "Ask somebody who is here" }
            (parts::problem(problem))
            form method="post" action="/friends/request" data-enhance {
                (parts::hidden(token, ""))
                label.field for="friend" { "Their name" }
                div.row {
                    input id="friend" name="name" required maxlength="30" autocomplete="off" autocapitalize="none" spellcheck="false";
                    button.primary { "Ask" }
                }
            }
            @if !circle.sent.is_empty() {
                h3 { "You have asked" }
                ul.plain {
                    @for request in &circle.sent {
                        li.person {
                            span.who { (request.name) " " small { (date::day(request.id.ms())) } }
                            (button("/friends/take-back", "Take back", &request.name, token, ""))
                        }
                    }
                }
            }
        }
    }
}

fn invitations(circle: &Circle, token: &str) -> Markup {
    html! {
        section aria-labelledby="invite" {
            h2 id="invite" { "Invite somebody who isn’t" }
            p { "A link that is good once, for " (INVITATION_DAYS) " days: who signs up with it is your friend." }
            form method="post" action="/friends/invite" data-enhance {
                (parts::hidden(token, ""))
                button { "Make a link" }
            }
            @if !circle.invitations.is_empty() {
                h3 { "Open invitations" }
                ul.plain {
                    @for id in &circle.invitations {
                        li.person {
                            span.who { "Made on " (date::day(id.ms())) }
                            form method="post" action={ "/friends/uninvite/" (id) } data-enhance {
                                (parts::hidden(token, ""))
                                button.small { "Take back" }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn done(what: &str) -> axum::response::Response {
    Redirect::to(&format!("/friends?done={what}")).into_response()
}

async fn request(
    Shared(app): Shared<App>,
    member: Member,
    Posted(Name { name }): Posted<Name>,
) -> Answer {
    let user = member.user.clone();
    match app
        .db()
        .write(move |db| friends::request(db, &user, &name))
        .await
    {
        Ok(()) => Ok(done("requested")),
        Err(error) => {
            let words = super::problem(error)?;
            let circle = circle(&app, member.user.clone()).await?;
            let page = page(&member, &circle, None, Some(&words));
            Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
        }
    }
}

async fn accept(
    Shared(app): Shared<App>,
    member: Member,
    Posted(Name { name }): Posted<Name>,
) -> Answer {
    app.db()
        .write(move |db| friends::accept(db, &member.user, &name))
        .await?;
    Ok(done("accepted"))
}

async fn decline(
    Shared(app): Shared<App>,
    member: Member,
    Posted(Name { name }): Posted<Name>,
) -> Answer {
    app.db()
        .write(move |db| friends::decline(db, &member.user, &name))
        .await?;
    Ok(done("declined"))
}

async fn take_back(
    Shared(app): Shared<App>,
    member: Member,
    Posted(Name { name }): Posted<Name>,
) -> Answer {
    app.db()
        .write(move |db| friends::take_back(db, member.user.number, &name))
        .await?;
    Ok(done("taken-back"))
}

async fn unfriend(
    Shared(app): Shared<App>,
    member: Member,
    Posted(Name { name }): Posted<Name>,
) -> Answer {
    app.db()
        .write(move |db| friends::unfriend(db, member.user.number, &name))
        .await?;
    Ok(done("unfriended"))
}

async fn invite(
    Shared(app): Shared<App>,
    member: Member,
    headers: axum::http::HeaderMap,
    Posted(Nothing {}): Posted<Nothing>,
) -> Answer<Markup> {
    let (secret, user) = (Secret::new(), member.user.number);
    app.db()
        .write(move |db| links::invite(db, user, secret))
        .await?;
    let circle = circle(&app, member.user.clone()).await?;
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok())
        .unwrap_or_default();
    let scheme = if app.config().behind_tls {
        "https"
    } else {
        "http"
    };
    let link = Uri::builder()
        .scheme(scheme)
        .authority(host)
        .path_and_query(format!("/invitation/{secret}"))
        .build();
    let link = link.map_or_else(|_| format!("/invitation/{secret}"), |link| link.to_string());
    let notice = html! {
        div.notice role="status" {
            label.field for="link" { "Send this link; it is shown only now" }
            input.wide id="link" readonly value=(link) data-select;
        }
    };
    Ok(page(&member, &circle, Some(notice), None))
}

async fn uninvite(
    Shared(app): Shared<App>,
    member: Member,
    Path(id): Path<Ulid>,
    Posted(Nothing {}): Posted<Nothing>,
) -> Answer {
    app.db()
        .write(move |db| links::uninvite(db, member.user.number, id))
        .await?;
    Ok(done("taken-back"))
}
