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
    web::{
        form::{Nothing, Posted},
        layout::{self, Place},
        parts,
        visitor::{self, Flash, Member},
    },
    words::{Message, say},
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
    /// Whether friends have added films, though these may be gone again.
    is_unseen: bool,
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
        new: news::of_friends(db, user.number, 0)?,
        is_unseen: news::is_unseen(db, user.number)?,
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
    if circle.is_unseen {
        // What this page shows is seen.
        let see = |db: &Connection, user: &User| news::see(db, user.number);
        member.me.write(see).await?;
    }
    let once = match done.as_str() {
        "invited" => Some(("invitation", say::link_once())),
        "feed" => Some(("feed", say::friends_feed_once())),
        _ => None,
    };
    if let (Some(secret), Some((path, words))) = (flash.secret, once) {
        let link = own_address(&member.me.app, &headers, &format!("/{path}/{secret}"));
        let notice = parts::shown_once("link", words, &link);
        return Ok(flash.show(page(&member, &circle, Some(notice), None)));
    }
    let words = match done.as_str() {
        "requested" => Some(say::friends_requested()),
        "accepted" => Some(say::friends_accepted()),
        "declined" => Some(say::friends_declined()),
        "taken-back" => Some(say::friends_taken_back()),
        "unfriended" => Some(say::friends_unfriended()),
        "blocked" => Some(say::friends_blocked_done()),
        "unblocked" => Some(say::friends_unblocked()),
        "feed-ended" => Some(say::friends_feed_ended()),
        _ => None,
    };
    Ok(page(&member, &circle, notice(words), None).into_response())
}

fn page(
    member: &Member,
    circle: &Circle,
    notice: Option<Markup>,
    problem: Option<&Message>,
) -> Markup {
    let token = member.secret.form_token();
    let body = html! {
        h1 { (say::friends()) }
        @if let Some(notice) = notice { (notice) }
        @if !circle.received.is_empty() {
            section.card aria-labelledby="received" {
                h2 id="received" { (say::friends_received()) }
                ul.plain { @for request in &circle.received { (received(request, &token)) } }
            }
        }
        section aria-labelledby="yours" {
            h2 id="yours" { (say::friends_yours()) }
            @if circle.friends.is_empty() {
                div.empty { p { (say::friends_none()) } }
            } @else {
                ul.plain { @for friend in &circle.friends { (friend_row(friend, circle)) } }
            }
        }
        (ask(circle, &token, problem))
        (invitations(circle, &token))
        (feed(circle, &token))
        @if !circle.blocked.is_empty() { (blocked(circle, &token)) }
    };
    layout::Page::new(say::friends())
        .of(&member.me)
        .at(Place::Friends)
        .show(body)
}

/// A form with one button, about a user.
fn button(address: &str, words: &Message, name: &str, token: &str, class: &str) -> Markup {
    let label = say::friends_button_label(words.clone(), name).plain();
    html! {
        form method="post" action=(address) data-enhance {
            (parts::hidden(token, ""))
            input type="hidden" name="name" value=(name);
            button.small class=(class) aria-label=(label) { (words) }
        }
    }
}

fn received(request: &Request, token: &str) -> Markup {
    html! {
        li.person {
            span.who { bdi { (request.name) } " " small { (parts::day(&date::day(request.id.ms()))) } }
            (button("/friends/accept", &say::friends_accept(), &request.name, token, "primary"))
            (button("/friends/decline", &say::friends_decline(), &request.name, token, ""))
            (button("/friends/block", &say::friends_block(), &request.name, token, ""))
        }
    }
}

fn friend_row(friend: &User, circle: &Circle) -> Markup {
    let new = circle.new.iter().find(|(user, _)| *user == friend.number);
    html! {
        li.person {
            span.who {
                a href=(parts::person_address(&friend.name)) { bdi { (friend.name) } }
                @if let Some((_, films)) = new {
                    " " a.new href={ (parts::person_address(&friend.name)) "?sort=added" } aria-label=(say::friends_new_of(*films, &friend.name).plain()) { (say::friends_new(*films)) }
                }
            }
            a.button.small href={ "/tonight?with=" (friend.name) } aria-label=(say::friends_tonight_with(&friend.name).plain()) { (say::friends_tonight()) }
        }
    }
}

fn ask(circle: &Circle, token: &str, problem: Option<&Message>) -> Markup {
    html! {
        section aria-labelledby="ask" {
            h2 id="ask" { (say::friends_ask()) }
            (parts::problem(problem))
            form method="post" action="/friends/request" data-enhance {
                (parts::hidden(token, ""))
                label.field for="friend" { (say::friends_their_name()) }
                div.row {
                    input id="friend" name="name" dir="auto" required maxlength="30" autocomplete="off" autocapitalize="none" spellcheck="false";
                    button.primary { (say::friends_ask_button()) }
                }
            }
            @if !circle.sent.is_empty() {
                h3 { (say::friends_asked()) }
                ul.plain {
                    @for request in &circle.sent {
                        li.person {
                            span.who { bdi { (request.name) } " " small { (parts::day(&date::day(request.id.ms()))) } }
                            (button("/friends/take-back", &say::friends_take_back(), &request.name, token, ""))
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
            h2 id="invite" { (say::invite()) }
            p { (say::invite_hint(INVITATION_DAYS)) }
            form method="post" action="/friends/invite" data-enhance {
                (parts::hidden(token, ""))
                button { (say::make_link()) }
            }
            @if !circle.invitations.is_empty() {
                h3 { (say::friends_invitations()) }
                ul.plain {
                    @for id in &circle.invitations {
                        li.person {
                            span.who { (say::friends_made_on(parts::day_of(*id))) }
                            form method="post" action={ "/friends/uninvite/" (id) } data-enhance {
                                (parts::hidden(token, ""))
                                button.small { (say::friends_take_back()) }
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
            h2 id="feed" { (say::friends_feed()) }
            p { (say::friends_feed_hint()) }
            form.buttons method="post" action="/friends/feed" {
                (parts::hidden(token, ""))
                @if circle.has_feed {
                    button { (say::friends_feed_new()) }
                    button formaction="/friends/feed/end" { (say::friends_feed_end()) }
                } @else {
                    button { (say::friends_feed_make()) }
                }
            }
        }
    }
}

fn blocked(circle: &Circle, token: &str) -> Markup {
    html! {
        section aria-labelledby="blocked" {
            h2 id="blocked" { (say::friends_blocked()) }
            ul.plain {
                @for user in &circle.blocked {
                    li.person {
                        span.who { bdi { (user.name) } }
                        (button("/friends/unblock", &say::friends_unblock(), &user.name, token, ""))
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
