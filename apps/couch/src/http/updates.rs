//! The events of all databases, with sequences.

use super::{HttpError, HttpResult};
use crate::store::{self, DatabaseEvent, Databases, Event};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::sync::{broadcast, watch};

/// The database that CouchDB writes events into.
pub const GLOBAL_CHANGES: &str = "_global_changes";

/// The name of the list of databases, which is a database in CouchDB.
const DATABASES: &str = "_dbs";

/// Returns what CouchDB notes of an event: nothing of `_global_changes` itself, and that a creation or deletion changes `_dbs`.
pub fn noted(event: &DatabaseEvent) -> impl Iterator<Item = (Event, &str)> {
    let own = (event.name != GLOBAL_CHANGES).then_some((event.event, event.name.as_str()));
    let list = (event.event != Event::Updated).then_some((Event::Updated, DATABASES));
    own.into_iter().chain(list)
}

/// The last creation, change and deletion of each database, with a sequence that counts from the start of the server.
///
/// It begins with an event for every database and every deleted one. A client with a sequence from before the start receives all
/// of them, and so misses no event. It is empty again after the creation of `_global_changes`, as in CouchDB.
#[derive(Debug)]
pub struct DatabaseUpdates {
    inner: Arc<Inner>,
    /// The id of this start of the server, which distinguishes its sequences from earlier ones.
    start: String,
}

/// The sequence of the last event of each kind, by database.
type Events = BTreeMap<(String, Event), u64>;

#[derive(Debug)]
struct Inner {
    databases: Databases,
    events: Mutex<Events>,
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
                    Ok(event) => inner.add(&event),
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

    /// Reads the parameter `since`.
    ///
    /// # Errors
    /// If it is no sequence.
    pub fn since(&self, text: &str) -> HttpResult<u64> {
        if text == "now" {
            return Ok(*self.inner.seq.borrow());
        }
        let (number, start) = text.split_once('-').unwrap_or((text, &self.start));
        let wrong = |_| HttpError::BadParameter("since", text.to_owned());
        let number = number.parse().map_err(wrong)?;
        Ok(if start == self.start { number } else { 0 })
    }

    /// Returns a sequence as clients see it.
    pub fn seq_text(&self, seq: u64) -> String {
        format!("{seq}-{}", self.start)
    }

    /// Returns a receiver of the sequence of the last event.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.inner.seq.subscribe()
    }

    /// Returns the events after a sequence, in order.
    pub fn after(&self, since: u64) -> Vec<(u64, String, Event)> {
        self.inner.after(since)
    }
}

impl Inner {
    fn events(&self) -> MutexGuard<'_, Events> {
        self.events.lock().expect("no panic while held")
    }

    fn add(&self, event: &DatabaseEvent) {
        let mut events = self.events();
        if event.name == GLOBAL_CHANGES && event.event == Event::Created {
            events.clear();
        }
        let mut seq = *self.seq.borrow();
        for (event, name) in noted(event) {
            seq += 1;
            events.insert((name.to_owned(), event), seq);
        }
        drop(events);
        self.seq.send_replace(seq);
    }

    /// Handles lost events: any database may have been changed or deleted.
    fn add_all(&self) {
        if let Err(error) = self.try_add_all() {
            tracing::error!(%error, "cannot list the databases");
        }
    }

    fn try_add_all(&self) -> store::Result<()> {
        let mut gone = BTreeSet::from_iter(self.databases.deleted_names()?);
        gone.extend(self.events().keys().map(|(name, _)| name.clone()));
        gone.remove(DATABASES);
        for name in self.databases.names()? {
            gone.remove(&name);
            let event = Event::Updated;
            self.add(&DatabaseEvent { name, event });
        }
        for name in gone {
            if self.is_living(&name) {
                let event = Event::Deleted;
                self.add(&DatabaseEvent { name, event });
            }
        }
        Ok(())
    }

    /// Returns whether a database exists according to its last event.
    fn is_living(&self, name: &str) -> bool {
        let events = self.events();
        let seq = |event| events.get(&(name.to_owned(), event)).copied();
        seq(Event::Deleted) <= seq(Event::Created).max(seq(Event::Updated))
    }

    fn after(&self, since: u64) -> Vec<(u64, String, Event)> {
        let events = self.events();
        let later = events.iter().filter(|(_, seq)| **seq > since);
        let mut later: Vec<_> = later
            .map(|((name, event), seq)| (*seq, name.clone(), *event))
            .collect();
        later.sort_unstable_by_key(|(seq, ..)| *seq);
        later
    }
}
