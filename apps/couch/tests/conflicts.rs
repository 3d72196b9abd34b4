//! Revisions made elsewhere: conflicts, winners, stemming, purging.

mod common;

use common::*;
use inorder_couch::store::{Database, Error, Found, GetOptions, Missing, Refusal};
use proptest::prelude::*;
use std::collections::BTreeMap;

#[test]
fn the_winner_is_the_higher_leaf_that_is_not_deleted() {
    let store = store();
    replicate(
        &store.db,
        &[r#"{"_id":"a","_rev":"2-b","_revisions":{"start":2,"ids":["b","r"]},"n":"b"}"#],
    );
    replicate(
        &store.db,
        &[r#"{"_id":"a","_rev":"2-c","_revisions":{"start":2,"ids":["c","r"]},"n":"c"}"#],
    );
    assert!(get(&store.db, "a").contains(r#""n":"c""#));
    let options = GetOptions {
        conflicts: true,
        deleted_conflicts: true,
        ..GetOptions::default()
    };
    let read = || store.db.get("a", &options).unwrap().to_json();
    assert_eq!(
        read(),
        r#"{"_id":"a","_rev":"2-c","n":"c","_conflicts":["2-b"]}"#
    );
    replicate(
        &store.db,
        &[r#"{"_id":"a","_rev":"3-d","_revisions":{"start":3,"ids":["d","c"]},"_deleted":true}"#],
    );
    assert_eq!(
        read(),
        r#"{"_id":"a","_rev":"2-b","n":"b","_deleted_conflicts":["3-d"]}"#
    );
    assert_eq!(leaves(&store.db, "a").len(), 2);
    let info = store.db.info().unwrap();
    assert_eq!(
        (info.doc_count, info.deleted_count, info.update_seq),
        (1, 0, 3)
    );
    assert_eq!(info.external_bytes, r#"{"n":"b"}"#.len() as u64);
}

#[test]
fn any_leaf_may_be_edited() {
    let store = store();
    replicate(
        &store.db,
        &[
            r#"{"_id":"a","_rev":"1-b","n":"b"}"#,
            r#"{"_id":"a","_rev":"1-c","n":"c"}"#,
        ],
    );
    let next = put(&store.db, r#"{"_id":"a","_rev":"1-b","n":"b2"}"#);
    assert!(get(&store.db, "a").contains(&next));
    let deleted = put(
        &store.db,
        &format!(r#"{{"_id":"a","_rev":"{next}","_deleted":true}}"#),
    );
    assert!(get(&store.db, "a").contains("1-c"));
    assert_eq!(refused(&store.db, r#"{"_id":"a"}"#), Refusal::Conflict);
    let bodies: Vec<_> = leaves(&store.db, "a")
        .into_iter()
        .map(|leaf| leaf.2)
        .collect();
    assert_eq!(bodies, [r#"{"n":"c"}"#, "{}"]);
    // A leaf that is a deletion may be followed while the document is not deleted.
    put(
        &store.db,
        &format!(r#"{{"_id":"a","_rev":"{deleted}","n":"b4"}}"#),
    );
    assert!(get(&store.db, "a").contains(r#""n":"b4""#));
}

#[test]
fn what_is_known_is_passed_over() {
    let store = store();
    let revision = r#"{"_id":"a","_rev":"2-b","_revisions":{"start":2,"ids":["b","r"]},"n":1}"#;
    replicate(&store.db, &[revision]);
    let changes = all_changes(&store.db);
    replicate(&store.db, &[revision, r#"{"_id":"a","_rev":"1-r","n":0}"#]);
    assert_eq!(all_changes(&store.db), changes);
    assert_eq!(leaves(&store.db, "a").len(), 1);
    let written = replicate(
        &store.db,
        &[r#"{"_id":"a","_rev":"4-d","_revisions":{"start":4,"ids":["d","c","b"]},"n":4}"#],
    );
    assert_eq!(written[0].revision.to_string(), "4-d");
    let options = GetOptions {
        revs: true,
        ..GetOptions::default()
    };
    let json = store.db.get("a", &options).unwrap().to_json();
    assert!(
        json.ends_with(r#""_revisions":{"start":4,"ids":["d","c","b","r"]}}"#),
        "{json}"
    );
}

#[test]
fn a_replicated_edit_without_a_revision_is_refused() {
    let store = store();
    let outcomes = store.db.bulk_replicated(vec![edit(r#"{"_id":"a"}"#)]);
    assert!(matches!(
        outcomes.wait().unwrap()[0],
        Err(Refusal::BadRequest(_))
    ));
}

#[test]
fn missing_revisions_are_told_with_their_possible_ancestors() {
    let store = store();
    replicate(
        &store.db,
        &[r#"{"_id":"a","_rev":"2-b","_revisions":{"start":2,"ids":["b","r"]}}"#],
    );
    let asked = [
        ("a", vec!["1-r", "2-b", "3-x", "1-x"]),
        ("b", vec!["1-x"]),
        ("c", vec![]),
    ];
    let asked = asked.map(|(id, revs)| (id.to_owned(), revs.into_iter().map(revision).collect()));
    let diff = store.db.revs_diff(&asked.into()).unwrap();
    assert_eq!(
        format!("{diff:?}"),
        r#"{"a": ([3-x, 1-x], [2-b]), "b": ([1-x], [])}"#
    );
}

#[test]
fn open_revs_gives_leaves_or_what_was_asked_for() {
    let store = store();
    replicate(
        &store.db,
        &[
            r#"{"_id":"a","_rev":"2-b","_revisions":{"start":2,"ids":["b","r"]}}"#,
            r#"{"_id":"a","_rev":"2-c","_revisions":{"start":2,"ids":["c","r"]}}"#,
        ],
    );
    let shown = |revisions: &[&str], latest: bool| {
        let revisions: Vec<_> = revisions.iter().map(|text| revision(text)).collect();
        let options = GetOptions {
            latest,
            ..GetOptions::default()
        };
        let found = store.db.open_revs("a", Some(&revisions), &options).unwrap();
        let show = |found: &Found| match found {
            Found::Document(document) => document.revision.to_string(),
            Found::Missing(revision) => format!("no {revision}"),
        };
        found.iter().map(show).collect::<Vec<_>>()
    };
    assert_eq!(
        shown(&["2-b", "1-r", "7-x"], false),
        ["2-b", "no 1-r", "no 7-x"]
    );
    assert_eq!(
        shown(&["1-r", "2-b", "7-x"], true),
        ["2-c", "2-b", "no 7-x"]
    );
    assert_eq!(leaves(&store.db, "a").len(), 2);
    assert!(
        store
            .db
            .open_revs("b", None, &GetOptions::default())
            .unwrap()
            .is_empty()
    );
    let options = GetOptions {
        revision: Some(revision("1-r")),
        latest: true,
        ..GetOptions::default()
    };
    assert_eq!(
        store.db.get("a", &options).unwrap().revision,
        revision("2-c")
    );
}

#[test]
fn only_so_many_revisions_are_remembered() {
    let store = store();
    store.db.set_revs_limit(3).wait().unwrap();
    assert_eq!(store.db.revs_limit().unwrap(), 3);
    let mut rev = put(&store.db, r#"{"_id":"a"}"#);
    for _ in 0..6 {
        rev = put(&store.db, &format!(r#"{{"_id":"a","_rev":"{rev}"}}"#));
    }
    let options = GetOptions {
        revs: true,
        ..GetOptions::default()
    };
    let document = store.db.get("a", &options).unwrap();
    let history = document.history.unwrap();
    assert_eq!((history.start(), history.hashes().len()), (7, 3));
    store.db.set_revs_limit(1).wait().unwrap();
    put(&store.db, &format!(r#"{{"_id":"a","_rev":"{rev}"}}"#));
    let json = store.db.get("a", &options).unwrap();
    assert_eq!(json.history.unwrap().hashes().len(), 1);
}

#[test]
fn purged_leaves_are_as_if_they_had_never_been() {
    let store = store();
    replicate(
        &store.db,
        &[
            r#"{"_id":"a","_rev":"2-b","_revisions":{"start":2,"ids":["b","r"]},"n":"b"}"#,
            r#"{"_id":"a","_rev":"2-c","_revisions":{"start":2,"ids":["c","r"]},"n":"c"}"#,
            r#"{"_id":"b","_rev":"1-x"}"#,
        ],
    );
    let purge = |id: &str, revisions: &[&str]| {
        let revisions = revisions.iter().map(|text| revision(text)).collect();
        let purged = store.db.purge(BTreeMap::from([(id.to_owned(), revisions)]));
        purged.wait().unwrap()[0].revisions.len()
    };
    assert_eq!(purge("a", &["2-c", "1-r", "9-x"]), 1);
    assert_eq!(get(&store.db, "a"), r#"{"_id":"a","_rev":"2-b","n":"b"}"#);
    assert_eq!(purge("a", &["2-b"]), 1);
    assert_eq!(purge("a", &["2-b"]), 0);
    let gone = store.db.get("a", &GetOptions::default());
    assert!(matches!(gone, Err(Error::NotFound(Missing::Missing))));
    let info = store.db.info().unwrap();
    assert_eq!((info.doc_count, info.purge_seq), (1, 3));
    assert_eq!(info.external_bytes, 2);
    // Its sequence is not given again.
    put(&store.db, r#"{"_id":"c"}"#);
    let last = all_changes(&store.db).pop().unwrap();
    assert!(last.0 > info.update_seq, "{last:?} after {info:?}");
}

/// Replicated edits of a few documents: paths of random lengths in one random tree for each, some with attachments.
fn replicated_edits() -> impl Strategy<Value = Vec<String>> {
    // A node's parent is one of the nodes before it.
    let node = (0_usize..1000, any::<bool>(), 0_usize..3, 0_u8..4);
    let nodes = prop::collection::vec(node, 1..25);
    let all = prop::collection::vec(nodes, 1..4).prop_map(|documents| {
        let mut edits = Vec::new();
        for (document, nodes) in documents.iter().enumerate() {
            let mut paths: Vec<Vec<String>> = Vec::new();
            for (at, (parent, deleted, cut, kind)) in nodes.iter().enumerate() {
                let mut path = match at {
                    0 => Vec::new(),
                    _ => paths[parent % at].clone(),
                };
                path.insert(0, format!("{at:x}"));
                let start = path.len();
                // Not all of a path is told.
                let told = &path[..start.saturating_sub(cut * 2).max(1)];
                let ids = serde_json::to_string(told).unwrap();
                let more = match kind {
                    0 => r#""_attachments":{"a":{"data":"YQ=="}},"#,
                    1 => r#""_attachments":{"a":{"stub":true}},"#,
                    _ => "",
                };
                edits.push(format!(
                    r#"{{"_id":"d{document}","_rev":"{start}-{at:x}","_revisions":{{"start":{start},"ids":{ids}}},"_deleted":{deleted},{more}"n":{at}}}"#
                ));
                paths.push(path);
            }
        }
        edits
    });
    all.prop_flat_map(|edits| Just(edits).prop_shuffle())
}

/// All that is kept of a document: its leaves, its whole tree, and the document as it is shown.
fn kept(db: &Database, id: &str) -> (Vec<String>, Vec<String>) {
    let options = GetOptions {
        revs: true,
        revs_info: true,
        conflicts: true,
        deleted_conflicts: true,
        ..GetOptions::default()
    };
    let found = db.open_revs(id, None, &options).unwrap();
    let leaves = found.iter().map(|found| format!("{found:?}"));
    let bodies = (0..25).flat_map(|at| (1..25).map(move |start| (start, at)));
    let bodies = bodies.filter_map(|(start, at)| {
        let options = GetOptions {
            revision: Some(revision(&format!("{start}-{at:x}"))),
            ..GetOptions::default()
        };
        db.get(id, &options).ok().map(|it| it.to_json())
    });
    let blob = regex::Regex::new("blob: [0-9]+").unwrap();
    let leaves = leaves.map(|text| blob.replace_all(&text, "").into_owned());
    (leaves.collect(), bodies.collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn edits_of_one_request_do_what_each_does_alone(edits in replicated_edits()) {
        let (together, alone) = (store(), store());
        let outcomes = together.db.bulk_replicated(edits.iter().map(|json| edit(json)).collect());
        let outcomes = outcomes.wait().unwrap();
        for (json, outcome) in edits.iter().zip(outcomes) {
            let one = alone.db.bulk_replicated(vec![edit(json)]).wait().unwrap();
            prop_assert_eq!(&one[0], &outcome, "{}", json);
        }
        for id in ["d0", "d1", "d2"] {
            prop_assert_eq!(kept(&together.db, id), kept(&alone.db, id));
        }
        let info = |store: &Store| {
            let info = store.db.info().unwrap();
            (info.doc_count, info.deleted_count, info.external_bytes)
        };
        prop_assert_eq!(info(&together), info(&alone));
        // Compaction keeps the leaves of both, and frees the same attachments.
        for store in [&together, &alone] {
            store.db.compact().unwrap();
        }
        for id in ["d0", "d1", "d2"] {
            prop_assert_eq!(kept(&together.db, id), kept(&alone.db, id));
        }
    }
}
