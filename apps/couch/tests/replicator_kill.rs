//! A server that is killed goes on with the replications of its documents after its next start.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A test fails when a condition does not hold within this time.
const DEADLINE: Duration = Duration::from_secs(60);

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
