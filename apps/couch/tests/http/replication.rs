//! Two servers become one another's copies, also over connections that break.

use crate::client::{Running, until};
use crate::proxy;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// All leaves of all documents, and what `_all_docs` says.
async fn state(server: &Running, db: &str) -> (BTreeMap<String, Vec<String>>, Value) {
    let changes = server
        .get(&format!("/{db}/_changes?style=all_docs"))
        .await
        .json();
    let mut leaves = BTreeMap::new();
    for row in changes["results"].as_array().expect("results") {
        let revs = row["changes"].as_array().expect("changes").iter();
        let mut revs: Vec<String> = revs
            .map(|change| change["rev"].as_str().unwrap().to_owned())
            .collect();
        revs.sort();
        leaves.insert(row["id"].as_str().unwrap().to_owned(), revs);
    }
    let all = server
        .get(&format!(
            "/{db}/_all_docs?include_docs=true&attachments=true"
        ))
        .await
        .json();
    (leaves, all["rows"].clone())
}

async fn replicate(server: &Running, source: &str, target: &str) -> (u16, Value) {
    let body = json!({ "source": source, "target": target, "create_target": true });
    let answer = server.post("/_replicate", &body).await;
    (answer.status.as_u16(), answer.json())
}

#[tokio::test]
async fn the_same_edit_on_two_servers_is_no_conflict() {
    let (one, two) = (Running::start().await, Running::start().await);
    let attachment = json!({ "a.txt": { "content_type": "text/plain", "data": "aGVsbG8=" } });
    let document = json!({ "_id": "a", "x": 1.0, "_attachments": attachment });
    for server in [&one, &two] {
        let written = server.database("db", &json!([document.clone()])).await;
        let rev = written[0]["rev"].clone();
        server
            .put("/db/a", &json!({ "_rev": rev, "x": [1, 2.5, "ü"] }))
            .await;
    }
    for (source, target) in [
        ("db".to_owned(), format!("{}/db", two.url)),
        (format!("{}/db", two.url), "db".to_owned()),
    ] {
        let (status, result) = replicate(&one, &source, &target).await;
        assert_eq!((status, &result["ok"]), (200, &json!(true)));
        assert_eq!(result["history"][0]["docs_written"], 0);
    }
    let document = one.get("/db/a?conflicts=true").await.json();
    assert_eq!(document["_conflicts"], Value::Null);
    assert_eq!(state(&one, "db").await, state(&two, "db").await);
}

#[tokio::test]
async fn a_replication_begins_where_the_last_one_ended() {
    let (one, two) = (Running::start().await, Running::start().await);
    let docs: Vec<Value> = (0..700)
        .map(|at| json!({ "_id": format!("{at}"), "at": at }))
        .collect();
    one.database("db", &json!(docs)).await;
    let target = format!("{}/copy", two.url);
    let first = replicate(&one, "db", &target).await.1;
    assert_eq!(first["history"][0]["docs_written"], 700);
    one.put("/db/new", &json!({})).await;
    let second = replicate(&one, "db", &target).await.1;
    // The counts go on, too.
    assert_eq!(second["history"][0]["missing_checked"], 701);
    assert_eq!(
        second["history"][0]["start_last_seq"],
        first["source_last_seq"]
    );
    let third = replicate(&one, "db", &target).await.1;
    assert_eq!(third["no_changes"], true);
    assert_eq!(state(&one, "db").await, state(&two, "copy").await);
    let checkpoints = two.get("/copy/_local_docs?include_docs=true").await.json();
    let checkpoint = &checkpoints["rows"][0]["doc"];
    assert_eq!(checkpoint["source_last_seq"], second["source_last_seq"]);
    assert_eq!(checkpoint["history"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn attachments_of_any_name_are_replicated() {
    let (one, two) = (Running::start().await, Running::start().await);
    one.database("db", &json!([{ "_id": "other" }])).await;
    let names = [
        "a\nb",
        "a\r\nX: y",
        "a\u{1}b",
        "ab",
        r#"a"b\"#,
        " c ",
        "\u{85}",
    ];
    let attachments = names.iter().enumerate().map(|(at, name)| {
        let data = ["MA==", "MQ==", "Mg==", "Mw==", "NA==", "NQ==", "Ng=="][at];
        ((*name).to_owned(), json!({ "data": data }))
    });
    let attachments = Value::Object(attachments.collect());
    let written = one
        .put("/db/a", &json!({ "_attachments": attachments }))
        .await;
    assert_eq!(written.status, 201);
    for (source, target) in [
        ("db".to_owned(), format!("{}/push", two.url)),
        ("db".to_owned(), "copy".to_owned()),
    ] {
        let (status, result) = replicate(&one, &source, &target).await;
        assert_eq!(status, 200, "{result}");
        assert_eq!(result["history"][0]["docs_written"], 2, "{result}");
    }
    assert_eq!(state(&one, "db").await, state(&two, "push").await);
    assert_eq!(state(&one, "db").await, state(&one, "copy").await);
}

#[tokio::test]
async fn documents_that_no_url_leads_to_are_replicated_with_their_attachments() {
    let (one, two) = (Running::start().await, Running::start().await);
    let attachments = json!({ "a.txt": { "content_type": "text/plain", "data": "aGVsbG8=" } });
    let document = |id: &str| json!({ "_id": id, "_attachments": attachments });
    one.database("db", &json!([document("."), document(".."), document("a")]))
        .await;
    for (source, target) in [
        ("db".to_owned(), format!("{}/push", two.url)),
        (format!("{}/push", two.url), "pull".to_owned()),
        ("db".to_owned(), "copy".to_owned()),
    ] {
        let (status, result) = replicate(&one, &source, &target).await;
        assert_eq!(status, 200, "{result}");
        assert_eq!(result["history"][0]["docs_written"], 3, "{result}");
    }
    let here = state(&one, "db").await;
    assert_eq!(here, state(&two, "push").await);
    assert_eq!(here, state(&one, "pull").await);
    assert_eq!(here, state(&one, "copy").await);
}

#[tokio::test]
async fn some_documents_are_replicated_and_attachments_go_with_them() {
    let (one, two) = (Running::start().await, Running::start().await);
    one.database(
        "db",
        &json!([{ "_id": "a", "kind": "film" }, { "_id": "b" }]),
    )
    .await;
    let large = vec![7_u8; 3_000_000];
    one.ask("PUT", "/db/c/large")
        .body("image/x", large.clone())
        .send()
        .await;
    let ask = json!({ "source": format!("{}/db", one.url), "target": "copy", "create_target": true, "doc_ids": ["a", "c"] });
    let result = two.post("/_replicate", &ask).await;
    assert_eq!(
        result.json()["history"][0]["docs_written"],
        2,
        "{}",
        result.text()
    );
    assert_eq!(two.get("/copy/b").await.status, 404);
    assert!(two.get("/copy/c/large").await.body == large);
    // The next revision brings no attachment that is there.
    let rev = one.get("/db/c").await.json()["_rev"].clone();
    let attachments = json!({ "large": { "stub": true, "revpos": 1 } });
    one.put(
        "/db/c",
        &json!({ "_rev": rev, "x": 1, "_attachments": attachments }),
    )
    .await;
    let result = two.post("/_replicate", &ask).await.json();
    assert_eq!(result["history"][0]["docs_written"], 3);
    assert!(two.get("/copy/c/large").await.body == large);
}

#[tokio::test]
async fn what_cannot_be_replicated_says_why() {
    let server = Running::start().await;
    server.database("db", &json!([])).await;
    let gone = json!({ "source": "none", "target": "db" });
    let gone = server.post("/_replicate", &gone).await;
    let missing = (500, "db_not_found".to_owned());
    assert_eq!(gone.error(), missing, "{}", gone.text());
    let elsewhere = json!({ "source": "db", "target": format!("{}/none", server.url) });
    let elsewhere = server.post("/_replicate", &elsewhere).await;
    assert_eq!(elsewhere.error(), missing);
    let nobody =
        json!({ "source": "db", "target": "http://127.0.0.1:1/db", "retries_per_request": 1 });
    let nobody = server.post("/_replicate", &nobody).await;
    assert_eq!(nobody.error(), (500, "error".into()));
    let cancel = json!({ "source": "db", "target": "b", "cancel": true });
    assert_eq!(server.post("/_replicate", &cancel).await.status, 404);
}

#[tokio::test]
async fn a_continuous_replication_follows_until_it_is_cancelled() {
    let server = Running::start().await;
    server.database("db", &json!([{ "_id": "a" }])).await;
    let ask =
        json!({ "source": "db", "target": "copy", "create_target": true, "continuous": true });
    let begun = server.post("/_replicate", &ask).await;
    assert_eq!(begun.status, 202);
    let count = async || {
        server.get("/copy").await.json()["doc_count"]
            .as_u64()
            .unwrap_or(0)
    };
    until("the first document", async || count().await == 1).await;
    server.put("/db/b", &json!({})).await;
    until("the second document", async || count().await == 2).await;
    let tasks = server.get("/_active_tasks").await.json();
    assert_eq!(
        (&tasks[0]["type"], &tasks[0]["continuous"]),
        (&json!("replication"), &json!(true))
    );
    let again = server.post("/_replicate", &ask).await;
    assert_eq!(
        again.json()["_local_id"],
        begun.json()["_local_id"],
        "it runs already"
    );
    let mut cancel = ask.clone();
    cancel["cancel"] = true.into();
    assert_eq!(server.post("/_replicate", &cancel).await.status, 200);
    until("no task", async || {
        server.get("/_active_tasks").await.json() == json!([])
    })
    .await;
}

/// An operation on one of the two databases.
#[derive(Debug, Clone)]
enum Edit {
    Put { document: u8, value: u8 },
    Attach { document: u8, bytes: u16 },
    Delete { document: u8 },
}

fn edits() -> impl Strategy<Value = Vec<(bool, Edit)>> {
    let edit = prop_oneof![
        4 => (0..8_u8, any::<u8>()).prop_map(|(document, value)| Edit::Put { document, value }),
        1 => (0..8_u8, 0..9000_u16).prop_map(|(document, bytes)| Edit::Attach { document, bytes }),
        1 => (0..8_u8).prop_map(|document| Edit::Delete { document }),
    ];
    prop::collection::vec((any::<bool>(), edit), 1..25)
}

async fn apply(server: &Running, edit: &Edit) {
    let (Edit::Put { document, .. } | Edit::Attach { document, .. } | Edit::Delete { document }) =
        edit;
    let path = format!("/db/doc{document}");
    let current = server.get(&path).await.json();
    let rev = current["_rev"]
        .as_str()
        .map(|rev| format!("?rev={rev}"))
        .unwrap_or_default();
    match edit {
        Edit::Put { value, .. } => {
            server
                .put(&format!("{path}{rev}"), &json!({ "value": value }))
                .await;
        }
        Edit::Attach { bytes, .. } => {
            let data = vec![b'x'; usize::from(*bytes)];
            server
                .ask("PUT", &format!("{path}/file{rev}"))
                .body("image/x", data)
                .send()
                .await;
        }
        Edit::Delete { .. } => {
            server.delete(&format!("{path}{rev}")).await;
        }
    }
}

async fn converge(edits: Vec<(bool, Edit)>, cuts: Vec<usize>) -> Result<(), TestCaseError> {
    let (one, two) = (Running::start().await, Running::start().await);
    for server in [&one, &two] {
        server.database("db", &json!([])).await;
    }
    let address = two.url.trim_start_matches("http://").to_owned();
    let through = format!("http://{}/db", proxy::cutting(address, cuts).await);
    for (at, (is_first, edit)) in edits.iter().enumerate() {
        apply(if *is_first { &one } else { &two }, edit).await;
        if at % 7 == 3 {
            // Whether it succeeds or is cut short doesn't matter.
            replicate(&one, &through, "db").await;
        }
    }
    for (source, target) in [
        ("db", through.as_str()),
        (through.as_str(), "db"),
        ("db", &through),
    ] {
        let mut result = replicate(&one, source, target).await;
        for _ in 0..30 {
            if result.0 == 200 {
                break;
            }
            result = replicate(&one, source, target).await;
        }
        prop_assert_eq!(result.0, 200, "{}", result.1);
    }
    prop_assert_eq!(state(&one, "db").await, state(&two, "db").await);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, max_shrink_iters: 20, ..ProptestConfig::default() })]

    #[test]
    fn interrupted_replications_converge(edits in edits(), cuts in prop::collection::vec(1..20_000_usize, 0..12)) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(converge(edits, cuts))?;
    }
}

/// The ids of the documents in a database but design documents.
async fn ids(server: &Running, db: &str) -> Vec<String> {
    let rows = server.get(&format!("/{db}/_all_docs")).await.json();
    let rows = rows["rows"].as_array().into_iter().flatten();
    let ids = rows.map(|row| row["id"].as_str().unwrap().to_owned());
    ids.filter(|id| !id.starts_with("_design/")).collect()
}

/// Puts a design document in the place of the one there.
async fn put_design(server: &Running, mut design: Value) {
    let known = server.get("/db/_design/app").await.json();
    if known["_rev"].is_string() {
        design["_rev"] = known["_rev"].clone();
    }
    let put = server.put("/db/_design/app", &design).await;
    assert_eq!(put.status, 201, "{}", put.text());
}

/// Design documents whose functions mean one kind of film each, written in each way in which a function may be.
fn designs_of_kind(kind: &str) -> Vec<(&'static str, Value)> {
    let filter = format!("doc => doc.kind === '{kind}'");
    let map = format!("doc => {{ if (doc.kind === '{kind}') emit(1) }}");
    let module = format!("exports.kind = '{kind}'");
    let uses = "doc => doc.kind === require('lib/kind').kind";
    vec![
        ("app/f", json!({ "filters": { "f": filter } })),
        ("_view", json!({ "views": { "v": { "map": map } } })),
        (
            "app/f",
            json!({ "filters": { "f": uses }, "lib": { "kind": module } }),
        ),
    ]
}

#[tokio::test]
async fn a_function_that_changed_leaves_nothing_out() {
    let docs = json!([{ "_id": "a", "kind": "old" }, { "_id": "b", "kind": "new" }]);
    let pairs = designs_of_kind("old")
        .into_iter()
        .zip(designs_of_kind("new"));
    for ((filter, old), (_, new)) in pairs {
        for is_remote in [false, true] {
            let (one, two) = (Running::start().await, Running::start().await);
            one.database("db", &docs).await;
            let url = format!("{}/db", one.url);
            let (server, source, target) = match is_remote {
                true => (&two, url.as_str(), "copy".to_owned()),
                false => (&one, "db", format!("{}/copy", two.url)),
            };
            let ask = json!({
                "source": source, "target": target, "create_target": true,
                "filter": filter, "query_params": { "view": "app/v" },
            });
            let replicate = || server.post("/_replicate", &ask);
            put_design(&one, old.clone()).await;
            assert_eq!(replicate().await.json()["docs_written"], Value::Null);
            assert_eq!(ids(&two, "copy").await, ["a"], "{filter}");
            // The same function continues at its checkpoint, also in another revision of its design document.
            let mut other = old.clone();
            other["language"] = "javascript".into();
            if !old.to_string().contains("require") {
                put_design(&one, other).await;
            }
            assert_eq!(replicate().await.json()["no_changes"], true, "{filter}");
            put_design(&one, new.clone()).await;
            replicate().await;
            assert_eq!(ids(&two, "copy").await, ["a", "b"], "{filter} {is_remote}");
            // The first function again: its checkpoint is still there.
            put_design(&one, old.clone()).await;
            assert_eq!(replicate().await.json()["no_changes"], true, "{filter}");
        }
    }
}

#[tokio::test]
async fn a_continuous_replication_notices_that_its_function_changed() {
    let (one, two) = (Running::start().await, Running::start().await);
    let docs = json!([{ "_id": "a", "kind": "old" }, { "_id": "b", "kind": "new" }]);
    one.database("db", &docs).await;
    let old = designs_of_kind("old").remove(0).1;
    put_design(&one, old).await;
    let ask = json!({
        "source": "db", "target": format!("{}/copy", two.url), "create_target": true,
        "continuous": true, "filter": "app/f",
    });
    let started = one.post("/_replicate", &ask).await.json();
    let wait_for = async |expected: &[&str]| {
        let what = format!("the documents {expected:?}");
        until(&what, async || ids(&two, "copy").await == expected).await;
    };
    wait_for(&["a"]).await;
    put_design(&one, designs_of_kind("new").remove(0).1).await;
    one.put("/db/c", &json!({ "kind": "new" })).await;
    wait_for(&["a", "b", "c"]).await;
    let again = one.post("/_replicate", &ask).await.json();
    assert_ne!(again["_local_id"], started["_local_id"]);
    let mut cancel = json!({ "replication_id": again["_local_id"], "cancel": true });
    assert_eq!(one.post("/_replicate", &cancel).await.status, 200);
    cancel["replication_id"] = "none".into();
    assert_eq!(one.post("/_replicate", &cancel).await.status, 404);
}

#[tokio::test]
async fn replications_reach_allowed_hosts_only() {
    let (one, two) = (Running::start().await, Running::start().await);
    two.database("films", &json!([{ "_id": "a" }])).await;
    let allowed = "/_node/_local/_config/replicator/allowed_hosts";
    let port = two.url.rsplit_once(':').unwrap().1.to_owned();
    let closed = "http://127.0.0.1:9/films";
    let mut at = 0;
    let mut ask = async |source: &str, target: &str| {
        at += 1;
        let body = json!({ "source": source, "target": target.replace("NEW", &format!("new{at}")), "create_target": true });
        one.post("/_replicate", &body).await
    };
    let there = format!("{}/films", two.url);
    for hosts in [
        format!("127.0.0.1:{port}"),
        "couch.example.com, 127.0.0.1".to_owned(),
        String::new(),
    ] {
        assert_eq!(one.put(allowed, &json!(hosts)).await.status, 200);
        let answer = ask(&there, "NEW").await;
        assert_eq!(answer.status, 200, "{hosts}: {}", answer.text());
    }
    assert_eq!(
        one.put(allowed, &json!(format!("127.0.0.1:{port}")))
            .await
            .status,
        200
    );
    // Open and closed ports, names and addresses get the same answer at once.
    let own = format!("{}/films", one.url);
    for refused in [
        closed,
        &own,
        "http://localhost:22/x",
        "http://user:secret@[::1]:22/x",
        "http://169.254.169.254/x",
        "https://nowhere.invalid/x",
    ] {
        for answer in [
            ask(refused, "NEW").await,
            ask("films", refused).await,
            ask(&there, refused).await,
        ] {
            assert_eq!(answer.error(), (403, "forbidden".into()), "{refused}");
            let reason = answer.json()["reason"].to_string();
            assert!(
                reason.contains("allowed_hosts") && !reason.contains("secret"),
                "{reason}"
            );
        }
    }
    // Documents of `_replicator` as well.
    one.put("/_replicator", &json!({})).await;
    let document = json!({ "source": closed, "target": "films", "create_target": true });
    assert_eq!(one.put("/_replicator/r", &document).await.status, 201);
    until("the refusal", async || {
        let answer = one.get("/_scheduler/docs/_replicator/r").await;
        answer.text().contains("allowed_hosts")
    })
    .await;
}
