//! The cases of the matrix: a file of functions and one list.

use crate::proxy;
use crate::servers::{Pair, Server, Side, Way, until};
use crate::state::{assert_checkpoints, assert_one_checkpoint, assert_same};
use base64::{Engine, engine::general_purpose::STANDARD};
use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use reqwest::Method;
use serde_json::{Value, json};
use std::sync::Arc;

type Run = for<'a> fn(&'a mut Pair) -> LocalBoxFuture<'a, ()>;

pub struct Case {
    pub name: &'static str,
    run: Run,
}

impl Case {
    pub async fn run(&self, way: &'static Way, couchdb: Arc<Server>) {
        let mut pair = Pair::new(way, couchdb).await;
        (self.run)(&mut pair).await;
        pair.end().await;
    }
}

pub const CASES: &[Case] = &[
    Case {
        name: "documents",
        run: |pair| documents(pair).boxed_local(),
    },
    Case {
        name: "conflicts",
        run: |pair| conflicts(pair).boxed_local(),
    },
    Case {
        name: "deletions",
        run: |pair| deletions(pair).boxed_local(),
    },
    Case {
        name: "text attachments",
        run: |pair| text_attachments(pair).boxed_local(),
    },
    Case {
        name: "binary attachments",
        run: |pair| binary_attachments(pair).boxed_local(),
    },
    Case {
        name: "large attachment",
        run: |pair| large_attachment(pair).boxed_local(),
    },
    Case {
        name: "changed attachments",
        run: |pair| changed_attachments(pair).boxed_local(),
    },
    Case {
        name: "conflicting attachments",
        run: |pair| conflicting_attachments(pair).boxed_local(),
    },
    Case {
        name: "doc_ids",
        run: |pair| doc_ids(pair).boxed_local(),
    },
    Case {
        name: "selector",
        run: |pair| selector(pair).boxed_local(),
    },
    Case {
        name: "filter function",
        run: |pair| filter(pair).boxed_local(),
    },
    Case {
        name: "checkpoint resumed",
        run: |pair| checkpoint(pair).boxed_local(),
    },
    Case {
        name: "checkpoint of the other",
        run: |pair| checkpoint_of_the_other(pair).boxed_local(),
    },
    Case {
        name: "continuous",
        run: |pair| continuous(pair).boxed_local(),
    },
    Case {
        name: "document too large",
        run: |pair| too_large(pair).boxed_local(),
    },
    Case {
        name: "connections cut",
        run: |pair| cut(pair).boxed_local(),
    },
    Case {
        name: "kill -9 in the middle",
        run: |pair| kill(pair).boxed_local(),
    },
    Case {
        name: "equal edits on both",
        run: |pair| equal_edits(pair).boxed_local(),
    },
];

fn attachment(content_type: &str, bytes: &[u8]) -> Value {
    json!({ "content_type": content_type, "data": STANDARD.encode(bytes) })
}

/// Bytes that do not compress, the same in every run.
fn noise(bytes: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    (0..bytes).map(next).collect()
}

async fn documents(pair: &mut Pair) {
    let numbered = (0..200).map(
        |at| json!({ "_id": format!("n{at}"), "at": at, "text": "ü\u{1f600}\\\"".repeat(at) }),
    );
    let mut docs: Vec<Value> = numbered.collect();
    docs.push(json!({ "_id": "ü +/%&?", "x": { "deep": [[[{ "a": null }]]], "n": [0, -1, 1.5, 1e300, 12345678901234567890_u64] } }));
    docs.push(
        json!({ "_id": "_design/app", "filters": { "f": "function(doc) { return true; }" } }),
    );
    let written = pair.write(&json!(docs)).await;
    let second = |row: &Value| json!({ "_id": row["id"], "_rev": row["rev"], "second": true });
    let again: Vec<Value> = written
        .as_array()
        .expect("rows")
        .iter()
        .take(50)
        .map(second)
        .collect();
    pair.write(&json!(again)).await;
    let history = pair.replicate(json!({})).await;
    assert_eq!(
        (&history["docs_written"], &history["doc_write_failures"]),
        (&json!(202), &json!(0))
    );
    assert_same(pair, None).await;
}

async fn conflicts(pair: &mut Pair) {
    let leaf = |branch: &str, end: u64, deleted: bool| {
        let ids: Vec<String> = (1..=end)
            .rev()
            .map(|at| {
                if at == 1 {
                    "aa".into()
                } else {
                    format!("{branch}{at}")
                }
            })
            .collect();
        let mut doc = json!({ "_id": "c", "branch": branch, "_rev": format!("{end}-{}", ids[0]), "_revisions": { "start": end, "ids": ids } });
        if deleted {
            doc["_deleted"] = true.into();
        }
        doc
    };
    pair.write_revisions(&json!([
        leaf("b", 3, false),
        leaf("c", 3, false),
        leaf("d", 5, true),
        leaf("e", 2, false)
    ]))
    .await;
    pair.replicate(json!({})).await;
    assert_same(pair, None).await;
    // Another branch, and an end for one that is there.
    pair.write_revisions(&json!([leaf("f", 9, false), leaf("b", 6, true)]))
        .await;
    pair.replicate(json!({})).await;
    assert_same(pair, None).await;
}

async fn deletions(pair: &mut Pair) {
    let docs: Vec<Value> = (0..40)
        .map(|at| json!({ "_id": format!("d{at}"), "at": at }))
        .collect();
    let written = pair.write(&json!(docs)).await;
    let delete = |row: &Value| json!({ "_id": row["id"], "_rev": row["rev"], "_deleted": true, "why": "kept body" });
    let rows = written.as_array().expect("rows");
    pair.write(&json!(rows.iter().take(10).map(delete).collect::<Vec<_>>()))
        .await;
    pair.replicate(json!({})).await;
    assert_same(pair, None).await;
    pair.write(&json!(
        rows.iter()
            .skip(10)
            .take(10)
            .map(delete)
            .collect::<Vec<_>>()
    ))
    .await;
    pair.write(&json!([{ "_id": "d0", "again": true }])).await;
    pair.replicate(json!({})).await;
    assert_same(pair, None).await;
}

async fn text_attachments(pair: &mut Pair) {
    let text = "a line of text that compresses well\n".repeat(6000);
    let inline = json!({ "a.txt": attachment("text/plain", text.as_bytes()), "empty.txt": attachment("text/plain", b""), "j.json": attachment("application/json", b"{}") });
    pair.write(&json!([{ "_id": "a", "_attachments": inline }, { "_id": "b" }]))
        .await;
    let path = format!("/{}/c/ü%20b.html", pair.name);
    pair.source()
        .attach(&path, "text/html; charset=utf-8", text.into_bytes())
        .await;
    let history = pair.replicate(json!({})).await;
    assert_eq!(history["docs_written"], 3);
    assert_same(pair, None).await;
}

async fn binary_attachments(pair: &mut Pair) {
    let files = json!({ "a.bin": attachment("application/octet-stream", &noise(100_000)), "b.png": attachment("image/png", &noise(70_000)), "empty": attachment("image/png", b"") });
    let many = (0..20).map(|at| {
        (
            format!("f{at}"),
            attachment("image/jpeg", &noise(3_000 + at)),
        )
    });
    let many: serde_json::Map<String, Value> = many.collect();
    pair.write(
        &json!([{ "_id": "a", "_attachments": files }, { "_id": "many", "_attachments": many }]),
    )
    .await;
    pair.replicate(json!({})).await;
    assert_same(pair, None).await;
}

async fn large_attachment(pair: &mut Pair) {
    let path = format!("/{}/large/film.mp4", pair.name);
    pair.source()
        .attach(&path, "video/mp4", noise(24_000_000))
        .await;
    pair.write(&json!([{ "_id": "z" }])).await;
    pair.replicate(json!({})).await;
    assert_same(pair, None).await;
}

async fn changed_attachments(pair: &mut Pair) {
    let files = json!({ "a.txt": attachment("text/plain", b"first first first first first"), "b.bin": attachment("image/png", &noise(50_000)) });
    let written = pair
        .write(&json!([{ "_id": "a", "_attachments": files }]))
        .await;
    pair.replicate(json!({})).await;
    let path = format!(
        "/{}/a/c.txt?rev={}",
        pair.name,
        written[0]["rev"].as_str().expect("a revision")
    );
    let written = pair
        .source()
        .attach(
            &path,
            "text/plain",
            b"third third third third third".to_vec(),
        )
        .await;
    pair.replicate(json!({})).await;
    assert_same(pair, None).await;
    let path = format!(
        "/{}/a/a.txt?rev={}",
        pair.name,
        written["rev"].as_str().expect("a revision")
    );
    pair.source().ok(Method::DELETE, &path, None).await;
    pair.replicate(json!({})).await;
    assert_same(pair, None).await;
}

async fn conflicting_attachments(pair: &mut Pair) {
    let leaf = |rev: &str, text: &[u8]| {
        let files =
            json!({ "a.txt": attachment("text/plain", text), rev: attachment("image/png", text) });
        json!({ "_id": "a", "_rev": format!("2-{rev}"), "_revisions": { "start": 2, "ids": [rev, "aa"] }, "_attachments": files })
    };
    pair.write_revisions(&json!([
        leaf("b1", b"one one one one one"),
        leaf("c2", b"two two two two two")
    ]))
    .await;
    pair.replicate(json!({})).await;
    assert_same(pair, None).await;
}

async fn kinds(pair: &Pair) {
    let design = json!({ "_id": "_design/app", "filters": { "films": "function(doc, req) { return doc.kind === req.query.kind; }" } });
    let docs = (0..30).map(|at| json!({ "_id": format!("k{at:02}"), "kind": if at % 10 == 0 { "film" } else { "book" } }));
    let docs: Vec<Value> = docs.chain([design]).collect();
    pair.write(&json!(docs)).await;
}

const FILMS: &[&str] = &["k00", "k10", "k20"];

async fn doc_ids(pair: &mut Pair) {
    kinds(pair).await;
    pair.replicate(json!({ "doc_ids": FILMS })).await;
    assert_same(pair, Some(FILMS)).await;
}

async fn selector(pair: &mut Pair) {
    kinds(pair).await;
    pair.replicate(json!({ "selector": { "kind": "film" } }))
        .await;
    assert_same(pair, Some(FILMS)).await;
}

async fn filter(pair: &mut Pair) {
    kinds(pair).await;
    pair.replicate(json!({ "filter": "app/films", "query_params": { "kind": "film" } }))
        .await;
    assert_same(pair, Some(FILMS)).await;
}

async fn checkpoint(pair: &mut Pair) {
    let docs: Vec<Value> = (0..700)
        .map(|at| json!({ "_id": format!("{at:04}"), "at": at }))
        .collect();
    pair.write(&json!(docs)).await;
    let first = pair.replicate(json!({})).await;
    let one = assert_one_checkpoint(pair).await;
    let mut end = first["end_last_seq"].clone();
    for round in 0..3 {
        pair.write(&json!([{ "_id": format!("new{round}") }])).await;
        let next = pair.replicate(json!({})).await;
        // CouchDB counts on from the last session.
        let known = next["docs_read"]
            .as_u64()
            .filter(|read| *read == 1 || *read == 701 + round);
        assert!(known.is_some(), "it began anew: {next}");
        assert_eq!(next["start_last_seq"], end);
        end = next["end_last_seq"].clone();
    }
    let last = assert_one_checkpoint(pair).await;
    assert_eq!(last["history"].as_array().map(Vec::len), Some(4), "{last}");
    assert_eq!(one["_id"], last["_id"]);
    assert_eq!(last["history"][3]["session_id"], first["session_id"]);
    assert_same(pair, None).await;
}

/// Both servers have the same id here, so their replications have the same ids, too.
async fn checkpoint_of_the_other(pair: &mut Pair) {
    kinds(pair).await;
    let (one, other) = (pair.way.driver, pair.way.driver.other());
    let replications = [
        json!({}),
        json!({ "selector": { "kind": { "$in": ["film"] } } }),
        json!({ "doc_ids": ["k00", "k10", "s2-0", "s2-1"] }),
        json!({ "filter": "app/films", "query_params": { "kind": "film" } }),
        json!({ "winning_revs_only": true }),
    ];
    for (at, more) in replications.into_iter().enumerate() {
        let first = pair.replicate_by(one, &more).await;
        let mut last = first.clone();
        for (round, driver) in [other, one].into_iter().enumerate() {
            let new = json!({ "_id": format!("s{at}-{round}"), "kind": "film" });
            pair.write(&json!([new])).await;
            let next = pair.replicate_by(driver, &more).await;
            assert_eq!(
                next["start_last_seq"], last["end_last_seq"],
                "{driver} began anew: {more}"
            );
            last = next;
        }
        let checkpoint = assert_checkpoints(pair, at + 1, &last).await;
        let sessions = checkpoint["history"].as_array().expect("a history");
        assert_eq!(sessions.len(), 3, "{checkpoint}");
        assert_eq!(sessions[2]["session_id"], first["session_id"]);
    }
    assert_same(pair, None).await;
}

async fn continuous(pair: &mut Pair) {
    let request = pair.request(&json!({ "continuous": true }), None);
    let driver = Arc::clone(pair.server(pair.way.driver));
    driver.ok(Method::POST, "/_replicate", Some(&request)).await;
    for round in 1..=4_u64 {
        let path = format!("/{}/r{round}/a.txt", pair.name);
        pair.source()
            .attach(
                &path,
                "text/plain",
                b"text text text text text text".to_vec(),
            )
            .await;
        until(&format!("document {round}"), async || {
            pair.target_count().await == round
        })
        .await;
    }
    let mut cancel = request.clone();
    cancel["cancel"] = true.into();
    driver.ok(Method::POST, "/_replicate", Some(&cancel)).await;
    assert_same(pair, None).await;
}

/// CouchDB takes documents of 8,000,000 bytes, this server of 50,000,000.
async fn too_large(pair: &mut Pair) {
    if pair.way.target == Side::Inorder {
        return;
    }
    let text = "x".repeat(9_000_000);
    let docs: Vec<Value> = (0..20)
        .map(|at| json!({ "_id": format!("{at}") }))
        .collect();
    pair.write(&json!(docs)).await;
    pair.write(&json!([{ "_id": "large", "text": text }])).await;
    pair.write(&json!([{ "_id": "z" }])).await;
    let history = pair.replicate(json!({})).await;
    assert_eq!(
        (&history["docs_written"], &history["doc_write_failures"]),
        (&json!(21), &json!(1)),
        "{history}"
    );
    assert_eq!(pair.target_count().await, 21);
}

async fn cut(pair: &mut Pair) {
    let docs: Vec<Value> = (0..300)
        .map(|at| json!({ "_id": format!("{at:04}"), "text": "text ".repeat(40) }))
        .collect();
    pair.write(&json!(docs)).await;
    for at in 0..6 {
        let path = format!("/{}/file{at}/a", pair.name);
        pair.source()
            .attach(&path, "image/png", noise(200_000 + at))
            .await;
    }
    let other = pair.way.driver.other();
    let cuts = vec![
        100, 700, 1_500, 4_000, 9_000, 20_000, 60_000, 150_000, 250_000, 300_000, 350_000, 400_000,
    ];
    let address = proxy::cutting(pair.server(other).address(), cuts).await;
    pair.replicate_until_done(Some(&address)).await;
    assert_same(pair, None).await;
}

async fn kill(pair: &mut Pair) {
    for batch in 0..6 {
        let docs = (0..500)
            .map(|at| json!({ "_id": format!("{batch}-{at:04}"), "text": "text ".repeat(100) }));
        pair.write(&json!(docs.collect::<Vec<_>>())).await;
    }
    for at in 0..8 {
        let path = format!("/{}/file{at}/a", pair.name);
        pair.source()
            .attach(&path, "image/png", noise(300_000 + at))
            .await;
    }
    let request = pair.request(&json!({}), None);
    let driver = Arc::clone(pair.server(pair.way.driver));
    let first = tokio::spawn(async move {
        driver
            .send(Method::POST, "/_replicate", Some(&request))
            .await
    });
    until(&"the first documents", async || {
        pair.target_count().await > 200
    })
    .await;
    pair.inorder.kill();
    // Whether it survives the kill depends on the driver.
    let _ = first.await.expect("no panic");
    pair.replicate_until_done(None).await;
    assert_same(pair, None).await;
}

async fn equal_edits(pair: &mut Pair) {
    for side in [Side::Couchdb, Side::Inorder] {
        let (server, db) = (pair.server(side), &pair.name);
        let file =
            json!({ "a.txt": attachment("text/plain", b"text text text text text text text") });
        let body = json!({ "x": [1, 2.5, "ü", 3e-5], "_attachments": file });
        let written = server
            .ok(Method::PUT, &format!("/{db}/a"), Some(&body))
            .await;
        let path = format!(
            "/{db}/a/b.bin?rev={}",
            written["rev"].as_str().expect("a revision")
        );
        let written = server
            .attach(&path, "application/octet-stream", noise(1000))
            .await;
        let body = json!({ "_rev": written["rev"], "_deleted": true, "x": 1 });
        server
            .ok(Method::PUT, &format!("/{db}/a"), Some(&body))
            .await;
    }
    // A node of a cluster that is behind may take the revision for a missing one. It is the same one then.
    let is_cluster = pair.is_cluster().await;
    let history = pair.replicate(json!({})).await;
    let written = history["docs_written"].as_u64().unwrap_or(0);
    assert!(written == 0 || is_cluster, "{history}");
    assert_same(pair, None).await;
}
