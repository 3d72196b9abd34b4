//! The changes feed: reads changes page by page and sends them.

use super::filter::Filter;
use super::question::Asked;
use crate::auth::User;
use crate::http::caller::Caller;
use crate::http::feed::Kind;
use crate::http::rights;
use crate::http::seq::SeqFormat;
use crate::http::{HttpResult, Server, inlined, reply};
use crate::json::write_string;
use crate::store::{Change, Changes, ChangesPage, Database, Error, GetOptions, has_gaps};
use axum::Extension;
use axum::http::{HeaderValue, StatusCode, header};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::{StreamExt, stream};
use inorder_serve::Detachable;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// The state of a feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Nothing has been sent.
    Begin,
    /// Changes may be left that have not been read.
    Reading,
    /// All changes have been read; the feed waits for the next one.
    Waiting,
    /// The last line has been sent.
    Done,
}

/// The event that woke a waiting feed.
enum Woken {
    Changed,
    Quiet,
    End,
}

/// A page that is being filtered.
struct Filtering {
    /// Without its changes.
    page: ChangesPage,
    /// The sequence of its last change.
    looked_at: Option<u64>,
    /// The changes that pass.
    kept: BoxFuture<'static, HttpResult<Vec<Change>>>,
}

impl std::fmt::Debug for Filtering {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Filtering")
    }
}

/// After that, a feed without heartbeats sends one while its filter runs: proxies close connections without bytes.
const FILTER_QUIET_MAX: Duration = Duration::from_secs(15);

/// A feed in progress.
#[derive(Debug)]
pub struct Feed {
    server: Arc<Server>,
    user: User,
    db: Database,
    asked: Asked,
    filter: Filter,
    filtering: Option<Box<Filtering>>,
    seq: SeqFormat,
    seqs: watch::Receiver<u64>,
    phase: Phase,
    is_first_page: bool,
    is_first_row: bool,
    /// Whether only the filter needs the documents.
    hides_documents: bool,
    last_seq: u64,
    pending: u64,
    /// When the last line or heartbeat was sent.
    spoke: Instant,
}

impl Feed {
    /// Creates a feed that has sent nothing.
    pub fn new(caller: Caller, db: Database, mut asked: Asked, filter: Filter) -> Box<Self> {
        let hides_documents = filter.needs_documents() && asked.question.include_docs.is_none();
        if hides_documents {
            asked.question.include_docs = Some(GetOptions::default());
        }
        let Caller { server, user, .. } = caller;
        server.metrics.feeds.fetch_add(1, Ordering::Relaxed);
        Box::new(Feed {
            seq: SeqFormat::new(&db),
            seqs: db.watch(),
            phase: Phase::Begin,
            is_first_page: true,
            is_first_row: true,
            last_seq: asked.question.since,
            pending: 0,
            spoke: Instant::now(),
            hides_documents,
            server,
            user,
            db,
            asked,
            filter,
            filtering: None,
        })
    }

    /// Returns the answer. A small answer that needs no waiting is sent as a whole.
    pub async fn answer(
        mut self: Box<Self>,
        detachable: Option<Extension<Detachable>>,
    ) -> HttpResult {
        let content_type = match self.asked.kind {
            Kind::EventSource => Some(HeaderValue::from_static("text/event-stream")),
            _ => None,
        };
        let first = self.next_piece().await?.unwrap_or_default();
        let mut response = if self.phase == Phase::Done {
            inlined::whole(&self.db, StatusCode::OK, first.into())?
        } else {
            let db = self.db.clone();
            let rest = stream::try_unfold(self, |mut feed| async move {
                Ok(feed.next_piece().await?.map(|piece| (piece, feed)))
            });
            match has_gaps(&first) {
                false => reply::lasting(detachable, first, inlined::pieces(db, rest)),
                true => {
                    let texts = stream::iter([Ok(first)]).chain(rest);
                    let filled = inlined::pieces(db, texts);
                    reply::lasting(detachable, Bytes::new(), filled)
                }
            }
        };
        if let Some(content_type) = content_type {
            response
                .headers_mut()
                .insert(header::CONTENT_TYPE, content_type);
        }
        Ok(response)
    }

    /// Returns the next bytes to send. The first call does not wait for changes.
    async fn next_piece(&mut self) -> HttpResult<Option<Bytes>> {
        let mut out = Vec::new();
        let was_new = self.phase == Phase::Begin;
        loop {
            match self.phase {
                Phase::Begin => {
                    if self.is_object() {
                        out.extend_from_slice(b"{\"results\":[\n");
                    }
                    self.phase = Phase::Reading;
                }
                Phase::Reading => {
                    // Boxed, so that a feed that waits doesn't keep room for what reading needs.
                    if !Box::pin(self.read(&mut out)).await? {
                        self.spoke = Instant::now();
                        out.extend_from_slice(self.asked.kind.sign());
                        return Ok(Some(out.into()));
                    }
                    if !out.is_empty() {
                        self.spoke = Instant::now();
                        return Ok(Some(out.into()));
                    }
                    if was_new && self.phase == Phase::Waiting {
                        return Ok(Some(Bytes::new()));
                    }
                    // A filter may pass over many pages; others want the thread, too.
                    tokio::task::yield_now().await;
                }
                Phase::Waiting => match self.wait_with_rights().await {
                    Woken::Changed => self.phase = Phase::Reading,
                    Woken::End => self.end(&mut out),
                    Woken::Quiet if !self.asked.quiet.is_kept => self.end(&mut out),
                    Woken::Quiet => {
                        self.spoke = Instant::now();
                        return Ok(Some(Bytes::from_static(self.asked.kind.sign())));
                    }
                },
                Phase::Done => return Ok((!out.is_empty()).then(|| out.into())),
            }
        }
    }

    /// Reads a page and writes the changes that pass the filter. Returns false when the filter still runs and a heartbeat is due.
    async fn read(&mut self, out: &mut Vec<u8>) -> HttpResult<bool> {
        if self.filtering.is_none() && !self.read_page(out)? {
            return Ok(true);
        }
        let quiet = self.asked.quiet;
        let quiet = match quiet.is_kept {
            true => quiet.after,
            false => FILTER_QUIET_MAX,
        };
        let Some(filtering) = &mut self.filtering else {
            return Ok(true);
        };
        let kept = tokio::select! {
            biased;
            () = tokio::time::sleep_until(self.spoke + quiet) => return Ok(false),
            kept = &mut filtering.kept => kept?,
        };
        if let Some(filtering) = self.filtering.take() {
            self.write_page(out, &filtering.page, filtering.looked_at, &kept)?;
        }
        Ok(true)
    }

    /// Reads a page. Without a filter, it is written at once; otherwise it is filtered from now on, and the result is true.
    fn read_page(&mut self, out: &mut Vec<u8>) -> HttpResult<bool> {
        self.seqs.mark_unchanged();
        let left = self.asked.limit;
        if !self.filter.needs_documents() || left == Some(0) {
            self.asked.question.limit =
                left.map(|left| usize::try_from(left).unwrap_or(usize::MAX));
        }
        let mut page = match self.db.changes(&self.asked.question, None) {
            // Deleted: that was the last of it.
            Err(Error::Closed) if !self.is_first_page => {
                self.end(out);
                return Ok(false);
            }
            page => page?,
        };
        self.is_first_page = false;
        let looked_at = page.changes.last().map(|change| change.seq);
        let changes = std::mem::take(&mut page.changes);
        if !self.filter.needs_documents() {
            self.write_page(out, &page, looked_at, &changes)?;
            return Ok(false);
        }
        let (filter, db) = (self.filter.clone(), self.db.clone());
        let scripts = self.server.scripts.clone();
        self.filtering = Some(Box::new(Filtering {
            page,
            looked_at,
            kept: Box::pin(async move { filter.keep(&scripts, &db, changes).await }),
        }));
        Ok(true)
    }

    /// Writes the changes of a page that passed the filter.
    fn write_page(
        &mut self,
        out: &mut Vec<u8>,
        page: &ChangesPage,
        looked_at: Option<u64>,
        kept: &[Change],
    ) -> HttpResult<()> {
        let left = self.asked.limit;
        let wanted = usize::try_from(left.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
        let is_full = kept.len() >= wanted;
        let kept = &kept[..kept.len().min(wanted)];
        for change in kept {
            self.write(out, change);
        }
        self.asked.limit = left.map(|left| left - kept.len() as u64);
        self.last_seq = match kept.last() {
            Some(last) if is_full && Some(last.seq) != looked_at => last.seq,
            _ => page.last_seq,
        };
        if self.asked.question.descending {
            self.asked.question.before = Some(self.last_seq);
        } else {
            self.asked.question.since = self.last_seq;
        }
        self.pending = match kept.last() {
            Some(last) if is_full && Some(last.seq) != looked_at => self.left_after(last.seq)?,
            _ => page.pending,
        };
        let is_longpoll_done = self.asked.kind == Kind::Longpoll && !self.is_first_row;
        let is_once = self.asked.kind == Kind::Normal || self.asked.question.descending;
        if is_full || page.is_last && (is_once || is_longpoll_done) {
            self.end(out);
        } else if page.is_last {
            self.phase = Phase::Waiting;
        }
        Ok(())
    }

    /// Returns the number of changes that a filtered feed has not read after its last one.
    fn left_after(&self, seq: u64) -> HttpResult<u64> {
        let descending = self.asked.question.descending;
        let question = Changes {
            since: if descending { 0 } else { seq },
            before: descending.then_some(seq),
            limit: Some(0),
            descending,
            ..Changes::default()
        };
        Ok(self.db.changes(&question, None)?.pending)
    }

    /// Waits for a change, a timeout or the stop of the server. Ends the feed if the user has lost the right to read.
    async fn wait_with_rights(&mut self) -> Woken {
        let woken = self.wait().await;
        match rights::may_still_read(&self.server, &self.user, &self.db) {
            Ok(()) => woken,
            Err(_) => Woken::End,
        }
    }

    async fn wait(&mut self) -> Woken {
        tokio::select! {
            changed = self.seqs.changed() => if changed.is_ok() { Woken::Changed } else { Woken::End },
            () = self.server.stop.cancelled() => Woken::End,
            () = tokio::time::sleep_until(self.spoke + self.asked.quiet.after) => Woken::Quiet,
        }
    }

    /// Returns whether the answer is one JSON object.
    fn is_object(&self) -> bool {
        matches!(self.asked.kind, Kind::Normal | Kind::Longpoll)
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        self.phase = Phase::Done;
        if self.asked.kind == Kind::EventSource {
            return;
        }
        out.extend_from_slice(if self.is_object() { b"\n],\n" } else { b"{" });
        out.extend_from_slice(b"\"last_seq\":");
        self.seq.write(out, self.last_seq);
        writeln!(out, ",\"pending\":{}}}", self.pending).expect("a vector takes it");
    }

    fn write(&mut self, out: &mut Vec<u8>, change: &Change) {
        let separator: &[u8] = match self.asked.kind {
            Kind::EventSource => b"data: ",
            Kind::Normal | Kind::Longpoll if !self.is_first_row => b",\n",
            _ => b"",
        };
        self.is_first_row = false;
        out.extend_from_slice(separator);
        self.write_row(out, change);
        match self.asked.kind {
            Kind::Normal | Kind::Longpoll => {}
            Kind::Continuous => out.push(b'\n'),
            Kind::EventSource => {
                let seq = self.seq.text(change.seq);
                write!(out, "\nid: {seq}\n\n").expect("a vector takes it");
            }
        }
    }

    fn write_row(&self, out: &mut Vec<u8>, change: &Change) {
        out.extend_from_slice(b"{\"seq\":");
        self.seq.write(out, change.seq);
        out.extend_from_slice(b",\"id\":");
        write_string(out, &change.id);
        out.extend_from_slice(b",\"changes\":[");
        for (at, revision) in change.revisions.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            out.extend_from_slice(b"{\"rev\":\"");
            revision.write(out);
            out.extend_from_slice(b"\"}");
        }
        out.push(b']');
        if change.deleted {
            out.extend_from_slice(b",\"deleted\":true");
        }
        if let Some(document) = change.document.as_ref().filter(|_| !self.hides_documents) {
            out.extend_from_slice(b",\"doc\":");
            document.write_json(out);
        }
        out.push(b'}');
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.server.metrics.feeds.fetch_sub(1, Ordering::Relaxed);
    }
}
