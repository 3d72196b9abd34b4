//! `_bulk_docs`: many edits in one request.

use crate::http::body::{Bounded, JsonBody, Received, in_its_place};
use crate::http::caller::Caller;
use crate::http::document::require_revision;
use crate::http::target::Db;
use crate::http::{HttpError, HttpResult, reply};
use crate::json::write_string;
use crate::revision::History;
use crate::store::{Edit, Error, Limits, Mode, Outcome, Refusal};
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::sync::atomic::Ordering;

#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow)]
    docs: Option<&'a RawValue>,
    #[serde(borrow)]
    new_edits: Option<&'a RawValue>,
    #[serde(borrow)]
    all_or_nothing: Option<&'a RawValue>,
}

/// The maximum number of documents per request. Each takes some hundred bytes of memory, however short its text is.
const DOCS_MAX: usize = 100_000;

/// `POST /db/_bulk_docs`.
pub async fn bulk_docs(caller: Caller, Db(db): Db, JsonBody(body): JsonBody) -> HttpResult {
    let counter = &caller.server.metrics.bulk_requests;
    counter.fetch_add(1, Ordering::Relaxed);
    let (limits, bytes) = (db.limits(), body.len());
    let read = move || read(&body, &limits);
    let Given {
        docs: given,
        new_edits,
        all_or_nothing,
    } = in_its_place(bytes, read).await?;
    if new_edits && all_or_nothing {
        return not_atomic(&caller, &given);
    }
    let mode = match new_edits {
        true => Mode::New,
        false => Mode::Replicated,
    };
    let mut outcomes: Vec<(String, Option<Outcome>)> = Vec::with_capacity(given.len());
    let mut edits = Vec::with_capacity(given.len());
    for one in given {
        match one {
            Ok(mut edit) => {
                // One of these refuses the whole request, as in CouchDB.
                require_revision(&edit, mode)?;
                edit.id.as_deref().map_or(Ok(()), |id| db.check_id(id))?;
                let id = edit.id.get_or_insert_with(|| caller.new_id());
                outcomes.push((id.clone(), None));
                edits.push(edit);
            }
            Err(Unreadable { id, refusal }) => {
                let id = id.unwrap_or_else(|| caller.new_id());
                outcomes.push((id, Some(Err(refusal))));
            }
        }
    }
    let written = caller.write_all(&db, edits, mode).await?;
    let waiting = outcomes.iter_mut().filter(|(_, outcome)| outcome.is_none());
    for ((_, outcome), written) in waiting.zip(written) {
        *outcome = Some(written);
    }
    let mut out = Vec::with_capacity(outcomes.len() * 96);
    out.push(b'[');
    for (id, outcome) in &outcomes {
        let Some(outcome) = outcome else {
            continue;
        };
        // For replicated revisions, the answer lists failures only.
        if new_edits || outcome.is_err() {
            if out.len() > 1 {
                out.push(b',');
            }
            write_outcome(&mut out, outcome, id);
        }
    }
    out.extend_from_slice(b"]\n");
    Ok(reply::text(StatusCode::CREATED, out))
}

/// A document that is refused alone. The other documents of the request are written.
struct Unreadable {
    id: Option<String>,
    refusal: Refusal,
}

type OneGiven = Result<Edit, Unreadable>;

/// The body of a request.
struct Given {
    docs: Vec<OneGiven>,
    new_edits: bool,
    all_or_nothing: bool,
}

fn read(body: &Received, limits: &Limits) -> HttpResult<Given> {
    let text = body.text()?;
    let bad = |reason: &str| HttpError::BadRequest(reason.to_owned());
    let body: Body<'_> = serde_json::from_str(text).map_err(|error| match error.is_data() {
        // Such as a member that is given twice.
        true if text.trim_start().starts_with('{') => {
            bad(&format!("The request body has a wrong value: {error}"))
        }
        true => bad("Request body must be a JSON object"),
        false => HttpError::BadJson(error.to_string()),
    })?;
    let docs = body
        .docs
        .ok_or_else(|| bad("POST body must include `docs` parameter."))?;
    let docs: Bounded<&RawValue, DOCS_MAX> =
        serde_json::from_str(docs.get()).map_err(|_| bad("`docs` parameter must be an array."))?;
    let new_edits = match body.new_edits.map(RawValue::get) {
        None | Some("true") => true,
        Some("false") => false,
        Some(_) => return Err(bad("`new_edits` parameter must be a boolean.")),
    };
    let docs = docs.items()?.into_iter();
    let docs: HttpResult<Vec<OneGiven>> = docs.map(|doc| read_one(doc.get(), limits)).collect();
    Ok(Given {
        docs: docs?,
        new_edits,
        all_or_nothing: body.all_or_nothing.map(RawValue::get) == Some("true"),
    })
}

/// Returns the answer to `all_or_nothing`, which CouchDB does not support either.
fn not_atomic(caller: &Caller, docs: &[OneGiven]) -> HttpResult {
    let refused = |one: &OneGiven| {
        let (id, rev) = match one {
            Ok(edit) => (&edit.id, edit.history.as_ref().map(History::revision)),
            Err(unreadable) => (&unreadable.id, None),
        };
        json!({
            "id": id.clone().unwrap_or_else(|| caller.new_id()),
            "rev": rev.map_or_else(|| "0-".to_owned(), |rev| rev.to_string()),
            "error": "not_implemented",
            "reason": "all_or_nothing is not supported",
        })
    };
    let refused: Vec<Value> = docs.iter().map(refused).collect();
    reply::json(StatusCode::EXPECTATION_FAILED, &refused)
}

fn read_one(text: &str, limits: &Limits) -> HttpResult<OneGiven> {
    #[derive(Deserialize)]
    struct Id {
        _id: Option<String>,
    }
    match Edit::from_json(text, limits) {
        Ok(edit) => Ok(Ok(edit)),
        Err(Error::TooDeep(reason)) => {
            let id = serde_json::from_str(text).ok().and_then(|Id { _id }| _id);
            let refusal = Refusal::BadRequest(reason);
            Ok(Err(Unreadable { id, refusal }))
        }
        Err(error) => Err(error.into()),
    }
}

fn write_outcome(out: &mut Vec<u8>, outcome: &Outcome, id: &str) {
    match outcome {
        Ok(written) => {
            out.extend_from_slice(b"{\"ok\":true,\"id\":");
            write_string(out, &written.id);
            out.extend_from_slice(b",\"rev\":\"");
            out.extend_from_slice(written.revision.to_string().as_bytes());
            out.extend_from_slice(b"\"}");
        }
        Err(refusal) => write_refusal(out, refusal, id),
    }
}

fn write_refusal(out: &mut Vec<u8>, refusal: &Refusal, id: &str) {
    let error = HttpError::from(refusal.clone());
    let mut row = serde_json::Map::new();
    row.insert("id".to_owned(), id.into());
    row.extend(error.json());
    out.extend_from_slice(Value::Object(row).to_string().as_bytes());
}
