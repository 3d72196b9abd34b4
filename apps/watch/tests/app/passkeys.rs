//! Passkeys: which answers of authenticators are accepted, and what becomes of them on the pages.

use crate::{
    authenticator::{
        Authenticator, Device, HAS_CREDENTIAL, IS_COPIED, MAY_BE_COPIED, PRESENT, VERIFIED,
        base64url,
    },
    client::{Answer, Client, PASSWORD, Site},
    common::query,
};
use axum::http::StatusCode;
use inorder_watch::{
    db::links,
    passkeys::{self, Credential, Refusal, asserted, registered},
    request::Config,
    secret::Secret,
};
use serde_json::{Value, json};

pub const ORIGIN: &str = "https://watch.example";
pub const ID: &str = "watch.example";
const CHALLENGE: [u8; 32] = [7; 32];
const ANNA: &[u8] = b"the handle of Anna";

/// A ceremony that is changed in one way, and why it is refused.
type Change = (fn(&mut Device), Refusal);

/// What makes both ceremonies fail.
const BAD: &[Change] = &[
    (
        |device| device.origin = "https://evil.example".to_owned(),
        Refusal::Origin,
    ),
    (
        |device| device.origin = "http://watch.example".to_owned(),
        Refusal::Origin,
    ),
    (
        |device| device.origin = "https://watch.example:8443".to_owned(),
        Refusal::Origin,
    ),
    (
        |device| device.told = json!({"crossOrigin": true}),
        Refusal::Origin,
    ),
    (
        |device| device.told = json!({"topOrigin": ORIGIN}),
        Refusal::Origin,
    ),
    (
        |device| device.told = json!({"type": "payment.get"}),
        Refusal::Type,
    ),
    (
        |device| device.told = json!({"challenge": base64url(&[8; 32])}),
        Refusal::Challenge,
    ),
    (
        |device| device.told = json!({"challenge": null}),
        Refusal::Malformed("client data"),
    ),
    (
        |device| device.site = "evil.example".to_owned(),
        Refusal::Site,
    ),
    (|device| device.flags = VERIFIED, Refusal::User),
    (|device| device.flags = PRESENT, Refusal::User),
    (|device| device.flags |= IS_COPIED, Refusal::Backup),
];

fn site() -> passkeys::Site {
    passkeys::Site::parse(ORIGIN).unwrap()
}

fn register(created: Value) -> Result<Credential, Refusal> {
    registered(
        &site(),
        &CHALLENGE,
        serde_json::from_value(created).unwrap(),
    )
}

fn assert(answer: Value, credential: &Credential) -> Result<u32, Refusal> {
    let answer = serde_json::from_value(answer).unwrap();
    asserted(&site(), &CHALLENGE, &answer, credential, ANNA).map(|verified| verified.counter)
}

/// An authenticator with a credential of Anna.
fn registered_one(algorithm: i64) -> (Authenticator, Credential) {
    let mut one = Authenticator::new(ORIGIN, ID, algorithm);
    let credential = register(one.create(&base64url(&CHALLENGE))).unwrap();
    one.device.user_handle = ANNA.to_owned();
    (one, credential)
}

#[test]
fn a_credential_of_each_kind_of_key_is_verified() {
    for algorithm in [-7, -8] {
        let (one, credential) = registered_one(algorithm);
        assert_eq!(
            (&credential.id, credential.algorithm),
            (&one.device.credential, algorithm)
        );
        assert_eq!(assert(one.get(&base64url(&CHALLENGE)), &credential), Ok(0));
    }
}

/// A key of RSA with 2048 bits, and its signature of the answer below. The private key is not kept.
const RSA_KEY: &str = "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA2FgAjq617EvX5EmT6BItfjCqwOEzSePK5T6TPNSLxWZMZrK-Zps7Qv76Whe_ejAhjp\
    9-LJk5AdW0HF3LzRAi6DLa4aSDfdjNZcQ0Y5AaFEeiO9SQxOIRtH-vsAvPBf16VlpcNahOmA8LJ3Eqm09E8BPV8Z7LniGFOlJQADNFZTRzYNeo\
    PBU-zqTgqVo2KoyGfif7PKKJ8O87BOKkCpmApYU93deonrE3WhHkiSyTaOiiyu8faFEYx3GA2O7dNrWtYGlvkwZI5e4pniL0vWuq6IZgHnJX0w\
    Ic-9K00sy2zSbNzmKu1ryzNF1AmUmagrJ5JD0qbGtOTOVBGss8uhLchwIDAQAB";
const RSA_SIGNATURE: &str = "LApWxelzlyaJN-GFa6DJEG_lAfy8Yruizs4u71gwK6zoLeHpXXGpNw4S6nImth1UNgYCmIufr6KjNJCPtJkKFdJwgSFPwhKJg1RS9aJ2pji3aD\
    6vSvdMHXCiT8Yp27xjLYNkv41epJBmLEauHAQkhrJBZpsLR0298HpY2QvOiADAzxyjTysjvRUTr2Ho_rwYcvm7v46CQgfh29xLfCXgQ-ZCNQCq\
    LZVALx07jXlcAEmHtKeDP43eM-57r4EPm0phZPDKltE_wA3L4hvnR1QvvYKxkPWUXADLCdYuLyCnM9_uIqaw3YYS-MkMEmXxEbIMtnDM9gW3zS\
    RHJmIZ1sQr4Q";

#[test]
fn a_signature_of_rsa_is_verified() {
    let one = Authenticator::new(ORIGIN, ID, -7);
    let mut created = one.create(&base64url(&CHALLENGE));
    created["publicKey"] = RSA_KEY.into();
    created["algorithm"] = (-257).into();
    let mut credential = register(created).unwrap();
    credential.id = b"rsa".to_vec();
    let device = Device {
        credential: b"rsa".to_vec(),
        user_handle: ANNA.to_owned(),
        ..one.device
    };
    let mut answer = device.get(&base64url(&CHALLENGE), |_| Vec::new());
    assert_eq!(assert(answer.clone(), &credential), Err(Refusal::Signature));
    answer["signature"] = RSA_SIGNATURE.into();
    assert_eq!(assert(answer, &credential), Ok(0));
}

#[test]
fn each_answer_that_is_wrong_is_refused_for_its_reason() {
    for (change, refusal) in BAD {
        let mut one = Authenticator::new(ORIGIN, ID, -7);
        change(&mut one.device);
        assert_eq!(register(one.create(&base64url(&CHALLENGE))), Err(*refusal));
        let (mut one, credential) = registered_one(-7);
        change(&mut one.device);
        assert_eq!(
            assert(one.get(&base64url(&CHALLENGE)), &credential),
            Err(*refusal)
        );
    }
    // What belongs to one ceremony.
    let (mut one, credential) = registered_one(-7);
    let right = one.get(&base64url(&CHALLENGE));
    let with = |name: &str, value: Value| {
        let mut answer = right.clone();
        answer[name] = value;
        assert(answer, &credential)
    };
    let other = Authenticator::new(ORIGIN, ID, -7);
    let signature = other.get(&base64url(&CHALLENGE))["signature"].clone();
    assert_eq!(with("signature", signature), Err(Refusal::Signature));
    assert_eq!(with("signature", "".into()), Err(Refusal::Signature));
    assert_eq!(
        with("userHandle", base64url(b"the handle of Ben").into()),
        Err(Refusal::Owner)
    );
    assert_eq!(with("userHandle", "".into()), Err(Refusal::Owner));
    assert_eq!(
        with("id", base64url(b"another").into()),
        Err(Refusal::Owner)
    );
    assert_eq!(
        with("authenticatorData", base64url(&[0; 36]).into()),
        Err(Refusal::Malformed("authenticator data"))
    );
    assert_eq!(
        with("clientDataJSON", base64url(b"{}").into()),
        Err(Refusal::Malformed("client data"))
    );
    one.device.flags |= MAY_BE_COPIED;
    assert_eq!(
        assert(one.get(&base64url(&CHALLENGE)), &credential),
        Err(Refusal::Backup)
    );
}

#[test]
fn a_key_of_another_kind_and_a_credential_without_a_name_are_refused() {
    let other = Authenticator::new(ORIGIN, ID, -7);
    let created = other.create(&base64url(&CHALLENGE));
    for (name, value) in [
        ("publicKey", json!("")),
        ("publicKey", json!(base64url(&[0x30; 91]))),
        ("publicKey", json!(base64url(&[0x30; 5000]))),
        ("algorithm", json!(-8)),
        ("algorithm", json!(-257)),
        ("algorithm", json!(-65535)),
    ] {
        let mut created = created.clone();
        created[name] = value;
        assert_eq!(register(created), Err(Refusal::Key), "{name}");
    }
    let mut created = created;
    created["authenticatorData"] = other.get(&base64url(&CHALLENGE))["authenticatorData"].clone();
    assert_eq!(register(created), Err(Refusal::Malformed("credential")));
    let mut long = Authenticator::new(ORIGIN, ID, -7);
    long.device.credential = vec![7; 1024];
    assert_eq!(
        register(long.create(&base64url(&CHALLENGE))),
        Err(Refusal::Malformed("credential"))
    );
    long.device.credential = Vec::new();
    assert_eq!(
        register(long.create(&base64url(&CHALLENGE))),
        Err(Refusal::Malformed("credential"))
    );
}

#[test]
fn a_counter_goes_forward_or_is_not_there() {
    let (mut one, mut credential) = registered_one(-7);
    for (before, after, result) in [
        (0, 0, Ok(0)),
        (0, 1, Ok(1)),
        (1, 2, Ok(2)),
        (1, 1, Err(Refusal::Counter)),
        (2, 1, Err(Refusal::Counter)),
        (1, 0, Err(Refusal::Counter)),
        (u32::MAX, 1, Err(Refusal::Counter)),
    ] {
        (credential.counter, one.device.counter) = (before, after);
        assert_eq!(
            assert(one.get(&base64url(&CHALLENGE)), &credential),
            result,
            "{before} {after}"
        );
    }
    // Extensions behind the data, as an authenticator may send unasked, change nothing.
    one.device.flags |= HAS_CREDENTIAL;
    (credential.counter, one.device.counter) = (0, 0);
    assert_eq!(assert(one.get(&base64url(&CHALLENGE)), &credential), Ok(0));
}

/// A site that knows its address, behind a proxy.
async fn people(names: &[&str]) -> (Site, Vec<Client>) {
    let config = Config {
        behind_tls: true,
        site: Some(site()),
        ..Config::default()
    };
    Site::with_people_and(config, names).await
}

/// The options for the browser, after the button was pressed.
async fn begin(client: &mut Client, page: &str, address: &str, fields: &[(&str, &str)]) -> Answer {
    client.post(page, &format!("{address}/begin"), fields).await
}

fn challenge(options: &Answer) -> String {
    let options = options.json();
    options["challenge"]
        .as_str()
        .unwrap_or_else(|| panic!("{options}"))
        .to_owned()
}

/// Adds a passkey of a new authenticator.
pub async fn add(client: &mut Client, name: &str) -> Authenticator {
    let confirm = [("confirm", PASSWORD)];
    let options = begin(client, "/account", "/account/passkeys", &confirm).await;
    let mut one = Authenticator::new(ORIGIN, ID, -7);
    one.device.counter = 1;
    let handle = options.json()["user"]["id"].as_str().unwrap().to_owned();
    one.device.user_handle =
        base64::Engine::decode(&base64::prelude::BASE64_URL_SAFE_NO_PAD, handle).unwrap();
    let created = one.create(&challenge(&options)).to_string();
    let fields = [("name", name), ("credential", created.as_str())];
    let added = client.post("/account", "/account/passkeys", &fields).await;
    assert_eq!(
        added.header("location"),
        "/account?done=passkey",
        "{}",
        added.text
    );
    one
}

/// Signs in with the answer that the authenticator has counted.
pub async fn enter(client: &mut Client, one: &mut Authenticator) -> Answer {
    let options = begin(client, "/sign-in", "/sign-in/passkey", &[]).await;
    one.device.counter += 1;
    let answer = one.get(&challenge(&options));
    send(client, &answer).await
}

async fn send(client: &mut Client, answer: &Value) -> Answer {
    let answer = answer.to_string();
    let fields = [("credential", answer.as_str()), ("next", "/friends")];
    client.post("/sign-in", "/sign-in/passkey", &fields).await
}

#[tokio::test]
async fn the_browser_is_asked_for_a_passkey_that_knows_its_user() {
    let (_site, mut people) = people(&["Anna"]).await;
    let anna = &mut people[0];
    let page = anna.get("/account").await;
    assert!(
        page.text
            .contains("data-passkeys=\"https://watch.example\" hidden"),
        "{}",
        page.text
    );
    let confirm = [("confirm", PASSWORD)];
    let options = begin(anna, "/account", "/account/passkeys", &confirm)
        .await
        .json();
    assert_eq!(options["rp"]["id"], ID);
    assert_eq!(options["authenticatorSelection"]["residentKey"], "required");
    assert_eq!(
        options["authenticatorSelection"]["userVerification"],
        "required"
    );
    assert_eq!(options["attestation"], "none");
    let one = add(anna, "Telephone").await;
    // The browser is told not to make a second one.
    let options = begin(anna, "/account", "/account/passkeys", &confirm)
        .await
        .json();
    assert_eq!(
        options["excludeCredentials"][0]["id"],
        base64url(&one.device.credential)
    );
}

#[tokio::test]
async fn a_passkey_is_added_signs_in_and_is_removed() {
    let (site, mut people) = people(&["Anna", "Ben"]).await;
    let anna = &mut people[0];
    let mut one = add(anna, "Telephone").await;
    let page = anna.get("/account?done=passkey").await;
    assert!(
        page.text.contains("Telephone") && page.text.contains("not used yet"),
        "{}",
        page.text
    );
    let mut elsewhere = site.visitor();
    elsewhere.get("/sign-in").await;
    let guest = elsewhere.cookies["__Host-guest"].clone();
    let entered = enter(&mut elsewhere, &mut one).await;
    assert_eq!(entered.header("location"), "/friends", "{}", entered.text);
    assert!(
        elsewhere.cookies["__Host-session"] != guest
            && !elsewhere.cookies.contains_key("__Host-guest")
    );
    let page = elsewhere.get("/account").await;
    assert!(
        page.text.contains("<bdi>Anna</bdi>") && page.text.contains("last used"),
        "{}",
        page.text
    );
    let export = elsewhere.get("/export.json").await.json();
    assert_eq!(export["passkeys"][0]["name"], "Telephone");
    assert!(export["passkeys"][0]["last_used"].is_string());
    // The password is good as before.
    assert_eq!(
        site.visitor().sign_in("Anna", PASSWORD).await.status,
        StatusCode::SEE_OTHER
    );

    let (_, rest) = page.text.split_once("/account/passkeys/0").unwrap();
    let remove = format!("/account/passkeys/0{}/remove", &rest[..25]);
    let others = people[1].post("/account", &remove, &[]).await;
    assert_eq!(others.status, StatusCode::NOT_FOUND, "it is not Ben's");
    let removed = elsewhere.post("/account", &remove, &[]).await;
    assert_eq!(removed.header("location"), "/account?done=passkey-removed");
    let again = enter(&mut site.visitor(), &mut one).await;
    assert!(again.text.contains("not known here"), "{}", again.text);
    assert_eq!(
        elsewhere.get("/").await.status,
        StatusCode::OK,
        "the session goes on"
    );
}

#[tokio::test]
async fn a_challenge_is_good_once_and_in_its_browser_only() {
    let (site, mut people) = people(&["Anna"]).await;
    let mut one = add(&mut people[0], "Telephone").await;
    let mut visitor = site.visitor();
    let options = begin(&mut visitor, "/sign-in", "/sign-in/passkey", &[]).await;
    one.device.counter += 1;
    let answer = one.get(&challenge(&options));
    // Whoever reads the answer on its way has another cookie.
    let mut thief = site.visitor();
    begin(&mut thief, "/sign-in", "/sign-in/passkey", &[]).await;
    let stolen = send(&mut thief, &answer).await;
    assert!(
        stolen.text.contains("not accepted") || stolen.text.contains("too long"),
        "{}",
        stolen.text
    );
    assert_eq!(stolen.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(
        send(&mut visitor, &answer).await.status,
        StatusCode::SEE_OTHER
    );
    let mut again = visitor.clone();
    again.cookies.remove("__Host-session");
    assert_eq!(
        send(&mut again, &answer).await.status,
        StatusCode::UNPROCESSABLE_ENTITY
    );
    // That for signing in adds nothing, and the other way round.
    let anna = &mut people[0];
    let options = begin(anna, "/sign-in", "/sign-in/passkey", &[]).await;
    let created = Authenticator::new(ORIGIN, ID, -7)
        .create(&challenge(&options))
        .to_string();
    let fields = [("name", "x"), ("credential", created.as_str())];
    let refused = anna.post("/account", "/account/passkeys", &fields).await;
    assert!(
        refused.text.contains("too long, or was sent twice"),
        "{}",
        refused.text
    );
    assert_eq!(
        query(
            &site.folder.path().join("watch.db"),
            "SELECT count(*) FROM passkey"
        ),
        "1"
    );
}

#[tokio::test]
async fn a_copied_credential_another_user_s_and_a_broken_form_sign_nobody_in() {
    let (site, mut people) = people(&["Anna", "Ben"]).await;
    let (mut annas, bens) = (
        add(&mut people[0], "One").await,
        add(&mut people[1], "Two").await,
    );
    assert_eq!(
        enter(&mut site.visitor(), &mut annas).await.status,
        StatusCode::SEE_OTHER
    );
    // The copy counts from where it was made.
    annas.device.counter = 1;
    let copied = enter(&mut site.visitor(), &mut annas).await;
    assert!(
        copied.text.contains("may have been copied"),
        "{}",
        copied.text
    );
    annas.device.counter = 9;
    annas
        .device
        .user_handle
        .clone_from(&bens.device.user_handle);
    let other = enter(&mut site.visitor(), &mut annas).await;
    assert!(other.text.contains("not accepted"), "{}", other.text);
    for broken in [json!({}), json!([]), json!({"id": "*"}), Value::Null] {
        let mut visitor = site.visitor();
        begin(&mut visitor, "/sign-in", "/sign-in/passkey", &[]).await;
        let answer = send(&mut visitor, &broken).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{broken}");
    }
    // A credential belongs to one user.
    let confirm = [("confirm", PASSWORD)];
    let options = begin(&mut people[1], "/account", "/account/passkeys", &confirm).await;
    let created = annas.create(&challenge(&options)).to_string();
    let fields = [("name", "Mine"), ("credential", created.as_str())];
    let taken = people[1]
        .post("/account", "/account/passkeys", &fields)
        .await;
    assert!(taken.text.contains("there already"), "{}", taken.text);
    let foreign = people[1].post_as_is("/account/passkeys", &fields).await;
    assert!(
        foreign.text.contains("not one of this site"),
        "{}",
        foreign.text
    );
    let foreign = site
        .visitor()
        .post_as_is("/sign-in/passkey/begin", &[])
        .await;
    assert!(
        foreign.text.contains("not one of this site"),
        "{}",
        foreign.text
    );
}

#[tokio::test]
async fn passkeys_have_limits_of_number_name_and_rate() {
    let (site, mut people) = people(&["Anna"]).await;
    let anna = &mut people[0];
    let wrong = [("confirm", "not the password")];
    let refused = begin(anna, "/account", "/account/passkeys", &wrong).await;
    assert_eq!(refused.json()["problem"], "This is not your password.");
    let confirm = [("confirm", PASSWORD)];
    let options = begin(anna, "/account", "/account/passkeys", &confirm).await;
    let created = Authenticator::new(ORIGIN, ID, -7)
        .create(&challenge(&options))
        .to_string();
    let long = "x".repeat(61);
    let fields = [("name", long.as_str()), ("credential", created.as_str())];
    let refused = anna.post("/account", "/account/passkeys", &fields).await;
    assert!(
        refused.text.contains("at most 60 characters"),
        "{}",
        refused.text
    );
    // The table is filled without asking for passwords, whose number is limited too.
    let fill = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
        INSERT INTO passkey(user, credential, name, public_key, algorithm, counter, is_synced) SELECT 1, CAST(i AS BLOB), i, x'', -7, 0, 0 FROM n";
    site.app
        .db()
        .write(move |db| Ok(db.execute_batch(fill)?))
        .await
        .unwrap();
    let full = begin(anna, "/account", "/account/passkeys", &confirm).await;
    assert_eq!(
        full.json()["problem"],
        "Remove a passkey before you add another."
    );
    let mut visitor = site.visitor();
    visitor.address = Some("203.0.113.1".to_owned());
    let mut tries = 0;
    while begin(&mut visitor, "/sign-in", "/sign-in/passkey", &[])
        .await
        .status
        == StatusCode::OK
    {
        tries += 1;
        assert!(tries < 40, "there is no limit");
    }
    assert!(tries >= 30, "{tries}");
    let many = begin(&mut visitor, "/sign-in", "/sign-in/passkey", &[]).await;
    assert_eq!(many.status, StatusCode::TOO_MANY_REQUESTS);
    assert!(
        many.json()["problem"]
            .as_str()
            .unwrap()
            .starts_with("Too many tries; wait ")
    );
    // Passwords are counted apart.
    assert_eq!(
        visitor.sign_in("Anna", PASSWORD).await.status,
        StatusCode::SEE_OTHER
    );
}

#[tokio::test]
async fn a_suspension_a_reset_and_a_restore_end_passkeys() {
    let (site, mut people) = people(&["Anna", "Ben"]).await;
    let mut bens = add(&mut people[1], "Telephone").await;
    let count = || {
        query(
            &site.folder.path().join("watch.db"),
            "SELECT count(*) FROM passkey",
        )
    };
    let users = people[0].get("/users").await.text;
    let ben = users
        .split("/users/")
        .find(|part| part.contains("<bdi>Ben</bdi>"))
        .unwrap()[..26]
        .to_owned();
    let page = format!("/users/{ben}");
    people[0].post(&page, &format!("{page}/suspend"), &[]).await;
    let refused = enter(&mut site.visitor(), &mut bens).await;
    assert!(refused.text.contains("suspended"), "{}", refused.text);
    people[0].post(&page, &format!("{page}/resume"), &[]).await;
    assert_eq!(
        enter(&mut site.visitor(), &mut bens).await.status,
        StatusCode::SEE_OTHER
    );
    // A changed password leaves them, and a link of a mail for some days.
    let mut ben = site.visitor();
    enter(&mut ben, &mut bens).await;
    let fields = [("current", PASSWORD), ("password", "another long password")];
    ben.post("/account", "/account/password", &fields).await;
    assert_eq!(count(), "1");
    let secret = Secret::new();
    let allow = move |db: &rusqlite::Connection| links::allow_reset(db, 2, secret);
    site.app.db().write(allow).await.unwrap();
    let link = format!("/reset/{secret}");
    site.visitor()
        .post(&link, &link, &[("password", PASSWORD)])
        .await;
    assert_eq!(count(), "1", "it ends later");
    let forget = |db: &rusqlite::Connection| Ok(db.execute("DELETE FROM passkey", [])?);
    site.app.db().write(forget).await.unwrap();
    add(&mut people[0], "Key").await;
    let reset = move |db: &rusqlite::Connection| links::reset(db, 1, Secret::new());
    let confirm = [("confirm", PASSWORD)];
    let backup = people[0]
        .post("/users", "/users/backup", &confirm)
        .await
        .bytes;
    site.app.db().write(reset).await.unwrap();
    assert_eq!(count(), "0", "the effect of the command user reset");
    let set = |db: &rusqlite::Connection| {
        let hash = inorder_watch::password::hash(PASSWORD)?;
        inorder_watch::db::users::set_password(db, 1, Some(&hash), None)
    };
    site.app.db().write(set).await.unwrap();
    people[0].sign_in("Anna", PASSWORD).await;
    let restored = people[0]
        .post_file(
            "/users/restore",
            "/users/restore",
            &confirm,
            ("watch.db", &backup),
        )
        .await;
    assert_eq!(restored.status, StatusCode::OK, "{}", restored.text);
    assert_eq!(
        count(),
        "0",
        "one that was removed since would be good again"
    );
}

#[tokio::test]
async fn a_server_without_an_address_has_no_passkeys_and_tells_its_owner() {
    let (site, mut people) = Site::with_people(&["Anna", "Ben"]).await;
    let own = people[0].get("/account").await.text;
    assert!(
        own.contains("--site") && !own.contains("data-passkeys"),
        "{own}"
    );
    assert!(!people[1].get("/account").await.text.contains("asskeys"));
    assert!(
        !site
            .visitor()
            .get("/sign-in")
            .await
            .text
            .contains("passkeys")
    );
    let begun = begin(&mut site.visitor(), "/sign-in", "/sign-in/passkey", &[]).await;
    assert_eq!(begun.status, StatusCode::NOT_FOUND);
    let confirm = [("confirm", PASSWORD)];
    let begun = begin(&mut people[0], "/account", "/account/passkeys", &confirm).await;
    assert_eq!(begun.status, StatusCode::NOT_FOUND);
}
