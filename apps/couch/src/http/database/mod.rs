//! Requests to a database.

mod all_docs;
mod bulk_docs;
mod bulk_get;
mod changes;
mod find;
mod limits;
mod local_docs;
mod maintenance;
mod partition;
mod revisions;
mod views;

pub use all_docs::{
    all_docs, all_docs_of, all_docs_queries, design_docs, design_docs_of, design_docs_queries,
    listed_rows,
};
pub use bulk_docs::bulk_docs;
pub use bulk_get::bulk_get;
pub use changes::{changes, changes_of};
pub use find::{create_index, delete_indexes, explain, find, indexes, named_index};
pub use local_docs::{local_docs, local_docs_of, local_docs_queries};
pub use maintenance::{
    compact, ensure_full_commit, revs_limit, security, set_revs_limit, set_security, shards,
    shards_of, sync_shards,
};
pub use partition::{in_partition, no_partition, partition_info};
pub use revisions::{missing_revs, purge, revs_diff};
pub use views::{
    clean_up_views, compact_views, listed_view_rows, temp_view, view, view_info, view_of,
    view_queries,
};

use super::blocking::blocking;
use super::document::location;
use super::info::info_json;
use super::params::Params;
use super::target::{Db, DbName};
use super::{HttpError, HttpResult, Server, client, reply, users_db};
use axum::extract::State;
use axum::http::{Extensions, HeaderMap, StatusCode, header};
use std::sync::Arc;

/// `GET /db`: its numbers.
pub async fn info(Db(db): Db) -> HttpResult {
    reply::json(StatusCode::OK, &info_json(&db.info()?))
}

/// `PUT /db`: creates it.
pub async fn create(
    State(server): State<Arc<Server>>,
    DbName(name): DbName,
    params: Params,
    headers: HeaderMap,
    extensions: Extensions,
) -> HttpResult {
    let wrong = |_| HttpError::BadRequest("Invalid `partitioned` parameter".to_owned());
    let is_partitioned = params.flag("partitioned").map_err(wrong)?;
    // There is one shard and one copy of it, whatever is asked for.
    for name in ["q", "n"] {
        let is_positive = |text: &str| text.parse::<u64>().is_ok_and(|number| number > 0);
        if !params.get(name).is_none_or(is_positive) {
            let reason = format!("The `{name}` value should be a positive integer.");
            return Err(HttpError::BadRequest(reason));
        }
    }
    let databases = server.databases.clone();
    let is_users = name == users_db::USERS;
    let is_configured = name == server.auth.policy().users_database;
    let origin = server.origin(&headers, client::is_tls(&extensions));
    let url = location(&origin, &[&name]);
    blocking(move || match is_partitioned {
        true => databases.create_partitioned(&name),
        false => databases.create(&name),
    })
    .await??;
    match (is_users, is_configured) {
        (false, false) => {}
        (true, true) => users_db::ensure_rules_later(&server),
        // Without the design document, another database of users has no rules.
        _ => users_db::ensure_rules(&server).await?,
    }
    let mut response = reply::ok(StatusCode::CREATED);
    reply::set(&mut response, header::LOCATION, &url);
    Ok(response)
}

/// `DELETE /db`: deletes it.
pub async fn delete(
    State(server): State<Arc<Server>>,
    DbName(name): DbName,
    params: Params,
) -> HttpResult {
    if params.get("rev").is_some() {
        // A script whose document id is empty by accident shall not delete everything.
        let reason = "You tried to DELETE a database with a ?=rev parameter. Did you mean to DELETE a document instead?";
        return Err(HttpError::BadRequest(reason.to_owned()));
    }
    let databases = server.databases.clone();
    let views = server.views.clone();
    let delete = move || -> HttpResult<()> {
        let uuid = databases.get(&name)?.uuid().to_owned();
        databases.delete(&name)?;
        views.forget(&uuid);
        Ok(())
    };
    blocking(delete).await??;
    Ok(reply::ok(StatusCode::OK))
}
