//! Stock clients: PouchDB, in Node and in a real browser, and CouchDB's own nano. The tests are in `pouchdb/` and need `npm ci`
//! there.

use std::path::Path;
use std::process::Command;

fn run(file: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pouchdb");
    assert!(
        folder.join("node_modules/nano").exists(),
        "the clients are missing: npm ci --prefix {}",
        folder.display()
    );
    let status = Command::new("node")
        .args(["--test", "--test-reporter=spec", file])
        .current_dir(&folder)
        .env("INORDER_COUCH", env!("CARGO_BIN_EXE_inorder-couch"))
        .status();
    assert!(status.expect("node starts").success(), "{file}");
}

#[test]
#[ignore = "needs PouchDB"]
fn pouchdb_syncs_and_reads() {
    run("sync.test.mjs");
}

#[test]
#[ignore = "needs PouchDB"]
fn pouchdb_guide_synchronises_and_merges() {
    run("guide.test.mjs");
}

#[test]
#[ignore = "needs nano"]
fn nano_writes_reads_and_follows() {
    run("nano.test.mjs");
}

#[test]
#[ignore = "needs a browser"]
fn browser_pouchdb_goes_offline_and_converges() {
    run("offline.test.mjs");
}

#[test]
#[ignore = "needs a browser"]
fn browser_status_page_works() {
    run("page.test.mjs");
}

#[test]
#[ignore = "needs PouchDB and a browser"]
fn browser_doctor_names_what_pouchdb_skipped() {
    run("doctor.test.mjs");
}

#[test]
#[ignore = "needs a browser"]
fn browser_fauxton_works() {
    run("fauxton.test.mjs");
}
