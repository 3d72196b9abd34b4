//! Lists with names, which are tags of the films of a list.

use super::common::{Answer, form_of, go_back};
use crate::{
    db::{entries::tags, users::User},
    request::{App, View},
    text,
    web::{form::Posted, parts, visitor::Member},
};
use axum::{Router, routing::post};
use maud::{Markup, html};
use rusqlite::Connection;
use serde::Deserialize;

pub fn router() -> Router<App> {
    Router::new().route("/list/rename", form_of("/", post(rename)))
}

/// The address of the films of a tag.
fn address(tag: Option<&String>, watched: bool) -> String {
    let view = View {
        tag: tag.cloned(),
        watched,
        ..View::default()
    };
    view.address("/")
}

/// The way to each list, if there are some.
pub fn chooser(view: &View, tags: &[(String, i64)]) -> Markup {
    let is_this = |tag: Option<&String>| (view.tag.as_ref() == tag).then_some("true");
    html! {
        @if !tags.is_empty() {
            nav.names aria-label="Your lists" {
                a href=(address(None, view.watched)) aria-current=[is_this(None)] { "All" }
                @for (tag, count) in tags {
                    a href=(address(Some(tag), view.watched)) aria-current=[is_this(Some(tag))] {
                        bdi { (tag) } " " span.count { (count) }
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
            @for tag in tags { a href=(address(Some(tag), false)) aria-label={ "List: " (text::isolated(tag)) } { bdi { (tag) } } }
        }
    }
}

/// The form to rename a list, or to end it.
pub fn form(tag: &str, token: &str) -> Markup {
    html! {
        details {
            summary { "Rename this list" }
            form method="post" action="/list/rename" {
                (parts::hidden(token, ""))
                input type="hidden" name="tag" value=(tag);
                label.field for="to" { "New name" }
                input id="to" name="to" dir="auto" value=(tag) maxlength=(tags::TAG_CHARACTERS_MAX);
                p.hint { "Without a name the list ends. Its films stay on your list." }
                p.buttons { button { "Rename" } }
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
        &address(name.as_ref(), false),
        "renamed",
        Some(change),
    ))
}
