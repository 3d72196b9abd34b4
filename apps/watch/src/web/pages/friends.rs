//! Friends, requests and invitations.

use super::common::{Answer, Done, again, form_of, notice};
use crate::{
    Result, date,
    db::{
        blocks,
        friends::{self, Request},
        links::{self, INVITATION_DAYS},
        news,
        users::User,
    },
    request::App,
    secret::Secret,
    text,
    web::{
        form::{Nothing, Posted},
        layout::{self, Place},
        parts,
        visitor::{self, Flash, Member},
    },
};
use axum::{
    Router,
    extract::{Path, Query},
    http::{HeaderMap, Uri, header},
    response::{IntoResponse, Redirect},
    routing::{get, post},
};
use inorder_key::Ulid;
use maud::{Markup, html};
use rusqlite::Connection;
use serde::Deserialize;

pub fn router() -> Router<App> {
    Router::new()
        .route("/friends", get(show))
        .route("/friends/request", form_of("/friends", post(request)))
        .route("/friends/accept", form_of("/friends", post(accept)))
        .route("/friends/decline", form_of("/friends", post(decline)))
        .route("/friends/take-back", form_of("/friends", post(take_back)))
        .route("/friends/unfriend", form_of("/friends", post(unfriend)))
        .route("/friends/block", form_of("/friends", post(block)))
        .route("/friends/unblock", form_of("/friends", post(unblock)))
        .route("/friends/invite", form_of("/friends", post(invite)))
        .route(
            "/friends/uninvite/{id}",
            form_of("/friends", post(uninvite)),
        )
}

/// All that the page shows.
struct Circle {
    friends: Vec<User>,
    /// The numbers of new films of those who have some.
    new: Vec<(i64, i64)>,
    blocked: Vec<User>,
    has_feed: bool,
    received: Vec<Request>,
    sent: Vec<Request>,
    invitations: Vec<Ulid>,
}

/// A form that names a user.
#[derive(Deserialize)]
struct Name {
    name: String,
}

fn circle(db: &Connection, user: &User) -> Result<Circle> {
    Ok(Circle {
        friends: friends::all(db, user.number)?,
        new: news::of_friends(db, user.number)?,
        blocked: blocks::all(db, user.number)?,
        has_feed: news::has_feed(db, user.number)?,
        received: friends::received(db, user)?,
        sent: friends::sent(db, user.number)?,
        invitations: links::invitations(db, user.number)?,
    })
}

async fn show(
    member: Member,
    flash: Flash,
    headers: HeaderMap,
    Query(Done { done, .. }): Query<Done>,
) -> Answer {
    let circle = member.me.read(circle)?;
    if !circle.new.is_empty() {
        // What this page shows is seen.
        let see = |db: &Connection, user: &User| news::see(db, user.number);
        member.me.write(see).await?;
    }
    let once = match done.as_str() {
        "invited" => Some(("invitation", "Send this link; it is shown only now")),
        "feed" => Some(("feed", "The address of your feed; it is shown only now")),
        _ => None,
    };
    if let (Some(secret), Some((path, words))) = (flash.secret, once) {
        let link = own_address(&member.me.app, &headers, &format!("/{path}/{secret}"));
        let notice = parts::shown_once("link", words, &link);
        return Ok(flash.show(page(&member, &circle, Some(notice), None)));
    }
    let words = match done.as_str() {
        "requested" => Some("Request sent. If a user has this name, they see it."),
        "accepted" => Some("You are friends now: you see what is public on each other’s lists."),
        "declined" => Some("Declined. The sender is not told."),
        "taken-back" => Some("Taken back."),
        "unfriended" => Some("You are no longer friends."),
        "blocked" => Some("Blocked. Their requests no longer reach you."),
        "unblocked" => Some("Unblocked."),
        "feed-ended" => Some("The address of your feed is no longer valid."),
        _ => None,
    };
    Ok(page(&member, &circle, notice(words), None).into_response())
}

fn page(member: &Member, circle: &Circle, notice: Option<Markup>, problem: Option<&str>) -> Markup {
    let token = member.secret.form_token();
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
                div.empty { p { "None yet. Friends see what is public on each other’s lists, and find out what to watch together." } }
            } @else {
                ul.plain { @for friend in &circle.friends { (friend_row(friend, circle)) } }
            }
        }
        (ask(circle, &token, problem))
        (invitations(circle, &token))
        (feed(circle, &token))
        @if !circle.blocked.is_empty() { (blocked(circle, &token)) }
    };
    layout::Page::new("Friends")
        .of(&member.me)
        .at(Place::Friends)
        .show(body)
}

/// A form with one button, about a user.
fn button(address: &str, words: &str, name: &str, token: &str, class: &str) -> Markup {
    html! {
        form method="post" action=(address) data-enhance {
            (parts::hidden(token, ""))
            input type="hidden" name="name" value=(name);
            button.small class=(class) aria-label={ (words) ": " (text::isolated(name)) } { (words) }
        }
    }
}

fn received(request: &Request, token: &str) -> Markup {
    html! {
        li.person {
            span.who { bdi { (request.name) } " " small { (date::day(request.id.ms())) } }
            (button("/friends/accept", "Accept", &request.name, token, "primary"))
            (button("/friends/decline", "Decline", &request.name, token, ""))
            (button("/friends/block", "Block", &request.name, token, ""))
        }
    }
}

fn friend_row(friend: &User, circle: &Circle) -> Markup {
    let new = circle.new.iter().find(|(user, _)| *user == friend.number);
    html! {
        li.person {
            span.who {
                a href={ "/people/" (friend.name) } { bdi { (friend.name) } }
                @if let Some((_, films)) = new {
                    " " a.new href={ "/people/" (friend.name) "?sort=added" } aria-label={ (films) " new films of " (text::isolated(&friend.name)) } { (films) " new" }
                }
            }
            a.button.small href={ "/tonight?with=" (friend.name) } aria-label={ "Tonight with " (text::isolated(&friend.name)) } { "Tonight" }
        }
    }
}

fn ask(circle: &Circle, token: &str, problem: Option<&str>) -> Markup {
    html! {
        section aria-labelledby="ask" {
            h2 id="ask" { "Ask a user of this site" }
            (parts::problem(problem))
            form method="post" action="/friends/request" data-enhance {
                (parts::hidden(token, ""))
                label.field for="friend" { "Their name" }
                div.row {
                    input id="friend" name="name" dir="auto" required maxlength="30" autocomplete="off" autocapitalize="none" spellcheck="false";
                    button.primary { "Ask" }
                }
            }
            @if !circle.sent.is_empty() {
                h3 { "You have asked" }
                ul.plain {
                    @for request in &circle.sent {
                        li.person {
                            span.who { bdi { (request.name) } " " small { (date::day(request.id.ms())) } }
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
            h2 id="invite" { "Invite a new user" }
            p { "Send a friend a link. It works once, within " (INVITATION_DAYS) " days, and whoever signs up with it is your friend." }
            form method="post" action="/friends/invite" data-enhance {
                (parts::hidden(token, ""))
                button { "Make a link" }
            }
            @if !circle.invitations.is_empty() {
                h3 { "Open invitations" }
                ul.plain {
                    @for id in &circle.invitations {
                        li.person {
                            span.who { "Made on " (parts::day_of(*id)) }
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

fn feed(circle: &Circle, token: &str) -> Markup {
    html! {
        section aria-labelledby="feed" {
            h2 id="feed" { "Feed" }
            p { "A secret address for a feed reader, with the films that your friends add. Everybody who has the address can read it." }
            form.buttons method="post" action="/friends/feed" {
                (parts::hidden(token, ""))
                @if circle.has_feed {
                    button { "Make a new address" }
                    button formaction="/friends/feed/end" { "End the feed" }
                } @else {
                    button { "Make an address" }
                }
            }
        }
    }
}

fn blocked(circle: &Circle, token: &str) -> Markup {
    html! {
        section aria-labelledby="blocked" {
            h2 id="blocked" { "Blocked" }
            ul.plain {
                @for user in &circle.blocked {
                    li.person {
                        span.who { bdi { (user.name) } }
                        (button("/friends/unblock", "Unblock", &user.name, token, ""))
                    }
                }
            }
        }
    }
}

/// Changes the relation to a user, and shows a notice on the page.
async fn about(
    member: Member,
    Posted(Name { name }): Posted<Name>,
    done: &str,
    work: impl FnOnce(&Connection, &User, &str) -> Result<()> + Send + 'static,
) -> Answer {
    let written = member.me.write(move |db, user| work(db, user, &name));
    match written.await {
        Ok(()) => Ok(Redirect::to(&format!("/friends?done={done}")).into_response()),
        Err(error) => {
            let circle = member.me.read(circle)?;
            again(error, |words| page(&member, &circle, None, Some(words)))
        }
    }
}

async fn request(member: Member, form: Posted<Name>) -> Answer {
    about(member, form, "requested", friends::request).await
}

async fn accept(member: Member, form: Posted<Name>) -> Answer {
    about(member, form, "accepted", friends::accept).await
}

async fn decline(member: Member, form: Posted<Name>) -> Answer {
    let decline =
        |db: &Connection, user: &User, name: &str| friends::decline(db, user, name).map(drop);
    about(member, form, "declined", decline).await
}

async fn take_back(member: Member, form: Posted<Name>) -> Answer {
    about(member, form, "taken-back", |db, user, name| {
        friends::take_back(db, user.number, name)
    })
    .await
}

async fn unfriend(member: Member, form: Posted<Name>) -> Answer {
    about(member, form, "unfriended", |db, user, name| {
        friends::unfriend(db, user.number, name)
    })
    .await
}

async fn block(member: Member, form: Posted<Name>) -> Answer {
    about(member, form, "blocked", blocks::block).await
}

async fn unblock(member: Member, form: Posted<Name>) -> Answer {
    about(member, form, "unblocked", blocks::unblock).await
}

async fn invite(member: Member, Posted(Nothing {}): Posted<Nothing>) -> Answer {
    let secret = Secret::new();
    let invited = member
        .me
        .write(move |db, user| links::invite(db, user.number, secret));
    match invited.await {
        Ok(()) => {
            let behind_tls = member.me.app.config().behind_tls;
            Ok(visitor::show_once(
                secret,
                "/friends?done=invited",
                behind_tls,
            ))
        }
        Err(error) => {
            let circle = member.me.read(circle)?;
            again(error, |words| page(&member, &circle, None, Some(words)))
        }
    }
}

/// The address of a path, under the name by which the client reaches the site.
pub fn own_address(app: &App, headers: &HeaderMap, path: &str) -> String {
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    let scheme = if app.config().behind_tls {
        "https"
    } else {
        "http"
    };
    let link = Uri::builder()
        .scheme(scheme)
        .authority(host.unwrap_or_default())
        .path_and_query(path)
        .build();
    link.map_or_else(|_| path.to_owned(), |link| link.to_string())
}

async fn uninvite(
    Member { me, .. }: Member,
    Path(id): Path<Ulid>,
    Posted(Nothing {}): Posted<Nothing>,
) -> Answer<Redirect> {
    let uninvite = move |db: &Connection, user: &User| links::uninvite(db, user.number, id);
    me.write(uninvite).await?;
    Ok(Redirect::to("/friends?done=taken-back"))
}
