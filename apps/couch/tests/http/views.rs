//! Map and reduce views.

use crate::client::{Running, until};
use inorder_couch::auth::Auth;
use inorder_couch::http::ServerSettings;
use inorder_couch::script::{ScriptLimits, ScriptSettings};
use serde_json::{Value, json};
use std::time::Duration;

const BY_YEAR: &str = "function (doc) { if (doc.year) emit([doc.year, doc.title], doc.votes); }";

fn film(id: u32) -> Value {
    json!({ "_id": format!("{id:04}"), "title": format!("t{}", id % 7), "year": 1990 + id % 4, "votes": id })
}

/// A database `db` with films and the views of `design` in `_design/d`.
async fn films(server: &Running, count: u32, design: Value) {
    let docs: Vec<Value> = (0..count).map(film).collect();
    server.database("db", &json!(docs)).await;
    let made = server.put("/db/_design/d", &design).await;
    assert_eq!(made.status, 201, "{}", made.text());
}

fn standard() -> Value {
    json!({ "views": {
        "plain": { "map": BY_YEAR },
        "sum": { "map": BY_YEAR, "reduce": "_sum" },
        "own": { "map": BY_YEAR, "reduce": "function (keys, values, again) { return again ? sum(values) : values.length }" },
    }})
}

async fn view(server: &Running, rest: &str) -> Value {
    let answer = server.get(&format!("/db/_design/d/_view/{rest}")).await;
    assert_eq!(answer.status, 200, "{rest}: {}", answer.text());
    answer.json()
}

fn members<'a>(answer: &'a Value, name: &str) -> Vec<&'a Value> {
    let rows = answer["rows"].as_array().expect("rows");
    rows.iter().map(|row| &row[name]).collect()
}

#[tokio::test]
async fn rows_are_in_order_and_counted() {
    let server = Running::start().await;
    films(&server, 3000, standard()).await;
    let all = view(&server, "plain").await;
    assert_eq!(
        (&all["total_rows"], &all["offset"]),
        (&json!(3000), &json!(0))
    );
    let keys = members(&all, "key");
    assert_eq!(keys.len(), 3000);
    let texts: Vec<String> = keys.iter().map(|key| key.to_string()).collect();
    assert!(texts.is_sorted());
    let some = view(
        &server,
        "plain?startkey=%5B1991%5D&endkey=%5B1992%5D&skip=1&limit=2",
    )
    .await;
    assert_eq!(
        (&some["total_rows"], &some["offset"]),
        (&json!(3000), &json!(751))
    );
    assert_eq!(
        members(&some, "key"),
        [&json!([1991, "t0"]), &json!([1991, "t0"])]
    );
    let last = view(&server, "plain?descending=true&limit=1&update_seq=true").await;
    assert_eq!(last["rows"][0]["key"], json!([1993, "t6"]));
    assert!(last["update_seq"].as_str().unwrap().starts_with("3001-"));
    let none = view(&server, "plain?key=5").await;
    assert_eq!(
        (&none["offset"], members(&none, "key").len()),
        (&json!(0), 0)
    );
}

#[tokio::test]
async fn rows_are_reduced_by_group_and_range() {
    let server = Running::start().await;
    films(&server, 3000, standard()).await;
    let sum = |ids: &mut dyn Iterator<Item = u32>| ids.sum::<u32>();
    let all = view(&server, "sum").await;
    assert_eq!(
        all,
        json!({ "rows": [{ "key": null, "value": sum(&mut (0..3000)) }] })
    );
    let years = view(&server, "sum?group_level=1").await;
    let expected: Vec<Value> = (0..4)
        .map(|year| json!({ "key": [1990 + year], "value": sum(&mut (0..3000).filter(|id| id % 4 == year)) }))
        .collect();
    assert_eq!(years["rows"], json!(expected));
    let back = view(&server, "sum?group_level=1&descending=true&skip=1&limit=1").await;
    assert_eq!(back["rows"], json!([expected[2]]));
    let counts = view(&server, "own?group=true&startkey=%5B1992%5D").await;
    assert_eq!(members(&counts, "key").len(), 14);
    let total: u64 = members(&counts, "value")
        .iter()
        .filter_map(|value| value.as_u64())
        .sum();
    assert_eq!(total, 1500);
    let keys = json!({ "keys": [[1993, "t1"], [1, "t1"], [1990, "t0"]], "group": true });
    let answer = server.post("/db/_design/d/_view/own", &keys).await.json();
    assert_eq!(
        members(&answer, "key"),
        [&json!([1993, "t1"]), &json!([1990, "t0"])]
    );
    let unreduced = view(&server, "sum?reduce=false&limit=0").await;
    assert_eq!(unreduced["total_rows"], 3000);
}

#[tokio::test]
async fn changes_reach_the_index() {
    let server = Running::start().await;
    films(&server, 500, standard()).await;
    assert_eq!(
        view(&server, "sum").await["rows"][0]["value"],
        500 * 499 / 2
    );
    let revision = server.get("/db/0007").await.json()["_rev"].clone();
    let changed = json!({ "_rev": revision, "title": "new", "year": 2020, "votes": 1 });
    assert_eq!(server.put("/db/0007", &changed).await.status, 201);
    let revision = server.get("/db/0008").await.json()["_rev"].clone();
    let path = format!("/db/0008?rev={}", revision.as_str().unwrap());
    assert_eq!(server.delete(&path).await.status, 200);
    let stale = view(&server, "sum?stale=ok").await;
    assert_eq!(stale["rows"][0]["value"], 500 * 499 / 2);
    assert_eq!(
        view(&server, "sum").await["rows"][0]["value"],
        500 * 499 / 2 - 7 - 8 + 1
    );
    let new = view(&server, "plain?key=%5B2020,%22new%22%5D&include_docs=true").await;
    assert_eq!(
        (&new["total_rows"], &new["rows"][0]["doc"]["title"]),
        (&json!(499), &json!("new"))
    );
    let revision = server.get("/db/0009").await.json()["_rev"].clone();
    let purge = json!({ "0009": [revision] });
    assert_eq!(server.post("/db/_purge", &purge).await.status, 201);
    assert_eq!(view(&server, "plain?limit=0").await["total_rows"], 498);
    let server = server.restarted(Default::default()).await;
    assert_eq!(view(&server, "plain?limit=0").await["total_rows"], 498);
}

#[tokio::test]
async fn an_index_of_a_deleted_database_is_gone() {
    let server = Running::start().await;
    films(&server, 20, standard()).await;
    assert_eq!(view(&server, "plain?limit=0").await["total_rows"], 20);
    assert_eq!(server.delete("/db").await.status, 200);
    films(&server, 5, standard()).await;
    assert_eq!(view(&server, "plain?limit=0").await["total_rows"], 5);
}

#[tokio::test]
async fn map_functions_see_what_couchdb_shows_them() {
    let server = Running::start().await;
    let design = json!({
        "options": { "include_design": true, "local_seq": true },
        "views": {
            "lib": { "helper": "exports.name = require('./other').name", "other": "exports.name = 'lib'" },
            "lib_name": { "map": "function (doc) { emit(require('views/lib/helper').name, undefined) }" },
            "several": { "map": "function (doc) { if (doc.votes === 1) throw 'x'; emit('b', 2); emit('b', 1); emit('a'); }" },
            "conflicts": { "map": "function (doc) { if (doc._conflicts) emit(doc._conflicts.length, doc._local_seq) }" },
            "sealed": { "map": "function (doc) { doc.votes = 99; emit(doc.votes) }" },
        },
    });
    films(&server, 2, design).await;
    let conflict = json!({ "new_edits": false, "docs": [{ "_id": "0000", "_rev": "1-abc" }] });
    assert_eq!(server.post("/db/_bulk_docs", &conflict).await.status, 201);
    let lib = view(&server, "lib_name").await;
    assert_eq!(
        lib["rows"][1],
        json!({ "id": "0001", "key": "lib", "value": null })
    );
    assert_eq!(
        members(&lib, "id"),
        [&json!("0000"), &json!("0001"), &json!("_design/d")]
    );
    let several = view(&server, "several").await;
    let pairs: Vec<_> = several["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (&row["key"], &row["value"]))
        .collect();
    let (a, b) = (json!("a"), json!("b"));
    let (null, one, two) = (Value::Null, json!(1), json!(2));
    assert_eq!(
        pairs,
        [
            (&a, &null),
            (&a, &null),
            (&b, &one),
            (&b, &two),
            (&b, &one),
            (&b, &two)
        ]
    );
    let conflicts = view(&server, "conflicts").await;
    assert_eq!(
        conflicts["rows"],
        json!([{ "id": "0000", "key": 1, "value": 4 }])
    );
    assert_eq!(
        members(&view(&server, "sealed").await, "key"),
        [&null, &json!(0), &json!(1)]
    );
}

#[tokio::test]
async fn linked_documents_are_included() {
    let server = Running::start().await;
    let map = "function (doc) { if (doc.votes) emit(doc.votes, { _id: doc.votes === 2 ? 'none' : '0000' }) }";
    films(&server, 3, json!({ "views": { "linked": { "map": map } } })).await;
    let linked = view(&server, "linked?include_docs=true").await;
    let docs = members(&linked, "doc");
    assert_eq!((&docs[0]["_id"], docs[1]), (&json!("0000"), &Value::Null));
}

#[tokio::test]
async fn several_queries_are_answered_at_once() {
    let server = Running::start().await;
    films(&server, 30, standard()).await;
    let body = json!({ "queries": [{ "key": [1990, "t0"], "reduce": false }, { "group_level": 1, "limit": 1 }] });
    let answer = server
        .post("/db/_design/d/_view/sum/queries", &body)
        .await
        .json();
    let results = answer["results"].as_array().unwrap();
    assert_eq!(results[0]["total_rows"], 30);
    assert_eq!(results[1]["rows"][0]["key"], json!([1990]));
}

#[tokio::test]
async fn wrong_queries_are_refused_as_couchdb_refuses_them() {
    let server = Running::start().await;
    films(&server, 3, standard()).await;
    for (rest, status, error, reason) in [
        ("none", 404, "not_found", "missing_named_view"),
        (
            "plain?limit=x",
            400,
            "query_parse_error",
            "Invalid value for integer: \"x\"",
        ),
        (
            "plain?group=true",
            400,
            "query_parse_error",
            "Invalid use of grouping on a map view.",
        ),
        (
            "plain?startkey=2&endkey=1",
            400,
            "query_parse_error",
            "No rows can match your key range, reverse your start_key and end_key or set descending=true",
        ),
        ("plain?key=%7B", 400, "bad_request", "invalid UTF-8 JSON"),
        (
            "sum?keys=%5B1,2%5D",
            400,
            "query_parse_error",
            "Multi-key fetches for reduce views must use `group=true`",
        ),
    ] {
        let answer = server.get(&format!("/db/_design/d/_view/{rest}")).await;
        assert_eq!(answer.error(), (status, error.to_owned()), "{rest}");
        assert_eq!(answer.json()["reason"], reason, "{rest}");
    }
    let missing = server.get("/db/_design/none/_view/plain").await;
    assert_eq!(missing.error(), (404, "not_found".to_owned()));
}

#[tokio::test]
async fn design_documents_with_the_same_functions_share_an_index() {
    let server = Running::start().await;
    films(&server, 50, standard()).await;
    assert_eq!(server.put("/db/_design/e", &standard()).await.status, 201);
    view(&server, "plain").await;
    let info = async |name: &str| {
        let answer = server
            .get(&format!("/db/_design/{name}/_info"))
            .await
            .json();
        answer["view_index"].clone()
    };
    let (d, e) = (info("d").await, info("e").await);
    assert_eq!(
        (&d["signature"], &d["update_seq"]),
        (&e["signature"], &json!(52))
    );
    let revision = server.get("/db/_design/d").await.json()["_rev"].clone();
    let mut other =
        json!({ "_rev": revision, "views": { "plain": { "map": "function (doc) {}" } } });
    assert_eq!(server.put("/db/_design/d", &other).await.status, 201);
    assert_eq!(view(&server, "plain").await["total_rows"], 0);
    let empty = json!({});
    assert_eq!(server.post("/db/_view_cleanup", &empty).await.status, 202);
    assert_eq!(
        info("e").await["update_seq"],
        52,
        "the index of the other is kept"
    );
    other["_rev"] = server.get("/db/_design/e").await.json()["_rev"].clone();
    assert_eq!(server.put("/db/_design/e", &other).await.status, 201);
    assert_eq!(server.post("/db/_view_cleanup", &empty).await.status, 202);
    assert_eq!(server.post("/db/_compact/d", &empty).await.status, 202);
    assert_eq!(info("e").await["updates_pending"]["total"], 1);
}

#[tokio::test]
async fn a_requested_compaction_is_shown_until_it_has_ended() {
    let server = Running::start().await;
    let map = "function (doc) { emit(doc.text, doc.text); }";
    let design = json!({ "_id": "_design/d", "views": { "a": { "map": map } } });
    let text = "a film with a long name ".repeat(20);
    let docs: Vec<Value> = (0..2000)
        .map(|at| json!({ "_id": format!("{at:04}"), "text": text }))
        .collect();
    server.database("db", &json!([design])).await;
    server
        .post("/db/_bulk_docs", &json!({ "docs": docs }))
        .await;
    let view = "/db/_design/d/_view/a?limit=1";
    server.get(view).await;
    let rows = server.get("/db/_all_docs?endkey=%22A%22").await.json();
    let gone: Vec<Value> = members(&rows, "id")
        .iter()
        .zip(members(&rows, "value"))
        .map(|(id, value)| json!({ "_id": id, "_rev": value["rev"], "_deleted": true }))
        .collect();
    server
        .post("/db/_bulk_docs", &json!({ "docs": gone }))
        .await;
    server.get(view).await;
    let size = |body: Value, of: &str| -> (u64, bool) {
        let of = if of.is_empty() { &body } else { &body[of] };
        let bytes = of["sizes"]["file"].as_u64().expect("bytes");
        (bytes, of["compact_running"].as_bool().expect("a flag"))
    };
    for (path, info, of) in [
        ("/db/_compact/d", "/db/_design/d/_info", "view_index"),
        ("/db/_compact", "/db", ""),
    ] {
        let (before, _) = size(server.get(info).await.json(), of);
        assert_eq!(server.post(path, &json!({})).await.status, 202);
        let (mut after, mut is_running) = size(server.get(info).await.json(), of);
        while is_running {
            tokio::time::sleep(Duration::from_millis(5)).await;
            (after, is_running) = size(server.get(info).await.json(), of);
        }
        assert!(after < before / 2, "{path}: {before} bytes, then {after}");
    }
}

#[tokio::test]
async fn an_endless_map_function_ends_and_delays_no_write() {
    let scripts = ScriptSettings {
        limits: ScriptLimits {
            // Long enough that the task is seen.
            time_max: Duration::from_secs(2),
            ..ScriptLimits::default()
        },
        ..ScriptSettings::default()
    };
    let settings = ServerSettings {
        scripts,
        ..ServerSettings::default()
    };
    let server = Running::start_with(Auth::new(None, b""), settings).await;
    let map = "function (doc) { if (doc.votes === 150) for (;;); emit(doc.votes) }";
    films(
        &server,
        300,
        json!({ "views": { "endless": { "map": map } } }),
    )
    .await;
    let (answer, written) = tokio::join!(server.get("/db/_design/d/_view/endless"), async {
        until("the task", async || {
            server
                .get("/_active_tasks")
                .await
                .text()
                .contains("indexer")
        })
        .await;
        let tasks = server.get("/_active_tasks").await.json();
        assert_eq!(
            (&tasks[0]["type"], &tasks[0]["design_document"]),
            (&json!("indexer"), &json!("_design/d"))
        );
        server.put("/db/other", &json!({})).await
    });
    assert_eq!(answer.status, 500, "{}", answer.text());
    assert_eq!(written.status, 201);
    assert_eq!(server.get("/_active_tasks").await.json(), json!([]));
}

#[tokio::test]
async fn a_failing_reduce_function_gives_null_and_a_wrong_value_is_named() {
    let server = Running::start().await;
    let map = "function (doc) { emit(doc.year, doc.title) }";
    films(
        &server,
        9,
        json!({ "views": {
            "throws": { "map": map, "reduce": "function () { throw 'x' }" },
            "sum": { "map": map, "reduce": "_sum" },
        }}),
    )
    .await;
    assert_eq!(
        view(&server, "throws").await["rows"][0]["value"],
        Value::Null
    );
    let sum = view(&server, "sum").await;
    assert_eq!(sum["rows"][0]["value"]["error"], "builtin_reduce_error");
}
