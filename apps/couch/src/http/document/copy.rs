//! `COPY /db/id`.

use super::answer::{Says, written};
use super::local;
use super::write::named_revision;
use crate::http::caller::Caller;
use crate::http::content::{Content, Form};
use crate::http::params::Params;
use crate::http::target::Doc;
use crate::http::{HttpError, HttpResult};
use crate::revision::{History, Revision};
use crate::store::{Database, Document, Edit, GetOptions, Mode, NewContent};
use axum::http::{HeaderMap, Method, StatusCode};
use percent_encoding::percent_decode_str;

/// The prefix of documents that are not replicated.
const LOCAL: &str = "_local/";

/// Copies a document to the id in the header `Destination`. The route calls it for every method without a handler.
pub async fn copy(
    caller: Caller,
    method: Method,
    Doc { db, id }: Doc,
    params: Params,
    headers: HeaderMap,
) -> HttpResult {
    if method.as_str() != "COPY" {
        let allowed = "DELETE,GET,HEAD,POST,PUT,COPY".to_owned();
        return Err(HttpError::MethodNotAllowed(allowed));
    }
    let (to, parent) = destination(&headers)?;
    let options = GetOptions {
        revision: named_revision(&params, &headers)?,
        ..GetOptions::default()
    };
    let mut edit = match id.starts_with(LOCAL) {
        true => Edit::from_json(&db.local_get(&id)?.body, &db.limits())?,
        false => {
            let document = db.get(&id, &options)?;
            let mut edit = Edit::of(&document)?;
            copy_attachments(&db, &document, &mut edit).await?;
            edit
        }
    };
    let is_local = to.starts_with(LOCAL);
    edit.id = Some(to);
    edit.history = parent.map(History::from);
    if is_local {
        return local::put(&caller, &db, edit).await;
    }
    let done = caller.write(&db, edit, Mode::New).await?;
    written(StatusCode::CREATED, Says::Both, &caller, db.name(), &done)
}

/// `id` or `id?rev=…`, percent-encoded. A plus sign is a space, as in CouchDB.
fn destination(headers: &HeaderMap) -> HttpResult<(String, Option<Revision>)> {
    let text = headers
        .get("Destination")
        .and_then(|value| value.to_str().ok());
    let missing = || HttpError::BadRequest("Destination header is mandatory for COPY.".to_owned());
    let text = text.filter(|text| !text.is_empty()).ok_or_else(missing)?;
    if text.contains("://") {
        let reason = "Destination URL must be relative.";
        return Err(HttpError::BadRequest(reason.to_owned()));
    }
    let (id, query) = text.split_once('?').unwrap_or((text, ""));
    let id = id.replace('+', " ");
    let id = percent_decode_str(&id).decode_utf8();
    let id = id.map_err(|_| HttpError::BadDestination)?.into_owned();
    let query = Params::parse(query);
    let parent = query
        .get("rev")
        .map(|rev| rev.trim_matches('"').parse())
        .transpose();
    Ok((id, parent.map_err(|_| HttpError::BadDestination)?))
}

/// Stores the attachments for the copy, which cannot refer to those of another document.
async fn copy_attachments(db: &Database, document: &Document, edit: &mut Edit) -> HttpResult<()> {
    for (attachment, new) in document.attachments.iter().zip(&mut edit.attachments) {
        let mut content = Content::open(db, attachment, Form::Stored)?;
        let mut upload = db.upload(&attachment.content_type, attachment.encoding);
        loop {
            let piece = content.next_piece()?;
            if piece.is_empty() {
                break;
            }
            upload.write(piece).await?;
        }
        let content = upload.finish(None).await?;
        new.content = NewContent::Stored {
            content,
            revpos: None,
        };
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::{HeaderName, HeaderValue};

    #[test]
    fn destinations_are_ids_with_or_without_a_revision() {
        let of = |text: &str| {
            let value = HeaderValue::from_str(text).unwrap();
            let name = HeaderName::from_static("destination");
            destination(&HeaderMap::from_iter([(name, value)]))
        };
        assert_eq!(of("a%2Fb").unwrap(), ("a/b".to_owned(), None));
        assert_eq!(of("/lead").unwrap(), ("/lead".to_owned(), None));
        let (id, rev) = of("b?rev=2-a").unwrap();
        assert_eq!(
            (id.as_str(), rev.unwrap().to_string().as_str()),
            ("b", "2-a")
        );
        for wrong in ["", "http://x/db/id", "%ff", "b?rev=x"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
        assert!(destination(&HeaderMap::new()).is_err());
    }
}
