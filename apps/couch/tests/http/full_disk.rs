//! A disk without room: writes are refused, and what was acknowledged stays.

use crate::client::Running;
use inorder_couch::auth::Auth;
use inorder_couch::http::ServerSettings;
use inorder_couch::store;
use serde_json::{Value, json};

#[tokio::test]
async fn a_full_disk_is_told_and_loses_nothing() {
    let full = store::Settings {
        file_bytes_max: Some(400_000),
        ..store::Settings::default()
    };
    let server =
        Running::start_with_store(full, Auth::new(None, b""), ServerSettings::default()).await;
    server.put("/db", &Value::Null).await;
    let padding = "x".repeat(3000);
    let mut kept = Vec::new();
    let refused = loop {
        let path = format!("/db/{}", kept.len());
        let answer = server.put(&path, &json!({ "padding": padding })).await;
        match answer.status.as_u16() {
            201 => kept.push((path, answer.json()["rev"].clone())),
            _ => break answer,
        }
    };
    assert!(kept.len() > 20, "{}", kept.len());
    assert_eq!(refused.error(), (507, "insufficient_storage".into()));
    assert!(refused.text().contains("free some space"));
    let docs: Vec<Value> = (0..100).map(|_| json!({ "padding": padding })).collect();
    let bulk = server
        .post("/db/_bulk_docs", &json!({ "docs": docs }))
        .await;
    assert_eq!(bulk.error(), (507, "insufficient_storage".into()));
    let noise: Vec<u8> = (0..3_000_000_u32)
        .map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    let attachment = server
        .ask("PUT", "/db/a/noise")
        .body("image/x", noise)
        .send()
        .await;
    assert_eq!(attachment.error(), (507, "insufficient_storage".into()));
    let check = async |server: &Running| {
        assert_eq!(server.get("/db").await.json()["doc_count"], kept.len());
        for (path, rev) in &kept {
            assert_eq!(server.get(path).await.json()["_rev"], *rev);
        }
    };
    check(&server).await;
    let server = server.restarted(store::Settings::default()).await;
    check(&server).await;
    let bulk = server
        .post("/db/_bulk_docs", &json!({ "docs": docs }))
        .await;
    assert_eq!(bulk.status, 201);
}
