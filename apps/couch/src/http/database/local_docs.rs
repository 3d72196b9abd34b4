//! `_local_docs`: the documents that are not replicated.

use super::all_docs::{Query, posted};
use crate::http::body::Question;
use crate::http::params::Params;
use crate::http::target::Db;
use crate::http::{HttpError, HttpResult, reply};
use crate::store::{Database, Error, LocalDocument};
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

/// `GET /db/_local_docs`.
pub async fn local_docs(Db(db): Db, params: Params) -> HttpResult {
    answer(&db, &Query::from_params(&params)?)
}

/// `POST /db/_local_docs`.
pub async fn local_docs_of(Db(db): Db, params: Params, body: Question) -> HttpResult {
    answer(&db, &posted(&params, &body)?)
}

/// There are few: checkpoints of replications, mostly.
const READ_MAX: usize = 1000;

fn answer(db: &Database, query: &Query) -> HttpResult<Response> {
    let rows: Vec<Value> = match &query.question.keys {
        // As in CouchDB, a key that is no local id has no row.
        Some(keys) => keys
            .iter()
            .filter_map(Value::as_str)
            .filter(|key| key.starts_with("_local/"))
            .skip(query.question.skip)
            .take(query.question.limit.unwrap_or(usize::MAX))
            .map(|key| keyed(db, key, query))
            .collect::<HttpResult<_>>()?,
        None => ranged(db, query)?,
    };
    let body = json!({ "total_rows": null, "offset": null, "rows": rows });
    reply::json(StatusCode::OK, &body)
}

fn keyed(db: &Database, key: &str, query: &Query) -> HttpResult<Value> {
    match db.local_get(key) {
        Ok(document) => row(&document, query),
        Err(Error::NotFound(_)) => Ok(json!({ "key": key, "error": "not_found" })),
        Err(error) => Err(error.into()),
    }
}

fn ranged(db: &Database, query: &Query) -> HttpResult<Vec<Value>> {
    let question = &query.question;
    let (low, high) = if question.descending {
        (&question.end, &question.start)
    } else {
        (&question.start, &question.end)
    };
    let is_end = |id: &String| !question.inclusive_end && question.end.as_ref() == Some(id);
    let mut found = Vec::new();
    let mut from = low.clone();
    loop {
        let page = db.local_docs(from.as_deref(), READ_MAX)?;
        let is_last = page.len() < READ_MAX;
        // The smallest id after the last.
        from = page.last().map(|document| format!("{}\0", document.id));
        found.extend(page.into_iter().filter(|document| {
            high.as_ref().is_none_or(|high| document.id <= *high) && !is_end(&document.id)
        }));
        if is_last {
            break;
        }
    }
    if question.descending {
        found.reverse();
    }
    let limit = question.limit.unwrap_or(usize::MAX);
    let wanted = found.iter().skip(question.skip).take(limit);
    wanted.map(|document| row(document, query)).collect()
}

fn row(document: &LocalDocument, query: &Query) -> HttpResult<Value> {
    let revision = format!("0-{}", document.writes);
    let mut row = json!({ "id": document.id, "key": document.id, "value": { "rev": revision } });
    if query.question.include_docs.is_some() {
        row["doc"] = serde_json::from_str(&document.to_json())
            .map_err(|error| HttpError::Internal(error.to_string()))?;
    }
    Ok(row)
}
