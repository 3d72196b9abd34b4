//! A document as received from a client.

use super::attachment::DEFAULT_CONTENT_TYPE;
use super::base64::decode;
use super::{Document, Encoding, Error, Limits, Result, StoredContent};
use crate::json::{Compactor, Reader, Token};
use crate::revision::{History, Revision, RevisionError, RevisionHash, Term};
use serde::Deserialize;
use std::borrow::Cow;

/// The bytes of an attachment that comes with an edit.
#[derive(Clone, Debug)]
pub enum NewContent {
    /// The attachments of the parent with the same names.
    Stub {
        /// The generation they came with; checked when given.
        revpos: Option<u64>,
        /// MD5 of the stored bytes, for information.
        md5: Option<[u8; 16]>,
    },
    /// Given in the JSON, decoded.
    Inline {
        /// The bytes.
        bytes: Vec<u8>,
        /// The generation they came with, in a replicated edit.
        revpos: Option<u64>,
    },
    /// They come after the JSON, as a part of a multipart body: the reader uploads them and puts
    /// [`NewContent::Stored`] in the place. An edit that still has this is refused.
    Follows {
        /// Bytes that follow, as announced.
        length: Option<u64>,
        /// The encoding.
        encoding: Encoding,
        /// MD5 of the bytes as they follow, checked when given.
        md5: Option<[u8; 16]>,
        /// The generation they came with.
        revpos: Option<u64>,
    },
    /// Uploaded already.
    Stored {
        /// The bytes.
        content: StoredContent,
        /// The generation they came with, in a replicated edit; otherwise that of the edit.
        revpos: Option<u64>,
    },
}

/// The data of an attachment that was taken out of the JSON of its document.
#[derive(Clone, Debug)]
pub enum GivenData {
    /// The bytes, decoded.
    Bytes(Vec<u8>),
    /// Stored already.
    Stored(StoredContent),
    /// It was no base64.
    Invalid,
}

/// Finds the data of an attachment by the text of its member `data`. Returns none if the text is none that gives data.
type DataOf<'a> = dyn FnMut(&str) -> Option<GivenData> + 'a;

/// An attachment that comes with an edit.
#[derive(Clone, Debug)]
pub struct NewAttachment {
    /// Its name.
    pub name: String,
    /// Its media type.
    pub content_type: String,
    /// Its bytes.
    pub content: NewContent,
}

/// An edit of a document: what is to become its next revision, or, replicated, a revision made elsewhere.
#[derive(Clone, Debug)]
pub struct Edit {
    /// The document; without one a new id is made.
    pub id: Option<String>,
    /// A new edit's parent revision (its newest is what `_rev` says), or the way to a replicated edit's revision; none for
    /// a new document.
    pub history: Option<History>,
    /// Whether it deletes.
    pub deleted: bool,
    /// The attachments it is to have; those not listed are gone.
    pub attachments: Vec<NewAttachment>,
    /// The body, as in [`Document`].
    pub(crate) body: String,
    /// The same for the revision's hash.
    pub(crate) term: Term,
}

impl Edit {
    /// Reads a document as clients send it: a JSON object whose members with an underscore are taken out. Members that only
    /// a server says (`_conflicts`, `_revs_info`, `_local_seq`, `_deleted_conflicts`) are ignored; of members given twice the
    /// last counts.
    ///
    /// # Errors
    /// If it is no JSON object, is larger or deeper than the limits, has an unknown member with an underscore, or one of
    /// the wrong type.
    pub fn from_json(json: &str, limits: &Limits) -> Result<Edit> {
        Edit::read(json, limits, &mut |data| decode(data).map(GivenData::Bytes))
    }

    /// Reads a document whose attachments' data was taken out: the members `data` have the numbers of the data instead.
    ///
    /// # Errors
    /// Those of [`Edit::from_json`].
    pub fn from_captured(json: &str, limits: &Limits, data: Vec<GivenData>) -> Result<Edit> {
        let mut data: Vec<Option<GivenData>> = data.into_iter().map(Some).collect();
        Edit::read(json, limits, &mut |number| {
            let number: usize = number.parse().ok()?;
            data.get_mut(number)?.take()
        })
    }

    fn read(json: &str, limits: &Limits, data: &mut DataOf<'_>) -> Result<Edit> {
        let mut reader = Reader::new(json, limits.depth_max);
        let mut body = Compactor::default();
        let mut special = Special::default();
        match reader.next()? {
            Some(start @ Token::ObjectStart) => body.push(start),
            _ => {
                return Err(Error::BadRequest(
                    "Document must be a JSON object".to_owned(),
                ));
            }
        }
        while let Some(token) = reader.next()? {
            match token {
                Token::Key(key) if reader.depth() == 1 => {
                    let name = key.decode();
                    if name.starts_with('_') && !KEPT.contains(&&*name) {
                        special.take(&name, reader.skip_value()?, data)?;
                    } else {
                        body.push(token);
                    }
                }
                _ => body.push(token),
            }
        }
        let body = body.finish();
        if body.len() > limits.document_bytes_max {
            return Err(Error::TooLarge(special.id.unwrap_or_default()));
        }
        if special.attachments.len() > limits.attachments_max {
            return Err(Error::TooLarge(
                "hit max_attachments_per_document".to_owned(),
            ));
        }
        let term = Term::from_json(&body, limits.depth_max)?;
        Ok(Edit {
            id: special.id,
            history: special.history.or(special.revision.map(History::from)),
            deleted: special.deleted,
            attachments: special.attachments,
            body,
            term,
        })
    }

    /// An edit that deletes a document from this revision on.
    pub fn deletion(id: impl Into<String>, parent: Revision) -> Edit {
        Edit {
            id: Some(id.into()),
            history: Some(parent.into()),
            deleted: true,
            attachments: Vec::new(),
            body: "{}".to_owned(),
            term: Term::empty_object(),
        }
    }

    /// The edit that keeps a document as it was read, attachments as stubs: to change some attachments and nothing else.
    ///
    /// # Errors
    /// If the body is none that [`Edit::from_json`] gave.
    pub fn of(document: &Document) -> Result<Edit> {
        let stubs = document.attachments.iter().map(|attachment| NewAttachment {
            name: attachment.name.clone(),
            content_type: attachment.content_type.clone(),
            content: NewContent::Stub {
                revpos: Some(attachment.revpos),
                md5: Some(attachment.md5),
            },
        });
        Ok(Edit {
            id: Some(document.id.clone()),
            history: Some(document.revision.clone().into()),
            deleted: document.deleted,
            attachments: stubs.collect(),
            body: document.body.clone(),
            term: Term::from_json(&document.body, usize::MAX)?,
        })
    }

    /// Adds an attachment at the start, as CouchDB does. It replaces one with the same name.
    ///
    /// # Errors
    /// If its name starts with an underscore.
    pub fn attach(&mut self, attachment: NewAttachment) -> Result<()> {
        check_attachment_name(&attachment.name)?;
        self.attachments
            .retain(|other| other.name != attachment.name);
        self.attachments.insert(0, attachment);
        Ok(())
    }

    /// Replaces the body by that of another edit.
    pub fn replace_body(&mut self, other: Edit) {
        (self.body, self.term) = (other.body, other.term);
    }

    /// The body, as in [`Document`].
    pub fn body(&self) -> &str {
        &self.body
    }
}

/// Members with an underscore that belong to the body: a replicator writes them.
const KEPT: &[&str] = &[
    "_replication_id",
    "_replication_state",
    "_replication_state_reason",
    "_replication_state_time",
    "_replication_stats",
];

/// Members that a server sends and a client returns unchanged.
const IGNORED: &[&str] = &[
    "_conflicts",
    "_deleted_conflicts",
    "_local_seq",
    "_revs_info",
];

/// The values of the members with an underscore.
#[derive(Default)]
struct Special {
    id: Option<String>,
    revision: Option<Revision>,
    history: Option<History>,
    deleted: bool,
    attachments: Vec<NewAttachment>,
}

#[derive(Deserialize)]
struct GivenHistory {
    start: u64,
    ids: Vec<String>,
}

/// An attachment in `_attachments`.
#[derive(Deserialize)]
struct GivenAttachment<'a> {
    #[serde(borrow)]
    content_type: Option<Cow<'a, str>>,
    #[serde(borrow)]
    data: Option<Cow<'a, str>>,
    #[serde(default)]
    stub: bool,
    #[serde(default)]
    follows: bool,
    revpos: Option<u64>,
    digest: Option<String>,
    length: Option<u64>,
    encoding: Option<Encoding>,
    encoded_length: Option<u64>,
}

impl Special {
    fn take(&mut self, name: &str, value: &str, data: &mut DataOf<'_>) -> Result<()> {
        match name {
            "_id" => {
                let id = serde_json::from_str(value);
                let id = id.map_err(|_| Error::IllegalId("Document id must be a string"))?;
                self.id = Some(id);
            }
            "_rev" => {
                let revision = serde_json::from_str(value);
                self.revision = Some(revision.map_err(|_| RevisionError)?);
            }
            "_deleted" => {
                let deleted = serde_json::from_str(value);
                self.deleted = deleted.map_err(|_| bad_member(name))?;
            }
            "_revisions" => self.history = history(value)?,
            "_attachments" => self.attachments = attachments(value, data)?,
            name if IGNORED.contains(&name) => {}
            name => return Err(bad_member(name)),
        }
        Ok(())
    }
}

fn bad_member(name: &str) -> Error {
    Error::InvalidDocument(format!("Bad special document member: {name}"))
}

/// The way to a revision; none if it names no revision. Generation 0 is that of local documents, which have no ancestors.
fn history(value: &str) -> Result<Option<History>> {
    let invalid = |what: String| Error::InvalidDocument(what);
    let given: GivenHistory =
        serde_json::from_str(value).map_err(|error| invalid(format!("_revisions: {error}")))?;
    let hashes: std::result::Result<Vec<RevisionHash>, _> =
        given.ids.iter().map(|id| id.parse()).collect();
    let hashes = hashes.map_err(|_| invalid("RevId isn't a valid hexadecimal".to_owned()))?;
    match &hashes[..] {
        [] => return Ok(None),
        [only] if given.start == 0 => {
            return Ok(Revision::new(0, only.clone()).map(History::from));
        }
        _ => {}
    }
    let history = History::new(given.start, hashes);
    history
        .map(Some)
        .map_err(|error| invalid(error.to_string()))
}

fn attachments(value: &str, data: &mut DataOf<'_>) -> Result<Vec<NewAttachment>> {
    let mut reader = Reader::new(value, usize::MAX);
    if reader.next()? != Some(Token::ObjectStart) {
        return Err(Error::BadRequest(
            "_attachments must be an object".to_owned(),
        ));
    }
    let mut attachments: Vec<NewAttachment> = Vec::new();
    while let Some(Token::Key(name)) = reader.next()? {
        let name = name.decode().into_owned();
        let given = serde_json::from_str(reader.skip_value()?)
            .map_err(|error| Error::BadRequest(format!("Invalid attachment {name}: {error}")))?;
        let attachment = attachment(name, given, data)?;
        attachments.retain(|other| other.name != attachment.name);
        attachments.push(attachment);
    }
    Ok(attachments)
}

/// Refuses names of attachments that CouchDB refuses.
fn check_attachment_name(name: &str) -> Result<()> {
    if !name.starts_with('_') {
        return Ok(());
    }
    Err(Error::BadRequest(format!(
        "Attachment name '{name}' starts with prohibited character '_'"
    )))
}

fn attachment(
    name: String,
    given: GivenAttachment<'_>,
    data: &mut DataOf<'_>,
) -> Result<NewAttachment> {
    check_attachment_name(&name)?;
    let md5 = given.digest.as_deref().and_then(digest);
    let content = if given.stub {
        NewContent::Stub {
            revpos: given.revpos,
            md5,
        }
    } else if given.follows {
        NewContent::Follows {
            length: given.encoded_length.or(given.length),
            encoding: given.encoding.unwrap_or(Encoding::Identity),
            md5,
            revpos: given.revpos,
        }
    } else {
        let revpos = given.revpos;
        match given.data.and_then(|text| data(&text)) {
            Some(GivenData::Bytes(bytes)) => NewContent::Inline { bytes, revpos },
            Some(GivenData::Stored(content)) => NewContent::Stored { content, revpos },
            Some(GivenData::Invalid) | None => {
                let invalid = format!("Invalid attachment data for {name}");
                return Err(Error::BadRequest(invalid));
            }
        }
    };
    Ok(NewAttachment {
        name,
        content_type: given
            .content_type
            .map_or_else(|| DEFAULT_CONTENT_TYPE.to_owned(), Cow::into_owned),
        content,
    })
}

/// The MD5 of a digest as CouchDB writes it; none for other kinds.
fn digest(text: &str) -> Option<[u8; 16]> {
    let encoded = text.strip_prefix("md5-")?;
    decode(encoded)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(json: &str) -> Result<Edit> {
        Edit::from_json(json, &Limits::default())
    }

    #[test]
    fn members_with_an_underscore_are_taken_out() {
        let edit = edit(
            r#" {"_id":"a", "x" : 1.0 ,"_rev":"2-b","_deleted":true,"_revs_info":[1],"\u005fconflicts":{}, "y":{"_z":0}} "#,
        )
        .unwrap();
        assert_eq!(edit.body(), r#"{"x":1.0,"y":{"_z":0}}"#);
        assert_eq!(edit.id.as_deref(), Some("a"));
        assert_eq!(edit.history.unwrap().revision().to_string(), "2-b");
        assert!(edit.deleted);
    }

    #[test]
    fn the_way_to_a_revision_says_more_than_its_name() {
        let edit = edit(r#"{"_rev":"3-c","_revisions":{"start":3,"ids":["c","b"]}}"#).unwrap();
        let revisions: Vec<_> = edit.history.iter().flat_map(History::revisions).collect();
        assert_eq!(format!("{revisions:?}"), "[3-c, 2-b]");
        for bad in [
            r#"{"_revisions":{"start":1,"ids":["c","b"]}}"#,
            r#"{"_revisions":{"start":0,"ids":["c","?"]}}"#,
            r#"{"_revisions":{"start":"1","ids":["a"]}}"#,
            r#"{"_revisions":[]}"#,
        ] {
            assert!(
                matches!(self::edit(bad), Err(Error::InvalidDocument(_))),
                "{bad}"
            );
        }
    }

    #[test]
    fn generation_0_has_no_ancestors() {
        let history = |json| edit(json).unwrap().history;
        let local = history(r#"{"_rev":"0-2","_revisions":{"start":0,"ids":["2"]}}"#);
        assert_eq!(local.unwrap().revision().to_string(), "0-2");
        assert_eq!(history(r#"{"_revisions":{"start":1,"ids":[]}}"#), None);
    }

    #[test]
    fn what_is_no_document_is_refused() {
        let limits = Limits {
            document_bytes_max: 20,
            depth_max: 3,
            ..Limits::default()
        };
        let refused = |json: &str| Edit::from_json(json, &limits).unwrap_err();
        for bad in ["[]", "1", r#"{"_rev":"x"}"#] {
            assert!(matches!(refused(bad), Error::BadRequest(_)), "{bad}");
        }
        for bad in ["", "{", "{}x"] {
            assert!(matches!(refused(bad), Error::Json(_)), "{bad}");
        }
        assert!(matches!(refused(r#"{"a":[[[]]]}"#), Error::TooDeep(_)));
        assert!(matches!(refused(r#"{"_id":1}"#), Error::IllegalId(_)));
        assert!(matches!(refused(r#"{"_x":1}"#), Error::InvalidDocument(_)));
        assert!(matches!(
            refused(r#"{"_deleted":1}"#),
            Error::InvalidDocument(_)
        ));
        assert!(matches!(
            refused(r#"{"a":"01234567890123"}"#),
            Error::TooLarge(_)
        ));
        assert!(matches!(refused(r#"{"a":1e999}"#), Error::BadRequest(_)));
    }

    #[test]
    fn base64_may_have_line_breaks_and_more_bits() {
        for data in ["aGVsbG8=", "aGVs\\r\\nbG8=\\n", " a\\tGVsbG8 =", "aGVsbG9="] {
            let json = format!(r#"{{"_attachments":{{"a":{{"data":"{data}"}}}}}}"#);
            let content = edit(&json).unwrap().attachments.remove(0).content;
            assert!(matches!(content, NewContent::Inline { bytes, .. } if bytes == b"hello"));
        }
        for data in ["aGVsbG8", "aGVs-G8=", "aGVsbG8=a", "aGVs\u{b}bG8="] {
            assert_eq!(decode(data), None, "{data}");
        }
    }

    #[test]
    fn attachments_come_in_the_order_given() {
        let edit = edit(
            r#"{"_attachments":{"b":{"data":"aGVsbG8="},"a":{"stub":true,"revpos":2,"content_type":"text/plain"},
               "c":{"follows":true,"length":7,"encoding":"gzip","encoded_length":5,"digest":"md5-XUFAKrxLKna5cZ2REBfFkg=="}}}"#,
        )
        .unwrap();
        let [b, a, c] = edit.attachments.try_into().unwrap();
        assert_eq!(
            (b.name.as_str(), b.content_type.as_str()),
            ("b", DEFAULT_CONTENT_TYPE)
        );
        assert!(matches!(b.content, NewContent::Inline { bytes, .. } if bytes == b"hello"));
        assert!(matches!(
            a.content,
            NewContent::Stub {
                revpos: Some(2),
                ..
            }
        ));
        let NewContent::Follows {
            length,
            encoding,
            md5,
            ..
        } = c.content
        else {
            panic!("it follows")
        };
        assert_eq!((length, encoding), (Some(5), Encoding::Gzip));
        assert_eq!(md5.unwrap()[..2], [0x5d, 0x41]);
        for bad in [
            r#"{"_attachments":[]}"#,
            r#"{"_attachments":{"_a":{"data":""}}}"#,
            r#"{"_attachments":{"a":1}}"#,
            r#"{"_attachments":{"a":{"data":"?"}}}"#,
            r#"{"_attachments":{"a":{"data":null}}}"#,
            r#"{"_attachments":{"a":{"date":"aGVsbG8="}}}"#,
            r#"{"_attachments":{"a":{"stub":false}}}"#,
        ] {
            assert!(
                matches!(self::edit(bad), Err(Error::BadRequest(_))),
                "{bad}"
            );
        }
    }
}
