//! The places of attachments' data in the text of documents.
//!
//! The data of attachments is as large as it may be, so the text of a document has gaps instead of it. A gap is between two
//! bytes that JSON never has, and names the data. Who sends the text reads the data then.

use super::attachment::GAP;
use super::{Attachment, Content, Encoding};
use bytes::Bytes;

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Segment {
    /// Text.
    Text(Bytes),
    /// The data of an attachment, to be sent in base64. Its name and type are not known.
    Data(Box<Attachment>),
}

/// Returns the parts of a text that [`Document::write_json`](super::Document::write_json) wrote.
pub fn segments(text: Bytes) -> Vec<Segment> {
    let mut segments = Vec::new();
    let mut rest = text;
    while let Some(start) = memchr::memchr(GAP, &rest) {
        let before = rest.split_to(start);
        if !before.is_empty() {
            segments.push(Segment::Text(before));
        }
        let end = memchr::memchr(GAP, &rest[1..]).map_or(rest.len(), |at| at + 2);
        let gap = rest.split_to(end);
        segments.extend(data(&gap).map(|data| Segment::Data(Box::new(data))));
    }
    if !rest.is_empty() {
        segments.push(Segment::Text(rest));
    }
    segments
}

/// Returns whether a text has gaps.
pub fn has_gaps(text: &[u8]) -> bool {
    memchr::memchr(GAP, text).is_some()
}

fn data(gap: &[u8]) -> Option<Attachment> {
    let text = std::str::from_utf8(gap).ok()?.trim_matches(char::from(GAP));
    let numbers: Option<Vec<i64>> = text.split(' ').map(|number| number.parse().ok()).collect();
    let [blob, stored, length, is_packed] = numbers?.try_into().ok()?;
    Some(Attachment {
        name: String::new(),
        content_type: String::new(),
        revpos: 0,
        md5: [0; 16],
        length: length as u64,
        stored_length: stored as u64,
        encoding: match is_packed {
            0 => Encoding::Identity,
            _ => Encoding::Gzip,
        },
        show_encoding: false,
        content: Content::Inline,
        blob,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_found_again() {
        let gap = |blob: i64, encoding| {
            let mut attachment = data(b"\x001 2 3 0\0").unwrap();
            (attachment.blob, attachment.encoding) = (blob, encoding);
            attachment
        };
        let first = gap(7, Encoding::Gzip);
        let second = gap(1 << 60, Encoding::Identity);
        let mut text = b"{\"a\":\"".to_vec();
        first.write_gap(&mut text);
        second.write_gap(&mut text);
        text.extend_from_slice(b"\"}");
        assert!(has_gaps(&text) && !has_gaps(b"{\"a\":\"\\u0000\"}"));
        let expected = [
            Segment::Text(Bytes::from_static(b"{\"a\":\"")),
            Segment::Data(Box::new(first)),
            Segment::Data(Box::new(second)),
            Segment::Text(Bytes::from_static(b"\"}")),
        ];
        assert_eq!(segments(text.into()), expected);
        assert_eq!(segments(Bytes::new()), []);
    }
}
