//! Mango: `_find`, `_explain` and `_index`.

use crate::http::blocking::blocking;
use crate::http::body::Question;
use crate::http::target::Db;
use crate::http::{HttpError, HttpResult, reply};
use crate::mango::{FindQuery, IndexDefinition};
use crate::store::{Error, Missing};
use axum::extract::Path;
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

fn query(body: &Question) -> HttpResult<FindQuery> {
    FindQuery::from_json(&body.0.json()?).map_err(|error| Error::from(error).into())
}

/// `POST /db/_find`: a page of the documents that a selector means.
pub async fn find(Db(db): Db, body: Question) -> HttpResult {
    let query = query(&body)?;
    // A selector that no index serves looks at many documents.
    let page = blocking(move || db.find(&query)).await??;
    Ok(reply::text(StatusCode::OK, page.to_json() + "\n"))
}

/// `POST /db/_explain`: how it would be found.
pub async fn explain(Db(db): Db, body: Question) -> HttpResult {
    reply::json(StatusCode::OK, &db.explain(&query(&body)?)?)
}

/// `GET /db/_index`: the indexes.
pub async fn indexes(Db(db): Db) -> HttpResult {
    let indexes = db.indexes()?;
    let list: Vec<Value> = indexes.iter().map(|index| index.to_json()).collect();
    let body = json!({ "total_rows": list.len(), "indexes": list });
    reply::json(StatusCode::OK, &body)
}

/// `POST /db/_index`: makes one.
pub async fn create_index(Db(db): Db, body: Question) -> HttpResult {
    let definition = IndexDefinition::from_json(&body.0.json()?).map_err(Error::from)?;
    let written = db.create_index(definition).await?;
    let result = if written.created { "created" } else { "exists" };
    let body = json!({ "result": result, "id": written.id, "name": written.name });
    reply::json(StatusCode::OK, &body)
}

/// `DELETE /db/_index/design/json/name`.
pub async fn delete_index(
    Db(db): Db,
    Path(path): Path<std::collections::HashMap<String, String>>,
) -> HttpResult {
    let part = |name: &str| path.get(name).map(String::as_str).unwrap_or_default();
    let deleted = db.delete_index(part("design"), part("name")).await;
    match deleted {
        Err(Error::NotFound(Missing::Missing | Missing::Deleted)) => {
            Err(HttpError::NotFound("index not found".to_owned()))
        }
        other => other
            .map(|()| reply::ok(StatusCode::OK))
            .map_err(Into::into),
    }
}

#[derive(Deserialize)]
struct DesignDocuments {
    docids: Vec<String>,
}

/// `POST /db/_index/_bulk_delete`: all indexes of some design documents.
pub async fn delete_indexes(Db(db): Db, body: Question) -> HttpResult {
    let DesignDocuments { docids } = body.0.json()?;
    let (mut success, mut fail) = (Vec::new(), Vec::new());
    for id in docids {
        match delete_all(&db, &id).await {
            Ok(()) => success.push(json!({ "id": id, "ok": true })),
            Err(error) => fail.push(json!({ "id": id, "error": error.to_string() })),
        }
    }
    reply::json(StatusCode::OK, &json!({ "success": success, "fail": fail }))
}

async fn delete_all(db: &crate::store::Database, id: &str) -> Result<(), Error> {
    let id = if id.starts_with("_design/") {
        id.to_owned()
    } else {
        format!("_design/{id}")
    };
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
        db.delete_index(&id, &name).await?;
    }
    Ok(())
}
