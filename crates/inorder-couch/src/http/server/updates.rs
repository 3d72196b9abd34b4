//! `/_db_updates`: what happens to databases, since the start.

use crate::http::params::Params;
use crate::http::{HttpError, HttpResult, Server, reply};
use crate::store::{DatabaseEvent, Databases, Event};
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{broadcast, watch};
use tokio::time::Instant;

/// The last event of each database, with a sequence that counts from the start of the server.
#[derive(Debug)]
pub struct DatabaseUpdates {
    inner: Arc<Inner>,
    /// Tells the sequences of one start from those of another.
    start: String,
}

#[derive(Debug)]
struct Inner {
    events: Mutex<BTreeMap<String, (u64, Event)>>,
    seq: watch::Sender<u64>,
}

impl DatabaseUpdates {
    /// Listens to the events of a folder of databases.
    pub fn new(databases: &Databases) -> Self {
        let inner = Arc::new(Inner {
            events: Mutex::default(),
            seq: watch::Sender::new(0),
        });
        let (events, listener) = (databases.events(), Arc::downgrade(&inner));
        tokio::spawn(async move {
            let mut events = events;
            loop {
                let event = match events.recv().await {
                    Ok(event) => event,
                    Err(broadcast::error::RecvError::Lagged(_)) => {
                        listener.upgrade().iter().for_each(|inner| inner.add_all());
                        continue;
                    }
                    Err(broadcast::error::RecvError::Closed) => return,
                };
                match listener.upgrade() {
                    Some(inner) => inner.add(event),
                    None => return,
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
}

impl Inner {
    fn add(&self, event: DatabaseEvent) {
        let mut events = self.events.lock().expect("no panic while held");
        let seq = *self.seq.borrow() + 1;
        events.insert(event.name, (seq, event.event));
        drop(events);
        self.seq.send_replace(seq);
    }

    /// Some events were missed: any database may have changed.
    fn add_all(&self) {
        let events = self.events.lock().expect("no panic while held");
        let there = events
            .iter()
            .filter(|(_, (_, event))| *event != Event::Deleted);
        let names: Vec<String> = there.map(|(name, _)| name.clone()).collect();
        drop(events);
        for name in names {
            let event = Event::Updated;
            self.add(DatabaseEvent { name, event });
        }
    }

    fn after(&self, since: u64) -> Vec<(u64, String, Event)> {
        let events = self.events.lock().expect("no panic while held");
        let later = events.iter().filter(|(_, (seq, _))| *seq > since);
        let mut later: Vec<_> = later
            .map(|(name, (seq, event))| (*seq, name.clone(), *event))
            .collect();
        later.sort_unstable_by_key(|(seq, ..)| *seq);
        later
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Feed {
    Normal,
    Longpoll,
    Continuous,
    EventSource,
}

struct Waiting {
    server: Arc<Server>,
    feed: Feed,
    since: u64,
    seqs: watch::Receiver<u64>,
    beat: Duration,
    end: Option<Instant>,
}

/// `GET /_db_updates`.
pub async fn db_updates(State(server): State<Arc<Server>>, params: Params) -> HttpResult {
    let feed = match params.get("feed").unwrap_or("normal") {
        "normal" => Feed::Normal,
        "longpoll" => Feed::Longpoll,
        "continuous" => Feed::Continuous,
        "eventsource" => Feed::EventSource,
        other => return Err(HttpError::BadParameter("feed", other.to_owned())),
    };
    let heartbeat = params.get("heartbeat").filter(|text| *text != "false");
    let beat = heartbeat
        .and_then(|text| text.parse().ok())
        .unwrap_or(60_000);
    let timeout = params.parsed("timeout")?.unwrap_or(60_000);
    let mut waiting = Waiting {
        since: server.updates.since(params.get("since").unwrap_or("0"))?,
        seqs: server.updates.inner.seq.subscribe(),
        feed,
        beat: Duration::from_millis(beat.max(1)),
        end: heartbeat
            .is_none()
            .then(|| Instant::now() + Duration::from_millis(timeout)),
        server,
    };
    if matches!(feed, Feed::Normal | Feed::Longpoll) {
        if feed == Feed::Longpoll {
            waiting.wait().await;
        }
        return waiting.answer();
    }
    let mut response = reply::pieces(StatusCode::OK, waiting, |mut waiting| async move {
        let lines = waiting.lines();
        if !lines.is_empty() {
            return Ok(Some((lines, waiting)));
        }
        Ok(match waiting.wait().await {
            Woken::End => None,
            Woken::Event => Some((waiting.lines(), waiting)),
            Woken::Beat => Some((Bytes::from_static(b"\n"), waiting)),
        })
    });
    if feed == Feed::EventSource {
        let content_type = HeaderValue::from_static("text/event-stream");
        response
            .headers_mut()
            .insert(header::CONTENT_TYPE, content_type);
    }
    Ok(response)
}

enum Woken {
    Event,
    Beat,
    End,
}

impl Waiting {
    async fn wait(&mut self) -> Woken {
        if *self.seqs.borrow_and_update() > self.since {
            return Woken::Event;
        }
        let beat = Instant::now() + self.beat;
        let until = self.end.map_or(beat, |end| end.min(beat));
        tokio::select! {
            changed = self.seqs.changed() => if changed.is_ok() { Woken::Event } else { Woken::End },
            () = self.server.stop.cancelled() => Woken::End,
            () = tokio::time::sleep_until(until) => {
                if self.end.is_some_and(|end| end <= Instant::now()) { Woken::End } else { Woken::Beat }
            }
        }
    }

    fn rows(&mut self) -> Vec<String> {
        let events = self.server.updates.inner.after(self.since);
        self.since = events.last().map_or(self.since, |(seq, ..)| *seq);
        let start = &self.server.updates.start;
        let row = |(seq, name, event): &(u64, String, Event)| {
            let kind = match event {
                Event::Created => "created",
                Event::Updated => "updated",
                Event::Deleted => "deleted",
            };
            let name = serde_json::Value::from(name.as_str());
            format!("{{\"db_name\":{name},\"type\":\"{kind}\",\"seq\":\"{seq}-{start}\"}}")
        };
        events.iter().map(row).collect()
    }

    fn lines(&mut self) -> Bytes {
        let is_event = self.feed == Feed::EventSource;
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
        let (seq, start) = (self.since, &self.server.updates.start);
        let body = format!("{{\"results\":[\n{rows}\n],\"last_seq\":\"{seq}-{start}\"}}\n");
        Ok(reply::text(StatusCode::OK, body))
    }
}
