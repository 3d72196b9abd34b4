//! What both sides must have in common.

use crate::servers::{Pair, Server};
use reqwest::Method;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Documents beyond this number are compared by their leaf revisions only.
const READ_MAX: usize = 400;

/// The leaf revisions of all documents.
async fn leaves(server: &Server, db: &str) -> BTreeMap<String, Vec<String>> {
    let changes = server
        .ok(Method::GET, &format!("/{db}/_changes?style=all_docs"), None)
        .await;
    let rows = changes["results"].as_array().expect("results");
    let leaves = rows.iter().map(|row| {
        let revs = row["changes"].as_array().expect("changes").iter();
        let mut revs: Vec<String> = revs.map(|it| it["rev"].to_string()).collect();
        revs.sort();
        (row["id"].as_str().expect("an id").to_owned(), revs)
    });
    leaves.collect()
}

/// All leaves of a document with their histories and attachments.
async fn document(server: &Server, db: &str, id: &str) -> Vec<Value> {
    let id = id
        .replace('%', "%25")
        .replace('/', "%2F")
        .replace('+', "%2B")
        .replace(' ', "%20")
        .replace('?', "%3F");
    let id = id.replace("_design%2F", "_design/");
    let path =
        format!("/{db}/{id}?open_revs=all&revs=true&attachments=true&att_encoding_info=true");
    let found = server.ok(Method::GET, &path, None).await;
    let mut found = found.as_array().expect("revisions").clone();
    found.sort_by_key(|one| one["ok"]["_rev"].to_string());
    found
}

/// Checks that the target has what the source has of these documents, or of all.
pub async fn assert_same(pair: &Pair, only: Option<&[&str]>) {
    let (source, target) = (pair.source(), pair.target());
    let mut expected = leaves(source, &pair.name).await;
    if let Some(only) = only {
        expected.retain(|id, _| only.contains(&id.as_str()));
    }
    let found = leaves(target, &pair.name).await;
    assert_eq!(
        expected.keys().collect::<Vec<_>>(),
        found.keys().collect::<Vec<_>>(),
        "the documents differ"
    );
    assert_eq!(expected, found, "the leaf revisions differ");
    for id in expected.keys().take(READ_MAX) {
        let [expected, found] = [
            document(source, &pair.name, id).await,
            document(target, &pair.name, id).await,
        ];
        assert!(
            expected == found,
            "{id} differs:\n{}\n{}",
            short(&expected),
            short(&found)
        );
    }
}

fn short(revisions: &[Value]) -> String {
    let text = serde_json::to_string(revisions).expect("JSON");
    text.chars().take(1500).collect()
}

/// The ids of the checkpoints in a database.
async fn checkpoint_ids(server: &Server, db: &str) -> BTreeSet<String> {
    let all = server
        .ok(
            Method::GET,
            &format!("/{db}/_local_docs?include_docs=true"),
            None,
        )
        .await;
    let rows = all["rows"].as_array().expect("rows").iter();
    let checkpoints = rows.filter(|row| row["doc"]["history"].is_array());
    checkpoints
        .map(|row| row["id"].as_str().expect("an id").to_owned())
        .collect()
}

/// Some checkpoints of a database, by id. Each is read by itself: a list of a cluster may be of a node that is behind.
async fn checkpoints(server: &Server, db: &str, ids: &BTreeSet<String>) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    for id in ids {
        let mut doc = server.ok(Method::GET, &format!("/{db}/{id}"), None).await;
        // Each side counts its own writes.
        doc.as_object_mut().expect("a document").remove("_rev");
        found.insert(id.clone(), doc);
    }
    found
}

/// Checks that both sides have the same checkpoint; returns it.
pub async fn assert_one_checkpoint(pair: &Pair) -> Value {
    let all = same_checkpoints(pair, 1).await;
    all.into_values().next().expect("one")
}

/// Checks that both sides have the same checkpoints; returns the one of a session.
pub async fn assert_checkpoints(pair: &Pair, count: usize, session: &Value) -> Value {
    let all = same_checkpoints(pair, count).await;
    let mut all = all.into_values();
    let found = all.find(|one| one["session_id"] == session["session_id"]);
    found.expect("the checkpoint of the last session")
}

async fn same_checkpoints(pair: &Pair, count: usize) -> BTreeMap<String, Value> {
    let mut ids = checkpoint_ids(pair.source(), &pair.name).await;
    ids.append(&mut checkpoint_ids(pair.target(), &pair.name).await);
    let [one, other] = [
        checkpoints(pair.source(), &pair.name, &ids).await,
        checkpoints(pair.target(), &pair.name, &ids).await,
    ];
    assert_eq!(one, other, "the checkpoints differ");
    assert_eq!(one.len(), count, "{one:?}");
    one
}
