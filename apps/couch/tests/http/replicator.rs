//! Replications that documents of `_replicator` databases describe.

use crate::client::{Answer, Running, later, until};
use inorder_couch::auth::Auth;
use inorder_couch::config::Lifetime;
use inorder_couch::http::ServerSettings;
use inorder_couch::store;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

/// A server with a `_replicator` database, and a database with a document.
async fn server() -> Running {
    let server = Running::start().await;
    server.database("_replicator", &json!([])).await;
    server.database("db", &json!([{ "_id": "a" }])).await;
    server
}

fn document(target: &str) -> Value {
    json!({ "source": "db", "target": target, "create_target": true })
}

fn continuous(target: &str) -> Value {
    let mut document = document(target);
    document["continuous"] = true.into();
    document
}

async fn put(server: &Running, id: &str, document: &Value) -> Answer {
    let put = server.put(&format!("/_replicator/{id}"), document).await;
    assert_eq!(put.status, 201, "{}", put.text());
    put
}

/// Waits until the scheduler shows a document in a state, and returns what it shows.
async fn until_state(server: &Running, id: &str, state: &str) -> Value {
    let path = format!("/_scheduler/docs/_replicator/{id}");
    until(&format!("{id} {state}"), async || {
        server.get(&path).await.json()["state"] == state
    })
    .await;
    server.get(&path).await.json()
}

async fn until_has(server: &Running, path: &str) {
    until(path, async || server.get(path).await.status == 200).await;
}

async fn jobs(server: &Running) -> Vec<Value> {
    let jobs = server.get("/_scheduler/jobs").await.json();
    jobs["jobs"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_completed_replication_is_noted_in_its_document() {
    let server = server().await;
    put(&server, "once", &document("copy")).await;
    let shown = until_state(&server, "once", "completed").await;
    assert_eq!(
        (&shown["error_count"], &shown["id"]),
        (&json!(0), &Value::Null)
    );
    assert_eq!(shown["info"]["docs_written"], 1);
    let written = server.get("/_replicator/once").await.json();
    assert_eq!(written["_replication_state"], "completed");
    assert_eq!(written["owner"], Value::Null);
    assert_eq!(written["_replication_state_time"], shown["last_updated"]);
    let stats = &written["_replication_stats"];
    assert_eq!(
        (
            &stats["revisions_checked"],
            &stats["missing_revisions_found"]
        ),
        (&json!(1), &json!(1))
    );
    assert_eq!(stats["start_time"], shown["start_time"]);
    assert_eq!(server.get("/copy/a").await.status, 200);
    until("no job", async || jobs(&server).await.is_empty()).await;
}

#[tokio::test]
async fn a_deleted_document_ends_its_replication() {
    let server = server().await;
    let rev = put(&server, "ever", &continuous("copy")).await.json()["rev"].clone();
    let shown = until_state(&server, "ever", "running").await;
    until_has(&server, "/copy/a").await;
    let job = server
        .get(&format!(
            "/_scheduler/jobs/{}",
            shown["id"].as_str().unwrap()
        ))
        .await;
    assert_eq!(job.json()["doc_id"], "ever", "{}", job.text());
    let tasks = server.get("/_active_tasks").await.json();
    until("the counts", async || {
        server.get("/_active_tasks").await.json()[0]["docs_written"] == 1
    })
    .await;
    assert_eq!(tasks[0]["replication_id"], shown["id"]);
    // The document stays as it was written.
    assert_eq!(server.get("/_replicator/ever").await.json()["_rev"], rev);
    let path = format!("/_replicator/ever?rev={}", rev.as_str().unwrap());
    assert_eq!(server.delete(&path).await.status, 200);
    until("no job", async || jobs(&server).await.is_empty()).await;
    until("no task", async || {
        server.get("/_active_tasks").await.json() == json!([])
    })
    .await;
    assert_eq!(
        server.get("/_scheduler/docs/_replicator/ever").await.status,
        404
    );
}

#[tokio::test]
async fn an_edited_document_starts_another_replication() {
    let server = server().await;
    let rev = put(&server, "ever", &continuous("copy")).await.json()["rev"].clone();
    let first = until_state(&server, "ever", "running").await;
    let mut edited = continuous("other");
    edited["_rev"] = rev;
    put(&server, "ever", &edited).await;
    until_has(&server, "/other/a").await;
    let second = until_state(&server, "ever", "running").await;
    assert_ne!(first["id"], second["id"]);
    assert_eq!(jobs(&server).await.len(), 1);
    server.put("/db/b", &json!({})).await;
    until_has(&server, "/other/b").await;
    assert_eq!(server.get("/copy/b").await.status, 404);
}

#[tokio::test]
async fn a_completed_document_that_is_written_again_is_replicated_again() {
    let server = server().await;
    put(&server, "once", &document("copy")).await;
    for round in 1..=5 {
        // The next version is written as soon as the server has written the state.
        let mut completed = json!(null);
        until("the state", async || {
            completed = server.get("/_replicator/once").await.json();
            completed["_replication_state"] == "completed"
        })
        .await;
        let path = format!("/db/{round}");
        assert_eq!(server.put(&path, &json!({})).await.status, 201);
        let mut again = document("copy");
        again["_rev"] = completed["_rev"].clone();
        put(&server, "once", &again).await;
        until_has(&server, &format!("/copy/{round}")).await;
    }
}

#[tokio::test]
async fn a_cancelled_document_that_is_written_again_is_replicated_again() {
    let server = server().await;
    let rev = put(&server, "ever", &continuous("copy")).await.json()["rev"].clone();
    let job = until_state(&server, "ever", "running").await["id"].clone();
    let cancel = json!({ "replication_id": job, "cancel": true });
    assert_eq!(server.post("/_replicate", &cancel).await.status, 200);
    assert!(jobs(&server).await.is_empty());
    let mut again = continuous("copy");
    again["_rev"] = rev;
    put(&server, "ever", &again).await;
    until_state(&server, "ever", "running").await;
}

#[tokio::test]
async fn a_request_for_the_replication_of_a_document_joins_it() {
    let server = server().await;
    put(&server, "ever", &continuous("copy")).await;
    let job = until_state(&server, "ever", "running").await["id"].clone();
    let mut request = continuous("copy");
    request["worker_batch_size"] = 7.into();
    let joined = server.post("/_replicate", &request).await;
    assert_eq!(joined.status, 202);
    assert_eq!(joined.json()["_local_id"], job);
    let jobs = jobs(&server).await;
    assert_eq!((jobs.len(), &jobs[0]["doc_id"]), (1, &json!("ever")));
}

#[tokio::test]
async fn a_second_document_for_the_same_replication_fails() {
    let server = server().await;
    put(&server, "one", &continuous("copy")).await;
    until_state(&server, "one", "running").await;
    put(&server, "two", &continuous("copy")).await;
    let shown = until_state(&server, "two", "failed").await;
    let reason = shown["info"]["error"].as_str().unwrap();
    assert!(
        reason.ends_with("triggered by document `one` from db `_replicator`"),
        "{reason}"
    );
    let written = server.get("/_replicator/two").await.json();
    assert_eq!(written["_replication_state_reason"], reason);
    let failed = server.get("/_scheduler/docs?states=failed").await.json();
    assert_eq!(failed["docs"].as_array().unwrap().len(), 1, "{failed}");
    assert_eq!(failed["total_rows"], 2);
}

#[tokio::test]
async fn the_winning_revision_of_a_conflict_counts() {
    let server = server().await;
    let revision = |rev: &str, target: &str| {
        let mut document = continuous(target);
        document["_id"] = "ever".into();
        document["_rev"] = rev.into();
        document
    };
    let winner = revision("2-b", "winner");
    let loser = revision("1-a", "loser");
    let body = json!({ "docs": [winner, loser], "new_edits": false });
    server.post("/_replicator/_bulk_docs", &body).await;
    until_has(&server, "/winner/a").await;
    let body = json!({ "docs": [revision("3-c", "third")], "new_edits": false });
    server.post("/_replicator/_bulk_docs", &body).await;
    until_has(&server, "/third/a").await;
    assert_eq!(jobs(&server).await.len(), 1);
    assert_eq!(server.get("/loser").await.status, 404);
}

#[tokio::test]
async fn a_replication_that_fails_is_tried_again_later() {
    let server = server().await;
    let missing = json!({ "source": "none", "target": "db" });
    put(&server, "wrong", &missing).await;
    let shown = until_state(&server, "wrong", "crashing").await;
    assert_eq!(
        shown["info"],
        json!({ "error": "db_not_found: could not open none" })
    );
    assert_eq!(shown["error_count"], 1);
    let job = jobs(&server).await.remove(0);
    let events = job["history"].as_array().unwrap();
    let events: Vec<_> = events.iter().map(|event| &event["type"]).collect();
    assert_eq!(events, ["crashed", "started", "added"]);
    assert_eq!((&job["pid"], &job["info"]), (&Value::Null, &Value::Null));
}

#[tokio::test]
async fn a_document_must_describe_a_replication() {
    let server = server().await;
    for (wrong, reason) in [
        (json!({ "source": "db" }), "Missing replicator database"),
        (
            json!({ "source": "db", "target": "http://x:y:z/" }),
            "endpoint has an invalid url",
        ),
        (
            json!({ "source": "db", "target": "b", "filter": "x" }),
            "Invalid filter. Must match `ddocname/filtername`.",
        ),
    ] {
        let refused = server.put("/_replicator/wrong", &wrong).await;
        assert_eq!(refused.error(), (403, "forbidden".into()));
        assert_eq!(refused.json()["reason"], reason);
    }
    // Revisions made elsewhere are accepted, and fail.
    let body =
        json!({ "docs": [{ "_id": "wrong", "_rev": "1-a", "source": "db" }], "new_edits": false });
    server.post("/_replicator/_bulk_docs", &body).await;
    let shown = until_state(&server, "wrong", "failed").await;
    assert_eq!(shown["info"]["error"], "Missing replicator database");
}

#[tokio::test]
async fn replications_go_on_after_a_restart() {
    let server = server().await;
    put(&server, "ever", &continuous("copy")).await;
    let first = until_state(&server, "ever", "running").await;
    until_has(&server, "/copy/a").await;
    let server = server.restarted(store::Settings::default()).await;
    server.put("/db/b", &json!({})).await;
    until_has(&server, "/copy/b").await;
    let second = until_state(&server, "ever", "running").await;
    // The server's id is another one in this test, and a part of the replication's.
    assert_ne!(first["id"], second["id"]);
}

#[tokio::test]
async fn a_database_that_cannot_be_read_is_read_again_later() {
    let server = server().await;
    put(&server, "ever", &continuous("copy")).await;
    until_has(&server, "/copy/a").await;
    let mut folder = PathBuf::new();
    let files = ["", "-wal", "-shm"].map(|ending| format!("_replicator.sqlite{ending}"));
    let server = server
        .restarted_after(store::Settings::default(), |path| {
            folder = path.to_owned();
            for file in files.iter().filter(|file| path.join(file).exists()) {
                fs::rename(path.join(file), path.join(format!("{file}.kept"))).unwrap();
            }
            fs::write(path.join(&files[0]), "no database".repeat(1000)).unwrap();
        })
        .await;
    until("an error", async || {
        server.get("/_replicator").await.status == 500
    })
    .await;
    for file in files.map(|file| folder.join(file)) {
        let kept = file.with_added_extension("kept");
        if kept.exists() {
            fs::rename(kept, file).unwrap();
        }
    }
    assert!(jobs(&server).await.is_empty());
    // Events of other databases do not delay it. The client's connection would end after a minute without a request.
    for _ in 0..2 {
        later(Duration::from_secs(31)).await;
        server.put("/db/c", &json!({})).await;
    }
    until("a job", async || jobs(&server).await.len() == 1).await;
    server.put("/db/b", &json!({})).await;
    until_has(&server, "/copy/b").await;
}

#[tokio::test]
async fn any_database_named_so_describes_replications_until_it_is_deleted() {
    let server = server().await;
    server.put("/team%2F_replicator", &Value::Null).await;
    server
        .put("/team%2F_replicator/ever", &continuous("copy"))
        .await;
    for path in ["team%2F_replicator", "team/_replicator"] {
        let path = format!("/_scheduler/docs/{path}");
        until(&path, async || {
            let docs = server.get(&path).await.json();
            docs["docs"][0]["state"] == "running"
                && docs["docs"][0]["database"] == "team/_replicator"
        })
        .await;
    }
    assert_eq!(server.delete("/team%2F_replicator").await.status, 200);
    until("no job", async || jobs(&server).await.is_empty()).await;
}

#[tokio::test]
async fn one_document_too_large_is_counted_and_the_others_go_on() {
    let server = server().await;
    let settings = ServerSettings::default();
    let (section, key) = ("couchdb", "max_document_size");
    settings
        .config
        .set(section, key, "1000", Lifetime::Run)
        .unwrap();
    let small = Running::start_with(Auth::new(None, b""), settings).await;
    small.database("copy", &json!([])).await;
    for id in 0..20 {
        let text = "x".repeat(if id == 7 { 2000 } else { 10 });
        server
            .put(&format!("/db/{id}"), &json!({ "text": text }))
            .await;
    }
    put(&server, "once", &document(&format!("{}/copy", small.url))).await;
    let shown = until_state(&server, "once", "completed").await;
    assert_eq!(shown["info"]["doc_write_failures"], 1, "{shown}");
    assert_eq!(shown["info"]["docs_written"], 20);
    assert_eq!(small.get("/copy/7").await.status, 404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_with_idle_replications_stops() {
    for _ in 0..5 {
        let mut server = server().await;
        put(&server, "ever", &continuous("copy")).await;
        until_has(&server, "/copy/a").await;
        let ended = server.ended.take().unwrap();
        server.stop.cancel();
        ended.await.unwrap();
    }
}
