//! `/_db_updates`: what happens to databases.

use crate::http::detached::Detachable;
use crate::http::feed::{Kind, Quiet};
use crate::http::params::Params;
use crate::http::{HttpError, HttpResult, Server, reply};
use crate::store::{self, DatabaseEvent, Databases, Event};
use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::sync::{broadcast, watch};
use tokio::time::Instant;

/// The last event of each database, with a sequence that counts from the start of the server. It begins with all databases
/// there are, as updated, and those that were deleted: who asks with a sequence of an earlier start is told all of them, and
/// so misses nothing.
#[derive(Debug)]
pub struct DatabaseUpdates {
    inner: Arc<Inner>,
    /// Tells the sequences of one start from those of another.
    start: String,
}

#[derive(Debug)]
struct Inner {
    databases: Databases,
    events: Mutex<BTreeMap<String, (u64, Event)>>,
    seq: watch::Sender<u64>,
}

impl DatabaseUpdates {
    /// Listens to the events of a folder of databases.
    pub fn new(databases: &Databases) -> Self {
        let mut events = databases.events();
        let inner = Arc::new(Inner {
            databases: databases.clone(),
            events: Mutex::default(),
            seq: watch::Sender::new(0),
        });
        inner.add_all();
        let listener = Arc::downgrade(&inner);
        tokio::spawn(async move {
            loop {
                let event = events.recv().await;
                let Some(inner) = listener.upgrade() else {
                    return;
                };
                match event {
                    Ok(event) => inner.add(event),
                    Err(broadcast::error::RecvError::Lagged(_)) => inner.add_all(),
                    Err(broadcast::error::RecvError::Closed) => return,
                }
            }
        });
        DatabaseUpdates {
            inner,
            start: crate::auth::hex(&crate::auth::random::<4>()),
        }
    }

    fn since(&self, text: &str) -> HttpResult<u64> {
        if text == "now" {
            return Ok(*self.inner.seq.borrow());
        }
        let (number, start) = text.split_once('-').unwrap_or((text, &self.start));
        let wrong = |_| HttpError::BadParameter("since", text.to_owned());
        let number = number.parse().map_err(wrong)?;
        Ok(if start == self.start { number } else { 0 })
    }

    fn seq_text(&self, seq: u64) -> String {
        format!("{seq}-{}", self.start)
    }
}

impl Inner {
    fn events(&self) -> MutexGuard<'_, BTreeMap<String, (u64, Event)>> {
        self.events.lock().expect("no panic while held")
    }

    fn add(&self, event: DatabaseEvent) {
        let mut events = self.events();
        let seq = *self.seq.borrow() + 1;
        events.insert(event.name, (seq, event.event));
        drop(events);
        self.seq.send_replace(seq);
    }

    /// Some events are not known: any database may have changed, or be gone.
    fn add_all(&self) {
        if let Err(error) = self.try_add_all() {
            tracing::error!(%error, "cannot list the databases");
        }
    }

    fn try_add_all(&self) -> store::Result<()> {
        let mut gone = BTreeSet::from_iter(self.databases.deleted_names()?);
        gone.extend(self.events().keys().cloned());
        for name in self.databases.names()? {
            gone.remove(&name);
            let event = Event::Updated;
            self.add(DatabaseEvent { name, event });
        }
        for name in gone {
            let known = self.events().get(&name).map(|(_, event)| *event);
            if known != Some(Event::Deleted) {
                let event = Event::Deleted;
                self.add(DatabaseEvent { name, event });
            }
        }
        Ok(())
    }

    fn after(&self, since: u64) -> Vec<(u64, String, Event)> {
        let events = self.events();
        let later = events.iter().filter(|(_, (seq, _))| *seq > since);
        let mut later: Vec<_> = later
            .map(|(name, (seq, event))| (*seq, name.clone(), *event))
            .collect();
        later.sort_unstable_by_key(|(seq, ..)| *seq);
        later
    }
}

/// A feed under way.
struct Feed {
    server: Arc<Server>,
    kind: Kind,
    quiet: Quiet,
    since: u64,
    seqs: watch::Receiver<u64>,
}

/// What a feed waited for.
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
        seqs: server.updates.inner.seq.subscribe(),
        server,
    };
    match feed.kind {
        Kind::Normal => return feed.answer(),
        Kind::Longpoll => {
            feed.wait().await;
            return feed.answer();
        }
        Kind::Continuous | Kind::EventSource => {}
    }
    let (kind, first) = (feed.kind, feed.lines());
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
        match self.wait().await {
            Woken::Event => Some(self.lines()),
            Woken::Quiet if self.quiet.is_kept => Some(Bytes::from_static(self.kind.sign())),
            Woken::Quiet | Woken::End => None,
        }
    }

    fn rows(&mut self) -> Vec<String> {
        let updates = &self.server.updates;
        let events = updates.inner.after(self.since);
        self.since = events.last().map_or(self.since, |(seq, ..)| *seq);
        let row = |(seq, name, event): &(u64, String, Event)| {
            let kind = match event {
                Event::Created => "created",
                Event::Updated => "updated",
                Event::Deleted => "deleted",
            };
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

    fn answer(mut self) -> HttpResult<Response> {
        let rows = self.rows().join(",\n");
        let seq = self.server.updates.seq_text(self.since);
        let body = format!("{{\"results\":[\n{rows}\n],\"last_seq\":\"{seq}\"}}\n");
        Ok(reply::text(StatusCode::OK, body))
    }
}
