//! Copies revisions: many per request, and one per request if it has attachments.

use super::encoded::encoded;
use super::peer::{Ask, Peer, id_path};
use super::{ReplicateError, statistics::Statistics};
use axum::http::Method;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The revisions of a document that the target lacks.
#[derive(Debug, Clone, Deserialize)]
pub struct Missing {
    /// The revisions.
    pub missing: Vec<String>,
    /// Ancestors that the target has, with their attachments.
    #[serde(default)]
    pub possible_ancestors: Vec<String>,
}

/// The missing revisions, by document.
pub type MissingByDocument = BTreeMap<String, Missing>;

/// The maximum number of revisions read per request.
const BATCH_REVISIONS: usize = 100;

/// The maximum bytes of documents written per request.
const BATCH_BYTES: usize = 8 << 20;

/// Copies missing revisions from one side to the other.
#[derive(Debug)]
pub struct Carrier {
    source: Peer,
    target: Peer,
    /// Whether the source supports `_bulk_get`, and it shall be used.
    has_bulk_get: bool,
}

/// A revision to copy.
#[derive(Debug, Clone)]
struct Wanted<'a> {
    id: &'a str,
    rev: &'a str,
    ancestors: &'a [String],
}

#[derive(Deserialize)]
struct BulkGet {
    results: Vec<BulkGetResult>,
}

#[derive(Deserialize)]
struct BulkGetResult {
    docs: Vec<Opened>,
}

/// An entry of `_bulk_get` or of `open_revs`. A revision that was purged meanwhile is skipped.
#[derive(Deserialize)]
struct Opened {
    ok: Option<Box<RawValue>>,
}

/// The members of a document that the replicator reads.
#[derive(Deserialize)]
struct Head {
    _id: String,
    _rev: Option<String>,
    #[serde(default)]
    _attachments: serde_json::Map<String, Value>,
}

impl Carrier {
    /// Creates a copier from one side to the other.
    pub fn new(source: Peer, target: Peer, use_bulk_get: bool) -> Self {
        Carrier {
            source,
            target,
            has_bulk_get: use_bulk_get,
        }
    }

    /// Copies all missing revisions.
    ///
    /// # Errors
    /// If one side can't be reached or refuses the request. A refused document is counted.
    pub async fn carry(
        &mut self,
        missing: &MissingByDocument,
        statistics: &mut Statistics,
    ) -> Result<(), ReplicateError> {
        let wanted: Vec<Wanted<'_>> = missing
            .iter()
            .flat_map(|(id, missing)| {
                let ancestors = &missing.possible_ancestors[..];
                missing
                    .missing
                    .iter()
                    .map(move |rev| Wanted { id, rev, ancestors })
            })
            .collect();
        statistics.missing_found += wanted.len() as u64;
        let mut queue: Vec<&[Wanted<'_>]> = wanted.chunks(BATCH_REVISIONS).rev().collect();
        while let Some(batch) = queue.pop() {
            match self.fetch(batch, statistics).await {
                Ok(documents) => self.deliver(batch, documents, statistics).await?,
                // Large documents: reduce the number per request.
                Err(ReplicateError::TooLarge { .. }) if batch.len() > 1 => {
                    let (first, second) = batch.split_at(batch.len() / 2);
                    queue.extend([second, first]);
                }
                Err(error @ ReplicateError::TooLarge { .. }) => {
                    let id = batch.first().map(|wanted| wanted.id);
                    tracing::warn!(id, %error, "a document was left out");
                    statistics.doc_write_failures += 1;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    async fn fetch(
        &mut self,
        batch: &[Wanted<'_>],
        statistics: &mut Statistics,
    ) -> Result<Vec<Box<RawValue>>, ReplicateError> {
        if self.has_bulk_get {
            match self.bulk_get(batch).await {
                Err(ReplicateError::Refused {
                    status: 400 | 404 | 405 | 501,
                    ..
                }) => {
                    self.has_bulk_get = false;
                }
                Ok(documents) => {
                    statistics.bulk_get_attempts += batch.len() as u64;
                    statistics.bulk_get_docs += documents.len() as u64;
                    return Ok(documents);
                }
                Err(error) => return Err(error),
            }
        }
        let mut documents = Vec::new();
        for wanted in batch {
            documents.extend(self.open_revs(wanted).await?);
        }
        Ok(documents)
    }

    async fn bulk_get(&self, batch: &[Wanted<'_>]) -> Result<Vec<Box<RawValue>>, ReplicateError> {
        let docs = batch
            .iter()
            .map(|wanted| json!({ "id": wanted.id, "rev": wanted.rev }));
        let body = json!({ "docs": docs.collect::<Vec<_>>() });
        let ask = Ask::post("/_bulk_get?revs=true&latest=true", body.to_string());
        let answer: BulkGet = self.source.json(ask).await?;
        let opened = answer.results.into_iter().flat_map(|result| result.docs);
        Ok(opened.filter_map(|opened| opened.ok).collect())
    }

    async fn open_revs(&self, wanted: &Wanted<'_>) -> Result<Vec<Box<RawValue>>, ReplicateError> {
        let revs = encoded(&json!([wanted.rev]).to_string());
        let path = format!(
            "{}?revs=true&latest=true&open_revs={revs}",
            id_path(wanted.id)
        );
        let opened: Vec<Opened> = match self.source.json(Ask::new(Method::GET, path)).await {
            // Purged meanwhile.
            Err(error) if error.is_status(404) => return Ok(Vec::new()),
            opened => opened?,
        };
        Ok(opened.into_iter().filter_map(|opened| opened.ok).collect())
    }

    async fn deliver(
        &self,
        batch: &[Wanted<'_>],
        documents: Vec<Box<RawValue>>,
        statistics: &mut Statistics,
    ) -> Result<(), ReplicateError> {
        statistics.docs_read += documents.len() as u64;
        let mut plain: Vec<Box<RawValue>> = Vec::new();
        let mut bytes = 0;
        for document in documents {
            let head: Head = serde_json::from_str(document.get())
                .map_err(|error| self.source.bad_answer(&error))?;
            if head._attachments.is_empty() {
                bytes += document.get().len();
                plain.push(document);
                if bytes >= BATCH_BYTES {
                    self.write(&std::mem::take(&mut plain), statistics).await?;
                    bytes = 0;
                }
            } else {
                let known = batch.iter().find(|wanted| wanted.id == head._id);
                let ancestors = known.map_or(&[][..], |wanted| wanted.ancestors);
                self.stream(&head, ancestors, statistics).await?;
            }
        }
        self.write(&plain, statistics).await
    }

    /// Writes documents. A request that the target refuses because of one of them is divided until only that one is left.
    async fn write(
        &self,
        documents: &[Box<RawValue>],
        statistics: &mut Statistics,
    ) -> Result<(), ReplicateError> {
        let mut queue: Vec<&[Box<RawValue>]> = vec![documents];
        while let Some(part) = queue.pop() {
            if part.is_empty() {
                continue;
            }
            match self.bulk_docs(part).await {
                Ok(refused) => {
                    statistics.doc_write_failures += refused as u64;
                    statistics.docs_written += (part.len() - refused) as u64;
                }
                Err(ReplicateError::Refused {
                    status: 400 | 413 | 415,
                    reason,
                    ..
                }) => {
                    if let [one] = part {
                        let id = serde_json::from_str::<Head>(one.get()).map(|head| head._id);
                        tracing::warn!(id = id.ok(), reason, "a document was refused");
                        statistics.doc_write_failures += 1;
                    } else {
                        let (first, second) = part.split_at(part.len() / 2);
                        queue.extend([second, first]);
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Writes documents in one request. Returns the number of those that were refused.
    async fn bulk_docs(&self, documents: &[Box<RawValue>]) -> Result<usize, ReplicateError> {
        let texts: Vec<&str> = documents.iter().map(|document| document.get()).collect();
        let body = format!("{{\"new_edits\":false,\"docs\":[{}]}}", texts.join(","));
        let rows: Vec<Value> = self.target.json(Ask::post("/_bulk_docs", body)).await?;
        let refused = rows.iter().filter(|row| row.get("error").is_some());
        Ok(refused
            .inspect(|row| tracing::warn!(%row, "a document was refused"))
            .count())
    }

    /// Streams one document with its attachments. No attachment is held in memory as a whole.
    async fn stream(
        &self,
        head: &Head,
        ancestors: &[String],
        statistics: &mut Statistics,
    ) -> Result<(), ReplicateError> {
        let mut sent = self.send(head, ancestors).await;
        if sent.as_ref().is_err_and(|error| error.is_status(412)) && !ancestors.is_empty() {
            // The target lacks an attachment of an ancestor: send all attachments.
            sent = self.send(head, &[]).await;
        }
        if sent.as_ref().is_err_and(|error| error.is_status(401)) {
            // The session may have ended. A stream can't be sent again.
            sent = self.send(head, ancestors).await;
        }
        match sent {
            Ok(is_written) => statistics.docs_written += u64::from(is_written),
            Err(ReplicateError::Refused { status, reason, .. }) if is_refused(status, &reason) => {
                tracing::warn!(id = head._id, reason, "a document was refused");
                statistics.doc_write_failures += 1;
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Returns whether there was a document to send.
    async fn send(&self, head: &Head, ancestors: &[String]) -> Result<bool, ReplicateError> {
        let id = id_path(&head._id);
        let rev = encoded(head._rev.as_deref().unwrap_or_default());
        let mut path = format!("{id}?rev={rev}&revs=true&attachments=true");
        if !ancestors.is_empty() {
            path += &format!("&atts_since={}", encoded(&json!(ancestors).to_string()));
        }
        let ask = Ask::new(Method::GET, path).accepting("multipart/related");
        let response = match self.source.ask(ask).await {
            // Purged meanwhile.
            Err(error) if error.is_status(404) => return Ok(false),
            response => response?,
        };
        let path = format!("{id}?new_edits=false");
        let ask = Ask::new(Method::PUT, path).with_answer(response);
        let response = self.target.ask(ask).await?;
        self.target.read(response).await.map(|_| true)
    }
}

/// Whether a document with attachments is refused, and not the whole replication. Another 400 may come from a source that
/// was cut off.
fn is_refused(status: u16, reason: &str) -> bool {
    matches!(status, 401 | 403 | 413 | 415)
        || (status == 400 && reason.starts_with("Attachment name "))
}
