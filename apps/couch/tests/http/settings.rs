//! Ids, new passwords and events of databases by the configuration. The expected answers are those of CouchDB 3.5.0, seen with
//! the same requests.

use crate::client::{Running, until};
use inorder_couch::auth::Auth;
use inorder_couch::config::Config;
use inorder_couch::http::ServerSettings;
use serde_json::json;
use std::sync::Arc;

const CONFIG: &str = "/_node/_local/_config";

async fn server() -> Running {
    let config = Config::default();
    config.fix("chttpd_auth", "iterations", "10");
    let settings = ServerSettings {
        config: Arc::new(config),
        ..ServerSettings::default()
    };
    Running::start_with(Auth::new(None, b"secret"), settings).await
}

#[tokio::test]
async fn the_algorithm_of_ids_also_names_new_documents() {
    let server = server().await;
    server.database("db", &json!([])).await;
    for (key, value) in [("algorithm", "utc_id"), ("utc_id_suffix", "-me")] {
        let set = server
            .put(&format!("{CONFIG}/uuids/{key}"), &json!(value))
            .await;
        assert_eq!(set.status, 200);
    }
    let ids = server.get("/_uuids?count=2").await.json();
    let ids = ids["uuids"].as_array().unwrap();
    assert!(
        ids.iter().all(|id| id.as_str().unwrap().ends_with("-me")),
        "{ids:?}"
    );
    let posted = server.post("/db", &json!({})).await.json();
    let docs = json!({ "docs": [{}, {}] });
    let bulk = server.post("/db/_bulk_docs", &docs).await.json();
    for id in [&posted["id"], &bulk[0]["id"], &bulk[1]["id"]] {
        let id = id.as_str().unwrap();
        assert!(id.len() == 17 && id.ends_with("-me"), "{id}");
    }
}

#[tokio::test]
async fn new_passwords_match_the_rules() {
    let server = server().await;
    server.put("/_users", &json!(null)).await;
    let rules = format!("{CONFIG}/chttpd_auth/password_regexp");
    let user = json!({ "name": "u", "type": "user", "roles": [], "password": "short" });
    for (value, status, reason) in [
        (
            r#"[{".{10,}", "Too short."}]"#,
            400,
            "Password does not conform to requirements. Too short.",
        ),
        (
            r#"["[A-Z]"]"#,
            400,
            "Password does not conform to requirements.",
        ),
        ("abc", 403, "Server cannot hash passwords at this time."),
    ] {
        server.put(&rules, &json!(value)).await;
        let refused = server.put("/_users/org.couchdb.user:u", &user).await;
        assert_eq!(refused.status.as_u16(), status, "{value}");
        assert_eq!(refused.json()["reason"], reason, "{value}");
    }
    server.put(&rules, &json!("[\"s\"]")).await;
    let taken = server.put("/_users/org.couchdb.user:u", &user).await;
    assert_eq!(taken.status, 201);
}

/// The key and the passwords of RFC 6238 are in the tests of the module.
#[tokio::test]
async fn a_user_with_totp_needs_a_token() {
    let server = server().await;
    server.put("/_users", &json!(null)).await;
    let user = json!({
        "name": "u", "type": "user", "roles": [], "password": "p",
        "totp": { "key": "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ" },
    });
    assert_eq!(
        server.put("/_users/org.couchdb.user:u", &user).await.status,
        201
    );
    for token in [json!(null), json!("000000x"), json!("12345")] {
        let mut login = json!({ "name": "u", "password": "p" });
        if token.is_string() {
            login["token"] = token;
        }
        let refused = server.post("/_session", &login).await;
        assert_eq!(refused.error(), (401, "unauthorized".into()), "{login}");
    }
}

#[tokio::test]
async fn events_of_databases_are_written_while_their_database_exists() {
    let server = server().await;
    assert_eq!(server.get("/_global_changes").await.error().0, 404);
    server.database("before", &json!([])).await;
    assert_eq!(
        server.put("/_global_changes", &json!(null)).await.status,
        201
    );
    server.database("db", &json!([{ "_id": "a" }])).await;
    assert_eq!(server.delete("/db").await.status, 200);
    for id in ["created:db", "updated:db", "deleted:db"] {
        let path = format!("/_global_changes/{id}");
        until(id, async || server.get(&path).await.status == 200).await;
        let document = server.get(&path).await.json();
        // The revision of an empty document, as in CouchDB.
        let first = "1-967a00dff5e02add41819138abb3284d";
        assert_eq!(document, json!({ "_id": id, "_rev": first }));
    }
    server.database("db", &json!([])).await;
    let path = "/_global_changes/created:db";
    until("a second revision", async || {
        server.get(path).await.json()["_rev"] == "2-7051cbe5c8faecd085a3fa619e6e6337"
    })
    .await;
}

#[tokio::test]
async fn numbers_of_shards_and_copies_are_checked_and_not_used() {
    let server = server().await;
    for (query, name) in [
        ("q=0", "q"),
        ("q=x", "q"),
        ("q=", "q"),
        ("n=-1", "n"),
        ("n=1.5", "n"),
    ] {
        let refused = server.put(&format!("/db?{query}"), &json!(null)).await;
        assert_eq!(refused.status, 400, "{query}");
        let reason = format!("The `{name}` value should be a positive integer.");
        assert_eq!(refused.json()["reason"], reason);
    }
    assert_eq!(server.put("/db?q=8&n=3", &json!(null)).await.status, 201);
    for (method, path) in [
        ("PUT", "/db/a?w=1"),
        ("GET", "/db/a?r=2"),
        ("GET", "/db/_all_docs?r=1"),
        ("GET", "/db/_changes?r=1"),
        ("PUT", "/db/_local/l?w=1"),
        ("GET", "/db/_local/l?r=1"),
        ("PUT", "/db/_security?w=1"),
    ] {
        let ask = server.ask(method, path);
        let answer = match method {
            "PUT" => ask.json(&json!({})).send().await,
            _ => ask.send().await,
        };
        assert!(
            answer.status.is_success(),
            "{method} {path}: {}",
            answer.text()
        );
    }
}
