//! Access rights by client and address.

use crate::client::Running;
use base64::{Engine, engine::general_purpose::STANDARD};
use inorder_couch::auth::password::PasswordHash;
use inorder_couch::auth::{Admin, Auth};
use inorder_couch::http::ServerSettings;
use serde_json::json;
use sha2::{Digest, Sha256};

async fn with_admin(origins: &[&str]) -> Running {
    let admin = Admin {
        name: "anna".into(),
        password: PasswordHash::new("secret", 10),
    };
    let settings = ServerSettings::default();
    let config = &settings.config;
    config.fix("admins", "anna", &admin.password.to_string());
    config.fix("chttpd", "enable_cors", "true");
    config.fix("cors", "credentials", "true");
    config.fix("cors", "origins", &origins.join(","));
    Running::start_with(Auth::new(Some(admin), b"secret"), settings).await
}

/// `anna:secret` and `anna:wrong`.
const RIGHT: &str = "Basic YW5uYTpzZWNyZXQ=";
const WRONG: &str = "Basic YW5uYTp3cm9uZw==";

#[tokio::test]
async fn a_name_and_a_password_are_needed() {
    let server = with_admin(&[]).await;
    for path in ["/", "/_up", "/_session", "/_utils/"] {
        assert_eq!(server.get(path).await.status, 200, "{path}");
    }
    let right = server
        .ask("PUT", "/db")
        .header("authorization", RIGHT)
        .send()
        .await;
    assert_eq!(right.status, 201);
    for path in [
        "/_all_dbs",
        "/db",
        "/db/a",
        "/_node/_local/_config",
        "/_active_tasks",
    ] {
        assert_eq!(
            server.get(path).await.error(),
            (401, "unauthorized".into()),
            "{path}"
        );
        let wrong = server
            .ask("GET", path)
            .header("authorization", WRONG)
            .send()
            .await;
        assert_eq!(wrong.error(), (401, "unauthorized".into()), "{path}");
    }
}

#[tokio::test]
async fn a_session_lasts_until_it_is_ended() {
    let server = with_admin(&[]).await;
    let wrong = json!({ "name": "anna", "password": "wrong" });
    let wrong = server.post("/_session", &wrong).await;
    assert_eq!(wrong.status, 401);
    let cleared = wrong.header("set-cookie");
    assert!(cleared.starts_with("AuthSession=;"), "{cleared}");
    assert_eq!(wrong.json()["reason"], "Name or password is incorrect.");
    let form = server.ask("POST", "/_session");
    let form = form
        .body(
            "application/x-www-form-urlencoded",
            "name=anna&password=secret",
        )
        .send()
        .await;
    assert_eq!(
        form.json(),
        json!({ "ok": true, "name": "anna", "roles": ["_admin"] })
    );
    let cookie = form.header("set-cookie").to_owned();
    assert!(
        cookie.contains("HttpOnly") && cookie.contains("Path=/"),
        "{cookie}"
    );
    let cookie = cookie.split(';').next().unwrap();
    let session = server
        .ask("GET", "/_session")
        .header("cookie", cookie)
        .send()
        .await
        .json();
    assert_eq!(
        session["userCtx"],
        json!({ "name": "anna", "roles": ["_admin"] })
    );
    assert_eq!(session["info"]["authenticated"], "cookie");
    assert_eq!(
        server
            .ask("GET", "/_all_dbs")
            .header("cookie", cookie)
            .send()
            .await
            .status,
        200
    );
    let forged = cookie.replace('=', "=A");
    assert_eq!(
        server
            .ask("GET", "/_all_dbs")
            .header("cookie", &forged)
            .send()
            .await
            .status,
        400
    );
    let ended = server.delete("/_session").await;
    assert!(ended.header("set-cookie").starts_with("AuthSession=;"));
    let nobody = server.get("/_session").await.json();
    assert_eq!(nobody["userCtx"], json!({ "name": null, "roles": [] }));
}

#[tokio::test]
async fn pages_of_other_origins_ask_if_they_may() {
    let server = with_admin(&["https://app.example.com"]).await;
    let preflight = |origin: &str| {
        server
            .ask("OPTIONS", "/db/a")
            .header("origin", origin)
            .header("access-control-request-method", "PUT")
            .header("access-control-request-headers", "content-type")
            .send()
    };
    let allowed = preflight("https://app.example.com").await;
    assert_eq!(
        allowed.header("access-control-allow-origin"),
        "https://app.example.com"
    );
    assert_eq!(allowed.header("access-control-allow-credentials"), "true");
    assert!(
        allowed
            .header("access-control-allow-methods")
            .contains("PUT")
    );
    let other = preflight("https://evil.example.com").await;
    assert_eq!(other.header("access-control-allow-origin"), "");
    let asked = server
        .ask("GET", "/")
        .header("origin", "https://app.example.com")
        .send()
        .await;
    assert_eq!(
        asked.header("access-control-allow-origin"),
        "https://app.example.com"
    );
    let refused = server
        .ask("GET", "/db")
        .header("origin", "https://app.example.com")
        .send()
        .await;
    assert_eq!(
        refused.header("access-control-allow-origin"),
        "https://app.example.com",
        "so that the page can read why"
    );
}

#[tokio::test]
async fn without_an_admin_other_names_of_this_machine_are_nobodys() {
    let server = Running::start().await;
    let rebound = server
        .ask("GET", "/_all_dbs")
        .header("host", "evil.example.com")
        .send()
        .await;
    assert_eq!(rebound.error(), (403, "forbidden".into()));
    let asked = server
        .ask("GET", "/")
        .header("origin", "https://evil.example.com")
        .send()
        .await;
    assert_eq!(asked.header("access-control-allow-origin"), "");
    // A request that a page may send without a CORS preflight is never parsed as JSON.
    let simple = server
        .ask("POST", "/_replicate")
        .body("text/plain", "{}")
        .send()
        .await;
    assert_eq!(simple.error(), (415, "bad_content_type".into()));
}

#[tokio::test]
async fn the_status_page_brings_all_it_needs() {
    let server = Running::start().await;
    let page = server.get("/_utils/").await;
    assert!(page.text().contains("/_utils/icon.svg"));
    assert_eq!(server.get("/_utils/icon.svg").await.status, 200);
    assert!(!page.text().contains("://"), "nothing from elsewhere");
    let client = reqwest::Client::builder().no_proxy();
    let client = client.redirect(reqwest::redirect::Policy::none());
    let client = client.build().expect("a client");
    let moved = client.get(format!("{}/_utils", server.url)).send().await;
    let moved = moved.expect("an answer");
    assert_eq!(moved.status(), 301);
    assert_eq!(moved.headers()["location"], "/_utils/");
}

#[tokio::test]
async fn the_page_to_log_in_is_there() {
    let server = with_admin(&[]).await;
    let asked = server.ask("GET", "/_all_dbs").header("accept", "text/html");
    let page = asked.send().await;
    assert_eq!(page.status, 200, "{}", page.text());
    assert!(page.text().contains("/_utils/icon.svg"));
}

/// The sources that a policy has for something.
fn sources<'a>(policy: &'a str, directive: &str) -> &'a str {
    let mut directives = policy.split("; ");
    directives
        .find_map(|text| text.strip_prefix(directive)?.strip_prefix(' '))
        .unwrap_or_else(|| panic!("{policy} has no {directive}"))
}

#[tokio::test]
async fn the_status_page_runs_its_own_script_and_nothing_that_is_stored() {
    let server = Running::start().await;
    let page = server.get("/_utils/").await;
    let policy = page.header("content-security-policy").to_owned();
    assert_eq!(sources(&policy, "default-src"), "'none'");
    for (directive, element) in [("script-src", "script"), ("style-src", "style")] {
        let text = page.text().split_once(&format!("<{element}")).unwrap().1;
        let text = text.split_once('>').unwrap().1;
        let text = text.split_once(&format!("</{element}>")).unwrap().0;
        let hash = STANDARD.encode(Sha256::digest(text));
        assert_eq!(sources(&policy, directive), format!("'sha256-{hash}'"));
        assert_eq!(page.text().matches(&format!("<{element}")).count(), 1);
    }
    // Stored content is sandboxed, whatever its media type, in full and partial answers.
    server.database("db", &json!([])).await;
    for (id, content_type) in [
        ("script", "text/javascript"),
        ("page", "text/html"),
        ("image", "image/svg+xml"),
        ("other", "application/x-anything"),
    ] {
        let path = format!("/db/{id}/file");
        let put = server.ask("PUT", &path).body(content_type, "alert(1)");
        assert_eq!(put.send().await.status, 201);
        for (method, range) in [("GET", ""), ("HEAD", ""), ("GET", "bytes=0-3")] {
            let got = server
                .ask(method, &path)
                .header("range", range)
                .send()
                .await;
            assert!(got.status.is_success(), "{}", got.status);
            assert_eq!(got.header("content-security-policy"), "sandbox");
            assert_eq!(got.header("x-content-type-options"), "nosniff");
        }
    }
}
