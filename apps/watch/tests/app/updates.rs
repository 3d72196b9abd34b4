//! The notice of a newer version, and the place that it is looked for at.

use crate::client::Site;
use axum::{Router, http::StatusCode, routing::get};
use inorder_watch::updates;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Answers everything with this text, at the address that is returned.
async fn place(text: &'static str) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let routes = Router::new()
        .route("/latest", get(move || async move { text }))
        .fallback(|| async { StatusCode::NOT_FOUND });
    tokio::spawn(async { axum::serve(listener, routes).await });
    address
}

/// The page of the users, after the place was looked at once.
async fn page(text: &'static str) -> String {
    let (site, mut people) = Site::with_people(&["anna"]).await;
    let address = format!("{}/latest", place(text).await);
    let look = updates::watch(address, site.app.newer(), CancellationToken::new());
    // It looks at once, and again after a day.
    let _ = tokio::time::timeout(Duration::from_secs(1), look).await;
    people[0].get("/users").await.text
}

#[tokio::test]
async fn the_owner_is_told_of_a_newer_version() {
    let page = page(r#"{"tag_name": "v999.1.0", "name": "A release", "draft": false}"#).await;
    let said = format!(
        "Version 999.1.0 of What to Watch is there. This is {}.",
        env!("CARGO_PKG_VERSION")
    );
    assert!(page.contains(&said), "{page}");
}

#[tokio::test]
async fn an_older_version_and_no_version_are_no_news() {
    for text in [
        r#"{"tag_name": "v0.0.1"}"#,
        r#"{"tag_name": "nightly"}"#,
        "<html>",
    ] {
        let page = page(text).await;
        assert!(!page.contains("What to Watch is there"), "{page}");
    }
}

#[tokio::test]
async fn an_answer_that_is_none_says_why() {
    let address = place(r#"{"tag_name": "v1.2.3"}"#).await;
    assert_eq!(
        updates::newest(&format!("{address}/latest")).await.unwrap(),
        "1.2.3"
    );
    let error = updates::newest(&format!("{address}/elsewhere"))
        .await
        .unwrap_err();
    assert_eq!(error, "it answered 404 Not Found");
    assert!(updates::newest("http://127.0.0.1:1/").await.is_err());
    let odd = place(r#"{"tag_name": "nightly"}"#).await;
    let error = updates::newest(&format!("{odd}/latest")).await.unwrap_err();
    assert_eq!(error, "\"nightly\" is no version");
}
