//! Documents with their attachments as multipart bodies, both ways.

use crate::client::{Answer, Running};
use inorder_couch::multipart::{Event, Headers, Parser, boundary, parameter};
use serde_json::{Value, json};

/// The parts of a body.
pub fn parts(content_type: &str, body: &[u8]) -> Vec<(Headers, Vec<u8>)> {
    let mut parser = Parser::new(&boundary(content_type).expect("a boundary"));
    parser.feed(body);
    let mut parts: Vec<(Headers, Vec<u8>)> = Vec::new();
    loop {
        match parser.next_event().expect("a multipart body") {
            Event::Part(headers) => parts.push((headers, Vec::new())),
            Event::Data(data) => parts.last_mut().unwrap().1.extend_from_slice(&data),
            Event::End => return parts,
            Event::NeedMore => panic!("the body is cut"),
        }
    }
}

fn of(answer: &Answer) -> Vec<(Headers, Vec<u8>)> {
    assert_eq!(answer.status, 200, "{}", answer.text());
    parts(answer.header("content-type"), &answer.body)
}

const RELATED: &str = "multipart/related; boundary=\"b\"";

fn related(follows: &Value, parts: &[(&str, &str)]) -> String {
    let document = json!({ "x": 1, "_attachments": follows });
    let mut body = format!("--b\r\nContent-Type: application/json\r\n\r\n{document}");
    for (header, data) in parts {
        body += &format!("\r\n--b\r\n{header}\r\n\r\n{data}");
    }
    body + "\r\n--b--"
}

#[tokio::test]
async fn a_document_and_its_attachments_come_in_one_body() {
    let server = Running::start().await;
    server.database("db", &json!([])).await;
    let follows = json!({
        "one": { "follows": true, "content_type": "application/octet-stream", "length": 3 },
        "two": { "follows": true, "content_type": "text/plain", "length": 5 },
    });
    // By name in any order, and without names in the document's.
    for (id, headers) in [
        (
            "a",
            [
                "Content-Disposition: attachment; filename=\"two\"",
                "Content-Disposition: attachment; filename=\"one\"",
            ],
        ),
        ("b", ["X: y", "X: y"]),
    ] {
        let data = if id == "a" {
            ["22222", "111"]
        } else {
            ["111", "22222"]
        };
        let body = related(&follows, &[(headers[0], data[0]), (headers[1], data[1])]);
        let put = server
            .ask("PUT", &format!("/db/{id}"))
            .body(RELATED, body)
            .send()
            .await;
        assert_eq!(put.status, 201, "{}", put.text());
        assert_eq!(server.get(&format!("/db/{id}/one")).await.text(), "111");
        assert_eq!(server.get(&format!("/db/{id}/two")).await.text(), "22222");
    }
    let read = server
        .ask("GET", "/db/a?attachments=true")
        .header("accept", "multipart/related");
    let read = of(&read.send().await);
    let document: Value = serde_json::from_slice(&read[0].1).unwrap();
    assert_eq!(document["_attachments"]["one"]["follows"], true);
    let disposition = read[1].0.get("content-disposition").unwrap();
    assert_eq!(parameter(disposition, "filename").as_deref(), Some("one"));
    assert_eq!(read[1].1, b"111");
    assert_eq!(read[2].0.get("content-encoding"), Some("gzip"));
    let json = server
        .ask("GET", "/db/a?attachments=true")
        .header("accept", "application/json");
    assert_eq!(
        json.send().await.json()["_attachments"]["two"]["data"],
        "MjIyMjI="
    );
}

#[tokio::test]
async fn attachment_names_with_quotation_marks_come_as_couchdb_writes_them() {
    let server = Running::start().await;
    server.database("db", &json!([])).await;
    // One of them is another one when it is read with escapes, and the last one has the start of the one before.
    let names = [
        r"a\b.png",
        r#"a\"b"#,
        r#"a"b"#,
        r#"say "x"; filename=y"#,
        "say ",
    ];
    let announced = json!({ "follows": true, "content_type": "image/x", "length": 1 });
    let follows = names.map(|name| (name.to_owned(), announced.clone()));
    let follows = Value::Object(follows.into_iter().collect());
    let escape = |name: &str| name.replace('\\', r"\\").replace('"', "\\\"");
    let written = [
        ("a", names.map(str::to_owned)),
        ("b", names.map(escape)),
        ("c", names.map(|_| "unknown".to_owned())),
    ];
    for (id, written) in written {
        let header = |name: String| format!("Content-Disposition: attachment; filename=\"{name}\"");
        let headers = written.map(header);
        let parts = headers.iter().zip(["0", "1", "2", "3", "4"]);
        let parts: Vec<_> = parts.map(|(header, data)| (&**header, data)).collect();
        let put = server.ask("PUT", &format!("/db/{id}"));
        let put = put.body(RELATED, related(&follows, &parts)).send().await;
        assert_eq!(put.status, 201, "{}", put.text());
        let read = server.ask("GET", &format!("/db/{id}?attachments=true"));
        let read = read.header("accept", "application/json").send().await;
        let read = read.json();
        for (name, data) in names.iter().zip(["MA==", "MQ==", "Mg==", "Mw==", "NA=="]) {
            assert_eq!(read["_attachments"][name]["data"], data, "{id} {name}");
        }
    }
}

#[tokio::test]
async fn a_part_with_the_name_of_another_attachment_takes_no_place_of_its_own() {
    let server = Running::start().await;
    server.database("db", &json!([])).await;
    let announced = json!({ "follows": true, "content_type": "image/x", "length": 1 });
    let follows = json!({ "a": announced, "b": announced });
    let header = |name: &str| format!("Content-Disposition: attachment; filename={name}");
    let parts = [(header("x"), "1"), (header("a"), "2")];
    let body = related(
        &follows,
        &parts.each_ref().map(|(header, data)| (&**header, *data)),
    );
    let put = server.ask("PUT", "/db/a").body(RELATED, body).send().await;
    assert_eq!(put.status, 400, "{}", put.text());
}

#[tokio::test]
async fn what_was_read_can_be_written_elsewhere() {
    let server = Running::start().await;
    server.database("db", &json!([])).await;
    server.database("copy", &json!([])).await;
    let text = "text ".repeat(50_000);
    server
        .ask("PUT", "/db/a/t.txt")
        .body("text/plain", text.clone())
        .send()
        .await;
    let read = server
        .ask("GET", "/db/a?attachments=true&revs=true")
        .header("accept", "multipart/related");
    let read = read.send().await;
    let content_type = read.header("content-type").to_owned();
    let put = server
        .ask("PUT", "/copy/a?new_edits=false")
        .body(&content_type, read.body)
        .send()
        .await;
    assert_eq!(put.status, 201, "{}", put.text());
    assert_eq!(
        server.get("/copy/a").await.text(),
        server.get("/db/a").await.text()
    );
    assert_eq!(server.get("/copy/a/t.txt").await.text(), text);
}

#[tokio::test]
async fn leaves_come_as_parts() {
    let server = Running::start().await;
    server.database("db", &json!([])).await;
    server
        .ask("PUT", "/db/a/t")
        .body("image/x", "data")
        .send()
        .await;
    let other = json!({ "new_edits": false, "docs": [{ "_id": "a", "_rev": "1-x" }] });
    server.post("/db/_bulk_docs", &other).await;
    let mixed = server
        .ask("GET", "/db/a?open_revs=all&attachments=true")
        .header("accept", "multipart/mixed");
    let mixed = of(&mixed.send().await);
    assert_eq!(mixed.len(), 2);
    let inner = mixed.iter().find(|part| {
        part.0
            .get("content-type")
            .unwrap()
            .starts_with("multipart/related")
    });
    let inner = inner.expect("one with an attachment");
    let inner = parts(inner.0.get("content-type").unwrap(), &inner.1);
    assert_eq!(inner[1].1, b"data");
    let list = server
        .ask("GET", "/db/a?open_revs=%5B%221-x%22,%229-none%22%5D")
        .header("accept", "application/json");
    let list = list.send().await.json();
    assert_eq!(
        list,
        json!([{ "ok": { "_id": "a", "_rev": "1-x" } }, { "missing": "9-none" }])
    );
    let missing = server
        .ask("GET", "/db/a?open_revs=%5B%229-none%22%5D")
        .header("accept", "multipart/mixed");
    let missing = of(&missing.send().await);
    assert_eq!(
        parameter(missing[0].0.get("content-type").unwrap(), "error").as_deref(),
        Some("true")
    );
    assert_eq!(server.get("/db/none?open_revs=all").await.status, 404);
}

#[tokio::test]
async fn many_documents_come_as_json_or_as_parts() {
    let server = Running::start().await;
    server
        .database("db", &json!([{ "_id": "a", "x": 1 }]))
        .await;
    server
        .ask("PUT", "/db/b/t")
        .body("image/x", "data")
        .send()
        .await;
    let wanted = json!({ "docs": [{ "id": "a", "rev": "1-0785e9eb543380151003dc452c3a001a" }, { "id": "b" }, { "id": "none" }] });
    let json = server
        .ask("POST", "/db/_bulk_get?revs=true")
        .header("accept", "application/json");
    let json = json.json(&wanted).send().await.json();
    assert_eq!(
        json["results"][0]["docs"][0]["ok"]["_revisions"]["start"],
        1
    );
    assert_eq!(json["results"][1]["docs"][0]["ok"]["_id"], "b");
    assert_eq!(json["results"][2]["docs"][0]["error"]["error"], "not_found");
    let parts = server
        .ask("POST", "/db/_bulk_get?attachments=true")
        .header("accept", "multipart/mixed");
    let parts = of(&parts.json(&wanted).send().await);
    assert_eq!((parts.len(), parts[1].0.get("x-doc-id")), (3, Some("b")));
    assert_eq!(server.post("/db/_bulk_get", &json!({})).await.status, 400);
}

#[tokio::test]
async fn bodies_that_are_wrong_are_refused() {
    let server = Running::start().await;
    server.database("db", &json!([])).await;
    let follows = json!({ "one": { "follows": true, "content_type": "a/b", "length": 3 } });
    let cases = [
        (RELATED, related(&follows, &[])),
        (RELATED, related(&follows, &[("X: y", "1")])),
        (
            RELATED,
            related(&follows, &[("X: y", "111"), ("X: y", "111")]),
        ),
        (
            RELATED,
            related(
                &json!({ "one": follows["one"], "two": { "stub": true } }),
                &[("Content-Disposition: attachment; filename=two", "111")],
            ),
        ),
        (RELATED, related(&follows, &[("no header", "111")])),
        (
            RELATED,
            related(&follows, &[("X: y", "111")]).replace("--b--", ""),
        ),
        (RELATED, "--b--".to_owned()),
        (RELATED, String::new()),
        ("multipart/related", related(&follows, &[])),
        (RELATED, "--b\r\n\r\n{\"x\":".to_owned()),
    ];
    for (content_type, body) in cases {
        let put = server
            .ask("PUT", "/db/a")
            .body(content_type, body.clone())
            .send()
            .await;
        assert_eq!(put.status, 400, "{body}: {}", put.text());
        put.json();
    }
    assert_eq!(server.get("/db").await.json()["doc_count"], 0);
}

/// A document with a long attachment between two short ones: more than the buffers of a connection take. Returns its revision.
async fn with_long_attachment(server: &Running, long: &[u8]) -> String {
    let mut query = String::new();
    for (name, bytes) in [("a", &b"first"[..]), ("long", long), ("z", b"last")] {
        let put = server.ask("PUT", &format!("/db/doc/{name}{query}"));
        let put = put
            .body("application/octet-stream", bytes.to_vec())
            .send()
            .await;
        query = format!("?rev={}", put.json()["rev"].as_str().expect("a revision"));
    }
    query
}

#[tokio::test]
async fn attachments_that_are_sent_slowly_keep_their_bytes() {
    let long: Vec<u8> = (0..24_000_000_u32)
        .map(|at| (at >> 3) as u8 ^ at as u8)
        .collect();
    for (query, accepted) in [
        ("attachments=true", "multipart/related"),
        ("open_revs=all&attachments=true", "multipart/mixed"),
    ] {
        let server = Running::start().await;
        server.database("db", &json!([])).await;
        let rev = with_long_attachment(&server, &long).await;
        let read = server.ask("GET", &format!("/db/doc?{query}"));
        let mut response = read.header("accept", accepted).response().await;
        let content_type = response.headers()["content-type"].to_str().unwrap();
        let content_type = content_type.to_owned();
        let mut body = response.chunk().await.unwrap().unwrap().to_vec();
        // Meanwhile the document goes, and other bytes come.
        assert_eq!(server.delete(&format!("/db/doc{rev}")).await.status, 200);
        assert_eq!(server.post("/db/_compact", &json!({})).await.status, 202);
        crate::client::until("the compaction", async || {
            server.get("/db").await.json()["compact_running"] == false
        })
        .await;
        for (name, bytes) in [("x", "other"), ("y", "else")] {
            let put = server.ask("PUT", &format!("/db/{name}/x"));
            let put = put.body("application/octet-stream", bytes).send().await;
            assert_eq!(put.status, 201);
        }
        while let Some(piece) = response.chunk().await.expect("the whole body") {
            body.extend_from_slice(&piece);
        }
        let mut read = parts(&content_type, &body);
        if accepted == "multipart/mixed" {
            let (headers, body) = read.remove(0);
            read = parts(headers.get("content-type").unwrap(), &body);
        }
        for (headers, bytes) in &read[1..] {
            let disposition = headers.get("content-disposition").unwrap();
            match parameter(disposition, "filename").as_deref() {
                Some("a") => assert_eq!(bytes, b"first"),
                Some("z") => assert_eq!(bytes, b"last"),
                _ => assert!(*bytes == long, "{query}"),
            }
        }
        assert_eq!(read.len(), 4, "{query}");
    }
}
