//! The end of a server.

use crate::client::Running;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

#[tokio::test]
async fn feeds_end_and_requests_finish_at_the_stop() {
    let mut server = Running::start().await;
    server.database("db", &json!([])).await;
    let feed = server
        .ask("GET", "/db/_changes?feed=continuous&heartbeat=10000")
        .response()
        .await;
    let address = server.url.trim_start_matches("http://");
    let mut put = TcpStream::connect(address).await.expect("a connection");
    let head = "PUT /db/a/slow HTTP/1.1\r\nHost: localhost\r\nContent-Type: a/b\r\n\
                Content-Length: 10\r\nExpect: 100-continue\r\n\r\n";
    put.write_all(head.as_bytes()).await.expect("sent");
    // The server asks for the body: the request is under way.
    let mut text = [0; 25];
    put.read_exact(&mut text).await.expect("an answer");
    assert_eq!(&text, b"HTTP/1.1 100 Continue\r\n\r\n");
    server.stop.cancel();
    let last = feed.text().await.expect("a whole body");
    assert!(last.contains("last_seq"), "{last}");
    put.write_all(&[b'x'; 10]).await.expect("sent");
    let mut text = String::new();
    put.read_to_string(&mut text).await.expect("an answer");
    assert!(text.starts_with("HTTP/1.1 201"), "{text}");
    server.ended.take().unwrap().await.expect("no panic");
}
