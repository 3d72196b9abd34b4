//! Requests to an attachment.

use super::answer::{Says, is_known, location, not_modified, written};
use super::write::{is_absent, named_revision};
use crate::http::body;
use crate::http::caller::Caller;
use crate::http::content::{Content, Form};
use crate::http::params::Params;
use crate::http::target::Att;
use crate::http::{HttpError, HttpResult, reply};
use crate::multipart::{media_type, parameter};
use crate::revision::Revision;
use crate::store::{
    Attachment, Database, Edit, Encoding, GetOptions, Mode, NewAttachment, NewContent,
};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use base64::{Engine, engine::general_purpose::STANDARD};
use futures_util::StreamExt;
use std::ops::Range;

/// `GET /db/id/attachment`, also a range of it.
pub async fn get_attachment(
    Att { db, id, name }: Att,
    method: Method,
    params: Params,
    headers: HeaderMap,
) -> HttpResult {
    let options = GetOptions {
        revision: params.get("rev").map(str::parse).transpose()?,
        ..GetOptions::default()
    };
    let document = db.get(&id, &options)?;
    let found = document
        .attachments
        .iter()
        .find(|attachment| attachment.name == name);
    let attachment = found.ok_or(HttpError::AttachmentMissing)?;
    let md5 = STANDARD.encode(attachment.md5);
    if is_known(&headers, &md5) {
        return Ok(not_modified(&md5));
    }
    let range = headers.get(header::RANGE);
    let range = range.filter(|_| is_of_range(&headers, &md5));
    let sent = Sent::of(attachment, &headers, range)?;
    let body = match method {
        Method::HEAD => axum::body::Body::empty(),
        _ => sent.body(&db, attachment)?,
    };
    Ok(sent.response(attachment, &md5, body))
}

/// The range and the encoding in which an attachment is sent.
struct Sent {
    form: Form,
    /// The requested range of the bytes.
    range: Option<Range<u64>>,
    /// The number of bytes to send, if known.
    length: u64,
}

impl Sent {
    fn of(
        attachment: &Attachment,
        headers: &HeaderMap,
        asked: Option<&HeaderValue>,
    ) -> HttpResult<Self> {
        if attachment.encoding == Encoding::Identity {
            let range = range(asked, attachment.length)?;
            let length = range
                .as_ref()
                .map_or(attachment.length, |r| r.end - r.start);
            return Ok(Sent {
                form: Form::Stored,
                range,
                length,
            });
        }
        let coding = headers.get(header::ACCEPT_ENCODING);
        let coding = coding
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        Ok(if accepts_gzip(coding) {
            Sent {
                form: Form::Stored,
                range: None,
                length: attachment.stored_length,
            }
        } else {
            Sent {
                form: Form::Decoded,
                range: None,
                length: attachment.length,
            }
        })
    }

    fn body(&self, db: &Database, attachment: &Attachment) -> HttpResult<axum::body::Body> {
        let mut content = Content::open(db, attachment, self.form)?;
        if let Some(range) = &self.range {
            content = content.range(range.start, range.end);
        }
        let pieces = futures_util::stream::try_unfold(content, |mut content| async move {
            let piece = content.next_piece()?;
            Ok::<_, HttpError>((!piece.is_empty()).then_some((piece, content)))
        });
        Ok(reply::body(pieces))
    }

    fn response(&self, attachment: &Attachment, md5: &str, body: axum::body::Body) -> Response {
        let mut response = Response::new(body);
        let mut set = |name, value: &str| reply::set(&mut response, name, value);
        set(header::CONTENT_TYPE, &attachment.content_type);
        set(header::ETAG, &format!("\"{md5}\""));
        set(header::CACHE_CONTROL, "must-revalidate");
        // Untrusted attachments keep their declared media type and run no scripts.
        set(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
        set(header::CONTENT_SECURITY_POLICY, "sandbox");
        set(header::CONTENT_LENGTH, &self.length.to_string());
        let is_plain = attachment.encoding == Encoding::Identity;
        set(
            header::ACCEPT_RANGES,
            if is_plain { "bytes" } else { "none" },
        );
        if self.form == Form::Stored && !is_plain {
            set(header::CONTENT_ENCODING, "gzip");
        }
        if is_plain && self.range.is_none() {
            set(header::HeaderName::from_static("content-md5"), md5);
        }
        if let Some(Range { start, end }) = &self.range {
            let (last, all) = (end - 1, attachment.length);
            set(
                header::CONTENT_RANGE,
                &format!("bytes {start}-{last}/{all}"),
            );
            *response.status_mut() = StatusCode::PARTIAL_CONTENT;
        }
        response
    }
}

/// Whether a list of codings has gzip. A weight of 0 refuses it (RFC 9110).
fn accepts_gzip(codings: &str) -> bool {
    codings.split(',').any(|coding| {
        let is_refused = parameter(coding, "q")
            .is_some_and(|weight| !weight.parse().is_ok_and(|weight: f32| weight > 0.0));
        media_type(coding).eq_ignore_ascii_case("gzip") && !is_refused
    })
}

/// Returns whether a requested range is one of the attachment with this ETag: there is no `If-Range`, or it names the ETag.
/// Attachments have no dates.
///
/// Source: RFC 9110, section 13.1.5.
fn is_of_range(headers: &HeaderMap, tag: &str) -> bool {
    let condition = headers.get(header::IF_RANGE);
    condition.is_none_or(|condition| condition.as_bytes() == format!("\"{tag}\"").as_bytes())
}

/// Reads the range that a client asks for. Several ranges, and an invalid one, are ignored.
fn range(asked: Option<&HeaderValue>, length_bytes: u64) -> HttpResult<Option<Range<u64>>> {
    let text = asked.and_then(|value| value.to_str().ok());
    let Some(text) = text.and_then(|text| text.strip_prefix("bytes=")) else {
        return Ok(None);
    };
    // A single number is the start of a range, as in CouchDB.
    let (from, to) = text.split_once('-').unwrap_or((text, ""));
    let range = match (from.trim().parse::<u64>(), to.trim().parse::<u64>()) {
        // All of it: CouchDB answers as if no range was asked for.
        (Ok(0), Err(_)) if to.trim().is_empty() => return Ok(None),
        (Ok(from), Ok(to)) => from..to.saturating_add(1).min(length_bytes),
        (Ok(from), Err(_)) if to.trim().is_empty() => from..length_bytes,
        (Err(_), Ok(last)) if from.trim().is_empty() => {
            length_bytes.saturating_sub(last)..length_bytes
        }
        _ => return Ok(None),
    };
    if range.is_empty() {
        return Err(HttpError::BadRange { length_bytes });
    }
    Ok(Some(range))
}

/// `PUT /db/id/attachment`.
pub async fn put_attachment(
    caller: Caller,
    Att { db, id, name }: Att,
    params: Params,
    request: Request,
) -> HttpResult {
    let parent = named_revision(&params, request.headers())?;
    let url = location(&caller.origin, &[db.name(), &id, &name]);
    let mut edit = edited(&db, id, parent)?;
    let attachment = received(&db, name, request, caller.server.request_bytes_max()).await?;
    edit.attach(attachment)?;
    let done = caller.write(&db, edit, Mode::New).await?;
    let mut response = written(StatusCode::CREATED, Says::Place, &caller, db.name(), &done)?;
    reply::set(&mut response, header::LOCATION, &url);
    Ok(response)
}

/// `DELETE /db/id/attachment`.
pub async fn delete_attachment(
    caller: Caller,
    Att { db, id, name }: Att,
    params: Params,
    headers: HeaderMap,
) -> HttpResult {
    let parent = named_revision(&params, &headers)?;
    let options = GetOptions {
        revision: parent.clone(),
        ..GetOptions::default()
    };
    let document = db
        .get(&id, &options)
        .map_err(|error| match is_absent(&error) {
            true if parent.is_some() => HttpError::RevisionMissing,
            _ => error.into(),
        })?;
    if !document.attachments.iter().any(|it| it.name == name) {
        return Err(HttpError::AttachmentMissing);
    }
    parent.ok_or(HttpError::Conflict)?;
    let mut edit = Edit::of(&document)?;
    edit.attachments
        .retain(|attachment| attachment.name != name);
    let done = caller.write(&db, edit, Mode::New).await?;
    written(StatusCode::OK, Says::Revision, &caller, db.name(), &done)
}

/// Builds the edit that keeps the body. For a missing or deleted document it is the first edit.
fn edited(db: &Database, id: String, parent: Option<Revision>) -> HttpResult<Edit> {
    let options = GetOptions {
        revision: parent.clone(),
        ..GetOptions::default()
    };
    match (db.get(&id, &options), parent) {
        (Ok(document), Some(_)) => Ok(Edit::of(&document)?),
        (Ok(_), None) => Err(HttpError::Conflict),
        (Err(error), None) if is_absent(&error) => {
            let mut edit = Edit::from_json("{}", &db.limits())?;
            edit.id = Some(id);
            Ok(edit)
        }
        (Err(error), Some(_)) if is_absent(&error) => Err(HttpError::RevisionMissing),
        (Err(error), _) => Err(error.into()),
    }
}

async fn received(
    db: &Database,
    name: String,
    request: Request,
    bytes_max: u64,
) -> HttpResult<NewAttachment> {
    let (head, body) = request.into_parts();
    let text = |name| {
        head.headers
            .get(name)
            .and_then(|value: &HeaderValue| value.to_str().ok())
    };
    let content_type = text(header::CONTENT_TYPE)
        .unwrap_or("application/octet-stream")
        .to_owned();
    let encoding = match text(header::CONTENT_ENCODING) {
        None | Some("identity") => Encoding::Identity,
        Some("gzip") => Encoding::Gzip,
        Some(_) => return Err(HttpError::BadContentType("encoded with gzip or not at all")),
    };
    let md5 = match text(header::HeaderName::from_static("content-md5")) {
        None => None,
        Some(text) => Some(md5(text)?),
    };
    let mut upload = db.upload(&content_type, encoding);
    let mut pieces = body::pieces(body, bytes_max);
    while let Some(piece) = pieces.next().await {
        upload.write(piece?).await?;
    }
    Ok(NewAttachment {
        name,
        content_type,
        content: NewContent::Stored {
            content: upload.finish(md5).await?,
            revpos: None,
        },
    })
}

fn md5(text: &str) -> HttpResult<[u8; 16]> {
    let decoded = STANDARD.decode(text.trim()).ok();
    let md5 = decoded.and_then(|bytes| bytes.try_into().ok());
    md5.ok_or_else(|| HttpError::BadRequest("Content-MD5 is no MD5 in base64.".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_accepted_unless_its_weight_is_zero() {
        for codings in ["gzip", "br, GZIP;q=0.001", "gzip; q=1.0, br"] {
            assert!(accepts_gzip(codings), "{codings}");
        }
        for codings in ["", "br", "gzip;q=0", "br, gzip ;Q=0.0", "gzip; q=0.000, br"] {
            assert!(!accepts_gzip(codings), "{codings}");
        }
    }

    #[test]
    fn ranges_are_those_of_the_attachment() {
        let of = |text: &str| {
            let value = HeaderValue::from_str(text).unwrap();
            range(Some(&value), 10)
        };
        for (text, expected) in [
            ("bytes=0-0", Some(0..1)),
            ("bytes=2-5", Some(2..6)),
            ("bytes=2-", Some(2..10)),
            ("bytes=-3", Some(7..10)),
            ("bytes=-30", Some(0..10)),
            ("bytes=0-", None),
            ("bytes=5-99", Some(5..10)),
            ("bytes=0-1,3-4", None),
            ("bytes=5", Some(5..10)),
            ("lines=0-1", None),
            ("bytes=-", None),
            ("bytes=0-18446744073709551615", Some(0..10)),
        ] {
            assert_eq!(of(text).unwrap(), expected, "{text}");
        }
        for text in ["bytes=10-", "bytes=10-12", "bytes=-0", "bytes=5-2"] {
            let error = of(text).unwrap_err();
            assert!(
                matches!(error, HttpError::BadRange { length_bytes: 10 }),
                "{text}"
            );
        }
    }
}
