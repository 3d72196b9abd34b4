//! Forms: after each there is a page that can be loaded again.

use crate::client::{Client, PASSWORD, Site};
use axum::http::StatusCode;
use std::{fs, path::Path};

/// The addresses of all routes of pages and their handlers, read off the program's text.
pub fn routes() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/web/pages");
    let mut routes = Vec::new();
    for file in fs::read_dir(folder).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        let text: String = text.split_whitespace().collect();
        for route in text.split(".route(").skip(1) {
            let (address, handler) = route[1..].split_once("\",").unwrap();
            let handler = handler.trim_start_matches("routing::");
            routes.push((address.to_owned(), handler.to_owned()));
        }
    }
    assert!(routes.len() > 30, "{routes:?}");
    routes
}

/// The address of a route, with something in place of what varies.
fn address((route, _): (String, String)) -> String {
    let id = "0".repeat(26);
    let mut address = route
        .replace("{name}", "Ben")
        .replace("{secret}", &"0".repeat(40))
        .replace("{version}", "x");
    for name in ["{film}", "{change}", "{id}"] {
        address = address.replace(name, &id);
    }
    address
}

#[tokio::test]
async fn no_address_that_takes_a_form_is_a_dead_end() {
    let (site, people) = Site::with_people(&["Anna", "Ben"]).await;
    let mut forms = 0;
    for address in routes().into_iter().map(address) {
        for mut visitor in [site.visitor(), people[0].clone()] {
            let posted = visitor.post_as_is(&address, &[]).await;
            if posted.status == StatusCode::METHOD_NOT_ALLOWED {
                continue;
            }
            forms += 1;
            let loaded = visitor.get(&address).await;
            assert_ne!(loaded.status, StatusCode::METHOD_NOT_ALLOWED, "{address}");
        }
    }
    assert!(forms > 40, "{forms}");
}

/// The addresses that the forms and buttons of a page go to.
fn forms(page: &str) -> Vec<String> {
    let mut addresses = Vec::new();
    for tag in page
        .split('<')
        .filter(|tag| tag.starts_with("form") || tag.starts_with("button"))
    {
        let is_form = tag.contains("method=\"post\"") || tag.starts_with("button");
        for name in ["formaction=\"", " action=\""] {
            if let Some((_, rest)) = tag.split_once(name).filter(|_| is_form) {
                addresses.push(rest.split('"').next().unwrap().to_owned());
            }
        }
    }
    addresses
}

async fn is_loadable(visitor: &mut Client, address: &str) {
    let answer = visitor.get(address).await;
    let is_fine = answer.status.is_success() || answer.status.is_redirection();
    assert!(is_fine, "{address}: {}", answer.status);
}

#[tokio::test]
async fn the_address_of_every_form_on_every_page_can_be_loaded() {
    let (_site, mut people) = Site::with_people(&["Anna", "Ben"]).await;
    let film = people[0].add("alien", &[("priority", "5")]).await;
    people[0].make_token().await;
    people[0].invitation().await;
    let pages = [
        "/",
        "/films?q=a",
        "/films/new",
        "/friends",
        "/people/Ben",
        "/tonight?with=Ben",
        "/import",
        "/account",
    ];
    let pages = pages
        .map(str::to_owned)
        .into_iter()
        .chain([format!("/films/{film}"), format!("/films/{film}/change")]);
    let mut count = 0;
    for page in pages {
        let text = people[0].get(&page).await.text;
        for address in forms(&text) {
            is_loadable(&mut people[0], &address).await;
            count += 1;
        }
    }
    assert!(count > 20, "{count}");
}

#[tokio::test]
async fn what_is_shown_once_is_shown_once() {
    let (_site, mut people) = Site::with_people(&["Anna"]).await;
    for (page, form, fields, mark) in [
        ("/friends", "/friends/invite", &[][..], "/invitation/"),
        (
            "/account",
            "/account/tokens",
            &[("name", "test"), ("confirm", PASSWORD)][..],
            "id=\"made\"",
        ),
    ] {
        let answer = people[0].post(page, form, fields).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.text);
        let to = answer.header("location").to_owned();
        let shown = people[0].get(&to).await.text;
        let secret = shown.split_once(mark).expect("it is shown").1.to_owned();
        assert!(!to.contains(&secret[..10]));
        let again = people[0].get(&to).await;
        assert!(
            again.status == StatusCode::OK && !again.text.contains(mark),
            "{}",
            again.text
        );
    }
    // A reload makes no second one.
    assert_eq!(
        people[0]
            .get("/friends")
            .await
            .text
            .matches("Made on")
            .count(),
        1
    );
}
