//! Replications of a server that is killed go on after its next start; a server that is stopped writes checkpoints before.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A test fails when a condition does not hold within this time.
const DEADLINE: Duration = Duration::from_secs(60);

/// The most time that a server takes to end after SIGTERM, also on a busy machine.
const STOPPED_WITHIN: Duration = Duration::from_secs(4);

/// A server process, killed when it is dropped.
struct Server {
    child: Child,
    url: String,
    client: reqwest::Client,
}

impl Server {
    fn start(folder: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_inorder-couch"))
            .args(["serve", "--listen", "127.0.0.1:0", "--dir"])
            .arg(folder)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let url = lines.by_ref().find_map(|line| {
            let line = line.unwrap();
            let (_, rest) = line.split_once("listening at ")?;
            rest.split('/').nth(2).map(|host| format!("http://{host}"))
        });
        // The server must not wait for a reader of its log.
        std::thread::spawn(move || lines.for_each(drop));
        let _ = rustls::crypto::ring::default_provider().install_default();
        Server {
            child,
            url: url.unwrap(),
            client: reqwest::Client::new(),
        }
    }

    async fn get(&self, path: &str) -> Value {
        let answer = self.client.get(format!("{}{path}", self.url)).send().await;
        answer.unwrap().json().await.unwrap()
    }

    async fn put(&self, path: &str, body: Value) {
        let request = self.client.put(format!("{}{path}", self.url));
        let answer = request.json(&body).send().await.unwrap();
        assert!(answer.status().is_success(), "{path}: {}", answer.status());
    }

    /// Sends SIGTERM, and waits for the end.
    fn stop(mut self) {
        let begun = Instant::now();
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        assert!(self.child.wait().unwrap().success());
        assert!(begun.elapsed() < STOPPED_WITHIN, "{:?}", begun.elapsed());
    }

    /// The sequences of the checkpoints in a database.
    async fn checkpoints(&self, database: &str) -> Vec<u64> {
        let path = format!("/{database}/_local_docs?include_docs=true");
        let rows = self.get(&path).await["rows"].clone();
        let rows = rows.as_array().unwrap().iter();
        let seqs = rows.filter_map(|row| row["doc"]["source_last_seq"].as_str());
        let number = |seq: &str| seq.split('-').next().unwrap().parse().unwrap();
        seqs.map(number).collect()
    }

    async fn until(&self, path: &str, member: &str, expected: Value) {
        let deadline = Instant::now() + DEADLINE;
        loop {
            let found = self.get(path).await;
            if found[member] == expected {
                return;
            }
            assert!(Instant::now() < deadline, "{path}: {found}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
async fn replications_survive_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    for name in ["_replicator", "db"] {
        server.put(&format!("/{name}"), Value::Null).await;
    }
    let document = json!({
        "source": "db", "target": "copy", "create_target": true, "continuous": true,
        "checkpoint_interval": 10,
    });
    server.put("/_replicator/ever", document).await;
    let state = "/_scheduler/docs/_replicator/ever";
    let mut id = Value::Null;
    let mut server = Some(server);
    for round in 0..3 {
        let running = server
            .take()
            .unwrap_or_else(|| Server::start(folder.path()));
        running.until(state, "state", "running".into()).await;
        let shown = running.get(state).await["id"].clone();
        assert!(id.is_null() || id == shown, "{id} {shown}");
        id = shown;
        let name = format!("doc{round}");
        running.put(&format!("/db/{name}"), json!({})).await;
        running
            .until(&format!("/copy/{name}"), "_id", name.as_str().into())
            .await;
    }
}

/// The documents of the source, and those that one request brings.
const DOCUMENTS: u64 = 3000;
const BATCH: u64 = 20;

/// A server whose database `db` has many documents.
async fn filled(folder: &Path) -> Server {
    let server = Server::start(folder);
    for name in ["db", "copy"] {
        server.put(&format!("/{name}"), Value::Null).await;
    }
    let docs: Vec<Value> = (0..DOCUMENTS)
        .map(|n| json!({"_id": n.to_string()}))
        .collect();
    let request = server.client.post(format!("{}/db/_bulk_docs", server.url));
    let answer = request.json(&json!({ "docs": docs })).send().await;
    assert!(answer.unwrap().status().is_success());
    server
}

#[tokio::test]
async fn an_idle_replication_writes_a_checkpoint_at_the_stop() {
    let folder = tempfile::tempdir().unwrap();
    let server = filled(folder.path()).await;
    // By name, and by the URL of the server that is stopped.
    for (target, base) in [
        ("copy", String::new()),
        ("other", format!("{}/", server.url)),
    ] {
        let body = json!({
            "source": format!("{base}db"), "target": format!("{base}{target}"), "create_target": target == "other",
            "continuous": true, "checkpoint_interval": 3_600_000,
        });
        let request = server.client.post(format!("{}/_replicate", server.url));
        assert!(
            request
                .json(&body)
                .send()
                .await
                .unwrap()
                .status()
                .is_success()
        );
        server
            .until(&format!("/{target}"), "doc_count", DOCUMENTS.into())
            .await;
    }
    assert!(server.checkpoints("db").await.is_empty());
    server.stop();
    let server = Server::start(folder.path());
    assert_eq!(server.checkpoints("db").await, [DOCUMENTS, DOCUMENTS]);
    assert_eq!(server.checkpoints("copy").await, [DOCUMENTS]);
    assert_eq!(server.checkpoints("other").await, [DOCUMENTS]);
}

#[tokio::test]
async fn a_running_replication_writes_a_checkpoint_at_the_stop() {
    let folder = tempfile::tempdir().unwrap();
    let server = filled(folder.path()).await;
    let body = json!({
        "source": "db", "target": "copy", "worker_batch_size": BATCH, "checkpoint_interval": 3_600_000,
    });
    let request = server.client.post(format!("{}/_replicate", server.url));
    // The request waits for the end of the replication, and is answered at the stop.
    let answer = tokio::spawn(request.json(&body).send());
    let deadline = Instant::now() + DEADLINE;
    while server.get("/copy").await["doc_count"].as_u64().unwrap() < BATCH {
        assert!(Instant::now() < deadline);
    }
    server.stop();
    answer.await.unwrap().unwrap();
    let server = Server::start(folder.path());
    let copied = server.get("/copy").await["doc_count"].as_u64().unwrap();
    let [written] = server.checkpoints("db").await[..] else {
        panic!("one checkpoint")
    };
    assert_eq!(server.checkpoints("copy").await, [written]);
    // The batch under way counts with neither.
    assert!(
        copied >= written && written + BATCH >= copied,
        "{written} {copied}"
    );
    assert!(copied < DOCUMENTS);
}
