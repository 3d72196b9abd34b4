//! Two stores that exchange random edits over a line that breaks hold the same leaves in the end.

mod common;

use common::*;
use inorder_couch::revision::Revision;
use inorder_couch::store::{Changes, Database, Edit, Found, GetOptions, Style};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Something that happens to the two stores.
#[derive(Clone, Debug)]
enum Step {
    /// A client edits a leaf of a document on one side: which document, which leaf, whether it deletes.
    Edit {
        side: usize,
        id: u8,
        leaf: usize,
        deletes: bool,
    },
    /// One side's changes are copied to the other, until the line breaks after so many documents.
    Replicate {
        from: usize,
        documents: usize,
    },
    Compact {
        side: usize,
    },
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..2usize, 0..3u8, 0..3usize, proptest::bool::weighted(0.3))
            .prop_map(|(side, id, leaf, deletes)| Step::Edit { side, id, leaf, deletes }),
        3 => (0..2usize, 0..4usize).prop_map(|(from, documents)| Step::Replicate { from, documents }),
        1 => (0..2usize).prop_map(|side| Step::Compact { side }),
    ]
}

fn edit_leaf(db: &Database, id: &str, leaf: usize, deletes: bool, number: usize) {
    let leaves: Vec<_> = leaves(db, id).into_iter().collect();
    let body = format!(r#"{{"_id":"{id}","n":{}}}"#, number % 3);
    let mut edit = edit(&body);
    edit.deleted = deletes && !leaves.is_empty();
    // A document whose leaves are all deletions starts again.
    if leaves.iter().any(|(_, deleted, _)| !deleted) {
        edit.history = Some(leaves[leaf % leaves.len()].0.clone().into());
    } else {
        edit.deleted = false;
    }
    // A leaf edited the same way as another before is a conflict; then nothing happens.
    let _ = db.put(edit).wait().unwrap();
}

/// Copies what `to` lacks, as a replicator does; gives up after so many documents. The sequence to go on from.
fn replicate_some(from: &Database, to: &Database, since: u64, documents: usize) -> u64 {
    let mut left = documents;
    let mut question = Changes {
        since,
        limit: Some(2),
        style: Style::AllDocs,
        ..Changes::default()
    };
    loop {
        let page = from.changes(&question, None).unwrap();
        let revisions = page
            .changes
            .iter()
            .map(|change| (change.id.clone(), change.revisions.clone()));
        let missing = to
            .revs_diff(&revisions.collect::<BTreeMap<_, _>>())
            .unwrap();
        for (id, (revisions, _)) in missing {
            if left == 0 {
                return question.since;
            }
            left -= 1;
            let options = GetOptions {
                revs: true,
                latest: true,
                ..GetOptions::default()
            };
            let found = from.open_revs(&id, Some(&revisions), &options).unwrap();
            let edits = found.iter().filter_map(|found| match found {
                Found::Document(document) => {
                    Some(Edit::from_json(&document.to_json(), &Default::default()).unwrap())
                }
                Found::Missing(_) => None,
            });
            let outcomes = to.bulk_replicated(edits.collect()).wait().unwrap();
            assert!(outcomes.iter().all(Result::is_ok));
        }
        question.since = page.last_seq;
        if page.is_last {
            return page.last_seq;
        }
    }
}

/// A document's winner and its leaves.
type Contents = (String, BTreeSet<(Revision, bool, String)>);

/// Every document.
fn contents(db: &Database) -> BTreeMap<String, Contents> {
    let document = |(_, id, winner): (u64, String, String)| {
        let leaves = leaves(db, &id);
        (id, (winner, leaves))
    };
    all_changes(db).into_iter().map(document).collect()
}

fn check_counts(db: &Database) {
    let changes = all_changes(db);
    let seqs: BTreeSet<_> = changes.iter().map(|change| change.0).collect();
    let ids: BTreeSet<_> = changes.iter().map(|change| &change.1).collect();
    assert_eq!(
        (seqs.len(), ids.len()),
        (changes.len(), changes.len()),
        "a sequence or a document twice"
    );
    let info = db.info().unwrap();
    let living = db.all_docs(&Default::default()).unwrap().rows.len() as u64;
    assert_eq!(
        (info.doc_count, info.deleted_count),
        (living, changes.len() as u64 - living)
    );
    let question = Changes {
        include_docs: Some(GetOptions::default()),
        ..Changes::default()
    };
    let winners = db.changes(&question, None).unwrap().changes.into_iter();
    let bytes = winners.map(|change| change.document.unwrap().body.len() as u64);
    assert_eq!(info.external_bytes, bytes.sum::<u64>());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn stores_converge_over_a_line_that_breaks(steps in proptest::collection::vec(any_step(), 1..40)) {
        let stores = [store(), store()];
        let dbs = [&stores[0].db, &stores[1].db];
        let mut since = [0; 2];
        for (number, step) in steps.into_iter().enumerate() {
            match step {
                Step::Edit { side, id, leaf, deletes } => edit_leaf(dbs[side], &format!("d{id}"), leaf, deletes, number),
                Step::Replicate { from, documents } => {
                    since[from] = replicate_some(dbs[from], dbs[1 - from], since[from], documents);
                }
                Step::Compact { side } => prop_assert!(dbs[side].compact().unwrap()),
            }
        }
        for from in [0, 1] {
            replicate_some(dbs[from], dbs[1 - from], since[from], usize::MAX);
        }
        prop_assert_eq!(contents(dbs[0]), contents(dbs[1]));
        dbs.into_iter().for_each(check_counts);
    }
}

#[test]
fn the_same_edit_on_two_sides_is_no_conflict() {
    let (one, other) = (store(), store());
    for db in [&one.db, &other.db] {
        let first = put(db, r#"{"_id":"a","x":1}"#);
        put(
            db,
            &format!(
                r#"{{"_id":"a","_rev":"{first}","x":[1.0,"é",{{}}],"_attachments":{{"t":{{"content_type":"text/plain","data":"aGVsbG8="}}}}}}"#
            ),
        );
    }
    replicate_some(&one.db, &other.db, 0, usize::MAX);
    assert_eq!(leaves(&other.db, "a").len(), 1);
    assert_eq!(contents(&one.db), contents(&other.db));
}
