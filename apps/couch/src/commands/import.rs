//! `import`.

use super::{location, location::Dir, progress};
use anyhow::{Context, bail};
use clap::Args;
use inorder_couch::replicate::{Ask, Peer, ReplicateError};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;

/// Writes documents into a database, and creates the database if it is missing.
///
/// Reads JSON, one document per line, or CouchDB's answer to _all_docs?include_docs=true. A document with a _rev becomes
/// that revision, and others become new revisions. Known revisions stay as they are.
#[derive(Debug, Args)]
pub struct Import {
    /// The name of a database in the folder, or a URL of a server that speaks CouchDB's protocol.
    database: String,
    /// The file to read. Without it, the documents come from stdin.
    file: Option<PathBuf>,
    #[command(flatten)]
    dir: Dir,
}

/// A line, of either kind.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, default, deserialize_with = "even_null")]
    doc: Option<&'a RawValue>,
    _id: Option<IgnoredAny>,
    _rev: Option<String>,
    id: Option<IgnoredAny>,
    key: Option<IgnoredAny>,
    value: Option<IgnoredAny>,
    error: Option<IgnoredAny>,
}

impl Line<'_> {
    /// Whether the line is a row of `_all_docs`. A document may have some of its fields.
    fn is_row(&self) -> bool {
        let is_found = self.id.is_some() && self.value.is_some();
        self._id.is_none() && self.key.is_some() && (is_found || self.error.is_some())
    }
}

#[derive(Deserialize)]
struct Document {
    _rev: Option<String>,
}

/// Documents, and about so many bytes of them, written at once.
const BATCH: usize = 1000;
const BATCH_BYTES: usize = 8 << 20;

impl Import {
    pub fn run(self) -> anyhow::Result<()> {
        location::runtime()?.block_on(async {
            let peer = self.dir.peer(&self.database)?;
            peer.create_or_tell(&serde_json::Map::new()).await?;
            match &self.file {
                None => Batches::new(&peer).read(io::stdin().lock()).await,
                Some(path) => {
                    let name = || path.display().to_string();
                    let file = File::open(path).with_context(name)?;
                    Batches::new(&peer)
                        .read(BufReader::new(file))
                        .await
                        .with_context(name)
                }
            }
        })
    }
}

/// A document and the number of its line.
struct Numbered {
    line: u64,
    text: String,
}

/// Documents gathered and written.
struct Batches<'a> {
    peer: &'a Peer,
    /// Documents with a revision, and documents without.
    revisions: Vec<Numbered>,
    edits: Vec<Numbered>,
    bytes: usize,
    written: u64,
    refused: u64,
    bar: indicatif::ProgressBar,
}

impl<'a> Batches<'a> {
    fn new(peer: &'a Peer) -> Self {
        Batches {
            peer,
            revisions: Vec::new(),
            edits: Vec::new(),
            bytes: 0,
            written: 0,
            refused: 0,
            bar: progress::bar(None, "documents"),
        }
    }

    async fn read(mut self, input: impl BufRead) -> anyhow::Result<()> {
        for (number, line) in (1..).zip(input.lines()) {
            let text = line?;
            let found = document(&text).with_context(|| format!("line {number}"))?;
            let Some((text, has_revision)) = found else {
                continue;
            };
            self.bytes += text.len();
            let gathered = if has_revision {
                &mut self.revisions
            } else {
                &mut self.edits
            };
            gathered.push(Numbered { line: number, text });
            if self.revisions.len() + self.edits.len() >= BATCH || self.bytes >= BATCH_BYTES {
                self.write().await?;
            }
        }
        self.write().await?;
        self.bar.finish_and_clear();
        eprintln!("{} documents written", self.written);
        if self.refused > 0 {
            bail!("{} documents were refused", self.refused);
        }
        Ok(())
    }

    async fn write(&mut self) -> anyhow::Result<()> {
        let batches = [
            (false, std::mem::take(&mut self.revisions)),
            (true, std::mem::take(&mut self.edits)),
        ];
        self.bytes = 0;
        for (new_edits, documents) in batches {
            let mut queue = vec![&documents[..]];
            while let Some(part) = queue.pop() {
                match self.send(new_edits, part).await {
                    // One of them refuses the request: it is divided until that one is left.
                    Err(error) if is_refused(&error) => match part {
                        [one] => {
                            let line = one.line;
                            self.refused += 1;
                            self.bar
                                .suspend(|| eprintln!("refused: line {line}: {error}"));
                        }
                        _ => {
                            let (first, second) = part.split_at(part.len() / 2);
                            queue.extend([second, first]);
                        }
                    },
                    sent => sent?,
                }
            }
        }
        Ok(())
    }

    async fn send(
        &mut self,
        new_edits: bool,
        documents: &[Numbered],
    ) -> Result<(), ReplicateError> {
        if documents.is_empty() {
            return Ok(());
        }
        let texts: Vec<&str> = documents.iter().map(|one| one.text.as_str()).collect();
        let body = format!(
            "{{\"new_edits\":{new_edits},\"docs\":[{}]}}",
            texts.join(",")
        );
        let rows: Vec<serde_json::Value> = self.peer.json(Ask::post("/_bulk_docs", body)).await?;
        let refused = rows.iter().filter(|row| row.get("error").is_some());
        let mut count = 0;
        for row in refused {
            count += 1;
            self.bar.suspend(|| eprintln!("refused: {row}"));
        }
        self.refused += count;
        self.written += documents.len() as u64 - count;
        self.bar.inc(documents.len() as u64);
        Ok(())
    }
}

/// Whether a request is refused because of a document in it.
fn is_refused(error: &ReplicateError) -> bool {
    error.is_status(400) || error.is_status(413)
}

/// A member that is there, `null` (a row whose document is deleted) as well.
fn even_null<'de, D: Deserializer<'de>>(member: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(member).map(Some)
}

/// The document in a line, and whether it has a revision; none in what stands around the rows of a dump.
fn document(line: &str) -> anyhow::Result<Option<(String, bool)>> {
    let text = line.trim().trim_end_matches(',');
    let is_frame = text.is_empty()
        || matches!(text, "]}" | "]" | "[" | "}")
        || text.starts_with("{\"total_rows\":") && text.ends_with('[');
    if is_frame {
        return Ok(None);
    }
    if text.starts_with("{\"total_rows\":") {
        bail!("this dump is one line: supply it as CouchDB sends it, with one row per line");
    }
    let parsed: Line<'_> = serde_json::from_str(text)?;
    if !parsed.is_row() {
        return Ok(Some((text.to_owned(), parsed._rev.is_some())));
    }
    let Some(document) = parsed.doc else {
        bail!("the dump has no documents: make it with include_docs=true");
    };
    let head: Option<Document> = serde_json::from_str(document.get())?;
    Ok(head.map(|head| (document.get().to_owned(), head._rev.is_some())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_rows_of_a_dump_are_documents() {
        let of = |line| document(line).unwrap();
        assert_eq!(of(r#"{"_id":"a"}"#), Some((r#"{"_id":"a"}"#.into(), false)));
        assert_eq!(of("{\"total_rows\":2,\"offset\":0,\"rows\":[\r"), None);
        let row = r#"{"id":"a","key":"a","value":{"rev":"1-a"},"doc":{"_id":"a","_rev":"1-a"}},"#;
        assert_eq!(of(row), Some((r#"{"_id":"a","_rev":"1-a"}"#.into(), true)));
        assert_eq!(of(r#"{"id":"a","key":"a","value":{},"doc":null}"#), None);
        for frame in ["", "]}", "\r"] {
            assert_eq!(of(frame), None);
        }
        assert!(document(r#"{"id":"a","key":"a","value":{"rev":"1-a"}}"#).is_err());
        assert!(document(r#"{"total_rows":0,"offset":0,"rows":[]}"#).is_err());
        assert!(document("no JSON").is_err());
    }

    #[test]
    fn a_document_may_have_fields_named_like_a_rows() {
        let text = r#"{"_id":"a","doc":"text","year":1999}"#;
        assert_eq!(document(text).unwrap(), Some((text.to_owned(), false)));
    }
}
