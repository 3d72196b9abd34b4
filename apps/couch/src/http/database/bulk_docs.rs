//! `_bulk_docs`: many edits in one request.

use crate::http::body;
use crate::http::caller::Caller;
use crate::http::document::NO_REVISION;
use crate::http::incoming::{Batches, Gathering, Input, OneGiven, Receiver, Spool, Unreadable};
use crate::http::target::Db;
use crate::http::{HttpError, HttpResult, reply};
use crate::json::write_string;
use crate::revision::History;
use crate::store::{Database, Mode, Outcome, Refusal};
use axum::body::Bytes;
use axum::extract::Request;
use axum::http::StatusCode;
use futures_util::Stream;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use std::sync::atomic::Ordering;

/// The largest member of a request beside `docs`, in bytes.
const MEMBER_BYTES_MAX: usize = 1 << 20;

/// `POST /db/_bulk_docs`. The documents are read as they arrive, and written when the request is complete: `new_edits` may come
/// after them, and a request that is refused writes nothing.
pub async fn bulk_docs(caller: Caller, Db(db): Db, request: Request) -> HttpResult {
    body::require_json(request.headers())?;
    let counter = &caller.server.metrics.bulk_requests;
    counter.fetch_add(1, Ordering::Relaxed);
    let pieces = body::decoded(request, &caller.server)?;
    let receiver = Receiver {
        server: &caller.server,
        db: &db,
    };
    let (given, new_edits, all_or_nothing) = read(&receiver, Input::new(pieces)).await?;
    if new_edits && all_or_nothing {
        return not_atomic(&caller, given.finish()?).await;
    }
    if !new_edits && given.lacks_revision() {
        return Err(HttpError::BadRequest(NO_REVISION.to_owned()));
    }
    let batches = given.finish()?;
    write(&caller, &db, batches, new_edits, receiver.spool()).await
}

/// Writes documents in batches. Returns the answer.
async fn write(
    caller: &Caller,
    db: &Database,
    mut batches: Batches,
    new_edits: bool,
    mut answer: Spool,
) -> HttpResult {
    let mode = match new_edits {
        true => Mode::New,
        false => Mode::Replicated,
    };
    let mut stopped = None;
    let mut separator = "[";
    while let Some(batch) = batches.next_batch().await? {
        let mut out = Vec::new();
        for (id, outcome) in written(caller, db, batch, mode, &mut stopped).await? {
            // For replicated revisions, the answer lists failures only.
            if new_edits || outcome.is_err() {
                out.extend_from_slice(std::mem::replace(&mut separator, ",").as_bytes());
                write_outcome(&mut out, &outcome, &id);
            }
        }
        answer.write(&out)?;
        answer.settle().await?;
    }
    answer.write(if separator == "[" { b"[]\n" } else { b"]\n" })?;
    Ok(reply::text(StatusCode::CREATED, answer.read()?.into_body()))
}

/// Writes some documents. Returns their ids and what became of them, in their order.
async fn written(
    caller: &Caller,
    db: &Database,
    batch: Vec<OneGiven>,
    mode: Mode,
    stopped: &mut Option<Refusal>,
) -> HttpResult<Vec<(String, Outcome)>> {
    let mut outcomes: Vec<(String, Option<Outcome>)> = Vec::with_capacity(batch.len());
    let mut edits = Vec::with_capacity(batch.len());
    for one in batch {
        match one {
            Ok(mut edit) => {
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
    let mut written = caller
        .write_some(db, edits, mode, stopped)
        .await?
        .into_iter();
    let outcome = |(id, outcome): (String, Option<Outcome>)| {
        let outcome = outcome.or_else(|| written.next())?;
        Some((id, outcome))
    };
    Ok(outcomes.into_iter().filter_map(outcome).collect())
}

/// Reads the body of a request. Returns its documents, `new_edits` and `all_or_nothing`.
async fn read<'a, S>(
    receiver: &'a Receiver<'a>,
    mut input: Input<S>,
) -> HttpResult<(Gathering<'a>, bool, bool)>
where
    S: Stream<Item = HttpResult<Bytes>> + Unpin + Send,
{
    if input.peek().await?.is_some_and(|byte| byte != b'{') {
        return Err(bad("Request body must be a JSON object"));
    }
    input.take(b"{").await?;
    let mut given = None;
    let (mut new_edits, mut all_or_nothing) = (None, None);
    let mut is_open = input.peek().await? != Some(b'}');
    if !is_open {
        input.take(b"}").await?;
    }
    while is_open {
        let name = input.value(MEMBER_BYTES_MAX).await?;
        let name: String = serde_json::from_str(&name).map_err(broken)?;
        input.take(b":").await?;
        let is_array = input.peek().await? == Some(b'[');
        if name == "docs" && is_array {
            let docs = documents(receiver, &mut input).await?;
            once("docs", given.replace(docs).is_some())?;
        } else {
            let value = input.value(MEMBER_BYTES_MAX).await?;
            serde_json::from_str::<IgnoredAny>(&value).map_err(broken)?;
            match name.as_str() {
                "docs" if value != "null" => {
                    return Err(bad("`docs` parameter must be an array."));
                }
                "new_edits" => once("new_edits", new_edits.replace(value).is_some())?,
                "all_or_nothing" => {
                    once("all_or_nothing", all_or_nothing.replace(value).is_some())?;
                }
                _ => {}
            }
        }
        is_open = input.take(b",}").await? == b',';
    }
    input.end().await?;
    let given = given.ok_or_else(|| bad("POST body must include `docs` parameter."))?;
    let new_edits = match new_edits.as_deref() {
        None | Some("true" | "null") => true,
        Some("false") => false,
        Some(_) => return Err(bad("`new_edits` parameter must be a boolean.")),
    };
    Ok((given, new_edits, all_or_nothing.as_deref() == Some("true")))
}

/// Reads the list of documents.
async fn documents<'a, S>(
    receiver: &'a Receiver<'a>,
    input: &mut Input<S>,
) -> HttpResult<Gathering<'a>>
where
    S: Stream<Item = HttpResult<Bytes>> + Unpin + Send,
{
    let mut given = Gathering::new(receiver);
    input.take(b"[").await?;
    if input.peek().await? == Some(b']') {
        input.take(b"]").await?;
        return Ok(given);
    }
    loop {
        let begin = input.at();
        let document = input.document(receiver).await?;
        given.add(document).await.map_err(|error| match error {
            HttpError::BadJson(detail) => HttpError::BadJson(format!(
                "{detail}, without white space, of the document after byte {begin}"
            )),
            error => error,
        })?;
        if input.take(b",]").await? == b']' {
            return Ok(given);
        }
    }
}

fn once(name: &str, is_again: bool) -> HttpResult<()> {
    match is_again {
        true => Err(bad(&format!(
            "The request body has a wrong value: duplicate field `{name}`"
        ))),
        false => Ok(()),
    }
}

fn bad(reason: &str) -> HttpError {
    HttpError::BadRequest(reason.to_owned())
}

fn broken(error: serde_json::Error) -> HttpError {
    HttpError::BadJson(error.to_string())
}

/// Returns the answer to `all_or_nothing`, which CouchDB does not support either.
async fn not_atomic(caller: &Caller, mut batches: Batches) -> HttpResult {
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
    let mut rows: Vec<Value> = Vec::new();
    while let Some(batch) = batches.next_batch().await? {
        rows.extend(batch.iter().map(refused));
    }
    reply::json(StatusCode::EXPECTATION_FAILED, &rows)
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
