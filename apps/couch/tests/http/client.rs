//! A server in this process, and requests to it.

use inorder_couch::auth::Auth;
use inorder_couch::http::{Server, ServerSettings, serve};
use inorder_couch::script::ScriptSettings;
use inorder_couch::store::{self, Databases};
use reqwest::{Method, StatusCode};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// A test fails when a condition does not hold within this time.
pub const DEADLINE: Duration = Duration::from_secs(60);

/// A server, stopped when it is dropped.
pub struct Running {
    pub url: String,
    pub stop: CancellationToken,
    pub ended: Option<JoinHandle<()>>,
    client: reqwest::Client,
    folder: Arc<TempDir>,
}

/// An answer, read as a whole.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: reqwest::header::HeaderMap,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("text")
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("no JSON: {}", self.text()))
    }

    pub fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value.map_or("", |value| value.to_str().expect("text"))
    }

    /// The status and CouchDB's `error`.
    pub fn error(&self) -> (u16, String) {
        let error = self.json()["error"].as_str().unwrap_or_default().to_owned();
        (self.status.as_u16(), error)
    }
}

/// A request before it is sent.
pub struct Ask(reqwest::RequestBuilder);

impl Ask {
    pub fn header(self, name: &str, value: &str) -> Self {
        Ask(self.0.header(name, value))
    }

    pub fn json(self, body: &Value) -> Self {
        Ask(self
            .0
            .header("content-type", "application/json")
            .body(body.to_string()))
    }

    pub fn body(self, content_type: &str, body: impl Into<reqwest::Body>) -> Self {
        Ask(self.0.header("content-type", content_type).body(body))
    }

    pub async fn response(self) -> reqwest::Response {
        self.0.send().await.expect("an answer")
    }

    pub async fn send(self) -> Answer {
        let response = self.response().await;
        Answer {
            status: response.status(),
            headers: response.headers().clone(),
            body: response.bytes().await.expect("a whole body").to_vec(),
        }
    }
}

impl Running {
    pub async fn start() -> Self {
        Running::start_with(Auth::new(None, b""), ServerSettings::default()).await
    }

    pub async fn start_with(auth: Auth, settings: ServerSettings) -> Self {
        Running::start_with_store(store::Settings::default(), auth, settings).await
    }

    pub async fn start_with_store(
        store: store::Settings,
        auth: Auth,
        settings: ServerSettings,
    ) -> Self {
        let folder = Arc::new(tempfile::tempdir().expect("a folder"));
        Running::start_in(folder, store, auth, settings).await
    }

    /// Stops the server and starts another one in its folder.
    pub async fn restarted(self, store: store::Settings) -> Self {
        self.restarted_after(store, |_| {}).await
    }

    /// Stops the server, changes its folder, and starts another one there.
    pub async fn restarted_after(
        mut self,
        store: store::Settings,
        change: impl FnOnce(&Path),
    ) -> Self {
        self.stop.cancel();
        let ended = self.ended.take().expect("it ends once");
        ended.await.expect("no panic");
        let folder = Arc::clone(&self.folder);
        change(folder.path());
        Running::start_in(
            folder,
            store,
            Auth::new(None, b""),
            ServerSettings::default(),
        )
        .await
    }

    async fn start_in(
        folder: Arc<TempDir>,
        store: store::Settings,
        auth: Auth,
        settings: ServerSettings,
    ) -> Self {
        let databases = Databases::open(folder.path(), store);
        let scripts = ScriptSettings {
            program: env!("CARGO_BIN_EXE_inorder-couch").into(),
            ..settings.scripts
        };
        let settings = ServerSettings {
            scripts,
            ..settings
        };
        let server = Server::new(databases.expect("a new folder"), auth, settings);
        let listener = TcpListener::bind(("127.0.0.1", 0)).await;
        let listener = listener.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let stop = CancellationToken::new();
        let ended = serve(server, listener, stop.clone());
        Running {
            url,
            stop,
            ended: Some(tokio::spawn(ended)),
            client: client(),
            folder,
        }
    }

    pub fn ask(&self, method: &str, path: &str) -> Ask {
        let method = Method::from_bytes(method.as_bytes()).expect("a method");
        Ask(self.client.request(method, format!("{}{path}", self.url)))
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.ask("GET", path).send().await
    }

    pub async fn put(&self, path: &str, body: &Value) -> Answer {
        self.ask("PUT", path).json(body).send().await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.ask("POST", path).json(body).send().await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.ask("DELETE", path).send().await
    }

    /// Makes a database with these documents.
    pub async fn database(&self, name: &str, docs: &Value) -> Vec<Value> {
        let made = self.put(&format!("/{name}"), &Value::Null).await;
        assert_eq!(made.status, 201, "{}", made.text());
        let (path, body) = (
            format!("/{name}/_bulk_docs"),
            serde_json::json!({ "docs": docs }),
        );
        let written = self.post(&path, &body).await;
        written.json().as_array().expect("a list").clone()
    }
}

impl Running {
    /// The value of one of CouchDB's statistics of its HTTP server.
    pub async fn statistic(&self, name: &str) -> f64 {
        let stats = self.get("/_node/_local/_stats").await.json();
        let value = stats["couchdb"]["httpd"][name]["value"].as_f64();
        value.unwrap_or_else(|| panic!("there is no {name}"))
    }

    /// Waits until as many changes feeds are open. Their `since=now` is known by then.
    pub async fn until_feeds_are(&self, count: usize) {
        let name = "clients_requesting_changes";
        until("the feeds", async || {
            self.statistic(name).await == count as f64
        })
        .await;
    }
}

/// Lets the clock of the runtime go on.
pub async fn later(duration: Duration) {
    tokio::time::pause();
    tokio::time::advance(duration).await;
    tokio::time::resume();
}

/// Waits until a condition holds.
pub async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let deadline = Instant::now() + DEADLINE;
    while !holds().await {
        assert!(Instant::now() < deadline, "{what}: still not so");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// A client for servers with this certificate.
pub fn client_that_trusts(pem: &str) -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let certificate = reqwest::Certificate::from_pem(pem.as_bytes()).expect("a certificate");
    reqwest::Client::builder()
        .no_proxy()
        .tls_certs_only([certificate])
        .build()
        .expect("a client")
}

fn client() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .no_proxy()
        .no_gzip()
        .build()
        .expect("a client")
}
