//! Replication with a real CouchDB, in both directions and driven by either side.
//!
//! `INORDER_TEST_COUCHDB=http://admin:secret@127.0.0.1:5984 cargo test -p inorder-couch --test couchdb -- --nocapture` prints the
//! matrix of cases. The CouchDB must reach 127.0.0.1 of this machine. The test makes databases there and deletes them.

mod cases;
#[path = "../common/proxy.rs"]
mod proxy;
mod servers;
mod state;

use cases::{CASES, Case};
use futures_util::FutureExt;
use servers::{Server, Side, Way};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

/// The variable with the URL of the CouchDB, with the name and password of an admin.
const COUCHDB: &str = "INORDER_TEST_COUCHDB";

const WAYS: &[Way] = &[
    Way::new(Side::Couchdb, Side::Inorder, Side::Inorder),
    Way::new(Side::Couchdb, Side::Inorder, Side::Couchdb),
    Way::new(Side::Inorder, Side::Couchdb, Side::Inorder),
    Way::new(Side::Inorder, Side::Couchdb, Side::Couchdb),
];

/// A case in one direction; why it failed, if it did.
async fn run(case: &Case, way: &'static Way, couchdb: &Arc<Server>) -> Result<(), String> {
    let done = AssertUnwindSafe(case.run(way, Arc::clone(couchdb)));
    done.catch_unwind().await.map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let constant = panic.downcast_ref::<&str>().map(ToString::to_string);
        text.or(constant).unwrap_or_else(|| "a panic".to_owned())
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn couchdb_and_this_server_replicate_in_both_directions() {
    let Ok(url) = std::env::var(COUCHDB) else {
        eprintln!(
            "SKIPPED: no CouchDB: set {COUCHDB} to its URL, with the name and password of an admin"
        );
        return;
    };
    let only = std::env::var("INORDER_TEST_CASE").unwrap_or_default();
    let couchdb = Arc::new(Server::couchdb(&url).await);
    println!(
        "{:24} {}",
        "",
        WAYS.iter()
            .map(|way| format!("{way:38}"))
            .collect::<String>()
    );
    let mut failures = Vec::new();
    for case in CASES.iter().filter(|case| case.name.contains(&only)) {
        print!("{:24} ", case.name);
        for way in WAYS {
            let begun = Instant::now();
            let cell = match run(case, way, &couchdb).await {
                Ok(()) => format!("ok, {} ms", begun.elapsed().as_millis()),
                Err(reason) => {
                    failures.push(format!("{}, {way}: {reason}", case.name));
                    "FAILED".to_owned()
                }
            };
            print!("{cell:38}");
        }
        println!();
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}
