//! `GET /db/id`.

use super::answer::{is_known, not_modified};
use super::options::revision_list;
use super::parts::{self, Piece};
use super::{Accepts, get_options, local};
use crate::http::caller::Caller;
use crate::http::params::Params;
use crate::http::target::Doc;
use crate::http::users_db::{self, Visible};
use crate::http::{HttpError, HttpResult, inlined, replications, reply};
use crate::multipart::Boundary;
use crate::revision::Revision;
use crate::store::{AttachmentOption, Database, Document, Found, GetOptions};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};

/// Reads a document in the requested revisions and format.
pub async fn get(
    caller: Caller,
    Doc { db, id }: Doc,
    visible: Visible,
    params: Params,
    headers: HeaderMap,
) -> HttpResult {
    if !visible.includes(&id) && !id.starts_with("_local/") {
        let policy = caller.server.auth.policy();
        let mut document = db.get(&id, &GetOptions::default())?;
        document.body = users_db::public(&policy, &document.body)?;
        document.attachments.clear();
        return tagged(&db, &document, &headers);
    }
    if let Visible::OwnCredentials(owner) = &visible {
        let mut document = db.get(&id, &GetOptions::default())?;
        document.body = replications::shown(&document.body, owner.as_deref())?;
        return tagged(&db, &document, &headers);
    }
    if id.starts_with("_local/") {
        return local::get(&db, &id, &headers);
    }
    if params.is_empty() {
        return plain(&db, &id, &headers);
    }
    let options = get_options(&params)?;
    let accepts = Accepts::of(&headers);
    if let Some(text) = params.get("open_revs") {
        let wanted = match text {
            "all" => None,
            list => Some(revision_list("open_revs", list)?),
        };
        // As in CouchDB, an empty list asks for the document itself.
        if wanted.as_ref().is_none_or(|wanted| !wanted.is_empty()) {
            return revisions(&db, &id, wanted, options, &accepts);
        }
    }
    one(&db, &id, options, &accepts, &headers)
}

/// Reads the winning revision of a document.
///
/// # Errors
/// If there is none.
pub fn plain(db: &Database, id: &str, headers: &HeaderMap) -> HttpResult {
    let document = db.get(id, &GetOptions::default())?;
    tagged(db, &document, headers)
}

fn tagged(db: &Database, document: &Document, headers: &HeaderMap) -> HttpResult {
    if headers.contains_key(header::IF_NONE_MATCH) {
        let tag = document.revision.to_string();
        if is_known(headers, &tag) {
            return Ok(not_modified(&tag));
        }
    }
    let mut tag = Vec::with_capacity(40);
    tag.push(b'"');
    document.revision.write(&mut tag);
    tag.push(b'"');
    let mut response = json(db, document)?;
    if let Ok(tag) = HeaderValue::from_bytes(&tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    Ok(response)
}

fn json(db: &Database, document: &Document) -> HttpResult {
    let mut out = Vec::with_capacity(document.body.len() + document.id.len() + 80);
    document.write_json(&mut out);
    out.push(b'\n');
    inlined::whole(db, StatusCode::OK, out)
}

fn one(
    db: &Database,
    id: &str,
    mut options: GetOptions,
    accepts: &Accepts,
    headers: &HeaderMap,
) -> HttpResult {
    let is_related = options.attachments != AttachmentOption::Stubs
        && accepts.allows("multipart/related")
        && !accepts.lists("application/json");
    if is_related {
        options.follow();
    }
    let document = db.get(id, &options)?;
    // What describes the document changes without a new revision.
    let has_tag = !options.revs_info && !options.local_seq && document.conflicts.is_empty();
    // Of stubs only there is no multipart body: CouchDB waits in vain for a part after it.
    if !is_related || parts::following(&document).next().is_none() {
        return match has_tag {
            true => tagged(db, &document, headers),
            false => json(db, &document),
        };
    }
    let boundary = Boundary::default();
    let content_type = boundary.content_type("related");
    let pieces = parts::related(&boundary, &document);
    let length: u64 = pieces.iter().map(Piece::length).sum();
    let mut response = parts::response(db.clone(), [pieces].into_iter(), &content_type);
    reply::set(&mut response, header::CONTENT_LENGTH, &length.to_string());
    Ok(response)
}

fn revisions(
    db: &Database,
    id: &str,
    wanted: Option<Vec<Revision>>,
    mut options: GetOptions,
    accepts: &Accepts,
) -> HttpResult {
    let is_mixed = accepts.allows("multipart/mixed") && !accepts.lists("application/json");
    if is_mixed {
        options.follow();
    }
    let found = db.open_revs(id, wanted.as_deref(), &options)?;
    if wanted.is_none() && found.is_empty() {
        return Err(HttpError::DocumentMissing);
    }
    if is_mixed {
        return Ok(parts::mixed(db.clone(), found));
    }
    let mut out = vec![b'['];
    for (at, one) in found.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        match one {
            Found::Document(document) => {
                out.extend_from_slice(b"{\"ok\":");
                document.write_json(&mut out);
            }
            Found::Missing(revision) => {
                out.extend_from_slice(format!("{{\"missing\":\"{revision}\"").as_bytes());
            }
        }
        out.push(b'}');
    }
    out.extend_from_slice(b"]\n");
    inlined::whole(db, StatusCode::OK, out)
}
