//! The security object of a database, parsed once per change.

use super::Result;
use crate::auth::Security;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The parsed security object. A change empties the slot after its commit and before its answer.
#[derive(Clone, Debug, Default)]
pub struct SecuritySlot(Arc<Mutex<Slot>>);

#[derive(Debug, Default)]
struct Slot {
    /// Counts changes. An object that was read before a change is not kept after it.
    changes: u64,
    parsed: Option<Arc<Security>>,
}

impl SecuritySlot {
    /// The parsed object; `read` reads its text where it is not kept.
    pub fn get(&self, read: impl FnOnce() -> Result<Option<String>>) -> Result<Arc<Security>> {
        let changes = {
            let slot = self.lock();
            if let Some(parsed) = &slot.parsed {
                return Ok(Arc::clone(parsed));
            }
            slot.changes
        };
        let parsed = Arc::new(match read()? {
            Some(text) => Security::stored(&text),
            None => Security::default(),
        });
        let mut slot = self.lock();
        if slot.changes == changes {
            slot.parsed = Some(Arc::clone(&parsed));
        }
        Ok(parsed)
    }

    /// Empties it after a change.
    pub fn clear(&self) {
        let mut slot = self.lock();
        slot.changes += 1;
        slot.parsed = None;
    }

    fn lock(&self) -> MutexGuard<'_, Slot> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
