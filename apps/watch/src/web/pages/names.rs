//! Lists with names, which are tags of the films of a list.

use super::common::{Answer, form_of, go_back};
use crate::{
    db::{
        entries::tags::{self, Tag},
        users::User,
    },
    request::{App, View},
    web::{
        form::{Posted, ticked},
        parts,
        visitor::Member,
    },
    words::{Message, say},
};
use axum::{Router, routing::post};
use maud::{Markup, html};
use rusqlite::Connection;
use serde::Deserialize;

pub fn router() -> Router<App> {
    Router::new()
        .route("/list/rename", form_of("/", post(rename)))
        .route("/list/share", form_of("/", post(share)))
}

/// The address of the films of a tag.
fn address(path: &str, tag: Option<&String>, watched: bool) -> String {
    let view = View {
        tag: tag.cloned(),
        watched,
        ..View::default()
    };
    view.address(path)
}

/// The way to each list of a user, if there are some.
pub fn chooser(path: &str, label: Message, view: &View, tags: &[Tag]) -> Markup {
    let is_this = |tag: Option<&String>| (view.tag.as_ref() == tag).then_some("true");
    html! {
        @if !tags.is_empty() {
            nav.names aria-label=(label) {
                a href=(address(path, None, view.watched)) aria-current=[is_this(None)] { (say::names_all()) }
                @for Tag { name, films, .. } in tags {
                    a href=(address(path, Some(name), view.watched)) aria-current=[is_this(Some(name))] {
                        bdi { (name) } " " span.count { (films) }
                    }
                }
            }
        }
    }
}

/// The lists of a film, in a line.
pub fn chips(tags: &[String]) -> Markup {
    html! {
        p.chips {
            @for tag in tags { a href=(address("/", Some(tag), false)) aria-label=(say::names_chip(tag).plain()) { bdi { (tag) } } }
        }
    }
}

/// The forms to show a list to friends, and to rename or end it.
pub fn forms(tag: &Tag, token: &str) -> Markup {
    let Tag { name, shared, .. } = tag;
    html! {
        form.buttons method="post" action="/list/share" {
            (parts::hidden(token, ""))
            input type="hidden" name="tag" value=(name);
            @if *shared {
                button { (say::names_hide()) }
            } @else {
                button name="shared" value="1" { (say::names_show()) }
            }
        }
        details {
            summary { (say::names_rename()) }
            form method="post" action="/list/rename" {
                (parts::hidden(token, ""))
                input type="hidden" name="tag" value=(name);
                label.field for="to" { (say::names_new()) }
                input id="to" name="to" dir="auto" value=(name) maxlength=(tags::TAG_CHARACTERS_MAX);
                p.hint { (say::names_hint()) }
                p.buttons { button { (say::names_button()) } }
            }
        }
    }
}

#[derive(Deserialize)]
struct Renamed {
    tag: String,
    #[serde(default)]
    to: String,
}

async fn rename(member: Member, Posted(Renamed { tag, to }): Posted<Renamed>) -> Answer {
    let name = tags::checked(vec![to.clone()])?.pop();
    let rename = move |db: &Connection, user: &User| tags::rename(db, user.number, &tag, &to);
    let change = member.me.write(rename).await?;
    Ok(go_back(
        &address("/", name.as_ref(), false),
        "renamed",
        Some(change),
    ))
}

#[derive(Deserialize)]
struct Shared {
    tag: String,
    #[serde(default, deserialize_with = "ticked")]
    shared: bool,
}

async fn share(member: Member, Posted(Shared { tag, shared }): Posted<Shared>) -> Answer {
    let back = address("/", Some(&tag), false);
    let share = move |db: &Connection, user: &User| tags::share(db, user.number, &tag, shared);
    member.me.write(share).await?;
    let done = if shared { "shared" } else { "unshared" };
    Ok(go_back(&back, done, None))
}
