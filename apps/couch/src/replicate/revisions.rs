//! Copies revisions: many per request, and one per request if it has attachments.

use super::encoded::encoded;
use super::peer::{Ask, Peer, id_path};
use super::{ReplicateError, statistics::Statistics};
use axum::http::Method;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

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

/// The pause before revisions that the source did not return are read again. It doubles with every attempt.
const ABSENT_PAUSE: Duration = Duration::from_millis(250);

/// The attempts to read revisions that the source did not return.
const ABSENT_ATTEMPTS: u32 = 5;

/// Copies missing revisions from one side to the other.
#[derive(Debug)]
pub struct Carrier {
    source: Peer,
    target: Peer,
    /// Whether the source supports `_bulk_get`, and it shall be used.
    has_bulk_get: bool,
}

/// A revision to copy.
#[derive(Debug, Clone, PartialEq)]
struct Wanted<'a> {
    id: &'a str,
    rev: &'a str,
    ancestors: &'a [String],
}

/// The answer to a request for revisions.
#[derive(Default)]
struct Fetched<'a> {
    documents: Vec<Box<RawValue>>,
    /// The revisions that the source did not return. A node of a cluster may list a revision in its changes feed before the
    /// other nodes have it.
    absent: Vec<Wanted<'a>>,
}

#[derive(Deserialize)]
struct BulkGet {
    results: Vec<BulkGetResult>,
}

#[derive(Deserialize)]
struct BulkGetResult {
    id: String,
    docs: Vec<Opened>,
}

/// An entry of `_bulk_get` or of `open_revs`.
#[derive(Deserialize)]
struct Opened {
    ok: Option<Box<RawValue>>,
    /// Of `_bulk_get`: why there is no revision.
    error: Option<Absent>,
}

#[derive(Deserialize)]
struct Absent {
    id: String,
    rev: Option<String>,
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
                Ok(mut fetched) => {
                    self.deliver(batch, &mut fetched, statistics).await?;
                    self.carry_absent(fetched.absent, statistics).await?;
                }
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

    /// Copies revisions that the source did not return at first.
    ///
    /// # Errors
    /// If it still does not return one of them. The replication then starts again at its checkpoint, as in CouchDB: if the
    /// revision was purged, the changes feed does not list it any more.
    async fn carry_absent(
        &mut self,
        mut absent: Vec<Wanted<'_>>,
        statistics: &mut Statistics,
    ) -> Result<(), ReplicateError> {
        let mut pause = ABSENT_PAUSE;
        for _ in 0..ABSENT_ATTEMPTS {
            let Some(Wanted { id, rev, .. }) = absent.first() else {
                return Ok(());
            };
            tracing::info!(id, rev, ?pause, "a missing revision is read again");
            tokio::time::sleep(pause).await;
            pause *= 2;
            let mut fetched = self.fetch(&absent, statistics).await?;
            self.deliver(&absent, &mut fetched, statistics).await?;
            absent = absent
                .iter()
                .filter(|wanted| fetched.absent.contains(wanted))
                .cloned()
                .collect();
        }
        match absent.first() {
            None => Ok(()),
            Some(Wanted { id, rev, .. }) => Err(ReplicateError::Absent {
                url: self.source.shown().to_owned(),
                id: (*id).to_owned(),
                rev: (*rev).to_owned(),
            }),
        }
    }

    async fn fetch<'a>(
        &mut self,
        batch: &[Wanted<'a>],
        statistics: &mut Statistics,
    ) -> Result<Fetched<'a>, ReplicateError> {
        if self.has_bulk_get {
            match self.bulk_get(batch).await {
                Err(ReplicateError::Refused {
                    status: 400 | 404 | 405 | 501,
                    ..
                }) => {
                    self.has_bulk_get = false;
                }
                Ok(fetched) => {
                    statistics.bulk_get_attempts += batch.len() as u64;
                    statistics.bulk_get_docs += fetched.documents.len() as u64;
                    return Ok(fetched);
                }
                Err(error) => return Err(error),
            }
        }
        let mut fetched = Fetched::default();
        for wanted in batch {
            let opened = self.open_revs(wanted).await?;
            if opened.is_empty() {
                fetched.absent.push(wanted.clone());
            }
            fetched.documents.extend(opened);
        }
        Ok(fetched)
    }

    async fn bulk_get<'a>(&self, batch: &[Wanted<'a>]) -> Result<Fetched<'a>, ReplicateError> {
        let docs = batch
            .iter()
            .map(|wanted| json!({ "id": wanted.id, "rev": wanted.rev }));
        let body = json!({ "docs": docs.collect::<Vec<_>>() });
        let ask = Ask::post("/_bulk_get?revs=true&latest=true", body.to_string());
        let answer: BulkGet = self.source.json(ask).await?;
        let mut fetched = Fetched::default();
        let answered = answer.results.iter().filter(|one| !one.docs.is_empty());
        let answered: HashSet<String> = answered.map(|one| one.id.clone()).collect();
        let is_left_out = |wanted: &&Wanted<'_>| !answered.contains(wanted.id);
        fetched
            .absent
            .extend(batch.iter().filter(is_left_out).cloned());
        for opened in answer.results.into_iter().flat_map(|result| result.docs) {
            fetched.documents.extend(opened.ok);
            if let Some(Absent { id, rev }) = opened.error {
                let is_absent = |wanted: &&Wanted<'_>| {
                    wanted.id == id && rev.as_deref().is_none_or(|rev| wanted.rev == rev)
                };
                fetched
                    .absent
                    .extend(batch.iter().filter(is_absent).cloned());
            }
        }
        Ok(fetched)
    }

    async fn open_revs(&self, wanted: &Wanted<'_>) -> Result<Vec<Box<RawValue>>, ReplicateError> {
        let revs = encoded(&json!([wanted.rev]).to_string());
        let path = format!(
            "{}?revs=true&latest=true&open_revs={revs}",
            id_path(wanted.id)
        );
        let opened: Vec<Opened> = match self.source.json(Ask::new(Method::GET, path)).await {
            Err(error) if error.is_status(404) => return Ok(Vec::new()),
            opened => opened?,
        };
        Ok(opened.into_iter().filter_map(|opened| opened.ok).collect())
    }

    /// Writes documents to the target. Those that the source does not have any more become absent.
    async fn deliver<'a>(
        &self,
        batch: &[Wanted<'a>],
        fetched: &mut Fetched<'a>,
        statistics: &mut Statistics,
    ) -> Result<(), ReplicateError> {
        let mut plain: Vec<Box<RawValue>> = Vec::new();
        let mut bytes = 0;
        for document in std::mem::take(&mut fetched.documents) {
            let head: Head = serde_json::from_str(document.get())
                .map_err(|error| self.source.bad_answer(&error))?;
            if head._attachments.is_empty() {
                statistics.docs_read += 1;
                bytes += document.get().len();
                plain.push(document);
                if bytes >= BATCH_BYTES {
                    self.write(&std::mem::take(&mut plain), statistics).await?;
                    bytes = 0;
                }
                continue;
            }
            let is_same = |wanted: &&Wanted<'_>| wanted.id == head._id;
            let known = batch.iter().filter(is_same);
            let exact = |wanted: &&Wanted<'_>| head._rev.as_deref() == Some(wanted.rev);
            let known = known.clone().find(exact).or(known.clone().next());
            let is_there = if has_no_path(&head._id) {
                let whole = self.whole(&head).await?;
                let is_there = whole.is_some();
                plain.extend(whole);
                is_there
            } else {
                let ancestors = known.map_or(&[][..], |wanted| wanted.ancestors);
                self.stream(&head, ancestors, statistics).await?
            };
            match is_there {
                true => statistics.docs_read += 1,
                false => fetched.absent.extend(known.cloned()),
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

    /// One document with its attachments in its JSON; none if the source does not have it.
    async fn whole(&self, head: &Head) -> Result<Option<Box<RawValue>>, ReplicateError> {
        let body = json!({ "docs": [{ "id": head._id, "rev": head._rev }] });
        let path = "/_bulk_get?revs=true&attachments=true";
        let answer: BulkGet = self.source.json(Ask::post(path, body.to_string())).await?;
        let opened = answer.results.into_iter().flat_map(|result| result.docs);
        Ok(opened.into_iter().find_map(|opened| opened.ok))
    }

    /// Streams one document with its attachments. No attachment is held in memory as a whole. Returns whether the source had
    /// it.
    async fn stream(
        &self,
        head: &Head,
        ancestors: &[String],
        statistics: &mut Statistics,
    ) -> Result<bool, ReplicateError> {
        let mut sent = self.send(head, ancestors).await?;
        if sent.is_refused_with(412) && !ancestors.is_empty() {
            // The target lacks an attachment of an ancestor: send all attachments.
            sent = self.send(head, &[]).await?;
        }
        if sent.is_refused_with(401) {
            // The session may have ended. A stream can't be sent again.
            sent = self.send(head, ancestors).await?;
        }
        match sent {
            Sent::Absent => return Ok(false),
            Sent::Written => statistics.docs_written += 1,
            Sent::Refused(ReplicateError::Refused { status, reason, .. })
                if is_refused(status, &reason) =>
            {
                tracing::warn!(id = head._id, reason, "a document was refused");
                statistics.doc_write_failures += 1;
            }
            Sent::Refused(error) => return Err(error),
        }
        Ok(true)
    }

    /// Sends one document with its attachments.
    ///
    /// # Errors
    /// If the source does not give it. Only the target's refusal concerns the document alone.
    async fn send(&self, head: &Head, ancestors: &[String]) -> Result<Sent, ReplicateError> {
        let id = id_path(&head._id);
        let rev = encoded(head._rev.as_deref().unwrap_or_default());
        let mut path = format!("{id}?rev={rev}&revs=true&attachments=true");
        if !ancestors.is_empty() {
            path += &format!("&atts_since={}", encoded(&json!(ancestors).to_string()));
        }
        let ask = Ask::new(Method::GET, path).accepting("multipart/related");
        let response = match self.source.ask(ask).await {
            Err(error) if error.is_status(404) => return Ok(Sent::Absent),
            response => response?,
        };
        let path = format!("{id}?new_edits=false");
        let ask = Ask::new(Method::PUT, path).with_answer(response);
        Ok(match self.target.ask(ask).await {
            Ok(response) => {
                self.target.read(response).await?;
                Sent::Written
            }
            Err(error) => Sent::Refused(error),
        })
    }
}

/// Whether no URL leads to a document: clients and proxies take these names, escaped or not, for folders.
fn has_no_path(id: &str) -> bool {
    matches!(id, "." | "..")
}

/// The result of sending a document with its attachments.
enum Sent {
    Written,
    /// The source does not have it.
    Absent,
    /// The target could not be reached or refused it.
    Refused(ReplicateError),
}

impl Sent {
    fn is_refused_with(&self, status: u16) -> bool {
        matches!(self, Sent::Refused(error) if error.is_status(status))
    }
}

/// Whether a document with attachments is refused, and not the whole replication. Another 400 may come from a source that
/// was cut off.
fn is_refused(status: u16, reason: &str) -> bool {
    matches!(status, 401 | 403 | 413 | 415)
        || (status == 400 && reason.starts_with("Attachment name "))
}
