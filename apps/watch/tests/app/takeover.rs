//! Somebody else with a session, a token or the mails of a user does not get the account.

use crate::{
    authenticator::Authenticator,
    client::{Client, PASSWORD, Site},
    mail::MailServer,
    passkeys::{ID, ORIGIN, add, enter},
};
use axum::http::StatusCode;
use inorder_watch::{
    date::now_ms,
    db::links,
    mail::{MailConfig, Mailer},
    passkeys,
    request::Config,
    secret::Secret,
};
use rusqlite::Connection;
use std::sync::Arc;

const OTHER: &str = "another long password";
const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// A server with mails and passkeys, Anna with a confirmed address, and the mails it sends.
async fn anna() -> (Site, Client, MailServer, Arc<Mailer>) {
    let config = Config {
        sends_mail: true,
        site: passkeys::Site::parse(ORIGIN).ok(),
        ..Config::default()
    };
    let (site, mut people) = Site::with_people_and(config, &["Anna"]).await;
    let server = MailServer::start();
    let settings = MailConfig {
        smtp: server.address.clone(),
        from: "What to Watch <watch@example.org>".to_owned(),
        site: format!("https://{ID}"),
    };
    let mailer = Arc::new(Mailer::new(site.app.db(), &settings).unwrap());
    let confirmed = |db: &Connection| {
        let sql = "INSERT INTO mail(user, address, is_confirmed) VALUES (1, 'anna@example.org', 1)";
        Ok(db.execute(sql, [])?)
    };
    site.app.db().write(confirmed).await.unwrap();
    (site, people.remove(0), server, mailer)
}

/// All that gives access to the account, or leads to it.
fn access(site: &Site) -> String {
    let sql = "SELECT (SELECT json_group_array(address || is_confirmed) FROM mail), (SELECT count(*) FROM api_token),
                 (SELECT count(*) FROM passkey), (SELECT password FROM user)";
    let row = |row: &rusqlite::Row<'_>| {
        let (address, tokens, passkeys): (String, i64, i64) =
            (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(format!(
            "{address} {tokens} {passkeys} {}",
            row.get::<_, String>(3)?
        ))
    };
    let read = |db: &Connection| Ok(db.query_row(sql, [], row)?);
    site.app.db().read(read).unwrap()
}

/// Each form that changes how the account is entered.
const FORMS: &[(&str, &[(&str, &str)])] = &[
    ("/account/mail", &[("address", "thief@example.org")]),
    (
        "/account/mail",
        &[("address", "thief@example.org"), ("news", "1")],
    ),
    ("/account/mail", &[("address", "")]),
    ("/account/tokens", &[("name", "Thief")]),
    ("/account/password", &[("password", OTHER)]),
    ("/account/passkeys/begin", &[]),
];

#[tokio::test]
async fn a_session_alone_changes_nothing_that_gives_access() {
    for (path, fields) in FORMS {
        // The tries of a user are few.
        let (site, anna, ..) = anna().await;
        let before = access(&site);
        for password in [None, Some(""), Some("not the password")] {
            let mut thief = anna.clone();
            let mut fields = fields.to_vec();
            fields.extend(password.map(|password| ("confirm", password)));
            fields.extend(password.map(|password| ("current", password)));
            let answer = thief.post("/account", path, &fields).await;
            assert_eq!(answer.status, 422, "{path} {fields:?}: {}", answer.text);
            assert_eq!(access(&site), before, "{path} {fields:?}");
        }
    }
    let (_site, mut anna, server, mailer) = anna().await;
    // The wish for news is no access.
    let fields = [("address", "anna@example.org"), ("news", "1")];
    let answer = anna.post("/account", "/account/mail", &fields).await;
    assert_eq!(answer.header("location"), "/account?done=saved");
    assert_eq!(Arc::clone(&mailer).round(now_ms()).await.unwrap(), 0);
    assert!(server.take().is_empty());
}

#[tokio::test]
async fn another_address_needs_the_password_and_is_told_to_the_one_before() {
    let (_site, mut anna, server, mailer) = anna().await;
    for (address, told) in [
        (
            "new@example.org",
            vec!["<anna@example.org>", "<new@example.org>"],
        ),
        // It was not confirmed: nobody is told.
        ("newer@example.org", vec!["<newer@example.org>"]),
    ] {
        let fields = [("address", address), ("confirm", PASSWORD)];
        let answer = anna.post("/account", "/account/mail", &fields).await;
        assert_eq!(
            answer.header("location"),
            "/account?done=mail",
            "{}",
            answer.text
        );
        Arc::clone(&mailer).round(now_ms()).await.unwrap();
        let mut mails = server.take();
        mails.sort();
        assert_eq!(mails.len(), told.len(), "{mails:?}");
        for (mail, recipient) in mails.iter().zip(told) {
            assert!(mail.contains(recipient), "{recipient}: {mail}");
            let is_notice = mail.contains("no longer the address of your account");
            assert_eq!(is_notice, recipient == "<anna@example.org>", "{mail}");
            assert!(!is_notice || !mail.contains("new@example.org"), "{mail}");
        }
    }
}

#[tokio::test]
async fn an_address_that_is_removed_is_told_so() {
    let (_site, mut anna, server, mailer) = anna().await;
    let fields = [("address", ""), ("confirm", PASSWORD)];
    anna.post("/account", "/account/mail", &fields).await;
    Arc::clone(&mailer).round(now_ms()).await.unwrap();
    let mails = server.take();
    assert!(
        mails.len() == 1 && mails[0].contains("<anna@example.org>"),
        "{mails:?}"
    );
}

#[tokio::test]
async fn signing_out_elsewhere_ends_sessions_and_tokens() {
    let (site, mut anna, ..) = anna().await;
    let mut program = anna.clone();
    program.make_token().await;
    program.cookies.clear();
    let mut other = site.visitor();
    other.sign_in("Anna", PASSWORD).await;
    assert_eq!(
        program
            .api("GET", "/me", serde_json::Value::Null)
            .await
            .status,
        200
    );
    anna.post("/account", "/account/sign-out-elsewhere", &[])
        .await;
    assert_eq!(
        program
            .api("GET", "/me", serde_json::Value::Null)
            .await
            .status,
        401
    );
    assert_eq!(other.get("/").await.status, 303);
    assert_eq!(anna.get("/").await.status, 200);
    // The form is there for tokens alone.
    anna.make_token().await;
    assert!(
        anna.get("/account")
            .await
            .text
            .contains("/account/sign-out-elsewhere")
    );
}

/// Chooses a password with a link, as somebody who reads the mails of a user.
async fn reset(site: &Site, password: &str) -> Client {
    let secret = Secret::new();
    let allow = move |db: &Connection| links::allow_reset(db, 1, secret);
    site.app.db().write(allow).await.unwrap();
    let (mut visitor, link) = (site.visitor(), format!("/reset/{secret}"));
    let answer = visitor.post(&link, &link, &[("password", password)]).await;
    assert_eq!(answer.status, 303, "{}", answer.text);
    visitor.sign_in("Anna", password).await;
    visitor
}

async fn days_pass(site: &Site, days: i64) {
    let pass = move |db: &Connection| {
        db.execute("UPDATE recovery SET at_ms = at_ms - ?1", [days * DAY_MS])?;
        let sql = "UPDATE passkey SET id = CAST(substr(ulid_at(ulid_timestamp(id) - ?1), 1, 6) || substr(id, 7) AS BLOB)";
        Ok(db.execute(sql, [days * DAY_MS])?)
    };
    site.app.db().write(pass).await.unwrap();
}

fn passkeys_of(page: &str) -> usize {
    page.matches("/account/passkeys/0").count()
}

#[tokio::test]
async fn who_reads_the_mails_does_not_end_the_passkeys_at_once() {
    let (site, mut anna, ..) = anna().await;
    let mut key: Authenticator = add(&mut anna, "Telephone").await;
    let mut thief = reset(&site, OTHER).await;
    let page = thief.get("/account").await.text;
    assert!(
        passkeys_of(&page) == 1 && page.contains("A new password was chosen with a link"),
        "{page}"
    );
    let (_, rest) = page.split_once("/account/passkeys/0").unwrap();
    let remove = format!("/account/passkeys/0{}/remove", &rest[..25]);
    let refused = thief.post("/account", &remove, &[]).await;
    assert!(
        refused.text.contains("ends some days later"),
        "{}",
        refused.text
    );
    // Anna enters with her passkey, and needs no password for some minutes.
    days_pass(&site, 2).await;
    let mut anna = site.visitor();
    assert_eq!(
        enter(&mut anna, &mut key).await.status,
        StatusCode::SEE_OTHER
    );
    let page = anna.get("/account").await.text;
    assert!(
        !page.contains("name=\"current\"") && !page.contains("id=\"token-confirm\""),
        "{page}"
    );
    let new = [("password", "the own long password")];
    let changed = anna.post("/account", "/account/password", &new).await;
    assert_eq!(
        changed.header("location"),
        "/account?done=password",
        "{}",
        changed.text
    );
    assert_eq!(thief.get("/").await.status, 303, "the thief is out");
    days_pass(&site, 9).await;
    assert_eq!(
        enter(&mut site.visitor(), &mut key).await.status,
        StatusCode::SEE_OTHER
    );
    assert!(
        !anna
            .get("/account")
            .await
            .text
            .contains("was chosen with a link")
    );
}

#[tokio::test]
async fn passkeys_from_before_a_new_password_end_after_some_days() {
    let (site, mut anna, ..) = anna().await;
    let mut old: Authenticator = add(&mut anna, "Telephone").await;
    let mut anna = reset(&site, PASSWORD).await;
    let mut new: Authenticator = add(&mut anna, "Key").await;
    days_pass(&site, 4).await;
    let refused = enter(&mut site.visitor(), &mut old).await;
    assert!(refused.text.contains("not known here"), "{}", refused.text);
    assert_eq!(
        enter(&mut site.visitor(), &mut new).await.status,
        StatusCode::SEE_OTHER
    );
    assert_eq!(passkeys_of(&anna.get("/account").await.text), 1);
    // A change with the password ends nothing and keeps nothing.
    let fields = [("current", PASSWORD), ("password", OTHER)];
    anna.post("/account", "/account/password", &fields).await;
    let refused = enter(&mut site.visitor(), &mut old).await;
    assert!(refused.text.contains("not known here"), "{}", refused.text);
}

#[tokio::test]
async fn a_passkey_replaces_the_password_for_some_minutes_only() {
    let (site, mut anna, ..) = anna().await;
    let mut key = add(&mut anna, "Telephone").await;
    let mut anna = site.visitor();
    enter(&mut anna, &mut key).await;
    let made = anna
        .post("/account", "/account/tokens", &[("name", "one")])
        .await;
    assert_eq!(
        made.header("location"),
        "/account?done=token",
        "{}",
        made.text
    );
    let later = |db: &Connection| {
        Ok(db.execute("UPDATE session SET passkey_ms = passkey_ms - 600001", [])?)
    };
    site.app.db().write(later).await.unwrap();
    let before = access(&site);
    for (path, fields) in FORMS {
        let answer = anna.post("/account", path, fields).await;
        assert!(answer.status.is_client_error(), "{path}: {}", answer.text);
        assert_eq!(access(&site), before, "{path}");
    }
}
