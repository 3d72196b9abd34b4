//! `_partition`: requests about one partition of a database.

use crate::http::resend::Routes;
use crate::http::target::Db;
use crate::http::{HttpError, HttpResult, reply};
use crate::mango::check_partition;
use crate::store::Database;
use axum::Extension;
use axum::extract::{Path, Request};
use axum::http::{StatusCode, Uri, uri::PathAndQuery};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::json;
use std::collections::HashMap;

fn require_partitions(db: &Database) -> HttpResult<()> {
    match db.is_partitioned() {
        true => Ok(()),
        false => Err(HttpError::BadRequest(
            "database is not partitioned".to_owned(),
        )),
    }
}

/// `/db/_partition` without a name.
pub async fn no_partition(_: Db) -> HttpError {
    HttpError::BadRequest("invalid_partition_req".to_owned())
}

/// `GET /db/_partition/name`: its numbers.
pub async fn partition_info(Db(db): Db, Path(path): Path<HashMap<String, String>>) -> HttpResult {
    let name = path
        .get("partition")
        .map(String::as_str)
        .unwrap_or_default();
    check_partition(name)?;
    require_partitions(&db)?;
    let info = db.partition_info(name)?;
    let body = json!({
        "db_name": db.name(),
        "sizes": { "active": info.external_bytes, "external": info.external_bytes },
        "partition": name,
        "doc_count": info.doc_count,
        "doc_del_count": info.deleted_count,
    });
    reply::json(StatusCode::OK, &body)
}

/// The supported paths below a partition's name.
const ANSWERED: &[&str] = &["_all_docs", "_index", "_find", "_explain"];

/// `/db/_partition/name/…`: the same request to the database, with the partition as a parameter.
pub async fn in_partition(
    Extension(routes): Extension<Routes>,
    Db(db): Db,
    mut request: Request,
) -> HttpResult {
    require_partitions(&db)?;
    *request.uri_mut() = of_database(request.uri())?;
    routes.answer(request).await
}

/// Returns the URI of the equivalent request to the database.
fn of_database(uri: &Uri) -> HttpResult<Uri> {
    // An empty one, the database, `_partition`, the partition, the rest.
    let parts: Vec<&str> = uri.path().splitn(5, '/').collect();
    let [_, db, _, partition, rest] = parts.as_slice() else {
        return Err(HttpError::DocumentMissing);
    };
    let name = percent_decode_str(partition)
        .decode_utf8_lossy()
        .into_owned();
    check_partition(&name)?;
    let first = rest.split('/').next().unwrap_or_default();
    let is_view = rest.starts_with("_design/") && rest.contains("/_view/");
    if !ANSWERED.contains(&first) && !is_view {
        return Err(HttpError::DocumentMissing);
    }
    let query = uri.query().unwrap_or_default();
    let named = crate::http::params::Params::parse(query);
    if named.get("partition").is_some_and(|other| other != name) {
        let reason = "Conflicting value for `partition` in query string";
        return Err(HttpError::BadRequest(reason.to_owned()));
    }
    let name_in_query = utf8_percent_encode(&name, NON_ALPHANUMERIC);
    let path = format!("/{db}/{rest}?{query}&partition={name_in_query}");
    let path = PathAndQuery::try_from(path);
    let path = path.map_err(|error| HttpError::BadRequest(error.to_string()))?;
    Ok(Uri::from(path))
}
