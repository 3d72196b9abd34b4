//! Answers that differed from CouchDB's. Each test is named after the fault.

use crate::client::{Answer, Running};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

fn rows(answer: &Value) -> String {
    answer["rows"].to_string()
}

#[tokio::test]
async fn a_key_of_a_missing_or_deleted_document_has_no_row() {
    let server = Running::start().await;
    server.database("db", &json!([{"_id": "a"}])).await;
    let gone = server.post("/db", &json!({"_id": "gone"})).await.json();
    let rev = gone["rev"].as_str().unwrap();
    let deleted = server.ask("DELETE", &format!("/db/gone?rev={rev}"));
    deleted.send().await;
    for key in ["%22none%22", "%22gone%22", "1", "null"] {
        let answer = server.get(&format!("/db/_all_docs?key={key}")).await;
        assert_eq!(rows(&answer.json()), "[]", "{key}");
    }
    let both = "/db/_all_docs?key=%22a%22&keys=%5B%22a%22,%22b%22%5D";
    let refused = server.get(both).await;
    assert_eq!(refused.error(), (400, "query_parse_error".to_owned()));
    let integers = json!({"keys": [1, "a", null]});
    let answer = server.post("/db/_all_docs", &integers).await.json();
    assert_eq!(answer["rows"][0], json!({"key": 1, "error": "not_found"}));
    assert_eq!(answer["rows"][1]["id"], "a");
}

#[tokio::test]
async fn a_quotation_mark_in_a_query_is_answered() {
    let server = Running::start().await;
    server
        .database("db", &json!([{"_id": "a"}, {"_id": "b"}]))
        .await;
    let address = server.url.trim_start_matches("http://").to_owned();
    let mut socket = TcpStream::connect(&address).await.unwrap();
    for (query, id) in [("startkey=\"b\"", "b"), ("key=\"a\"", "a")] {
        let request = format!("GET /db/_all_docs?{query} HTTP/1.1\r\nHost: localhost\r\n\r\n");
        socket.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        while !answer.contains("\r\n]}\n") {
            let mut bytes = [0; 4096];
            let read = socket.read(&mut bytes).await.unwrap();
            assert!(read > 0, "{answer}");
            answer.push_str(std::str::from_utf8(&bytes[..read]).unwrap());
        }
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert_eq!(answer.matches("\"id\":").count(), 1, "{answer}");
        assert!(answer.contains(&format!("\"id\":\"{id}\"")), "{answer}");
    }
}

#[tokio::test]
async fn a_missing_stub_has_its_own_error() {
    let server = Running::start().await;
    server.database("db", &json!([])).await;
    let stub = json!({"_id": "a", "_attachments": {"m": {"stub": true, "revpos": 1}}});
    let refused = server.post("/db", &stub).await;
    assert_eq!(refused.error(), (412, "missing_stub".to_owned()));
    let reason = "Invalid attachment stub in a for m";
    assert_eq!(refused.json()["reason"], reason);
}

#[tokio::test]
async fn deleting_a_missing_attachment_makes_no_revision() {
    let server = Running::start().await;
    server.database("db", &json!([{"_id": "a"}])).await;
    let document = server.get("/db/a").await.json();
    let rev = document["_rev"].as_str().unwrap().to_owned();
    let delete = async |path: String| server.ask("DELETE", &path).send().await;
    for path in ["/db/a/none".to_owned(), format!("/db/a/none?rev={rev}")] {
        let refused = delete(path).await;
        assert_eq!(refused.error(), (404, "not_found".to_owned()));
        assert_eq!(refused.json()["reason"], "Document is missing attachment");
    }
    let unknown = delete("/db/a/none?rev=1-0".to_owned()).await;
    assert_eq!(unknown.status, 409);
    assert_eq!(unknown.json()["reason"], "missing_rev");
    assert_eq!(server.get("/db/a").await.json()["_rev"], rev.as_str());
}

#[tokio::test]
async fn one_illegal_document_refuses_the_whole_bulk() {
    let server = Running::start().await;
    server.database("db", &json!([])).await;
    let cases = [
        (
            json!({"docs": [{"_id": "a"}, {"_id": "_invalid"}]}),
            400,
            "illegal_docid",
        ),
        (
            json!({"docs": [{"_id": "a"}, {"_id": ""}]}),
            400,
            "illegal_docid",
        ),
        (
            json!({"docs": [{"_id": "a"}], "new_edits": false}),
            400,
            "bad_request",
        ),
        (
            json!({"docs": [{"_id": "a"}], "new_edits": 3}),
            400,
            "bad_request",
        ),
        (json!({"docs": {}}), 400, "bad_request"),
        (json!([]), 400, "bad_request"),
    ];
    for (body, status, error) in cases {
        let refused = server.post("/db/_bulk_docs", &body).await;
        assert_eq!(refused.error(), (status, error.to_owned()), "{body}");
    }
    assert_eq!(server.get("/db/a").await.status, 404);
}

#[tokio::test]
async fn a_revision_may_have_an_empty_hash() {
    let server = Running::start().await;
    server.database("db", &json!([])).await;
    let body = json!({"docs": [{"_id": "a", "_rev": "1-", "x": 1}], "new_edits": false});
    let written = server.post("/db/_bulk_docs", &body).await;
    assert_eq!((written.status.as_u16(), written.text()), (201, "[]\n"));
    assert_eq!(server.get("/db/a").await.json()["_rev"], "1-");
    assert_eq!(server.get("/db/a?rev=1-").await.json()["x"], 1);
    let diff = server
        .post("/db/_revs_diff", &json!({"a": ["1-"], "b": ["1-"]}))
        .await;
    assert_eq!(diff.json(), json!({"b": {"missing": ["1-"]}}));
    let next = server
        .ask("PUT", "/db/a?rev=1-")
        .json(&json!({}))
        .send()
        .await;
    assert!(next.json()["rev"].as_str().unwrap().starts_with("2-"));
}

#[tokio::test]
async fn local_documents_have_a_tag_and_can_be_copied() {
    let server = Running::start().await;
    server.database("db", &json!([])).await;
    let body = json!({"x": 1, "_attachments": {"a": {"data": "aGk="}}});
    let put = server.ask("PUT", "/db/_local/l").json(&body).send().await;
    assert_eq!(put.status, 201);
    let read = server.get("/db/_local/l").await;
    assert_eq!(
        read.json(),
        json!({"_id": "_local/l", "_rev": "0-1", "x": 1})
    );
    let tag = read.header("etag").to_owned();
    assert_eq!((put.header("etag"), tag.len() > 10), (tag.as_str(), true));
    let known = server
        .ask("GET", "/db/_local/l")
        .header("if-none-match", &tag);
    assert_eq!(known.send().await.status, 304);
    let copy = "COPY";
    for to in ["_local/m", "m"] {
        let copied = server.ask(copy, "/db/_local/l").header("destination", to);
        assert_eq!(copied.send().await.status, 201, "{to}");
        assert_eq!(server.get(&format!("/db/{to}")).await.json()["x"], 1);
    }
    let listed = server.get("/db/_local_docs?limit=1").await.json();
    assert_eq!(listed["rows"].as_array().unwrap().len(), 1);
    for path in ["/db/_local", "/db/_local/", "/db/_local/l/a"] {
        assert_eq!(
            server.get(path).await.error(),
            (400, "bad_request".to_owned())
        );
    }
}

#[tokio::test]
async fn locations_are_absolute_and_name_the_attachment() {
    let server = Running::start().await;
    let created = server.ask("PUT", "/db").send().await;
    assert_eq!(created.header("location"), format!("{}/db", server.url));
    let at = |path: &str| format!("{}/db/{path}", server.url);
    let put = |path: &'static str| server.ask("PUT", path).json(&json!({})).send();
    for (path, expected) in [
        ("/db/a%2Fb", "a%2Fb"),
        ("/db/d%20%2B%3Ax", "d%20%2B:x"),
        ("/db/_design/foo", "_design%2Ffoo"),
    ] {
        assert_eq!(put(path).await.header("location"), at(expected));
    }
    let attached = server.ask("PUT", "/db/att/na%20me/x");
    let attached = attached.body("text/plain", "hello").send().await;
    assert_eq!(attached.header("location"), at("att/na%20me%2Fx"));
    let proxied = server.ask("PUT", "/db/p").json(&json!({}));
    let proxied = proxied.header("x-forwarded-proto", "https");
    let proxied = proxied
        .header("x-forwarded-host", "example.com")
        .send()
        .await;
    assert_eq!(proxied.header("location"), "https://example.com/db/p");
}

#[tokio::test]
async fn wrong_parameters_have_couchdbs_names() {
    let server = Running::start().await;
    server.database("db", &json!([{"_id": "a"}])).await;
    for (path, reason) in [
        ("_changes?heartbeat=x", "Invalid heartbeat value"),
        ("_changes?heartbeat=0", "The heartbeat value should be"),
        ("_changes?feed=foo", "Supported `feed` types"),
        ("_changes?since=foo", "Malformed sequence"),
        ("a?open_revs=foo", "invalid UTF-8 JSON"),
        ("a?open_revs=%5B%22x%22%5D", "Invalid rev format"),
    ] {
        let refused = server.get(&format!("/db/{path}")).await;
        assert_eq!(refused.error(), (400, "bad_request".to_owned()), "{path}");
        let given = refused.json()["reason"].as_str().unwrap().to_owned();
        assert!(given.starts_with(reason), "{given}");
    }
    let selector = json!({"selector": {"a": {"$foo": 1}}});
    let refused = server
        .post("/db/_changes?filter=_selector", &selector)
        .await;
    assert_eq!(refused.error(), (400, "bad_request".to_owned()));
    let replication = json!({"source": "none", "target": "db"});
    let refused = server.post("/_replicate", &replication).await;
    assert_eq!(refused.error(), (500, "db_not_found".to_owned()));
    let begins = json!({"selector": {"a": {"$beginsWith": true}}});
    let refused = server.post("/db/_find", &begins).await;
    assert_eq!(refused.error(), (400, "invalid_operator".to_owned()));
}

#[tokio::test]
async fn a_continuous_feed_of_databases_ends_with_its_sequence() {
    let server = Running::start().await;
    let path = "/_db_updates?feed=continuous&since=now&timeout=50";
    let answer = server.get(path).await;
    assert!(answer.json()["last_seq"].is_string(), "{}", answer.text());
}

#[tokio::test]
async fn a_lowered_revs_limit_shortens_the_path_that_is_read() {
    let server = Running::start().await;
    server.database("db", &json!([{"_id": "a"}])).await;
    let first = server.get("/db/a").await.json();
    let rev = first["_rev"].as_str().unwrap();
    let second = server.ask("PUT", &format!("/db/a?rev={rev}"));
    second.json(&json!({"x": 1})).send().await;
    let count = || async {
        let read = server.get("/db/a?revs=true").await.json();
        read["_revisions"]["ids"].as_array().unwrap().len()
    };
    assert_eq!(count().await, 2);
    let limit = server.ask("PUT", "/db/_revs_limit").json(&json!(1));
    assert_eq!(limit.send().await.status, 200);
    assert_eq!(count().await, 1);
}

#[tokio::test]
async fn ids_from_the_server_are_never_cached() {
    let server = Running::start().await;
    let answer = server.get("/_uuids").await;
    assert_eq!(answer.header("cache-control"), "no-cache");
    assert_eq!(answer.header("pragma"), "no-cache");
    assert!(answer.header("expires").contains("1990") && !answer.header("etag").is_empty());
    let refused = server.get("/_uuids?count=x").await;
    assert_eq!(refused.error(), (400, "bad_request".to_owned()));
}

#[tokio::test]
async fn a_range_of_all_bytes_is_no_range() {
    let server = Running::start().await;
    server.database("db", &json!([])).await;
    let put = server.ask("PUT", "/db/a/x");
    put.body("application/octet-stream", "0123456789")
        .send()
        .await;
    let of = |range: &'static str| server.ask("GET", "/db/a/x").header("range", range).send();
    let whole = of("bytes=0-").await;
    assert_eq!((whole.status.as_u16(), whole.text()), (200, "0123456789"));
    let part = of("bytes=2-3").await;
    assert_eq!((part.status.as_u16(), part.text()), (206, "23"));
}

#[tokio::test]
async fn a_text_index_is_a_missing_service_and_unknown_index_paths_are_404() {
    let server = Running::start().await;
    server.database("db", &json!([{"_id": "a", "x": 1}])).await;
    let text = json!({"type": "text", "index": {}});
    let refused = server.post("/db/_index", &text).await;
    assert_eq!(refused.status, 503);
    let index = json!({"index": {"fields": ["x"]}, "ddoc": "d", "name": "n"});
    server.post("/db/_index", &index).await;
    let some = server.get("/db/_index?limit=1;skip=1").await.json();
    assert_eq!(
        (&some["total_rows"], &some["indexes"][0]["name"]),
        (&json!(2), &json!("n"))
    );
    assert_eq!(server.get("/db/_index?limit=0").await.status, 500);
    for path in ["/db/_index/a", "/db/_index/a/b", "/db/_index/a/b/c/d"] {
        assert_eq!(server.ask("PUT", path).send().await.status, 404, "{path}");
    }
    assert_eq!(server.get("/db/_index/d/json/n").await.status, 405);
    let deleted = server
        .ask("DELETE", "/db/_index/_design/d/json/n")
        .send()
        .await;
    assert_eq!(deleted.status, 200);
    assert_eq!(server.get("/db/_design/d").await.status, 404);
}

#[tokio::test]
async fn partitions_are_databases_of_their_own_for_reads() {
    let server = Running::start().await;
    let created = server.ask("PUT", "/db?partitioned=true").send().await;
    assert_eq!(created.status, 201);
    let info = server.get("/db").await.json();
    assert_eq!(info["props"], json!({"partitioned": true}));
    let docs = json!({"docs": [{"_id": "p:a"}, {"_id": "p:b", "x": 1}, {"_id": "q:a", "x": 1}]});
    server.post("/db/_bulk_docs", &docs).await;
    let refused = server.post("/db", &json!({"_id": "a"})).await;
    assert_eq!(refused.error(), (400, "illegal_docid".to_owned()));
    let partition = server.get("/db/_partition/p").await.json();
    assert_eq!(
        (&partition["doc_count"], &partition["partition"]),
        (&json!(2), &json!("p"))
    );
    let listed = server
        .get("/db/_partition/p/_all_docs?include_docs=true")
        .await
        .json();
    assert_eq!(listed["rows"].as_array().unwrap().len(), 2);
    let keys = json!({"keys": ["p:a", "q:a"]});
    let keyed = server
        .post("/db/_partition/p/_all_docs", &keys)
        .await
        .json();
    assert_eq!(
        keyed["rows"][1],
        json!({"key": "q:a", "error": "not_found"})
    );
    let query = json!({"selector": {"x": 1}});
    let found = server.post("/db/_partition/q/_find", &query).await.json();
    assert_eq!(found["docs"][0]["_id"], "q:a");
    let explained = server
        .post("/db/_partition/q/_explain", &query)
        .await
        .json();
    assert_eq!(
        (&explained["partitioned"], &explained["opts"]["partition"]),
        (&json!(true), &json!("q"))
    );
    assert_eq!(
        server.get("/db/_partition/_p").await.error().1,
        "illegal_partition"
    );
    assert_eq!(server.get("/db/_partition/p/_changes").await.status, 404);
    server.database("plain", &json!([])).await;
    for path in ["/plain/_partition/p", "/plain/_partition/p/_all_docs"] {
        assert_eq!(
            server.get(path).await.error(),
            (400, "bad_request".to_owned())
        );
    }
    let conflicting = server.get("/db/_partition/p/_all_docs?partition=q").await;
    assert_eq!(conflicting.status, 400);
}

#[tokio::test]
async fn an_explanation_without_a_fallback_is_refused_as_by_couchdb() {
    let server = Running::start().await;
    server.database("db", &json!([])).await;
    let index = json!({ "index": { "fields": ["a"] }, "ddoc": "d", "name": "n" });
    server.post("/db/_index", &index).await;
    let named = "_design/d specified by `use_index` could not be found or it is not suitable.";
    let unnamed = "You must specify an index with the `use_index` parameter.";
    for (more, find, explain) in [
        (json!({ "sort": ["c"] }), "no_usable_index", unnamed),
        (json!({}), "invalid_index", unnamed),
        (json!({ "use_index": "d" }), "invalid_index", named),
        (
            json!({ "use_index": "d", "sort": ["c"] }),
            "no_usable_index",
            named,
        ),
    ] {
        let mut query = json!({ "selector": { "b": 1 }, "allow_fallback": false });
        query
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        let found = server.post("/db/_find", &query).await;
        assert_eq!(found.error(), (400, find.to_owned()), "{query}");
        let explained = server.post("/db/_explain", &query).await;
        assert_eq!(
            explained.error(),
            (400, "invalid_index".to_owned()),
            "{query}"
        );
        assert_eq!(explained.json()["reason"], explain, "{query}");
        query["allow_fallback"] = json!(true);
        assert_eq!(
            server.post("/db/_explain", &query).await.status,
            200,
            "{query}"
        );
    }
}

#[tokio::test]
async fn a_selector_of_changes_that_is_no_object_is_refused_in_couchdbs_words() {
    let server = Running::start().await;
    server.database("db", &json!([])).await;
    let refused = server
        .post("/db/_changes?filter=_selector", &json!({ "selector": "a" }))
        .await;
    assert_eq!(refused.error(), (400, "bad_request".to_owned()));
    assert_eq!(
        refused.json()["reason"],
        "Selector error: expected a JSON object"
    );
}

#[tokio::test]
async fn parameters_of_a_document_with_another_value_than_true_are_ignored() {
    let server = Running::start().await;
    server.database("db", &json!([{"_id": "a", "n": 1}])).await;
    let plain = server.get("/db/a").await.json();
    for query in [
        "revs=1",
        "conflicts=x",
        "attachments=",
        "meta=yes",
        "latest=1",
        "open_revs=%5B%5D",
    ] {
        let answer = server.get(&format!("/db/a?{query}")).await;
        assert_eq!(answer.json(), plain, "{query}");
        let missing = server.get(&format!("/db/none?{query}")).await;
        assert_eq!(missing.error(), (404, "not_found".to_owned()), "{query}");
    }
    // A named revision comes without what describes the document.
    let rev = plain["_rev"].as_str().unwrap();
    let query = format!("rev={rev}&conflicts=true&local_seq=true&revs_info=true&meta=true");
    assert_eq!(server.get(&format!("/db/a?{query}")).await.json(), plain);
}

#[tokio::test]
async fn documents_with_nothing_but_their_revision_have_its_tag() {
    let server = Running::start().await;
    let conflicts = json!([{"_id": "a", "_rev": "1-aa"}, {"_id": "a", "_rev": "1-bb"}]);
    server.database("db", &json!([{"_id": "b"}])).await;
    let body = json!({"new_edits": false, "docs": conflicts});
    server.post("/db/_bulk_docs", &body).await;
    for (path, has_tag) in [
        ("a?revs=true", true),
        ("a?attachments=true&latest=true", true),
        ("a?conflicts=true", false),
        ("b?conflicts=true&deleted_conflicts=true", true),
        ("a?local_seq=true", false),
        ("a?revs_info=true", false),
        ("a?rev=1-aa&conflicts=true", true),
    ] {
        let path = format!("/db/{path}");
        let answer = server.get(&path).await;
        assert_eq!(!answer.header("etag").is_empty(), has_tag, "{path}");
        let known = format!("\"{}\"", answer.json()["_rev"].as_str().unwrap());
        let again = server.ask("GET", &path).header("if-none-match", &known);
        let status = if has_tag { 304 } else { 200 };
        assert_eq!(again.send().await.status, status, "{path}");
    }
}

#[tokio::test]
async fn answers_to_edits_name_the_place_and_the_revision_as_in_couchdb() {
    let server = Running::start().await;
    server.database("db", &json!([{"_id": "b"}])).await;
    let headers = |answer: &Answer| {
        let has = |name: &str| !answer.header(name).is_empty();
        (answer.status.as_u16(), has("etag"), has("location"))
    };
    let put = server.put("/db/a", &json!({})).await;
    assert_eq!(headers(&put), (201, true, true));
    let posted = server.post("/db", &json!({"_id": "p"})).await;
    assert_eq!(headers(&posted), (201, false, true));
    let attached = server.ask("PUT", "/db/att/x.bin").send().await;
    assert_eq!(headers(&attached), (201, false, true));
    let rev = put.json()["rev"].as_str().unwrap().to_owned();
    let body = json!({"_rev": rev, "_deleted": true});
    let deleted = server.put("/db/a", &body).await;
    assert_eq!(headers(&deleted), (200, true, true));
    let delete = |path: String| server.ask("DELETE", &path).send();
    let rev = deleted.json()["rev"].as_str().unwrap().to_owned();
    for path in [
        format!("a?rev={rev}"),
        "a".to_owned(),
        "none?rev=x".to_owned(),
    ] {
        let refused = delete(format!("/db/{path}")).await;
        assert_eq!(refused.error(), (404, "not_found".to_owned()), "{path}");
    }
    let rev = posted.json()["rev"].as_str().unwrap().to_owned();
    let deleted = delete(format!("/db/p?rev={rev}")).await;
    assert_eq!(headers(&deleted), (200, true, false));
    let stale = server.ask("PUT", "/db/b/x.bin?rev=1-abc").send().await;
    assert_eq!(stale.error(), (409, "not_found".to_owned()));
}

#[tokio::test]
async fn a_beginning_of_an_id_is_that_of_all_characters() {
    let server = Running::start().await;
    let docs = json!([{"_id": "a"}, {"_id": "a\u{10fffd}"}, {"_id": "a😀"}, {"_id": "b"}]);
    server.database("db", &docs).await;
    let question = json!({"selector": {"_id": {"$beginsWith": "a"}}, "fields": ["_id"]});
    let found = server.post("/db/_find", &question).await.json();
    let expected = json!([{"_id": "a"}, {"_id": "a😀"}, {"_id": "a\u{10fffd}"}]);
    assert_eq!(found["docs"], expected);
}
