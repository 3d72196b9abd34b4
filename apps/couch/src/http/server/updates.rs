//! `/_db_updates`: what happens to databases.

use crate::http::feed::{Kind, Quiet};
use crate::http::params::Params;
use crate::http::{HttpResult, Server, reply};
use crate::store::Event;
use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use bytes::Bytes;
use futures_util::stream;
use inorder_serve::Detachable;
use std::sync::Arc;
use tokio::sync::watch;
use tokio::time::Instant;

/// A feed in progress.
struct Feed {
    server: Arc<Server>,
    kind: Kind,
    quiet: Quiet,
    since: u64,
    /// Whether the last line was sent.
    is_done: bool,
    seqs: watch::Receiver<u64>,
}

/// The event that woke a waiting feed.
enum Woken {
    Event,
    Quiet,
    End,
}

/// `GET /_db_updates`.
pub async fn db_updates(
    State(server): State<Arc<Server>>,
    detachable: Option<Extension<Detachable>>,
    params: Params,
) -> HttpResult {
    let mut feed = Feed {
        kind: Kind::read(&params)?,
        quiet: Quiet::read(&params)?,
        since: server.updates.since(params.get("since").unwrap_or("0"))?,
        is_done: false,
        seqs: server.updates.watch(),
        server,
    };
    let kind = feed.kind;
    let first = match kind {
        Kind::Normal => return Ok(reply::text(StatusCode::OK, feed.results())),
        Kind::Longpoll => Bytes::new(),
        Kind::Continuous | Kind::EventSource => feed.lines(),
    };
    let rest = stream::try_unfold(feed, |mut feed| async move {
        Ok(feed.next_piece().await.map(|piece| (piece, feed)))
    });
    let mut response = reply::lasting(detachable, first, rest);
    if kind == Kind::EventSource {
        let content_type = HeaderValue::from_static("text/event-stream");
        response
            .headers_mut()
            .insert(header::CONTENT_TYPE, content_type);
    }
    Ok(response)
}

impl Feed {
    async fn wait(&mut self) -> Woken {
        if *self.seqs.borrow_and_update() > self.since {
            return Woken::Event;
        }
        let until = Instant::now() + self.quiet.after;
        tokio::select! {
            changed = self.seqs.changed() => if changed.is_ok() { Woken::Event } else { Woken::End },
            () = self.server.stop.cancelled() => Woken::End,
            () = tokio::time::sleep_until(until) => Woken::Quiet,
        }
    }

    async fn next_piece(&mut self) -> Option<Bytes> {
        if self.is_done {
            return None;
        }
        match self.wait().await {
            Woken::Quiet if self.quiet.is_kept => Some(Bytes::from_static(self.kind.sign())),
            _ if self.kind == Kind::Longpoll => {
                self.is_done = true;
                Some(self.results().into())
            }
            Woken::Event => Some(self.lines()),
            Woken::Quiet | Woken::End if self.kind == Kind::Continuous => {
                self.is_done = true;
                Some(format!("{{\"last_seq\":\"{}\"}}\n", self.last_seq()).into())
            }
            Woken::Quiet | Woken::End => None,
        }
    }

    fn last_seq(&self) -> String {
        self.server.updates.seq_text(self.since)
    }

    fn rows(&mut self) -> Vec<String> {
        let updates = &self.server.updates;
        let events = updates.after(self.since);
        self.since = events.last().map_or(self.since, |(seq, ..)| *seq);
        let row = |(seq, name, event): &(u64, String, Event)| {
            let kind = event.name();
            let name = serde_json::Value::from(name.as_str());
            let seq = updates.seq_text(*seq);
            format!("{{\"db_name\":{name},\"type\":\"{kind}\",\"seq\":\"{seq}\"}}")
        };
        events.iter().map(row).collect()
    }

    fn lines(&mut self) -> Bytes {
        let is_event = self.kind == Kind::EventSource;
        let rows = self.rows();
        let line = |row: &String| {
            if is_event {
                format!("data: {row}\n\n")
            } else {
                format!("{row}\n")
            }
        };
        rows.iter().map(line).collect::<String>().into()
    }

    /// The present events as one JSON object.
    fn results(&mut self) -> String {
        let rows = self.rows().join(",\n");
        let seq = self.last_seq();
        format!("{{\"results\":[\n{rows}\n],\"last_seq\":\"{seq}\"}}\n")
    }
}
