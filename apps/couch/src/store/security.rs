//! The security object of a database, parsed once per change.

use super::shared::Shared;
use super::{Database, Pending, Result};
use crate::auth::Security;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The property that keeps the security object.
const PROPERTY: &str = "security";

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
    fn lock(&self) -> MutexGuard<'_, Slot> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn clear(&self) {
        let mut slot = self.lock();
        slot.changes += 1;
        slot.parsed = None;
    }
}

impl Shared {
    fn security(&self, read: impl FnOnce() -> Result<Option<String>>) -> Result<Arc<Security>> {
        let changes = {
            let slot = self.security.lock();
            if let Some(parsed) = &slot.parsed {
                return Ok(Arc::clone(parsed));
            }
            slot.changes
        };
        let parsed = Arc::new(match read()? {
            Some(text) => Security::stored(&text),
            None => Security::default(),
        });
        let mut slot = self.security.lock();
        if slot.changes == changes {
            slot.parsed = Some(Arc::clone(&parsed));
        }
        Ok(parsed)
    }
}

impl Database {
    /// The security object.
    ///
    /// # Errors
    /// If SQLite refuses.
    pub fn security(&self) -> Result<Arc<Security>> {
        self.shared().security(|| self.property(PROPERTY))
    }

    /// Replaces the security object. The new one applies when the answer is there.
    pub fn set_security(&self, security: &Security) -> Pending<()> {
        let slot = self.shared().security.clone();
        self.set_property_then(PROPERTY, security.to_string(), move || slot.clear())
    }
}
