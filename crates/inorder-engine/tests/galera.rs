//! Galera: what three nodes have in common, and what comes between them.

mod common;

use common::{engines, integers};
use inorder_engine::{Batch, Database, Io, Retry, Settings};

fn create(folder: &tempfile::TempDir) -> Option<Box<dyn Database>> {
    let engine = engines().into_iter().find(|e| e.name() == "galera")?;
    Some(engine.create(folder.path(), &Settings::default()).unwrap())
}

fn cause(io: &Io, name: &str) -> u64 {
    let found = io.causes.iter().find(|(cause, _)| *cause == name);
    found.unwrap_or_else(|| panic!("{name} of {io:?}")).1
}

#[test]
fn nodes_that_count_leave_out_the_numbers_of_the_others() {
    let folder = common::folder();
    let Some(database) = create(&folder) else {
        return;
    };
    database
        .execute("CREATE TABLE t(id BIGINT AUTO_INCREMENT PRIMARY KEY)")
        .unwrap();
    let before = database.io();
    for _ in 0..3 {
        let mut writer = database.writer("t", &[], Retry::default()).unwrap();
        writer.begin().unwrap();
        writer.insert(&Batch::default(), 0..4).unwrap();
        writer.commit().unwrap();
    }
    assert_eq!(database.count("t").unwrap(), 12);
    let keys = database.counted("t", "id", 100).unwrap().unwrap();
    assert_eq!(keys.len(), 12);
    // Each node has a different class.
    let classes = [0, 1, 2].map(|class| keys.iter().filter(|key| *key % 3 == class).count());
    assert_eq!(classes, [4, 4, 4], "{keys:?}");
    let few = database.counted("t", "id", 5).unwrap().unwrap();
    assert!(
        few.len() <= 5 && few.iter().all(|key| keys.contains(key)),
        "{few:?}"
    );
    let io = database.io() - before;
    assert_eq!(cause(&io, "replicated_transactions"), 3);
    assert!(cause(&io, "replicated_bytes") > 12 * 8);
    assert_eq!(cause(&io, "certification_failures"), 0);
    let settings = database.settings().unwrap();
    let told = |name: &str| settings.iter().find(|(n, _)| n == name).unwrap().1.clone();
    assert_eq!(told("wsrep_cluster_size"), "3");
    assert_eq!(told("auto_increment_offset"), "1, 2, 3");
}

#[test]
fn a_transaction_that_another_node_was_faster_than_is_counted_and_done_again() {
    let folder = common::folder();
    let Some(database) = create(&folder) else {
        return;
    };
    database
        .execute("CREATE TABLE t(x BIGINT PRIMARY KEY, id BIGINT UNIQUE AUTO_INCREMENT)")
        .unwrap();
    let before = database.io();
    let retry = Retry {
        retries_max: 5,
        ..Retry::default()
    };
    let writer = || database.writer("t", &["x"], retry).unwrap();
    let (mut faster, mut slower) = (writer(), writer());
    for writer in [&mut faster, &mut slower] {
        writer.begin().unwrap();
        writer.insert(&integers([1]), 0..1).unwrap();
    }
    faster.commit().unwrap();
    // Done again it finds the other's row.
    let error = slower.commit().unwrap_err();
    assert!(error.to_string().contains("Duplicate entry '1'"), "{error}");
    assert_eq!(slower.retries(), 1);
    slower.rollback().unwrap();
    slower.begin().unwrap();
    slower.insert(&integers([2]), 0..1).unwrap();
    slower.commit().unwrap();
    assert_eq!(database.count("t").unwrap(), 2);
    let io = database.io() - before;
    let lost = cause(&io, "certification_failures") + cause(&io, "brute_force_aborts");
    assert!(lost > 0, "{io:?}");
}
