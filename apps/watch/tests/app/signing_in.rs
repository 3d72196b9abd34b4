//! Signing in: what tries count against whom, and what ends with a password.

use crate::client::{Client, PASSWORD, Site};
use axum::http::StatusCode;
use inorder_watch::{db::links, request::Config, secret::Secret};
use std::time::Instant;

/// Seconds after which an address may try once more.
const TRY_INTERVAL_S: u64 = 20;
const NEW: &str = "another long password";

/// A site behind a proxy, so that people have addresses, and who they are.
async fn people(names: &[&str]) -> (Site, Vec<Client>) {
    Site::with_people_and(
        Config {
            behind_tls: true,
            ..Config::default()
        },
        names,
    )
    .await
}

fn visitor(site: &Site, address: &str) -> Client {
    let mut visitor = site.visitor();
    visitor.address = Some(address.to_owned());
    visitor
}

/// Tries wrong passwords until they are no longer looked at. Gives how many were.
async fn use_up(attacker: &mut Client, name: &str) -> usize {
    for tries in 0..40 {
        let answer = attacker.sign_in(name, "a wrong password").await;
        if answer.status == StatusCode::TOO_MANY_REQUESTS {
            return tries;
        }
    }
    panic!("there is no limit");
}

#[tokio::test]
async fn nobody_locks_somebody_else_out() {
    let (site, _people) = people(&["Anna"]).await;
    for address in ["203.0.113.1", "203.0.113.2", "2001:db8::1"] {
        assert_eq!(
            use_up(&mut visitor(&site, address), "anna").await,
            10,
            "{address}"
        );
    }
    let mut anna = visitor(&site, "198.51.100.7");
    assert_eq!(
        anna.sign_in("Anna", PASSWORD).await.status,
        StatusCode::SEE_OTHER
    );
    // The next address of the same customer is none of its own.
    let mut next = visitor(&site, "2001:db8::2");
    assert_eq!(
        next.sign_in("Anna", PASSWORD).await.status,
        StatusCode::TOO_MANY_REQUESTS
    );
    let mut neighbour = visitor(&site, "2001:db8:0:1::2");
    assert_eq!(
        neighbour.sign_in("Anna", PASSWORD).await.status,
        StatusCode::SEE_OTHER
    );
}

#[tokio::test]
async fn a_known_browser_is_not_locked_out_from_its_own_address() {
    let (site, mut people) = people(&["Anna", "Ben"]).await;
    let [anna, ben] = &mut people[..] else {
        unreachable!()
    };
    anna.address = Some("203.0.113.1".to_owned());
    let token = anna.get("/account").await.field("token");
    anna.post_as_is("/sign-out", &[("token", &token)]).await;
    assert_eq!(anna.get("/").await.header("location"), "/sign-in");
    // Somebody behind the same address tries her name, and then others, until the address has no tries left.
    let mut attacker = visitor(&site, "203.0.113.1");
    use_up(&mut attacker, "anna").await;
    for name in ["ben", "cleo", "dora"] {
        use_up(&mut attacker, name).await;
    }
    assert_eq!(
        attacker.sign_in("emil", PASSWORD).await.status,
        StatusCode::TOO_MANY_REQUESTS
    );
    let planted = anna.cookies["__Host-device"].clone();
    assert_eq!(
        anna.sign_in("Anna", PASSWORD).await.status,
        StatusCode::SEE_OTHER
    );
    assert_ne!(
        anna.cookies["__Host-device"], planted,
        "it gets a new secret each time"
    );
    // Another's browser is not hers.
    ben.address = Some("203.0.113.1".to_owned());
    let token = ben.get("/account").await.field("token");
    ben.post_as_is("/sign-out", &[("token", &token)]).await;
    assert_eq!(
        ben.sign_in("Anna", PASSWORD).await.status,
        StatusCode::TOO_MANY_REQUESTS
    );
    // Nor has a known browser endless tries.
    let token = anna.get("/account").await.field("token");
    anna.post_as_is("/sign-out", &[("token", &token)]).await;
    assert!(use_up(anna, "Anna").await <= 10);
}

#[tokio::test]
async fn two_people_share_a_browser() {
    let (site, _people) = people(&["Anna", "Ben"]).await;
    let mut browser = visitor(&site, "203.0.113.1");
    for name in ["Anna", "Ben", "Anna"] {
        assert_eq!(
            browser.sign_in(name, PASSWORD).await.status,
            StatusCode::SEE_OTHER
        );
        let token = browser.get("/account").await.field("token");
        browser.post_as_is("/sign-out", &[("token", &token)]).await;
    }
    let mut attacker = visitor(&site, "203.0.113.1");
    for name in ["anna", "ben"] {
        use_up(&mut attacker, name).await;
    }
    for name in ["Anna", "Ben"] {
        assert_eq!(
            browser.sign_in(name, PASSWORD).await.status,
            StatusCode::SEE_OTHER,
            "{name}"
        );
    }
}

#[tokio::test]
async fn an_address_may_not_try_one_password_on_many_names() {
    let (site, _people) = people(&["Anna"]).await;
    let mut attacker = visitor(&site, "203.0.113.1");
    let began = Instant::now();
    let mut tries = 0;
    while attacker
        .sign_in(&format!("name{tries}"), "a wrong password")
        .await
        .status
        != StatusCode::TOO_MANY_REQUESTS
    {
        tries += 1;
        // One more is allowed each time an interval has passed.
        let more = began.elapsed().as_secs() / TRY_INTERVAL_S + 1;
        assert!(tries <= 30 + more, "{tries}");
    }
    assert!(tries >= 30, "{tries}");
}

#[tokio::test]
async fn a_signed_in_person_changes_their_password_whatever_others_try() {
    let (site, mut people) = people(&["Anna"]).await;
    people[0].address = Some("203.0.113.1".to_owned());
    use_up(&mut visitor(&site, "203.0.113.1"), "anna").await;
    let fields = [("current", PASSWORD), ("password", NEW)];
    let answer = people[0]
        .post("/account", "/account/password", &fields)
        .await;
    assert_eq!(
        answer.header("location"),
        "/account?done=password",
        "{}",
        answer.text
    );
}

/// Everything that Anna opened with her password: another session, a token, a known browser.
struct Opened {
    session: Client,
    program: Client,
    browser: Client,
}

async fn open_all(site: &Site, anna: &mut Client) -> Opened {
    let mut browser = visitor(site, "203.0.113.9");
    browser.sign_in("Anna", PASSWORD).await;
    let session = browser.clone();
    let token = browser.get("/account").await.field("token");
    browser.post_as_is("/sign-out", &[("token", &token)]).await;
    let mut session_too = visitor(site, "203.0.113.8");
    session_too.sign_in("Anna", PASSWORD).await;
    drop(session);
    anna.make_token().await;
    let mut program = site.visitor();
    program.token = anna.token.take();
    assert_eq!(
        program
            .api("GET", "/me", serde_json::Value::Null)
            .await
            .status,
        200
    );
    Opened {
        session: session_too,
        program,
        browser,
    }
}

async fn all_is_shut(site: &Site, mut opened: Opened, password: &str) {
    assert_eq!(opened.session.get("/").await.header("location"), "/sign-in");
    let answer = opened
        .program
        .api("GET", "/me", serde_json::Value::Null)
        .await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
    // The browser is like any other now.
    use_up(&mut visitor(site, "203.0.113.9"), "anna").await;
    let answer = opened.browser.sign_in("Anna", password).await;
    assert_eq!(answer.status, StatusCode::TOO_MANY_REQUESTS);
}

#[tokio::test]
async fn all_that_was_opened_with_a_password_ends_with_it() {
    let (site, mut people) = people(&["Anna"]).await;
    let opened = open_all(&site, &mut people[0]).await;
    let fields = [("current", PASSWORD), ("password", NEW)];
    people[0]
        .post("/account", "/account/password", &fields)
        .await;
    assert_eq!(
        people[0].get("/").await.status,
        StatusCode::OK,
        "who changed it stays"
    );
    all_is_shut(&site, opened, NEW).await;
    // The browser in which it was changed stays known.
    people[0].address = Some("203.0.113.9".to_owned());
    let token = people[0].get("/account").await.field("token");
    people[0]
        .post_as_is("/sign-out", &[("token", &token)])
        .await;
    assert_eq!(
        people[0].sign_in("Anna", NEW).await.status,
        StatusCode::SEE_OTHER
    );
}

#[tokio::test]
async fn a_reset_ends_all_at_once_and_the_password_too() {
    let (site, mut people) = people(&["Anna"]).await;
    let opened = open_all(&site, &mut people[0]).await;
    let secret = Secret::new();
    // The effect of `user reset`.
    let reset = site.app.db().write(move |db| links::reset(db, 1, secret));
    reset.await.unwrap();
    assert_eq!(people[0].get("/").await.header("location"), "/sign-in");
    let mut elsewhere = visitor(&site, "198.51.100.1");
    let answer = elsewhere.sign_in("Anna", PASSWORD).await;
    assert!(
        answer
            .text
            .contains("There is no such name with this password."),
        "{}",
        answer.text
    );
    all_is_shut(&site, opened, PASSWORD).await;
    let page = format!("/reset/{secret}");
    elsewhere.post(&page, &page, &[("password", NEW)]).await;
    assert_eq!(
        elsewhere.sign_in("Anna", NEW).await.status,
        StatusCode::SEE_OTHER
    );
}
