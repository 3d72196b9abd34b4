//! Operations that no user may perform.

use crate::client::{PASSWORD, Site};
use axum::{body::Body, http::StatusCode};
use inorder_key::Ulid;
use inorder_watch::{
    db::{links, sessions, tokens},
    request::Config,
    secret::Secret,
};

#[tokio::test]
async fn every_answer_has_the_headers() {
    let (_site, mut people) = Site::with_people(&["Anna"]).await;
    let mut paths = vec![
        "/",
        "/films",
        "/friends",
        "/account",
        "/api",
        "/no/page",
        "/api/v1/nothing",
        "/health",
        "/offline",
        "/reset/x",
        "/export.json",
    ];
    let page = people[0].get("/").await.text;
    let asset = page
        .split("href=\"")
        .find(|part| part.starts_with("/assets/"))
        .unwrap();
    paths.push(asset.split('"').next().unwrap());
    for path in paths {
        let answer = people[0].get(path).await;
        let policy = answer.header("content-security-policy");
        assert!(
            policy.starts_with("default-src 'none';") && !policy.contains("unsafe"),
            "{path}: {policy}"
        );
        assert!(policy.contains("frame-ancestors 'none'") && policy.contains("form-action 'self'"));
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(answer.header("x-frame-options"), "DENY", "{path}");
        assert_eq!(answer.header("referrer-policy"), "same-origin", "{path}");
        assert_eq!(
            answer.header("cross-origin-opener-policy"),
            "same-origin",
            "{path}"
        );
        assert!(
            answer.header("permissions-policy").contains("camera=()"),
            "{path}"
        );
        let is_asset = path.starts_with("/assets/");
        assert_eq!(
            answer.header("cache-control") == "no-store",
            !is_asset,
            "{path}"
        );
        assert_eq!(answer.header("strict-transport-security"), "", "{path}");
    }
}

#[tokio::test]
async fn no_page_asks_anything_of_another_server() {
    let (_site, mut people) = Site::with_people(&["Anna"]).await;
    people[0].add("alien", &[("priority", "5")]).await;
    for path in [
        "/",
        "/films?q=a",
        "/friends",
        "/tonight",
        "/import",
        "/account",
        "/films/new",
    ] {
        let page = people[0].get(path).await.text;
        let addresses = page.split(['"', '\'']).filter(|text| text.contains("//"));
        assert_eq!(addresses.collect::<Vec<_>>(), Vec::<&str>::new(), "{path}");
        assert!(
            !page.contains(" style=") && !page.contains("onclick"),
            "{path}"
        );
    }
}

#[tokio::test]
async fn cookies_are_out_of_reach() {
    for behind_tls in [false, true] {
        let site = Site::new(Config {
            behind_tls,
            ..Config::default()
        });
        let mut visitor = site.visitor();
        let page = visitor.get("/setup").await;
        let guest = page.header("set-cookie").to_owned();
        let code = site.app.setup_code().unwrap();
        let fields = [
            ("code", code.as_str()),
            ("name", "Anna"),
            ("password", PASSWORD),
            ("sign_up", "open"),
        ];
        let answer = visitor.post("/setup", "/setup", &fields).await;
        let session = answer.header("set-cookie").to_owned();
        for (cookie, name) in [(guest, "guest="), (session, "session=")] {
            let prefix = if behind_tls { "__Host-" } else { "" };
            assert!(cookie.starts_with(&format!("{prefix}{name}")), "{cookie}");
            assert!(
                cookie.contains("; HttpOnly")
                    && cookie.contains("; SameSite=Lax")
                    && cookie.contains("; Path=/")
            );
            assert_eq!(cookie.contains("; Secure"), behind_tls, "{cookie}");
        }
        let is_strict = !visitor
            .get("/")
            .await
            .header("strict-transport-security")
            .is_empty();
        assert_eq!(is_strict, behind_tls);
    }
}

#[tokio::test]
async fn a_form_without_its_token_is_refused() {
    let (_site, mut people) = Site::with_people(&["Anna", "Ben"]).await;
    let film = people[0].film("alien").await;
    let others_token = people[1].get("/account").await.field("token");
    let paths = [
        format!("/list/{film}/add"),
        format!("/list/{film}/save"),
        format!("/list/{film}/remove"),
        format!("/list/{film}/watched"),
        format!("/list/{film}/up"),
        "/films/new".to_owned(),
        "/friends/request".to_owned(),
        "/friends/invite".to_owned(),
        "/account/password".to_owned(),
        "/account/tokens".to_owned(),
        "/account/sign-up".to_owned(),
        "/account/delete".to_owned(),
        "/sign-out".to_owned(),
        "/sign-in".to_owned(),
        "/sign-up".to_owned(),
    ];
    for path in &paths {
        for token in ["", "x", &others_token] {
            let answer = people[0]
                .post_as_is(path, &[("token", token), ("name", "x"), ("title", "x")])
                .await;
            assert_eq!(
                answer.status,
                StatusCode::UNPROCESSABLE_ENTITY,
                "{path} {token}"
            );
            assert!(
                answer.text.contains("This form is too old"),
                "{path}: {}",
                answer.text
            );
        }
    }
    assert!(
        people[0]
            .get("/")
            .await
            .text
            .contains("Nothing on your list yet")
    );
}

#[tokio::test]
async fn a_planted_guest_cookie_opens_no_form_of_a_member() {
    let (site, mut people) = Site::with_people(&["Anna"]).await;
    let mut attacker = site.visitor();
    let token = attacker.get("/sign-in").await.field("token");
    people[0].cookies.extend(attacker.cookies.clone());
    let answer = people[0]
        .post_as_is(
            "/friends/request",
            &[("token", &token), ("name", "mallory")],
        )
        .await;
    assert!(
        answer.text.contains("This form is too old"),
        "{}",
        answer.text
    );
}

#[tokio::test]
async fn what_another_site_sends_is_refused() {
    let (_site, mut people) = Site::with_people(&["Anna"]).await;
    let token = people[0].get("/account").await.field("token");
    let request = people[0]
        .request("POST", "/sign-out")
        .header("sec-fetch-site", "cross-site")
        .header("content-type", "application/x-www-form-urlencoded")
        .body(Body::from(format!("token={token}")))
        .unwrap();
    let answer = people[0].send(request).await;
    assert!(
        answer.text.contains("came from another site"),
        "{}",
        answer.text
    );
    assert_eq!(people[0].get("/").await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_wrong_name_is_told_as_a_wrong_password() {
    let (site, _people) = Site::with_people(&["Anna"]).await;
    let mut answers = Vec::new();
    for name in ["Anna", "Nobody"] {
        let mut visitor = site.visitor();
        let token = visitor.get("/sign-in").await.field("token");
        let fields = [
            ("token", token.as_str()),
            ("name", name),
            ("password", "wrong password"),
        ];
        let answer = visitor.post_as_is("/sign-in", &fields).await;
        answers.push((
            answer.status,
            answer
                .text
                .replace(&answer.field("token"), "")
                .replace(name, ""),
        ));
    }
    assert_eq!(answers[0], answers[1]);
    assert!(
        answers[0]
            .1
            .contains("There is no such name with this password.")
    );
}

#[tokio::test]
async fn guessing_passwords_is_slowed_down() {
    let (site, _people) = Site::with_people(&["Anna"]).await;
    let mut visitor = site.visitor();
    let mut last = None;
    for _ in 0..12 {
        last = Some(visitor.sign_in("anna", "wrong password").await);
    }
    let last = last.unwrap();
    assert_eq!(last.status, StatusCode::TOO_MANY_REQUESTS);
    assert!(
        !last.text.contains("There is no such name"),
        "{}",
        last.text
    );
    // Nor is the right one looked at.
    assert_eq!(
        visitor.sign_in("Anna", PASSWORD).await.status,
        StatusCode::TOO_MANY_REQUESTS
    );
}

#[tokio::test]
async fn the_setup_wants_its_code_and_is_over_after() {
    let site = Site::new(Config::default());
    let mut stranger = site.visitor();
    let fields = [
        ("code", "000000000000"),
        ("name", "Mallory"),
        ("password", PASSWORD),
        ("sign_up", "open"),
    ];
    let answer = stranger.post("/setup", "/setup", &fields).await;
    assert!(
        answer.text.contains("This is not the code"),
        "{}",
        answer.text
    );
    assert!(
        stranger
            .get("/sign-up")
            .await
            .header("location")
            .ends_with("/setup")
    );
    let mut owner = site.visitor();
    owner.set_up(&site, "Anna").await;
    assert!(site.app.setup_code().is_none());
    assert_eq!(stranger.get("/setup").await.header("location"), "/");
}

#[tokio::test]
async fn only_an_invitation_lets_a_stranger_in_and_once() {
    let (site, mut people) = Site::with_people(&["Anna"]).await;
    let invitation = people[0].invitation().await;
    let mut stranger = site.visitor();
    assert!(
        stranger
            .get("/sign-up")
            .await
            .text
            .contains("with an invitation")
    );
    let token = stranger.get("/sign-in").await.field("token");
    let fields = [
        ("token", token.as_str()),
        ("name", "Anna"),
        ("password", PASSWORD),
    ];
    let refused = stranger.post_as_is("/sign-up", &fields).await;
    // Nor does it say that there is an Anna.
    assert!(refused.text.contains("with an invitation") && !refused.text.contains("another one"));
    assert_eq!(
        stranger.sign_up(&invitation, "Ben").await.status,
        StatusCode::SEE_OTHER
    );
    let mut late = site.visitor();
    assert!(
        late.get(&format!("/invitation/{invitation}"))
            .await
            .text
            .contains("used up or too old")
    );
}

#[tokio::test]
async fn private_films_are_nowhere_to_be_seen() {
    let (_site, mut people) = Site::with_people(&["Anna", "Ben", "Cleo"]).await;
    let film = people[0]
        .add(
            "alien",
            &[
                ("priority", "5"),
                ("private", "on"),
                ("note", "a secret note"),
            ],
        )
        .await;
    people[0]
        .add(
            "casablanca",
            &[("priority", "4"), ("note", "a secret note")],
        )
        .await;
    people[1].add("alien", &[("priority", "5")]).await;
    people[1].make_token().await;
    let list = people[1].get("/people/Anna").await.text;
    assert!(
        list.contains("Casablanca") && !list.contains(">Alien<") && !list.contains("secret"),
        "{list}"
    );
    assert!(list.contains("To watch <span class=\"count\">1<"), "{list}");
    assert!(!list.contains(", Horror<"), "its genre shows: {list}");
    let filtered = people[1].get("/people/Anna?genre=Horror").await.text;
    assert!(!filtered.contains(">Alien<"), "{filtered}");
    assert!(
        !people[1]
            .get(&format!("/films/{film}"))
            .await
            .text
            .contains("Anna")
    );
    assert!(
        people[1]
            .get("/tonight?with=Anna")
            .await
            .text
            .contains("No film is on all of your lists")
    );
    let page = people[1]
        .api("GET", "/people/Anna/list", serde_json::Value::Null)
        .await;
    assert_eq!(
        (page.json()["total"].as_i64(), page.text.contains("secret")),
        (Some(1), false)
    );
    let tonight = people[1]
        .api("GET", "/tonight?with=Anna", serde_json::Value::Null)
        .await;
    assert_eq!(tonight.json()["films"].as_array().map(Vec::len), Some(0));
    // One's own private film counts for oneself.
    assert!(
        people[0]
            .get("/tonight?with=Ben")
            .await
            .text
            .contains(">Alien<")
    );
}

#[tokio::test]
async fn what_is_somebody_elses_is_not_there() {
    let (site, mut people) = Site::with_people(&["Anna", "Ben"]).await;
    people[0].add("alien", &[("note", "mine")]).await;
    people[0].make_token().await;
    people[1].make_token().await;
    people[0].invitation().await;
    let ids = site.app.db().read(|db| {
        let invitation = links::invitations(db, 1)?[0];
        Ok([
            Ulid::from_bytes(db.query_row("SELECT change FROM undo", [], |row| row.get(0))?),
            tokens::all(db, 1)?[0].id,
            invitation,
        ])
    });
    let [change, token, invitation] = ids.unwrap().map(|id| id.to_string());
    for path in [
        format!("/undo/{change}"),
        format!("/account/tokens/{token}/revoke"),
        format!("/friends/uninvite/{invitation}"),
    ] {
        let answer = people[1].post("/account", &path, &[]).await;
        assert_eq!(answer.status, 404, "{path}: {}", answer.text);
    }
    for (verb, path) in [
        ("POST", format!("/undo/{change}")),
        ("DELETE", format!("/tokens/{token}")),
    ] {
        let answer = people[1].api(verb, &path, serde_json::Value::Null).await;
        assert_eq!(answer.status, 404, "{path}: {}", answer.text);
    }
    let only_owner = people[1]
        .post("/account", "/account/sign-up", &[("sign_up", "open")])
        .await;
    assert_eq!(only_owner.status, 404);
    assert!(people[0].get("/").await.text.contains(">Alien<"));
    assert_eq!(
        people[0]
            .api("GET", "/me", serde_json::Value::Null)
            .await
            .status,
        StatusCode::OK
    );
}

#[tokio::test]
async fn a_planted_session_is_not_taken_over_by_signing_in() {
    let (site, _people) = Site::with_people(&["Anna"]).await;
    let mut visitor = site.visitor();
    let planted = Secret::new().to_string();
    visitor
        .cookies
        .insert("session".to_owned(), planted.clone());
    let answer = visitor.sign_in("Anna", PASSWORD).await;
    assert_eq!(answer.header("location"), "/", "{}", answer.text);
    assert_ne!(visitor.cookies["session"], planted);
}

#[tokio::test]
async fn a_stranger_is_not_told_from_nobody() {
    let (_site, mut people) = Site::with_people(&["Anna", "Ben", "Cleo"]).await;
    people[1].make_token().await;
    for (path, name) in [
        ("/people/Cleo", "Cleo"),
        ("/people/Nobody", "Nobody"),
        ("/tonight?with=Cleo", "Cleo"),
        ("/tonight?with=Nobody", "Nobody"),
    ] {
        let answer = people[1].get(path).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND);
        assert!(answer.text.contains("There is no such person") && !answer.text.contains(name));
    }
    let asked = [
        people[1]
            .post("/friends", "/friends/request", &[("name", "Cleo")])
            .await,
        people[1]
            .post("/friends", "/friends/request", &[("name", "Nobody")])
            .await,
    ];
    assert_eq!(asked[0].header("location"), asked[1].header("location"));
    let page = people[1].get("/friends").await.text;
    assert!(page.contains("Take back: Cleo") && page.contains("Take back: Nobody"));
    assert_eq!(
        people[1]
            .api("GET", "/people/Cleo/list", serde_json::Value::Null)
            .await
            .status,
        StatusCode::NOT_FOUND
    );
}

#[tokio::test]
async fn a_request_reaches_nobody_who_takes_the_name_later() {
    let (site, mut people) = Site::with_people(&["Anna"]).await;
    people[0]
        .post("/friends", "/friends/request", &[("name", "Ben")])
        .await;
    let host = people[0].invitation().await;
    let mut ben = site.visitor();
    ben.sign_up(&host, "Ben").await;
    assert!(!ben.get("/friends").await.text.contains("Requests for you"));
}

#[tokio::test]
async fn a_reset_link_works_once_and_ends_sessions() {
    let (site, mut people) = Site::with_people(&["Anna"]).await;
    let secret = Secret::new();
    let page = format!("/reset/{secret}");
    site.app
        .db()
        .write(move |db| links::allow_reset(db, 1, secret))
        .await
        .unwrap();
    let mut visitor = site.visitor();
    assert_eq!(
        visitor.get(&page).await.header("referrer-policy"),
        "no-referrer"
    );
    let short = visitor.post(&page, &page, &[("password", "short")]).await;
    assert!(
        short.text.contains("at least 10 characters"),
        "{}",
        short.text
    );
    let done = visitor
        .post(&page, &page, &[("password", "another long password")])
        .await;
    assert_eq!(done.header("location"), "/sign-in?done=password");
    assert_eq!(people[0].get("/").await.header("location"), "/sign-in");
    assert!(visitor.get(&page).await.text.contains("used up or too old"));
    assert_eq!(
        visitor
            .sign_in("anna", "another long password")
            .await
            .header("location"),
        "/"
    );
}

#[tokio::test]
async fn links_end_by_the_time_in_their_ids() {
    let (site, _people) = Site::with_people(&["Anna"]).await;
    let (old, new) = (Secret::new(), Secret::new());
    let db = site.app.db();
    for (secret, hours, table) in [
        (old, 25, "reset"),
        (old, 14 * 24 + 1, "invitation"),
        (new, 14 * 24 - 1, "invitation"),
    ] {
        let sql = format!("INSERT INTO {table}(id, hash, user) VALUES (ulid_at(?1), ?2, 1)");
        let ms = inorder_watch::date::now_ms() - hours * 3_600_000;
        db.write(move |db| Ok(db.execute(&sql, (ms, secret.hash()))?))
            .await
            .unwrap();
    }
    assert!(db.read(move |db| links::reset_user(db, old)).is_err());
    assert!(db.read(move |db| links::host(db, old)).unwrap().is_none());
    assert!(db.read(move |db| links::host(db, new)).unwrap().is_some());
}

#[tokio::test]
async fn secrets_are_stored_as_hashes() {
    let (site, mut people) = Site::with_people(&["Anna"]).await;
    people[0].make_token().await;
    let session = people[0].cookies["session"].clone();
    let token = people[0].token.clone().unwrap();
    let invitation = people[0].invitation().await;
    site.app
        .db()
        .write_alone(|db| Ok(db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?))
        .unwrap();
    let file = std::fs::read(site.folder.path().join("watch.db")).unwrap();
    for secret in [session, token, invitation] {
        let bytes: Vec<u8> = (0..40)
            .step_by(2)
            .map(|i| u8::from_str_radix(&secret[i..i + 2], 16).unwrap())
            .collect();
        assert!(
            !file.windows(40).any(|w| w == secret.as_bytes())
                && !file.windows(20).any(|w| w == bytes)
        );
    }
    assert!(
        !file
            .windows(PASSWORD.len())
            .any(|w| w == PASSWORD.as_bytes())
    );
}

#[tokio::test]
async fn large_requests_are_refused() {
    let (_site, mut people) = Site::with_people(&["Anna"]).await;
    let large = "a".repeat(70_000);
    let answer = people[0]
        .post("/films/new", "/films/new", &[("title", &large)])
        .await;
    assert_eq!(answer.status, StatusCode::PAYLOAD_TOO_LARGE);
    people[0].make_token().await;
    let answer = people[0]
        .api("POST", "/films", serde_json::json!({"title": large}))
        .await;
    assert_eq!(answer.status, StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn what_people_write_stays_text() {
    let (_site, mut people) = Site::with_people(&["Anna", "Ben"]).await;
    let nasty = "<script>alert('1')</script>\"><img src=x>";
    let answer = people[0]
        .post(
            "/films/new",
            "/films/new",
            &[("title", nasty), ("people", nasty), ("genres", nasty)],
        )
        .await;
    let film = answer.header("location").to_owned();
    let save = film.replace("/films/", "/list/") + "/save";
    people[0].post(&film, &save, &[("note", nasty)]).await;
    for (i, path) in [
        (0, "/"),
        (0, film.as_str()),
        (0, "/films?q=alert"),
        (1, "/people/Anna"),
        (0, "/films?q=%22%3E%3Cimg"),
    ] {
        let page = people[i].get(path).await.text;
        assert!(
            !page.contains("<script>alert") && !page.contains("<img src=x"),
            "{path}: {page}"
        );
    }
    let endless = "a".repeat(20_000);
    for words in [
        endless.as_str(),
        "'",
        "\"",
        "a\" OR title:x",
        "*",
        "NEAR(",
        "^",
        "-",
        "()",
        "AND",
        "\u{0}",
        "é\u{301}",
    ] {
        let query = serde_urlencoded::to_string([("q", words), ("genre", words)]).unwrap();
        assert_eq!(
            people[0].get(&format!("/films?{query}")).await.status,
            StatusCode::OK,
            "{words:?}"
        );
    }
}

#[tokio::test]
async fn who_was_signed_out_from_elsewhere_can_sign_in_again() {
    let (site, mut people) = Site::with_people(&["Anna"]).await;
    let ended = site.app.db().write(|db| sessions::end_all(db, 1, None));
    ended.await.unwrap();
    // The cookie of the ended session is still there.
    assert_eq!(people[0].get("/").await.header("location"), "/sign-in");
    let answer = people[0].sign_in("Anna", PASSWORD).await;
    assert_eq!(answer.header("location"), "/", "{}", answer.text);
    assert_eq!(people[0].get("/").await.status, StatusCode::OK);
}

/// The requests that a user has sent, as that user sees them, without the name.
async fn seen(person: &mut crate::client::Client, name: &str) -> Vec<String> {
    let page = person.get("/friends").await.text;
    let (_, asked) = page.split_once("You have asked").unwrap_or_default();
    let row = asked
        .split("<li")
        .find(|row| row.contains(name))
        .unwrap_or_default();
    let page_row = row
        .split("</li>")
        .next()
        .unwrap_or_default()
        .replace(name, "NAME");
    let token = page_row
        .split_once("name=\"token\"")
        .map_or("", |(_, rest)| rest.split('>').next().unwrap());
    let sent = person
        .api("GET", "/friends", serde_json::Value::Null)
        .await
        .json();
    let sent = sent["requests_sent"]
        .as_array()
        .unwrap()
        .iter()
        .find(|r| r["name"] == name)
        .cloned();
    vec![
        page_row.replace(token, ""),
        format!("{sent:?}").replace(name, "NAME"),
    ]
}

#[tokio::test]
async fn what_becomes_of_a_request_is_not_told() {
    let (_site, mut people) = Site::with_people(&["Anna", "Ben", "Cleo"]).await;
    let [_, ben, cleo] = &mut people[..] else {
        unreachable!()
    };
    ben.make_token().await;
    // Ben and Cleo accepted Anna's invitations, and are strangers to each other; Dora knows no user.
    for name in ["Cleo", "Dora"] {
        ben.post("/friends", "/friends/request", &[("name", name)])
            .await;
    }
    let nobody = seen(ben, "Dora").await;
    assert!(
        nobody[0].contains("Take back") && nobody[1].contains("NAME"),
        "{nobody:?}"
    );
    assert_eq!(seen(ben, "Cleo").await, nobody);
    assert!(cleo.get("/friends").await.text.contains("Requests for you"));
    cleo.post("/friends", "/friends/decline", &[("name", "Ben")])
        .await;
    assert_eq!(seen(ben, "Cleo").await, nobody, "she declined");
    // Asked again, she isn't bothered again, and the answer is the same.
    let again = ben
        .post("/friends", "/friends/request", &[("name", "Cleo")])
        .await;
    assert_eq!(again.header("location"), "/friends?done=requested");
    assert_eq!(seen(ben, "Cleo").await, nobody);
    assert!(!cleo.get("/friends").await.text.contains("Requests for you"));
    // If she changes her mind, his request is still valid.
    cleo.post("/friends", "/friends/request", &[("name", "Ben")])
        .await;
    assert!(
        cleo.get("/friends")
            .await
            .text
            .contains("href=\"/people/Ben\"")
    );
    cleo.post("/people/Ben", "/friends/unfriend", &[("name", "Ben")])
        .await;
    ben.post("/friends", "/friends/request", &[("name", "Cleo")])
        .await;
    cleo.post("/account", "/account/delete", &[("confirm", PASSWORD)])
        .await;
    assert_eq!(seen(ben, "Cleo").await, nobody, "she is gone");
}
