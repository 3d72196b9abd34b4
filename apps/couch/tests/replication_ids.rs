//! Replication ids are those of CouchDB 3.5.0: `replication_ids/record.py` recorded them from one.

use inorder_couch::replicate::{
    Principal, ReplicateError, Replication, Request, Tuning, checkpoint_id, job_id,
};
use serde_json::{Map, Value};

/// The server's id while the ids were recorded.
const UUID: &str = "0123456789abcdef0123456789abcdef";

const RECORDED: &str = include_str!("replication_ids/ids.jsonl");

/// CouchDB's names for errors that it did not foresee.
const UNFORESEEN: [&str; 2] = ["case_clause", "unknown_error"];

fn replication(body: &Map<String, Value>) -> Result<Replication, ReplicateError> {
    match Request::from_json(body, Principal::default(), &Tuning::default())? {
        Request::Start(replication) | Request::Cancel(replication) => Ok(*replication),
        Request::CancelId(id) => panic!("{id}"),
    }
}

fn lines() -> impl Iterator<Item = Value> {
    RECORDED
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
}

#[test]
fn ids_are_those_of_couchdb() {
    let (mut compared, mut different) = (0, Vec::new());
    for line in lines() {
        let Some(expected) = line["id"].as_str() else {
            continue;
        };
        let replication = replication(line["body"].as_object().unwrap())
            .unwrap_or_else(|error| panic!("{line}: {error}"));
        let id = checkpoint_id(UUID, &replication, line["code"].as_str());
        if job_id(&id, &replication) != expected {
            different.push(line.to_string());
        }
        compared += 1;
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
    assert!(compared > 200, "{compared}");
}

#[test]
fn errors_are_those_of_couchdb() {
    let mut compared = 0;
    for line in lines() {
        let Some(expected) = line["error"].as_str() else {
            continue;
        };
        if UNFORESEEN.contains(&expected) {
            continue;
        }
        let Err(error) = replication(line["body"].as_object().unwrap()) else {
            panic!("{line} is no error");
        };
        assert_eq!(error.name(), expected, "{line}");
        assert_eq!(error.to_string(), line["reason"], "{line}");
        compared += 1;
    }
    assert!(compared > 30, "{compared}");
}
