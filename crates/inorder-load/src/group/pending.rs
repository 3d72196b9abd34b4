//! Rows that wait for the next batch, and those who wait for them.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use inorder_btree::{KeyOrder, Value, record};

use super::{Error, GroupLimits};
use crate::order::{self, Sorted, Sorter};

/// Receives the result of a row.
pub(super) type Answer = Box<dyn FnOnce(Result<(), Error>) + Send>;

/// A batch.
pub(super) struct Taken {
    /// Each row with the place of its answer.
    pub(super) rows: Sorted,
    pub(super) answers: Vec<Answer>,
}

pub(super) struct Pending {
    order: Option<KeyOrder>,
    limits: GroupLimits,
    state: Mutex<State>,
    /// Signals a first row, enough rows, or the end.
    has_changed: Condvar,
    /// Signals that a batch was taken.
    has_room: Condvar,
}

struct State {
    rows: Sorter,
    answers: Vec<Answer>,
    /// The time of arrival of the first row.
    since: Option<Instant>,
    is_ended: bool,
    record: Vec<u8>,
}

impl Pending {
    pub(super) fn new(order: Option<KeyOrder>, limits: GroupLimits) -> Self {
        Pending {
            state: Mutex::new(State {
                rows: sorter(&order),
                answers: Vec::new(),
                since: None,
                is_ended: false,
                record: Vec::new(),
            }),
            order,
            limits,
            has_changed: Condvar::new(),
            has_room: Condvar::new(),
        }
    }

    /// Adds a row. Waits until there is room for it.
    pub(super) fn push(&self, row: &[Value<'_>], answer: Answer) {
        let is_full = |state: &mut State| {
            let is_full = state.rows.memory_bytes() >= self.limits.waiting_bytes_max
                || state.answers.len() >= self.limits.batch_rows_max;
            // A batch of nothing would never make room.
            is_full && !state.answers.is_empty()
        };
        let state = self.has_room.wait_while(self.lock(), is_full);
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        let place = state.answers.len() as u64;
        let state = &mut *state;
        state.record.clear();
        record::encode(row, &mut state.record);
        state
            .rows
            .push(&state.record, place)
            .expect("what stays in memory meets no error");
        state.answers.push(answer);
        state.since.get_or_insert_with(Instant::now);
        self.has_changed.notify_one();
    }

    /// Takes the next batch, when it is due; `None` at the end.
    pub(super) fn take(&self) -> Option<Taken> {
        let mut state = self.lock();
        loop {
            let waited = state.since.map(|since| since.elapsed());
            let is_full = state.answers.len() >= self.limits.batch_rows_max
                || state.rows.memory_bytes() >= self.limits.waiting_bytes_max;
            state = match waited {
                Some(waited) if is_full || state.is_ended || waited >= self.limits.linger => {
                    return Some(self.taken(&mut state));
                }
                Some(waited) => {
                    let left = self.limits.linger - waited;
                    let woken = self.has_changed.wait_timeout(state, left);
                    woken.unwrap_or_else(PoisonError::into_inner).0
                }
                None if state.is_ended => return None,
                None => {
                    let woken = self.has_changed.wait(state);
                    woken.unwrap_or_else(PoisonError::into_inner)
                }
            };
        }
    }

    fn taken(&self, state: &mut State) -> Taken {
        let rows = std::mem::replace(&mut state.rows, sorter(&self.order));
        state.since = None;
        self.has_room.notify_all();
        Taken {
            rows: rows.finish().expect("what stays in memory meets no error"),
            answers: std::mem::take(&mut state.answers),
        }
    }

    /// No rows will come any more.
    pub(super) fn end(&self) {
        self.lock().is_ended = true;
        self.has_changed.notify_one();
    }

    /// A thread that panicked left nothing half done: rows are whole or not there.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A sorter that never spills.
fn sorter(order: &Option<KeyOrder>) -> Sorter {
    let limits = order::SortLimits {
        memory_bytes: usize::MAX,
        spill_folder: std::env::temp_dir(),
        threads: 1,
    };
    Sorter::new(order.clone(), limits)
}
