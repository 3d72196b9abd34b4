//! Counts what a file has and a load does not store as it is given.

use std::sync::{Arc, Mutex};

use crate::note::{Note, NoteKind};

/// A count of one file, by all threads that read it, and the first line or row that it is about.
#[derive(Clone, Debug)]
pub(crate) struct Tally {
    found: Arc<Mutex<Option<(u64, u64)>>>,
    kind: NoteKind,
    /// The remark about a count and the first line.
    told: fn(count: u64, line: u64) -> String,
}

impl Tally {
    pub(super) fn new(kind: NoteKind, told: fn(count: u64, line: u64) -> String) -> Self {
        Tally {
            found: Arc::default(),
            kind,
            told,
        }
    }

    /// Adds so many, the first one in this line.
    #[cold]
    pub(super) fn add(&self, count: u64, line: u64) {
        if let Ok(mut found) = self.found.lock() {
            let (before, first) = found.unwrap_or((0, line));
            *found = Some((before + count, first.min(line)));
        }
    }

    /// What is to be said; `None` if nothing was counted.
    pub(crate) fn remark(&self) -> Option<Note> {
        let (count, line) = self.found.lock().ok().and_then(|found| *found)?;
        Some(Note::new(self.kind, (self.told)(count, line)).counted(count, line))
    }
}
