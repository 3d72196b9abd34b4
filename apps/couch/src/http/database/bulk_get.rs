//! `_bulk_get`: many revisions in one request, as JSON or as a multipart body.

use crate::http::body::{Bounded, JsonBody};
use crate::http::document::parts::{self, Piece};
use crate::http::document::{Accepts, get_options};
use crate::http::params::Params;
use crate::http::target::Db;
use crate::http::users_db::Visible;
use crate::http::{HttpError, HttpResult, inlined, reply};
use crate::json::write_string;
use crate::multipart::Boundary;
use crate::revision::Revision;
use crate::store::{AttachmentOption, Database, Found, GetOptions};
use axum::http::{HeaderMap, StatusCode};
use bytes::Bytes;
use futures_util::stream;
use serde::Deserialize;
use serde_json::{Map, Value, json};

#[derive(Deserialize)]
struct Body {
    docs: Bounded<Wanted, DOCS_MAX>,
}

/// A requested document.
#[derive(Deserialize)]
struct Wanted {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    rev: Option<Value>,
    #[serde(default)]
    atts_since: Option<Vec<Revision>>,
}

/// A database, and which of its documents the user sees.
struct Source {
    db: Database,
    visible: Visible,
}

/// The maximum number of documents per request, as in CouchDB.
const DOCS_MAX: usize = 10_000;

/// `POST /db/_bulk_get`.
pub async fn bulk_get(
    Db(db): Db,
    visible: Visible,
    params: Params,
    headers: HeaderMap,
    body: JsonBody,
) -> HttpResult {
    let Body { docs } = body.0.json()?;
    let accepts = Accepts::of(&headers);
    let multipart = ["mixed", "related"]
        .into_iter()
        .find(|kind| accepts.lists(&format!("multipart/{kind}")));
    let multipart = multipart.filter(|_| !accepts.allows("application/json"));
    let mut options = get_options(&params)?;
    let source = Source { db, visible };
    let docs = docs.items()?.into_iter();
    if let Some(kind) = multipart {
        options.follow();
        let outer = Boundary::default();
        let content_type = outer.content_type(kind);
        let db = source.db.clone();
        let batches = Batches {
            source,
            docs,
            options,
            outer,
            is_done: false,
        };
        return Ok(parts::response(db, batches, &content_type));
    }
    let rest = Rest {
        source,
        docs,
        options,
        is_begun: false,
        is_done: false,
    };
    let db = rest.source.db.clone();
    let texts = stream::try_unfold(rest, |mut rest| async move {
        Ok(rest.next_piece().map(|piece| (piece, rest)))
    });
    let body = reply::body(inlined::pieces(db, texts));
    Ok(reply::text(StatusCode::OK, body))
}

/// The size of the pieces of an answer, in bytes, about.
const PIECE_BYTES: usize = 64 << 10;

/// The part of a JSON answer that has not been sent.
struct Rest {
    source: Source,
    docs: std::vec::IntoIter<Wanted>,
    options: GetOptions,
    is_begun: bool,
    is_done: bool,
}

impl Rest {
    fn next_piece(&mut self) -> Option<Bytes> {
        if self.is_done {
            return None;
        }
        let mut out = Vec::new();
        let mut separator = if self.is_begun { "," } else { "{\"results\":[" };
        while out.len() < PIECE_BYTES {
            let Some(wanted) = self.docs.next() else {
                self.is_done = true;
                break;
            };
            out.extend_from_slice(separator.as_bytes());
            (separator, self.is_begun) = (",", true);
            write_result(
                &mut out,
                &wanted,
                open(&self.source, &wanted, &self.options),
            );
        }
        if self.is_done {
            let end: &[u8] = if self.is_begun {
                b"]}\n"
            } else {
                b"{\"results\":[]}\n"
            };
            out.extend_from_slice(end);
        }
        Some(out.into())
    }
}

/// Returns the requested revisions, or all leaves if the request names none.
fn open(source: &Source, wanted: &Wanted, options: &GetOptions) -> HttpResult<Vec<Found>> {
    let missing = || HttpError::BadRequest("document id missed".to_owned());
    let id = wanted.id.as_deref().ok_or_else(missing)?;
    source.db.check_id(id)?;
    if !source.visible.includes(id) {
        return Ok(Vec::new());
    }
    let mut options = options.clone();
    if let Some(since) = &wanted.atts_since {
        options.attachments = match options.attachments {
            AttachmentOption::Follow => AttachmentOption::FollowSince(since.clone()),
            _ => AttachmentOption::InlineSince(since.clone()),
        };
    }
    let revisions = match &wanted.rev {
        None => None,
        Some(rev) => Some([rev.as_str().unwrap_or_default().parse::<Revision>()?]),
    };
    let revisions = revisions.as_ref().map(|one| &one[..]);
    Ok(source.db.open_revs(id, revisions, &options)?)
}

fn write_result(out: &mut Vec<u8>, wanted: &Wanted, found: HttpResult<Vec<Found>>) {
    out.extend_from_slice(b"{\"id\":");
    match &wanted.id {
        Some(id) => write_string(out, id),
        None => out.extend_from_slice(b"null"),
    }
    out.extend_from_slice(b",\"docs\":[");
    match found {
        Ok(found) if !found.is_empty() => {
            for (at, one) in found.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                write_found(out, wanted, one);
            }
        }
        Ok(_) => write_error(out, wanted, None, &HttpError::DocumentMissing),
        Err(error) => write_error(out, wanted, None, &error),
    }
    out.extend_from_slice(b"]}");
}

fn write_found(out: &mut Vec<u8>, wanted: &Wanted, found: &Found) {
    match found {
        Found::Document(document) => {
            out.extend_from_slice(b"{\"ok\":");
            document.write_json(out);
            out.push(b'}');
        }
        Found::Missing(revision) => {
            write_error(out, wanted, Some(revision), &HttpError::DocumentMissing);
        }
    }
}

fn write_error(out: &mut Vec<u8>, wanted: &Wanted, rev: Option<&Revision>, error: &HttpError) {
    let error = json!({ "error": error_json(wanted, rev, error) });
    out.extend_from_slice(error.to_string().as_bytes());
}

fn error_json(wanted: &Wanted, rev: Option<&Revision>, error: &HttpError) -> Value {
    let rev = rev.map(|rev| Value::from(rev.to_string()));
    // A document that was looked for has a text here, as in CouchDB.
    let none = match error {
        HttpError::DocumentMissing => Value::from("undefined"),
        _ => Value::Null,
    };
    let mut fields = Map::new();
    fields.insert("id".to_owned(), wanted.id.as_deref().into());
    fields.insert(
        "rev".to_owned(),
        rev.or_else(|| wanted.rev.clone()).unwrap_or(none),
    );
    fields.extend(error.json());
    Value::Object(fields)
}

/// The unsent documents of a multipart answer.
struct Batches {
    source: Source,
    docs: std::vec::IntoIter<Wanted>,
    options: GetOptions,
    outer: Boundary,
    is_done: bool,
}

impl Iterator for Batches {
    type Item = Vec<Piece>;

    fn next(&mut self) -> Option<Vec<Piece>> {
        let Some(wanted) = self.docs.next() else {
            let end = (!self.is_done).then(|| vec![Piece::Text(self.outer.end())]);
            self.is_done = true;
            return end;
        };
        let id = wanted.id.as_deref().unwrap_or_default();
        let error = |rev: Option<&Revision>, error: &HttpError| {
            let body = error_json(&wanted, rev, error).to_string();
            parts::error(&self.outer, &[("X-Doc-ID", id)], body)
        };
        Some(match open(&self.source, &wanted, &self.options) {
            Err(wrong) => error(None, &wrong),
            Ok(found) if found.is_empty() => error(None, &HttpError::DocumentMissing),
            Ok(found) => found
                .into_iter()
                .flat_map(|one| match one {
                    Found::Missing(rev) => error(Some(&rev), &HttpError::DocumentMissing),
                    Found::Document(document) => {
                        let rev = document.revision.to_string();
                        let headers = [("X-Doc-ID", id), ("X-Rev-ID", &rev)];
                        parts::document(&self.outer, &headers, &document)
                    }
                })
                .collect(),
        })
    }
}
