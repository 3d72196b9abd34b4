//! The two servers and requests to them.

use reqwest::Method;
use serde_json::{Value, json};
use std::fmt;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A condition that is waited for must hold within this time.
const DEADLINE: Duration = Duration::from_secs(120);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Couchdb,
    Inorder,
}

impl Side {
    pub fn other(self) -> Self {
        match self {
            Side::Couchdb => Side::Inorder,
            Side::Inorder => Side::Couchdb,
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Side::Couchdb => "CouchDB",
            Side::Inorder => "inorder",
        })
    }
}

/// A direction, and the server that replicates.
#[derive(Debug)]
pub struct Way {
    pub source: Side,
    pub target: Side,
    pub driver: Side,
}

impl Way {
    pub const fn new(source: Side, target: Side, driver: Side) -> Self {
        Way {
            source,
            target,
            driver,
        }
    }
}

impl fmt::Display for Way {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Way {
            source,
            target,
            driver,
        } = self;
        out.pad(&format!("{source} to {target}, by {driver}"))
    }
}

/// A server at a URL, which may have a name and a password.
#[derive(Debug)]
pub struct Server {
    pub url: String,
    client: reqwest::Client,
}

impl Server {
    pub async fn couchdb(url: &str) -> Self {
        let server = Server::new(url);
        let welcome = server.ok(Method::GET, "", None).await;
        assert_eq!(welcome["couchdb"], "Welcome", "{url} is no CouchDB");
        server
    }

    fn new(url: &str) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().no_proxy().no_gzip().build();
        Server {
            url: url.trim_end_matches('/').to_owned(),
            client: client.expect("a client"),
        }
    }

    /// The host and port.
    pub fn address(&self) -> String {
        let rest = self.url.split("://").nth(1).unwrap_or_default();
        rest.rsplit('@').next().unwrap_or_default().to_owned()
    }

    /// The URL with another address.
    pub fn url_at(&self, address: &str) -> String {
        self.url.replace(&self.address(), address)
    }

    pub async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> reqwest::Result<(u16, Value)> {
        let mut request = self.client.request(method, format!("{}{path}", self.url));
        if let Some(body) = body {
            request = request
                .header("content-type", "application/json")
                .body(body.to_string());
        }
        let response = request.header("accept", "application/json").send().await?;
        let status = response.status().as_u16();
        let bytes = response.bytes().await?;
        Ok((status, serde_json::from_slice(&bytes).unwrap_or_default()))
    }

    /// The answer to a request that succeeds.
    pub async fn ok(&self, method: Method, path: &str, body: Option<&Value>) -> Value {
        let sent = self.send(method.clone(), path, body).await;
        let (status, answer) = sent.unwrap_or_else(|error| panic!("{method} {path}: {error}"));
        assert!(status < 300, "{method} {path}: {status} {answer}");
        answer
    }

    pub async fn attach(&self, path: &str, content_type: &str, bytes: Vec<u8>) -> Value {
        let request = self.client.put(format!("{}{path}", self.url));
        let request = request.header("content-type", content_type).body(bytes);
        let response = request.send().await.expect("an answer");
        let status = response.status();
        let text = response.text().await.expect("a body");
        assert!(status.is_success(), "PUT {path}: {status} {text}");
        serde_json::from_str(&text).expect("JSON")
    }
}

/// This project's server, in a process of its own.
pub struct Inorder {
    pub server: Arc<Server>,
    port: u16,
    folder: TempDir,
    child: Child,
}

impl Inorder {
    /// Starts a server with the id of another one: the ids of its replications are then those of the other.
    pub fn start(uuid: &str) -> Self {
        let free = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = free.local_addr().expect("an address").port();
        drop(free);
        let folder = tempfile::tempdir().expect("a folder");
        let settings = format!("[couchdb]\nuuid = {uuid}\n");
        std::fs::write(folder.path().join("local.ini"), settings).expect("a file");
        Inorder {
            server: Arc::new(Server::new(&format!("http://127.0.0.1:{port}"))),
            port,
            child: serve(&folder, port),
            folder,
        }
    }

    /// Kills the process and starts another one in the same folder.
    pub fn kill(&mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ends");
        self.child = serve(&self.folder, self.port);
    }
}

impl Drop for Inorder {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts a server and waits until it listens.
fn serve(folder: &TempDir, port: u16) -> Child {
    let mut child = Command::new(env!("CARGO_BIN_EXE_inorder-couch"))
        .args([
            "serve",
            "--log",
            "warn",
            "--listen",
            &format!("127.0.0.1:{port}"),
            "--dir",
        ])
        .arg(folder.path())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the server starts");
    let mut lines = BufReader::new(child.stderr.take().expect("stderr")).lines();
    let is_listening = lines
        .by_ref()
        .map_while(Result::ok)
        .any(|line| line.starts_with("listening at"));
    assert!(is_listening, "the server ended");
    std::thread::spawn(move || {
        lines
            .map_while(Result::ok)
            .for_each(|line| tracing::warn!("{line}"))
    });
    child
}

/// A database on each side, deleted at the end.
pub struct Pair {
    pub way: &'static Way,
    pub name: String,
    pub couchdb: Arc<Server>,
    pub inorder: Inorder,
}

impl Pair {
    pub async fn new(way: &'static Way, couchdb: Arc<Server>) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("inorder_test_{}_{number}", std::process::id());
        let welcome = couchdb.ok(Method::GET, "", None).await;
        let uuid = welcome["uuid"].as_str().expect("the server's id");
        let pair = Pair {
            way,
            name,
            inorder: Inorder::start(uuid),
            couchdb,
        };
        for side in [Side::Couchdb, Side::Inorder] {
            pair.server(side)
                .ok(Method::PUT, &format!("/{}", pair.name), None)
                .await;
        }
        pair
    }

    pub async fn end(self) {
        self.couchdb
            .ok(Method::DELETE, &format!("/{}", self.name), None)
            .await;
    }

    pub fn server(&self, side: Side) -> &Arc<Server> {
        match side {
            Side::Couchdb => &self.couchdb,
            Side::Inorder => &self.inorder.server,
        }
    }

    pub fn source(&self) -> &Arc<Server> {
        self.server(self.way.source)
    }

    pub fn target(&self) -> &Arc<Server> {
        self.server(self.way.target)
    }

    /// Writes documents to the source.
    pub async fn write(&self, docs: &Value) -> Value {
        let body = json!({ "docs": docs });
        let written = self
            .source()
            .ok(
                Method::POST,
                &format!("/{}/_bulk_docs", self.name),
                Some(&body),
            )
            .await;
        let rows = written.as_array().expect("rows");
        assert!(rows.iter().all(|row| row["ok"] == true), "{written}");
        written
    }

    /// Writes revisions made elsewhere to the source.
    pub async fn write_revisions(&self, docs: &Value) {
        let body = json!({ "docs": docs, "new_edits": false });
        let refused = self
            .source()
            .ok(
                Method::POST,
                &format!("/{}/_bulk_docs", self.name),
                Some(&body),
            )
            .await;
        assert_eq!(refused, json!([]));
    }

    /// The body of a request to replicate. `proxy` is an address between the driver and the other server.
    pub fn request(&self, more: &Value, proxy: Option<&str>) -> Value {
        let url = |side: Side| {
            let server = self.server(side);
            let base = match proxy {
                Some(address) if side != self.way.driver => server.url_at(address),
                _ => server.url.clone(),
            };
            format!("{base}/{}", self.name)
        };
        let mut request = json!({ "source": url(self.way.source), "target": url(self.way.target) });
        let fields = request.as_object_mut().expect("an object");
        fields.extend(more.as_object().cloned().unwrap_or_default());
        request
    }

    /// Replicates to the end; the first entry of the history.
    pub async fn replicate(&self, more: Value) -> Value {
        self.replicate_by(self.way.driver, &more).await
    }

    /// The same, driven by one of the servers.
    pub async fn replicate_by(&self, driver: Side, more: &Value) -> Value {
        let request = self.request(more, None);
        let driver = self.server(driver);
        let result = driver.ok(Method::POST, "/_replicate", Some(&request)).await;
        assert_eq!(result["ok"], true, "{result}");
        result["history"][0].clone()
    }

    /// Replicates again until it succeeds: the connections are cut, or a server is killed.
    pub async fn replicate_until_done(&self, proxy: Option<&str>) {
        let request = self.request(&json!({}), proxy);
        let driver = self.server(self.way.driver);
        until(&"the replication", async || {
            let sent = driver
                .send(Method::POST, "/_replicate", Some(&request))
                .await;
            sent.is_ok_and(|(status, _)| status == 200)
        })
        .await;
    }

    /// Whether the CouchDB keeps several copies of a document.
    pub async fn is_cluster(&self) -> bool {
        let path = format!("/{}", self.name);
        let info = self.couchdb.ok(Method::GET, &path, None).await;
        info["cluster"]["n"].as_u64() > Some(1)
    }

    pub async fn target_count(&self) -> u64 {
        let (_, info) = self
            .target()
            .send(Method::GET, &format!("/{}", self.name), None)
            .await
            .unwrap_or_default();
        info["doc_count"].as_u64().unwrap_or_default()
    }
}

/// Waits until a condition holds.
pub async fn until(what: &dyn fmt::Display, mut holds: impl AsyncFnMut() -> bool) {
    let deadline = Instant::now() + DEADLINE;
    while !holds().await {
        assert!(Instant::now() < deadline, "{what}: still not so");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
