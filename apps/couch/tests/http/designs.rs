//! Which design documents are taken. The answers are those of CouchDB 3.5.0.

use crate::client::Running;
use serde_json::{Value, json};

const MAP: &str = "function (doc) { emit(1); }";

/// Design documents, and CouchDB's reason against each.
fn refused_members() -> Vec<(Value, &'static str)> {
    vec![
        (json!({ "views": 1 }), "`views` field must have object type"),
        (
            json!({ "views": { "a": 1 } }),
            "`views.a` field must have object type",
        ),
        (
            json!({ "views": { "a": {} } }),
            "View `a` must contain map function",
        ),
        (
            json!({ "views": { "a": { "map": 1 } } }),
            "`views.a.map` field must have string type",
        ),
        (
            json!({ "views": { "a": { "map": MAP, "reduce": 1 } } }),
            "`views.a.reduce` field must have string type",
        ),
        (
            json!({ "views": { "a": { "map": MAP, "reduce": "_foo" } } }),
            "`_foo` is not a supported reduce function.",
        ),
        (
            json!({ "views": { "a": { "map": MAP, "reduce": "_top_0" } } }),
            "rank value must be between 1 and 100",
        ),
        (
            json!({ "views": { "lib": 1 } }),
            "`views.lib` field must have object type",
        ),
        (
            json!({ "filters": null }),
            "`filters` field must have object type",
        ),
        (
            json!({ "lists": { "a": 1 } }),
            "`lists.a` field must have string or object type",
        ),
        (
            json!({ "validate_doc_update": 1 }),
            "`validate_doc_update` field must have string type",
        ),
        (
            json!({ "rewrites": {} }),
            "`rewrites` field must have array or string type",
        ),
        (
            json!({ "language": [] }),
            "`language` field must have string type",
        ),
        (
            json!({ "options": [] }),
            "`options` field must have object type",
        ),
        (
            json!({ "options": { "partitioned": "x" } }),
            "`options.partitioned` field must have boolean type",
        ),
        (
            json!({ "options": { "partitioned": true } }),
            "partitioned option cannot be true in a non-partitioned database.",
        ),
        (
            json!({ "_deleted": true, "views": 1 }),
            "`views` field must have object type",
        ),
    ]
}

fn query(map: Value) -> Value {
    json!({ "language": "query", "views": { "a": { "map": map } } })
}

#[tokio::test]
async fn members_of_wrong_types_are_refused_in_couchdbs_words() {
    let server = Running::start().await;
    server.database("db", &json!([])).await;
    for (body, reason) in refused_members() {
        let refused = server.put("/db/_design/d", &body).await;
        assert_eq!(
            refused.error(),
            (400, "invalid_design_doc".to_owned()),
            "{body}"
        );
        assert_eq!(refused.json()["reason"], reason, "{body}");
    }
    let refused = server.put("/db/_design/d", &query(json!(MAP))).await;
    let reason = "`views.a.map` field must have object type";
    assert_eq!(refused.json()["reason"], reason);
    let taken = [
        json!({ "filters": { "a": "function (" }, "validate_doc_update": "function (" }),
        json!({ "language": "erlang", "views": { "a": { "map": "fun" } } }),
        json!({ "views": { "lib": { "x": 1 } }, "shows": { "a": {} }, "rewrites": [] }),
        json!({ "views": { "a": { "map": MAP, "reduce": "_sum " } } }),
        query(json!({ "fields": { "a": "asc" } })),
    ];
    for (at, body) in taken.iter().enumerate() {
        let id = format!("/db/_design/{at}");
        assert_eq!(server.put(&id, body).await.status, 201, "{body}");
    }
}

#[tokio::test]
async fn functions_of_views_that_do_not_compile_are_named() {
    let server = Running::start().await;
    server.database("db", &json!([])).await;
    for (view, kind) in [
        (json!({ "map": "function (doc) {" }), "map"),
        (json!({ "map": "1" }), "map"),
        (json!({ "map": MAP, "reduce": "function (" }), "reduce"),
    ] {
        let body = json!({ "views": { "good": { "map": MAP }, "bad": view } });
        let refused = server.put("/db/_design/d", &body).await;
        assert_eq!(
            refused.error(),
            (400, "compilation_error".to_owned()),
            "{body}"
        );
        let reason = refused.json()["reason"].as_str().unwrap().to_owned();
        let begin = format!("Compilation of the {kind} function in the 'bad' view failed: ");
        assert!(reason.starts_with(&begin), "{reason}");
    }
    let bulk = json!({ "new_edits": false, "docs": [
        { "_id": "_design/x", "_rev": "1-a", "views": 1 },
        { "_id": "ok", "_rev": "1-a" },
    ]});
    let written = server.post("/db/_bulk_docs", &bulk).await.json();
    assert_eq!(written[0]["error"], "invalid_design_doc");
    assert_eq!(written.as_array().unwrap().len(), 1);
    assert_eq!(server.get("/db/ok").await.status, 200);
    assert_eq!(server.get("/db/_design/x").await.status, 404);
}
