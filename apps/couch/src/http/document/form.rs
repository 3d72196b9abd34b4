//! `POST /db/id` with a form: attachments as a browser uploads them.
//!
//! Source: `chttpd_db:db_doc_req`.

use super::answer::{Says, written};
use crate::http::body::{self, Gathered};
use crate::http::caller::Caller;
use crate::http::target::Doc;
use crate::http::{HttpError, HttpResult};
use crate::multipart::{Headers, Reader, boundary, media_type, parameter};
use crate::revision::Revision;
use crate::store::{Database, Edit, Encoding, GetOptions, Mode, NewAttachment, NewContent};
use axum::body::Bytes;
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use futures_util::Stream;

/// The maximum size of the field with the revision, in bytes.
const REVISION_BYTES_MAX: usize = 1000;

/// A form that was received.
#[derive(Default)]
struct Form {
    /// The document as JSON. Without it, the attachments are added to the document of the revision.
    document: Option<Edit>,
    revision: Option<String>,
    attachments: Vec<NewAttachment>,
}

/// `POST /db/id`.
pub async fn post_form(caller: Caller, Doc { db, id }: Doc, request: Request) -> HttpResult {
    require_referer(request.headers())?;
    db.check_id(&id)?;
    let content_type = request.headers().get(header::CONTENT_TYPE);
    let content_type = content_type.and_then(|value| value.to_str().ok());
    let content_type = content_type.unwrap_or_default().to_owned();
    if !media_type(&content_type).eq_ignore_ascii_case("multipart/form-data") {
        return Err(HttpError::BadContentType("multipart/form-data"));
    }
    let pieces = body::pieces(request.into_body(), caller.server.request_bytes_max());
    let mut reader = Reader::new(pieces, &boundary(&content_type)?);
    let form = Form::read(&caller, &db, &mut reader).await?;
    let mut edit = match form.document {
        Some(edit) => edit,
        None => {
            let missing = || HttpError::BadRequest("The form has no field _rev.".to_owned());
            let revision: Revision = form.revision.ok_or_else(missing)?.trim().parse()?;
            let options = GetOptions {
                revision: Some(revision),
                ..GetOptions::default()
            };
            Edit::of(&db.get(&id, &options)?)?
        }
    };
    edit.id = Some(id);
    for attachment in form.attachments.into_iter().rev() {
        edit.attach(attachment)?;
    }
    let done = caller.write(&db, edit, Mode::New).await?;
    written(StatusCode::CREATED, Says::Both, &caller, db.name(), &done)
}

/// Refuses a form that a page of another site sent with the user's session.
fn require_referer(headers: &HeaderMap) -> HttpResult<()> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let bad = |reason: &str| HttpError::BadRequest(reason.to_owned());
    let referer = text(header::REFERER).ok_or_else(|| bad("Referer header required."))?;
    let referer = referer.split_once("://").map_or(referer, |(_, rest)| rest);
    let referer_host = referer.split(['/', '?', '#']).next();
    match referer_host == text(header::HOST) {
        true => Ok(()),
        false => Err(bad("Referer header must match host.")),
    }
}

impl Form {
    async fn read<S>(caller: &Caller, db: &Database, reader: &mut Reader<S>) -> HttpResult<Self>
    where
        S: Stream<Item = HttpResult<Bytes>> + Unpin,
    {
        let mut form = Form::default();
        while let Some(headers) = reader.next_part().await? {
            let disposition = headers.get("Content-Disposition").map(str::to_owned);
            let disposition = disposition.unwrap_or_default();
            match parameter(&disposition, "name").as_deref() {
                Some("_doc") => {
                    let bytes_max = caller.server.body_bytes_max();
                    let text = field(caller, reader, bytes_max).await?;
                    form.document = Some(Edit::from_json(&text, &db.limits())?);
                }
                Some("_rev") => {
                    form.revision = Some(field(caller, reader, REVISION_BYTES_MAX).await?);
                }
                Some("_attachments") => {
                    let name = parameter(&disposition, "filename").unwrap_or_default();
                    form.attachments
                        .push(attachment(db, name, &headers, reader).await?);
                }
                // CouchDB ignores the other fields.
                _ => while reader.chunk().await?.is_some() {},
            }
        }
        Ok(form)
    }
}

/// Reads the text of a field.
async fn field<S>(caller: &Caller, reader: &mut Reader<S>, bytes_max: usize) -> HttpResult<String>
where
    S: Stream<Item = HttpResult<Bytes>> + Unpin,
{
    let mut text = Gathered::new(&caller.server.body_memory);
    while let Some(bytes) = reader.chunk().await? {
        text.add(bytes, bytes_max)?;
    }
    Ok(text.finish().text()?.to_owned())
}

async fn attachment<S>(
    db: &Database,
    name: String,
    headers: &Headers,
    reader: &mut Reader<S>,
) -> HttpResult<NewAttachment>
where
    S: Stream<Item = HttpResult<Bytes>> + Unpin,
{
    let content_type = headers.get("Content-Type");
    let content_type = content_type
        .unwrap_or("application/octet-stream")
        .to_owned();
    let mut upload = db.upload(&content_type, Encoding::Identity);
    while let Some(bytes) = reader.chunk().await? {
        upload.write(bytes).await?;
    }
    Ok(NewAttachment {
        name,
        content_type,
        content: NewContent::Stored {
            content: upload.finish(None).await?,
            revpos: None,
        },
    })
}
