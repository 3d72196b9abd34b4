//! The description of the API for people.

use crate::{
    api::{PREFIX, ROUTES, Route},
    request::App,
    web::{
        PageError,
        layout::{self, Place},
        visitor::Member,
    },
};
use axum::{Router, routing::get};
use maud::{Markup, html};

pub fn router() -> Router<App> {
    Router::new().route("/api", get(show))
}

async fn show(Member { me, .. }: Member) -> Result<Markup, PageError> {
    let body = html! {
        h1 { "The API" }
        p {
            "Everything below is under " code { (PREFIX) } ", takes and gives JSON, and wants a token from "
            a href="/account#tokens" { "your account" } ". For programs it is described in "
            a href="/api/openapi.json" { "openapi.json" } "."
        }
        pre tabindex="0" { code { "curl -H 'Authorization: Bearer TOKEN' 'http://127.0.0.1:8080" (PREFIX) "/films?q=alien'" } }
        p { "An error has a status of 400 or more, and says in " code { "{\"error\": …}" } " what was wrong." }
        @for route in ROUTES { (self::route(route)) }
    };
    Ok(layout::Page::new("The API")
        .of(&me)
        .at(Place::Account)
        .show(body))
}

fn route(route: &Route) -> Markup {
    let takes = if route.takes_file {
        Some("CSV, JSON or a zip archive")
    } else {
        route.takes
    };
    html! {
        section.route {
            h2 { span.verb { (route.method) } (route.path) }
            p { (route.what) "." }
            @if !route.query.is_empty() {
                dl { @for (name, what) in route.query { dt { (name) } dd { (what) } } }
            }
            p.hint {
                @if let Some(takes) = takes { "Takes " code { (takes) } ", gives " } @else { "Gives " }
                code { (route.gives.unwrap_or("CSV")) } "."
            }
        }
    }
}
