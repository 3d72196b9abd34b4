//! Reads a document from a request: JSON, or a multipart body with attachments.

use crate::http::body::{self, Received, content_length};
use crate::http::incoming::{Input, Receiver};
use crate::http::{HttpError, HttpResult, Server};
use crate::multipart::{Reader, boundary, media_type, parameter, raw_parameter};
use crate::store::{Database, Edit, NewAttachment, NewContent};
use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, Request};
use axum::http::header;
use futures_util::Stream;
use std::sync::Arc;

/// The largest body, in bytes, that is read as a whole.
const SMALL_BYTES: u64 = 64 << 10;

/// Reads the edit in a request, and stores the attachments that follow it.
pub async fn edit(server: &Arc<Server>, db: &Database, request: Request) -> HttpResult<Edit> {
    let content_type = request.headers().get(header::CONTENT_TYPE);
    let content_type = content_type.and_then(|value| value.to_str().ok());
    let content_type = content_type.unwrap_or_default().to_owned();
    if media_type(&content_type).eq_ignore_ascii_case("multipart/related") {
        return related(server, db, &content_type, request.into_body()).await;
    }
    let length = content_length(request.headers());
    if length == Some(0) {
        return Err(HttpError::BadRequest(
            "Document must be a JSON object".to_owned(),
        ));
    }
    if length.is_some_and(|length| length <= SMALL_BYTES) {
        let received = Received::from_request(request, server).await?;
        return Ok(Edit::from_json(received.text()?, &db.limits())?);
    }
    let receiver = Receiver { server, db };
    let mut input = Input::new(body::decoded(request, server)?);
    let captured = input.document(&receiver).await?;
    input.end().await?;
    captured.edit(db).await
}

async fn related(
    server: &Server,
    db: &Database,
    content_type: &str,
    body: Body,
) -> HttpResult<Edit> {
    let pieces = body::pieces(body, server.request_bytes_max());
    let mut reader = Reader::new(pieces, &boundary(content_type)?);
    let first = reader.next_part().await?;
    first.ok_or_else(|| HttpError::BadRequest("The body has no parts.".to_owned()))?;
    let mut edit = first_part(&mut reader, server, db).await?;
    while let Some(headers) = reader.next_part().await? {
        let attachment = awaited(&mut edit, headers.get("Content-Disposition"))?;
        attachment.content = upload(db, attachment, &mut reader).await?;
    }
    Ok(edit)
}

/// Reads the document itself. Some of its attachments may be in it.
async fn first_part<S>(reader: &mut Reader<S>, server: &Server, db: &Database) -> HttpResult<Edit>
where
    S: Stream<Item = HttpResult<Bytes>> + Send + Unpin,
{
    let pieces = futures_util::stream::try_unfold(reader, |reader| async move {
        Ok(reader.chunk().await?.map(|piece| (piece, reader)))
    });
    let mut input = Input::new(Box::pin(pieces));
    let captured = input.document(&Receiver { server, db }).await?;
    input.end().await?;
    captured.edit(db).await
}

/// Returns the attachment of a part: the one with the part's name, or else the next in the document's order. CouchDB goes by
/// the order alone and writes names without escapes, so a name is read both ways.
///
/// # Errors
/// If no attachment is left, or the name is that of an attachment which waits for no bytes.
fn awaited<'a>(edit: &'a mut Edit, disposition: Option<&str>) -> HttpResult<&'a mut NewAttachment> {
    let raw = disposition.and_then(|value| raw_parameter(value, "filename"));
    let name = disposition.and_then(|value| parameter(value, "filename"));
    let readings = [raw, name.as_deref()];
    let is_named = |attachment: &NewAttachment| readings.contains(&Some(&attachment.name));
    let waiting = edit.attachments.iter().enumerate();
    let mut waiting = waiting.filter(|(_, one)| matches!(one.content, NewContent::Follows { .. }));
    let next = waiting.next();
    // Read in two ways, a name may be that of two attachments: the order decides.
    let found = match next.filter(|(_, attachment)| is_named(attachment)) {
        None => waiting.find(|(_, attachment)| is_named(attachment)),
        next => next,
    };
    let is_taken = || edit.attachments.iter().any(is_named);
    let found = found.or_else(|| next.filter(|_| !is_taken()));
    let Some((at, _)) = found else {
        let what = name.map_or_else(|| "A part".to_owned(), |name| format!("The part {name}"));
        return Err(HttpError::BadRequest(format!(
            "{what} is no attachment that the document announces."
        )));
    };
    Ok(&mut edit.attachments[at])
}

async fn upload<S>(
    db: &Database,
    attachment: &NewAttachment,
    reader: &mut Reader<S>,
) -> HttpResult<NewContent>
where
    S: Stream<Item = HttpResult<Bytes>> + Unpin,
{
    let NewContent::Follows {
        length,
        encoding,
        md5,
        revpos,
    } = attachment.content
    else {
        return Err(HttpError::Internal(
            "only what follows is uploaded".to_owned(),
        ));
    };
    let mut upload = db.upload(&attachment.content_type, encoding);
    let mut received = 0;
    while let Some(bytes) = reader.chunk().await? {
        received += bytes.len() as u64;
        upload.write(bytes).await?;
    }
    if length.is_some_and(|length| length != received) {
        let name = &attachment.name;
        let reason = format!("The attachment {name} has {received} bytes, and not as announced.");
        return Err(HttpError::BadRequest(reason));
    }
    let content = upload.finish(md5).await?;
    Ok(NewContent::Stored { content, revpos })
}
