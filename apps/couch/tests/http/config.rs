//! The configuration over HTTP. The expected answers are those of CouchDB 3.5.0, seen with the same requests.

use crate::client::Running;
use inorder_couch::auth::Auth;
use inorder_couch::auth::password::PasswordHash;
use inorder_couch::config::Config;
use inorder_couch::http::ServerSettings;
use serde_json::{Value, json};
use std::sync::Arc;

const CONFIG: &str = "/_node/_local/_config";

/// A server whose configuration is in a file.
async fn with_file() -> (Running, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let config = Config::open(&folder.path().join("local.ini")).expect("a new file");
    let settings = ServerSettings {
        config: Arc::new(config),
        ..ServerSettings::default()
    };
    let server = Running::start_with(Auth::new(None, b""), settings).await;
    (server, folder)
}

#[tokio::test]
async fn a_value_is_set_answered_and_deleted() {
    let (server, folder) = with_file().await;
    let text = || std::fs::read_to_string(folder.path().join("local.ini")).unwrap_or_default();
    for path in [CONFIG, "/_node/nonode@nohost/_config"] {
        let key = format!("{path}/test/key");
        let unknown = server.get(&key).await;
        assert_eq!(unknown.error(), (404, "not_found".into()));
        assert_eq!(unknown.json()["reason"], "unknown_config_value");
        let set = server.put(&key, &json!(" one ")).await;
        assert_eq!((set.status.as_u16(), set.text()), (200, "\"\"\n"));
        let set = server.put(&key, &json!("two")).await;
        assert_eq!(set.text(), "\"one\"\n");
        assert_eq!(server.get(&key).await.text(), "\"two\"\n");
        assert!(text().contains("[test]\nkey = two\n"), "{}", text());
        let section = server.get(&format!("{path}/test")).await;
        assert_eq!(section.json(), json!({ "key": "two" }));
        assert_eq!(
            server.get(path).await.json()["test"],
            json!({ "key": "two" })
        );
        assert_eq!(server.delete(&key).await.text(), "\"two\"\n");
        assert_eq!(server.delete(&key).await.error().0, 404);
        assert!(!text().contains("key"), "{}", text());
    }
    assert_eq!(
        server.get(&format!("{CONFIG}/nothing")).await.json(),
        json!({})
    );
}

#[tokio::test]
async fn what_couchdb_refuses_is_refused() {
    let (server, _folder) = with_file().await;
    for body in ["true", "11", "{}", "[1]", "null"] {
        let wrong = server.ask("PUT", &format!("{CONFIG}/a/b"));
        let wrong = wrong.body("application/json", body).send().await;
        assert_eq!(wrong.error(), (400, "bad_request".into()), "{body}");
        assert_eq!(wrong.json()["reason"], "a JSON string expected", "{body}");
    }
    let wrong = server.ask("PUT", &format!("{CONFIG}/a/b"));
    assert_eq!(
        wrong.body("application/json", "text").send().await.error(),
        (400, "bad_request".into())
    );
    for (path, value, reason) in [
        ("a%5Db/k", "v", "Invalid configuration section"),
        ("a/k%5B", "v", "Invalid configuration key"),
        ("a/k", "v\nw", "Invalid configuration value"),
    ] {
        let wrong = server.put(&format!("{CONFIG}/{path}"), &json!(value)).await;
        assert_eq!(wrong.error(), (400, "bad_request".into()));
        assert_eq!(wrong.json()["reason"], reason);
    }
    for section in [
        "daemons",
        "external",
        "httpd_design_handlers",
        "httpd_db_handlers",
        "native_query_servers",
        "os_daemons",
        "query_servers",
        "feature_flags",
    ] {
        let path = format!("{CONFIG}/{section}/key");
        let refused = server.put(&path, &json!("value")).await;
        assert_eq!(refused.error(), (403, "forbidden".into()), "{section}");
        assert_eq!(server.delete(&path).await.error().0, 403, "{section}");
    }
    let other = server.get("/_node/other/_config").await;
    assert_eq!(other.json()["reason"], "no such node: other");
    for (method, path) in [
        ("PUT", CONFIG),
        ("POST", &format!("{CONFIG}/a")),
        ("GET", &format!("{CONFIG}/_reload")),
    ] {
        assert_eq!(
            server.ask(method, path).send().await.error(),
            (405, "method_not_allowed".into())
        );
    }
    assert_eq!(
        server.get(&format!("{CONFIG}/a/b/c")).await.error(),
        (404, "not_found".into())
    );
}

#[tokio::test]
async fn a_value_may_last_until_the_reload() {
    let (server, folder) = with_file().await;
    let put = server.ask("PUT", &format!("{CONFIG}/test/key"));
    let put = put.header("x-couch-persist", "false").json(&json!("run"));
    assert_eq!(put.send().await.status, 200);
    assert_eq!(
        server.get(&format!("{CONFIG}/test/key")).await.text(),
        "\"run\"\n"
    );
    std::fs::write(
        folder.path().join("local.ini"),
        "[test]\nother = hand\n[admins]\n",
    )
    .unwrap();
    let reloaded = server
        .post(&format!("{CONFIG}/_reload"), &Value::Null)
        .await;
    assert_eq!(reloaded.text(), "{\"ok\":true}\n");
    assert_eq!(
        server.get(&format!("{CONFIG}/test")).await.json(),
        json!({ "other": "hand" })
    );
}

#[tokio::test]
async fn an_admins_password_is_stored_hashed() {
    let (server, folder) = with_file().await;
    server
        .put(&format!("{CONFIG}/chttpd_auth/iterations"), &json!("3"))
        .await;
    let set = server
        .put(&format!("{CONFIG}/admins/anna"), &json!("s3cret"))
        .await;
    assert_eq!(set.text(), "\"\"\n");
    let text = std::fs::read_to_string(folder.path().join("local.ini")).unwrap();
    let hash = text
        .lines()
        .find_map(|line| line.strip_prefix("anna = "))
        .unwrap();
    assert!(
        hash.starts_with("-pbkdf2:sha256-") && hash.ends_with(",3"),
        "{hash}"
    );
    assert!(hash.parse::<PasswordHash>().unwrap().verify("s3cret"));
}

#[tokio::test]
async fn origins_take_effect_without_a_restart() {
    let (server, _folder) = with_file().await;
    let allowed = async |origin: &str| {
        let asked = server.ask("GET", "/").header("origin", origin).send().await;
        asked.header("access-control-allow-origin").to_owned()
    };
    assert_eq!(allowed("app://obsidian.md").await, "");
    for (path, value) in [
        ("httpd/enable_cors", "true"),
        (
            "cors/origins",
            "app://obsidian.md, capacitor://localhost,http://localhost",
        ),
    ] {
        server.put(&format!("{CONFIG}/{path}"), &json!(value)).await;
    }
    for origin in [
        "app://obsidian.md",
        "capacitor://localhost",
        "http://localhost",
    ] {
        assert_eq!(allowed(origin).await, origin);
    }
    assert_eq!(allowed("http://localhost.example.com").await, "");
    server
        .put(&format!("{CONFIG}/chttpd/enable_cors"), &json!("false"))
        .await;
    assert_eq!(
        allowed("app://obsidian.md").await,
        "",
        "[chttpd] goes before [httpd]"
    );
}

/// A server with a rule for all hosts and one for another host.
async fn with_rules() -> (Running, tempfile::TempDir) {
    let (server, folder) = with_file().await;
    for (path, value) in [
        ("chttpd/enable_cors", "true"),
        ("cors/origins", "https://a.example.com"),
        ("cors/credentials", "true"),
        ("cors:special.localhost/origins", "https://b.example.com"),
        ("cors:special.localhost/methods", "GET"),
        ("cors:special.localhost/headers", "X-Special"),
        ("cors:special.localhost/max_age", "7"),
    ] {
        server.put(&format!("{CONFIG}/{path}"), &json!(value)).await;
    }
    (server, folder)
}

#[tokio::test]
async fn a_preflight_is_answered_as_couchdb_answers_it() {
    let (server, _folder) = with_rules().await;
    let preflight = async |host: &str, origin: &str, method: &str, headers: &str| {
        let asked = server
            .ask("OPTIONS", "/_all_dbs")
            .header("host", host)
            .header("origin", origin);
        let asked = asked.header("access-control-request-method", method);
        asked
            .header("access-control-request-headers", headers)
            .send()
            .await
    };
    let yes = preflight(
        "localhost",
        "https://a.example.com",
        "PUT",
        "Content-Type, authorization",
    )
    .await;
    assert_eq!((yes.status.as_u16(), yes.text()), (204, ""));
    for (name, value) in [
        ("access-control-allow-origin", "https://a.example.com"),
        ("access-control-allow-credentials", "true"),
        ("access-control-max-age", "600"),
        (
            "access-control-allow-methods",
            "CONNECT, COPY, DELETE, GET, HEAD, OPTIONS, POST, PUT, TRACE",
        ),
        (
            "access-control-allow-headers",
            "Content-Type, authorization",
        ),
    ] {
        assert_eq!(yes.header(name), value, "{name}");
    }
    let special = preflight(
        "special.localhost:5984",
        "https://b.example.com",
        "GET",
        "x-special",
    )
    .await;
    assert_eq!(
        (
            special.status.as_u16(),
            special.header("access-control-max-age")
        ),
        (204, "7")
    );
    for (host, origin, method, headers) in [
        ("localhost", "https://b.example.com", "PUT", ""),
        ("localhost", "https://a.example.com", "PATCH", ""),
        ("localhost", "https://a.example.com", "PUT", "x-other"),
        ("special.localhost", "https://a.example.com", "GET", ""),
        ("special.localhost", "https://b.example.com", "PUT", ""),
    ] {
        let no = preflight(host, origin, method, headers).await;
        assert_eq!(no.status, 405, "{host} {origin} {method} {headers}");
        assert_eq!(no.header("access-control-allow-methods"), "");
    }
}

#[tokio::test]
async fn any_origin_needs_an_admin() {
    let (server, _folder) = with_file().await;
    server
        .put(&format!("{CONFIG}/chttpd/enable_cors"), &json!("true"))
        .await;
    server
        .put(&format!("{CONFIG}/cors/origins"), &json!("*, null"))
        .await;
    for origin in ["https://evil.example.com", "null"] {
        let asked = server.ask("GET", "/").header("origin", origin).send().await;
        assert_eq!(asked.header("access-control-allow-origin"), "", "{origin}");
    }
}

#[tokio::test]
async fn answers_have_couchdbs_headers() {
    let (server, _folder) = with_file().await;
    for path in ["/", "/missing", "/_up"] {
        let answer = server.get(path).await;
        let version = answer.header("server").strip_prefix("CouchDB/").unwrap();
        assert!(version.starts_with("3.5.0 (inorder-couch/"), "{version}");
        let id = answer.header("x-couch-request-id");
        assert!(
            id.len() == 10 && id.bytes().all(|byte| byte.is_ascii_hexdigit()),
            "{id}"
        );
        assert_eq!(answer.header("x-couchdb-body-time"), "0");
    }
    let (first, second) = (server.get("/").await, server.get("/").await);
    assert_ne!(
        first.header("x-couch-request-id"),
        second.header("x-couch-request-id")
    );
    for (given, is_kept) in [("My-id_1", true), ("a b", false), (&"a".repeat(37), false)] {
        let answer = server
            .ask("GET", "/")
            .header("x-couch-request-id", given)
            .send()
            .await;
        assert_eq!(
            answer.header("x-couch-request-id") == given,
            is_kept,
            "{given}"
        );
    }
    server
        .put(
            &format!("{CONFIG}/chttpd/server_header_versions"),
            &json!("false"),
        )
        .await;
    assert_eq!(server.get("/").await.header("server"), "CouchDB");
}

#[tokio::test]
async fn a_post_may_be_another_method() {
    let (server, _folder) = with_file().await;
    let with = |method: &str, path: &str, other: &str| {
        server
            .ask(method, path)
            .header("x-http-method-override", other)
            .send()
    };
    assert_eq!(with("POST", "/db", "PUT").await.status, 201);
    assert_eq!(with("POST", "/db", "GET").await.json()["db_name"], "db");
    assert_eq!(
        with("GET", "/db", "DELETE").await.status,
        200,
        "only a POST may"
    );
    assert_eq!(with("POST", "/db", "HEAD").await.json()["db_name"], "db");
    assert_eq!(with("POST", "/db", "DELETE").await.status, 200);
    assert_eq!(server.get("/db").await.status, 404);
}

#[tokio::test]
async fn limits_take_effect_without_a_restart() {
    let (server, _folder) = with_file().await;
    server.database("db", &json!([])).await;
    let put = async |id: &str, bytes: usize| {
        let text = "x".repeat(bytes);
        server
            .put(&format!("/db/{id}"), &json!({ "text": text }))
            .await
    };
    let attach = async |id: &str, bytes: usize| {
        let path = format!("/db/{id}/file");
        server
            .ask("PUT", &path)
            .body("text/plain", "x".repeat(bytes))
            .send()
            .await
    };
    let set =
        async |key: &str, value: &str| server.put(&format!("{CONFIG}/{key}"), &json!(value)).await;
    assert_eq!(
        put("large", 9_000_000).await.status,
        201,
        "CouchDB's default is 8,000,000"
    );
    set("couchdb/max_document_size", "100").await;
    assert_eq!(
        put("a", 200).await.error(),
        (413, "document_too_large".into())
    );
    assert_eq!(put("a", 50).await.status, 201);
    assert_eq!(attach("b", 2000).await.status, 201);
    set("couchdb/max_attachment_size", "1000").await;
    assert_eq!(attach("c", 2000).await.error().0, 413);
    set("chttpd/max_http_request_size", "500").await;
    assert_eq!(attach("c", 900).await.error(), (413, "too_large".into()));
    assert_eq!(attach("c", 400).await.status, 201);
    server
        .delete(&format!("{CONFIG}/couchdb/max_document_size"))
        .await;
    assert_eq!(put("d", 450).await.status, 201, "the default again");
    let long = put("longer", 1).await.json()["rev"].clone();
    set("couchdb/max_document_id_length", "5").await;
    let illegal = (400, "illegal_docid".to_owned());
    assert_eq!(put("longest", 1).await.error(), illegal);
    let tombstone = json!({ "_deleted": true });
    for done in [
        server.put("/db/longest", &tombstone).await,
        server
            .post("/db", &json!({ "_id": "longest", "_deleted": true }))
            .await,
    ] {
        assert_eq!(done.error(), illegal);
    }
    let path = format!("/db/longer?rev={}", long.as_str().unwrap());
    assert_eq!(server.delete(&path).await.status, 200);
}
