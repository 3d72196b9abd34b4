//! Lists of documents and of changes: ranges, pages, filters.

mod common;

use common::*;
use inorder_couch::store::{AllDocs, Changes, Database, Event, GetOptions, RowValue, Style};

fn ids(db: &Database, question: &AllDocs) -> Vec<String> {
    let mut ids = Vec::new();
    let mut next = Some(question.clone());
    while let Some(question) = next {
        let page = db.all_docs(&question).unwrap();
        ids.extend(page.rows.into_iter().map(|row| row.id));
        next = page.next;
    }
    ids
}

fn letters() -> Store {
    let store = store();
    let edits = ["e", "b", "_design/x", "d", "ä", "c", "B", "gone"];
    let edits = edits.map(|id| edit(&format!(r#"{{"_id":"{id}","of":"{id}"}}"#)));
    let outcomes = store.db.bulk(edits.into()).wait().unwrap();
    let gone = outcomes[7].as_ref().unwrap();
    put(
        &store.db,
        &format!(
            r#"{{"_id":"gone","_rev":"{}","_deleted":true}}"#,
            gone.revision
        ),
    );
    store
}

#[test]
fn ids_are_in_the_order_of_their_bytes() {
    let store = letters();
    let all = ["B", "_design/x", "b", "c", "d", "e", "ä"];
    assert_eq!(ids(&store.db, &AllDocs::default()), all);
    let descending = AllDocs {
        descending: true,
        ..AllDocs::default()
    };
    assert_eq!(
        ids(&store.db, &descending),
        all.iter().rev().copied().collect::<Vec<_>>()
    );
    let page = store.db.all_docs(&AllDocs::default()).unwrap();
    assert_eq!(
        (page.total_rows, page.offset, page.update_seq),
        (7, Some(0), 9)
    );
}

#[test]
fn ranges_may_leave_out_their_end() {
    let store = letters();
    let range = |start: &str, end: &str, inclusive_end, descending| {
        let question = AllDocs {
            start: Some(start.to_owned()),
            end: Some(end.to_owned()),
            inclusive_end,
            descending,
            ..AllDocs::default()
        };
        ids(&store.db, &question).concat()
    };
    assert_eq!(range("b", "d", true, false), "bcd");
    assert_eq!(range("b", "d", false, false), "bc");
    assert_eq!(range("bb", "dd", true, false), "cd");
    assert_eq!(range("d", "b", true, true), "dcb");
    assert_eq!(range("d", "b", false, true), "dc");
    assert_eq!(range("d", "b", true, false), "");
    let question = AllDocs {
        start: Some("b".to_owned()),
        skip: 1,
        limit: Some(2),
        ..AllDocs::default()
    };
    assert_eq!(ids(&store.db, &question).concat(), "cd");
}

#[test]
fn keys_have_a_row_each_in_their_order() {
    let store = letters();
    let question = AllDocs {
        keys: Some(["e", "none", "b", "gone", "e"].map(Into::into).into()),
        include_docs: Some(GetOptions::default()),
        ..AllDocs::default()
    };
    let page = store.db.all_docs(&question).unwrap();
    let shown: Vec<_> = page
        .rows
        .iter()
        .map(|row| match &row.value {
            RowValue::Present { document, .. } => {
                format!("{} {}", row.id, document.as_ref().unwrap().body)
            }
            RowValue::Deleted { revision } => format!("{} deleted {}", row.id, revision.generation),
            RowValue::Missing => format!("{} missing", row.id),
            RowValue::NoId(key) => format!("{key} is no id"),
            RowValue::Local(_) => format!("{} is local", row.id),
        })
        .collect();
    let e = r#"e {"of":"e"}"#;
    assert_eq!(
        shown,
        [e, "none missing", r#"b {"of":"b"}"#, "gone deleted 2", e]
    );
    let descending = AllDocs {
        descending: true,
        skip: 1,
        limit: Some(2),
        ..question
    };
    assert_eq!(ids(&store.db, &descending).concat(), "goneb");
}

#[test]
fn long_lists_come_in_pages_that_fit_together() {
    let store = store();
    let text = "x".repeat(2000);
    let edits = (0..2500).map(|n| edit(&format!(r#"{{"_id":"{n:05}","t":"{text}"}}"#)));
    store.db.bulk(edits.collect()).wait().unwrap();
    let expected: Vec<_> = (0..2500).map(|n| format!("{n:05}")).collect();
    for include_docs in [None, Some(GetOptions::default())] {
        let question = AllDocs {
            include_docs,
            ..AllDocs::default()
        };
        assert!(store.db.all_docs(&question).unwrap().next.is_some());
        assert_eq!(ids(&store.db, &question), expected);
        let limited = AllDocs {
            limit: Some(1500),
            skip: 3,
            descending: true,
            ..question
        };
        let expected: Vec<_> = expected.iter().rev().skip(3).take(1500).cloned().collect();
        assert_eq!(ids(&store.db, &limited), expected);
        let by_keys = AllDocs {
            keys: Some(expected.iter().map(|id| id.as_str().into()).collect()),
            ..limited
        };
        assert_eq!(ids(&store.db, &by_keys).len(), 1497);
    }
    assert_eq!(all_changes(&store.db).len(), 2500);
    let first = store.db.changes(&Changes::default(), None).unwrap();
    assert_eq!(
        (first.last_seq, first.is_last, first.pending),
        (1000, false, 1500)
    );
}

#[test]
fn changes_are_in_the_order_they_happened() {
    let store = letters();
    let seqs: Vec<_> = all_changes(&store.db)
        .into_iter()
        .map(|change| (change.0, change.1))
        .collect();
    let expected = ["B", "_design/x", "b", "c", "d", "e", "ä"].map(str::to_owned);
    let seqs_expected = [1, 2, 3, 4, 5, 6, 8].into_iter().zip(expected);
    let mut expected: Vec<_> = seqs_expected.collect();
    expected.push((9, "gone".to_owned()));
    // A bulk is written in the order of ids: "gone" came before "ä", then changed again.
    assert_eq!(seqs, expected);
    let question = Changes {
        since: 6,
        ..Changes::default()
    };
    let page = store.db.changes(&question, None).unwrap();
    assert_eq!((page.changes.len(), page.last_seq, page.pending), (2, 9, 0));
    assert!(page.changes[1].deleted && page.is_last);
    let question = Changes {
        since: 100,
        ..Changes::default()
    };
    assert_eq!(store.db.changes(&question, None).unwrap().last_seq, 100);
}

#[test]
fn changes_may_be_limited_turned_and_chosen() {
    let store = letters();
    let shown = |question: Changes| {
        let page = store.db.changes(&question, None).unwrap();
        let ids: Vec<_> = page.changes.into_iter().map(|change| change.id).collect();
        (ids.join(" "), page.last_seq, page.pending, page.is_last)
    };
    let all = Changes::default;
    let two = Changes {
        limit: Some(2),
        ..all()
    };
    assert_eq!(shown(two.clone()), ("B _design/x".to_owned(), 2, 6, false));
    let newest = Changes {
        descending: true,
        ..two
    };
    assert_eq!(shown(newest.clone()).0, "gone ä");
    let before = Changes {
        before: Some(8),
        ..newest
    };
    assert_eq!(shown(before), ("e d".to_owned(), 5, 4, false));
    let design = Changes {
        design_only: true,
        ..all()
    };
    assert_eq!(shown(design), ("_design/x".to_owned(), 9, 0, true));
    let chosen = Changes {
        doc_ids: Some(["gone", "none", "b", "b"].map(str::to_owned).into()),
        ..all()
    };
    assert_eq!(shown(chosen.clone()), ("b gone".to_owned(), 9, 0, true));
    assert_eq!(
        shown(Changes {
            limit: Some(1),
            ..chosen.clone()
        }),
        ("b".to_owned(), 3, 5, false)
    );
    assert_eq!(
        shown(Changes {
            descending: true,
            ..chosen
        })
        .0,
        "gone b"
    );
    let nothing = Changes {
        limit: Some(0),
        ..all()
    };
    assert_eq!(shown(nothing), (String::new(), 0, 8, false));
}

#[test]
fn a_page_of_changes_says_how_many_are_left_in_both_directions() {
    for store in [letters(), store()] {
        let all = all_changes(&store.db);
        let last = all.last().map_or(0, |change| change.0);
        for descending in [false, true] {
            let mut ordered = all.clone();
            if descending {
                ordered.reverse();
            }
            for limit in 0..=all.len() + 1 {
                let question = Changes {
                    limit: Some(limit),
                    descending,
                    ..Changes::default()
                };
                let page = store.db.changes(&question, None).unwrap();
                let given = limit.min(all.len());
                let what = format!("limit {limit}, descending {descending}");
                let found: Vec<_> = page.changes.iter().map(|change| change.seq).collect();
                let expected: Vec<_> = ordered[..given].iter().map(|change| change.0).collect();
                assert_eq!(found, expected, "{what}");
                assert_eq!(page.pending, (all.len() - given) as u64, "{what}");
                let start = if descending { last } else { 0 };
                let end = match (page.is_last, descending) {
                    (true, false) => last,
                    _ => found.last().copied().unwrap_or(start),
                };
                assert_eq!(page.last_seq, end, "{what}");
            }
        }
    }
}

#[test]
fn a_filter_leaves_out_and_the_page_goes_on() {
    let store = letters();
    let question = Changes {
        include_docs: Some(GetOptions::default()),
        limit: Some(1),
        ..Changes::default()
    };
    let mut wanted = |change: &inorder_couch::store::Change| {
        Ok(change
            .document
            .as_ref()
            .is_some_and(|document| document.body.contains("\"d\"")))
    };
    let page = store.db.changes(&question, Some(&mut wanted)).unwrap();
    assert_eq!(
        (page.changes.len(), page.last_seq, page.is_last),
        (1, 5, false)
    );
    let question = Changes {
        since: 5,
        ..question
    };
    let page = store.db.changes(&question, Some(&mut wanted)).unwrap();
    assert_eq!(
        (page.changes.len(), page.last_seq, page.is_last),
        (0, 9, true)
    );
}

#[test]
fn every_leaf_is_listed_when_asked_for() {
    let store = store();
    replicate(
        &store.db,
        &[
            r#"{"_id":"a","_rev":"1-b"}"#,
            r#"{"_id":"a","_rev":"1-c","x":1}"#,
        ],
    );
    let question = Changes {
        style: Style::AllDocs,
        include_docs: Some(GetOptions {
            conflicts: true,
            ..GetOptions::default()
        }),
        ..Changes::default()
    };
    let change = store
        .db
        .changes(&question, None)
        .unwrap()
        .changes
        .pop()
        .unwrap();
    assert_eq!(change.revisions, [revision("1-c"), revision("1-b")]);
    let json = change.document.unwrap().to_json();
    assert_eq!(
        json,
        r#"{"_id":"a","_rev":"1-c","x":1,"_conflicts":["1-b"]}"#
    );
}

#[test]
fn whoever_watches_is_told_of_each_commit() {
    let store = store();
    let watch = store.db.watch();
    let mut events = store.databases.events();
    assert!(!watch.has_changed().unwrap());
    put(&store.db, r#"{"_id":"a"}"#);
    assert!(watch.has_changed().unwrap());
    assert_eq!(*watch.borrow(), 1);
    assert_eq!(events.try_recv().unwrap().event, Event::Updated);
    put(&store.db, r#"{"_id":"_local/a"}"#);
    assert_eq!(*watch.borrow(), 1);
    assert!(events.try_recv().is_err(), "a local document is no change");
    refused(&store.db, r#"{"_id":"a"}"#);
    assert!(events.try_recv().is_err());
    store.databases.delete("db").unwrap();
    assert_eq!(events.try_recv().unwrap().event, Event::Deleted);
    assert!(watch.has_changed().is_err(), "it is over");
    assert!(store.db.watch().has_changed().is_err());
}

#[test]
fn sequences_go_on_after_the_database_was_closed() {
    let folder = tempfile::tempdir().unwrap();
    let open = || inorder_couch::store::Databases::open(folder.path(), Default::default()).unwrap();
    let first = open();
    let db = first.create("db").unwrap();
    let revision = put(&db, r#"{"_id":"a"}"#);
    put(&db, r#"{"_id":"b"}"#);
    let purged = db.purge([("b".to_owned(), vec![common::revision(&revision)])].into());
    assert_eq!(purged.wait().unwrap()[0].revisions.len(), 1);
    let seq = db.info().unwrap().update_seq;
    drop((db, first));
    let db = open().get("db").unwrap();
    assert_eq!(*db.watch().borrow(), seq);
    put(&db, r#"{"_id":"c"}"#);
    assert_eq!(all_changes(&db).pop().unwrap().0, seq + 1);
}

#[test]
fn a_backup_is_a_database_of_its_own() {
    let store = letters();
    let path = store.folder.path().join("copy.sqlite");
    store.db.backup(&path).unwrap();
    put(&store.db, r#"{"_id":"later"}"#);
    let copy = store.databases.get("copy").unwrap();
    assert_eq!(ids(&copy, &AllDocs::default()).len(), 7);
    assert_eq!(all_changes(&copy).len(), 8);
    put(&copy, r#"{"_id":"own"}"#);
    assert!(store.db.backup(&path).is_err(), "it replaces nothing");
}
