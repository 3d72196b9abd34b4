//! Mango: `_find`, `_explain` and `_index`.

use crate::http::blocking::blocking;
use crate::http::body::Question;
use crate::http::params::Params;
use crate::http::rights::AdminDb;
use crate::http::target::Db;
use crate::http::users_db::Visible;
use crate::http::{HttpError, HttpResult, reply};
use crate::mango::{Error as MangoError, FindQuery, INVALID_LIST, IndexDefinition};
use crate::store::{Database, Error, Missing};
use axum::http::{Method, StatusCode, Uri};
use percent_encoding::percent_decode_str;
use serde::Deserialize;
use serde_json::{Value, json};

/// Reads a query. The URL may name a partition.
///
/// If the user sees one document only, the query is narrowed to it.
fn query(
    db: &Database,
    params: &Params,
    body: &Question,
    visible: Visible,
) -> HttpResult<FindQuery> {
    let mut body: Value = body.0.json()?;
    if let (Visible::Own(own), Some(selector)) = (visible, body.get_mut("selector")) {
        let asked = selector.take();
        *selector = json!({ "$and": [{ "_id": own.unwrap_or_default() }, asked] });
    }
    if let (Some(partition), Value::Object(members)) = (params.get("partition"), &mut body) {
        let known = members
            .entry("partition")
            .or_insert_with(|| partition.into());
        if known.as_str() != Some(partition) {
            let message = format!("The partition of the body is not that of the URL: {known}");
            return Err(MangoError::new("bad_partition", message).into());
        }
    }
    let query = FindQuery::from_json(&body)?;
    if query.partition.is_some() && !db.is_partitioned() {
        let reason = "`partition` parameter is not supported on this db";
        return Err(HttpError::BadParameters(reason.to_owned()));
    }
    Ok(query)
}

/// `POST /db/_find`: a page of the documents that a selector means.
pub async fn find(Db(db): Db, visible: Visible, params: Params, body: Question) -> HttpResult {
    let query = query(&db, &params, &body, visible)?;
    // A selector that no index serves looks at many documents.
    let page = blocking(move || db.find(&query)).await??;
    Ok(reply::text(StatusCode::OK, page.to_json() + "\n"))
}

/// `POST /db/_explain`: how it would be found.
pub async fn explain(Db(db): Db, params: Params, body: Question) -> HttpResult {
    let query = query(&db, &params, &body, Visible::All)?;
    reply::json(StatusCode::OK, &db.explain(&query)?)
}

/// `GET /db/_index`: the indexes.
pub async fn indexes(Db(db): Db, params: Params) -> HttpResult {
    let wrong = || MangoError::new(INVALID_LIST, "Index parameter ranges: limit > 1, skip > 0");
    let number = |name: &str| match params.get(name) {
        None => Ok(None),
        Some(text) => text.parse::<i64>().map(Some).map_err(|_| wrong()),
    };
    let indexes = db.indexes()?;
    let limit = number("limit")?.unwrap_or(indexes.len() as i64);
    let skip = number("skip")?.unwrap_or(0);
    if limit < 1 || skip < 0 {
        return Err(wrong().into());
    }
    let some = indexes.iter().skip(skip as usize).take(limit as usize);
    let list: Vec<Value> = some.map(|index| index.to_json()).collect();
    let body = json!({ "total_rows": indexes.len(), "indexes": list });
    reply::json(StatusCode::OK, &body)
}

/// `POST /db/_index`: makes one.
pub async fn create_index(AdminDb(db): AdminDb, body: Question) -> HttpResult {
    let definition = IndexDefinition::from_json(&body.0.json()?)?;
    let written = db.create_index(definition).await?;
    let result = if written.created { "created" } else { "exists" };
    let body = json!({ "result": result, "id": written.id, "name": written.name });
    reply::json(StatusCode::OK, &body)
}

/// `DELETE /db/_index/design/json/name`, the design document with or without `_design/`.
pub async fn named_index(AdminDb(db): AdminDb, method: Method, uri: Uri) -> HttpResult {
    let decode = |part: &str| percent_decode_str(part).decode_utf8_lossy().into_owned();
    // The parts after the database and `_index`.
    let parts: Vec<String> = uri.path().split('/').skip(3).map(decode).collect();
    let (design, kind, name) = match parts.as_slice() {
        [design, kind, name] => (design.clone(), kind, name),
        [prefix, design, kind, name] if prefix == "_design" => {
            (format!("_design/{design}"), kind, name)
        }
        _ => return Err(HttpError::DocumentMissing),
    };
    if method != Method::DELETE {
        return Err(HttpError::MethodNotAllowed("DELETE".to_owned()));
    }
    if kind != "json" {
        return Err(HttpError::DocumentMissing);
    }
    db.delete_index(&design, name).await?;
    Ok(reply::ok(StatusCode::OK))
}

#[derive(Deserialize)]
struct DesignDocuments {
    docids: Vec<String>,
}

/// `POST /db/_index/_bulk_delete`: all indexes of some design documents.
pub async fn delete_indexes(AdminDb(db): AdminDb, body: Question) -> HttpResult {
    let DesignDocuments { docids } = body.0.json()?;
    let (mut success, mut fail) = (Vec::new(), Vec::new());
    for id in docids {
        let id = match id.starts_with("_design/") {
            true => id,
            false => format!("_design/{id}"),
        };
        match delete_all(&db, &id).await {
            Ok(()) => success.insert(0, json!({ "id": id, "ok": true })),
            Err(Error::NotFound(_)) => fail.insert(0, json!({ "id": id, "error": "not_found" })),
            Err(error) => fail.insert(0, json!({ "id": id, "error": error.to_string() })),
        }
    }
    reply::json(StatusCode::OK, &json!({ "success": success, "fail": fail }))
}

async fn delete_all(db: &Database, id: &str) -> Result<(), Error> {
    let listed = db.indexes()?;
    let listed = listed.iter().map(|index| index.to_json());
    let names: Vec<String> = listed
        .filter(|index| index["ddoc"] == id)
        .filter_map(|index| index["name"].as_str().map(str::to_owned))
        .collect();
    if names.is_empty() {
        return Err(Error::NotFound(Missing::Missing));
    }
    for name in names {
        db.delete_index(id, &name).await?;
    }
    Ok(())
}
