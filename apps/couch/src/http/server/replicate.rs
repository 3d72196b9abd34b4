//! `/_replicate`, and what the scheduler of CouchDB shows of replications.

use crate::auth::User;
use crate::http::body::Question;
use crate::http::{HttpResult, Server, reply};
use crate::replicate::{Request, Started};
use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Router};
use serde_json::{Value, json};
use std::sync::Arc;

/// `POST /_replicate`: runs a replication to its end, begins a continuous one, or cancels one.
///
/// `within` makes the service through which a replication reaches the databases of this server, with the rights of the
/// user who started it.
pub async fn replicate(
    State(server): State<Arc<Server>>,
    Question(body): Question,
    Extension(user): Extension<User>,
    within: fn(Arc<Server>, User) -> Router,
) -> HttpResult {
    let request = Request::from_json(&body.json::<Value>()?)?;
    let here = within(Arc::clone(&server), user);
    let uuid = &server.settings.uuid;
    match server.replicator.start(request, here, uuid).await? {
        Started::Finished(result) => reply::json(StatusCode::OK, &result),
        Started::Continuous(id) => reply::json(
            StatusCode::ACCEPTED,
            &json!({ "ok": true, "_local_id": id }),
        ),
        Started::Cancelled(id) => {
            reply::json(StatusCode::OK, &json!({ "ok": true, "_local_id": id }))
        }
    }
}

/// `GET /_scheduler/jobs`: the replications that run.
pub async fn scheduler_jobs(State(server): State<Arc<Server>>) -> HttpResult {
    let jobs: Vec<Value> = server.tasks.list().into_iter().filter_map(job).collect();
    let body = json!({ "total_rows": jobs.len(), "offset": 0, "jobs": jobs });
    reply::json(StatusCode::OK, &body)
}

fn job(task: serde_json::Map<String, Value>) -> Option<Value> {
    (task["type"] == "replication").then(|| {
        json!({
            "id": task["replication_id"],
            "database": null,
            "doc_id": null,
            "node": task["node"],
            "pid": task["pid"],
            "source": task["source"],
            "target": task["target"],
            "user": null,
            "info": task,
            "history": [],
        })
    })
}

/// `GET /_scheduler/docs`: replications kept as documents, of which there are none.
pub async fn scheduler_docs() -> HttpResult {
    reply::json(
        StatusCode::OK,
        &json!({ "total_rows": 0, "offset": 0, "docs": [] }),
    )
}
