//! Counts the blank lines of a file that are left out.

use std::sync::{Arc, Mutex};

/// The blank lines of one file that are no rows, counted by all threads that split it.
#[derive(Clone, Debug, Default)]
pub(crate) struct BlankLines(Arc<Mutex<Option<(u64, u64)>>>);

impl BlankLines {
    /// Adds so many, the first one in this line.
    #[cold]
    pub(super) fn add(&self, count: u64, line: u64) {
        if let Ok(mut all) = self.0.lock() {
            let (before, first) = all.unwrap_or((0, line));
            *all = Some((before + count, first.min(line)));
        }
    }

    /// What is to be said about them; `None` if there are none.
    pub(crate) fn remark(&self) -> Option<String> {
        let (count, line) = self.0.lock().ok().and_then(|all| *all)?;
        Some(match count {
            1 => format!("1 blank line is left out, line {line}"),
            _ => format!("{count} blank lines are left out, the first is line {line}"),
        })
    }
}
