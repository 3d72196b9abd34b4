//! `/_scheduler`: the jobs of the replicator, and the documents that describe replications.

use crate::http::params::Params;
use crate::http::{HttpError, HttpResult, Server, reply};
use crate::replicator::{DocsQuery, is_replicator_database};
use crate::store::AllDocs;
use axum::extract::{Path, State};
use axum::http::{StatusCode, Uri};
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};
use std::sync::Arc;

/// The default number of jobs per answer.
const JOBS: usize = 100;

/// The default database.
const DATABASE: &str = "_replicator";

/// `GET /_scheduler/jobs`.
pub async fn scheduler_jobs(State(server): State<Arc<Server>>, params: Params) -> HttpResult {
    let limit = integer(&params, "limit", JOBS)?;
    let skip = integer(&params, "skip", 0)?;
    let jobs = server.replicator.jobs();
    let offset = skip.min(jobs.len());
    let shown: Vec<&Value> = jobs.iter().skip(offset).take(limit).collect();
    let body = json!({ "total_rows": jobs.len(), "offset": offset, "jobs": shown });
    reply::json(StatusCode::OK, &body)
}

fn integer(params: &Params, name: &str, default: usize) -> HttpResult<usize> {
    let Some(text) = params.get(name) else {
        return Ok(default);
    };
    let number: i64 = text
        .parse()
        .map_err(|_| HttpError::BadParameters(format!("{name} must be an integer")))?;
    usize::try_from(number)
        .map_err(|_| HttpError::BadParameters(format!("{name} not in range of [0,infinity]")))
}

/// `GET /_scheduler/jobs/{id}`.
pub async fn scheduler_job(
    State(server): State<Arc<Server>>,
    Path(id): Path<String>,
) -> HttpResult {
    // A plus sign in a URL is decoded to a space.
    let job = server.replicator.job(&id.replace(' ', "+"));
    reply::json(StatusCode::OK, &job.ok_or(HttpError::DocumentMissing)?)
}

/// `GET /_scheduler/docs`: the documents of `_replicator`.
pub async fn scheduler_docs(State(server): State<Arc<Server>>, params: Params) -> HttpResult {
    match docs(&server, DATABASE, &params) {
        // There are no documents before somebody has created it.
        Err(HttpError::DatabaseMissing) => {
            let none = json!({ "total_rows": 0, "offset": 0, "docs": [] });
            reply::json(StatusCode::OK, &none)
        }
        answer => answer,
    }
}

/// `GET /_scheduler/docs/{db}` and `GET /_scheduler/docs/{db}/{id}`. Slashes of the database's name may be encoded or not.
pub async fn scheduler_docs_of(
    State(server): State<Arc<Server>>,
    uri: Uri,
    params: Params,
) -> HttpResult {
    let decode = |part: &str| percent_decode_str(part).decode_utf8_lossy().into_owned();
    let parts = uri.path().split('/').filter(|part| !part.is_empty());
    let parts: Vec<String> = parts.skip(2).map(decode).collect();
    match database_and_id(&parts) {
        Some((database, None)) => docs(&server, &database, &params),
        Some((database, Some(id))) => {
            let doc = server.replicator.doc(&database, &id)?;
            reply::json(StatusCode::OK, &doc.ok_or(HttpError::DocumentMissing)?)
        }
        None => Err(HttpError::BadRequest("Invalid path".to_owned())),
    }
}

fn database_and_id(parts: &[String]) -> Option<(String, Option<String>)> {
    match parts {
        [database] if is_replicator_database(database) => Some((database.clone(), None)),
        [database, id] if is_replicator_database(database) => {
            Some((database.clone(), Some(id.clone())))
        }
        _ => {
            let end = parts.iter().position(|part| part == DATABASE)? + 1;
            let database = parts.get(..end)?.join("/");
            match parts.get(end..)? {
                [] => Some((database, None)),
                [id] => Some((database, Some(id.clone()))),
                _ => None,
            }
        }
    }
}

fn docs(server: &Server, database: &str, params: &Params) -> HttpResult {
    let states = DocsQuery::states(params.get("states").unwrap_or_default());
    let key = |one, other| -> HttpResult<Option<String>> {
        Ok(params.json(one)?.or(params.json(other)?))
    };
    let only: Option<String> = params.json("key")?;
    let range = AllDocs {
        start: only.clone().or(key("startkey", "start_key")?),
        end: only.or(key("endkey", "end_key")?),
        inclusive_end: params.parsed("inclusive_end")?.unwrap_or(true),
        keys: params.json("keys")?,
        limit: params.parsed("limit")?,
        skip: params.parsed("skip")?.unwrap_or(0),
        descending: params.flag("descending")?,
        ..AllDocs::default()
    };
    let query = DocsQuery {
        states: states.map_err(HttpError::BadParameters)?,
        range,
    };
    let offset = query.range.skip as u64;
    let (total, docs) = server.replicator.docs(database, query)?;
    let body = json!({ "total_rows": total, "offset": offset.min(total), "docs": docs });
    reply::json(StatusCode::OK, &body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_databases_may_have_slashes() {
        let of = |path: &str| {
            let parts: Vec<String> = path.split(' ').map(str::to_owned).collect();
            let found = database_and_id(&parts);
            found.map(|(database, id)| format!("{database} {}", id.unwrap_or_default()))
        };
        for (path, expected) in [
            ("_replicator", Some("_replicator ")),
            ("_replicator a/b", Some("_replicator a/b")),
            ("x/_replicator", Some("x/_replicator ")),
            ("x/_replicator a", Some("x/_replicator a")),
            ("x _replicator a", Some("x/_replicator a")),
            ("x y _replicator", Some("x/y/_replicator ")),
            ("x _replicator a b", None),
            ("x y", None),
            ("x", None),
        ] {
            assert_eq!(of(path).as_deref(), expected, "{path}");
        }
    }
}
