//! The description of the API for people.

use crate::{
    api::{PREFIX, ROUTES, Route},
    request::App,
    web::{
        PageError,
        layout::{self, Place},
        visitor::Member,
    },
    words::say,
};
use axum::{Router, routing::get};
use maud::{Markup, html};

pub fn router() -> Router<App> {
    Router::new().route("/api", get(show))
}

async fn show(Member { me, .. }: Member) -> Result<Markup, PageError> {
    let body = html! {
        h1 { (say::api()) }
        p {
            (say::api_hint(
                html! { code { (PREFIX) } },
                html! { a href="/account#tokens" { (say::api_account()) } },
                html! { a href="/api/openapi.json" { code { "openapi.json" } } },
            ))
        }
        pre tabindex="0" { code { "curl -H 'Authorization: Bearer TOKEN' 'http://127.0.0.1:8080" (PREFIX) "/films?q=alien'" } }
        p { (say::api_errors(html! { code { "{\"error\": …}" } })) }
        @for route in ROUTES { (self::route(route)) }
    };
    Ok(layout::Page::new(say::api())
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
            h2 lang="en" { span.verb { (route.method) } (route.path) }
            p lang="en" { (route.what) "." }
            @if !route.query.is_empty() {
                dl lang="en" { @for (name, what) in route.query { dt { (name) } dd { (what) } } }
            }
            p.hint {
                @let gives = html! { code { (route.gives.unwrap_or("CSV")) } };
                @if let Some(takes) = takes { (say::api_takes(html! { code { (takes) } }, gives)) } @else { (say::api_gives(gives)) }
            }
        }
    }
}
