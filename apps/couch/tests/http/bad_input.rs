//! Invalid requests, and the server's behaviour afterwards.

use crate::client::{Running, until};
use inorder_couch::auth::Auth;
use inorder_couch::http::ServerSettings;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

async fn small() -> Running {
    let settings = ServerSettings {
        body_bytes_max: 10_000,
        connections_max: 50,
        ..ServerSettings::default()
    };
    let server = Running::start_with(Auth::new(None, b""), settings).await;
    server.database("db", &json!([])).await;
    server
}

#[tokio::test]
async fn bodies_that_are_too_large_are_refused() {
    let server = small().await;
    let large = json!({ "text": "x".repeat(20_000) });
    assert_eq!(
        server.put("/db/a", &large).await.error(),
        (413, "too_large".into())
    );
    let chunked =
        futures_util::stream::iter((0..20).map(|_| Ok::<_, std::io::Error>(vec![b' '; 1000])));
    let chunked = reqwest::Body::wrap_stream(chunked);
    let chunked = server
        .ask("PUT", "/db/a")
        .body("application/json", chunked)
        .send()
        .await;
    assert_eq!(chunked.error(), (413, "too_large".into()));
    let ordinary = Running::start().await;
    ordinary.database("db", &json!([])).await;
    let many = json!({ "selector": { "x": { "$in": vec![0; 3_000_000] } } });
    assert_eq!(
        ordinary.post("/db/_find", &many).await.error(),
        (413, "too_large".into())
    );
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut packer, &vec![b' '; 1 << 20]).unwrap();
    let bomb = server
        .ask("PUT", "/db/a")
        .header("content-encoding", "gzip");
    let bomb = bomb
        .body("application/json", packer.finish().unwrap())
        .send()
        .await;
    assert_eq!(bomb.error(), (413, "too_large".into()));
    let multipart = format!("--b\r\n\r\n{}", "x".repeat(20_000));
    let multipart = server
        .ask("PUT", "/db/a")
        .body("multipart/related; boundary=b", multipart)
        .send()
        .await;
    assert_eq!(multipart.error(), (413, "too_large".into()));
    assert_eq!(server.put("/db/a", &json!({})).await.status, 201);
}

#[tokio::test]
async fn a_member_of_a_bulk_that_is_given_twice_is_named() {
    let server = small().await;
    let bulk = "{\"docs\":[{}],\"docs\":[{}]}";
    let repeated = server.ask("POST", "/db/_bulk_docs");
    let repeated = repeated.body("application/json", bulk).send().await;
    assert_eq!(repeated.error(), (400, "bad_request".to_owned()));
    let reason = repeated.json()["reason"].as_str().unwrap().to_owned();
    assert!(reason.contains("duplicate field `docs`"), "{reason}");
}

#[tokio::test]
async fn what_is_no_json_is_refused_with_its_place() {
    let server = small().await;
    for (method, path, body, detail) in [
        ("PUT", "/db/a", "{\"a\":1,}", "at byte"),
        ("POST", "/db", "{\"a\":x}", "at byte"),
        ("POST", "/db/_bulk_docs", "{\"docs\":[{]}", "at byte"),
        ("POST", "/db/_find", "{", "line 1 column"),
        ("GET", "/db/_all_docs?keys=x", "", "line 1 column"),
        ("GET", "/db/_all_docs?key=x", "", "line 1 column"),
        ("GET", "/db/a?open_revs=x", "", "open_revs: expected"),
    ] {
        let asked = server.ask(method, path);
        let refused = asked.body("application/json", body.to_owned()).send().await;
        let answer = refused.json();
        let error = (&answer["error"], &answer["reason"]);
        let expected = (&json!("bad_request"), &json!("invalid UTF-8 JSON"));
        assert_eq!((refused.status.as_u16(), error), (400, expected), "{path}");
        let found = answer["detail"].as_str().unwrap_or_default();
        assert!(found.contains(detail), "{path}: {answer}");
    }
}

#[tokio::test]
async fn what_is_no_document_is_refused() {
    let server = small().await;
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(4000), "]".repeat(4000));
    for body in [
        "",
        "{",
        "[]",
        "1",
        "null",
        "\"text\"",
        "{\"a\":1}}",
        "{\"_x\":1}",
        "{\"_rev\":1}",
        "{\"a\":\"\\ud800\"}x",
        "{\"a\":1e999}x",
        "\u{feff}{}x",
        &deep,
    ] {
        let put = server
            .ask("PUT", "/db/a")
            .body("application/json", body.to_owned())
            .send()
            .await;
        assert_eq!(put.status, 400, "{body}: {}", put.text());
        put.json();
    }
    let no_text = server
        .ask("PUT", "/db/a")
        .body("application/json", vec![b'{', 0xff, b'}'])
        .send()
        .await;
    assert_eq!(no_text.error(), (400, "bad_request".into()));
    for (path, body) in [
        ("/db/_bulk_docs", "{}"),
        ("/db/_bulk_docs", "{\"docs\":1}"),
        ("/db/_bulk_docs", "{\"docs\":[1]}"),
        ("/db/_bulk_get", "{\"docs\":{}}"),
        ("/db/_revs_diff", "{\"a\":1}"),
        ("/db/_revs_diff", "{\"a\":[\"x\"]}"),
        ("/db/_purge", "[]"),
        ("/db/_all_docs", "{\"keys\":1}"),
        ("/db/_changes", "[]"),
        ("/_replicate", "{\"cancel\":1}"),
        (
            "/_replicate",
            "{\"source\":\"a\",\"target\":\"file:///etc/passwd\"}",
        ),
    ] {
        let posted = server
            .ask("POST", path)
            .body("application/json", body)
            .send()
            .await;
        assert_eq!(posted.status, 400, "{path} {body}: {}", posted.text());
        posted.json();
    }
}

/// Sends bytes as they are, and maybe that there are no more, and reads what comes back until the end.
async fn raw(server: &Running, request: &[u8], is_end: bool) -> String {
    let address = server.url.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    // The server may refuse before it has all.
    let _ = stream.write_all(request).await;
    if is_end {
        let _ = stream.shutdown().await;
    }
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn what_is_no_http_ends_the_connection_alone() {
    let server = small().await;
    let long = format!(
        "GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "a".repeat(70_000)
    );
    let many = format!("GET / HTTP/1.1\r\n{}\r\n", "X: y\r\n".repeat(10_000));
    for request in [
        &b"\0\xff\r\n\r\n"[..],
        b"GET\r\n\r\n",
        b"GET / HTTP/9\r\n\r\n",
        long.as_bytes(),
        many.as_bytes(),
    ] {
        let answer = raw(&server, request, true).await;
        assert!(
            answer.is_empty() || answer.starts_with("HTTP/1.1 4"),
            "{answer}"
        );
    }
    let cut = raw(
        &server,
        b"PUT /db/a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{\"x\":",
        true,
    )
    .await;
    assert!(cut.is_empty() || cut.starts_with("HTTP/1.1 400"), "{cut}");
    for byte in 0..=255_u8 {
        let request = format!(
            "PUT /db/x%{byte:02x}y HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{{}}"
        );
        let answer = raw(&server, request.as_bytes(), false).await;
        let expected = if byte < 0x80 {
            "HTTP/1.1 201"
        } else {
            "HTTP/1.1 400"
        };
        assert!(answer.starts_with(expected), "{byte:02x}: {answer}");
    }
    assert_eq!(server.get("/db").await.json()["doc_count"], 128);
}

#[tokio::test]
async fn connections_that_send_nothing_keep_nobody_out() {
    let server = small().await;
    let address = server.url.trim_start_matches("http://").to_owned();
    let mut idle = Vec::new();
    for _ in 0..40 {
        let mut stream = TcpStream::connect(&address).await.expect("a connection");
        stream
            .write_all(b"GET / HTTP/1.1\r\nX-Slow: ")
            .await
            .expect("a part of a head");
        idle.push(stream);
    }
    assert_eq!(server.get("/db").await.status, 200);
    drop(idle);
    until("the end of the idle connections", async || {
        server.statistic("connections").await <= 5.0
    })
    .await;
}

#[tokio::test]
async fn a_feed_whose_client_vanished_is_let_go() {
    let server = small().await;
    let mut open = Vec::new();
    for _ in 0..10 {
        let ask = server.ask("GET", "/db/_changes?feed=continuous&heartbeat=20");
        open.push(ask.response().await);
    }
    server.until_feeds_are(10).await;
    drop(open);
    server.until_feeds_are(0).await;
}

#[tokio::test]
async fn a_method_that_is_not_there_is_named_with_those_that_are() {
    let server = small().await;
    for (method, path, allowed) in [
        ("PATCH", "/db/a", "DELETE,GET,HEAD,POST,PUT,COPY"),
        ("GET", "/db/_bulk_docs", "POST"),
        ("DELETE", "/_all_dbs", "GET,HEAD"),
    ] {
        let answer = server.ask(method, path).send().await;
        assert_eq!(answer.error(), (405, "method_not_allowed".into()));
        assert_eq!(answer.header("allow"), allowed, "{method} {path}");
        assert_eq!(answer.json()["reason"], format!("Only {allowed} allowed"));
    }
    assert_eq!(server.get("/db/a/b/c").await.status, 404);
    assert_eq!(server.get("/_nothing").await.status, 404);
}
