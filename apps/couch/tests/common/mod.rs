//! Functions shared by the tests of the store.

#![allow(dead_code)] // Each test uses some of it.

use inorder_couch::revision::Revision;
use inorder_couch::store::{
    Changes, Database, Databases, Edit, Found, GetOptions, Outcome, Refusal, Settings, Written,
};
use std::collections::BTreeSet;
use tempfile::TempDir;

/// A folder with a database that lives as long as this.
pub struct Store {
    pub databases: Databases,
    pub db: Database,
    pub folder: TempDir,
}

pub fn store() -> Store {
    store_with(Settings::default())
}

pub fn store_with(settings: Settings) -> Store {
    let folder = tempfile::tempdir().unwrap();
    let databases = Databases::open(folder.path(), settings).unwrap();
    let db = databases.create("db").unwrap();
    Store {
        databases,
        db,
        folder,
    }
}

pub fn edit(json: &str) -> Edit {
    Edit::from_json(json, &Default::default()).unwrap()
}

pub fn revision(text: &str) -> Revision {
    text.parse().unwrap()
}

/// The revision of an edit that was accepted.
pub fn put(db: &Database, json: &str) -> String {
    db.put(edit(json))
        .wait()
        .unwrap()
        .unwrap()
        .revision
        .to_string()
}

pub fn refused(db: &Database, json: &str) -> Refusal {
    db.put(edit(json)).wait().unwrap().unwrap_err()
}

/// Writes revisions made elsewhere, all of them new or known.
pub fn replicate(db: &Database, documents: &[&str]) -> Vec<Written> {
    let edits = documents.iter().map(|json| edit(json)).collect();
    let outcomes: Vec<Outcome> = db.bulk_replicated(edits).wait().unwrap();
    outcomes.into_iter().map(Result::unwrap).collect()
}

pub fn get(db: &Database, id: &str) -> String {
    db.get(id, &GetOptions::default()).unwrap().to_json()
}

/// All leaves of a document: revision, whether it is deleted, body.
pub fn leaves(db: &Database, id: &str) -> BTreeSet<(Revision, bool, String)> {
    let found = db.open_revs(id, None, &GetOptions::default()).unwrap();
    let leaf = |found| match found {
        Found::Document(document) => (document.revision, document.deleted, document.body),
        Found::Missing(revision) => panic!("the leaf {revision} has no body"),
    };
    found.into_iter().map(leaf).collect()
}

/// Every change: sequence, id, winner.
pub fn all_changes(db: &Database) -> Vec<(u64, String, String)> {
    let mut question = Changes::default();
    let mut all = Vec::new();
    loop {
        let page = db.changes(&question, None).unwrap();
        for change in page.changes {
            all.push((change.seq, change.id, change.revisions[0].to_string()));
        }
        if page.is_last {
            return all;
        }
        question.since = page.last_seq;
    }
}
