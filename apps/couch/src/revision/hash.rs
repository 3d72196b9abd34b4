//! Computes the revision of an edit, identically on every server and in CouchDB.
//!
//! Source: `couch_db:new_revid`, MD5 over the term `[Deleted, OldStart, OldRevision, Body, Attachments]`.

use super::term::{self, Term};
use super::{Revision, RevisionHash};
use md5::{Digest, Md5};

/// The part of an attachment that enters the revision hash.
#[derive(Clone, Copy, Debug)]
pub struct AttachmentDigest<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its media type.
    pub content_type: &'a str,
    /// MD5 of its stored bytes.
    pub md5: &'a [u8; 16],
}

/// Computes the revision of an edit of `parent` with this body and these attachments, in the given order.
pub fn next(
    deleted: bool,
    parent: Option<&Revision>,
    body: &Term,
    attachments: &[AttachmentDigest<'_>],
) -> Revision {
    let generation = parent.map_or(0, |parent| parent.generation);
    let mut out = Vec::with_capacity(body.as_bytes().len() + 64);
    // The version byte of the format.
    out.push(131);
    term::list(&mut out, 5);
    term::atom(&mut out, if deleted { "true" } else { "false" });
    term::integer(&mut out, generation.into());
    match parent {
        Some(parent) => term::binary(&mut out, parent.hash.as_bytes()),
        None => term::integer(&mut out, 0),
    }
    out.extend_from_slice(body.as_bytes());
    if !attachments.is_empty() {
        term::list(&mut out, attachments.len() as u32);
    }
    // CouchDB prepends each attachment to a list, so the order is reversed.
    for attachment in attachments.iter().rev() {
        term::tuple(&mut out, 3);
        term::binary(&mut out, attachment.name.as_bytes());
        term::binary(&mut out, attachment.content_type.as_bytes());
        term::binary(&mut out, attachment.md5);
    }
    term::end_list(&mut out);
    term::end_list(&mut out);
    Revision {
        generation: generation + 1,
        hash: RevisionHash::from(<[u8; 16]>::from(Md5::digest(&out))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn revision(deleted: bool, parent: Option<&Revision>, body: &str) -> Revision {
        let body = Term::from_json(body, 10).unwrap();
        next(deleted, parent, &body, &[])
    }

    #[test]
    fn the_same_edits_have_the_revisions_of_couchdb() {
        assert_eq!(
            revision(false, None, "{}").to_string(),
            "1-967a00dff5e02add41819138abb3284d"
        );
        let first = revision(false, None, r#"{"x":1}"#);
        assert_eq!(first.to_string(), "1-0785e9eb543380151003dc452c3a001a");
        let second = revision(false, Some(&first), r#"{"x":2}"#);
        assert_eq!(second.to_string(), "2-8c49edca19d786e747fb5bea32c4cb91");
        let third = revision(true, Some(&second), "{}");
        assert_eq!(third.to_string(), "3-fb567087695adb203ba116e130794a84");
        let numbers = r#"{"f":1.0,"i":256,"ii":-2147483649,"mix":[1,256]}"#;
        assert_eq!(
            revision(false, None, numbers).to_string(),
            "1-8a54288e41548bf66bf084cb523242c3"
        );
    }
}
