//! The events of a job.

use std::collections::VecDeque;
use std::time::{Duration, SystemTime};

/// What happened to a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventKind {
    /// It was added.
    Added,
    /// It was started.
    Started,
    /// It was stopped.
    Stopped,
    /// It ended with an error.
    Crashed(String),
}

/// An event of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// What happened.
    pub kind: EventKind,
    /// When it happened.
    pub at: SystemTime,
}

/// The last events of a job, the latest first. There is at least one.
#[derive(Debug, Clone)]
pub struct History(VecDeque<Event>);

impl History {
    /// The history of a job that was just added.
    pub fn new(now: SystemTime) -> Self {
        let added = Event {
            kind: EventKind::Added,
            at: now,
        };
        History(VecDeque::from([added]))
    }

    /// Adds an event, and forgets those beyond `max`.
    pub fn push(&mut self, kind: EventKind, at: SystemTime, max: usize) {
        self.0.push_front(Event { kind, at });
        self.0.truncate(max.max(1));
    }

    /// The events.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.0.iter()
    }

    /// Whether the last event is a crash.
    pub fn last_is_crash(&self) -> bool {
        self.0.front().is_some_and(is_crash)
    }

    /// The time of the last crash.
    pub fn last_crash(&self) -> Option<SystemTime> {
        self.0
            .iter()
            .find(|event| is_crash(event))
            .map(|event| event.at)
    }

    /// The time of the last start.
    pub fn last_start(&self) -> Option<SystemTime> {
        let started = |event: &&Event| event.kind == EventKind::Started;
        self.0.iter().find(started).map(|event| event.at)
    }

    /// The number of crashes in a row, each within the threshold after the event before it. A job that was stopped while it
    /// ran is healthy.
    pub fn consecutive_crashes(&self, health_threshold: Duration) -> u32 {
        let mut count = 0;
        for (event, before) in self.0.iter().zip(self.0.iter().skip(1)) {
            match (&event.kind, &before.kind) {
                (EventKind::Crashed(_), _) => {
                    let ran = event.at.duration_since(before.at).unwrap_or_default();
                    if ran > health_threshold {
                        return count;
                    }
                    count += 1;
                }
                (EventKind::Stopped, EventKind::Started) => return count,
                _ => {}
            }
        }
        count
    }
}

fn is_crash(event: &Event) -> bool {
    matches!(event.kind, EventKind::Crashed(_))
}
