//! Many documents in one answer, and many edits in one request.

use crate::client::Running;
use serde_json::{Value, json};

fn ids(answer: &Value) -> Vec<String> {
    let rows = answer["rows"].as_array().expect("rows");
    let id = |row: &Value| row["key"].as_str().unwrap_or_default().to_owned();
    rows.iter().map(id).collect()
}

#[tokio::test]
async fn rows_before_a_start_key_are_counted_up_to_a_thousand() {
    let server = Running::start().await;
    let docs: Vec<Value> = (0..1100)
        .map(|at| json!({ "_id": format!("{at:04}") }))
        .collect();
    server.database("db", &json!(docs)).await;
    for (query, expected) in [
        ("", json!(0)),
        ("?skip=3", json!(3)),
        ("?startkey=%220100%22", json!(100)),
        ("?startkey=%220100%22&skip=5&limit=1", json!(105)),
        ("?startkey=%22z%22", json!(null)),
        ("?startkey=%221000%22", json!(1000)),
        ("?startkey=%221001%22", json!(null)),
        ("?startkey=%221001%22&descending=true", json!(98)),
        ("?keys=%5B%220100%22%5D", json!(null)),
    ] {
        let answer = server.get(&format!("/db/_all_docs{query}")).await.json();
        assert_eq!(answer["offset"], expected, "{query}");
    }
}

#[tokio::test]
async fn documents_are_listed_by_ranges_and_keys() {
    let server = Running::start().await;
    let docs: Vec<Value> = ["a", "b", "c", "d", "_design/x"]
        .iter()
        .map(|id| json!({ "_id": id }))
        .collect();
    server.database("db", &json!(docs)).await;
    for (query, expected) in [
        ("", &["_design/x", "a", "b", "c", "d"][..]),
        ("?startkey=%22b%22&endkey=%22c%22", &["b", "c"]),
        (
            "?startkey=%22b%22&endkey=%22c%22&inclusive_end=false",
            &["b"],
        ),
        ("?descending=true&startkey=%22c%22&limit=2", &["c", "b"]),
        (
            "?start_key=%22c%22&descending=true&end_key=%22b%22",
            &["c", "b"],
        ),
        ("?skip=1&limit=2", &["a", "b"]),
        ("?key=%22c%22", &["c"]),
        ("?keys=%5B%22d%22,%22a%22%5D", &["d", "a"]),
        ("?startkey=%7B%7D&limit=1", &["_design/x"]),
        ("?startkey=1&endkey=%5B%5D", &[]),
        ("?startkey=%22d%22&endkey=%22a%22", &[]),
        // As in CouchDB, an id counts as a key that is not given.
        ("?startkey_docid=b&endkey_docid=c", &["b", "c"]),
        ("?startkey_docid=b&startkey=%22d%22", &["d"]),
    ] {
        let answer = server.get(&format!("/db/_all_docs{query}")).await.json();
        assert_eq!(ids(&answer), expected, "{query}");
        assert_eq!(answer["total_rows"], 5);
    }
    let designs = server.get("/db/_design_docs").await.json();
    assert_eq!(
        (ids(&designs), &designs["offset"]),
        (vec!["_design/x".to_owned()], &json!(0))
    );
    let none = server.get("/db/_design_docs?skip=9").await.json();
    assert_eq!(
        (none["rows"].as_array().map(Vec::len), &none["offset"]),
        (Some(0), &json!(1))
    );
    let posted = json!({ "keys": ["b", "none"], "include_docs": true });
    let posted = server.post("/db/_all_docs", &posted).await.json();
    assert_eq!(
        (
            &posted["rows"][0]["doc"]["_id"],
            &posted["rows"][1]["error"]
        ),
        (&json!("b"), &json!("not_found"))
    );
    let queries = json!({ "queries": [{ "limit": 1, "skip": 1 }, { "keys": ["d"] }] });
    let results = server.post("/db/_all_docs/queries", &queries).await.json();
    assert_eq!(ids(&results["results"][0]), ["a"]);
    assert_eq!(ids(&results["results"][1]), ["d"]);
    let wrong = server.get("/db/_all_docs?limit=x").await;
    assert_eq!(wrong.error(), (400, "query_parse_error".into()));
}

#[tokio::test]
async fn a_long_list_is_whole() {
    let server = Running::start().await;
    let docs: Vec<Value> = (0..3000)
        .map(|at| json!({ "_id": format!("{at:05}"), "text": "x".repeat(500) }))
        .collect();
    server.database("db", &json!(docs)).await;
    let answer = server.get("/db/_all_docs?include_docs=true").await.json();
    assert_eq!(answer["rows"].as_array().unwrap().len(), 3000);
    assert!(
        answer["rows"]
            .as_array()
            .unwrap()
            .iter()
            .all(|row| row["id"] == row["doc"]["_id"])
    );
    let changes = server.get("/db/_changes?include_docs=true").await.json();
    assert_eq!(changes["results"].as_array().unwrap().len(), 3000);
}

#[tokio::test]
async fn edits_of_a_batch_stand_alone() {
    let server = Running::start().await;
    let first = server
        .database("db", &json!([{ "_id": "a", "x": 1 }]))
        .await;
    assert_eq!(first[0]["rev"], "1-0785e9eb543380151003dc452c3a001a");
    let docs = json!({ "docs": [{ "_id": "a" }, { "b": 1 }] });
    let second = server.post("/db/_bulk_docs", &docs).await;
    assert_eq!(second.status, 201);
    let second = second.json();
    assert_eq!(
        (&second[0]["error"], &second[1]["ok"]),
        (&json!("conflict"), &json!(true))
    );
    let replicated = json!({ "new_edits": false, "docs": [
        { "_id": "a", "_rev": "2-x", "_revisions": { "start": 2, "ids": ["x", "y"] } }
    ] });
    assert_eq!(
        server.post("/db/_bulk_docs", &replicated).await.text(),
        "[]\n"
    );
    let conflicts = server.get("/db/a?conflicts=true").await.json();
    assert_eq!(
        (&conflicts["_rev"], &conflicts["_conflicts"]),
        (&json!("2-x"), &json!([first[0]["rev"]]))
    );
    let diff = server
        .post(
            "/db/_revs_diff",
            &json!({ "a": ["2-x", "3-z"], "new": ["1-a"] }),
        )
        .await
        .json();
    assert_eq!(diff["a"]["missing"], json!(["3-z"]));
    assert_eq!(diff["new"], json!({ "missing": ["1-a"] }));
    assert!(
        diff["a"]["possible_ancestors"]
            .as_array()
            .unwrap()
            .contains(&json!("2-x"))
    );
    let missing = server
        .post("/db/_missing_revs", &json!({ "a": ["2-x", "3-z"] }))
        .await
        .json();
    assert_eq!(missing, json!({ "missing_revs": { "a": ["3-z"] } }));
    let purged = server.post("/db/_purge", &json!({ "a": ["2-x"] })).await;
    assert_eq!(
        (purged.status.as_u16(), &purged.json()["purged"]),
        (201, &json!({ "a": ["2-x"] }))
    );
    assert_eq!(server.get("/db/a").await.json()["_rev"], first[0]["rev"]);
}

#[tokio::test]
async fn names_of_databases_may_have_slashes() {
    let server = Running::start().await;
    assert_eq!(server.put("/a%2Fb", &Value::Null).await.status, 201);
    assert_eq!(
        server.put("/a%2Fb", &Value::Null).await.error(),
        (412, "file_exists".into())
    );
    assert_eq!(
        server.put("/Bad", &Value::Null).await.error(),
        (400, "illegal_database_name".into())
    );
    let long = server
        .put(&format!("/{}", "a".repeat(239)), &Value::Null)
        .await;
    assert_eq!(long.error(), (400, "database_name_too_long".into()));
    let illegal = server
        .put(&format!("/{}", "A".repeat(239)), &Value::Null)
        .await;
    assert_eq!(illegal.error(), (400, "illegal_database_name".into()));
    assert_eq!(server.get("/_all_dbs").await.json(), json!(["a/b"]));
    let info = server.get("/a%2Fb/").await.json();
    assert_eq!(
        (&info["db_name"], &info["doc_count"]),
        (&json!("a/b"), &json!(0))
    );
    let infos = server
        .post("/_dbs_info", &json!({ "keys": ["a/b", "none"] }))
        .await
        .json();
    assert_eq!(
        (&infos[0]["info"]["db_name"], &infos[1]["error"]),
        (&json!("a/b"), &json!("not_found"))
    );
    assert_eq!(
        server.delete("/a%2Fb?rev=1-a").await.status,
        400,
        "a document's id was forgotten"
    );
    assert_eq!(server.delete("/a%2Fb").await.json(), json!({ "ok": true }));
    assert_eq!(server.get("/_all_dbs").await.json(), json!([]));
}

#[tokio::test]
async fn ids_that_are_given_out_are_in_order() {
    let server = Running::start().await;
    let ids = server.get("/_uuids?count=500").await.json();
    let ids: Vec<&str> = ids["uuids"]
        .as_array()
        .unwrap()
        .iter()
        .map(|id| id.as_str().unwrap())
        .collect();
    assert!(ids.len() == 500 && ids.is_sorted() && ids.iter().all(|id| id.len() == 32));
    assert_eq!(server.get("/_uuids?count=1001").await.status, 400);
}

#[tokio::test]
async fn what_a_node_says_of_itself_is_there() {
    let server = Running::start().await;
    server.database("db", &json!([])).await;
    let welcome = server.get("/").await.json();
    assert_eq!(
        (&welcome["couchdb"], &welcome["vendor"]["name"]),
        (&json!("Welcome"), &json!("inorder-couch"))
    );
    for path in [
        "/_up",
        "/_membership",
        "/_active_tasks",
        "/_node/_local",
        "/_node/_local/_config",
        "/_node/_local/_config/cors",
        "/_node/_local/_stats",
        "/_node/_local/_system",
        "/db/_shards",
        "/db/_shards/x",
        "/db/_security",
        "/db/_revs_limit",
        "/_scheduler/jobs",
        "/_scheduler/docs",
        "/_session",
    ] {
        let answer = server.get(path).await;
        assert_eq!(answer.status, 200, "{path}");
        answer.json();
    }
    let metrics = server.get("/_node/_local/_prometheus").await;
    assert!(metrics.text().contains("\ncouchdb_httpd_requests_total "));
    assert_eq!(server.get("/_node/other/_stats").await.status, 404);
    let stats = async |path: &str| {
        let answer = server.get(&format!("/_node/_local/_stats/{path}")).await;
        answer.json()
    };
    let gets = stats("couchdb/httpd_request_methods/GET").await;
    assert!(gets["value"].as_u64() > Some(10), "{gets}");
    assert_eq!(gets["type"], "counter");
    let codes = stats("couchdb/httpd_status_codes").await;
    assert_eq!(codes["404"]["value"], 1);
    assert_eq!(stats("couchdb/none/at/all").await, json!(null));
    assert_eq!(server.put("/db/_revs_limit", &json!(5)).await.status, 200);
    assert_eq!(server.get("/db/_revs_limit").await.text(), "5\n");
    assert_eq!(server.put("/db/_revs_limit", &json!(0)).await.status, 400);
    for (path, method) in [
        ("/db/_compact", "POST"),
        ("/db/_ensure_full_commit", "POST"),
        ("/db/_view_cleanup", "POST"),
    ] {
        let done = server.ask(method, path).json(&json!({})).send().await;
        assert!(done.status.is_success(), "{path}: {}", done.text());
    }
}

#[tokio::test]
async fn local_documents_answer_several_queries_and_have_no_sequence() {
    let server = Running::start().await;
    server.database("db", &json!([{ "_id": "a" }])).await;
    for id in ["a", "b", "c"] {
        server.put(&format!("/db/_local/{id}"), &json!({})).await;
    }
    let path = "/db/_local_docs/queries?descending=true";
    let queries =
        json!({ "queries": [{ "limit": 2 }, { "keys": ["_local/a"], "update_seq": true }] });
    let answer = server.post(path, &queries).await.json();
    assert_eq!(ids(&answer["results"][0]), ["_local/c", "_local/b"]);
    assert_eq!(answer["results"][0]["update_seq"], Value::Null);
    assert_eq!(ids(&answer["results"][1]), ["_local/a"]);
    // `couch_mrview:get_update_seq` has none for them.
    assert_eq!(answer["results"][1].get("update_seq"), Some(&Value::Null));
    assert_eq!(answer["results"][0].get("update_seq"), None);
    let listed = server.get("/db/_local_docs?update_seq=true").await.json();
    assert_eq!(listed.get("update_seq"), Some(&Value::Null));
    let wrong = server.post(path, &json!({ "queries": 1 })).await;
    assert_eq!(wrong.error(), (400, "bad_request".to_owned()));
}

#[tokio::test]
async fn parameters_of_the_url_count_more_than_those_of_the_body() {
    let server = Running::start().await;
    server
        .database("db", &json!([{ "_id": "a" }, { "_id": "b" }]))
        .await;
    server.put("/db/_local/a", &json!({})).await;
    server.put("/db/_local/b", &json!({})).await;
    for list in ["_all_docs", "_local_docs"] {
        let path = format!("/db/{list}?limit=1");
        let listed = server.post(&path, &json!({ "limit": 2 })).await.json();
        assert_eq!(listed["rows"].as_array().map(Vec::len), Some(1), "{list}");
    }
    let keys = json!({ "keys": ["_local/a", "_local/b"] });
    let listed = server.post("/db/_local_docs?skip=1", &keys).await.json();
    assert_eq!(listed["rows"].as_array().map(Vec::len), Some(1));
    let keys = json!({ "keys": ["a", 1, "_local/none", "_local/b"] });
    let listed = server.post("/db/_local_docs", &keys).await.json();
    assert_eq!(ids(&listed), ["_local/none", "_local/b"]);
    let wrong = server.post("/db/_all_docs", &json!([])).await;
    assert_eq!(wrong.json()["reason"], "Request body must be a JSON object");
}
