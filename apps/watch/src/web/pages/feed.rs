//! The feed of what friends add, for feed readers. Its address is a secret, because readers don't sign in.

use super::{
    common::{Answer, form_of},
    friends::own_address,
};
use crate::{
    Error, Result, date,
    db::{
        news::{self, Addition},
        users::{self, User},
    },
    request::App,
    secret::Secret,
    text,
    web::{
        form::{Nothing, Posted},
        parts,
        visitor::{self, Member},
    },
    words::{self, say},
};
use axum::{
    Router,
    extract::{Path, State},
    http::{HeaderMap, header},
    response::{IntoResponse, Redirect},
    routing::{get, post},
};
use maud::{Markup, PreEscaped, html};
use rusqlite::Connection;

pub fn router() -> Router<App> {
    Router::new()
        .route("/feed/{secret}", get(show))
        .route("/friends/feed", form_of("/friends", post(open)))
        .route("/friends/feed/end", form_of("/friends", post(close)))
}

/// The feed, RFC 4287.
async fn show(State(app): State<App>, Path(secret): Path<String>, headers: HeaderMap) -> Answer {
    let secret: Secret = secret.parse().map_err(|_| Error::NotFound("feed"))?;
    let look = move |db: &Connection| -> Result<(User, Vec<Addition>)> {
        let user = news::feed_of(db, secret)?.ok_or(Error::NotFound("feed"))?;
        Ok((users::by_number(db, user)?, news::additions(db, user)?))
    };
    let (user, additions) = app.db().read_long(look).await?;
    words::set(user.language.unwrap_or_else(words::current));
    let address = |path: &str| own_address(&app, &headers, path);
    let updated = additions
        .first()
        .map_or(user.id.ms(), |first| first.added_ms);
    let feed = html! {
        (PreEscaped("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"))
        feed xmlns="http://www.w3.org/2005/Atom" {
            title { (say::feed_title().plain()) }
            id { (identity(&user, "feed")) }
            updated { (date::time(updated)) }
            author { name { (say::brand().plain()) } }
            (link(&address("/friends")))
            @for addition in &additions { (entry(&user, addition, &address(&parts::film_address(&addition.film)))) }
        }
    };
    let kind = [(header::CONTENT_TYPE, "application/atom+xml; charset=utf-8")];
    // One character that XML forbids would make the whole feed unreadable. A film may be older than the rule for titles.
    let mut feed = feed.into_string();
    feed.retain(text::is_of_xml);
    Ok((kind, feed).into_response())
}

/// The id of a part of a user's feed, RFC 4151.
fn identity(user: &User, part: &str) -> String {
    format!("tag:{},{}:{part}", user.id, date::day(user.id.ms()))
}

/// A link; XML closes every element.
fn link(address: &str) -> Markup {
    html! { (PreEscaped("<link href=\"")) (address) (PreEscaped("\"/>")) }
}

fn entry(user: &User, addition: &Addition, address: &str) -> Markup {
    let facts = &addition.film.facts;
    let part = format!("{}/{}", addition.friend, addition.film.id);
    let (name, film) = (&addition.friend, &facts.title);
    let said = match addition.watched {
        true => say::feed_watched(name, film),
        false => say::feed_wants(name, film),
    };
    html! {
        entry {
            title {
                (said.plain())
                @if let Some(year) = facts.year { " (" (year) ")" }
            }
            id { (identity(user, &part)) }
            updated { (date::time(addition.added_ms)) }
            (link(address))
            summary { (facts.genres.join(", ")) }
        }
    }
}

async fn open(member: Member, Posted(Nothing {}): Posted<Nothing>) -> Answer {
    let secret = Secret::new();
    let open = move |db: &Connection, user: &User| news::open_feed(db, user.number, secret);
    member.me.write(open).await?;
    let behind_tls = member.me.app.config().behind_tls;
    Ok(visitor::show_once(secret, "/friends?done=feed", behind_tls))
}

async fn close(member: Member, Posted(Nothing {}): Posted<Nothing>) -> Answer {
    let close = |db: &Connection, user: &User| news::close_feed(db, user.number);
    member.me.write(close).await?;
    Ok(Redirect::to("/friends?done=feed-ended").into_response())
}
