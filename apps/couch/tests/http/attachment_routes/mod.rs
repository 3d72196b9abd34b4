//! Attachments of generated revision trees, written and read by every route. A revision has the bytes that it was written with,
//! wherever it is read, and a digest that is the digest of these bytes.

mod readers;
mod tree;
mod writers;

use crate::client::Running;
use inorder_couch::store;
use readers::{check_database, digests_are_of_their_bytes};
use serde_json::json;
use tree::{Dice, Tree};

const STEPS: usize = 9;
const DOCS: &[&str] = &["a", "b/c", "d e", "ü", ".", "p+q", "_design/x", "z"];

async fn compacted(server: &Running, database: &str) {
    let path = format!("/{database}/_compact");
    assert_eq!(server.post(&path, &json!({})).await.status, 202);
    crate::client::until("the compaction", async || {
        let info = server.get(&format!("/{database}")).await.json();
        info["compact_running"] == false
    })
    .await;
}

async fn replicated(server: &Running, source: &str, target: &str) {
    let asked = json!({ "source": source, "target": target, "create_target": true });
    let answer = server.post("/_replicate", &asked).await;
    assert_eq!(answer.json()["ok"], true, "{}", answer.text());
}

#[tokio::test]
async fn every_route_gives_a_revision_its_own_bytes() {
    let server = Running::start().await;
    server.database("db", &json!([])).await;
    let mut dice = Dice::new(2);
    let mut trees: Vec<Tree> = DOCS.iter().map(|id| Tree::new(id)).collect();
    for step in 0..STEPS {
        for tree in &mut trees {
            writers::grow(&server, tree, &mut dice).await;
        }
        if step == STEPS / 2 {
            compacted(&server, "db").await;
            trees.iter_mut().for_each(Tree::forget_inner);
        }
    }
    check_database(&server, "db", &trees, &mut dice).await;
    let url = |database: &str| format!("{}/{database}", server.url);
    replicated(&server, "db", "local").await;
    replicated(&server, &url("db"), "pulled").await;
    replicated(&server, "db", &url("pushed")).await;
    replicated(&server, &url("pulled"), &url("again")).await;
    for database in ["local", "pulled", "pushed", "again"] {
        check_database(&server, database, &trees, &mut dice).await;
    }
    compacted(&server, "db").await;
    let server = server.restarted(store::Settings::default()).await;
    check_database(&server, "db", &trees, &mut dice).await;
    digests_are_of_their_bytes(&server, "db", &trees).await;
}
