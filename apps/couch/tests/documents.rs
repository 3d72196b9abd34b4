//! Documents are written, read, updated, deleted and recreated as in CouchDB.

mod common;

use common::*;
use inorder_couch::store::{
    Consent, Database, Draft, Error, GetOptions, Limits, Missing, Mode, Progress, Proposal,
    Refusal, Settings,
};

#[test]
fn a_document_has_the_revisions_of_couchdb() {
    let store = store();
    let first = put(&store.db, r#"{"_id":"a","x":1}"#);
    assert_eq!(first, "1-0785e9eb543380151003dc452c3a001a");
    let second = put(
        &store.db,
        &format!(r#"{{"_id":"a","_rev":"{first}","x":2}}"#),
    );
    assert_eq!(second, "2-8c49edca19d786e747fb5bea32c4cb91");
    let third = put(
        &store.db,
        &format!(r#"{{"_id":"a","_rev":"{second}","_deleted":true}}"#),
    );
    assert_eq!(third, "3-fb567087695adb203ba116e130794a84");
    let attached = put(
        &store.db,
        r#"{"_id":"b","x":1,"_attachments":{"a.txt":{"content_type":"text/plain","data":"aGVsbG8="}}}"#,
    );
    assert_eq!(attached, "1-0902a3c4462c9e14cc11a792f6251ddd");
}

#[test]
fn a_body_comes_back_as_it_was_spelled() {
    let store = store();
    let body =
        r#"{"z":1.0,"a":1e3,"n":123456789012345678901234567890,"é":"\u00e9","list":[{},[]]}"#;
    let edit = inorder_couch::store::Edit::from_json(body, &Limits::default()).unwrap();
    let written = store.db.put(edit).wait().unwrap().unwrap();
    let document = store.db.get(&written.id, &GetOptions::default()).unwrap();
    assert_eq!(document.body, body);
    assert_eq!(written.id.len(), 32);
    let expected = format!(
        r#"{{"_id":"{}","_rev":"{}",{}"#,
        written.id,
        written.revision,
        &body[1..]
    );
    assert_eq!(document.to_json(), expected);
}

#[test]
fn only_an_edit_of_a_current_revision_is_accepted() {
    let store = store();
    let first = put(&store.db, r#"{"_id":"a"}"#);
    assert_eq!(
        refused(&store.db, r#"{"_id":"a","x":1}"#),
        Refusal::Conflict
    );
    assert_eq!(
        refused(&store.db, r#"{"_id":"a","_rev":"1-b"}"#),
        Refusal::Conflict
    );
    assert_eq!(
        refused(&store.db, r#"{"_id":"b","_rev":"1-b"}"#),
        Refusal::Conflict
    );
    let second = put(
        &store.db,
        &format!(r#"{{"_id":"a","_rev":"{first}","x":2}}"#),
    );
    let stale = format!(r#"{{"_id":"a","_rev":"{first}","x":3}}"#);
    assert_eq!(refused(&store.db, &stale), Refusal::Conflict);
    assert!(get(&store.db, "a").contains(&second));
}

#[test]
fn a_deleted_document_begins_anew_from_its_deletion() {
    let store = store();
    let first = put(&store.db, r#"{"_id":"a","x":1}"#);
    let deleted = put(
        &store.db,
        &format!(r#"{{"_id":"a","_rev":"{first}","_deleted":true,"why":1}}"#),
    );
    let read = |options: &GetOptions| store.db.get("a", options);
    assert!(matches!(
        read(&GetOptions::default()),
        Err(Error::NotFound(Missing::Deleted))
    ));
    let options = GetOptions {
        revision: Some(revision(&deleted)),
        ..GetOptions::default()
    };
    assert!(
        read(&options)
            .unwrap()
            .to_json()
            .ends_with(r#""why":1,"_deleted":true}"#)
    );
    let again = format!(r#"{{"_id":"a","_rev":"{deleted}","x":3}}"#);
    assert_eq!(refused(&store.db, &again), Refusal::Conflict);
    assert_eq!(
        refused(&store.db, r#"{"_id":"a","_deleted":true}"#),
        Refusal::Conflict
    );
    let third = put(&store.db, r#"{"_id":"a","x":1}"#);
    assert!(third.starts_with("3-"));
    let options = GetOptions {
        revs: true,
        ..GetOptions::default()
    };
    let history = read(&options).unwrap().history.unwrap();
    let history: Vec<_> = history
        .revisions()
        .map(|revision| revision.to_string())
        .collect();
    assert_eq!(history, [third, deleted, first]);
}

#[test]
fn earlier_revisions_are_there_until_a_compaction() {
    let store = store();
    let first = put(&store.db, r#"{"_id":"a","x":1}"#);
    let second = put(
        &store.db,
        &format!(r#"{{"_id":"a","_rev":"{first}","x":2}}"#),
    );
    let options = GetOptions {
        revision: Some(revision(&first)),
        ..GetOptions::default()
    };
    assert_eq!(store.db.get("a", &options).unwrap().body, r#"{"x":1}"#);
    let statuses = || {
        let options = GetOptions {
            revs_info: true,
            ..GetOptions::default()
        };
        let json = store.db.get("a", &options).unwrap().to_json();
        json[json.find("_revs_info").unwrap()..].to_owned()
    };
    let with = |status: &str| {
        format!(
            r#"_revs_info":[{{"rev":"{second}","status":"available"}},{{"rev":"{first}","status":"{status}"}}]}}"#
        )
    };
    assert_eq!(statuses(), with("available"));
    let changes = all_changes(&store.db);
    assert!(store.db.compact().unwrap());
    assert_eq!(statuses(), with("missing"));
    assert!(matches!(
        store.db.get("a", &options),
        Err(Error::NotFound(Missing::Missing))
    ));
    assert_eq!(
        get(&store.db, "a"),
        format!(r#"{{"_id":"a","_rev":"{second}","x":2}}"#)
    );
    assert_eq!(all_changes(&store.db), changes, "a compaction is no change");
}

#[test]
fn a_bulk_answers_in_the_order_given_and_refuses_each_alone() {
    let store = store();
    put(&store.db, r#"{"_id":"m"}"#);
    let edits =
        ["z", "m", "_x", "a", "z", "_local/l"].map(|id| edit(&format!(r#"{{"_id":"{id}"}}"#)));
    let outcomes = store.db.bulk(edits.into()).wait().unwrap();
    let shown: Vec<_> = outcomes
        .iter()
        .map(|outcome| match outcome {
            Ok(written) => format!("{} {}", written.id, &written.revision.to_string()[..3]),
            Err(refusal) => refusal.to_string(),
        })
        .collect();
    assert_eq!(
        shown,
        [
            "z 1-9",
            "Document update conflict.",
            "Only reserved document ids may start with underscore.",
            "a 1-9",
            "Document update conflict.",
            "_local/l 0-1",
        ]
    );
    assert_eq!(store.db.info().unwrap().doc_count, 3);
}

#[test]
fn local_documents_are_counted_and_not_listed() {
    let store = store();
    assert_eq!(put(&store.db, r#"{"_id":"_local/a","x":1}"#), "0-1");
    assert_eq!(
        put(&store.db, r#"{"_id":"_local/a","_rev":"0-1","x":2}"#),
        "0-2"
    );
    let local = store.db.local_get("_local/a").unwrap();
    assert_eq!(local.to_json(), r#"{"_id":"_local/a","_rev":"0-2","x":2}"#);
    assert!(all_changes(&store.db).is_empty());
    assert_eq!(store.db.local_docs(None, 10).unwrap().len(), 1);
    store.db.local_delete("_local/a").wait().unwrap();
    assert!(matches!(
        store.db.local_get("_local/a"),
        Err(Error::NotFound(_))
    ));
    assert!(matches!(
        store.db.local_delete("_local/a").wait(),
        Err(Error::NotFound(_))
    ));
}

/// Drafts that are proposed, and consented to as `allows` says.
fn proposed(
    db: &Database,
    edits: &[String],
    mode: Mode,
    allows: impl Fn(&Proposal) -> bool,
) -> (Vec<Draft>, Vec<Option<Proposal>>) {
    let drafts = edits.iter().map(|json| db.draft(edit(json)).unwrap());
    let mut drafts: Vec<Draft> = drafts.collect();
    let design_seq = db.design_seq().unwrap();
    let proposals = db.propose(&drafts, mode, usize::MAX).unwrap();
    for (draft, proposal) in drafts.iter_mut().zip(&proposals) {
        let allowed = proposal.as_ref().filter(|proposal| allows(proposal));
        draft.consent = allowed.map_or(Consent::Missing, |proposal| Consent::Given {
            design_seq,
            basis: Some(proposal.basis.clone()),
        });
    }
    (drafts, proposals)
}

fn is_stale(progress: &Progress) -> bool {
    matches!(progress, Progress::Stale(_))
}

#[test]
fn a_proposal_shows_both_revisions_and_only_what_is_consented_to_is_written() {
    let store = store();
    let first = put(&store.db, r#"{"_id":"a","x":1}"#);
    let edits = [
        format!(r#"{{"_id":"a","_rev":"{first}","x":2}}"#),
        r#"{"_id":"b","bad":true}"#.to_owned(),
        r#"{"_id":"_local/c"}"#.to_owned(),
        r#"{"_id":"_design/d"}"#.to_owned(),
        r#"{"_id":"a","x":3}"#.to_owned(),
    ];
    let good = |proposal: &Proposal| !proposal.new.body.contains("bad");
    let (drafts, proposals) = proposed(&store.db, &edits, Mode::New, good);
    let [Some(a), Some(b), None, None, None] = &proposals[..] else {
        panic!("local and design documents and conflicts are nobody's: {proposals:?}")
    };
    let new = a.new.to_json();
    assert!(new.contains(r#""x":2,"_revisions":{"start":2,"#), "{new}");
    assert_eq!(
        a.old.as_ref().unwrap().to_json(),
        format!(r#"{{"_id":"a","_rev":"{first}","x":1}}"#)
    );
    assert!(b.old.is_none());
    let written = store.db.write_drafts(drafts, Mode::New).wait().unwrap();
    assert!(matches!(&written[0], Progress::Done(Ok(_))));
    assert!(is_stale(&written[1]));
    assert!(matches!(&written[2], Progress::Done(Ok(_))));
    assert!(matches!(&written[3], Progress::Done(Ok(_))));
    assert!(matches!(
        &written[4],
        Progress::Done(Err(Refusal::Conflict))
    ));
    assert!(matches!(
        store.db.get("b", &GetOptions::default()),
        Err(Error::NotFound(_))
    ));
}

#[test]
fn a_consent_is_good_while_nothing_has_changed() {
    let db = &store().db;
    let edits = [r#"{"_id":"a","_revisions":{"start":2,"ids":["b","a"]}}"#.to_owned()];
    let write = |drafts| db.write_drafts(drafts, Mode::Replicated).wait().unwrap();
    // The revision before it comes.
    let (drafts, _) = proposed(db, &edits, Mode::Replicated, |_| true);
    replicate(db, &[r#"{"_id":"a","_rev":"1-a"}"#]);
    let stale = write(drafts);
    assert!(is_stale(&stale[0]));
    // A design document changes.
    let (drafts, _) = proposed(db, &edits, Mode::Replicated, |_| true);
    put(db, r#"{"_id":"_design/d"}"#);
    assert!(is_stale(&write(drafts)[0]));
    // Another document changes.
    let (drafts, _) = proposed(db, &edits, Mode::Replicated, |_| true);
    put(db, r#"{"_id":"other"}"#);
    assert!(matches!(&write(drafts)[0], Progress::Done(Ok(_))));
    // A deleted document is recreated from another deletion than the client saw.
    replicate(db, &[r#"{"_id":"d","_rev":"1-a","_deleted":true}"#]);
    let anew = [r#"{"_id":"d"}"#.to_owned()];
    let (drafts, _) = proposed(db, &anew, Mode::New, |_| true);
    replicate(db, &[r#"{"_id":"d","_rev":"1-b","_deleted":true}"#]);
    let written = db.write_drafts(drafts, Mode::New).wait().unwrap();
    assert!(is_stale(&written[0]));
}

#[test]
fn databases_are_created_found_listed_and_deleted() {
    let store = store();
    let databases = &store.databases;
    assert!(matches!(databases.create("db"), Err(Error::DatabaseExists)));
    assert!(matches!(
        databases.create("Db"),
        Err(Error::IllegalDatabaseName(_))
    ));
    assert!(matches!(
        databases.get("other"),
        Err(Error::DatabaseMissing)
    ));
    assert!(matches!(
        databases.get("../db"),
        Err(Error::DatabaseMissing)
    ));
    let slashed = databases.create("a/b").unwrap();
    put(&slashed, r#"{"_id":"x"}"#);
    assert_eq!(databases.names().unwrap(), ["a/b", "db"]);
    let uuid = slashed.info().unwrap().uuid;
    databases.delete("a/b").unwrap();
    assert!(matches!(slashed.info(), Err(Error::Closed)));
    assert!(matches!(slashed.put(edit("{}")).wait(), Err(Error::Closed)));
    assert!(matches!(
        databases.delete("a/b"),
        Err(Error::DatabaseMissing)
    ));
    let again = databases.create("a/b").unwrap();
    let info = again.info().unwrap();
    assert_eq!((info.doc_count, info.update_seq), (0, 0));
    assert_ne!(info.uuid, uuid);
}

#[test]
fn a_log_that_a_deletion_left_is_not_read() {
    let store = store();
    put(&store.db, r#"{"_id":"a"}"#);
    let log = store.folder.path().join("db.sqlite-wal");
    let left = std::fs::read(&log).unwrap();
    assert!(!left.is_empty());
    store.databases.delete("db").unwrap();
    std::fs::write(&log, left).unwrap();
    let again = store.databases.create("db").unwrap();
    assert_eq!(again.info().unwrap().doc_count, 0);
    put(&again, r#"{"_id":"b"}"#);
    assert_eq!(all_changes(&again).len(), 1);
}

#[test]
fn a_folder_is_used_by_one_process() {
    let store = store();
    let second = inorder_couch::store::Databases::open(store.folder.path(), Settings::default());
    assert!(matches!(second, Err(Error::InUse(_))));
}

#[test]
fn databases_nobody_uses_are_closed_and_opened_again() {
    let store = store_with(Settings {
        idle_databases_max: 1,
        ..Settings::default()
    });
    put(&store.db, r#"{"_id":"a"}"#);
    for name in ["x", "y", "z"] {
        put(&store.databases.create(name).unwrap(), r#"{"_id":"a"}"#);
    }
    for name in ["x", "y", "z", "db"] {
        assert!(
            get(&store.databases.get(name).unwrap(), "a").contains("1-9"),
            "{name}"
        );
    }
}

#[test]
fn what_is_no_database_is_refused() {
    let store = store();
    std::fs::write(
        store.folder.path().join("text.sqlite"),
        "this is no database",
    )
    .unwrap();
    assert!(matches!(
        store.databases.get("text"),
        Err(Error::Damaged { .. })
    ));
    std::fs::write(store.folder.path().join("empty.sqlite"), "").unwrap();
    assert!(matches!(
        store.databases.get("empty"),
        Err(Error::Damaged { .. })
    ));
}
