//! The server over TLS.

use crate::client::{DEADLINE, client_that_trusts};
use inorder_couch::auth::Auth;
use inorder_couch::http::{Server, ServerSettings, serve_also_tls};
use inorder_couch::store::{self, Databases};
use inorder_serve::{CertificateFiles, acceptor};
use std::path::Path;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Writes a certificate for localhost. Returns its PEM text.
fn certificate(folder: &Path) -> String {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    std::fs::write(folder.join("cert.pem"), made.cert.pem()).unwrap();
    std::fs::write(folder.join("key.pem"), made.signing_key.serialize_pem()).unwrap();
    made.cert.pem()
}

async fn local() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").await.unwrap()
}

#[tokio::test]
async fn documents_and_feeds_come_over_tls() {
    let folder = tempfile::tempdir().unwrap();
    let pem = certificate(folder.path());
    let files = CertificateFiles::open(
        &folder.path().join("cert.pem"),
        &folder.path().join("key.pem"),
    );
    let acceptor = acceptor(Arc::new(files.unwrap())).unwrap();
    let databases = Databases::open(folder.path(), store::Settings::default()).unwrap();
    databases.create("db").unwrap();
    let server = Server::new(databases, Auth::new(None, b""), ServerSettings::default());
    let (plain, secure, stop) = (local().await, local().await, CancellationToken::new());
    let (plain_at, secure_at) = (plain.local_addr().unwrap(), secure.local_addr().unwrap());
    let served = tokio::spawn(serve_also_tls(
        server,
        plain,
        Some((secure, acceptor)),
        stop.clone(),
    ));
    let client = client_that_trusts(&pem);
    let url = format!("https://localhost:{}", secure_at.port());
    answers_name_https(&client, &url).await;
    let large = "x".repeat(1_000_000);
    let put = client
        .put(format!("{url}/db/a"))
        .json(&serde_json::json!({ "text": large }));
    assert_eq!(put.send().await.unwrap().status(), 201);
    let got = client
        .get(format!("{url}/db/a"))
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    assert!(got.contains(&large));
    feeds_come_over_tls(&client, &url, &format!("http://{plain_at}")).await;
    assert_eq!(client.get(&url).send().await.unwrap().status(), 200);
    // A client without TLS is not answered at this port.
    assert!(
        client
            .get(format!("http://{secure_at}/"))
            .send()
            .await
            .is_err()
    );
    stop.cancel();
    timeout(DEADLINE, served)
        .await
        .expect("it stops in time")
        .unwrap();
}

/// Over this server's TLS, `Location` is an https URL and cookies are for https only.
async fn answers_name_https(client: &reqwest::Client, url: &str) {
    let created = client.put(format!("{url}/other")).send().await.unwrap();
    let location = created.headers()["location"].to_str().unwrap();
    assert_eq!(location, format!("{url}/other"));
    let document = client.put(format!("{url}/other/a")).body("{}");
    let location = document.send().await.unwrap().headers()["location"].clone();
    assert_eq!(location, format!("{url}/other/a"));
    let ended = client
        .delete(format!("{url}/_session"))
        .send()
        .await
        .unwrap();
    let cookie = ended.headers()["set-cookie"].to_str().unwrap().to_owned();
    assert!(cookie.contains("; Secure; "), "{cookie}");
}

/// A waiting feed leaves the HTTP library, and its connection is used again.
async fn feeds_come_over_tls(client: &reqwest::Client, url: &str, plain: &str) {
    let mut feed = client
        .get(format!(
            "{url}/db/_changes?feed=continuous&since=now&timeout=60000"
        ))
        .send()
        .await
        .unwrap();
    client
        .put(format!("{plain}/db/b"))
        .json(&serde_json::json!({}))
        .send()
        .await
        .unwrap();
    let line = timeout(DEADLINE, feed.chunk())
        .await
        .expect("a line in time")
        .unwrap()
        .unwrap();
    assert!(
        String::from_utf8_lossy(&line).contains("\"id\":\"b\""),
        "{line:?}"
    );
    drop(feed);
    let longpoll = client
        .get(format!(
            "{url}/db/_changes?feed=longpoll&since=now&timeout=10"
        ))
        .send()
        .await
        .unwrap();
    assert!(longpoll.text().await.unwrap().contains("last_seq"));
}
