//! Faults that public test suites found. The answers are those of CouchDB 3.5.0, unless `docs/protocol.md` says otherwise.

use crate::client::{Answer, Running};
use serde_json::{Value, json};

const CONFIG: &str = "/_node/_local/_config";

fn refusal(answer: &Answer) -> (u16, String, String) {
    let body = answer.json();
    let text = |name: &str| body[name].as_str().unwrap_or_default().to_owned();
    (answer.status.as_u16(), text("error"), text("reason"))
}

fn expected(status: u16, error: &str, reason: &str) -> (u16, String, String) {
    (status, error.to_owned(), reason.to_owned())
}

async fn configure(server: &Running, section: &str, key: &str, value: &str) {
    let path = format!("{CONFIG}/{section}/{key}");
    let set = server.put(&path, &json!(value)).await;
    assert_eq!(set.status, 200, "{}", set.text());
}

#[tokio::test]
async fn an_attachment_name_begins_with_no_underscore_however_it_is_sent() {
    let server = Running::start().await;
    server.database("db", &json!([])).await;
    let reason = "Attachment name '_a' starts with prohibited character '_'";
    let alone = server.ask("PUT", "/db/x/_a").body("text/plain", "a");
    let alone = alone.send().await;
    assert_eq!(refusal(&alone), expected(400, "bad_request", reason));
    let inline = json!({ "_attachments": { "_a": { "data": "" } } });
    let inline = server.put("/db/x", &inline).await;
    assert_eq!(refusal(&inline), expected(400, "bad_request", reason));
    let unnamed = json!({ "_attachments": { "": { "data": "" } } });
    assert_eq!(server.put("/db/x", &unnamed).await.status, 201);
}

#[tokio::test]
async fn a_plus_sign_in_a_path_is_a_space_unless_configured() {
    let server = Running::start().await;
    server.database("db", &json!([])).await;
    let id = async |path: &str| server.put(path, &json!({})).await.json()["id"].clone();
    assert_eq!(id("/db/a+b").await, "a b");
    assert_eq!(id("/db/a%2Bb").await, "a+b");
    configure(&server, "chttpd", "decode_plus_to_space", "false").await;
    assert_eq!(id("/db/c+d").await, "c+d");
}

#[tokio::test]
async fn a_batch_names_no_revision_and_no_conflict() {
    let server = Running::start().await;
    server.database("db", &json!([])).await;
    for _ in 0..2 {
        let written = server.put("/db/a?batch=ok", &json!({ "x": 1 })).await;
        assert_eq!(written.status, 202);
        assert_eq!(written.json(), json!({ "ok": true, "id": "a" }));
    }
    let posted = server.post("/db?batch=ok", &json!({})).await;
    assert_eq!(posted.status, 202);
    let id = posted.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(server.get(&format!("/db/{id}")).await.status, 200);
    let illegal = server.put("/db/_a?batch=ok", &json!({})).await;
    assert_eq!(illegal.error(), (400, "illegal_docid".to_owned()));
}

#[tokio::test]
async fn an_etag_that_is_not_the_revision_of_the_body_is_named() {
    let server = Running::start().await;
    server.database("db", &json!([])).await;
    let body = json!({ "_rev": "1-a" });
    let ask = server.ask("PUT", "/db/a").header("if-match", "1-b");
    let refused = ask.json(&body).send().await;
    let reason = "Document rev and etag have different values";
    assert_eq!(refusal(&refused), expected(400, "bad_request", reason));
    let refused = server.put("/db/a?rev=1-b", &body).await;
    let reason = "Document rev from request body and query string have different values";
    assert_eq!(refusal(&refused), expected(400, "bad_request", reason));
}

#[tokio::test]
async fn listings_of_documents_read_parameters_as_views_do() {
    let server = Running::start().await;
    server.database("db", &json!([{ "_id": "a" }])).await;
    for (query, error, reason) in [
        ("startkey=x", "bad_request", "invalid UTF-8 JSON"),
        (
            "keys=1",
            "bad_request",
            "`keys` parameter must be an array.",
        ),
        (
            "limit=x",
            "query_parse_error",
            "Invalid value for integer: \"x\"",
        ),
        (
            "descending=1",
            "query_parse_error",
            "Invalid boolean parameter: \"1\"",
        ),
        ("stale=x", "query_parse_error", "Invalid value for `stale`."),
    ] {
        let refused = server.get(&format!("/db/_all_docs?{query}")).await;
        assert_eq!(refusal(&refused), expected(400, error, reason), "{query}");
    }
    let posted = server.post("/db/_all_docs", &json!({ "keys": 1 })).await;
    let reason = "`keys` body member must be an array.";
    assert_eq!(refusal(&posted), expected(400, "bad_request", reason));
    // Ids are compared as Erlang compares terms: what is no text is before all text.
    for (query, rows) in [
        ("startkey=%7B%7D", 1),
        ("endkey=%7B%7D", 0),
        ("startkey=%5B%5D&descending=true", 0),
        ("endkey=1&descending=true", 1),
        ("key=1", 0),
        ("descending=TRUE", 1),
    ] {
        let listed = server.get(&format!("/db/_all_docs?{query}")).await.json();
        assert_eq!(listed["rows"].as_array().unwrap().len(), rows, "{query}");
    }
}

#[tokio::test]
async fn wrong_bodies_are_told_apart() {
    let server = Running::start().await;
    server.database("db", &json!([])).await;
    let list = server.post("/db/_changes", &json!(["a"])).await;
    let reason = "Request body must be a JSON object";
    assert_eq!(refusal(&list), expected(400, "bad_request", reason));
    let cut = server.ask("POST", "/db/_changes");
    let cut = cut.body("application/json", "{\"doc_ids\": [").send().await;
    let reason = "invalid UTF-8 JSON";
    assert_eq!(refusal(&cut), expected(400, "bad_request", reason));
    let detail = cut.json()["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("line 1 column"), "{detail}");
    let all = json!({ "docs": [{ "_id": "a" }, { "_rev": "1-b" }], "all_or_nothing": true });
    let all = server.post("/db/_bulk_docs", &all).await;
    assert_eq!(all.status, 417);
    let row = |id: Value, rev| {
        let reason = "all_or_nothing is not supported";
        json!({ "id": id, "rev": rev, "error": "not_implemented", "reason": reason })
    };
    let made = all.json()[1]["id"].clone();
    assert!(made.is_string(), "{made}");
    let rows = json!([row(json!("a"), "0-"), row(made, "1-b")]);
    assert_eq!(all.json(), rows);
}

#[tokio::test]
async fn each_document_of_a_bulk_get_has_its_own_error() {
    let server = Running::start().await;
    server.put("/db?partitioned=true", &Value::Null).await;
    let docs = json!([{ "id": "x" }, { "id": "a:b" }, { "x": 1 }, { "id": "a:c", "rev": 1 }]);
    let found = server
        .post("/db/_bulk_get", &json!({ "docs": docs }))
        .await
        .json();
    let errors: Vec<Value> = found["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|result| {
            let error = &result["docs"][0]["error"];
            json!([result["id"], error["error"], error["rev"]])
        })
        .collect();
    let expected = json!([
        ["x", "illegal_docid", null],
        ["a:b", "not_found", "undefined"],
        [null, "bad_request", null],
        ["a:c", "bad_request", 1]
    ]);
    assert_eq!(json!(errors), expected);
    let purge = server.post("/db/_purge", &json!({ "x": ["1-a"] })).await;
    assert_eq!(purge.error(), (400, "illegal_docid".to_owned()));
    for path in ["_bar/_design/m/_view/v", "/_design/m/_view/v"] {
        let refused = server.get(&format!("/db/_partition/{path}")).await;
        assert_eq!(refused.error(), (400, "illegal_partition".to_owned()));
    }
}

#[tokio::test]
async fn a_full_partition_takes_only_what_makes_it_smaller() {
    let server = Running::start().await;
    server.put("/db?partitioned=true", &Value::Null).await;
    configure(&server, "couchdb", "max_partition_size", "1000").await;
    let doc = |at: usize, bytes| json!({ "_id": format!("a:{at}"), "text": "x".repeat(bytes) });
    let docs: Vec<Value> = (0..4).map(|at| doc(at, 300)).collect();
    let filled = server
        .post("/db/_bulk_docs", &json!({ "docs": docs }))
        .await
        .json();
    assert!(
        filled
            .as_array()
            .unwrap()
            .iter()
            .all(|row| row["ok"] == true)
    );
    let refused = server.post("/db", &doc(9, 1)).await;
    let reason = "Partition limit exceeded due to update on 'a:9'";
    assert_eq!(
        refusal(&refused),
        expected(403, "partition_overflow", reason)
    );
    let others = json!({ "docs": [doc(9, 1), { "_id": "b:1" }, { "_id": "_design/d" }] });
    let others = server.post("/db/_bulk_docs", &others).await.json();
    assert_eq!(others[0]["error"], "partition_overflow");
    assert!(
        others[1]["ok"] == true && others[2]["ok"] == true,
        "{others}"
    );
    let replicated = json!({ "_id": "a:9", "_rev": "1-a" });
    let replicated = server.put("/db/a:9?new_edits=false", &replicated).await;
    assert_eq!(replicated.status, 201);
    // One that gets smaller, and a deletion: then there is room again.
    let rev = |at: usize| filled[at]["rev"].as_str().unwrap().to_owned();
    let smaller = json!({ "_rev": rev(0), "text": "x" });
    assert_eq!(server.put("/db/a:0", &smaller).await.status, 201);
    let path = format!("/db/a:1?rev={}", rev(1));
    assert_eq!(server.ask("DELETE", &path).send().await.status, 200);
    let info = server.get("/db/_partition/a").await.json();
    assert!(info["sizes"]["external"].as_u64().unwrap() < 1000, "{info}");
    assert_eq!(server.post("/db", &doc(8, 1)).await.status, 201);
}

#[tokio::test]
async fn sizes_of_partitions_count_attachments() {
    let server = Running::start().await;
    server.put("/db?partitioned=true", &Value::Null).await;
    let data = json!({ "f": { "content_type": "text/plain", "data": "aGVsbG8=" } });
    let doc = json!({ "_id": "a:1", "_attachments": data });
    assert_eq!(server.post("/db", &doc).await.status, 201);
    let partition = server.get("/db/_partition/a").await.json();
    let whole = server.get("/db").await.json();
    assert_eq!(partition["sizes"]["external"], whole["sizes"]["external"]);
}

const VIEWS: &str = r#"{
    "views": {
        "rows": { "map": "function (doc) { emit(doc._id, 1); }" },
        "large": { "map": "function (doc) { emit(1, 1); }",
                   "reduce": "function () { var all = []; for (var i = 0; i < 1000; i++) all.push('much'); return all; }" }
    },
    "lists": { "keys": "function (head, req) { var row, all = ''; while (row = getRow()) all += row.key; return all; }" },
    "rewrites": [{ "from": "up", "to": "../../../_up" }, { "from": "all", "to": "../../_all_docs" }]
}"#;

async fn with_views() -> Running {
    let server = Running::start().await;
    let docs = json!([{ "_id": "a" }, { "_id": "b" }, { "_id": "c" }]);
    server.database("db", &docs).await;
    let views: Value = serde_json::from_str(VIEWS).unwrap();
    assert_eq!(server.put("/db/_design/d", &views).await.status, 201);
    server
}

#[tokio::test]
async fn a_reduction_that_is_too_large_is_an_error_of_its_row() {
    let server = with_views().await;
    let rows = server.get("/db/_design/d/_view/large").await.json();
    let row = &rows["rows"][0];
    assert_eq!(
        (&row["key"], &row["error"]),
        (&Value::Null, &json!("reduce_overflow_error"))
    );
    let reason = row["reason"].as_str().unwrap();
    assert!(
        reason.starts_with("Reduce output must shrink more rapidly"),
        "{reason}"
    );
}

#[tokio::test]
async fn a_map_function_without_memory_fails_the_query() {
    let server = with_views().await;
    let endless = "function (doc) { if (doc._id == 'b') while (true) emit('x'.repeat(1 << 20)); }";
    let design = json!({ "views": { "v": { "map": endless } } });
    assert_eq!(server.put("/db/_design/endless", &design).await.status, 201);
    let failed = server.get("/db/_design/endless/_view/v").await;
    let (status, error, reason) = refusal(&failed);
    assert_eq!((status, &*error), (500, "os_process_error"));
    // On a busy machine its time ends before its memory.
    let named = "It was called with the document \"b\".";
    assert!(reason.ends_with(named), "{reason}");
}

#[tokio::test]
async fn queries_ask_for_no_more_rows_than_configured() {
    let server = with_views().await;
    configure(&server, "query_server_config", "query_limit", "2").await;
    for path in ["_all_docs", "_design/d/_view/rows"] {
        let rows = server.get(&format!("/db/{path}")).await.json();
        assert_eq!(rows["rows"].as_array().unwrap().len(), 2, "{path}");
        let refused = server.get(&format!("/db/{path}?limit=3")).await;
        let reason = "Limit is too large, must not exceed 2";
        assert_eq!(
            refusal(&refused),
            expected(400, "query_parse_error", reason)
        );
    }
    server.put("/p?partitioned=true", &Value::Null).await;
    configure(&server, "query_server_config", "partition_query_limit", "1").await;
    let refused = server.get("/p/_partition/a/_all_docs?limit=2").await;
    assert_eq!(refused.error(), (400, "query_parse_error".to_owned()));
    assert_eq!(server.get("/p/_all_docs?limit=2").await.status, 200);
}

#[tokio::test]
async fn rules_that_leave_the_database_are_refused() {
    let server = with_views().await;
    for path in ["up", "all"] {
        let refused = server.get(&format!("/db/_design/d/_rewrite/{path}")).await;
        let reason = "too many ../.. segments";
        let expected = expected(500, "insecure_rewrite_rule", reason);
        assert_eq!(refusal(&refused), expected, "{path}");
    }
    configure(&server, "chttpd", "secure_rewrites", "false").await;
    for path in ["up", "all"] {
        let found = server.get(&format!("/db/_design/d/_rewrite/{path}")).await;
        assert_eq!(found.status, 200, "{path}");
    }
}

#[tokio::test]
async fn a_list_without_a_content_type_is_json() {
    let server = with_views().await;
    for method in ["GET", "OPTIONS"] {
        let listed = server
            .ask(method, "/db/_design/d/_list/keys/rows")
            .send()
            .await;
        assert_eq!((listed.status.as_u16(), listed.text()), (200, "abc"));
        assert_eq!(listed.header("content-type"), "application/json");
    }
    let info = server.get("/db/_design/d/_info").await.json();
    let collator = info["view_index"]["collator_versions"][0].clone();
    let versions = server.get("/_node/_local/_versions").await.json();
    assert_eq!(versions["collation_driver"]["collator_version"], collator);
    assert_eq!(versions["javascript_engine"]["name"], "quickjs");
}

#[tokio::test]
async fn answers_call_a_function_where_that_is_allowed() {
    let server = with_views().await;
    let plain = server.get("/db/a?callback=f").await;
    assert_eq!(plain.header("content-type"), "application/json");
    configure(&server, "chttpd", "allow_jsonp", "true").await;
    for path in [
        "/db/a?",
        "/db/_design/d/_view/rows?",
        "/db/_changes?",
        "/db/none?",
    ] {
        let called = server.get(&format!("{path}callback=f.g")).await;
        assert_eq!(called.header("content-type"), "application/javascript");
        let json = called.text().strip_prefix("/* CouchDB */f.g(");
        let json = json.and_then(|rest| rest.strip_suffix(");")).expect(path);
        serde_json::from_str::<Value>(json).expect(path);
    }
    let refused = server.get("/db/a?callback=f%22").await;
    assert_eq!(refused.error(), (400, "bad_request".to_owned()));
}

#[tokio::test]
async fn a_body_of_several_parts_begins_with_its_boundary() {
    let server = Running::start().await;
    let attached = json!({ "f": { "content_type": "a/b", "data": "aGVsbG8=" } });
    let doc = json!({ "_id": "a", "_attachments": attached });
    server.database("db", &json!([doc])).await;
    let related = server
        .ask("GET", "/db/a?attachments=true")
        .header("accept", "multipart/related");
    let related = related.send().await;
    let boundary = related.header("content-type").split('"').nth(1).unwrap();
    assert!(related.text().starts_with(&format!("--{boundary}\r\n")));
    let length = related.header("content-length");
    assert_eq!(length, related.body.len().to_string());
}
