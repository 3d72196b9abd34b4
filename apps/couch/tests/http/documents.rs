//! One document: reading, writing, deleting, copying, attachments.

use crate::client::Running;
use serde_json::json;

const FIRST: &str = "1-0785e9eb543380151003dc452c3a001a";
const SECOND: &str = "2-8c49edca19d786e747fb5bea32c4cb91";
const DELETED: &str = "3-fb567087695adb203ba116e130794a84";

#[tokio::test]
async fn revisions_over_http_are_couchdbs() {
    let server = Running::start().await;
    server.database("db", &json!([])).await;
    let written = server.put("/db/a", &json!({ "x": 1 })).await;
    assert_eq!(
        (written.status.as_u16(), written.header("location")),
        (201, format!("{}/db/a", server.url).as_str())
    );
    assert_eq!(
        written.json(),
        json!({ "ok": true, "id": "a", "rev": FIRST })
    );
    assert_eq!(written.header("etag"), format!("\"{FIRST}\""));
    let read = server.get("/db/a").await;
    assert_eq!(
        read.text(),
        format!("{{\"_id\":\"a\",\"_rev\":\"{FIRST}\",\"x\":1}}\n")
    );
    let second = server
        .ask("PUT", "/db/a")
        .header("if-match", &format!("\"{FIRST}\""));
    let second = second.json(&json!({ "x": 2 })).send().await;
    assert_eq!(second.json()["rev"], SECOND);
    let deleted = server.delete(&format!("/db/a?rev={SECOND}")).await;
    assert_eq!(
        (deleted.status.as_u16(), &deleted.json()["rev"]),
        (200, &json!(DELETED))
    );
    let gone = server.get("/db/a").await;
    assert_eq!(
        gone.json(),
        json!({ "error": "not_found", "reason": "deleted" })
    );
    let all = server
        .get(&format!("/db/a?rev={SECOND}&revs=true"))
        .await
        .json();
    assert_eq!(
        (&all["x"], &all["_revisions"]["start"]),
        (&json!(2), &json!(2))
    );
}

#[tokio::test]
async fn a_document_that_is_known_is_not_sent_again() {
    let server = Running::start().await;
    server
        .database("db", &json!([{ "_id": "a", "x": 1 }]))
        .await;
    let etag = format!("\"{FIRST}\"");
    let known = server
        .ask("GET", "/db/a")
        .header("if-none-match", &etag)
        .send()
        .await;
    assert_eq!((known.status.as_u16(), known.body.len()), (304, 0));
    let other = server
        .ask("GET", "/db/a")
        .header("if-none-match", "\"1-a\"")
        .send()
        .await;
    assert_eq!(other.status, 200);
    let head = server.ask("HEAD", "/db/a").send().await;
    assert_eq!(
        (head.status.as_u16(), head.header("etag"), head.body.len()),
        (200, etag.as_str(), 0)
    );
    assert_eq!(server.ask("HEAD", "/db/none").send().await.status, 404);
}

#[tokio::test]
async fn writes_without_the_right_revision_conflict() {
    let server = Running::start().await;
    server.database("db", &json!([{ "_id": "a" }])).await;
    let conflict = json!({ "error": "conflict", "reason": "Document update conflict." });
    assert_eq!(server.put("/db/a", &json!({})).await.json(), conflict);
    assert_eq!(server.put("/db/a?rev=1-a", &json!({})).await.status, 409);
    assert_eq!(server.delete("/db/a").await.status, 409);
    assert_eq!(server.delete("/db/none?rev=1-a").await.status, 404);
    let different = server.put("/db/a?rev=1-a", &json!({ "_rev": "1-b" })).await;
    assert_eq!(different.error(), (400, "bad_request".into()));
    assert_eq!(server.put("/db/a?rev=x", &json!({})).await.status, 400);
    let replicated = json!({ "_rev": "5-abc", "x": 1 });
    let replicated = server.put("/db/b?new_edits=false", &replicated).await;
    assert_eq!(
        (replicated.status.as_u16(), &replicated.json()["rev"]),
        (201, &json!("5-abc"))
    );
}

#[tokio::test]
async fn ids_may_have_any_characters() {
    let server = Running::start().await;
    server.database("db", &json!([])).await;
    for (path, id) in [
        ("/db/a%2Fb", "a/b"),
        ("/db/%3F%26%23%20%25", "?&# %"),
        ("/db/%E2%82%AC%F0%9F%98%80", "€😀"),
        ("/db/a%2Bb", "a+b"),
        ("/db/c+d", "c d"),
        ("/db/%01%7F", "\u{1}\u{7f}"),
        ("/db/_design/d", "_design/d"),
        ("/db/_design%2Fe", "_design/e"),
    ] {
        let written = server.put(path, &json!({})).await;
        assert_eq!(
            (written.status.as_u16(), &written.json()["id"]),
            (201, &json!(id))
        );
        assert_eq!(server.get(path).await.json()["_id"], id);
        let location = written.header("location").to_owned();
        let location = location.strip_prefix(&server.url).unwrap();
        assert_eq!(server.get(location).await.json()["_id"], id, "{location}");
    }
    assert_eq!(
        server.put("/db/_under", &json!({})).await.error(),
        (400, "illegal_docid".into())
    );
    assert_eq!(
        server.put("/db/%FF", &json!({})).await.error(),
        (400, "bad_request".into())
    );
}

#[tokio::test]
async fn a_copy_is_a_document_of_its_own() {
    let server = Running::start().await;
    server.database("db", &json!([])).await;
    let attachment = json!({ "a.txt": { "content_type": "text/plain", "data": "aGVsbG8=" } });
    server
        .put("/db/a", &json!({ "x": 1, "_attachments": attachment }))
        .await;
    let copied = server
        .ask("COPY", "/db/a")
        .header("destination", "b%2Fc")
        .send()
        .await;
    assert_eq!(
        (copied.status.as_u16(), &copied.json()["id"]),
        (201, &json!("b/c"))
    );
    assert_eq!(server.get("/db/b%2Fc/a.txt").await.text(), "hello");
    let again = server
        .ask("COPY", "/db/a")
        .header("destination", "b%2Fc")
        .send()
        .await;
    assert_eq!(again.status, 409);
    let rev = copied.json()["rev"].as_str().unwrap().to_owned();
    let over = server
        .ask("COPY", "/db/a")
        .header("destination", &format!("b%2Fc?rev={rev}"));
    assert_eq!(over.send().await.status, 201);
    assert_eq!(server.ask("COPY", "/db/a").send().await.status, 400);
}

#[tokio::test]
async fn a_copy_is_of_the_revision_that_if_match_names() {
    let server = Running::start().await;
    let first = server
        .database("db", &json!([{ "_id": "a", "x": 1 }]))
        .await;
    let first = first[0]["rev"].as_str().unwrap().to_owned();
    let second = server
        .put(&format!("/db/a?rev={first}"), &json!({ "x": 2 }))
        .await;
    let second = second.json()["rev"].as_str().unwrap().to_owned();
    let copy = async |path: &str, tag: &str, to: &str| {
        let asked = server.ask("COPY", path).header("destination", to);
        let copied = asked.header("if-match", &format!("\"{tag}\"")).send().await;
        copied.status.as_u16()
    };
    assert_eq!(copy("/db/a", &first, "old").await, 201);
    assert_eq!(server.get("/db/old").await.json()["x"], 1);
    assert_eq!(
        copy(&format!("/db/a?rev={second}"), &second, "/new").await,
        201
    );
    assert_eq!(server.get("/db/%2Fnew").await.json()["x"], 2);
    assert_eq!(
        copy(&format!("/db/a?rev={first}"), &second, "none").await,
        400
    );
    assert_eq!(copy("/db/a", "2-00", "none").await, 404);
    assert_eq!(copy("/db/a", "no revision", "none").await, 400);
    assert_eq!(server.get("/db/none").await.status, 404);
}

#[tokio::test]
async fn a_plus_sign_in_a_destination_is_a_space() {
    let server = Running::start().await;
    server.database("db", &json!([{ "_id": "a" }])).await;
    for (to, id) in [("b+c", "b c"), ("b%2Bc", "b+c")] {
        let copied = server.ask("COPY", "/db/a").header("destination", to);
        assert_eq!(copied.send().await.json()["id"], id, "{to}");
    }
}

#[tokio::test]
async fn a_range_of_another_version_of_an_attachment_is_all_of_it() {
    let server = Running::start().await;
    server.database("db", &json!([])).await;
    let put = server.ask("PUT", "/db/a/b").body("image/x", "0123456789");
    assert_eq!(put.send().await.status, 201);
    let tag = server.get("/db/a/b").await.header("etag").to_owned();
    let weak = format!("W/{tag}");
    let of = |range: &str, condition: &str| {
        let asked = server.ask("GET", "/db/a/b").header("range", range);
        asked.header("if-range", condition).send()
    };
    let same = of("bytes=2-4", &tag).await;
    assert_eq!((same.status.as_u16(), same.text()), (206, "234"));
    for other in ["\"other\"", &weak, "Sun, 06 Nov 1994 08:49:37 GMT"] {
        for range in ["bytes=2-4", "bytes=20-"] {
            let whole = of(range, other).await;
            assert_eq!(
                (whole.status.as_u16(), whole.text()),
                (200, "0123456789"),
                "{other}"
            );
        }
    }
}

#[tokio::test]
async fn attachments_are_sent_whole_or_in_ranges() {
    let server = Running::start().await;
    server.database("db", &json!([])).await;
    let bytes: Vec<u8> = (0..200_000_u32).map(|at| (at % 251) as u8).collect();
    let put = server
        .ask("PUT", "/db/a/dir/b.bin")
        .body("image/x", bytes.clone())
        .send()
        .await;
    assert_eq!(put.status, 201, "{}", put.text());
    let whole = server.get("/db/a/dir/b.bin").await;
    assert_eq!(
        (whole.header("content-type"), whole.header("accept-ranges")),
        ("image/x", "bytes")
    );
    assert!(whole.body == bytes && !whole.header("content-md5").is_empty());
    let part = server
        .ask("GET", "/db/a/dir/b.bin")
        .header("range", "bytes=100000-100009")
        .send()
        .await;
    assert_eq!(
        (part.status.as_u16(), part.header("content-range")),
        (206, "bytes 100000-100009/200000")
    );
    assert_eq!(part.body, bytes[100_000..100_010]);
    let beyond = server
        .ask("GET", "/db/a/dir/b.bin")
        .header("range", "bytes=200000-")
        .send()
        .await;
    assert_eq!(
        beyond.error(),
        (416, "requested_range_not_satisfiable".into())
    );
    let head = server.ask("HEAD", "/db/a/dir/b.bin").send().await;
    assert_eq!(head.header("content-length"), "200000");
    let etag = whole.header("etag");
    let known = server
        .ask("GET", "/db/a/dir/b.bin")
        .header("if-none-match", etag)
        .send()
        .await;
    assert_eq!(known.status, 304);
    let rev = put.json()["rev"].as_str().unwrap().to_owned();
    assert_eq!(
        server
            .delete(&format!("/db/a/dir/b.bin?rev={rev}"))
            .await
            .status,
        200
    );
    assert_eq!(server.get("/db/a/dir/b.bin").await.status, 404);
}

#[tokio::test]
async fn a_text_attachment_comes_packed_to_who_takes_it() {
    let server = Running::start().await;
    server.database("db", &json!([])).await;
    let text = "words ".repeat(1000);
    server
        .ask("PUT", "/db/a/t")
        .body("text/plain", text.clone())
        .send()
        .await;
    let plain = server.get("/db/a/t").await;
    assert_eq!(
        (plain.text(), plain.header("content-encoding")),
        (text.as_str(), "")
    );
    let packed = server
        .ask("GET", "/db/a/t")
        .header("accept-encoding", "gzip")
        .send()
        .await;
    assert_eq!(packed.header("content-encoding"), "gzip");
    assert!(packed.body.len() < 1000 && packed.body.starts_with(&[0x1f, 0x8b]));
    let refused = server
        .ask("GET", "/db/a/t")
        .header("accept-encoding", "gzip;q=0, br")
        .send()
        .await;
    assert_eq!(refused.header("content-encoding"), "");
    let wrong = server
        .ask("PUT", "/db/b/t")
        .header("content-md5", "AAAAAAAAAAAAAAAAAAAAAA==");
    let wrong = wrong.body("text/plain", "x").send().await;
    assert_eq!(wrong.status, 400, "{}", wrong.text());
}

#[tokio::test]
async fn local_documents_stay_where_they_are() {
    let server = Running::start().await;
    server.database("db", &json!([])).await;
    let written = server.put("/db/_local/x", &json!({ "a": 1 })).await;
    assert_eq!(
        written.json(),
        json!({ "ok": true, "id": "_local/x", "rev": "0-1" })
    );
    server
        .put("/db/_local/x", &json!({ "_rev": "0-1", "a": 2 }))
        .await;
    let read = server.get("/db/_local/x").await.json();
    assert_eq!(read, json!({ "_id": "_local/x", "_rev": "0-2", "a": 2 }));
    let list = server.get("/db/_local_docs?include_docs=true").await.json();
    assert_eq!(list["rows"][0]["doc"], read);
    assert_eq!(server.get("/db").await.json()["doc_count"], 0);
    let deleted = server.delete("/db/_local/x").await;
    assert_eq!(
        (deleted.status.as_u16(), deleted.header("etag")),
        (200, "\"0-0\"")
    );
    assert_eq!(server.get("/db/_local/x").await.status, 404);
}

#[tokio::test]
async fn functions_of_design_documents_allow_or_forbid() {
    let server = Running::start().await;
    server.database("db", &json!([])).await;
    let forbid = "function (doc, old) { if (!doc._deleted && doc.year < 1888) throw({forbidden: 'no films yet'}); if (old && old.kept) throw({unauthorized: 'kept'}); }";
    let design = json!({ "validate_doc_update": forbid });
    let design = server.put("/db/_design/rules", &design).await;
    let early = server.put("/db/a", &json!({ "year": 1800 })).await;
    assert_eq!(
        early.json(),
        json!({ "error": "forbidden", "reason": "no films yet" })
    );
    let kept = server
        .put("/db/b", &json!({ "year": 1999, "kept": true }))
        .await;
    let rev = kept.json()["rev"].as_str().unwrap().to_owned();
    assert_eq!(
        server.delete(&format!("/db/b?rev={rev}")).await.error(),
        (401, "unauthorized".into())
    );
    let docs = json!({ "docs": [{ "_id": "c", "year": 1 }, { "_id": "d", "year": 2000 }] });
    let bulk = server.post("/db/_bulk_docs", &docs).await.json();
    assert_eq!(
        (&bulk[0]["error"], &bulk[1]["ok"]),
        (&json!("forbidden"), &json!(true))
    );
    let unnamed = json!({ "docs": [{ "year": 1 }] });
    let bulk = server.post("/db/_bulk_docs", &unnamed).await.json();
    assert_eq!(bulk[0]["error"], "forbidden");
    assert!(bulk[0]["id"].is_string(), "{bulk}");
    let rev = design.json()["rev"].as_str().unwrap().to_owned();
    server.delete(&format!("/db/_design/rules?rev={rev}")).await;
    assert_eq!(
        server.put("/db/a", &json!({ "year": 1800 })).await.status,
        201
    );
}
