//! The assistant that prepares a new server. The expected answers are those of CouchDB 3.5.0 as a single node.

use crate::client::Running;
use inorder_couch::auth::password::PasswordHash;
use serde_json::json;

#[tokio::test]
async fn a_single_node_is_set_up_once_and_again() {
    let server = Running::start().await;
    let config = "/_node/_local/_config";
    server
        .put(&format!("{config}/chttpd_auth/iterations"), &json!("2"))
        .await;
    // Without an admin, these credentials mean nothing.
    let ask = |method: &str, path: &str| {
        let ask = server.ask(method, path);
        ask.header("authorization", "Basic YW5uYTpzM2NyZXQ=")
    };
    let state = async || {
        let state = ask("GET", "/_cluster_setup").send().await.json();
        state["state"].clone()
    };
    assert_eq!(state().await, "single_node_disabled");
    let nobody = server
        .post(
            "/_cluster_setup",
            &json!({ "action": "enable_single_node" }),
        )
        .await;
    assert_eq!(nobody.error(), (400, "bad_request".into()));
    let setup = json!({
        "action": "enable_single_node", "username": "anna", "password": "s3cret",
        "bind_address": "0.0.0.0", "port": 5984, "singlenode": true,
    });
    let mut hashes = Vec::new();
    for _ in 0..2 {
        let done = ask("POST", "/_cluster_setup").json(&setup).send().await;
        assert_eq!(
            (done.status.as_u16(), done.text()),
            (201, "{\"ok\":true}\n")
        );
        let stored = ask("GET", &format!("{config}/admins/anna"));
        let stored = stored.send().await.json();
        hashes.push(stored.as_str().unwrap().to_owned());
    }
    assert!(hashes[0].parse::<PasswordHash>().unwrap().verify("s3cret"));
    assert_eq!(hashes[0], hashes[1], "the same password ends no session");
    assert_eq!(state().await, "single_node_enabled");
    let chttpd = ask("GET", &format!("{config}/chttpd")).send().await.json();
    assert_eq!(
        (&chttpd["bind_address"], &chttpd["port"]),
        (&json!("0.0.0.0"), &json!("5984"))
    );
    let other = ask("GET", "/_cluster_setup?ensure_dbs_exist=%5B%22films%22%5D");
    let other = other.send().await;
    assert_eq!(other.json()["state"], "single_node_disabled");
}

#[tokio::test]
async fn a_finished_cluster_is_finished() {
    let server = Running::start().await;
    let finish = json!({ "action": "finish_cluster", "ensure_dbs_exist": ["films", "people"] });
    assert_eq!(server.post("/_cluster_setup", &finish).await.status, 201);
    assert_eq!(server.get("/people").await.status, 200);
    let again = server.post("/_cluster_setup", &finish).await;
    assert_eq!(again.error(), (400, "bad_request".into()));
    assert_eq!(again.json()["reason"], "Cluster is already finished");
}

#[tokio::test]
async fn what_is_no_setup_is_refused() {
    let server = Running::start().await;
    for (body, reason) in [
        ("{}", "Invalid Action'"),
        ("[]", "Missing JSON body'"),
        ("x", "Missing JSON body'"),
        (r#"{"action":"add_node"}"#, "Cluster is not enabled."),
        (
            r#"{"action":"enable_single_node","username":"a","password":"b","bind_address":"x"}"#,
            "Setup requires a valid IP bind_address.",
        ),
    ] {
        let refused = server
            .ask("POST", "/_cluster_setup")
            .body("application/json", body);
        let refused = refused.send().await;
        assert_eq!(refused.error(), (400, "bad_request".into()), "{body}");
        assert_eq!(refused.json()["reason"], reason, "{body}");
    }
    let cluster = json!({ "action": "enable_cluster", "node_count": 3 });
    assert_eq!(
        server.post("/_cluster_setup", &cluster).await.error().0,
        501
    );
    assert_eq!(server.delete("/_cluster_setup").await.error().0, 405);
}
