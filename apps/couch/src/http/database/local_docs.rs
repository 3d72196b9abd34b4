//! `_local_docs`: the documents that are not replicated.

use super::all_docs::{Query, queries};
use crate::http::body::Question;
use crate::http::params::Params;
use crate::http::target::Db;
use crate::http::{HttpError, HttpResult, Server, reply};
use crate::store::{Database, Error, LocalDocument};
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::{Value, json};
use std::sync::Arc;

/// `GET /db/_local_docs`.
pub async fn local_docs(
    State(server): State<Arc<Server>>,
    Db(db): Db,
    params: Params,
) -> HttpResult {
    let query = Query::asked(&server, &db, &params)?;
    reply::json(StatusCode::OK, &listed(&db, query)?)
}

/// `POST /db/_local_docs`.
pub async fn local_docs_of(
    State(server): State<Arc<Server>>,
    Db(db): Db,
    params: Params,
    body: Question,
) -> HttpResult {
    let query = Query::posted(&server, &db, &params, &body)?;
    reply::json(StatusCode::OK, &listed(&db, query)?)
}

/// `POST /db/_local_docs/queries`: several questions at once.
pub async fn local_docs_queries(
    State(server): State<Arc<Server>>,
    Db(db): Db,
    params: Params,
    body: Question,
) -> HttpResult {
    let queries = queries(&server, &db, &params, &body)?;
    let results = queries.into_iter().map(|query| listed(&db, query));
    let results: Vec<Value> = results.collect::<HttpResult<_>>()?;
    reply::json(StatusCode::OK, &json!({ "results": results }))
}

/// There are few: checkpoints of replications, mostly.
const READ_MAX: usize = 1000;

fn listed(db: &Database, mut query: Query) -> HttpResult<Value> {
    query.keep_keys("_local/");
    let rows: Vec<Value> = match &query.question.keys {
        Some(keys) => {
            let keys = keys.iter().filter_map(Value::as_str);
            keys.map(|key| keyed(db, key, &query))
                .collect::<HttpResult<_>>()?
        }
        None => ranged(db, &query)?,
    };
    let mut listed = json!({ "total_rows": null, "offset": null });
    if query.update_seq {
        // As in CouchDB: local documents have no sequence.
        listed["update_seq"] = Value::Null;
    }
    listed["rows"] = rows.into();
    Ok(listed)
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
