//! Revision differences and purges.

use crate::http::body::JsonBody;
use crate::http::target::Db;
use crate::http::{HttpError, HttpResult, reply};
use crate::revision::Revision;
use axum::http::StatusCode;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

type ByDocument = BTreeMap<String, Vec<Revision>>;

/// `{"id":["rev",…],…}`; what is no revision is the client's mistake.
fn by_document(body: &JsonBody) -> HttpResult<ByDocument> {
    let texts: BTreeMap<String, Vec<String>> = body.0.json()?;
    let mut revisions = ByDocument::new();
    for (id, texts) in texts {
        let parsed: Result<Vec<Revision>, _> = texts.iter().map(|text| text.parse()).collect();
        revisions.insert(id, parsed?);
    }
    Ok(revisions)
}

/// `POST /db/_revs_diff`: what a replicator would have to bring.
pub async fn revs_diff(Db(db): Db, body: JsonBody) -> HttpResult {
    let diff = db.revs_diff(&by_document(&body)?)?;
    let mut answer = Map::new();
    for (id, (missing, ancestors)) in diff {
        let mut entry = json!({ "missing": missing });
        if !ancestors.is_empty() {
            entry["possible_ancestors"] = json!(ancestors);
        }
        answer.insert(id, entry);
    }
    reply::json(StatusCode::OK, &answer)
}

/// `POST /db/_missing_revs`: the same in a shorter form.
pub async fn missing_revs(Db(db): Db, body: JsonBody) -> HttpResult {
    let diff = db.revs_diff(&by_document(&body)?)?;
    let missing = diff
        .into_iter()
        .map(|(id, (missing, _))| (id, json!(missing)));
    let missing: Map<String, Value> = missing.collect();
    reply::json(StatusCode::OK, &json!({ "missing_revs": missing }))
}

/// The maximum number of documents per purge request, as in CouchDB.
const PURGE_DOCUMENTS_MAX: usize = 100;

/// `POST /db/_purge`: purges leaf revisions.
pub async fn purge(Db(db): Db, body: JsonBody) -> HttpResult {
    let revisions = by_document(&body)?;
    if revisions.len() > PURGE_DOCUMENTS_MAX {
        let reason = format!("Exceeded maximum number of documents: {PURGE_DOCUMENTS_MAX}.");
        return Err(HttpError::BadRequest(reason));
    }
    if db.is_partitioned() {
        for id in revisions.keys() {
            db.check_id(id)?;
        }
    }
    let purged = db.purge(revisions).await?;
    let purged = purged
        .into_iter()
        .map(|purged| (purged.id, json!(purged.revisions)));
    let purged: Map<String, Value> = purged.collect();
    let body = json!({ "purge_seq": null, "purged": purged });
    reply::json(StatusCode::CREATED, &body)
}
