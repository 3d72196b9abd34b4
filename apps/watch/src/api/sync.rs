//! The list with its versions, and changes that devices made without a connection.

use super::answer::{Answer, Bearer, Body, ObjectsOnly};
use crate::{
    Error, Result,
    db::{
        sync::{self, Operation},
        users::User,
    },
    request::Me,
};
use axum::Json;
use inorder_key::Ulid;
use rusqlite::Connection;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operations {
    operations: Vec<ObjectsOnly<Operation>>,
}

pub async fn get(Bearer(me): Bearer) -> Answer {
    Ok(Json(snapshot(&me).await?))
}

pub async fn post(Bearer(me): Bearer, Body(sent): Body<Operations>) -> Answer {
    Ok(Json(
        merge(
            &me,
            sent.operations.into_iter().map(|sent| sent.0).collect(),
        )
        .await?,
    ))
}

/// Reads a user's list with its versions.
pub async fn snapshot(me: &Me) -> Result<Value> {
    me.read_long(sync::snapshot).await
}

/// Merges operations into a user's list, and says what became of each.
pub async fn merge(me: &Me, operations: Vec<Operation>) -> Result<Value> {
    let merge = move |db: &Connection, user: &User| sync::merge(db, user.number, operations);
    let merged = me.write(merge).await?;
    let result = |(id, refused): &(Ulid, Option<Arc<Error>>)| {
        let reason = refused.as_ref().map(ToString::to_string);
        json!({"id": id.to_string(), "refused": reason})
    };
    let results: Vec<Value> = merged.refused.iter().map(result).collect();
    let change = merged.change.map(|change| change.to_string());
    Ok(json!({"change": change, "results": results}))
}
