//! Attachments: streamed in, read by piece, carried along, taken away.

mod common;

use base64::{Engine, engine::general_purpose::STANDARD};
use common::*;
use inorder_couch::store::{
    AttachmentOption, Consent, Content, Database, Document, Edit, Encoding, Error, GetOptions,
    Limits, Mode, NewAttachment, NewContent, Progress, Refusal, Segment, Settings, StoredContent,
    segments,
};
use std::io::Read;

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(future)
}

fn upload(db: &Database, content_type: &str, bytes: &[u8]) -> Result<StoredContent, Error> {
    block_on(async {
        let mut upload = db.upload(content_type, Encoding::Identity);
        for piece in bytes.chunks(100_000) {
            upload.write(piece.to_vec().into()).await?;
        }
        upload.finish(None).await
    })
}

fn attach(db: &Database, mut edit: Edit, name: &str, content: StoredContent) -> String {
    edit.attach(NewAttachment {
        name: name.to_owned(),
        content_type: "image/png".to_owned(),
        content: NewContent::Stored {
            content,
            revpos: None,
        },
    })
    .unwrap();
    let written = db.put(edit).wait().unwrap().unwrap();
    written.revision.to_string()
}

fn document(db: &Database, id: &str) -> Document {
    db.get(id, &GetOptions::default()).unwrap()
}

/// The stored bytes of a document's first attachment.
fn stored_bytes(db: &Database, id: &str) -> Vec<u8> {
    let reader = db.attachment(&document(db, id).attachments[0]).unwrap();
    let mut bytes = Vec::new();
    loop {
        let piece = reader.read(bytes.len() as u64, 70_000).unwrap();
        if piece.is_empty() {
            return bytes;
        }
        bytes.extend_from_slice(&piece);
    }
}

/// Bytes that do not repeat.
fn noise(count: usize) -> Vec<u8> {
    let next = |state: &mut u64| {
        *state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        Some((*state >> 56) as u8)
    };
    std::iter::successors(Some(0u8), |_| Some(0))
        .scan(7u64, |state, _| next(state))
        .take(count)
        .collect()
}

#[test]
fn a_large_attachment_goes_in_and_comes_out_in_pieces() {
    let store = store();
    let bytes = noise(2_200_001);
    let content = upload(&store.db, "image/png", &bytes).unwrap();
    assert_eq!(
        (content.facts.length, content.facts.encoding),
        (2_200_001, Encoding::Identity)
    );
    attach(&store.db, edit(r#"{"_id":"a"}"#), "big.png", content);
    assert_eq!(stored_bytes(&store.db, "a"), bytes);
    let document = document(&store.db, "a");
    let reader = store.db.attachment(&document.attachments[0]).unwrap();
    assert_eq!(reader.read(65_530, 20).unwrap(), bytes[65_530..65_550]);
    assert_eq!(reader.read(2_200_000, 20).unwrap(), bytes[2_200_000..]);
    assert!(reader.read(2_200_001, 20).unwrap().is_empty());
    assert!(reader.read(u64::MAX, 20).unwrap().is_empty());
}

#[test]
fn stubs_keep_attachments_and_what_is_not_listed_goes() {
    let store = store();
    let first = put(
        &store.db,
        r#"{"_id":"a","_attachments":{"x.txt":{"content_type":"text/plain","data":"aGVsbG8="},"y":{"data":"aGk="}}}"#,
    );
    let second = put(
        &store.db,
        &format!(r#"{{"_id":"a","_rev":"{first}","_attachments":{{"x.txt":{{"stub":true}}}}}}"#),
    );
    let json = get(&store.db, "a");
    let expected = format!(
        r#"{{"_id":"a","_rev":"{second}","_attachments":{{"x.txt":{{"content_type":"text/plain","revpos":1,"digest":"md5-WR0xk2XovhB3GNOcdI60xA==","length":5,"stub":true}}}}}}"#
    );
    // The digest is that of the compressed bytes, as CouchDB shows it.
    let digest = |json: &str| json[json.find("md5-").unwrap()..][..28].to_owned();
    assert_eq!(
        json.replace(&digest(&json), ""),
        expected.replace(&digest(&expected), "")
    );
    let options = GetOptions {
        attachments: AttachmentOption::Inline,
        att_encoding_info: true,
        ..GetOptions::default()
    };
    let inline = store.db.get("a", &options).unwrap();
    assert_eq!(inline.attachments[0].content, Content::Inline);
    assert!(inline.to_json().contains(r#","length":5,"stub":true,"#));
    let json = filled(&store.db, &inline);
    assert!(
        json.contains(r#""data":"aGVsbG8=","encoding":"gzip","encoded_length":25}"#),
        "{json}"
    );
    let missing = |stub: &str| {
        let json = format!(r#"{{"_id":"a","_rev":"{second}","_attachments":{stub}}}"#);
        refused(&store.db, &json)
    };
    let refusal = |name: &str| Refusal::MissingStub {
        id: "a".to_owned(),
        name: name.to_owned(),
    };
    assert_eq!(missing(r#"{"y":{"stub":true}}"#), refusal("y"));
    assert_eq!(
        missing(r#"{"x.txt":{"stub":true,"revpos":2}}"#),
        refusal("x.txt")
    );
    assert!(matches!(
        missing(r#"{"z":{"follows":true,"length":1}}"#),
        Refusal::BadRequest(_)
    ));
    let new = refused(
        &store.db,
        r#"{"_id":"b","_attachments":{"x":{"stub":true}}}"#,
    );
    assert!(matches!(new, Refusal::MissingStub { .. }));
}

/// The text of a document with the data of its attachments.
fn filled(db: &Database, document: &Document) -> String {
    let mut text = Vec::new();
    document.write_json(&mut text);
    let parts = segments(text.into())
        .into_iter()
        .map(|segment| match segment {
            Segment::Text(text) => String::from_utf8(text.to_vec()).unwrap(),
            Segment::Data(attachment) => {
                let stored = db
                    .attachment(&attachment)
                    .unwrap()
                    .read(0, 1 << 20)
                    .unwrap();
                let mut bytes = Vec::new();
                match attachment.encoding {
                    Encoding::Identity => bytes.extend_from_slice(&stored),
                    Encoding::Gzip => {
                        let mut decoder = flate2::read::GzDecoder::new(&stored[..]);
                        decoder.read_to_end(&mut bytes).unwrap();
                    }
                }
                STANDARD.encode(bytes)
            }
        });
    parts.collect()
}

#[test]
fn only_attachments_since_a_revision_come_inline() {
    let store = store();
    let first = put(
        &store.db,
        r#"{"_id":"a","_attachments":{"x":{"data":"aGk="}}}"#,
    );
    let mut edit = Edit::of(&document(&store.db, "a")).unwrap();
    edit.attach(NewAttachment {
        name: "y".to_owned(),
        content_type: "image/png".to_owned(),
        content: NewContent::Inline {
            bytes: b"new".to_vec(),
            revpos: None,
        },
    })
    .unwrap();
    store.db.put(edit).wait().unwrap().unwrap();
    let since = |since: AttachmentOption| {
        let options = GetOptions {
            attachments: since,
            ..GetOptions::default()
        };
        let document = store.db.get("a", &options).unwrap();
        let json = filled(&store.db, &document);
        let data = |name: &str| {
            let text: serde_json::Value = serde_json::from_str(&json).unwrap();
            let data = text["_attachments"][name]["data"].as_str();
            data.unwrap_or_default().to_owned()
        };
        let contents = document.attachments.iter();
        let contents = contents.map(|it| (it.name.clone(), it.content.clone(), data(&it.name)));
        contents.collect::<Vec<_>>()
    };
    let named = |y: (Content, &str), x: (Content, &str)| {
        let one = |name: &str, (content, data): (Content, &str)| {
            (name.to_owned(), content, data.to_owned())
        };
        vec![one("y", y), one("x", x)]
    };
    let inline = |data: &'static str| (Content::Inline, data);
    let stub = (Content::Stub, "");
    let known = vec![revision("9-f"), revision(&first)];
    assert_eq!(
        since(AttachmentOption::InlineSince(known.clone())),
        named(inline("bmV3"), stub.clone())
    );
    assert_eq!(
        since(AttachmentOption::FollowSince(known)),
        named((Content::Follows, ""), stub)
    );
    assert_eq!(
        since(AttachmentOption::InlineSince(Vec::new())),
        named(inline("bmV3"), inline("aGk="))
    );
}

#[test]
fn equal_bytes_are_stored_once_and_go_with_their_last_document() {
    let store = store();
    let bytes = noise(1_200_000);
    for id in ["a", "b"] {
        let content = upload(&store.db, "image/png", &bytes).unwrap();
        attach(
            &store.db,
            edit(&format!(r#"{{"_id":"{id}"}}"#)),
            "x",
            content,
        );
    }
    let size = || {
        store.db.compact().unwrap();
        store.db.info().unwrap().active_bytes
    };
    let with_one = size();
    assert!((1_200_000..1_500_000).contains(&with_one), "{with_one}");
    assert_eq!(stored_bytes(&store.db, "b"), bytes);
    for id in ["a", "b"] {
        assert!(size() > 1_200_000);
        let revision = document(&store.db, id).revision;
        store
            .db
            .put(Edit::deletion(id, revision))
            .wait()
            .unwrap()
            .unwrap();
    }
    assert!(size() < 200_000);
}

#[test]
fn what_is_read_stays_though_the_document_goes() {
    let store = store();
    let bytes = noise(1_500_000);
    let content = upload(&store.db, "image/png", &bytes).unwrap();
    attach(&store.db, edit(r#"{"_id":"a"}"#), "x", content);
    let document = document(&store.db, "a");
    let reader = store.db.attachment(&document.attachments[0]).unwrap();
    let deletion = Edit::deletion("a", document.revision.clone());
    store.db.put(deletion).wait().unwrap().unwrap();
    store.db.compact().unwrap();
    assert_eq!(
        reader.read(1_400_000, 1000).unwrap(),
        bytes[1_400_000..1_401_000]
    );
    drop(reader);
    store.db.compact().unwrap();
    let gone = store.db.attachment(&document.attachments[0]);
    assert!(matches!(gone, Err(Error::NotFound(_))));
}

#[test]
fn an_attachment_that_is_gone_is_no_other_one() {
    let store = store();
    for round in 0..3 {
        let id = format!("old-{round}");
        let content = upload(&store.db, "image/png", format!("old {round}").as_bytes()).unwrap();
        attach(
            &store.db,
            edit(&format!(r#"{{"_id":"{id}"}}"#)),
            "x",
            content,
        );
        // As an answer does that is sent slowly: the document is read, and its attachments later.
        let document = document(&store.db, &id);
        let deletion = Edit::deletion(&id, document.revision.clone());
        store.db.put(deletion).wait().unwrap().unwrap();
        store.db.compact().unwrap();
        let id = format!("new-{round}");
        let content = upload(&store.db, "image/png", format!("new {round}").as_bytes()).unwrap();
        attach(
            &store.db,
            edit(&format!(r#"{{"_id":"{id}"}}"#)),
            "x",
            content,
        );
        let gone = store.db.attachment(&document.attachments[0]);
        assert!(matches!(gone, Err(Error::NotFound(_))), "{round}: {gone:?}");
        assert_eq!(
            stored_bytes(&store.db, &id),
            format!("new {round}").as_bytes()
        );
    }
}

#[test]
fn an_upload_that_is_not_used_gives_its_space_back() {
    let store = store();
    let content = upload(&store.db, "image/png", &noise(1_200_000)).unwrap();
    store.db.compact().unwrap();
    assert!(
        store.db.info().unwrap().active_bytes > 1_200_000,
        "it is still held"
    );
    drop(content);
    store.db.compact().unwrap();
    assert!(store.db.info().unwrap().active_bytes < 200_000);
}

#[test]
fn what_is_too_large_or_not_what_it_says_is_refused() {
    let store = store_with(Settings {
        limits: Limits {
            attachment_bytes_max: 1_000_000,
            ..Limits::default()
        },
        ..Settings::default()
    });
    let large = upload(&store.db, "image/png", &noise(1_000_001));
    assert!(matches!(large, Err(Error::TooLarge(_))));
    // A few bytes that decode to many.
    let bomb = gzip(&vec![0; 3_000_000]);
    assert!(bomb.len() < 10_000);
    let decoded = block_on(async {
        let mut upload = store.db.upload("image/png", Encoding::Gzip);
        upload.write(bomb.into()).await
    });
    assert!(matches!(decoded, Err(Error::TooLarge(_))));
    let wrong = block_on(async {
        let mut upload = store.db.upload("image/png", Encoding::Identity);
        upload.write("hello".into()).await?;
        upload.finish(Some([0; 16])).await
    });
    assert!(matches!(wrong, Err(Error::BadRequest(_))));
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn an_upload_that_breaks_off_gives_its_space_back_at_once() {
    let store = store();
    block_on(async {
        let mut upload = store.db.upload("image/png", Encoding::Identity);
        upload.write(noise(2_200_000).into()).await.unwrap();
        assert!(store.db.info().unwrap().active_bytes > 1_000_000);
    });
    // After the removal, which runs in the background.
    put(&store.db, r#"{"_id":"a"}"#);
    assert!(store.db.info().unwrap().active_bytes < 200_000);
}

#[test]
fn an_edit_that_is_forbidden_stores_nothing() {
    let store = store();
    let mut edit = edit(r#"{"_id":"a"}"#);
    edit.attach(NewAttachment {
        name: "x".to_owned(),
        content_type: "image/png".to_owned(),
        content: NewContent::Inline {
            bytes: noise(300_000),
            revpos: None,
        },
    })
    .unwrap();
    let mut draft = store.db.draft(edit).unwrap();
    draft.consent = Consent::Missing;
    let drafts = [draft];
    let proposals = store.db.propose(&drafts, Mode::New, 1).unwrap();
    let new = &proposals[0].as_ref().unwrap().new;
    assert_eq!(new.attachments[0].length, 300_000);
    let written = store.db.write_drafts(drafts.into(), Mode::New);
    let written = written.wait().unwrap();
    assert!(matches!(&written[0], Progress::Stale(_)));
    assert!(store.db.info().unwrap().active_bytes < 200_000);
}
