//! A table of requests by users with different rights, with the answers of CouchDB.
//!
//! `couchdb.json` was written by this program. To write it again, start a CouchDB of your own with the admin `admin:secret` and
//! run `INORDER_COUCH_RECORD=http://127.0.0.1:PORT cargo test -p inorder-couch --test http rights`. It changes settings and
//! users of that server.

mod differences;
mod requests;

use crate::client::Running;
use base64::{Engine, engine::general_purpose::STANDARD};
use differences::DIFFERENCES;
use inorder_couch::auth::password::PasswordHash;
use inorder_couch::auth::{Admin, Auth};
use inorder_couch::http::ServerSettings;
use requests::{Request, SECTIONS, SECURITY, SECURITY_ADMINS, Section};
use reqwest::header::HeaderMap;
use reqwest::{Client, Method, redirect};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// The variable with the URL of the CouchDB whose answers are recorded.
const RECORD: &str = "INORDER_COUCH_RECORD";

/// The kinds of users: how they are called, name and password.
const USERS: &[(&str, &str, &str)] = &[
    ("anonymous", "", ""),
    ("wrong password", "member", "wrong"),
    ("no rights", "stranger", "pw"),
    ("member", "member", "pw"),
    ("database admin", "owner", "pw"),
    ("server admin", "admin", "secret"),
];

/// Documents that are made before, with the roles of their users.
const ROLES: &[(&str, &str)] = &[("stranger", "x"), ("member", "staff"), ("owner", "owner")];

/// A server that is asked.
struct Asked {
    url: String,
    client: Client,
}

impl Asked {
    fn new(url: &str) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder().redirect(redirect::Policy::none());
        Asked {
            url: url.trim_end_matches('/').to_owned(),
            client: client.build().expect("a client"),
        }
    }

    async fn send(
        &self,
        request: &Request,
        name: &str,
        password: &str,
    ) -> (u16, HeaderMap, Vec<u8>) {
        let method = Method::from_bytes(request.method.as_bytes()).expect("a method");
        let mut ask = self
            .client
            .request(method, format!("{}{}", self.url, request.path));
        if !name.is_empty() {
            let credentials = STANDARD.encode(format!("{name}:{password}"));
            ask = ask.header("authorization", format!("Basic {credentials}"));
        }
        let mut headers = vec![("accept", "application/json")];
        if !request.body.is_empty() || request.method == "POST" {
            headers.push(("content-type", "application/json"));
        }
        headers.retain(|(name, _)| request.headers.iter().all(|(other, _)| name != other));
        headers.extend(request.headers);
        for (name, value) in headers {
            ask = ask.header(name, value);
        }
        let response = ask.body(request.body).send().await.expect("an answer");
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        (
            status,
            headers,
            response.bytes().await.expect("a body").to_vec(),
        )
    }

    async fn admin(&self, method: &'static str, path: &str, body: &str) -> (u16, Value) {
        let request = Request {
            method,
            path: Box::leak(path.to_owned().into_boxed_str()),
            headers: &[],
            body: Box::leak(body.to_owned().into_boxed_str()),
        };
        let (status, _, body) = self.send(&request, "admin", "secret").await;
        (status, serde_json::from_slice(&body).unwrap_or_default())
    }

    async fn set(&self, section: &str, key: &str, value: &str) {
        let path = format!("/_node/_local/_config/{section}/{key}");
        let (status, body) = self.admin("PUT", &path, &json!(value).to_string()).await;
        assert_eq!(status, 200, "{path}: {body}");
    }

    async fn prepare(&self) {
        self.set("chttpd_auth_lockout", "mode", "off").await;
        self.set("chttpd_auth", "iterations", "10").await;
        self.admin("PUT", "/_users", "").await;
        self.set("couchdb", "users_db_security_editable", "true")
            .await;
        self.admin("PUT", "/_users/_security", SECURITY_ADMINS)
            .await;
        self.admin(
            "DELETE",
            "/_node/_local/_config/couchdb/users_db_security_editable",
            "",
        )
        .await;
        let (_, users) = self.admin("GET", "/_users/_all_docs", "").await;
        for row in users["rows"].as_array().into_iter().flatten() {
            let (id, rev) = (
                row["id"].as_str().unwrap(),
                row["value"]["rev"].as_str().unwrap(),
            );
            if id != "_design/_auth" {
                self.admin("DELETE", &format!("/_users/{id}?rev={rev}"), "")
                    .await;
            }
        }
        for (name, role) in ROLES {
            let user = json!({
                "type": "user", "name": name, "roles": [role], "password": "pw", "hobby": "films",
            });
            let path = format!("/_users/org.couchdb.user:{name}");
            let (status, body) = self.admin("PUT", &path, &user.to_string()).await;
            assert_eq!(status, 201, "{path}: {body}");
        }
        for database in ["rights", "rights_new"] {
            self.admin("DELETE", &format!("/{database}"), "").await;
        }
        for (path, body) in [
            ("/rights", ""),
            ("/rights/_security", SECURITY),
            ("/rights/doc", r#"{"a":1}"#),
            ("/rights/_design/design", r#"{"views":{}}"#),
        ] {
            let (status, body) = self.admin("PUT", path, body).await;
            assert!(status < 300, "{path}: {body}");
        }
    }

    /// Sends all requests of a section as all users.
    async fn answers(&self, section: &Section) -> Value {
        for (section, key, value) in section.settings {
            self.set(section, key, value).await;
        }
        for request in section.before {
            let (status, _, body) = self.send(request, "admin", "secret").await;
            assert!(
                status < 300,
                "{}: {}",
                request.path,
                String::from_utf8_lossy(&body)
            );
        }
        let mut rows = Vec::new();
        for request in section.requests {
            let mut row = Map::new();
            row.insert("request".to_owned(), title(request).into());
            for (kind, name, password) in USERS {
                let answer = self.send(request, name, password).await;
                row.insert((*kind).to_owned(), self.shown(request, answer));
            }
            rows.push(Value::Object(row));
        }
        for (section, key, _) in section.settings {
            let path = format!("/_node/_local/_config/{section}/{key}");
            self.admin("DELETE", &path, "").await;
        }
        json!({ "section": section.name, "rows": rows })
    }

    /// What is compared of an answer: status, error, reason, and the headers that have to do with logging in.
    fn shown(
        &self,
        request: &Request,
        (status, headers, body): (u16, HeaderMap, Vec<u8>),
    ) -> Value {
        let mut shown = Map::new();
        shown.insert("status".to_owned(), status.into());
        let body = serde_json::from_slice::<Value>(&body).unwrap_or_default();
        let body = body.get(0).unwrap_or(&body);
        let fields = match request.path.starts_with("/_session") {
            true => &["error", "reason", "userCtx", "info"][..],
            false => &["error", "reason"],
        };
        for field in fields {
            if let Some(value) = body.get(field) {
                shown.insert((*field).to_owned(), value.clone());
            }
        }
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        if let Some(value) = text("www-authenticate") {
            shown.insert("www-authenticate".to_owned(), value.into());
        }
        if let Some(value) = text("location").filter(|_| status >= 300) {
            shown.insert("location".to_owned(), value.replace(&self.url, "").into());
        }
        if let Some(value) = text("set-cookie") {
            shown.insert("set-cookie".to_owned(), cookie(value).into());
        }
        Value::Object(shown)
    }
}

fn title(request: &Request) -> String {
    let headers = request.headers.iter();
    let headers: String = headers
        .map(|(name, value)| format!(" {name}: {value}"))
        .collect();
    format!(
        "{} {}{headers} {}",
        request.method, request.path, request.body
    )
    .trim()
    .to_owned()
}

/// A cookie without what changes from time to time, and without SameSite, which CouchDB does not set by default.
fn cookie(value: &str) -> String {
    let parts = value
        .split("; ")
        .filter(|part| !part.starts_with("SameSite"));
    let parts = parts.map(|part| match part.split_once('=') {
        Some((name @ ("Expires" | "AuthSession"), value)) => {
            format!("{name}={}", if value.is_empty() { "" } else { "…" })
        }
        _ => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("; ")
}

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/http/rights/couchdb.json")
}

#[tokio::test]
async fn rights_are_those_of_couchdb() {
    if let Ok(url) = std::env::var(RECORD) {
        let couchdb = Asked::new(&url);
        record(&couchdb).await;
    }
    let recorded = std::fs::read_to_string(file()).expect("the recorded answers");
    let recorded: Value = serde_json::from_str(&recorded).expect("JSON");
    let admin = Admin {
        name: "admin".into(),
        password: PasswordHash::new("secret", 10),
    };
    let auth = Auth::new(Some(admin), b"secret");
    let server = Running::start_with(auth, ServerSettings::default()).await;
    let asked = Asked::new(&server.url);
    asked.prepare().await;
    let mut problems = Vec::new();
    let sections = recorded["sections"].as_array().expect("a list");
    assert_eq!(sections.len(), SECTIONS.len(), "record the answers again");
    for (section, expected) in SECTIONS.iter().zip(sections) {
        let found = asked.answers(section).await;
        let (found, expected) = (&found["rows"], &expected["rows"]);
        let rows = found.as_array().expect("a list").iter();
        for (at, found) in rows.enumerate() {
            compare(section.name, found, &expected[at], &mut problems);
        }
    }
    assert!(
        problems.is_empty(),
        "{} differ:\n{}",
        problems.len(),
        problems.join("\n")
    );
}

/// Compares the answers to a request. A difference that is listed must be there.
fn compare(section: &str, found: &Value, expected: &Value, problems: &mut Vec<String>) {
    let title = found["request"].as_str().expect("a title");
    assert_eq!(
        found["request"], expected["request"],
        "record the answers again"
    );
    for (kind, ..) in USERS {
        let known = DIFFERENCES.iter().find(|known| {
            known.section == section
                && title.starts_with(known.request)
                && known.users.contains(kind)
        });
        let (found, expected) = (&found[kind], &expected[kind]);
        match known {
            None if found == expected => {}
            None => problems.push(format!(
                "[{section}] {title} ({kind}):\n    CouchDB {expected}\n    here    {found}"
            )),
            Some(known) if found == expected => problems.push(format!(
                "[{section}] {title} ({kind}) is as CouchDB's: remove the difference ({})",
                known.why
            )),
            Some(known) => {
                let status = found["status"].as_u64().expect("a status");
                if status != u64::from(known.status) {
                    problems.push(format!(
                        "[{section}] {title} ({kind}): {found}, not {}",
                        known.status
                    ));
                }
            }
        }
    }
}

async fn record(couchdb: &Asked) {
    let (_, welcome) = couchdb.admin("GET", "/", "").await;
    couchdb.prepare().await;
    let mut sections = Vec::new();
    for section in SECTIONS {
        sections.push(couchdb.answers(section).await);
    }
    let recorded = json!({ "recorded from CouchDB": welcome["version"], "sections": sections });
    let text = serde_json::to_string_pretty(&recorded).expect("JSON");
    std::fs::write(file(), text + "\n").expect("written");
}
