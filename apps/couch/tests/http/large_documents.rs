//! Documents that take much more memory in a function than as JSON.

use crate::client::{Answer, Running};
use inorder_couch::auth::Auth;
use inorder_couch::http::ServerSettings;
use serde_json::{Value, json};
use std::time::Duration;

/// A server whose functions have time: here, they are not optimised.
async fn patient() -> Running {
    let mut settings = ServerSettings::default();
    settings.scripts.limits.time_max = Duration::from_secs(300);
    Running::start_with(Auth::new(None, b""), settings).await
}

/// Writes a document of this text.
async fn put_text(server: &Running, id: &str, text: String) -> Answer {
    let put = server.ask("PUT", &format!("/db/{id}"));
    put.body("application/json", text).send().await
}

/// Texts of documents of about so many bytes, each of another shape.
fn shapes(bytes: usize) -> Vec<(&'static str, String)> {
    let list = |item: &str| {
        let count = bytes / (item.len() + 1);
        format!("[{}]", vec![item; count].join(","))
    };
    let members = |item: &str| {
        let count = bytes / (item.len() + 9);
        let all: Vec<String> = (0..count)
            .map(|at| format!("\"{at:05x}\":{item}"))
            .collect();
        format!("{{{}}}", all.join(","))
    };
    let track = |at: usize| {
        format!(
            "[52.{:07},13.{:07}]",
            at * 30 % 10_000_000 + 1,
            at * 50 % 10_000_000 + 1
        )
    };
    let track: Vec<String> = (0..bytes / 24).map(track).collect();
    let point = r#"{"lat":52.1234567,"lon":13.1234567,"at":1700000000}"#;
    vec![
        ("empty arrays", list("[]")),
        ("empty objects", list("{}")),
        ("arrays of arrays", list("[[]]")),
        ("arrays of objects", list("[{}]")),
        ("deep arrays", list("[[[[[[]]]]]]")),
        ("integers", list("7")),
        ("integer arrays", list("[7]")),
        ("integer pairs", list("[7,8]")),
        ("floats", list("1.5")),
        ("nulls", list("null")),
        ("empty texts", list("\"\"")),
        ("letters", list("\"x\"")),
        ("texts", list("\"some text\"")),
        ("wide texts", list("\"日本\"")),
        ("small objects", list(r#"{"a":1}"#)),
        ("points", list(point)),
        ("a track", format!("[{}]", track.join(","))),
        ("members", members("1")),
        ("members with arrays", members("[]")),
        ("members with objects", members(r#"{"a":{}}"#)),
        ("one text", format!("\"{}\"", "x".repeat(bytes))),
        ("one wide text", format!("\"{}\"", "日".repeat(bytes / 3))),
        (
            "one escaped text",
            format!("\"{}\"", "\\u0001".repeat(bytes / 6)),
        ),
    ]
}

/// A view that reads whole documents, and one that emits them.
fn design() -> Value {
    json!({ "views": {
        "kinds": { "map": "function (doc) { emit(doc.kind, JSON.stringify(doc.body).length) }" },
        "whole": { "map": "function (doc) { doc.body = 0; emit(doc._id, doc.body) }" },
    }})
}

async fn put_shapes(server: &Running, bytes: usize) -> Vec<(&'static str, String)> {
    server.put("/db", &json!({})).await;
    assert_eq!(server.put("/db/_design/d", &design()).await.status, 201);
    let shapes = shapes(bytes);
    for (at, (kind, text)) in shapes.iter().enumerate() {
        let body = format!("{{\"kind\":\"{kind}\",\"body\":{text}}}");
        let put = put_text(server, &format!("{at:02}"), body).await;
        assert_eq!(put.status, 201, "{kind}: {}", put.text());
    }
    shapes
}

#[tokio::test]
async fn documents_of_every_shape_have_rows() {
    let server = patient().await;
    let stored = put_shapes(&server, 150_000).await;
    let kinds = server.get("/db/_design/d/_view/kinds").await;
    assert_eq!(kinds.status, 200, "{}", kinds.text());
    let kinds = kinds.json();
    let mut named: Vec<&str> = kinds["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["key"].as_str().unwrap())
        .collect();
    let mut expected: Vec<&str> = stored.iter().map(|(kind, _)| *kind).collect();
    named.sort_unstable();
    expected.sort_unstable();
    assert_eq!(named, expected);
    for (at, (kind, text)) in stored.iter().enumerate() {
        let key = format!("/db/_design/d/_view/whole?key=\"{at:02}\"");
        let whole = server.get(&key).await.json();
        let body: Value = serde_json::from_str(text).unwrap();
        // Functions cannot change a document.
        assert_eq!(whole["rows"][0]["value"], body, "{kind}");
    }
    // One that takes more than the 64 MiB that functions have beside their documents.
    let (_, text) = shapes(900_000).remove(2);
    let body = format!("{{\"kind\":\"large\",\"body\":{text}}}");
    let put = put_text(&server, "large", body).await;
    assert_eq!(put.status, 201);
    let large = "/db/_design/d/_view/kinds?key=\"large\"";
    let large = server.get(large).await.json();
    assert_eq!(large["rows"][0]["value"], text.len(), "{large}");
    let info = server.get("/db/_design/d/_info").await.json();
    assert_eq!(info["view_index"]["set_aside"], Value::Null);
}

#[tokio::test]
async fn documents_of_every_shape_pass_filters_and_validations() {
    let server = patient().await;
    server.put("/db", &json!({})).await;
    let design = json!({
        "filters": { "all": "function (doc) { return JSON.stringify(doc).length > 0 }" },
        "shows": { "length": "function (doc) { return '' + JSON.stringify(doc).length }" },
        "validate_doc_update": "function (doc, old) { JSON.stringify([doc, old]) }",
    });
    assert_eq!(server.put("/db/_design/d", &design).await.status, 201);
    for (kind, text) in shapes(60_000) {
        let body = format!("{{\"body\":{text}}}");
        let put = put_text(&server, "one", body).await;
        assert_eq!(put.status, 201, "{kind}: {}", put.text());
        let shown = server.get("/db/_design/d/_show/length/one").await;
        assert_eq!(shown.status, 200, "{kind}: {}", shown.text());
        let changes = server.get("/db/_changes?filter=d/all").await;
        assert_eq!(
            changes.json()["results"][1]["id"],
            "one",
            "{kind}: {}",
            changes.text()
        );
        // The next update has two documents of this shape.
        let rev = put.json()["rev"].clone();
        let body = format!("{{\"_rev\":{rev},\"body\":{text},\"again\":1}}");
        let put = put_text(&server, "one", body).await;
        assert_eq!(put.status, 201, "{kind}: {}", put.text());
        let gone = format!("/db/one?rev={}", put.json()["rev"].as_str().unwrap());
        assert_eq!(server.ask("DELETE", &gone).send().await.status, 200);
    }
}

async fn configure(server: &Running, key: &str, value: &str) {
    let path = format!("/_node/_local/_config/{key}");
    assert_eq!(server.put(&path, &json!(value)).await.status, 200);
}

async fn rev(server: &Running, id: &str) -> String {
    let document = server.get(&format!("/db/{id}")).await.json();
    document["_rev"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_document_that_a_map_function_fails_with_is_named_or_set_aside() {
    let server = patient().await;
    let config = async |key: &str, value: &str| configure(&server, key, value).await;
    config("quickjs/memory_limit_bytes", "8388608").await;
    put_shapes(&server, 120_000).await;
    let view = "/db/_design/d/_view/kinds";
    let failed = server.get(view).await;
    assert_eq!(
        (failed.status, &failed.json()["error"]),
        (
            reqwest::StatusCode::INTERNAL_SERVER_ERROR,
            &json!("os_process_error")
        )
    );
    let reason = failed.json()["reason"].to_string();
    assert!(
        reason.contains("memory_limit_bytes") && reason.contains("\\\"00\\\""),
        "{reason}"
    );

    config("query_server_config/set_aside_failed", "true").await;
    let rows = |answer: Value| answer["rows"].as_array().unwrap().len();
    let set_aside =
        async || server.get("/db/_design/d/_info").await.json()["view_index"]["set_aside"].clone();
    let answered = server.get(view).await;
    assert_eq!(answered.status, 200, "{}", answered.text());
    let listed = set_aside().await;
    let count = listed["count"].as_u64().unwrap() as usize;
    assert_eq!(count + rows(answered.json()), shapes(1000).len());
    assert!(count >= 3, "{listed}");
    assert_eq!(listed["documents"].as_array().unwrap().len(), count);
    assert_eq!(listed["documents"][0]["id"], "00");
    assert!(
        listed["documents"][0]["reason"]
            .as_str()
            .unwrap()
            .contains("8388608")
    );

    // A document that is smaller now has rows, one that is deleted is none any more.
    let smaller = json!({ "_rev": rev(&server, "00").await, "kind": "empty arrays", "body": [] });
    assert_eq!(server.put("/db/00", &smaller).await.status, 201);
    let gone = format!("/db/02?rev={}", rev(&server, "02").await);
    assert_eq!(server.ask("DELETE", &gone).send().await.status, 200);
    let found = rows(server.get(view).await.json());
    assert_eq!(set_aside().await["count"], json!(count - 2));
    assert_eq!(found + count - 2, shapes(1000).len() - 1);

    // With more memory they are tried again; without the setting, they are errors again.
    config("query_server_config/set_aside_failed", "false").await;
    assert_eq!(server.get(view).await.status, 500);
    config("quickjs/memory_limit_bytes", "infinity").await;
    config("query_server_config/set_aside_failed", "true").await;
    assert_eq!(rows(server.get(view).await.json()), shapes(1000).len() - 1);
    assert_eq!(set_aside().await, Value::Null);
}
