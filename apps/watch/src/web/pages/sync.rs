//! What the script of the pages keeps on the device, and what it sends after it had no connection.

use crate::{
    Error,
    api::{ApiError, sync},
    db::sync::Operation,
    request::App,
    web::{form::check_token, visitor::Member},
    words::say,
};
use axum::{
    Json, Router,
    extract::{State, rejection::JsonRejection},
    http::HeaderMap,
    routing::get,
};
use serde::Deserialize;
use serde_json::Value;

pub fn router() -> Router<App> {
    Router::new().route("/sync", get(show).post(merge))
}

/// The operations of a device.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sent {
    /// The token of the session, as in forms.
    token: String,
    /// The id of the user who made the operations. Another user may have signed in since.
    user: String,
    operations: Vec<Operation>,
}

async fn show(Member { me, secret }: Member) -> Result<Json<Value>, ApiError> {
    let mut snapshot = sync::snapshot(&me).await?;
    snapshot["token"] = secret.form_token().into();
    Ok(Json(snapshot))
}

async fn merge(
    Member { me, .. }: Member,
    State(app): State<App>,
    headers: HeaderMap,
    sent: Result<Json<Sent>, JsonRejection>,
) -> Result<Json<Value>, ApiError> {
    let Json(sent) = sent.map_err(|error| Error::Invalid(say::as_is(error.body_text())))?;
    check_token(&app, &headers, &sent.token)?;
    if sent.user != me.user.id.to_string() {
        return Err(Error::Invalid(say::sync_other_user()).into());
    }
    Ok(Json(sync::merge(&me, sent.operations).await?))
}
