//! Ends a copy from another thread.

use std::fmt;
use std::sync::{Arc, Mutex};

use inorder_engine::remote::Cancel;
use inorder_load::Progress;

use crate::error::Error;

/// Ends a copy. A clone ends the same copy.
#[derive(Clone, Default)]
pub struct Stop {
    /// Its flag also ends loads.
    progress: Progress,
    /// Ends the statement that a server runs.
    cancel: Arc<Mutex<Option<Cancel>>>,
}

impl Stop {
    /// Ends the copy soon with [`Error::Stopped`]: the table that it is at is not kept.
    pub fn stop(&self) {
        self.progress.stop();
        if let Ok(cancel) = self.cancel.lock()
            && let Some(cancel) = &*cancel
        {
            cancel();
        }
    }

    /// Whether the copy is to end.
    pub fn is_stopped(&self) -> bool {
        self.progress.is_stopped()
    }

    /// Returns [`Error::Stopped`] if the copy is to end.
    pub(crate) fn look(&self) -> Result<(), Error> {
        match self.is_stopped() {
            true => Err(Error::Stopped),
            false => Ok(()),
        }
    }

    /// Calls a function too when the copy is to end.
    pub(crate) fn cancels(&self, cancel: Cancel) {
        if let Ok(mut own) = self.cancel.lock() {
            *own = Some(cancel);
        }
    }

    /// The progress of a load that ends with the copy.
    pub(crate) fn of_load(&self) -> Progress {
        self.progress.for_next()
    }
}

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Stop").field(&self.is_stopped()).finish()
    }
}
