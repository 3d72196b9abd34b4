//! What a CouchDB 3.5 sends and expects when it replicates with this server. The revisions and forms are CouchDB's own.

use crate::client::{Answer, Running};
use serde_json::{Value, json};

const TEXT: &str = "hello hello hello hello hello hello hello hello";

/// A server with a document that has a compressed and a plain attachment; its revision.
async fn with_attachments() -> (Running, String) {
    let server = Running::start().await;
    let text = json!({ "content_type": "text/plain", "data": "aGVsbG8gaGVsbG8gaGVsbG8gaGVsbG8gaGVsbG8gaGVsbG8gaGVsbG8gaGVsbG8=" });
    let binary = json!({ "content_type": "application/octet-stream", "data": "YWJj" });
    let document = json!({ "_id": "a", "_attachments": { "t.txt": text, "b.bin": binary } });
    let written = server.database("db", &json!([document])).await;
    let rev = written[0]["rev"].as_str().unwrap().to_owned();
    (server, rev)
}

/// The text before the first attachment, and whether the bytes of the attachments are sent as they are stored.
fn stored_parts(answer: &Answer) -> (String, bool) {
    let gzip: &[u8] = &[0x1f, 0x8b, 0x08];
    let has = |bytes: &[u8]| answer.body.windows(bytes.len()).any(|part| part == bytes);
    let is_stored = has(gzip)
        && has(b"Content-Encoding: gzip")
        && has(b"\r\n\r\nabc\r\n")
        && !has(TEXT.as_bytes());
    let text = String::from_utf8_lossy(&answer.body).into_owned();
    (text, is_stored)
}

fn assert_follows(answer: &Answer) {
    let (text, is_stored) = stored_parts(answer);
    assert!(is_stored, "{text}");
    let json = text.lines().find(|line| line.starts_with('{'));
    let document: Value = serde_json::from_str(json.expect("a document")).unwrap();
    let [packed, plain] = ["t.txt", "b.bin"].map(|name| document["_attachments"][name].clone());
    assert_eq!(packed["follows"], true, "{packed}");
    assert_eq!(
        (&packed["encoding"], &packed["length"]),
        (&json!("gzip"), &json!(TEXT.len()))
    );
    assert!(packed["encoded_length"].as_u64() < packed["length"].as_u64());
    assert_eq!(
        (&plain["follows"], &plain["encoding"]),
        (&json!(true), &Value::Null)
    );
}

#[tokio::test]
async fn attachments_follow_in_open_revs_without_atts_since() {
    let (server, rev) = with_attachments().await;
    let path = format!("/db/a?revs=true&latest=true&open_revs=%5B%22{rev}%22%5D");
    let ask = |path: &str| server.ask("GET", path).header("accept", "multipart/mixed");
    assert_follows(&ask(&path).send().await);
    assert_follows(&ask("/db/a?open_revs=all").send().await);
    // What the target has is not sent again.
    let known = format!("{path}&atts_since=%5B%22{rev}%22%5D");
    let (text, _) = stored_parts(&ask(&known).send().await);
    assert!(
        text.contains("\"stub\":true") && !text.contains("\"follows\""),
        "{text}"
    );
}

#[tokio::test]
async fn a_document_with_stubs_only_is_no_multipart_body() {
    let (server, rev) = with_attachments().await;
    let ask = |path: &str| {
        server
            .ask("GET", path)
            .header("accept", "multipart/related")
    };
    let known = format!("/db/a?revs=true&attachments=true&atts_since=%5B%22{rev}%22%5D");
    let answer = ask(&known).send().await;
    assert_eq!(answer.header("content-type"), "application/json");
    assert_eq!(answer.json()["_attachments"]["t.txt"]["stub"], true);
    let all = ask("/db/a?attachments=true").send().await;
    assert!(all.header("content-type").starts_with("multipart/related"));
    assert_follows(&all);
}

#[tokio::test]
async fn attachments_follow_in_multipart_bulk_get_without_atts_since() {
    let (server, rev) = with_attachments().await;
    let body = json!({ "docs": [{ "id": "a", "rev": rev }] });
    for kind in ["multipart/mixed", "multipart/related"] {
        let ask = server.ask("POST", "/db/_bulk_get?revs=true&latest=true");
        assert_follows(&ask.header("accept", kind).json(&body).send().await);
    }
    let json = server.post("/db/_bulk_get?revs=true", &body).await.json();
    let attachment = &json["results"][0]["docs"][0]["ok"]["_attachments"]["t.txt"];
    assert_eq!(attachment["stub"], true, "{json}");
}

#[tokio::test]
async fn a_second_checkpoint_names_its_revisions() {
    let server = Running::start().await;
    server.database("db", &json!([])).await;
    for (rev, expected) in [(None, "0-1"), (Some("0-1"), "0-2"), (Some("0-2"), "0-3")] {
        let mut checkpoint = json!({ "_id": "_local/c", "session_id": expected });
        if let Some(rev) = rev {
            checkpoint["_rev"] = rev.into();
            checkpoint["_revisions"] = json!({ "start": 0, "ids": [&rev[2..]] });
        }
        let written = server.put("/db/_local/c", &checkpoint).await;
        assert_eq!(
            (written.status.as_u16(), &written.json()["rev"]),
            (201, &json!(expected))
        );
    }
    let document = server.get("/db/_local/c").await.json();
    assert_eq!(
        document,
        json!({ "_id": "_local/c", "_rev": "0-3", "session_id": "0-3" })
    );
    // A document that is replicated has no such revision.
    let body = json!({ "_revisions": { "start": 0, "ids": ["abc"] } });
    assert_eq!(server.put("/db/a", &body).await.status, 409);
    let body = json!({ "_revisions": { "start": 1, "ids": [] } });
    assert_eq!(server.put("/db/a", &body).await.status, 201);
}

#[tokio::test]
async fn a_changed_attachment_comes_first() {
    let server = Running::start().await;
    server.database("db", &json!([])).await;
    let text = json!({ "content_type": "text/plain", "data": "aGVsbG8gaGVsbG8gaGVsbG8gaGVsbG8=" });
    let document = json!({ "_attachments": { "b.txt": text } });
    let mut rev = server.put("/db/a", &document).await.json()["rev"].clone();
    assert_eq!(rev, "1-9de584e52f4e7c2c6040504f300a54d0");
    for (name, kind, expected) in [
        (
            "a.bin",
            "application/octet-stream",
            "2-7913bbaa828479185d5444a7605d8638",
        ),
        (
            "c.bin",
            "application/octet-stream",
            "3-a7d0d2d3b6746b0a2a50757ca998f4fb",
        ),
        ("b.txt", "text/plain", "4-ce638c663bd73c1f9b65f59a6afcc47f"),
    ] {
        let path = format!("/db/a/{name}?rev={}", rev.as_str().unwrap());
        let written = server.ask("PUT", &path).body(kind, "abc").send().await;
        rev = written.json()["rev"].clone();
        assert_eq!(rev, expected);
    }
    let path = format!("/db/a/c.bin?rev={}", rev.as_str().unwrap());
    let deleted = server.delete(&path).await.json();
    assert_eq!(deleted["rev"], "5-1236613250b699b545dca613517bd719");
}

#[tokio::test]
async fn a_document_nested_too_deep_is_refused_by_itself() {
    let server = Running::start().await;
    server.database("db", &json!([])).await;
    for new_edits in [true, false] {
        let deep = "[".repeat(500) + &"]".repeat(500);
        let body = format!(
            r#"{{"new_edits":{new_edits},"docs":[{{"_id":"a{new_edits}","_rev":"1-a"}},{{"_id":"deep","_rev":"1-a","x":{deep}}},{{"_id":"z{new_edits}","_rev":"1-a"}}]}}"#
        )
        .replace(if new_edits { r#","_rev":"1-a""# } else { "\0" }, "");
        let answer = server
            .ask("POST", "/db/_bulk_docs")
            .body("application/json", body);
        let answer = answer.send().await;
        assert_eq!(answer.status, 201, "{}", answer.text());
        let rows = answer.json();
        let refused = &rows[if new_edits { 1 } else { 0 }];
        assert_eq!(
            (&refused["id"], &refused["error"]),
            (&json!("deep"), &json!("bad_request"))
        );
        assert_eq!(
            rows.as_array().unwrap().len(),
            if new_edits { 3 } else { 1 }
        );
        for id in ["a", "z"] {
            assert_eq!(
                server.get(&format!("/db/{id}{new_edits}")).await.status,
                200
            );
        }
    }
}

#[tokio::test]
async fn a_deletion_by_put_creates_nothing() {
    let server = Running::start().await;
    server.database("db", &json!([])).await;
    let deleted = json!({ "_deleted": true });
    assert_eq!(server.put("/db/a", &deleted).await.status, 200);
    let replicated = json!({ "_deleted": true, "_rev": "1-abc" });
    assert_eq!(
        server
            .put("/db/b?new_edits=false", &replicated)
            .await
            .status,
        200
    );
    assert_eq!(server.put("/db/c?batch=ok", &deleted).await.status, 202);
    let posted = json!({ "_id": "d", "_deleted": true });
    assert_eq!(server.post("/db", &posted).await.status, 201);
}

#[tokio::test]
async fn empty_segments_of_a_path_are_ignored() {
    let server = Running::start().await;
    server.database("db", &json!([{ "_id": "a" }])).await;
    for path in [
        "//",
        "//db",
        "/db/",
        "/db//a",
        "/db/a/",
        "//_all_dbs/",
        "//db/_all_docs?limit=1",
    ] {
        let answer = server.get(path).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    }
    assert_eq!(
        server.get("//db//b").await.error(),
        (404, "not_found".into())
    );
}

#[tokio::test]
async fn numbers_without_a_fraction_hash_as_products() {
    let server = Running::start().await;
    server.database("db", &json!([])).await;
    for (at, (number, expected)) in NUMBERS.iter().enumerate() {
        let body = format!("{{\"x\":{number}}}");
        let ask = server.ask("PUT", &format!("/db/{at}"));
        let written = ask.body("application/json", body).send().await.json();
        assert_eq!(written["rev"], *expected, "{number}");
    }
}

/// Numbers, and the revisions that CouchDB gives to `{"x": NUMBER}`.
const NUMBERS: &[(&str, &str)] = &[
    ("5e-324", "1-7941c3c3efdff179d3fba94fc3ff6a8e"),
    ("4.9e-324", "1-2ac26e8dab03bf7731014a7eb16a461d"),
    ("3e-5", "1-9f679f997870a7845e3a5a9eea839a95"),
    ("1e-310", "1-8a690ea3c0aec916aebaf4ccf4f8dfd2"),
    ("123e-312", "1-881eae7a12d000e9510cbdacc137cd18"),
    ("987654321e-318", "1-1600ac3057f698e2cfaa7e7399a481be"),
    ("3e-323", "1-23bc282fe5941d3cec80142fc49b1048"),
    (
        "1234567890123456789012345678901e-5",
        "1-47f6fde05cb4936a108fbbec2fdce49d",
    ),
    (
        "12345678901234567890123456789e-5",
        "1-1b58c4d0dbf3b0a0352e84fb0aec2d88",
    ),
    ("-0e3", "1-c621b2080737bbfe7d1e980cc076b454"),
    (
        "31415926535897932384626433832795e-31",
        "1-3e767702fd632b19ecbf097f618a0a6a",
    ),
];
