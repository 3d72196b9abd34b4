//! `/_replicate`.

use crate::http::body::Question;
use crate::http::caller::Caller;
use crate::http::replications::principal;
use crate::http::{HttpError, HttpResult, reply};
use crate::replicator::Started;
use axum::http::StatusCode;
use serde_json::{Value, json};

/// `POST /_replicate`: runs a replication to its end, begins a continuous one, or cancels one.
pub async fn replicate(caller: Caller, Question(body): Question) -> HttpResult {
    let Value::Object(body) = body.json::<Value>()? else {
        let reason = "Request body must be a JSON object";
        return Err(HttpError::BadRequest(reason.to_owned()));
    };
    let Caller { server, user, .. } = caller;
    let started = server
        .replicator
        .replicate(&body, principal(&user), user.is_server_admin());
    let (status, answer) = match started.await? {
        Started::Finished(result) => (StatusCode::OK, result),
        Started::Continuous(id) => (StatusCode::ACCEPTED, json!({ "ok": true, "_local_id": id })),
        Started::Cancelled(id) => (StatusCode::OK, json!({ "ok": true, "_local_id": id })),
        Started::Stopped => (StatusCode::OK, json!({ "ok": "stopped" })),
    };
    reply::json(status, &answer)
}
