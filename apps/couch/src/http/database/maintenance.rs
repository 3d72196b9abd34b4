//! Settings and compaction of a database.

use crate::auth::Security;
use crate::http::body::{JsonBody, Received};
use crate::http::rights::AdminDb;
use crate::http::target::{Db, Doc};
use crate::http::{HttpError, HttpResult, Server, reply};
use crate::store::Error;
use crate::tasks::NODE;
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// `GET /db/_security`.
pub async fn security(Db(db): Db) -> HttpResult {
    Ok(reply::text(StatusCode::OK, format!("{}\n", db.security()?)))
}

/// `PUT /db/_security`.
pub async fn set_security(
    State(server): State<Arc<Server>>,
    AdminDb(db): AdminDb,
    body: Received,
) -> HttpResult {
    let policy = server.auth.policy();
    if db.name() == policy.users_database && !policy.users_security_editable {
        let reason = "You can't edit the security object of the user database.";
        return Err(HttpError::Forbidden(reason.to_owned()));
    }
    let Value::Object(object) = body.json()? else {
        let reason = "The security object must be a JSON object.";
        return Err(HttpError::BadRequest(reason.to_owned()));
    };
    db.set_security(&Security::new(object)?).await?;
    Ok(reply::ok(StatusCode::OK))
}

/// `GET /db/_revs_limit`.
pub async fn revs_limit(Db(db): Db) -> HttpResult {
    Ok(reply::text(
        StatusCode::OK,
        format!("{}\n", db.revs_limit()?),
    ))
}

/// `PUT /db/_revs_limit`.
pub async fn set_revs_limit(AdminDb(db): AdminDb, body: Received) -> HttpResult {
    let limit: u64 = body.json()?;
    if limit == 0 {
        return Err(HttpError::BadRequest(
            "`_revs_limit` must be at least 1".to_owned(),
        ));
    }
    db.set_revs_limit(limit).await?;
    Ok(reply::ok(StatusCode::OK))
}

/// `POST /db/_compact`: begins it.
pub async fn compact(State(server): State<Arc<Server>>, Db(db): Db, _: JsonBody) -> HttpResult {
    let Some(compaction) = db.begin_compaction() else {
        return Ok(reply::ok(StatusCode::ACCEPTED));
    };
    let mut fields = Map::new();
    fields.insert("database".into(), db.name().into());
    let task = server.tasks.begin("database_compaction", fields);
    tokio::task::spawn_blocking(move || {
        match compaction.run() {
            // Deleted meanwhile: that gives back all its space.
            Ok(()) | Err(Error::Closed) => {}
            Err(error) => tracing::error!(%error, database = db.name(), "compaction failed"),
        }
        drop((compaction, task));
    });
    Ok(reply::ok(StatusCode::ACCEPTED))
}

/// `POST /db/_ensure_full_commit`: acknowledged writes are already committed.
pub async fn ensure_full_commit(Db(db): Db, _: JsonBody) -> HttpResult {
    let created = db.info()?.created_microseconds / 1_000_000;
    let body = json!({ "ok": true, "instance_start_time": created.to_string() });
    reply::json(StatusCode::CREATED, &body)
}

const WHOLE_RANGE: &str = "00000000-ffffffff";

/// `GET /db/_shards`: one.
pub async fn shards(Db(_): Db) -> HttpResult {
    reply::json(
        StatusCode::OK,
        &json!({ "shards": { WHOLE_RANGE: [NODE] } }),
    )
}

/// `GET /db/_shards/id`: where a document is.
pub async fn shards_of(_: Doc) -> HttpResult {
    reply::json(
        StatusCode::OK,
        &json!({ "range": WHOLE_RANGE, "nodes": [NODE] }),
    )
}

/// `POST /db/_sync_shards`: there are no copies.
pub async fn sync_shards(Db(_): Db) -> HttpResult {
    Ok(reply::ok(StatusCode::ACCEPTED))
}
