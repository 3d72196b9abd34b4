//! The end of a server.

use crate::client::Running;
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn feeds_end_and_requests_finish_at_the_stop() {
    let mut server = Running::start().await;
    server.database("db", &json!([])).await;
    let feed = server
        .ask("GET", "/db/_changes?feed=continuous&heartbeat=10000")
        .response()
        .await;
    let slow = futures_util::stream::unfold(0, |at| async move {
        tokio::time::sleep(Duration::from_millis(20)).await;
        (at < 20).then(|| (Ok::<_, std::io::Error>(vec![b'x'; 10]), at + 1))
    });
    let slow = server
        .ask("PUT", "/db/a/slow")
        .body("a/b", reqwest::Body::wrap_stream(slow))
        .send();
    let stop = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        server.stop.cancel();
    };
    let (put, ()) = tokio::join!(slow, stop);
    assert_eq!(put.status, 201);
    let last = feed.text().await.expect("a whole body");
    assert!(last.contains("last_seq"), "{last}");
    server.ended.take().unwrap().await.expect("no panic");
}
