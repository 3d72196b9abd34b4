//! Views of partitioned databases. The answers are those of CouchDB 3.5.0 with one shard.

use crate::client::Running;
use serde_json::{Value, json};

const BY_A: &str = "function (doc) { if (doc.a) emit([doc.a, 1], doc.a); }";

/// Four partitions with three documents each, views of partitions in `_design/v` and of the whole database in `_design/g`.
async fn server() -> Running {
    let server = Running::start().await;
    let made = server.put("/db?partitioned=true", &Value::Null).await;
    assert_eq!(made.status, 201, "{}", made.text());
    let ids = ["foo", "bar", "Foo", "é"].into_iter();
    let ids = ids.flat_map(|partition| (1..4).map(move |a| (format!("{partition}:{a}"), a)));
    let docs: Vec<Value> = ids.map(|(id, a)| json!({ "_id": id, "a": a })).collect();
    server
        .post("/db/_bulk_docs", &json!({ "docs": docs }))
        .await;
    let views = json!({ "a": { "map": BY_A }, "s": { "map": BY_A, "reduce": "_sum" } });
    server
        .put("/db/_design/v", &json!({ "views": views }))
        .await;
    let whole = json!({ "views": views, "options": { "partitioned": false } });
    server.put("/db/_design/g", &whole).await;
    server
}

async fn rows(server: &Running, path: &str) -> Value {
    let answer = server.get(&format!("/db/{path}")).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    let mut answer = answer.json();
    answer["rows"].take()
}

#[tokio::test]
async fn a_view_of_a_partition_has_its_rows_only() {
    let server = server().await;
    for (partition, first, last) in [
        ("bar", 0, 9),
        ("%C3%A9", 3, 6),
        ("foo", 6, 3),
        ("Foo", 9, 0),
    ] {
        let path = format!("/db/_partition/{partition}/_design/v/_view/a");
        let ascending = server.get(&path).await.json();
        assert_eq!(
            (&ascending["total_rows"], &ascending["offset"]),
            (&json!(12), &json!(first)),
            "{partition}"
        );
        let keys = ascending["rows"].as_array().unwrap().iter();
        let keys: Vec<&Value> = keys.map(|row| &row["key"]).collect();
        assert_eq!(keys, [&json!([1, 1]), &json!([2, 1]), &json!([3, 1])]);
        let descending = server.get(&format!("{path}?descending=true&limit=1")).await;
        let descending = descending.json();
        assert_eq!(descending["offset"], last, "{partition}");
        assert_eq!(descending["rows"][0]["key"], json!([3, 1]));
    }
    let none = server.get("/db/_partition/none/_design/v/_view/a").await;
    assert_eq!(
        none.json(),
        json!({ "total_rows": 12, "offset": 12, "rows": [] })
    );
}

#[tokio::test]
async fn ranges_keys_and_groups_stay_in_the_partition() {
    let server = server().await;
    let of = "_partition/foo/_design/v/_view";
    for (rest, expected) in [
        (
            "a?startkey=%5B2%5D&endkey=%5B2,%7B%7D%5D",
            json!([{"id": "foo:2", "key": [2, 1], "value": 2}]),
        ),
        (
            "a?keys=%5B%5B3,1%5D,%5B1,1%5D%5D",
            json!([
                {"id": "foo:3", "key": [3, 1], "value": 3},
                {"id": "foo:1", "key": [1, 1], "value": 1},
            ]),
        ),
        ("a?startkey=%5B4%5D", json!([])),
        ("s", json!([{"key": null, "value": 6}])),
        ("s?endkey=%5B2,1%5D", json!([{"key": null, "value": 3}])),
        (
            "s?group_level=1",
            json!([{"key": [1], "value": 1}, {"key": [2], "value": 2}, {"key": [3], "value": 3}]),
        ),
        (
            "s?group=true&limit=1&skip=1",
            json!([{"key": [2, 1], "value": 2}]),
        ),
    ] {
        assert_eq!(
            rows(&server, &format!("{of}/{rest}")).await,
            expected,
            "{rest}"
        );
    }
    // A document that changes leaves its old row.
    let doc = server.get("/db/foo:2").await.json();
    let changed = json!({ "_rev": doc["_rev"], "a": 9 });
    server.put("/db/foo:2", &changed).await;
    assert_eq!(
        rows(&server, &format!("{of}/s")).await,
        json!([{"key": null, "value": 13}])
    );
    assert_eq!(
        rows(&server, "_partition/Foo/_design/v/_view/s").await[0]["value"],
        6
    );
    assert_eq!(rows(&server, "_design/g/_view/s").await[0]["value"], 31);
}

#[tokio::test]
async fn the_partition_is_named_where_a_view_has_any() {
    let server = server().await;
    for (path, reason) in [
        (
            "_design/v/_view/a",
            "`partition` parameter is mandatory for queries to this view.",
        ),
        (
            "_partition/foo/_design/g/_view/a",
            "`partition` parameter is not supported in this design doc",
        ),
    ] {
        let refused = server.get(&format!("/db/{path}")).await;
        assert_eq!(refused.error(), (400, "query_parse_error".to_owned()));
        assert_eq!(refused.json()["reason"], reason);
    }
}

#[tokio::test]
async fn several_queries_of_a_partition_stay_in_it() {
    let server = server().await;
    let path = "/db/_partition/foo/_all_docs/queries";
    let all = ["foo:1", "foo:2", "foo:3"];
    for (query, expected) in [
        (json!({}), &all[..]),
        (json!({ "start_key": "a", "end_key": "foo:1" }), &all[..1]),
        (json!({ "descending": true, "skip": 2 }), &all[..1]),
        (json!({ "keys": ["foo:3"] }), &all[2..]),
    ] {
        let body = json!({ "queries": [query] });
        let answer = server.post(path, &body).await.json();
        let rows = answer["results"][0]["rows"].as_array().unwrap().iter();
        let ids: Vec<&Value> = rows.map(|row| &row["id"]).collect();
        assert_eq!(ids, expected, "{query}");
    }
}
